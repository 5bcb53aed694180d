// Package reference holds the commands that look things up and read no packets:
// explain, decode and fields.
package reference
