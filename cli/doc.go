// Package cli is the command line: one file a command, the flags that commands
// share, and how trackers and renderers are connected. It knows nothing about
// the protocol.
//
// # How a command reads packets
//
//  1. newStats, newRPCs and so on return the command: its help, its examples and
//     its flags. Flags come in groups (addFlags); input flags are those of
//     scan.Flags, -Y, -c and -w those of selection, -T, -t, -n and --color those
//     of view.
//  2. run checks all flags before anything is opened. scan.Flags.Check returns
//     the scan.Input; selection compiles the display filter.
//  3. A scan.Pass over the input is made, and consumers are added to it: trackers
//     first, such as track.Pairing (addRPCs), then those that write their results.
//  4. Pass.Run opens the input and feeds the consumers, until its end, an error,
//     a signal, or a consumer that has enough (scan.ErrStop).
//  5. exit.Status reports the error, if any, and returns the exit status.
//
// The subpackages hold what commands have in common: cli/scan the pass,
// cli/iostreams the terminal, colours and buffered output, cli/exit the exit
// statuses.
//
// # How to add a command
//
// Write newX in a file of its own and add it to newRoot. Every command has an
// example, and a test runs it against the samples in pcaps/: name its files as
// the other examples do. Then refresh completions and man pages:
//
//	go test ./cli -run Generated -update
package cli
