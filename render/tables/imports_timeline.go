package tables

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// Timeline renders the lives of connections as lines in the order of time: one
// for what a message did to a connection, with the state that it led to. Of records,
// each event is one.
type Timeline struct {
	emit  func(*records.ImportEvent) // nil: lines for people
	opt   render.SummaryOptions
	text  EventText
	at    render.Moment
	steps []*step
	buf   []byte

	number, time, client, target, kind, state int
}

// NewTimeline makes a renderer. first is the time of the capture's first frame.
func NewTimeline(o render.SummaryOptions, first int64) *Timeline {
	return &Timeline{opt: o, text: EventText{NIDs: o.NIDs}, at: render.Moment{First: first},
		number: 5 + o.FileWidth(), time: 9, client: 9, target: 14, kind: len("mdt-mdt"), state: len("DISCONNECTING")}
}

// NewTimelineRecords returns a Timeline that emits events as records in place of lines.
func NewTimelineRecords(emit func(*records.ImportEvent)) *Timeline {
	return &Timeline{emit: emit, opt: render.SummaryOptions{Colors: render.NewColors(false)}}
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
func (t *Timeline) Append(dst []byte, list []*track.Import) []byte {
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
		t.client = max(t.client, render.Width(t.buf))
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
			dst = t.line(dst, first, track.StateUnknown, &t.opt.Colors.Warn, text)
		}
		dst = t.message(dst, t.steps[from:to], dropped)
		from = to
	}
	return dst
}

// AppendChange appends the line of what the message at p did to a connection
// that is being followed.
func (t *Timeline) AppendChange(dst []byte, i *track.Import, p track.Point) []byte {
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
	return t.message(dst, t.steps, 0)
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
func (t *Timeline) message(dst []byte, steps []*step, dropped int) []byte {
	x := effectsOf(steps)
	if t.emit != nil {
		t.records(steps[0], &x, dropped)
		return dst
	}
	var text []byte
	style := &t.opt.Colors.Key
	for k, e := range x.events {
		if k > 0 {
			text = append(text, "; "...)
		}
		text = t.text.Append(text, e)
		if IsProblem(e.Kind) {
			style = &t.opt.Colors.Bad
		}
	}
	if len(text) == 0 {
		text, style = append(text, x.changeText()...), &t.opt.Colors.Dim
	}
	return t.line(dst, steps[0], x.state, style, text)
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

func (t *Timeline) line(dst []byte, s *step, state track.ImportState, st *render.Style, text []byte) []byte {
	c, start := t.opt.Colors, len(dst)
	if t.buf = append(t.buf[:0], '-'); !s.at.IsLog() {
		t.buf = render.AppendFrame(t.buf[:0], s.at.File, s.at.Frame)
	}
	dst = render.AppendRight(dst, &c.Dim, t.buf, &t.number)
	t.buf = t.opt.Time.Append(t.buf[:0], s.at.Time, t.at, t.opt.Wide())
	dst = render.AppendRight(append(dst, ' '), &c.Dim, t.buf, &t.time)
	t.at.Before = s.at.Time
	t.buf = t.opt.NIDs.Append(t.buf[:0], s.imp.Client)
	dst = render.AppendLeft(append(dst, ' '), &c.NID, t.buf, &t.client)
	t.buf = AppendTarget(t.buf[:0], s.imp)
	dst = render.AppendLeft(append(dst, ' '), &c.NID, t.buf, &t.target)
	dst = render.AppendLeft(append(dst, ' '), &c.Dim, append(t.buf[:0], cmp.Or(s.imp.Kind(), "-")...), &t.kind)
	t.buf = append(t.buf[:0], '-')
	stateColor := &c.Dim
	if state != track.StateUnknown {
		t.buf, stateColor = append(t.buf[:0], state.String()...), stateStyle(c, state)
	}
	dst = render.AppendLeft(append(dst, ' '), stateColor, t.buf, &t.state)
	columns := len(text)
	if t.opt.Width > 0 {
		columns = max(0, t.opt.Width-render.Width(dst[start:])-1)
	}
	dst = st.AppendTruncated(append(dst, ' '), text, columns)
	for len(dst) > start && dst[len(dst)-1] == ' ' {
		dst = dst[:len(dst)-1]
	}
	return append(dst, '\n')
}
