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
	Read      []string
	Interface string
	Filter    string
	Ports     []uint
	AutoStop  []string
	Offsets   []string
	Names     []string
	Logs      []string
	Cores     int // at most; 0: all
	Snaplen   int // of a live capture: bytes that are kept of a frame, 0 for all
	Quiet     bool
	Verbose   bool
}

// RegisterInput defines the flags that choose packets.
func (f *Flags) RegisterInput(fs *pflag.FlagSet) {
	fs.StringArrayVarP(&f.Read, "read", "r", nil, "read packets from `FILE`, - for standard input; may be repeated")
	fs.StringVarP(&f.Interface, "interface", "i", "", "capture live from interface `IFACE`, any for all interfaces")
	fs.StringVarP(&f.Filter, "filter", "f", "", "capture filter `EXPR` in pcap-filter syntax; live captures default to the LNet ports and RoCE")
	fs.IntVarP(&f.Cores, "jobs", "j", 0, "use at most `N` cores; with a folder for -o, and in sql, read N captures at a time (default: all cores, one capture)")
	fs.UintSliceVar(&f.Ports, "port", nil, "TCP `PORTS` that carry LNet, separated by commas (default 988)")
	fs.Lookup("port").DefValue = "" // pflag would add [] as the default
	fs.StringArrayVarP(&f.AutoStop, "autostop", "a", nil, "stop a live capture after SECS seconds")
	setForm(fs.Lookup("autostop"), "duration:SECS")
	fs.StringArrayVar(&f.Offsets, "offset", nil, "add SECS seconds to the times of FILE; by default, differences between "+
		"clocks are estimated from packets that several files have in common")
	setForm(fs.Lookup("offset"), "FILE=SECS")
	fs.StringArrayVar(&f.Names, "names", nil, "read names of targets and nodes from `FILE`: what lctl get_param '*.*.import' prints, of any number of nodes, "+
		"and lines with a NID or IP address and a name, as in /etc/hosts; may be repeated")
}

// RegisterLogs defines the flag for debug logs, of commands that show what they have.
func (f *Flags) RegisterLogs(fs *pflag.FlagSet) {
	fs.StringArrayVar(&f.Logs, "log", nil, "read the debug log of a node's kernel, as lctl dk prints it, from FILE: when its threads began "+
		"and ended with "+
		"RPCs; NODE is a NID or a name, by default found out; may be repeated")
	setForm(fs.Lookup("log"), "[NODE=]FILE")
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
	in := &Input{
		files:   append(append([]string{}, f.Read...), args...),
		iface:   f.Interface,
		filter:  f.Filter,
		snaplen: f.Snaplen,
		quiet:   f.Quiet,
		verbose: f.Verbose,
	}
	if f.Cores < 0 {
		return nil, exit.Usagef("-j %d: must be at least 1", f.Cores)
	}
	if f.Cores > 0 {
		runtime.GOMAXPROCS(min(f.Cores, runtime.NumCPU()))
	}
	var err error
	if in.duration, err = f.duration(); err != nil {
		return nil, err
	}
	if in.ports, err = TCPPorts(f.Ports); err != nil {
		return nil, err
	}
	switch {
	case in.iface != "" && len(in.files) > 0:
		return nil, exit.Usagef("-i cannot be combined with files")
	case in.duration > 0 && in.iface == "":
		return nil, exit.Usagef("-a needs a live capture (-i)")
	case in.iface != "" && len(f.Logs) > 0:
		return nil, exit.Usagef("--log cannot be combined with -i: a log is read beside files")
	case in.iface == "" && len(in.files) == 0 && len(f.Logs) == 0:
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
	if in.filter != "" { // a live capture compiles it again, for its link type
		if in.keep, err = pcapfilter.New(in.filter, capture.LinkEthernet); err != nil {
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
func (f *Flags) names() (*targets.Names, error) {
	if len(f.Names) == 0 {
		return nil, nil
	}
	n := targets.NewNames()
	for _, path := range f.Names {
		file, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("--names: %w", err)
		}
		err = n.Read(file, path)
		file.Close()
		switch {
		case errors.As(err, new(*targets.NamesError)):
			return nil, exit.Usagef("--names: %w", err)
		case err != nil:
			return nil, fmt.Errorf("--names: %w", err)
		}
	}
	return n, nil
}

// duration returns the time limit of a live capture, 0 without one.
func (f *Flags) duration() (d time.Duration, err error) {
	for _, stop := range f.AutoStop {
		secs, ok := strings.CutPrefix(stop, "duration:")
		if d, err = time.ParseDuration(secs + "s"); !ok || err != nil || d <= 0 {
			return 0, exit.Usagef("-a %s: must be duration:SECS", stop)
		}
	}
	return d, nil
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
