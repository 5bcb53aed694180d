// Package monitor is the command lshark monitor: its flags and its file of settings, the
// HTTP server for metrics, and its integration with systemd. What is counted and
// written is in package monitor at the top of the module.
//
// The goroutine that reads frames calls command.tick several times a second. Other goroutines
// do not touch the Monitor: reload stores settings, and tick applies them. tick never blocks.
package monitor
