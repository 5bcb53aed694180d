package recovery

import (
	"fmt"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// announcement is what the MGS says of a target: the number of its last start.
type announcement struct {
	track.Point
	instance uint32
}

// Message takes a message of any kind, with its RPC: a server in recovery sends early
// replies, and bulk data of the MGS bring the table of imperative recovery.
func (t *Tracker) Message(r *track.RPC, m *dissect.Message) {
	if r == nil {
		return
	}
	if m.Kind == lnet.EarlyReply && t.imports.Of(r) != nil && (r.Replay() || isLockReplay(r)) {
		if c := t.conn(r).client; c != nil && c.Outcome == ClientRecovering {
			c.Early = Early{c.Early.Count + 1, track.PointOf(m), m.RPC.Timeout}
		}
	}
	if q := m.Req; q == nil || len(m.Content) == 0 || q.Opcode != opcodes.MGS_CONFIG_READ || q.Variant.String() != opcodes.RecoveryTable {
		return
	}
	table := string(r.Name()) // such as lustre-cliir
	end := strings.LastIndexByte(table, '-')
	if end <= 0 {
		return
	}
	opcodes.RunningTargets(m.Content, m.Req.Big, func(e opcodes.RunningTarget) {
		if e.Kind == "" || e.Instance == 0 {
			return
		}
		g, ok := fifo.Get(t.targets, fmt.Sprintf("%s-%s%04x", table[:end], e.Kind, e.Index))
		if ok && g.announced.instance < e.Instance {
			g.announced = announcement{track.PointOf(m), e.Instance}
		}
	})
}

// ownTarget returns the target that is a client of others under a uuid, such as
// lustre-MDT0001 of lustre-MDT0001-mdtlov_UUID or lustre-OST0002 of
// lustre-MDT0000-lwp-OST0002_UUID; it is empty for other clients.
func ownTarget(uuid string) string {
	name, ok := strings.CutSuffix(uuid, "_UUID")
	if !ok {
		return ""
	}
	if name, ok := strings.CutSuffix(name, "-mdtlov"); ok {
		return name
	}
	of, target, ok := strings.Cut(name, "-lwp-")
	end := strings.LastIndexByte(of, '-')
	if !ok || end < 0 {
		return ""
	}
	return of[:end+1] + target
}

// start is a message that a target sends from a node when it starts there.
type start struct {
	track.Point
	on lnet.NID
}

func (t *Tracker) starting(name string, s start) {
	g, ok := fifo.Get(t.targets, name)
	switch {
	case !ok:
	case g.start.Time <= max(g.lastReply.Time, g.stop.Time):
		g.start, g.startBefore = s, start{}
	case !t.nodes.same(g.start.on, s.on):
		g.start, g.startBefore = s, g.start
	}
}

// startedUnseen sets on which node a target was started, where clients that were connected to it there came back from
// it to another start. It returns what is known of that one.
func (t *Tracker) startedUnseen(g *target, r *Recovery, back lnet.NID) (next start) {
	s := g.start
	if !g.startBefore.IsZero() {
		s, next = g.startBefore, s
	}
	if s.Time <= r.LastReply.Time || s.on.Type != r.ServerBefore.Type || next.IsZero() && t.nodes.same(s.on, back) {
		return next
	}
	if r.Server, r.Starting = s.on, s.Point; !t.nodes.same(r.Server, r.ServerBefore) {
		r.Kind = Failover
	}
	return next
}
