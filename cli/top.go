package cli

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/lshark/lshark/cli/iostreams"
	"github.com/lshark/lshark/cli/scan"
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/track"
)

// top is the table of a live capture that refreshes in place.
type top struct {
	sys     *iostreams.IO
	stats   *track.Stats
	table   *render.StatsTable
	colors  *render.Colors
	keys    <-chan byte
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

// runTop runs stats as a table that refreshes in place.
func (c *stats) runTop(pass *scan.Pass, in *scan.Input, filter *rpcFilter, o render.StatsOptions) error {
	s := track.NewStats(track.StatsOptions{By: o.By})
	t := c.addTracker(pass, in, filter, s)
	p := &top{sys: c.sys.IO, stats: s, table: render.NewStatsTable(o), colors: o.Colors, sort: o.Sort}
	pass.Add(scan.Consumer{
		Begin:   p.begin,
		Message: func(*dissect.Message) error { return p.step(t) },
		Idle:    func(int64) error { return p.step(t) },
		End:     p.end,
	})
	return pass.Run()
}

// begin takes the terminal, which then hands over single keys.
func (p *top) begin() (err error) {
	p.keys, p.restore, err = p.sys.Keys()
	return err
}

// step handles a key, if one was pressed, and draws when it is time.
func (p *top) step(t *track.RPCs) error {
	select {
	case k := <-p.keys:
		if k == ctrlC || k == 'q' {
			return scan.ErrStop
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
	columns, rows := p.sys.Size()
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
	return p.colors.Dim.Text(text)
}

// end leaves the last table on the screen.
func (p *top) end() error {
	if p.restore == nil {
		return nil // begin failed
	}
	err := p.restore()
	p.text = append(p.text[:0], "\x1b[H\x1b[J"...)
	for _, i := range p.stats.Intervals() {
		p.text = p.table.AppendInterval(p.text, i)
	}
	_, failed := p.sys.Out.Write(p.text)
	return errors.Join(err, failed)
}
