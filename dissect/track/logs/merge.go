package logs

import (
	"time"

	"github.com/lshark/lshark/dissect/debuglog"
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
	first int64
}

// NewMerge returns a Merge that passes each RPC to done when it is over: valid during the
// call.
func NewMerge(files []File, done func(*track.RPC)) *Merge {
	m := &Merge{}
	m.table = newTable(files, func(c *debuglog.Call) { // for which no more lines are expected
		m.gather(c)
		client, server := m.nodes()
		done(m.made(&m.rpc, client, server))
	})
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

// isAwaited reports whether lines of the other node about an RPC that is over in one log are still to
// come: there are some, or the client has given up and the server may get to it later. Connects
// are not kept back, as what follows depends on them.
func (m *Merge) isAwaited(c *call, now int64) bool {
	o := m.other(&c.Call)
	isLate := !c.Served && c.Failed != 0 && len(m.logs) > 1 && now < c.End()+lateFor && !opcodes.IsConnect(c.Opcode)
	return o != nil && !o.Over() || o == nil && isLate
}
