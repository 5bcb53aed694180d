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
	eacces   = -13
	enodev   = -19
	erofs    = -30
	enotconn = -107
)

// isOST reports whether the target is an OST.
func (i *Import) isOST() bool { return strings.Contains(i.Target, "-OST") }

// connect takes a connect request, which ends whatever state there was.
func (i *Import) connect(r *RPC, m *dissect.Message, p Point) {
	i.Attempts++
	i.ConnCnt = r.ConnCnt
	if i.Asked.read(m.Msg.Buf(connectData), m.RPC.Big) {
		i.HasAsked = true
	}
	switch i.State {
	case Closed:
		i.correctToIdle()
	case Replay, ReplayLocks, ReplayWait:
		i.stateBefore = i.State
		i.setState(Discon, p)
	case Full, Recover, Evicted, Connecting:
		i.setState(Discon, p)
	}
	i.add(Event{Point: p, Kind: EvConnect, Node: r.Server, ConnCnt: r.ConnCnt, OpFlags: m.RPC.OpFlags})
	i.setState(Connecting, p)
	i.connectIsInitial = m.RPC.OpFlags&msgInitial != 0 || r.Handle == 0
}

// connectReply takes the reply to a connect: the server decides whether the
// connection is new, goes on, is in recovery, or was evicted.
func (i *Import) connectReply(r *RPC, m *dissect.Message, p Point) {
	if r.Failed() {
		count(&i.Failures, r.Status)
	}
	if i.Attempts > 0 && r.ConnCnt < i.ConnCnt {
		i.add(Event{Point: p, Kind: EvLate, ConnCnt: r.ConnCnt, Status: r.Status})
		return // the client has given this attempt up
	}
	if r.Status != 0 {
		i.refused(r, p)
		return
	}
	answered := m.Msg != nil && i.Granted.read(m.Msg.Buf(1), m.RPC.Big)
	i.HasGranted = i.HasGranted || answered
	op := m.RPC.OpFlags
	i.add(Event{Point: p, Kind: EvConnected, ConnCnt: r.ConnCnt, OpFlags: op})
	switch i.outcome(r, m) {
	case outcomeUnknown:
		return
	case outcomeNew:
		i.setState(Full, p)
	case outcomeLockReplay:
		i.setState(ReplayLocks, p)
	case outcomeReplay:
		i.transactions.startReplay()
		i.setState(Replay, p)
	case outcomeReplayGoesOn:
		i.setState(i.stateBefore, p)
	case outcomeNoHandle:
		i.setState(Discon, p)
		return
	case outcomeEvicted:
		i.evict(p)
		i.setState(Recover, p)
		i.setState(Full, p)
	case outcomeRecovered:
		i.setState(Recover, p)
		i.setState(Full, p)
	}
	i.stateBefore = StateUnknown
	i.deactivated = false
	i.nothingCached = i.nothingCached || i.connectIsInitial
}

// refused takes the reply to a connect whose status is an error. A client that
// is denied a connection it has had is evicted.
func (i *Import) refused(r *RPC, p Point) {
	i.add(Event{Point: p, Kind: EvRefused, Status: r.Status})
	i.setState(Discon, p)
	denied := r.Status == eacces || r.Status == erofs
	if !denied || !i.HasAsked || i.Asked.Flags&(flagLightweight|flagMDS|flagMDSMDS) != 0 {
		return
	}
	i.deactivated = true
	if r.HasRequest && !i.connectIsInitial {
		i.evict(p)
	}
}

// request takes any other request of the client.
func (i *Import) request(r *RPC, m *dissect.Message, p Point) {
	flags := m.RPC.Flags
	const replayDone = dissect.FlagReqReplayDone | dissect.FlagLockReplayDone
	switch {
	case flags&dissect.FlagReplay != 0:
		i.setState(Replay, p)
		i.add(Event{Point: p, Kind: EvReplay, From: m.RPC.Transno, To: m.RPC.Transno})
		i.transactions.replayed(m.RPC.Transno)
	case r.Opcode == opcodes.LDLM_ENQUEUE && flags&dissect.FlagReqReplayDone != 0:
		i.endReplay(p)
		i.setState(ReplayLocks, p)
		i.add(Event{Point: p, Kind: EvLockReplay})
	case r.Opcode == opcodes.OBD_PING && flags&replayDone == replayDone:
		i.endReplay(p)
		i.setState(ReplayLocks, p)
		i.setState(ReplayWait, p)
	case r.Opcode == opcodes.OBD_PING:
		i.Pings++
		i.add(Event{Point: p, Kind: EvPing})
	}
	i.releaseLocks(m)
}

// reply takes the reply to any other request.
func (i *Import) reply(r *RPC, m *dissect.Message, p Point) {
	if r.Transno != 0 {
		i.transactions.add(r.Transno, i.LastCommitted)
	}
	if r.Transno != 0 || r.Opcode == opcodes.LDLM_ENQUEUE {
		i.nothingCached = false
	}
	switch {
	case r.Status == enotconn || r.Status == enodev && r.Type == dissect.TypeError:
		if i.State == Full || i.State == StateUnknown {
			i.add(Event{Point: p, Kind: EvNotConn, Status: r.Status, Opcode: r.Opcode})
			i.setState(Discon, p)
		}
	case i.State == ReplayWait && r.Opcode == opcodes.OBD_PING && r.Flags&dissect.FlagLockReplayDone != 0 && r.Status == 0:
		i.setState(Recover, p)
		i.setState(Full, p)
	case i.provesConnected(r):
		i.setState(Full, p)
	}
}

// provesConnected reports whether the reply to an RPC shows that the
// connection is up, although no connect shows it: a client sends normal
// requests only over a full connection.
func (i *Import) provesConnected(r *RPC) bool {
	if !r.HasRequest || r.Type != dissect.TypeReply || r.Replay() || r.Flags&dissect.FlagReqReplayDone != 0 {
		return false
	}
	switch i.State {
	case StateUnknown:
		return true
	case Discon, Connecting:
		return r.Requested().Time > i.History[len(i.History)-1].Time
	}
	return false
}

// correctToIdle corrects what looked like the end of a connection.
func (i *Import) correctToIdle() {
	i.State = Idle
	if n := len(i.History); n > 0 {
		i.History[n-1].State = Idle
	}
}
