package track

import "github.com/lshark/lshark/dissect"

// contextSetup takes a request for a security context: a connection that is not
// up waits for one before its connect is sent.
func (i *Import) contextSetup(p Point) {
	i.add(Event{Point: p, Kind: EventContextSetup})
	switch i.State {
	case StateUnknown, StateClosed, StateDiscon, StateIdle:
		i.setState(StateConnecting, p)
	}
}

// contextReply takes the reply to it.
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
