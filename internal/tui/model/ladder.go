package model

import (
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/tui/store"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/ladder"
)

// LadderOf chooses what a ladder shows.
type LadderOf struct {
	Title string
	Kind  store.Kind
	Rows  []int64
	Files []string
}

// maxLadder is the number of messages that a ladder shows.
const maxLadder = 1000

// Ladder draws the messages of rows, those that are still kept, as a sequence diagram.
func (c *Capture) Ladder(x *LadderOf, o render.SummaryOptions) (lines []Line) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := &ladder.Diagram{Title: x.Title, Limit: maxLadder, First: c.Rows.First(), NIDs: o.NIDs, Files: x.Files}
	events := ladder.NewReader(c.names)
	rows := c.Rows.NewReader()
	add := func(id int64) {
		if m, err := rows.Message(id); err == nil {
			d.Add(events.Event(m.Message))
		}
	}
	for i, id := range x.Rows {
		if i == maxLadder {
			break
		}
		if x.Kind == store.Messages {
			add(id)
			continue
		}
		r, err := rows.RPC(id)
		if err != nil {
			continue
		}
		d.AddTargetOf(r.RPC)
		for _, m := range r.Messages {
			add(m)
		}
	}
	drawn := d.Events()
	for _, l := range d.Text(ladder.TextOptions{Width: o.Width, Time: o.Time}) {
		line := Line{Marked: l.Marked}
		if l.Event >= 0 {
			e := drawn[l.Event]
			line.At = track.Point{Frame: e.Frame, File: e.File, Time: e.Time}
		}
		lines = append(lines, line)
	}
	return lines
}
