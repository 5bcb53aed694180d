// Package model is what is known about the capture that the terminal program shows: its rows
// (package store), and what trackers found out about it, which is findings, connections,
// locks and files.
package model
