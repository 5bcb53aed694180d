// Package flags holds the flags that several commands have (Job, with Help for
// which of them a command has), and what a command reads and writes by them: a
// Run for records of one kind, a Reading for everything else. It also groups flags
// for help texts (Add) and completes arguments.
package flags
