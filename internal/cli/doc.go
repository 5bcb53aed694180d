// Package cli is the command line: one file per command, the flags that commands
// share, and the connection of trackers with renderers. It contains no knowledge
// of the protocol.
//
// # How a command reads packets
//
//  1. newStats, newRPCs and so on return the command: its help, its examples and
//     its flags. The flags that several commands have are those of flags.Job, which
//     their options embed; flags.Help says which of them a command has. A command runs
//     once, or for each capture when -o names a folder, after all flags were checked (flags.Command).
//  2. flags.Open returns a flags.Run: the command emits records, the Run writes them in the form of -T. The records are
//     declared in render/records, their tables in render/tables. What is no record of one
//     kind, such as a page, is written to the flags.Reading of Job.Open.
//  3. Both are a scan.Pass over the input. Consumers are added to it: trackers
//     first (Follow, with follow.Hooks), then those that write their results.
//  4. Run opens the input and feeds the consumers, until its end, an error,
//     a signal, or a consumer that needs no more messages (scan.ErrStop).
//  5. exit.Status reports the error, if any, and returns the exit status.
//
// The subpackages hold what commands have in common: internal/cli/flags the flags, internal/cli/scan
// the pass, internal/cli/iostreams the terminal, colours and buffered output, internal/cli/exit the
// exit statuses. internal/cli/reference has the commands that need no packets,
// internal/cli/extcap the one that Wireshark calls.
//
// # How to add a command
//
// Write newX in a new file and add it to subcommands (root.go); go tool staticcheck reports
// one that was forgotten there. Records of a new kind are declared beside it with records.Add,
// and have all forms then: a key is a line with its name, its meaning and a func that gets its
// value, such as records.NumberKey. docs/usage.md has a line about each command. Every command has
// examples, which a test runs with the samples in pcaps/: name files as the other examples do. Then
// refresh completions and man pages:
//
//	UPDATE=1 go test ./internal/cli -run Generated
package cli
