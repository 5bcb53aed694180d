package cli

import (
	"errors"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
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
// collection would cost short commands more than their work. After saveMemory, which it
// returns, the heap grows less between two collections.
func tuneCollection() (saveMemory func()) {
	const first, saving = 240, 40 // percent
	if os.Getenv("GOGC") != "" {
		return nil
	}
	var later atomic.Int64
	later.Store(int64(debug.SetGCPercent(first)))
	runtime.AddCleanup(new([64]byte), func(later *atomic.Int64) { debug.SetGCPercent(int(later.Load())) }, &later)
	return func() {
		later.Store(saving)
		debug.SetGCPercent(saving)
	}
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
