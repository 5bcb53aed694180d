package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/tables"
)

// top is the table of a live capture that refreshes in place.
type top struct {
	sys     *iostreams.IO
	pass    *scan.Pass
	stats   *track.Stats
	table   *tables.StatsTable
	colors  *render.Colors
	keys    <-chan byte
	restore func() error // undoes keys; nil before
	drawn   int64        // time of the capture when the table was last drawn; 0: a key has changed it since
	text    schema.Marked
}

// topKeys lists the keys that change the order of rows. The labels fit into a line
// of 80 columns.
var topKeys = []struct {
	key         byte
	label, sort string
}{{'c', "count", "count"}, {'e', "err", "errors"}, {'u', "unans", "unanswered"}, {'m', "max", "max"}, {'p', "p99", "p99"},
	{'t', "time", "time"}, {'b', "bytes", "bytes"}, {'d', "depth", "depth"}, {'r', "rate", tables.SortByRate}, {'n', "name", "name"}}

const (
	ctrlC   = 3
	refresh = int64(time.Second)

	cursorHome         = "\x1b[H"
	clearToEndOfLine   = "\x1b[K"
	clearToEndOfScreen = "\x1b[J"
)

func (c *statsOptions) runTop(x *flags.Reading) error {
	o, pass := c.table, x.Pass
	s := c.follow(pass, track.StatsOptions{By: o.By, Window: int64(c.window)}, true)
	p := &top{sys: c.Sys.IO, pass: pass, stats: s, table: tables.NewStatsTable(o), colors: render.NewColors(c.Colored())}
	pass.Add(scan.Consumer{
		Begin:   p.begin,
		Message: func(*dissect.Message) error { return p.step(pass.Last()) },
		Idle:    p.step,
		End:     p.end,
	})
	return errors.Join(pass.Run(), x.Out.Close())
}

// begin lets the terminal deliver single keys.
func (p *top) begin() (err error) {
	p.keys, p.restore, err = p.sys.Keys()
	return err
}

// step handles a key, if one was pressed, and draws when it is time. now is the
// time of the capture in nanoseconds since the epoch.
func (p *top) step(now int64) error {
	select {
	case k := <-p.keys:
		if k == ctrlC || k == 'q' {
			return scan.ErrStop
		}
		for _, o := range topKeys {
			if o.key == k {
				p.table.Options.Sort = o.sort
				p.drawn = 0
			}
		}
	default:
	}
	if since := now - p.drawn; since >= 0 && since < refresh {
		return nil
	}
	p.drawn = now
	p.stats.SetWindow(p.pass.First(), now-int64(follow.LiveLinger))
	return p.draw()
}

// draw writes the table over the previous one, with a line below it for the
// hidden columns and one for the keys.
func (p *top) draw() error {
	columns, rows := p.sys.Size()
	lines := p.lines(columns)
	below := []string{p.help(columns)}
	if hidden := p.table.Omitted(); hidden != "" {
		below = append([]string{p.dim("hidden: "+hidden, columns)}, below...)
	}
	lines = append(fitLines(lines, rows-len(below)), below...)
	_, err := io.WriteString(p.sys.Out, cursorHome+strings.Join(lines, clearToEndOfLine+"\r\n")+clearToEndOfLine+clearToEndOfScreen)
	return err
}

func (p *top) lines(columns int) []string {
	p.table.Options.Width = columns
	p.table = tables.NewStatsTable(p.table.Options) // what earlier ones have omitted does not count
	p.text.Reset()
	for _, i := range p.stats.Intervals() {
		p.table.AppendInterval(&p.text, i)
	}
	return strings.Split(strings.TrimSuffix(string(p.colors.Paint(nil, &p.text)), "\n"), "\n")
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
	text := "q=quit"
	for _, o := range topKeys {
		mark := ""
		if o.sort == p.table.Options.Sort {
			mark = "*"
		}
		text += fmt.Sprintf(" %c=%s%s", o.key, o.label, mark)
	}
	return p.dim(text, columns)
}

// dim returns a line below the table, truncated to the terminal.
func (p *top) dim(text string, columns int) string {
	if columns == 0 {
		columns = len(text)
	}
	var line schema.Marked
	render.AddTruncated(&line, schema.Dim, []byte(text), columns)
	return string(p.colors.Paint(nil, &line))
}

// end leaves the last table on the screen.
func (p *top) end() error {
	if p.restore == nil {
		return nil // begin failed
	}
	err := p.restore()
	p.stats.SetWindow(p.pass.First(), p.pass.Last())
	columns, _ := p.sys.Size()
	_, failed := io.WriteString(p.sys.Out, cursorHome+clearToEndOfScreen+strings.Join(p.lines(columns), "\n")+"\n")
	p.pass.NoteHidden(p.table.Omitted())
	return errors.Join(err, failed)
}
