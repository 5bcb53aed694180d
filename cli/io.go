package cli

import (
	"errors"
	"io"
	"os"
	"strconv"

	"golang.org/x/term"

	"github.com/lshark/lshark/capture"
)

// IO is all that commands know of the world around them; tests make their own.
type IO struct {
	Out, Err       io.Writer
	InTTY          bool // standard input is a terminal
	OutTTY, ErrTTY bool
	Columns        int // of the terminal that Out is
	Env            func(string) string

	// Open opens capture files; nil: capture.Open does.
	Open func(paths []string, o capture.Options) (frames, error)

	// Harden gives up what only opening needs, once a live capture is open;
	// nil: nothing.
	Harden func() error
}

// System is the IO of the process.
func System() *IO {
	sys := &IO{Out: os.Stdout, Err: os.Stderr, Env: os.Getenv, Harden: harden}
	sys.InTTY = term.IsTerminal(int(os.Stdin.Fd()))
	sys.OutTTY = term.IsTerminal(int(os.Stdout.Fd()))
	sys.ErrTTY = term.IsTerminal(int(os.Stderr.Fd()))
	if sys.OutTTY {
		if w, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
			sys.Columns = w
		}
	}
	return sys
}

func (sys *IO) open(paths []string, o capture.Options) (frames, error) {
	if sys.Open != nil {
		return sys.Open(paths, o)
	}
	return capture.Open(paths, o)
}

// harden drops all capabilities, where the program can do so.
func harden() error {
	if err := capture.DropPrivileges(); !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// width is the number of columns that lines have to fit in, 0 when Out is no
// terminal.
func (sys *IO) width() int {
	if !sys.OutTTY {
		return 0
	}
	if n, err := strconv.Atoi(sys.Env("COLUMNS")); err == nil && n > 0 && sys.Columns == 0 {
		return n
	}
	return sys.Columns
}

// colored decides about colours: the flag, then the environment, then whether
// Out is a terminal.
func (sys *IO) colored(flag string) bool {
	switch flag {
	case "always":
		return true
	case "never":
		return false
	}
	force := sys.Env("CLICOLOR_FORCE")
	switch {
	case sys.Env("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	case sys.Env("CLICOLOR") == "0", sys.Env("TERM") == "dumb":
		return false
	}
	return sys.OutTTY
}
