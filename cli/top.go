package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/track"
)

// top is the table of a live capture that refreshes in place.
type top struct {
	sys     *IO
	stats   *track.Stats
	table   *render.StatsTable
	look    *render.Colors
	keys    chan byte
	restore func() error // gives the terminal back; nil: it was not taken
	sort    string
	until   time.Time // of the next drawing
	text    []byte
	out     bytes.Buffer
}

// topKeys are the keys that change the order of rows.
var topKeys = []struct {
	key  byte
	sort string
}{{'c', "count"}, {'e', "errors"}, {'u', "unanswered"}, {'m', "max"}, {'p', "p99"}, {'t', "time"}, {'b', "bytes"},
	{'d', "depth"}, {'n', "name"}}

const (
	ctrlC   = 3
	refresh = time.Second
)

func (c *stats) top(o render.StatsOptions) error {
	s := track.NewStats(track.StatsOptions{By: o.By})
	t := c.tracker(s)
	p := &top{sys: c.look.sys, stats: s, table: render.NewStatsTable(o), look: o.Colors, sort: o.Sort}
	err := c.in.run(func(m *dissect.Message, first int64) error {
		c.in.belongs(m, first, t.Message(m))
		return p.step(t)
	}, func() error { return p.step(t) })
	t.Close()
	return errors.Join(err, c.in.saved(), p.end())
}

// begin takes the terminal, which then hands over single keys.
func (p *top) begin() error {
	p.keys = make(chan byte, 16)
	if !p.sys.InTTY {
		p.restore = func() error { return nil }
		return nil
	}
	fd := int(os.Stdin.Fd())
	old, err := term.MakeRaw(fd)
	if err != nil {
		return fmt.Errorf("the terminal's keys: %w", err)
	}
	p.restore = func() error { return term.Restore(fd, old) }
	go func() {
		var b [1]byte
		for {
			if _, err := io.ReadFull(os.Stdin, b[:]); err != nil {
				return // no more keys
			}
			p.keys <- b[0]
		}
	}()
	return nil
}

// step looks at the keys and draws when it is time. The first one takes the
// terminal: the interface is open by then.
func (p *top) step(t *track.RPCs) error {
	if p.restore == nil {
		if err := p.begin(); err != nil {
			return err
		}
	}
	select {
	case k := <-p.keys:
		if k == ctrlC || k == 'q' {
			return errStop
		}
		for _, o := range topKeys {
			if o.key == k {
				p.sort = o.sort
				p.table.SetSort(o.sort)
				p.until = time.Time{}
			}
		}
	default:
	}
	now := time.Now()
	if now.Before(p.until) {
		return nil
	}
	p.until = now.Add(refresh)
	t.Advance(now.UnixNano())
	return p.draw()
}

// draw writes the table over the last one.
func (p *top) draw() error {
	columns, rows := p.sys.Columns, 24
	if f, ok := p.sys.Out.(*os.File); ok {
		if w, h, err := term.GetSize(int(f.Fd())); err == nil {
			columns, rows = w, h
		}
	}
	p.table.SetWidth(columns)
	p.text = p.text[:0]
	for _, i := range p.stats.Intervals() {
		p.text = p.table.AppendInterval(p.text, i)
	}
	p.out.Reset()
	p.out.WriteString("\x1b[H")
	lines := bytes.Split(p.text, []byte("\n"))
	for k, line := range lines[:max(0, len(lines)-1)] {
		if k >= rows-1 {
			break
		}
		p.out.Write(line)
		p.out.WriteString("\x1b[K\r\n")
	}
	p.out.WriteString(p.help(columns))
	p.out.WriteString("\x1b[K\x1b[J")
	_, err := p.sys.Out.Write(p.out.Bytes())
	return err
}

// help is the line below the table.
func (p *top) help(columns int) string {
	text := "sort:"
	for _, o := range topKeys {
		mark := ""
		if o.sort == p.sort {
			mark = "*"
		}
		text += fmt.Sprintf(" %c=%s%s", o.key, o.sort, mark)
	}
	text += " q=quit"
	if columns > 0 && len(text) >= columns {
		text = text[:columns-1]
	}
	return p.look.Dim.Text(text)
}

// end leaves the last table on the screen, if there was one.
func (p *top) end() error {
	if p.restore == nil {
		return nil
	}
	err := p.restore()
	p.text = append(p.text[:0], "\x1b[H\x1b[J"...)
	for _, i := range p.stats.Intervals() {
		p.text = p.table.AppendInterval(p.text, i)
	}
	_, failed := p.sys.Out.Write(p.text)
	return errors.Join(err, failed)
}
