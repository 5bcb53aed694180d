// Package nested finds the RPCs that a server sent to others because of an RPC that it
// was serving: callbacks about locks, updates of other MDTs, look-ups and so on.
//
// A Tracker receives RPCs from a track.Pairing: pass its methods Sent, Answered and Done
// as hooks in track.Options. Done sets track.RPC.Nested, and Calls returns the nested RPCs
// one by one.
//
// nested.go takes the messages, log.go what logs of nodes have about RPCs, operation.go has what is known of an RPC that a server
// serves, and call.go what is known of one that it sends.
//
// Two RPCs are linked when both name the same: the resource of a lock, a FID or its
// sequence, or the owner of a quota. A request has the process id of its sender in pb_status, and a
// service thread serves one RPC after the other. So what else a thread sends is nested in
// the same RPC, until the reply. All state is bounded: each bound is a constant beside
// what it limits.
package nested

import (
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// Tracker finds nested RPCs.
type Tracker struct {
	servers *fifo.Map[lnet.NID, *server]
	rpcs    track.Attached[entry]
	count   uint64
	names   *fifo.Map[track.FID, dirEntry] // what FIDs that servers name stand for, as replies have shown
	free    []*operation
	logged  *fifo.Map[debuglog.Thread, *loggedThread]
}

// entry is what is known of an RPC: as one that a server serves, and as one that a server
// sends.
type entry struct {
	number    uint64
	operation *operation
	call      *Call
	around    uint64 // by a log, the number of an RPC that has ended before; 0: none
}

// server is a node that serves RPCs.
type server struct {
	open    []*operation // in the order of their requests
	threads *fifo.Map[int32, *thread]
	waiting []*Call // not linked yet, in the order of time
	called  *fifo.Map[resource, *calledBack]
	peers   map[int]lnet.NID // the node that each capture point saw the server exchange messages with first

	// isCovered: a capture point saw the server with several nodes, so it sees what the server sends to all others. One at a
	// client sees it with the client alone.
	isCovered bool
}

// The bounds of what is followed.
const (
	maxServers = 1 << 12
	maxThreads = 1 << 11 // of a server
	maxOpen    = 1 << 13 // operations of a server
	maxWaiting = 1 << 7  // calls of a server
	maxSources = 1 << 6  // capture points
)

// New makes a Tracker.
func New() *Tracker {
	return &Tracker{servers: fifo.NewMap[lnet.NID, *server](maxServers), names: fifo.NewMap[track.FID, dirEntry](maxNames),
		logged: fifo.NewMap[debuglog.Thread, *loggedThread](maxLoggedThreads)}
}

// Number returns the number of an RPC, by which a Call refers to it.
func (t *Tracker) Number(r *track.RPC) uint64 { return t.entry(r).number }

// Calls returns the nested RPCs of an RPC that has ended, in the order in which they were
// sent. They are valid until Done is called for the RPC.
func (t *Tracker) Calls(r *track.RPC) []*Call {
	if o := t.rpcs.Of(r).operation; o != nil {
		return o.proven()
	}
	return nil
}

// MayBeNested reports whether an RPC may be nested in others.
func (t *Tracker) MayBeNested(r *track.RPC) bool { return t.rpcs.Of(r).call != nil }

func (t *Tracker) entry(r *track.RPC) *entry {
	e := t.rpcs.Of(r)
	if e.number == 0 {
		t.count++
		e.number = t.count
	}
	return e
}

// Sent takes a request.
func (t *Tracker) Sent(r *track.RPC, m *dissect.Message) {
	if r.Sends != 1 || !r.HasOpcode {
		return
	}
	s, ok := fifo.Get(t.servers, r.Client)
	if !ok && opcodes.IsCallback(r.Opcode) {
		s, ok = t.server(r.Client), true
	}
	if ok && !r.Replay() {
		t.sends(s, r, m)
	}
	if isServed(r) {
		s := t.server(r.Server)
		if len(s.open) >= maxOpen {
			s.close(s.open[0])
		}
		o := t.newOperation(r, m)
		t.entry(r).operation = o
		s.open = append(s.open, o)
	}
}

func (t *Tracker) server(nid lnet.NID) *server {
	return fifo.GetOrMake(t.servers, nid, func() *server {
		return &server{threads: fifo.NewMap[int32, *thread](maxThreads), called: fifo.NewMap[resource, *calledBack](maxCalled),
			peers: map[int]lnet.NID{}}
	})
}

func (t *Tracker) sends(s *server, r *track.RPC, m *dissect.Message) {
	th := fifo.GetOrNew(s.threads, m.RPC.Status)
	if !slices.Contains(nestedOpcodes, r.Opcode) && r.Opcode != opcodes.OST_CREATE {
		th.daemon = m.Time
		return
	}
	c := t.newCall(s, th, r, m)
	t.entry(r).call = c
	c.only = len(s.open) == 1
	switch {
	case r.Opcode == opcodes.OST_CREATE:
		s.wait(c)
		return
	case th.isDaemon(m.Time):
		return
	}
	if o, link := t.find(s, c); o != nil {
		s.link(o, c, link)
		return
	}
	if len(s.open) == 0 {
		th.alone++
	}
	if o := t.behind(s, c); o != nil {
		o.add(c, ByLock)
		return
	}
	s.wait(c)
}

// behind returns the operation of another MDT that a blocking callback of the server is nested in, nil
// when it is unknown: one that must have asked the server for a lock which conflicts with that of the client. The capture
// of a client has all but this request.
func (t *Tracker) behind(s *server, c *Call) (found *operation) {
	if c.opcode != opcodes.LDLM_BL_CALLBACK || opcodes.IsReadLock(c.mode) || s.isCovered ||
		slices.ContainsFunc(s.open, func(o *operation) bool { return o.canCause(c) && (o.client == c.to || t.nameSame(o, c)) }) {
		return nil
	}
	for _, other := range fifo.All(t.servers) {
		for _, o := range other.open {
			switch {
			case o.opcode != opcodes.MDS_REINT || o.client != c.to || !t.nameSame(o, c):
			case found != nil:
				return nil
			default:
				found = o
			}
		}
	}
	return found
}

// wait keeps a call that is not linked yet.
func (s *server) wait(c *Call) {
	if len(s.waiting) >= maxWaiting {
		s.waiting = slices.Delete(s.waiting, 0, 1)
	}
	s.waiting = append(s.waiting, c)
}

// find returns the operation that a call is nested in, nil when it is unknown.
func (t *Tracker) find(s *server, c *Call) (*operation, Link) {
	serves := c.thread.serves
	if serves != nil && serves.canCause(c) && t.nameSame(serves, c) {
		return serves, c.nameLink()
	}
	var named []*operation
	for _, o := range s.open {
		if o.canCause(c) && t.nameSame(o, c) {
			named = append(named, o)
		}
	}
	for _, prefer := range [...]func(*operation) bool{
		func(o *operation) bool { return o.portal == c.thread.portal },
		func(o *operation) bool { return len(o.threads) == 0 || c.isShared() },
		func(o *operation) bool { return o.client != c.to },
		func(o *operation) bool { return o.needs(c) },
	} {
		if len(named) > 1 && slices.ContainsFunc(named, prefer) {
			named = slices.DeleteFunc(named, func(o *operation) bool { return !prefer(o) })
		}
	}
	switch {
	case serves != nil && !c.isShared() && (len(named) != 1 || !serves.mayBeOver(named[0])):
		return serves, ByThread
	case len(named) != 1:
		return nil, Unlinked
	}
	return named[0], c.nameLink()
}

// link links a call to the operation that it is nested in, and with it those that the same
// thread has sent since the request.
func (s *server) link(o *operation, c *Call, link Link) {
	th := c.thread
	o.add(c, link)
	if c.isShared() || c.changes || link == ByThread { // which does not show what the thread serves
		return
	}
	if th.serves != o {
		th.serves, th.portal = o, o.portal
		th.served++
		o.threads = append(o.threads, th)
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(w *Call) bool {
		if w.thread != th || w.span.From < o.span.From {
			return false
		}
		o.add(w, ByThread)
		return true
	})
}

// Answered takes a reply.
func (t *Tracker) Answered(r *track.RPC, m *dissect.Message) {
	e := t.rpcs.Of(r)
	if e.call != nil {
		e.call.span.To = m.Time
		if r.Opcode == opcodes.SEQ_QUERY && m.Msg != nil {
			e.call.start, e.call.end, _ = opcodes.AllocatedSequences(m.Msg)
		}
		if s, ok := fifo.Get(t.servers, r.Client); ok {
			s.saw(r.Seen, r.Server)
		}
	}
	if o := e.operation; o != nil && o.span.To == 0 {
		o.span.To = m.Time
		if s, ok := fifo.Get(t.servers, r.Server); ok {
			s.saw(r.Seen, r.Client)
			t.linkByReply(s, o, m)
			s.linkByTime(o)
			s.close(o)
		}
		t.learnNames(o, r, m)
	}
}

// linkByReply links what the reply to an operation names and its request does not: as a rule
// the FID that a name in the request stands for.
func (t *Tracker) linkByReply(s *server, o *operation, m *dissect.Message) {
	data := payload(m)
	for i := 0; i < len(s.waiting); i++ {
		c := s.waiting[i]
		if c.span.From < o.span.From || !o.canCause(c) || t.nameSame(o, c) || !c.isNamedIn(data) && !c.allocatedFor(m) {
			continue
		}
		s.waiting = slices.Delete(s.waiting, i, i+1)
		s.link(o, c, c.nameLink())
		i = -1 // link may have removed others
	}
}

// linkByTime links what the server waited for while an operation was the only one that it
// served, if nothing shows which thread served that, and OST objects that one waited for.
func (s *server) linkByTime(o *operation) {
	if len(o.threads) > 0 {
		return
	}
	for _, c := range s.waiting {
		if c.span.From >= o.span.From && c.span.To != 0 && o.canCause(c) && (c.only && !c.isShared() || o.waitedForObjects(c)) {
			o.add(c, ByTime)
			c.guess = o
		}
	}
}

func (s *server) close(o *operation) {
	if i := slices.Index(s.open, o); i >= 0 {
		s.open = slices.Delete(s.open, i, i+1)
	}
	for _, th := range o.threads {
		if th.serves == o {
			th.serves = nil
		}
	}
	old := 0
	for old < len(s.waiting) && (len(s.open) == 0 || s.waiting[old].span.From < s.open[0].span.From) {
		old++
	}
	s.waiting = slices.Delete(s.waiting, 0, old)
}

// Done takes an RPC that has ended, and sets its field Nested.
func (t *Tracker) Done(r *track.RPC) {
	e := t.rpcs.Of(r)
	if r.Log != nil {
		t.takeLog(r, e)
	}
	o := e.operation
	if s, ok := fifo.Get(t.servers, r.Server); ok && o != nil {
		s.close(o)
		r.Nested = o.sum(s)
	}
}

// Release forgets an RPC. It is to be called after Done and after the last use of Calls.
func (t *Tracker) Release(r *track.RPC) {
	e := t.rpcs.Of(r)
	if e.operation != nil {
		t.free = append(t.free, e.operation)
	}
	*e = entry{}
}

// saw notes which capture points saw an RPC between the server and another node.
func (s *server) saw(sightings []track.Sighting, nid lnet.NID) {
	for i := range sightings {
		source := sightings[i].Source
		if first, ok := s.peers[source]; ok {
			s.isCovered = s.isCovered || first != nid
		} else if len(s.peers) < maxSources {
			s.peers[source] = nid
		}
	}
}
