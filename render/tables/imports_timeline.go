package tables

import (
	"cmp"
	"slices"
	"strconv"

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
	emit  func(*records.ImportEvent) // nil: lines for people
	text  EventText
	steps []*step

	target, kind, state int // widths of columns
}

// NewTimeline makes a renderer. first is the time of the capture's first frame.
func NewTimeline(o render.SummaryOptions, first int64) *Timeline {
	return &Timeline{eventLines: newEventLines(o, first), text: EventText{NIDs: o.NIDs},
		target: 14, kind: len("mdt-mdt"), state: len("DISCONNECTING")}
}

// NewTimelineRecords returns a Timeline that emits events as records in place of lines.
func NewTimelineRecords(emit func(*records.ImportEvent)) *Timeline {
	return &Timeline{emit: emit}
}

// step is a part of what a message did to a connection: a transition, an
// event, or a ping, which has neither.
type step struct {
	imp    *track.Import
	at     track.Point
	change *track.Transition
	event  *track.Event
}

// Append appends the lines of connections whose logs are complete.
func (t *Timeline) Append(dst *schema.Marked, list []*track.Import) {
	t.steps = t.steps[:0]
	for _, i := range list {
		for k := range i.Events {
			if e := &i.Events[k]; e.Kind != track.EventPing {
				t.steps = append(t.steps, &step{imp: i, at: e.Point, event: e})
			}
		}
		for k := range i.History {
			t.steps = append(t.steps, &step{imp: i, at: i.History[k].Point, change: &i.History[k]})
		}
		for _, p := range i.PingLog {
			t.steps = append(t.steps, &step{imp: i, at: p})
		}
	}
	order := make(map[*track.Import]int, len(list))
	for k, i := range list {
		order[i] = k
		t.buf = t.opt.NIDs.Append(t.buf[:0], i.Client)
		t.node = max(t.node, render.Width(t.buf))
		t.buf = AppendTarget(t.buf[:0], i)
		t.target = max(t.target, render.Width(t.buf))
	}
	slices.SortStableFunc(t.steps, func(a, b *step) int {
		return cmp.Or(cmp.Compare(a.at.Time, b.at.Time), cmp.Compare(a.at.Frame, b.at.Frame), cmp.Compare(order[a.imp], order[b.imp]))
	})
	started := make(map[*track.Import]bool, len(list))
	for from := 0; from < len(t.steps); {
		to := from + 1
		for to < len(t.steps) && t.steps[to].imp == t.steps[from].imp && t.steps[to].at == t.steps[from].at {
			to++
		}
		first := t.steps[from]
		dropped := 0
		if !started[first.imp] {
			dropped = first.imp.Dropped
			started[first.imp] = true
		}
		if dropped > 0 && t.emit == nil {
			text := append(strconv.AppendInt(nil, int64(dropped), 10), " older entries were not kept"...)
			t.line(dst, first, track.StateUnknown, schema.Warning, text)
		}
		t.message(dst, t.steps[from:to], dropped)
		from = to
	}
}

// AppendChange appends the line of what the message at p did to a connection
// that is being followed.
func (t *Timeline) AppendChange(dst *schema.Marked, i *track.Import, p track.Point) {
	t.steps = t.steps[:0]
	for k := range i.Events {
		switch e := &i.Events[k]; {
		case e.Kind == track.EventPing:
		case e.Point == p || e.Until == p && e.Kind == track.EventCallback:
			t.steps = append(t.steps, &step{imp: i, at: p, event: e})
		case e.Until == p: // a run goes on
			t.steps = append(t.steps, &step{imp: i, at: p, event: &track.Event{Point: p, Until: p, Kind: e.Kind, Count: 1}})
		}
	}
	for k := range i.History {
		if i.History[k].Point == p {
			t.steps = append(t.steps, &step{imp: i, at: p, change: &i.History[k]})
		}
	}
	if len(t.steps) == 0 {
		t.steps = append(t.steps, &step{imp: i, at: p})
	}
	t.message(dst, t.steps, 0)
}

// effects is what a message did to a connection.
type effects struct {
	events    []*track.Event
	state     track.ImportState // the new one
	recovered bool              // it was being recovered before
	isPing    bool
}

func effectsOf(steps []*step) (x effects) {
	x.state = track.StateUnknown
	for _, s := range steps {
		switch {
		case s.change != nil:
			x.state = s.change.State
			x.recovered = x.recovered || x.state == track.StateRecover
		case s.event == nil:
			x.isPing = true
		default:
			x.events = append(x.events, s.event)
		}
	}
	return x
}

// message appends what a message did to a connection, of which dropped earlier entries
// were not kept.
func (t *Timeline) message(dst *schema.Marked, steps []*step, dropped int) {
	x := effectsOf(steps)
	if t.emit != nil {
		t.records(steps[0], &x, dropped)
		return
	}
	var text []byte
	style := schema.Label
	for k, e := range x.events {
		if k > 0 {
			text = append(text, "; "...)
		}
		text = t.text.Append(text, e)
		if IsProblem(e.Kind) {
			style = schema.Bad
		}
	}
	if len(text) == 0 {
		text, style = append(text, x.changeText()...), schema.Dim
	}
	t.line(dst, steps[0], x.state, style, text)
}

// records emits a record for each event of a message, or one for the new state.
func (t *Timeline) records(at *step, x *effects, dropped int) {
	var list []*records.ImportEvent
	for _, e := range x.events {
		list = append(list, &records.ImportEvent{Event: e, Text: t.text.Append(nil, e)})
	}
	if len(list) == 0 {
		e := &records.ImportEvent{Text: []byte(x.changeText())}
		if x.isPing {
			e.Event = &track.Event{Kind: track.EventPing, Count: 1}
		}
		list = append(list, e)
	}
	for k, e := range list {
		e.Import, e.At, e.State = at.imp, at.at, x.state
		if k == 0 {
			e.Dropped = dropped
		}
		t.emit(e)
	}
}

// changeText describes a change of state without an event.
func (x *effects) changeText() string {
	switch {
	case x.state == track.StateFull && x.recovered:
		return "recovery is complete"
	case x.state == track.StateFull:
		return "in use"
	case x.state == track.StateReplayWait:
		return "replay is complete"
	case x.state == track.StateClosed:
		return "disconnected"
	case x.state == track.StateIdle:
		return "disconnected, idle"
	case x.isPing:
		return "ping"
	}
	return ""
}

// IsProblem reports whether an event is not part of ordinary work.
func IsProblem(k track.EventKind) bool {
	switch k {
	case track.EventEvicted, track.EventCallback, track.EventRefused, track.EventNotConnected, track.EventNotReplayed,
		track.EventPingUnanswered, track.EventContextFailed:
		return true
	}
	return false
}

func (t *Timeline) line(dst *schema.Marked, s *step, state track.ImportState, st schema.Role, text []byte) {
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
	t.end(dst, st, text)
}
