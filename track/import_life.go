package track

import (
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/opcodes"
)

// Bits of pb_op_flags in connects.
var (
	msgRecovering = uint32(opcodes.MsgConnectFlags.Bit("RECOVERING"))
	msgReconnect  = uint32(opcodes.MsgConnectFlags.Bit("RECONNECT"))
	msgInitial    = uint32(opcodes.MsgConnectFlags.Bit("INITIAL"))
)

const (
	enodev   = -19
	enotconn = -107
)

func (i *Import) toOST() bool { return strings.Contains(i.Target, "-OST") }

// connect takes a connect request: whatever was, is over.
func (i *Import) connect(r *RPC, m *dissect.Message, p Point) {
	i.Attempts++
	i.ConnCnt = r.ConnCnt
	if i.Asked.read(m.Msg.Buf(connData), m.RPC.Big) {
		i.HasAsked = true
	}
	switch i.State {
	case Closed:
		i.idle()
	case Replay, ReplayLocks, ReplayWait:
		i.before = i.State
		i.to(Discon, p)
	case Full, Recover, Evicted, Connecting:
		i.to(Discon, p)
	}
	i.event(Event{Point: p, Kind: EvConnect, Node: r.Server, ConnCnt: r.ConnCnt, OpFlags: m.RPC.OpFlags})
	i.to(Connecting, p)
	i.initial = m.RPC.OpFlags&msgInitial != 0
}

// connected takes the reply to a connect, which says where the life of the
// connection goes on.
func (i *Import) connected(r *RPC, m *dissect.Message, p Point) {
	if r.Failed() {
		count(&i.Failures, r.Status)
	}
	if i.Attempts > 0 && r.ConnCnt < i.ConnCnt {
		i.event(Event{Point: p, Kind: EvLate, ConnCnt: r.ConnCnt, Status: r.Status})
		return // the client has given this attempt up
	}
	if r.Status != 0 {
		i.event(Event{Point: p, Kind: EvRefused, Status: r.Status})
		i.to(Discon, p)
		return
	}
	if m.Msg != nil && i.Granted.read(m.Msg.Buf(1), m.RPC.Big) {
		i.HasGranted = true
	}
	op := m.RPC.OpFlags
	i.event(Event{Point: p, Kind: EvConnected, ConnCnt: r.ConnCnt, OpFlags: op})
	changed := i.handle != 0 && i.handle != m.RPC.Handle
	i.handle = m.RPC.Handle
	recovering, known := op&msgRecovering != 0, op&msgReconnect != 0
	switch {
	case recovering && i.initial:
		i.to(ReplayLocks, p)
	case recovering && known && i.before != StateUnknown:
		i.to(i.before, p)
	case recovering:
		i.replayed.begin()
		i.to(Replay, p)
	case i.initial:
		i.to(Full, p)
	case !known || changed:
		i.evicted(p)
		i.to(Recover, p)
		i.to(Full, p)
	default:
		i.to(Recover, p)
		i.to(Full, p)
	}
	i.before = StateUnknown
}

func (i *Import) evicted(p Point) {
	i.Evictions++
	i.to(Evicted, p)
	i.event(Event{Point: p, Kind: EvEvicted})
	for _, c := range i.calls {
		e := i.event(Event{Point: c.at, Kind: EvCallback, Opcode: c.opcode, From: c.client, Replied: c.replied})
		e.Until = p
	}
	i.calls = i.calls[:0]
}

// request takes any other request of the client.
func (i *Import) request(r *RPC, m *dissect.Message, p Point) {
	flags := m.RPC.Flags
	const done = dissect.FlagReqReplayDone | dissect.FlagLockReplayDone
	switch {
	case flags&dissect.FlagReplay != 0:
		i.to(Replay, p)
		i.event(Event{Point: p, Kind: EvReplay, From: m.RPC.Transno, To: m.RPC.Transno})
		i.replayed.seen(m.RPC.Transno)
	case r.Opcode == opcodes.LDLM_ENQUEUE && flags&dissect.FlagReqReplayDone != 0:
		i.gap(p)
		i.to(ReplayLocks, p)
		i.event(Event{Point: p, Kind: EvLockReplay})
	case r.Opcode == opcodes.OBD_PING && flags&done == done:
		i.gap(p)
		i.to(ReplayLocks, p)
		i.to(ReplayWait, p)
	case r.Opcode == opcodes.OBD_PING:
		i.Pings++
		i.event(Event{Point: p, Kind: EvPing})
	}
	i.surrender(m)
}

// reply takes the reply to any other request.
func (i *Import) reply(r *RPC, m *dissect.Message, p Point) {
	if r.Transno != 0 {
		i.replayed.answered(r.Transno, i.LastCommitted)
	}
	switch {
	case r.Status == enotconn || r.Status == enodev && r.Type == dissect.TypeError:
		if i.State == Full || i.State == StateUnknown {
			i.event(Event{Point: p, Kind: EvNotConn, Status: r.Status, Opcode: r.Opcode})
			i.to(Discon, p)
		}
	case i.State == ReplayWait && r.Opcode == opcodes.OBD_PING && r.Flags&dissect.FlagLockReplayDone != 0 && r.Status == 0:
		i.to(Recover, p)
		i.to(Full, p)
	case i.outside(r) && r.HasRequest && r.Type == dissect.TypeReply && !r.Replay() && r.Flags&dissect.FlagReqReplayDone == 0:
		i.to(Full, p)
	}
}

// outside says whether a request was sent while the connection was not known
// to be there: since clients do not do that, it is.
func (i *Import) outside(r *RPC) bool {
	switch i.State {
	case StateUnknown:
		return true
	case Discon, Connecting:
		return r.Requested().Time > i.History[len(i.History)-1].Time
	}
	return false
}

// gap notes which requests should have been replayed and were not.
func (i *Import) gap(p Point) {
	if n, from, to := i.replayed.missing(i.LastCommitted); n > 0 {
		e := i.event(Event{Point: p, Kind: EvGap, From: from, To: to})
		e.Count = n
	}
}
