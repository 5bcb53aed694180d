//go:build linux

// Command compare runs a command line with two binaries, by turns, and prints what each run
// takes in the middle: CPU time, wall time, page faults, and the largest memory.
//
//	go build -o /tmp/new . && git worktree add /tmp/tree COMMIT && (cd /tmp/tree && go build -o /tmp/old .)
//	go run ./internal/tools/bench/gen -size 240000000 -segment 1448 pcaps/metadata.pcap.zst >/tmp/metadata.pcap
//	go run ./internal/tools/bench/compare -cores 1 /tmp/old /tmp/new stats /tmp/metadata.pcap
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"time"
)

func main() {
	runs := flag.Int("runs", 9, "runs of each binary")
	cores := flag.Int("cores", 0, "cores that a run may use, 0: all")
	flag.Parse()
	if flag.NArg() < 3 || *runs < 1 {
		fmt.Fprintln(os.Stderr, "usage: compare [-runs N] [-cores N] OLD NEW ARGUMENT…")
		os.Exit(2)
	}
	if err := compare(flag.Args()[:2], flag.Args()[2:], *runs, *cores); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// cost is what a run took.
type cost struct {
	cpu, wall time.Duration
	faults    int64
	peak      int64 // KiB
}

func compare(binaries, args []string, runs, cores int) error {
	costs := make([][]cost, len(binaries))
	for range runs {
		for i, binary := range binaries {
			c, err := run(binary, args, cores)
			if err != nil {
				return err
			}
			costs[i] = append(costs[i], c)
		}
	}
	cpu := func(c cost) float64 { return c.cpu.Seconds() }
	old := median(costs[0], cpu)
	for i, binary := range binaries {
		c := costs[i]
		fmt.Printf("%8.3f s CPU, %4.2f of %s, %8.3f s wall, %7.0f page faults, peak %5.1f MiB  %s\n", median(c, cpu), median(c, cpu)/old,
			binaries[0], median(c, func(c cost) float64 { return c.wall.Seconds() }), median(c, func(c cost) float64 { return float64(c.faults) }),
			slices.MaxFunc(c, func(a, b cost) int { return int(a.peak - b.peak) }).mebibytes(), binary)
	}
	return nil
}

func (c cost) mebibytes() float64 { return float64(c.peak) / 1024 }

// run runs a command line without its output. An exit status is none of its errors: captures
// may be cut short.
func run(binary string, args []string, cores int) (cost, error) {
	cmd := exec.Command(binary, args...)
	if cores > 0 {
		cmd.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(cores))
	}
	begin := time.Now()
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		return cost{}, err
	}
	wall, p := time.Since(begin), cmd.ProcessState
	used := p.SysUsage().(*syscall.Rusage)
	return cost{cpu: p.UserTime() + p.SystemTime(), wall: wall, faults: int64(used.Minflt), peak: int64(used.Maxrss)}, nil
}

// median returns the middle value of costs.
func median(costs []cost, of func(cost) float64) float64 {
	var list []float64
	for _, c := range costs {
		list = append(list, of(c))
	}
	slices.Sort(list)
	return list[len(list)/2]
}
