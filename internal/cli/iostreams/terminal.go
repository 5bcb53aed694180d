package iostreams

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// Width returns the number of columns that lines have to fit in, 0 when Out is
// not a terminal.
func (s *IO) Width() int {
	if !s.OutTTY {
		return 0
	}
	if n, err := strconv.Atoi(s.Env("COLUMNS")); err == nil && n > 0 && s.Columns == 0 {
		return n
	}
	return s.Columns
}

// Size returns the present size of the terminal, which its user may change at
// any time.
func (s *IO) Size() (columns, rows int) {
	const usualRows = 24
	if f, ok := s.Out.(*os.File); ok {
		if w, h, err := term.GetSize(int(f.Fd())); err == nil {
			return w, h
		}
	}
	return s.Columns, usualRows
}

// Page writes a text to Out, by the pager in PAGER, less by default, when Out is a terminal that
// has not as many lines.
func (s *IO) Page(text []byte) error {
	pager := strings.Fields(s.Env("PAGER"))
	if len(pager) == 0 {
		pager = []string{"less"}
	}
	cmd := exec.Command(pager[0], pager[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text), s.Out, s.Err
	if s.Env("LESS") == "" {
		cmd.Env = append(os.Environ(), "LESS=FRX")
	}
	_, rows := s.Size()
	paged := bytes.Count(text, []byte{'\n'}) >= rows && s.InTTY && s.OutTTY && s.Env("TERM") != "dumb"
	if paged {
		paged = cmd.Start() == nil // it may not be installed
	}
	if !paged {
		_, err := s.Out.Write(text)
		return err
	}
	signal.Ignore(os.Interrupt) // it is for the pager
	defer signal.Reset(os.Interrupt)
	if err := cmd.Wait(); !errors.As(err, new(*exec.ExitError)) {
		return err
	}
	return nil // the pager has said what is wrong
}

// Colored reports whether output is coloured: when is the value of --color,
// auto, always or never. With auto the environment decides, then whether Out is
// a terminal.
func (s *IO) Colored(when string) bool {
	switch when {
	case "always":
		return true
	case "never":
		return false
	}
	force := s.Env("CLICOLOR_FORCE")
	switch {
	case s.Env("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	case s.Env("CLICOLOR") == "0", s.Env("TERM") == "dumb":
		return false
	}
	return s.OutTTY
}

// Keys lets the terminal deliver each key at once instead of whole lines.
// restore undoes that. If standard input is not a terminal, no key is delivered.
func (s *IO) Keys() (keys <-chan byte, restore func() error, err error) {
	const typedAhead = 16
	c := make(chan byte, typedAhead)
	if !s.InTTY {
		return c, func() error { return nil }, nil
	}
	fd := int(os.Stdin.Fd())
	old, err := term.MakeRaw(fd)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read keys from the terminal: %w", err)
	}
	go func() {
		var b [1]byte
		for {
			if _, err := io.ReadFull(os.Stdin, b[:]); err != nil {
				return // no more keys
			}
			c <- b[0]
		}
	}()
	return c, func() error { return term.Restore(fd, old) }, nil
}
