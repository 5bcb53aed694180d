package tables

import (
	"cmp"
	"fmt"

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
		s.end(dst, stepRole(e), schema.AppendText(nil, []byte(s.text(r, e))))
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

func (s *RecoveryStory) text(r *recovery.Recovery, e *recovery.Event) string {
	server := s.opt.NIDs.Append(nil, e.Server)
	switch e.Kind {
	case recovery.EventLastReply:
		return fmt.Sprintf("last reply before, of %s", server)
	case recovery.EventGone:
		return "gone: " + signTexts[e.Sign]
	case recovery.EventLost:
		return "lost: " + signTexts[e.Sign]
	case recovery.EventRefused:
		return fmt.Sprintf("%s refused by %s: %s%s", schema.Plural(e.Count, "connect"), server, records.AppendErrno(nil, e.Status), until(e))
	case recovery.EventUnanswered:
		return schema.Plural(e.Count, "connect") + " without a reply"
	case recovery.EventStarting:
		return "is being started"
	case recovery.EventAnnounced:
		return "the MGS announces the restart"
	case recovery.EventBack:
		return fmt.Sprintf("%s has the target and accepts connects", server)
	case recovery.EventConnected:
		if e.Time > r.Back.Time && r.Kind.IsOutage() {
			return "connected, " + waitText(e.Time-r.Back.Time) + " after the first"
		}
		return "connected"
	case recovery.EventReplay:
		return "replays " + schema.Plural(e.Count, "request") + transnos(e.Transnos.From, e.Transnos.To) + until(e) + failed(e)
	case recovery.EventNotReplayed:
		return "not replayed: " + schema.Plural(e.Count, "transaction") + transnos(e.Transnos.From, e.Transnos.To)
	case recovery.EventLockReplay:
		return "replays " + schema.Plural(e.Count, "lock") + until(e) + failed(e)
	case recovery.EventEarly:
		return fmt.Sprintf("early reply, number %d: the server expects to reply within %ds", e.Count, e.Estimate)
	case recovery.EventReady:
		return "has replayed all"
	case recovery.EventEvicted:
		return "evicted"
	case recovery.EventRecovered:
		return "recovered"
	case recovery.EventMissing:
		return "last reply; not seen to come back"
	}
	return requestText(e.Request)
}

// until returns how long a run lasted.
func until(e *recovery.Event) string {
	if e.Until.IsZero() {
		return ""
	}
	return ", for " + waitText(e.Until.Time-e.Time)
}

func failed(e *recovery.Event) string { return before("; failed: ", errorsText(e.Errors)) }

func requestText(q *recovery.Request) string {
	text := fmt.Sprintf("%s x%d%s", render.AppendOpcode(nil, q.Opcode), q.XID, before(" of ", q.Job))
	ns, ok := q.Time()
	switch {
	case !ok:
		return text + " had no reply"
	case q.Status < 0:
		return fmt.Sprintf("%s failed: %s, after %s", text, records.AppendErrno(nil, q.Status), waitText(ns))
	}
	return text + " waited " + waitText(ns)
}

func stepRole(e *recovery.Event) schema.Role {
	if len(e.Errors) > 0 {
		return schema.Bad
	}
	return cmp.Or(stepRoles[e.Kind], schema.Label)
}

var stepRoles = map[recovery.EventKind]schema.Role{
	recovery.EventEvicted: schema.Bad, recovery.EventNotReplayed: schema.Bad, recovery.EventMissing: schema.Bad, recovery.EventFailed: schema.Bad,
	recovery.EventGone: schema.Warning, recovery.EventLost: schema.Warning, recovery.EventRefused: schema.Warning,
	recovery.EventUnanswered: schema.Warning, recovery.EventWaited: schema.Warning,
	recovery.EventBack: schema.Good, recovery.EventRecovered: schema.Good, recovery.EventLastReply: schema.Dim,
}
