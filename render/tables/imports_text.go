package tables

import (
	"cmp"
	"math/bits"
	"strconv"
	"time"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// silenceShown is from when on the time without use before a disconnect is
// shown, in nanoseconds.
const silenceShown = 4 * int64(time.Second)

// EventText puts the events of connections into words.
type EventText struct{ NIDs render.NIDs }

// Append appends what happened.
func (t *EventText) Append(dst []byte, e *track.Event) []byte {
	switch e.Kind {
	case track.EventConnect:
		dst = t.NIDs.Append(append(dst, "connect to "...), e.Node)
		dst = strconv.AppendUint(append(dst, ", conn_cnt "...), uint64(e.ConnCnt), 10)
		return appendOpFlags(dst, e.OpFlags)
	case track.EventConnected:
		return appendOpFlags(append(dst, "connected"...), e.OpFlags)
	case track.EventRefused:
		return records.AppendErrno(append(dst, "connect refused: "...), e.Status)
	case track.EventLateReply:
		dst = strconv.AppendUint(append(dst, "late reply to conn_cnt "...), uint64(e.ConnCnt), 10)
		if e.Status < 0 {
			return records.AppendErrno(append(dst, ": "...), e.Status)
		}
		return dst
	case track.EventNotConnected:
		dst = records.AppendErrno(dst, e.Status)
		return render.AppendOpcode(append(dst, " in reply to "...), e.Opcode)
	case track.EventEvicted:
		return append(dst, "evicted: the server did not know the connection any more"...)
	case track.EventCallback:
		return callbackText(dst, e)
	case track.EventReplay:
		return transnos(append(dst, "replay of "...), e, "request")
	case track.EventNotReplayed:
		return transnos(append(dst, "not replayed: "...), e, "request")
	case track.EventLockReplay:
		return plural(append(dst, "replay of "...), e.Count, "lock")
	case track.EventPing:
		return plural(dst, e.Count, "ping")
	case track.EventPingUnanswered:
		return append(plural(dst, e.Count, "ping"), " without a reply"...)
	case track.EventContextSetup:
		return append(dst, "sets up a security context"...)
	case track.EventContextReady:
		return append(dst, "security context is ready"...)
	case track.EventContextFailed:
		return records.AppendErrno(append(dst, "security context failed: "...), e.Status)
	case track.EventDisconnect:
		if dst = append(dst, "disconnect"...); e.Silence >= silenceShown {
			dst = render.AppendLatency(append(dst, ", not used for "...), e.Silence)
		}
		return dst
	}
	return append(dst, e.Kind.String()...)
}

func appendOpFlags(dst []byte, flags uint32) []byte {
	if flags == 0 {
		return dst
	}
	return render.AppendFlags(append(dst, ' '), opcodes.MsgConnectFlags, uint64(flags), "|")
}

// callbackText appends a lock callback that was pending.
func callbackText(dst []byte, e *track.Event) []byte {
	dst = render.AppendOpcode(dst, e.Opcode)
	dst = schema.AppendHex(append(dst, " for lock "...), e.From)
	if e.Replied {
		dst = append(dst, ": a reply, but the lock was not released within "...)
	} else {
		dst = append(dst, ": no reply within "...)
	}
	return render.AppendLatency(dst, e.Until.Time-e.Time)
}

func transnos(dst []byte, e *track.Event, what string) []byte {
	if dst = plural(dst, e.Count, what); e.To == 0 {
		return dst
	}
	dst = strconv.AppendUint(append(dst, ", transno "...), e.From, 10)
	if e.To != e.From {
		dst = strconv.AppendUint(append(dst, " to "...), e.To, 10)
	}
	return dst
}

func plural(dst []byte, n int, what string) []byte {
	dst = append(append(strconv.AppendInt(dst, int64(n), 10), ' '), what...)
	if n != 1 {
		dst = append(dst, 's')
	}
	return dst
}

// ImportsTable renders connections as a table, with their states at the end of
// the capture.
type ImportsTable struct {
	Omitted Omitted

	opt   render.SummaryOptions
	stamp render.Stamp
	at    render.Moment
}

// NewImportsTable makes a renderer. first is the time of the capture's first
// frame.
func NewImportsTable(o render.SummaryOptions, first int64) *ImportsTable {
	return &ImportsTable{opt: o, at: render.Moment{First: first}}
}

// Append appends the table.
func (s *ImportsTable) Append(dst []byte, list []*track.Import) []byte {
	c := s.opt.Colors
	t := newTable(c, []tableColumn{{title: "target", left: true}, {title: "client", left: true},
		{title: "state", left: true}, {title: "cnt", dimZero: true}, {title: "fails", left: true, rank: useful}, {title: "evict", dimZero: true}, {title: "pings", dimZero: true},
		{title: "version", left: true}, {title: "kind", left: true, rank: extra}, {title: "server", left: true, rank: extra},
		{title: "committed", rank: extra}, {title: "ungranted", dimZero: true, rank: extra}, {title: "uuid", left: true, rank: extra}, {title: "since", rank: extra},
		{title: "rtx", dimZero: true, rank: extra}, {title: "rtt", rank: extra}})
	number := func(st *render.Style, n int64) {
		t.put(st, func(b []byte) []byte { return strconv.AppendInt(b, n, 10) })
	}
	known := func(st *render.Style, n int64, ok bool) {
		if ok {
			number(st, n)
		} else {
			t.put(&c.Dim, func(b []byte) []byte { return append(b, '-') })
		}
	}
	text := func(st *render.Style, s string) {
		t.put(st, func(b []byte) []byte {
			if s == "" {
				return append(b, '-')
			}
			return schema.AppendText(b, []byte(s))
		})
	}
	for _, i := range list {
		t.put(&c.NID, func(b []byte) []byte { return AppendTarget(b, i) })
		t.put(&c.NID, func(b []byte) []byte { return s.opt.NIDs.Append(b, i.Client) })
		text(stateStyle(c, i.State), i.State.String())
		known(&c.Num, int64(i.ConnCnt), i.ConnCnt != 0)
		if len(i.Failures) == 0 {
			number(&c.Dim, 0)
		} else {
			t.put(&c.Bad, func(b []byte) []byte { return appendErrors(b, i.Failures, " ") })
		}
		number(&c.Bad, int64(i.Evictions))
		number(&c.Num, i.Pings)
		t.put(&c.Dim, func(b []byte) []byte { return versions(b, i) })
		text(&c.Dim, i.Kind())
		t.put(&c.NID, func(b []byte) []byte { return s.opt.NIDs.Append(b, i.Server) })
		known(&c.FID, int64(i.LastCommitted), i.HasCommitted)
		f, f2 := i.Refused()
		known(&c.Warn, int64(bits.OnesCount64(f)+bits.OnesCount64(f2)), i.HasAsked && i.HasGranted)
		text(&c.Dim, i.ClientUUID)
		t.put(&c.Dim, func(b []byte) []byte { return s.since(b, i) })
		number(&c.Warn, i.Retransmits())
		t.put(&c.Num, func(b []byte) []byte {
			if i.RTT == 0 {
				return append(b, '-')
			}
			return render.AppendLatency(b, i.RTT)
		})
	}
	dst = t.render(dst, s.opt.Width)
	s.Omitted.add(t)
	return dst
}

// since appends the time since which a connection is in its state.
func (s *ImportsTable) since(dst []byte, i *track.Import) []byte {
	if i.State == track.StateUnknown {
		return append(dst, '-')
	}
	p := i.Since()
	dst = s.stamp.Append(dst, s.opt.Time, p.Time, s.at, true)
	s.at.Before = p.Time
	return dst
}

// AppendTarget appends the target of a connection, or its index where the name of
// the file system is not known, or the handle.
func AppendTarget(dst []byte, i *track.Import) []byte {
	name := cmp.Or(i.Target, i.TargetIndex)
	if name == "" {
		return schema.AppendHex(dst, i.Handle)
	}
	return schema.AppendText(dst, []byte(name))
}

// versions appends the version, or those of both sides when they differ.
func versions(dst []byte, i *track.Import) []byte {
	a, b := i.Asked.Version, i.Granted.Version
	switch {
	case a == 0 && b == 0:
		return append(dst, '-')
	case b == 0 || a == b:
		return schema.AppendVersion(dst, a)
	case a == 0:
		return schema.AppendVersion(dst, b)
	}
	return schema.AppendVersion(append(schema.AppendVersion(dst, a), '/'), b)
}

func stateStyle(c *render.Colors, s track.ImportState) *render.Style {
	switch s {
	case track.StateFull:
		return &c.Good
	case track.StateEvicted, track.StateDiscon:
		return &c.Bad
	case track.StateClosed, track.StateIdle, track.StateUnknown:
		return &c.Dim
	}
	return &c.Warn
}
