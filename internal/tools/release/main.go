// Command release builds everything that a release of lshark consists of:
// static binaries, archives, deb and rpm packages, and their checksums.
//
//	git tag v1.2.3
//	go run ./internal/tools/release -o /tmp/lshark-1.2.3
//
// It builds the commit that is checked out, without changes that are not
// committed. When the commit has no tag the result is a snapshot, whose version
// sorts before the next release. The same commit and the same Go give the same
// bytes. It needs Go and git, and the network only for modules that are not
// downloaded yet: those of lshark, and those of nfpm, which packs deb and rpm.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
)

func main() {
	out := flag.String("o", "dist", "write the files into this `folder`, which is created and has to be empty")
	only := flag.String("target", "", "build for these systems only, as in `linux/amd64,darwin/arm64`")
	packages := flag.Bool("packages", true, "make deb and rpm packages too, which needs nfpm from the network or Go's module cache")
	optimize := flag.Bool("pgo", true, "optimize the binaries with the profile of usual work; go build compiles every package once more then")
	flag.Parse()
	selected, err := selectTargets(*only)
	if err == nil {
		err = build(".", *out, selected, *packages, *optimize, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// selectTargets returns the targets of a list like linux/amd64,darwin/arm64,
// and all of them for an empty list.
func selectTargets(list string) ([]target, error) {
	if list == "" {
		return targets, nil
	}
	var selected []target
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(targets, func(t target) bool { return t.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("no target %q; there are %v", name, targets)
		}
		selected = append(selected, targets[i])
	}
	return selected, nil
}
