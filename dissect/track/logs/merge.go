package logs

import (
	"time"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

// linger is how long an RPC that is over in one log waits for the other one.
const linger = int64(5 * time.Second)

// lateFor is how long after a client has given up waiting a server may handle the request.
const lateFor = int64(2 * time.Minute)

// Merge reads logs without a capture, and joins those of an RPC's nodes.
type Merge struct {
	table
	done  func(*track.RPC)
	rpc   debuglog.RPC
	first int64
}

// NewMerge returns a Merge that passes each RPC to done when it is over: valid during the
// call.
func NewMerge(files []File, done func(*track.RPC)) *Merge {
	m := &Merge{done: done}
	m.table = newTable(files, m.join)
	return m
}

// Open opens the logs and compares their clocks; the notes are lines of text about them.
func (m *Merge) Open() (notes []string, err error) {
	if len(m.logs) > 1 {
		if notes, err = compare(m.logs, nil); err != nil {
			return nil, err
		}
	}
	if err := m.begin(false); err != nil {
		return nil, err
	}
	if l := m.earliest(); l != nil {
		m.first = l.next.Time + l.offset
	}
	return notes, nil
}

// First returns the time of the first event, 0 without events.
func (m *Merge) First() int64 { return m.first }

// Follow is Open for logs that grow.
func (m *Merge) Follow() (notes []string, err error) {
	m.follows = true
	return m.Open()
}

// More reads on in logs that grow, until stop returns true or there is no more so far.
func (m *Merge) More(stop func() bool) {
	for _, l := range m.logs {
		if l.ended && l.reader != nil {
			l.ended = false
			m.read(l)
		}
	}
	m.readOn(stop)
	if m.learns = true; m.finder.changed {
		m.nameHosts()
	}
}

// Read reads the logs, to their end or until stop returns true.
func (m *Merge) Read(stop func() bool) {
	m.readOn(stop)
	m.End()
}

func (m *Merge) readOn(stop func() bool) {
	for l := m.earliest(); l != nil && !stop(); l = m.earliest() {
		now := l.next.Time + l.offset
		m.take(l)
		for c := m.over.Overdue(now, linger, maxOver); c != nil; c = m.over.Overdue(now, linger, maxOver) {
			if m.isAwaited(c, now) && m.over.Len() < maxOver {
				m.over.Push(&c.place, now)
				continue
			}
			m.end(c)
		}
	}
}

// End passes on the RPCs of which no more is known.
func (m *Merge) End() {
	for _, q := range m.queues() {
		for c := q.First(); c != nil; c = q.First() {
			m.end(c)
		}
	}
}

// isAwaited reports whether lines of the other node about an RPC that is over in one log are still to
// come: there are some, or the client has given up and the server may get to it later. Connects
// are not kept back, as what follows depends on them.
func (m *Merge) isAwaited(c *call, now int64) bool {
	o := m.other(&c.Call)
	isLate := !c.Served && c.Failed != 0 && len(m.logs) > 1 && now < c.End()+lateFor && !opcodes.IsConnect(c.Opcode)
	return o != nil && !o.Over() || o == nil && isLate
}

// other returns what the log of the other node has about the RPC of a call; of several
// calls of a server, the last.
func (m *Merge) other(c *debuglog.Call) (best *call) {
	for o := m.byXID[c.XID]; o != nil; o = o.older {
		if m.isOther(c, &o.Call) && (best == nil || o.Begin() > best.Begin()) {
			best = o
		}
	}
	return best
}

// join takes a call for which no more lines are expected, with the others of its RPC.
func (m *Merge) join(c *debuglog.Call) {
	m.rpc = debuglog.RPC{}
	m.side(c)
	for o := m.other(c); o != nil; o = m.other(&m.rpc.Client) { // several, of a request that was sent again
		m.side(&o.Call)
		m.remove(o)
	}
	client, server := m.nodes()
	m.done(m.made(&m.rpc, client, server))
}

// side adds what the log of one node has about an RPC.
func (m *Merge) side(c *debuglog.Call) {
	if !c.Served {
		m.rpc.Client, m.rpc.HasClient = *c, true
		return
	}
	if m.rpc.Handled++; !m.rpc.HasServer || c.Begin() > m.rpc.Server.Begin() {
		m.rpc.Server, m.rpc.HasServer = *c, true
	}
}

// nodes returns the client and the server of the RPC; one that is unknown is zero.
func (m *Merge) nodes() (client, server lnet.NID) {
	if c := &m.rpc.Client; m.rpc.HasClient {
		client, server = m.logs[c.Log].self.first(), c.Peer
		if c.Peer.IsLoopback() {
			client = c.Peer
		}
	}
	if s := &m.rpc.Server; m.rpc.HasServer {
		client = s.Peer
		if !m.rpc.HasClient {
			server = m.logs[s.Log].self.first()
			if s.Peer.IsLoopback() {
				server = s.Peer
			}
		}
	}
	return client, server
}
