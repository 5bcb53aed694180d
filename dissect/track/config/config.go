// Package config collects the configuration of file systems from the traffic of the MGS.
// Nodes read configuration logs and the tables of imperative recovery and of nodemaps from
// the MGS; targets register with it, and parameters are sent to it.
//
// A Tracker takes messages and keeps what they contain. Entries returns it as a list:
// first each log with its records in the order of the log, then what they make
// together, the final picture: devices, targets, pools, parameters.
//
// tracker.go takes the messages, log.go has the logs and decides which records are in
// force, picture.go applies these, tables.go has the tables and entry.go the list.
//
// The picture has only what messages prove. A record is in force when its section is known
// not to be skipped; where records were not captured, a log has gaps and the picture lacks what
// is in them. The state is bounded: each bound is a constant beside the type that it
// limits.
package config
