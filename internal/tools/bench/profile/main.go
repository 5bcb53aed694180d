// Command profile runs an lshark command line and writes its CPU profile to a
// file, for profile-guided optimization (internal/tools/bench/pgo).
package main

import (
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
	f, err := os.Create(*out)
	if err == nil {
		err = pprof.StartCPUProfile(f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "profile:", err)
		os.Exit(1)
	}
	status := cli.Run(&scan.System{IO: iostreams.System()}, flag.Args())
	pprof.StopCPUProfile()
	os.Exit(status)
}
