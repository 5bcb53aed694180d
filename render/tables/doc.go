// Package tables writes statistics and connections: tables, bars, timelines,
// JSON and lines separated by tabs. What it shows comes from package track.
package tables
