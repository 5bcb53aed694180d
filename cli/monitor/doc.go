// Package monitor is the command lshark monitor: its flags and its file of settings, the
// page of metrics over HTTP, and its life as a service of systemd. What is counted and
// written is in package monitor at the top of the module.
//
// The goroutine that reads frames calls command.tick several times a second. Everything
// that others want changed, it changes there: they store a plan (reload.go). It waits for
// nobody.
package monitor
