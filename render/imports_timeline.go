package render

import (
	"slices"
	"strconv"

	"github.com/lshark/lshark/track"
)

// Timeline renders the lives of connections as lines in the order of time.
type Timeline struct {
	opt   SummaryOptions
	stamp stamp
	text  EventText
	buf   []byte

	number, time, client, target, state int
}

// NewTimeline makes a renderer.
func NewTimeline(o SummaryOptions) *Timeline {
	return &Timeline{opt: o, text: EventText{FullNIDs: o.FullNIDs}, number: 5, time: 9, client: 9, target: 14, state: 12}
}

// happening is a transition or an event of a connection.
type happening struct {
	imp    *track.Import
	at     track.Point
	change *track.Transition
	event  *track.Event
}

// Append appends the lines of all connections. At one frame, events come
// before the states they lead to.
func (t *Timeline) Append(dst []byte, list []*track.Import, first int64) []byte {
	var all []happening
	for _, i := range list {
		for k := range i.Events {
			all = append(all, happening{imp: i, at: i.Events[k].Point, event: &i.Events[k]})
		}
		for k := range i.History {
			all = append(all, happening{imp: i, at: i.History[k].Point, change: &i.History[k]})
		}
	}
	slices.SortStableFunc(all, func(a, b happening) int {
		if a.at.Time != b.at.Time {
			return int(max(-1, min(1, a.at.Time-b.at.Time)))
		}
		return int(max(-1, min(1, a.at.Frame-b.at.Frame)))
	})
	at := Moment{First: first}
	for k := range all {
		dst = t.line(dst, &all[k], at)
		at.Before = all[k].at.Time
	}
	return dst
}

func (t *Timeline) line(dst []byte, h *happening, at Moment) []byte {
	c, start := t.opt.Colors, len(dst)
	wide := t.opt.wide()
	t.buf = strconv.AppendInt(t.buf[:0], h.at.Frame, 10)
	dst = appendRight(dst, &c.Dim, t.buf, &t.number)
	t.buf = t.stamp.appendTime(t.buf[:0], t.opt.Time, h.at.Time, at, wide)
	dst = appendRight(append(dst, ' '), &c.Dim, t.buf, &t.time)
	t.buf = appendNID(t.buf[:0], h.imp.Client, t.opt.FullNIDs)
	dst = appendLeft(append(dst, ' '), &c.NID, t.buf, &t.client)
	t.buf = appendTarget(t.buf[:0], h.imp)
	dst = appendLeft(append(dst, ' '), &c.NID, t.buf, &t.target)
	if h.change != nil {
		dst = appendLeft(append(dst, ' '), stateStyle(c, h.change.State), append(t.buf[:0], h.change.State.String()...), &t.state)
	} else {
		st := &c.Key
		switch h.event.Kind {
		case track.EventPing:
			st = &c.Dim
		case track.EventEvicted, track.EventCallback, track.EventRefused, track.EventNotConnected, track.EventNotReplayed, track.EventPingUnanswered:
			st = &c.Bad
		}
		t.buf = t.text.Append(t.buf[:0], h.event)
		columns := len(t.buf)
		if t.opt.Width > 0 {
			columns = max(0, t.opt.Width-width(dst[start:])-1)
		}
		dst = st.end(appendTruncated(st.begin(append(dst, ' ')), t.buf, columns))
	}
	for len(dst) > start && dst[len(dst)-1] == ' ' {
		dst = dst[:len(dst)-1]
	}
	return append(dst, '\n')
}
