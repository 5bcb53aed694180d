package cli

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lshark/lshark/cli/iostreams"
	"github.com/lshark/lshark/cli/scan"
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/report"
	"github.com/lshark/lshark/track"
)

// top is the table of a live capture that refreshes in place.
type top struct {
	sys     *iostreams.IO
	stats   *track.Stats
	table   *report.StatsTable
	colors  *render.Colors
	keys    <-chan byte
	restore func() error // undoes keys; nil before
	sort    string
	next    time.Time // when the table is drawn again
	text    []byte
	out     bytes.Buffer
}

// topKeys lists the keys that change the order of rows. The labels are short
// enough for a line of 80 columns.
var topKeys = []struct {
	key         byte
	label, sort string
}{{'c', "count", "count"}, {'e', "err", "errors"}, {'u', "unans", "unanswered"}, {'m', "max", "max"}, {'p', "p99", "p99"},
	{'t', "time", "time"}, {'b', "bytes", "bytes"}, {'d', "depth", "depth"}, {'n', "name", "name"}}

const (
	ctrlC   = 3
	refresh = time.Second

	cursorHome         = "\x1b[H"
	clearToEndOfLine   = "\x1b[K"
	clearToEndOfScreen = "\x1b[J"
)

// runTop runs stats as a table that refreshes in place.
func (c *stats) runTop(pass *scan.Pass, in *scan.Input, filter *rpcFilter, o report.StatsOptions) error {
	s := track.NewStats(track.StatsOptions{By: o.By})
	t := c.addTracker(pass, in, filter, s)
	p := &top{sys: c.sys.IO, stats: s, table: report.NewStatsTable(o), colors: o.Colors, sort: o.Sort}
	pass.Add(scan.Consumer{
		Begin:   p.begin,
		Message: func(*dissect.Message) error { return p.step(t) },
		Idle:    func(int64) error { return p.step(t) },
		End:     p.end,
	})
	return pass.Run()
}

// begin lets the terminal deliver single keys.
func (p *top) begin() (err error) {
	p.keys, p.restore, err = p.sys.Keys()
	return err
}

// step handles a key, if one was pressed, and draws when it is time.
func (p *top) step(t *track.Pairing) error {
	select {
	case k := <-p.keys:
		if k == ctrlC || k == 'q' {
			return scan.ErrStop
		}
		for _, o := range topKeys {
			if o.key == k {
				p.sort = o.sort
				p.table.SetSort(o.sort)
				p.next = time.Time{}
			}
		}
	default:
	}
	now := time.Now()
	if now.Before(p.next) {
		return nil
	}
	p.next = now.Add(refresh)
	t.Advance(now.UnixNano())
	return p.draw()
}

// draw writes the table over the previous one.
func (p *top) draw() error {
	columns, rows := p.sys.Size()
	p.table.SetWidth(columns)
	p.text = p.text[:0]
	for _, i := range p.stats.Intervals() {
		p.text = p.table.AppendInterval(p.text, i)
	}
	p.out.Reset()
	p.out.WriteString(cursorHome)
	lines := strings.Split(strings.TrimSuffix(string(p.text), "\n"), "\n")
	for _, line := range fitLines(lines, rows-1) {
		p.out.WriteString(line)
		p.out.WriteString(clearToEndOfLine + "\r\n")
	}
	p.out.WriteString(p.help(columns))
	p.out.WriteString(clearToEndOfLine + clearToEndOfScreen)
	_, err := p.sys.Out.Write(p.out.Bytes())
	return err
}

// fitLines shortens a table to limit lines. It keeps the last line, which is
// the sum of all rows, and puts the number of hidden lines before it.
func fitLines(lines []string, limit int) []string {
	const least = 4 // titles, a row, the number, the sum
	if len(lines) <= limit || limit < least {
		return lines[:min(len(lines), max(0, limit))]
	}
	shown := limit - 2
	more := fmt.Sprintf("+%d more", len(lines)-shown-1)
	return append(lines[:shown:shown], more, lines[len(lines)-1])
}

// help returns the line below the table.
func (p *top) help(columns int) string {
	text := "q=quit sort:"
	for _, o := range topKeys {
		mark := ""
		if o.sort == p.sort {
			mark = "*"
		}
		text += fmt.Sprintf(" %c=%s%s", o.key, o.label, mark)
	}
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
	p.text = append(p.text[:0], cursorHome+clearToEndOfScreen...)
	for _, i := range p.stats.Intervals() {
		p.text = p.table.AppendInterval(p.text, i)
	}
	_, failed := p.sys.Out.Write(p.text)
	return errors.Join(err, failed)
}
