// Command profile runs an lshark command line and writes its CPU profile to a
// file, for profile-guided optimization (internal/tools/bench/pgo).
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/pprof"

	"github.com/lshark/lshark/internal/cli"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/scan"
)

func main() {
	out := flag.String("o", "", "write the profile to `FILE`")
	flag.Parse()
	if *out == "" || flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: profile -o FILE -- ARGUMENT…")
		os.Exit(2)
	}
	status, err := run(*out, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "profile:", err)
		os.Exit(1)
	}
	os.Exit(status)
}

// run returns the exit status of the command line.
func run(out string, args []string) (status int, err error) {
	f, err := os.Create(out)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := pprof.StartCPUProfile(f); err != nil {
		return 0, err
	}
	defer pprof.StopCPUProfile()
	return cli.Run(&scan.System{IO: iostreams.System()}, args), nil
}
