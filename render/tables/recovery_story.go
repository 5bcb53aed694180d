package tables

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/lshark/lshark/dissect/track/recovery"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// RecoveryStory renders what happened to a target as lines in the order of time.
type RecoveryStory struct{ eventLines }

// NewRecoveryStory makes a renderer. first is the time of the capture's first frame.
func NewRecoveryStory(o render.SummaryOptions, first int64) *RecoveryStory {
	return &RecoveryStory{newEventLines(o, first)}
}

// Append appends a heading and a line for each step.
func (s *RecoveryStory) Append(dst *schema.Marked, r *recovery.Recovery) {
	heading := schema.AppendText(nil, []byte(cmp.Or(r.Target, "target without a name")))
	heading = append(append(heading, ": "...), recoveryKindTexts[r.Kind]...)
	if n := r.Instance; n != 0 && r.InstanceBefore != 0 && n != r.InstanceBefore {
		heading = fmt.Appendf(heading, ", instance %d to %d", r.InstanceBefore, n)
	}
	room := len(heading)
	if s.opt.Width > 0 {
		room = s.opt.Width
	}
	dst.Plain("\n")
	render.AddTruncated(dst, schema.Heading, heading, room)
	dst.Plain("\n")
	s.resetWidths()
	kind := len("client")
	for _, k := range r.Clients {
		s.node = max(s.node, render.Width(s.opt.NIDs.Append(nil, k.Connection.Client)))
		kind = max(kind, render.Width(clientRole(k)))
	}
	for _, e := range r.Events {
		node, role := "-", []byte("-")
		if e.Client != nil {
			node, role = string(s.opt.NIDs.Append(nil, e.Client.Connection.Client)), clientRole(e.Client)
		}
		s.begin(dst, frameText(e.Point), e.Point, node)
		render.AddLeft(dst.Plain(" "), schema.Dim, role, &kind)
		s.end(dst, stepRole(e), s.text(nil, r, e))
	}
}

// clientRole returns what a client is: a target, or the kind of its connection.
func clientRole(c *recovery.Client) []byte {
	return schema.AppendText(nil, []byte(cmp.Or(c.Target(), c.Type, "-")))
}

var recoveryKindTexts = [...]string{
	recovery.Restart:     "was started again",
	recovery.Failover:    "was started again on another server",
	recovery.Stopped:     "its server does not have it any more",
	recovery.Unreachable: "its server does not answer any more",
	recovery.Reconnect:   "connections were lost and made again",
	recovery.Eviction:    "a client was evicted",
	recovery.Lost:        "connections were lost",
}

var signTexts = [...]string{
	recovery.NoSign:           "",
	recovery.SignNotConnected: "the server does not know the connection",
	recovery.SignRefused:      "the server does not have the target",
	recovery.SignUnanswered:   "a request without a reply",
	recovery.SignStopping:     "it disconnects from other targets",
	recovery.SignReconnect:    "connects again",
	recovery.SignLog:          "by the log of the client",
}

func (s *RecoveryStory) text(dst []byte, r *recovery.Recovery, e *recovery.Event) []byte {
	switch e.Kind {
	case recovery.EventLastReply:
		return s.server(append(dst, "last reply before, of "...), e)
	case recovery.EventGone:
		return append(append(dst, "gone: "...), signTexts[e.Sign]...)
	case recovery.EventLost:
		return append(append(dst, "lost: "...), signTexts[e.Sign]...)
	case recovery.EventRefused:
		dst = s.server(append(plural(dst, e.Count, "connect"), " refused by "...), e)
		return s.until(records.AppendErrno(append(dst, ": "...), e.Status), e)
	case recovery.EventUnanswered:
		return append(plural(dst, e.Count, "connect"), " without a reply"...)
	case recovery.EventStarting:
		return append(dst, "is being started"...)
	case recovery.EventAnnounced:
		return append(dst, "the MGS announces the restart"...)
	case recovery.EventBack:
		return append(s.server(dst, e), " has the target and accepts connects"...)
	case recovery.EventConnected:
		if dst = append(dst, "connected"...); e.Time > r.Back.Time && r.Kind.IsOutage() {
			dst = append(render.AppendLockWait(append(dst, ", "...), e.Time-r.Back.Time), " after the first"...)
		}
		return dst
	case recovery.EventReplay:
		return s.replay(transnos(append(dst, "replays "...), e.Count, "request", e.Transnos.From, e.Transnos.To), e)
	case recovery.EventNotReplayed:
		return transnos(append(dst, "not replayed: "...), e.Count, "transaction", e.Transnos.From, e.Transnos.To)
	case recovery.EventLockReplay:
		return s.replay(plural(append(dst, "replays "...), e.Count, "lock"), e)
	case recovery.EventEarly:
		return fmt.Appendf(dst, "early reply, number %d: the server expects to reply within %ds", e.Count, e.Estimate)
	case recovery.EventReady:
		return append(dst, "has replayed all"...)
	case recovery.EventEvicted:
		return append(dst, "evicted"...)
	case recovery.EventRecovered:
		return append(dst, "recovered"...)
	case recovery.EventMissing:
		return append(dst, "last reply; not seen to come back"...)
	}
	return requestText(dst, e.Request)
}

func (s *RecoveryStory) server(dst []byte, e *recovery.Event) []byte {
	return s.opt.NIDs.Append(dst, e.Server)
}

// until appends how long a run lasted.
func (s *RecoveryStory) until(dst []byte, e *recovery.Event) []byte {
	if e.Until.IsZero() {
		return dst
	}
	return render.AppendLockWait(append(dst, ", for "...), e.Until.Time-e.Time)
}

func (s *RecoveryStory) replay(dst []byte, e *recovery.Event) []byte {
	dst = s.until(dst, e)
	if len(e.Errors) > 0 {
		dst = render.AppendCounts(append(dst, "; failed: "...), records.ErrorCounts(e.Errors), " ")
	}
	return dst
}

func requestText(dst []byte, q *recovery.Request) []byte {
	dst = render.AppendOpcode(dst, q.Opcode)
	dst = strconv.AppendUint(append(dst, " x"...), q.XID, 10)
	if q.Job != "" {
		dst = schema.AppendText(append(dst, " of "...), []byte(q.Job))
	}
	ns, ok := q.Time()
	switch {
	case !ok:
		return append(dst, " had no reply"...)
	case q.Status < 0:
		dst = records.AppendErrno(append(dst, " failed: "...), q.Status)
		return render.AppendLockWait(append(dst, ", after "...), ns)
	}
	return render.AppendLockWait(append(dst, " waited "...), ns)
}

func stepRole(e *recovery.Event) schema.Role {
	switch e.Kind {
	case recovery.EventEvicted, recovery.EventNotReplayed, recovery.EventMissing, recovery.EventFailed:
		return schema.Bad
	case recovery.EventGone, recovery.EventLost, recovery.EventRefused, recovery.EventUnanswered, recovery.EventWaited:
		return schema.Warning
	case recovery.EventReplay, recovery.EventLockReplay:
		if len(e.Errors) > 0 {
			return schema.Bad
		}
	case recovery.EventBack, recovery.EventRecovered:
		return schema.Good
	case recovery.EventLastReply:
		return schema.Dim
	}
	return schema.Label
}
