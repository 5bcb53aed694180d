package scan

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/capture/pcapfilter"
	"github.com/lshark/lshark/dissect/track/targets"
	"github.com/lshark/lshark/internal/cli/exit"
)

// Flags are the flags of all commands that read packets, as typed.
type Flags struct {
	Read       []string
	Interfaces []string
	Filter     string
	Ports      []uint
	AutoStop   []string
	RingBuffer []string
	Offsets    []string
	Names      []string
	Logs       []string
	Follow     bool // the logs grow
	Cores      int  // at most; 0: all

	// Of a live capture:
	Snaplen       int // bytes that are kept of a frame, 0 for all
	Buffer        int // MiB of frames that the kernel buffers, 0 for the default
	NoPromiscuous bool

	Quiet   bool
	Verbose bool
}

// RegisterFiles defines the flags that choose packets of files.
func (f *Flags) RegisterFiles(fs *pflag.FlagSet) {
	fs.StringArrayVarP(&f.Read, "read", "r", nil, "read packets from `FILE`, - for standard input; may be repeated")
	fs.StringVarP(&f.Filter, "filter", "f", "", "capture filter `EXPR` in pcap-filter syntax; live captures default to the LNet ports and RoCE")
	fs.IntVarP(&f.Cores, "jobs", "j", 0, "use at most `N` cores; with a folder for -o, and in sql, read N captures at a time (default: all cores, one capture)")
	fs.UintSliceVar(&f.Ports, "port", nil, "TCP `PORTS` that carry LNet, separated by commas (default 988)")
	fs.Lookup("port").DefValue = "" // pflag would add [] as the default
	fs.StringArrayVar(&f.Offsets, "offset", nil, "add SECS seconds to the times of FILE; by default, differences between "+
		"clocks are estimated from packets that several files have in common")
	setForm(fs.Lookup("offset"), "FILE=SECS")
	fs.StringArrayVar(&f.Names, "names", nil, "read names of targets and nodes from `FILE`: what lctl get_param '*.*.import' prints, of any number of nodes, "+
		"and lines with a NID or IP address and a name, as in /etc/hosts; may be repeated. A live capture asks lctl of this node for the imports; "+
		"none turns that off")
}

// RegisterLive defines the flags of live captures.
func (f *Flags) RegisterLive(fs *pflag.FlagSet) {
	fs.StringArrayVarP(&f.Interfaces, "interface", "i", nil, "capture live from interface `IFACE`, any for all interfaces; may be repeated")
	fs.StringArrayVarP(&f.AutoStop, "autostop", "a", nil, "stop a live capture: after duration:SECS, packets:N frames, "+
		"filesize:KB of -w, or files:N of -b; may be repeated")
	setForm(fs.Lookup("autostop"), "LIMIT")
	fs.IntVarP(&f.Snaplen, "snaplen", "s", 0, "live, capture at most `BYTES` of a frame, 0 for all")
	fs.BoolVarP(&f.NoPromiscuous, "no-promiscuous", "p", false, "live, leave the interfaces out of promiscuous mode, in which they "+
		"also pass on what is sent to other hosts")
	fs.IntVarP(&f.Buffer, "buffer-size", "B", 0, "live, let the kernel buffer `MIB` of frames (default 32)")
}

// RegisterLogs defines the flag for logs, of commands that show what they have.
func (f *Flags) RegisterLogs(fs *pflag.FlagSet) {
	fs.StringArrayVar(&f.Logs, "log", nil, "read what kernels log from FILE: messages of syslog, journalctl -k or dmesg, or a debug log, as lctl dk "+
		"prints it; NODE is a NID or a name, by default found out; may be repeated")
	setForm(fs.Lookup("log"), "[NODE=]FILE")
}

// RegisterFollow defines the flag for logs that grow.
func (f *Flags) RegisterFollow(fs *pflag.FlagSet) {
	fs.BoolVar(&f.Follow, "follow", false, "with --log and no capture, read on as the logs grow, also when they are replaced or truncated, until Ctrl-C")
}

// RegisterRing defines the flag for several files of -w.
func (f *Flags) RegisterRing(fs *pflag.FlagSet) {
	fs.StringArrayVarP(&f.RingBuffer, "ring-buffer", "b", nil, "live, begin a new file of -w after duration:SECS, filesize:KB (of 1000 bytes) "+
		"or packets:N, and keep the latest files:N, all by default; may be repeated")
	setForm(fs.Lookup("ring-buffer"), "LIMIT")
}

// setForm sets the form of a flag's value that help texts show beside its name.
func setForm(f *pflag.Flag, form string) {
	f.Value, f.DefValue = formValue{f.Value, form}, ""
}

// formValue is a value of a flag with its form as the name of its type.
type formValue struct {
	pflag.Value
	form string
}

func (v formValue) Type() string { return v.form }

// RegisterNotes defines the flags for notes about the capture itself.
func (f *Flags) RegisterNotes(fs *pflag.FlagSet) {
	fs.BoolVarP(&f.Quiet, "quiet", "q", false, "no notes about the capture on standard error")
	fs.BoolVarP(&f.Verbose, "verbose", "v", false, "more notes about the capture: frames, retransmissions, gaps")
}

// Check validates the flags and the file arguments. inTTY reports that standard
// input is a terminal, which is not read as a capture unless named.
func (f *Flags) Check(args []string, inTTY bool) (*Input, error) {
	in := &Input{flags: *f, files: slices.Concat(f.Read, args)}
	if f.Cores < 0 {
		return nil, exit.Usagef("-j %d: must be at least 1", f.Cores)
	}
	if f.Cores > 0 {
		runtime.GOMAXPROCS(min(f.Cores, runtime.NumCPU()))
	}
	var err error
	if err = f.checkLive(in); err != nil {
		return nil, err
	}
	if in.ports, err = TCPPorts(f.Ports); err != nil {
		return nil, err
	}
	switch {
	case in.captures() && len(in.files) > 0:
		return nil, exit.Usagef("-i cannot be combined with files")
	case in.captures() && len(f.Logs) > 0:
		return nil, exit.Usagef("--log cannot be combined with -i: a log is read beside files")
	case f.Follow && len(f.Logs) == 0:
		return nil, exit.Usagef("--follow needs --log")
	case f.Follow && len(in.files) > 0:
		return nil, exit.Usagef("%s: logs are followed without captures: name each log with --log", in.files[0])
	case !in.Live() && len(in.files) == 0 && len(f.Logs) == 0:
		if inTTY {
			return nil, exit.Usagef("no capture given: name a file, or an interface with -i")
		}
		in.files = []string{stdin}
	}
	if name := in.pipeTwice(); name != "" {
		return nil, exit.Usagef("%s is named twice, but can be read only once", name)
	}
	if in.offsets, err = f.offsets(in.files); err != nil {
		return nil, err
	}
	if in.names, err = f.names(); err != nil {
		return nil, err
	}
	if in.logs, err = f.logFiles(in.names); err != nil {
		return nil, err
	}
	in.takeLogs()
	if in.flags.Filter != "" { // a live capture compiles it again, for its link type
		if in.keep, err = pcapfilter.New(in.flags.Filter, capture.LinkEthernet); err != nil {
			return nil, exit.UsageError{Err: err}
		}
	}
	return in, nil
}

// TCPPorts checks the ports of --port.
func TCPPorts(given []uint) (ports []uint16, err error) {
	for _, p := range given {
		if p == 0 || p > math.MaxUint16 {
			return nil, exit.Usagef("--port %d: not a TCP port", p)
		}
		ports = append(ports, uint16(p))
	}
	return ports, nil
}

// names reads the files with names, nil when none is given.
func (f *Flags) names() (n *targets.Names, err error) {
	for _, path := range f.Names {
		if path == noNames {
			continue
		}
		if n == nil {
			n = targets.NewNames()
		}
		file, err := os.Open(path)
		if err == nil {
			err = n.Read(file, path)
			file.Close()
		}
		switch {
		case errors.As(err, new(*targets.NamesError)):
			return nil, exit.Usagef("--names: %w", err)
		case err != nil:
			return nil, fmt.Errorf("--names: %w", err)
		}
	}
	return n, nil
}

// checkLive checks the flags of live captures.
func (f *Flags) checkLive(in *Input) (err error) {
	if in.stop, err = parseLimits("-a", f.AutoStop); err != nil {
		return err
	}
	if in.ring, err = parseLimits("-b", f.RingBuffer); err != nil {
		return err
	}
	const maxBuffer = 2 << 10 // MiB; the size of the kernel's memory has 32 bits
	in.live = capture.LiveOptions{Snaplen: f.Snaplen, Buffer: f.Buffer << 20, NoPromiscuous: f.NoPromiscuous}
	switch {
	case f.Snaplen < 0:
		return exit.Usagef("-s %d: must not be negative", f.Snaplen)
	case f.Buffer < 0 || f.Buffer > maxBuffer:
		return exit.Usagef("-B %d: must be from 1 to %d MiB", f.Buffer, maxBuffer)
	case !in.captures():
		return f.checkNotLive(in)
	case in.ring.any() && !in.ring.endsFile():
		return exit.Usagef("-b needs duration:SECS, filesize:KB or packets:N: when a file ends")
	case in.stop.files > 0 && !in.ring.any():
		return exit.Usagef("-a files:%d needs -b", in.stop.files)
	case in.stop.bytes > 0 && in.ring.any():
		return exit.Usagef("-a filesize: with -b, use files:N")
	}
	for i, name := range in.flags.Interfaces {
		switch {
		case name == "":
			return exit.Usagef("-i: the name of the interface is empty")
		case slices.Contains(in.flags.Interfaces[:i], name):
			return exit.Usagef("-i %s is given twice", name)
		case name == anyInterface && len(in.flags.Interfaces) > 1:
			return exit.Usagef("-i any has all interfaces: give no others")
		}
	}
	return nil
}

// checkNotLive refuses flags of live captures for files. Logs may be followed for a time.
func (f *Flags) checkNotLive(in *Input) error {
	onlyTime := in.stop.bytes+in.stop.packets == 0 && in.stop.files == 0
	for _, x := range []struct {
		flag  string
		given bool
	}{
		{"-a", len(f.AutoStop) > 0 && !(in.flags.Follow && onlyTime)},
		{"-b", len(f.RingBuffer) > 0},
		{"-s", f.Snaplen > 0},
		{"-B", f.Buffer > 0},
		{"-p", f.NoPromiscuous},
	} {
		if x.given {
			return exit.Usagef("%s needs a live capture (-i)", x.flag)
		}
	}
	return nil
}

// offsets returns what to add to the times of each file that --offset names.
func (f *Flags) offsets(files []string) (map[string]time.Duration, error) {
	const maxSeconds = 1e9
	given := make(map[string]time.Duration)
	for _, text := range f.Offsets {
		at := strings.LastIndexByte(text, '=') // a file name may have one, too
		secs, err := strconv.ParseFloat(text[at+1:], 64)
		if at < 0 || err != nil || !(math.Abs(secs) <= maxSeconds) { // NaN is neither less nor more
			return nil, exit.Usagef("--offset %s: must be FILE=SECS", text)
		}
		file := text[:at]
		if !slices.Contains(files, file) {
			return nil, exit.Usagef("--offset %s: %s is not among the files", text, file)
		}
		given[file] = time.Duration(secs * float64(time.Second))
	}
	return given, nil
}
