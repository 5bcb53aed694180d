package track

import (
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/opcodes"
)

// connect handles a connect request, which ends the previous state.
func (i *Import) connect(r *RPC, m *dissect.Message, p Point) {
	i.Attempts++
	i.ConnCnt = r.ConnCnt
	i.use.last = p.Time
	if i.Asked.read(m.Msg.Buf(connectData), m.RPC.Big) {
		i.HasAsked = true
	}
	initial := m.RPC.OpFlags&opcodes.ConnectInitial != 0 || r.Handle == 0
	switch {
	case initial && r.ConnCnt == 1:
		i.restart()
	case i.State == StateClosed && initial && i.mayIdle():
		i.correctToIdle()
	case i.State == StateReplay, i.State == StateReplayLocks, i.State == StateReplayWait:
		i.stateBefore = i.State
		i.setState(StateDiscon, p)
	case i.State == StateFull, i.State == StateRecover, i.State == StateEvicted, i.State == StateConnecting:
		i.setState(StateDiscon, p)
	}
	i.add(Event{Point: p, Kind: EventConnect, Node: r.Server, ConnCnt: r.ConnCnt, OpFlags: m.RPC.OpFlags})
	i.setState(StateConnecting, p)
	i.connectIsInitial = initial
}

// restart begins the life of a new import under the names of an old one: the
// client has mounted again.
func (i *Import) restart() {
	i.stateBefore, i.deactivated, i.nothingCached = StateUnknown, false, false
	i.transactions = uncommitted{transnos: i.transactions.transnos[:0]}
	i.callbacks = i.callbacks[:0]
	i.use.fromBefore = false
}

// connectReply takes the reply to a connect: the server decides whether the
// connection is new, goes on, is in recovery, or was evicted.
func (i *Import) connectReply(r *RPC, m *dissect.Message, p Point) {
	if !r.Has(opcodes.PbStatus) {
		return
	}
	if r.Failed() {
		count(&i.Failures, r.Status)
	}
	if i.Attempts > 0 && r.ConnCnt < i.ConnCnt {
		i.add(Event{Point: p, Kind: EventLateReply, ConnCnt: r.ConnCnt, Status: r.Status})
		return // the client has given up this attempt
	}
	if r.Status != 0 {
		i.refused(r, p)
		return
	}
	answered := m.Msg != nil && i.Granted.read(m.Msg.Buf(1), m.RPC.Big)
	i.HasGranted = i.HasGranted || answered
	if answered {
		i.Limits.read(m.Msg.Buf(1), m.RPC.Big)
	}
	i.use.last = p.Time
	op := m.RPC.OpFlags
	i.add(Event{Point: p, Kind: EventConnected, ConnCnt: r.ConnCnt, OpFlags: op})
	s, ok := i.stateAfterConnect(r, m)
	if !ok {
		return
	}
	if s == StateEvicted {
		i.evict(p)
		s = StateRecover
	}
	switch i.setState(s, p); s {
	case StateDiscon:
		return
	case StateRecover:
		i.setState(StateFull, p)
	}
	i.stateBefore = StateUnknown
	i.deactivated = false
	i.nothingCached = i.nothingCached || i.connectIsInitial
}

// refused takes the reply to a connect whose status is an error. A client that
// is denied a connection it has had is evicted.
func (i *Import) refused(r *RPC, p Point) {
	i.add(Event{Point: p, Kind: EventRefused, Status: r.Status})
	i.setState(StateDiscon, p)
	denied := r.Status == opcodes.EACCES || r.Status == opcodes.EROFS
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
		i.setState(StateReplay, p)
		i.add(Event{Point: p, Kind: EventReplay, From: m.RPC.Transno, To: m.RPC.Transno})
		i.transactions.transnos = slices.DeleteFunc(i.transactions.transnos, func(n uint64) bool { return n == m.RPC.Transno })
	case r.Opcode == opcodes.LDLM_ENQUEUE && flags&dissect.FlagReqReplayDone != 0:
		i.endReplay(p)
		i.setState(StateReplayLocks, p)
		i.add(Event{Point: p, Kind: EventLockReplay})
	case r.Opcode == opcodes.OBD_PING && flags&replayDone == replayDone:
		i.endReplay(p)
		i.setState(StateReplayLocks, p)
		i.setState(StateReplayWait, p)
	case r.Opcode == opcodes.OBD_PING:
		i.Pings++
		i.PingLog = append(slices.Delete(i.PingLog, 0, i.makeRoom(len(i.PingLog))), p)
		i.add(Event{Point: p, Kind: EventPing})
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
	case r.Status == opcodes.ENOTCONN || r.Status == opcodes.ENODEV && r.Type == dissect.TypeError:
		if i.State == StateFull || i.State == StateUnknown {
			i.add(Event{Point: p, Kind: EventNotConnected, Status: r.Status, Opcode: r.Opcode})
			i.setState(StateDiscon, p)
		}
	case i.State == StateReplayWait && r.Opcode == opcodes.OBD_PING && r.Flags&dissect.FlagLockReplayDone != 0 && r.Status == 0:
		i.setState(StateRecover, p)
		i.setState(StateFull, p)
	case i.provesConnected(r):
		if i.State != StateUnknown && !r.HasFlags { // it may be a replay
			i.setState(StateUnknown, p)
			return
		}
		i.setState(StateFull, p)
	}
}

// provesConnected reports whether the reply to an RPC shows that the
// connection is up, although no connect shows it.
func (i *Import) provesConnected(r *RPC) bool {
	if !r.showsConnected() {
		return false
	}
	switch i.State {
	case StateUnknown:
		return true
	case StateDiscon, StateConnecting:
		return r.Requested().Time > i.History[len(i.History)-1].Time
	}
	return false
}

func (i *Import) contextReply(m *dissect.Message, p Point) {
	errno := m.RPC.GSS.Errno()
	if errno == 0 {
		i.add(Event{Point: p, Kind: EventContextReady})
		return
	}
	count(&i.Failures, errno)
	i.add(Event{Point: p, Kind: EventContextFailed, Status: errno})
	if i.State == StateConnecting {
		i.setState(StateDiscon, p)
	}
}
