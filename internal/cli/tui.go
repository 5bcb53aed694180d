package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/internal/tui"
	"github.com/lshark/lshark/internal/tui/model"
	"github.com/lshark/lshark/internal/tui/store"
)

// tuiOptions are the flags of the command that shows a capture in a terminal program.
type tuiOptions struct {
	flags.Job
	messages bool
	columns  []string
	keep     uint
}

// defaultKeep is how many MiB are kept of a pipe or a live capture.
const defaultKeep = 1024

func newTUI(sys *scan.System) *cobra.Command {
	c := &tuiOptions{Job: flags.NewJob(sys, "table")}
	return flags.Command(&cobra.Command{
		Use:   "tui [flags] [FILE…|-]",
		Short: "Browse RPCs and messages in the terminal",
		Long: "tui is a terminal program to browse a capture or a live interface: a table of RPCs or messages, and below it the tree and the " +
			"bytes of the chosen one. Rows can be filtered, searched and sorted by any column; from a row one goes to what belongs to it, and " +
			"from a finding to its frames. The key ? shows all keys. docs/tui.md has more.",
		Example: `  # browse a capture
  lshark tui client.pcap

  # RPCs that failed, on both sides of the network
  lshark tui -Y 'status < 0' client.pcap server.pcap

  # messages instead of RPCs, live
  lshark tui -m -i eth0`,
	}, c, flags.Help{
		Display: "begin with the display filter `EXPR`, such as 'opcode == OST_WRITE && latency > 10ms'",
		Time:    "row",
		ToOut:   true,
		Logs:    true,
		Selection: func(f *pflag.FlagSet) {
			f.BoolVarP(&c.messages, "messages", "m", false, "begin with messages instead of RPCs")
		},
		Output: func(f *pflag.FlagSet) {
			f.StringArrayVarP(&c.columns, "field", "e", nil, "show the column `NAME`: a key of RPCs or, with -m, of messages, or a field of the wire; may be repeated")
			f.UintVar(&c.keep, "keep", defaultKeep, "of a live capture or a pipe, keep `MIB` of messages, and as much of frames")
		},
	}, (*tuiOptions).check, (*tuiOptions).run)
}

func (c *tuiOptions) check() error {
	const least = 16
	if c.keep < least {
		return exit.Usagef("--keep %d: must be at least %d", c.keep, least)
	}
	kind := store.RPCs
	_, err := flags.RPCs(c.Display)
	if c.messages {
		kind = store.Messages
		_, err = flags.Messages(c.Display)
	}
	for _, name := range c.columns {
		if _, ok := store.NewColumn(kind, name); !ok {
			err = errors.Join(err, exit.UnknownName("column", name, store.ColumnNames(kind)))
			break
		}
	}
	if !c.Sys.OutTTY || c.Sys.Env("TERM") == "dumb" {
		err = errors.Join(err, exit.Usagef("tui needs a terminal: run it in one without redirecting its output; lshark and lshark rpcs print lines"))
	}
	return err
}

func (c *tuiOptions) run() error {
	// Notes about the capture would be written over the screen.
	notes := &laterWriter{}
	sys := c.Sys.With(func(s *iostreams.IO) { s.Err, s.ErrTTY = notes, false })
	in := c.In
	p := scan.New(sys, in, scan.Options{Frames: true, LookAhead: lookAhead, Files: scan.Files{Any: true}, Logs: scan.LogUse{Beside: true, Elsewhere: true, Flag: "ha",
		Unknown: "there are findings and connections"}})
	rows := store.Options{Distinct: in.Distinct()}
	if !in.Rereadable() {
		rows.Most, rows.Frames = int64(c.keep)<<20, true
	}
	m := model.New(rows, diagnose.Options{Follow: p.FollowOptions(), Capture: p.Captured, OnlyLogs: in.OnlyLogs()})
	state, path, err := readState(c.Sys.Env)
	if err != nil {
		p.Note("%v", err)
	}
	view := c.Job.Options()
	view.Files = in.FileNames()
	screen := tui.New(tui.Options{
		Title:    title(in, c.Args, &c.Input),
		Capture:  m,
		View:     view,
		Colored:  c.Job.Colored(),
		Live:     in.Live(),
		Messages: c.messages,
		Findings: in.OnlyLogs(), // there are no rows
		Filter:   c.Display,
		Columns:  c.columns,
		State:    state,
		Save:     saveFunc(p, in, m.Rows),
	})
	opened, ended := make(chan error, 3), make(chan struct{}) // all that is sent has room
	p.Observe(m)
	first := sync.OnceFunc(func() {
		m.Rows.SetFirst(p.First())
		opened <- nil
	})
	p.Add(scan.Consumer{
		Begin: func() error {
			screen.Begin(p.Progress())
			switch {
			case in.OnlyLogs():
				first()
			case !in.Rereadable():
				opened <- nil
			}
			return nil
		},
		Frame: func(f *capture.Frame) error {
			first()
			return m.Frame(f)
		},
		End: m.Rows.Err,
	})
	go func() {
		defer close(ended)
		screen.Guard(func() {
			err := p.Run()
			opened <- err
			screen.End(err)
		})
	}()
	// What cannot be opened, or is no capture, is an error before there is a screen.
	patient := patience // a FIFO may wait for its other end
	if in.Rereadable() {
		patient = 10 * time.Second
	}
	select {
	case err := <-opened:
		if err != nil {
			return errors.Join(err, m.Rows.Close(), notes.writeTo(c.Sys.Err))
		}
	case <-time.After(patient):
	}
	err = screen.Run()
	p.Stop()
	if now := screen.State(); !reflect.DeepEqual(now, state) {
		if wrong := writeState(path, now); wrong != nil {
			p.Note("columns and filters are not remembered: %v", wrong)
		}
	}
	// A pass that looks for targets, or waits for the other end of a FIFO, takes longer:
	// the end of the process ends it.
	select {
	case <-ended:
		err = errors.Join(err, m.Rows.Close())
	case <-time.After(patience):
	}
	return errors.Join(err, notes.writeTo(c.Sys.Err))
}

// readState returns what the session before has left, and where that is.
func readState(env func(string) string) (state tui.State, path string, err error) {
	folder := env("XDG_STATE_HOME")
	if !filepath.IsAbs(folder) {
		if folder = env("HOME"); folder == "" {
			return state, "", nil
		}
		folder = filepath.Join(folder, ".local", "state")
	}
	path = filepath.Join(folder, "lshark", "tui.json")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return state, path, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &state)
	}
	if err != nil {
		return tui.State{}, path, fmt.Errorf("%s: %w", path, err)
	}
	return state, path, nil
}

// writeState keeps what the next session begins with. Without a path it does nothing.
func writeState(path string, state tui.State) error {
	if path == "" {
		return nil
	}
	text, err := json.MarshalIndent(state, "", "  ")
	if err != nil {
		return err
	}
	const private = 0o700
	if err := os.MkdirAll(filepath.Dir(path), private); err != nil {
		return err
	}
	w, err := iostreams.NewFileWriter(path, false)
	if err != nil {
		return err
	}
	return errors.Join(w.Write(append(text, '\n')), w.Close())
}

// lookAhead is how long names of targets are looked for before the first rows appear.
const lookAhead = time.Second

// patience is how long the end of the pass is waited for.
const patience = 200 * time.Millisecond

func title(in *scan.Input, args []string, input *scan.Flags) string {
	switch {
	case in.Live():
		return "live on " + iostreams.Printable(strings.Join(input.Interfaces, ", "))
	case len(args)+len(input.Read) == 0, len(args) == 1 && args[0] == "-":
		return "standard input"
	}
	return iostreams.Printable(strings.Join(append(slices.Clone(input.Read), args...), " "))
}

func saveFunc(p *scan.Pass, in *scan.Input, rows *store.Store) func(string, []tui.Frame) (int, error) {
	return func(path string, frames []tui.Frame) (missing int, err error) {
		var marks scan.Marks
		for _, f := range frames {
			marks.Add(f.Number, f.Comment)
		}
		var kept func(int64) (capture.Frame, error)
		if !in.Rereadable() {
			kept = rows.NewReader().Frame
		}
		return p.SaveFrames(path, &marks, kept)
	}
}

// laterWriter keeps what is written to it.
type laterWriter struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (w *laterWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.Write(b)
}

func (w *laterWriter) writeTo(to io.Writer) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.buf.WriteTo(to)
	return err
}
