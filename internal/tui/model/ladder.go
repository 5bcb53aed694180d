package model

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/tui/store"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/ladder"
)

// maxLadder is the number of messages that a ladder shows.
const maxLadder = 1000

// Ladder draws the messages of rows, those that are still kept, as a sequence diagram.
func (c *Capture) Ladder(title string, x Selection, o render.SummaryOptions) (lines []Line) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := &ladder.Diagram{Title: title, Limit: maxLadder, First: c.Rows.First(), NIDs: o.NIDs, Files: o.Files}
	x.Rows = x.Rows[:min(len(x.Rows), maxLadder)]
	if x.Kind == store.RPCs {
		x.rpcs(c, d.AddTargetOf)
	}
	events := ladder.NewReader(c.names)
	x.messages(c, func(m *dissect.Message) { d.Add(events.Event(m)) })
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
