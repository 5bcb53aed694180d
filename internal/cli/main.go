package cli

import (
	"errors"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/extcap"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/reference"
	"github.com/lshark/lshark/internal/cli/scan"
)

// Main runs the program with the arguments of the process and ends it.
func Main() {
	saveMemory := tuneCollection()
	// Without this, SIGPIPE would end the process at a write to a closed pipe.
	signal.Ignore(syscall.SIGPIPE)
	sys := &scan.System{IO: iostreams.System(), Harden: harden, SaveMemory: saveMemory}
	os.Exit(Run(sys, os.Args[1:]))
}

// harden drops all capabilities, but the one for folders of other users where files are made in
// them, and, where the kernel has Landlock, the right to open other files than a live capture needs.
func harden(files scan.Files) error {
	if err := capture.DropPrivileges(files.Foreign); err != nil || files.Any {
		return err
	}
	_, _ = time.Now().Zone() // reads the time zone, now that it can be read
	err := capture.ConfineFiles(files.Read, files.Write, files.Run)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// tuneCollection lets the first garbage collection wait until the heap has 14 MiB, in place
// of 4: the tables of the protocol and the buffers of a reader have nearly as much, and a
// collection would cost short commands more than their work. Between two later ones the heap
// grows by less than usual while little is in use, and always after saveMemory, which is
// returned: lines and statistics take an eighth less memory, in the same time.
func tuneCollection() (saveMemory func()) {
	const (
		first  = 240 // percent
		saving = 40
		little = 8 << 20 // bytes; diagnose has more, and would collect twice as often
	)
	if os.Getenv("GOGC") != "" {
		return nil
	}
	usual := debug.SetGCPercent(first)
	var always atomic.Bool
	var collected func(percent int)
	collected = func(percent int) {
		next := usual
		if always.Load() || liveHeap() <= little {
			next = saving
		}
		if next != percent {
			debug.SetGCPercent(next)
		}
		runtime.AddCleanup(new([64]byte), collected, next) // by the next collection
	}
	runtime.AddCleanup(new([64]byte), collected, first)
	return func() { always.Store(true) }
}

// liveHeap returns how many bytes the last garbage collection left.
func liveHeap() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// Run runs a command line and returns the exit status.
func Run(sys *scan.System, args []string) int {
	if extcap.IsCall(args) {
		args = append([]string{"extcap"}, args...)
	}
	root := newRoot(sys, joinCompared(reference.NegativeNumbersLast(args)))
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		completeFlags(root)
	}
	help := &helpWriter{to: sys.IO}
	root.SetOut(help)
	root.SetErr(sys.Err)
	err := root.Execute()
	if err == nil {
		err = help.err
	}
	return exit.Status(sys.IO, err)
}

// helpWriter pages help texts, and remembers its first error, which cobra ignores when it
// prints one.
type helpWriter struct {
	to  *iostreams.IO
	err error
}

func (w *helpWriter) Write(b []byte) (int, error) {
	err := w.to.Page(b)
	if w.err == nil {
		w.err = err
	}
	return len(b), err
}
