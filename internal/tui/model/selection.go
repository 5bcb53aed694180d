package model

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/tui/store"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/ladder"
)

// Selection is the rows that a filter shows. Tables and findings are about these only; nil: about all.
type Selection struct {
	Kind   store.Kind
	Filter string
	Rows   []int64
}

// rpcs calls f with the RPCs that are selected, or that selected messages belong to. An RPC is valid
// until f returns.
func (x *Selection) rpcs(c *Capture, f func(*track.RPC)) {
	rows := c.Rows.NewReader()
	add := func(id int64) {
		if r, err := rows.Read(store.RPCs, id); err == nil {
			f(r.RPC)
		}
	}
	if x == nil {
		from, to := c.Rows.Range(store.RPCs)
		for id := from; id < to; id++ {
			add(id)
		}
		return
	}
	seen := make(map[int64]bool)
	for _, id := range x.Rows {
		if x.Kind == store.Messages {
			m, err := rows.Read(store.Messages, id)
			if id = m.Of; err != nil || id < 0 || seen[id] {
				continue
			}
			seen[id] = true
		}
		add(id)
	}
}

// messages calls f with the messages that are selected, or of which selected RPCs consist. A message
// is valid until f returns.
func (x *Selection) messages(c *Capture, f func(*dissect.Message)) {
	rows := c.Rows.NewReader()
	add := func(id int64) {
		if m, err := rows.Read(store.Messages, id); err == nil {
			f(m.Message)
		}
	}
	for _, id := range x.Rows {
		if x.Kind == store.Messages {
			add(id)
		} else if r, err := rows.Read(store.RPCs, id); err == nil {
			for _, m := range r.Messages {
				add(m)
			}
		}
	}
}

// subject returns what the messages that are selected are about.
func (x *Selection) subject(c *Capture) *Subject {
	s := &Subject{}
	x.messages(c, s.Add)
	return s
}

// and returns a filter for those of the rows that another one matches, too.
func (x *Selection) and(filter string) string {
	if x == nil || x.Kind != store.RPCs || filter == "" {
		return filter
	}
	return "(" + x.Filter + ") and " + filter
}

// Findings returns copies of the findings so far: all, or those that a selected message proves.
func (c *Capture) Findings(x *Selection) []*diagnose.Finding {
	var list []*diagnose.Finding
	c.locked(func() { list = diagnose.Clones(c.engine.Findings()) })
	if x == nil {
		return list
	}
	selected := make(map[track.Point]bool) // without times
	x.messages(c, func(m *dissect.Message) { selected[track.Point{File: m.File, Frame: m.Frame}] = true })
	kept := make(map[*diagnose.Finding]bool)
	var found []*diagnose.Finding
	for _, f := range list {
		for _, e := range f.Evidence {
			if selected[track.Point{File: e.File, Frame: e.Frame}] {
				kept[f] = true
				found = append(found, f)
				break
			}
		}
	}
	for _, f := range found {
		if !kept[f.Cause] {
			f.Cause = nil
		}
	}
	return found
}

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
	events := render.NewSummary(render.SummaryOptions{Names: c.names})
	x.messages(c, func(m *dissect.Message) { d.Add(ladder.NewEvent(events, m)) })
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
