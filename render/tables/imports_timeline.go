package tables

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// Timeline renders the lives of connections as lines in the order of time: one
// for what a message did to a connection, with the state that it led to. Of records,
// each event is one.
type Timeline struct {
	eventLines
	emit func(*records.ImportEvent) // nil: lines for people

	target, kind, state int // widths of columns
}

// NewTimeline makes a renderer. first is the time of the capture's first frame.
func NewTimeline(o render.SummaryOptions, first int64) *Timeline {
	return &Timeline{eventLines: newEventLines(o, first), target: 14, kind: len("mdt-mdt"), state: len("DISCONNECTING")}
}

// NewTimelineRecords returns a Timeline that emits events as records in place of lines.
func NewTimelineRecords(emit func(*records.ImportEvent)) *Timeline {
	return &Timeline{emit: emit}
}

// step is what a message did to a connection.
type step struct {
	imp       *track.Import
	at        track.Point
	events    []*track.Event
	state     track.ImportState // the new one, or StateUnknown
	recovered bool              // it was being recovered before
	isPing    bool
}

func newStep(i *track.Import, at track.Point) *step {
	return &step{imp: i, at: at, state: track.StateUnknown}
}

func (s *step) enter(state track.ImportState) {
	s.state = state
	s.recovered = s.recovered || state == track.StateRecover
}

// Append appends the lines of connections whose logs are complete.
func (t *Timeline) Append(dst *schema.Marked, list []*track.Import) {
	var steps []*step
	for _, i := range list {
		byPoint := make(map[track.Point]*step)
		at := func(p track.Point) *step {
			if byPoint[p] == nil {
				byPoint[p] = newStep(i, p)
				steps = append(steps, byPoint[p])
			}
			return byPoint[p]
		}
		for k := range i.Events {
			if e := &i.Events[k]; e.Kind != track.EventPing {
				s := at(e.Point)
				s.events = append(s.events, e)
			}
		}
		for _, h := range i.History {
			at(h.Point).enter(h.State)
		}
		for _, p := range i.PingLog {
			at(p).isPing = true
		}
		t.buf = t.opt.NIDs.Append(t.buf[:0], i.Client)
		t.node = max(t.node, render.Width(t.buf))
		t.buf = AppendTarget(t.buf[:0], i)
		t.target = max(t.target, render.Width(t.buf))
	}
	slices.SortStableFunc(steps, func(a, b *step) int {
		return cmp.Or(cmp.Compare(a.at.Time, b.at.Time), cmp.Compare(a.at.Frame, b.at.Frame))
	})
	started := make(map[*track.Import]bool, len(list))
	for _, s := range steps {
		dropped := 0
		if !started[s.imp] {
			dropped = s.imp.Dropped
			started[s.imp] = true
		}
		if dropped > 0 && t.emit == nil {
			t.line(dst, s, track.StateUnknown, schema.Warning, strconv.Itoa(dropped)+" older entries were not kept")
		}
		t.message(dst, s, dropped)
	}
}

// AppendChange appends the line of what the message at p did to a connection
// that is being followed.
func (t *Timeline) AppendChange(dst *schema.Marked, i *track.Import, p track.Point) {
	s := newStep(i, p)
	for k := range i.Events {
		switch e := &i.Events[k]; {
		case e.Kind == track.EventPing:
		case e.Point == p || e.Until == p && e.Kind == track.EventCallback:
			s.events = append(s.events, e)
		case e.Until == p: // a run goes on
			s.events = append(s.events, &track.Event{Point: p, Until: p, Kind: e.Kind, Count: 1})
		}
	}
	for _, h := range i.History {
		if h.Point == p {
			s.enter(h.State)
		}
	}
	s.isPing = len(s.events) == 0 && s.state == track.StateUnknown
	t.message(dst, s, 0)
}

// message appends what a message did to a connection, of which dropped earlier entries
// were not kept.
func (t *Timeline) message(dst *schema.Marked, s *step, dropped int) {
	if t.emit != nil {
		t.records(s, dropped)
		return
	}
	var texts []string
	style := schema.Label
	for _, e := range s.events {
		texts = append(texts, EventText(e, t.opt.NIDs))
		if IsProblem(e.Kind) {
			style = schema.Bad
		}
	}
	if len(texts) == 0 {
		texts, style = append(texts, s.changeText()), schema.Dim
	}
	t.line(dst, s, s.state, style, strings.Join(texts, "; "))
}

// records emits a record for each event of a message, or one for the new state.
func (t *Timeline) records(s *step, dropped int) {
	for _, e := range s.events {
		t.emit(&records.ImportEvent{Import: s.imp, At: s.at, Event: e, State: s.state, Text: EventText(e, t.opt.NIDs), Dropped: dropped})
		dropped = 0
	}
	if len(s.events) > 0 {
		return
	}
	r := &records.ImportEvent{Import: s.imp, At: s.at, State: s.state, Text: s.changeText(), Dropped: dropped}
	if s.isPing {
		r.Event = &track.Event{Kind: track.EventPing, Count: 1}
	}
	t.emit(r)
}

// changeText describes a change of state without an event.
func (s *step) changeText() string {
	switch {
	case s.state == track.StateFull && s.recovered:
		return "recovery is complete"
	case s.state == track.StateFull:
		return "in use"
	case s.state == track.StateReplayWait:
		return "replay is complete"
	case s.state == track.StateClosed:
		return "disconnected"
	case s.state == track.StateIdle:
		return "disconnected, idle"
	case s.isPing:
		return "ping"
	}
	return ""
}

// IsProblem reports whether an event is not part of ordinary work.
func IsProblem(k track.EventKind) bool { return slices.Contains(problems, k) }

var problems = []track.EventKind{track.EventEvicted, track.EventCallback, track.EventRefused, track.EventNotConnected,
	track.EventNotReplayed, track.EventPingUnanswered, track.EventContextFailed}

func (t *Timeline) line(dst *schema.Marked, s *step, state track.ImportState, st schema.Role, text string) {
	frame := "-"
	if !s.at.IsLog() {
		frame = frameText(s.at)
	}
	t.begin(dst, frame, s.at, string(t.opt.NIDs.Append(nil, s.imp.Client)))
	render.AddLeft(dst.Plain(" "), schema.Node, AppendTarget(nil, s.imp), &t.target)
	render.AddLeft(dst.Plain(" "), schema.Dim, []byte(cmp.Or(s.imp.Kind(), "-")), &t.kind)
	if state == track.StateUnknown {
		render.AddLeft(dst.Plain(" "), schema.Dim, []byte("-"), &t.state)
	} else {
		render.AddLeft(dst.Plain(" "), StateRole(state), []byte(state.String()), &t.state)
	}
	t.end(dst, st, []byte(text))
}
