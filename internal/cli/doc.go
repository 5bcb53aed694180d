// Package cli is the command line: one file per command, the flags that commands
// share, and the connection of trackers with renderers. It contains no knowledge
// of the protocol.
//
// # How a command reads packets
//
//  1. newStats, newRPCs and so on return the command: its help, its examples and
//     its flags. Flags come in groups (flags.Add); input flags are those of
//     scan.Flags, -Y, -c and -w those of flags.Selection, -T, -t, -n and --color
//     those of flags.View, -o those of flags.Output. Options that embed a flags.Job
//     run once, or for each capture when -o names a folder (flags.RunE). Commands that show
//     records of one kind, such as locks, have all of these in flags.Records.
//  2. run checks all flags before anything is opened. scan.Flags.Check returns
//     the scan.Input; flags.Selection compiles the display filter.
//  3. A scan.Pass over the input is made, and consumers are added to it: trackers
//     first (Follow, with follow.Hooks), then those that write their results.
//  4. Pass.Run opens the input and feeds the consumers, until its end, an error,
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
// one that was forgotten there. docs/usage.md has a line about each command. Every command has examples,
// which a test runs with the samples in pcaps/: name files as the other examples
// do. Then refresh completions and man pages:
//
//	UPDATE=1 go test ./internal/cli -run Generated
package cli
