// Command profile runs an lshark command line and writes its CPU profile to a
// file, for profile-guided optimization (internal/tools/bench/pgo).
package main

import (
	"bytes"
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
	var profile bytes.Buffer // pprof does not report that a file cannot be written
	err := pprof.StartCPUProfile(&profile)
	status := cli.Run(&scan.System{IO: iostreams.System()}, flag.Args())
	pprof.StopCPUProfile()
	if err == nil {
		err = os.WriteFile(*out, profile.Bytes(), 0o666)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "profile:", err)
		os.Exit(1)
	}
	os.Exit(status)
}
