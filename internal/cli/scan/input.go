package scan

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/capture/pcapfilter"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/lnet/clocks"
	"github.com/lshark/lshark/dissect/track/logs"
	"github.com/lshark/lshark/dissect/track/targets"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/iostreams"
)

// stdin is the file name that stands for standard input.
const stdin = "-"

// anyInterface stands for all interfaces.
const anyInterface = "any"

// Input is a checked choice of packets: capture files or an interface. Only one
// Pass at a time may read it.
type Input struct {
	flags   Flags
	files   []string
	keep    *pcapfilter.Filter // the capture filter, compiled for files; nil keeps all frames
	ports   []uint16           // TCP ports that carry LNet, empty for the default
	live    capture.LiveOptions
	stop    limits                   // of a live capture
	ring    limits                   // of the files that it writes
	offsets map[string]time.Duration // given for the times of some files
	names   *targets.Names           // of targets and nodes, nil: none are given
	logs    []logs.File              // debug logs of nodes
	outputs []string                 // folders of the files that NewWriter writes
}

// Live reports whether what happens is read as it happens: frames are captured, or logs are followed.
func (in *Input) Live() bool { return in.captures() || in.flags.Follow }

// captures reports whether frames are captured from interfaces.
func (in *Input) captures() bool { return len(in.flags.Interfaces) > 0 }

// Distinct reports whether there may be several capture points: files or interfaces.
func (in *Input) Distinct() bool {
	return len(in.files) > 1 || len(in.flags.Interfaces) > 1 || in.allInterfaces()
}

func (in *Input) allInterfaces() bool {
	return len(in.flags.Interfaces) == 1 && in.flags.Interfaces[0] == anyInterface
}

// FileNames returns the names of the capture files or interfaces as in records, nil when there
// is only one. Of all interfaces it returns those that there are now.
func (in *Input) FileNames() []string {
	switch {
	case !in.Distinct():
		return nil
	case !in.captures():
		return capture.FileNames(in.files)
	case !in.allInterfaces():
		return in.flags.Interfaces
	}
	list, err := capture.Interfaces()
	if err != nil {
		return nil // the names are for the width of a column; OpenLive returns the error
	}
	var names []string
	for _, i := range list {
		if i.Up {
			names = append(names, i.Name)
		}
	}
	return names
}

// Sources returns the names of what is read: those of the capture files as in
// records, or the interfaces.
func (in *Input) Sources() []string {
	switch {
	case in.captures():
		return in.flags.Interfaces
	case in.OnlyLogs():
		return in.LogNames()
	}
	return capture.FileNames(in.files)
}

// NodeNames returns the func that returns the name of a node, or an empty string;
// nil when no names are given.
func (in *Input) NodeNames() func(lnet.NID) string {
	if in.names == nil {
		return nil
	}
	return in.names.Node
}

// NewWriter returns what writes to a file that is not one of the input; flag is the
// flag that names it. Without a name, or with -, it writes to the standard output.
func (in *Input) NewWriter(sys *System, flag, path string) (*iostreams.Writer, error) {
	if path == "" || path == stdin {
		return sys.NewWriter(in.FlushPolicy()), nil
	}
	if err := CheckOutput(flag+" "+path, path, in.files...); err != nil {
		return nil, err
	}
	folder := filepath.Dir(path)
	in.outputs = append(in.outputs, folder)
	if target, err := filepath.EvalSymlinks(path); err == nil {
		folder = filepath.Dir(target)
		in.outputs = append(in.outputs, folder)
	}
	// A live capture loses its privileges when it begins.
	return iostreams.NewFileWriter(path, in.Live() && !iostreams.MayRenameIn(folder))
}

// CheckOutput returns an error if a file to be written is one of the input, or a directory. It is about what.
func CheckOutput(what, path string, input ...string) error {
	info, err := os.Stat(path)
	isInput := func(path string) bool {
		file, err := Stat(path)
		return err == nil && os.SameFile(file, info)
	}
	switch {
	case err != nil: // creating it tells why
		return nil
	case slices.ContainsFunc(input, isInput):
		return exit.Usagef("%s: would overwrite the input", what)
	case info.IsDir():
		return exit.Usagef("%s: is a directory", what)
	}
	return nil
}

// FlushPolicy returns how often output must be flushed for this kind of input.
func (in *Input) FlushPolicy() iostreams.FlushPolicy {
	switch {
	case in.Live():
		return iostreams.FlushEachWrite
	case in.piped():
		return iostreams.FlushOften
	}
	return iostreams.FlushWhenFull
}

// piped reports whether some of the frames come through a pipe, whose writer
// may be slow.
func (in *Input) piped() bool {
	return slices.ContainsFunc(in.files, func(path string) bool {
		info, err := Stat(path)
		return err == nil && !info.Mode().IsRegular()
	})
}

// Rereadable reports whether all of the input can be read a second time. A file
// that is redirected to standard input is closed after the first reading.
func (in *Input) Rereadable() bool {
	return !in.Live() && !in.piped() && !slices.Contains(in.files, stdin)
}

// pipeTwice returns the name of a pipe, or of standard input, that was given
// twice, or an empty string.
func (in *Input) pipeTwice() string {
	var pipes []os.FileInfo
	for _, path := range in.files {
		info, err := Stat(path)
		if err != nil || path != stdin && info.Mode()&os.ModeNamedPipe == 0 {
			continue
		}
		if slices.ContainsFunc(pipes, func(other os.FileInfo) bool { return os.SameFile(info, other) }) {
			if path == stdin {
				return "standard input"
			}
			return path
		}
		pipes = append(pipes, info)
	}
	return ""
}

// Files returns the capture files as they were named, none of a live capture.
func (in *Input) Files() []string { return in.files }

// Name returns the Sources, with commas between them.
func (in *Input) Name() string { return strings.Join(in.Sources(), ",") }

// Stat is os.Stat, with - for standard input.
func Stat(path string) (os.FileInfo, error) {
	if path == stdin {
		return os.Stdin.Stat()
	}
	return os.Stat(path)
}

// clockOffsets returns what to add to the times of each file: the offsets given
// on the command line, for other files the estimate from packets that two
// files have in common.
func (in *Input) clockOffsets(sys *System) (map[string]time.Duration, error) {
	if len(in.files) < 2 {
		return in.offsets, nil
	}
	found, err := in.Clocks(sys)
	offsets := make(map[string]time.Duration)
	for path, clock := range found {
		offsets[path] = clock.Offset
	}
	return offsets, err
}

// Clocks returns the clocks of files that have packets in common, by path, and of those whose
// offset is given on the command line.
func (in *Input) Clocks(sys *System) (map[string]clocks.Clock, error) {
	found, notes, err := clocks.Compare(in.files)
	if err != nil {
		return nil, err
	}
	in.sayNotes(sys, notes)
	if len(in.offsets) == 0 {
		return found, nil
	}
	// An offset is given for the times of all files.
	for _, path := range in.files {
		clock := found[path]
		if offset, given := in.offsets[path]; given {
			clock.Offset = offset
		}
		clock.Of = in.files[0]
		found[path] = clock
	}
	return found, nil
}

// sayNotes writes notes, with -v.
func (in *Input) sayNotes(sys *System, notes []string) {
	if in.flags.Verbose {
		for _, n := range notes {
			sys.Say("%s", n)
		}
	}
}

// liveFilter returns the capture filter of a live capture: without -f that for
// the TCP ports of LNet, and for RDMA over Ethernet.
func (in *Input) liveFilter() string {
	if in.flags.Filter != "" {
		return in.flags.Filter
	}
	var ports []int
	for _, p := range in.ports {
		ports = append(ports, int(p))
	}
	if ports == nil {
		ports = []int{lnet.DefaultPort}
	}
	return pcapfilter.TCPAndRoCE(ports)
}

// liveTraffic describes which traffic a live capture reads, for a message.
func (in *Input) liveTraffic() string {
	switch {
	case in.flags.Filter != "":
		return in.flags.Filter
	case in.flags.Verbose:
		return in.liveFilter()
	case len(in.ports) == 0:
		return fmt.Sprintf("TCP port %d, RoCE", lnet.DefaultPort)
	}
	return fmt.Sprintf("TCP ports %v, RoCE", in.ports)
}
