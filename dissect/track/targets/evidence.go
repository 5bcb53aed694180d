// Package targets finds the targets of connections that were made before a
// capture began: no connect names them, so the requests have only a handle. It
// collects what messages prove about a handle, and combines it. Nothing is
// guessed: a target is unknown as long as its file system or its index is, and
// when two messages contradict each other.
//
// What proves an index: the portal of the MGS; requests that only MDT0000 serves;
// locks, in which an MDT since 2.16 writes its index; the location of FID sequences
// (FLD), which clients ask for; layouts of files, which have the OST of each
// object. An object that a request is about is on the target, and with it all
// objects of its sequence.
//
// The configuration log of the clients of a file system lists all its targets, with the
// nodes that serve them. It names the file system of a node, and a target that is the
// only one of its kind there. A list of imports, which users give, does the same.
//
// Sequences and objects of two file systems may have the same numbers. So what is
// known about them holds among the connections of a file system only: those to
// the same server node, and those of a client that uses on one what a reply on the
// other named. The file system gets its name from the connects among them.
package targets

import (
	"maps"
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/config"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// Evidence collects what messages prove about connections. Its methods Sent and
// Answered have the types of the hooks in track.Options.
type Evidence struct {
	lists    []list // of targets and the nodes that serve them
	config   *config.Tracker
	read     int // changes of the configuration when the targets in it were last listed
	records  map[*track.Connection]*record
	list     []*record          // in the order of their first requests
	nodes    map[lnet.NID]int32 // numbers of the servers, from 0
	pending  track.Attached[pending]
	named    *fifo.Map[object, *record] // objects that replies to a client named
	locks    *fifo.Map[cookie, *record] // by the cookies of clients
	ranges   []location
	isKnown  map[location]bool // the ranges
	links    map[link]bool
	newest   int64 // time of the first request of the newest connection
	changed  bool  // since the last conclusion
	requests int   // since something was learned
	next     int64 // time of the next conclusion
	nextList int64 // time from which on the configuration is read for it again
	solution solution
}

// The bounds of what is kept.
const (
	maxRecords   = 1 << 15
	maxNamed     = 1 << 15
	maxLocks     = 1 << 15
	maxRanges    = 1 << 12
	maxLinks     = 1 << 14
	maxSequences = 64 // of a connection
	maxServers   = 8  // NIDs of a connection
	maxClaims    = 4  // of a connection
)

// list is a list of targets and the nodes that serve them.
type list struct {
	names *Names
	from  track.TargetSource
}

// New returns an Evidence. names, a list of imports, may be nil.
func New(names *Names) *Evidence {
	e := &Evidence{
		config:  config.New(),
		records: make(map[*track.Connection]*record),
		nodes:   make(map[lnet.NID]int32),
		named:   fifo.NewMap[object, *record](maxNamed),
		locks:   fifo.NewMap[cookie, *record](maxLocks),
		isKnown: make(map[location]bool),
		links:   make(map[link]bool),
	}
	e.SetNames(names)
	return e
}

// SetNames replaces the list of imports, which may be nil.
func (e *Evidence) SetNames(names *Names) {
	e.lists = slices.DeleteFunc(e.lists, func(l list) bool { return l.from == track.TargetFromNames })
	if names == nil {
		return
	}
	e.lists = append(e.lists, list{names, track.TargetFromNames})
	for _, c := range e.list {
		c.setGiven(names)
	}
	e.learned()
}

// setGiven sets the target that a list of imports has for the connection itself.
func (c *record) setGiven(names *Names) {
	if uuid := names.handles[c.conn.Handle]; uuid != "" && !c.conn.IsNamed() {
		c.conn.SetTarget(uuid, track.TargetFromNames)
		c.given = true
	}
}

// isNamed reports whether a message, or a list of imports, names the target of the connection
// itself.
func (c *record) isNamed() bool { return c.given || c.conn.IsNamed() }

// record is what is known about a connection.
type record struct {
	conn      *track.Connection
	number    int32
	client    lnet.NID
	first     int64 // time of the first request, in nanoseconds since the epoch
	last      int64 // time of the last message
	kind      opcodes.TargetKind
	mixed     bool // requests to portals of different kinds
	servers   []lnet.NID
	nodes     []int32 // their numbers
	claims    []claim
	sequences []uint64 // of objects on the target
	zeroLocks bool     // the index in its locks is 0
	forgotten bool     // was removed from the list
	given     bool     // a list of imports has its target by its handle
	parsed    targetName
}

// claim is a target that a message proves.
type claim struct {
	target
	from track.TargetSource
}

// target is a target of a file system.
type target struct {
	kind  opcodes.TargetKind
	index uint32
}

// object is an object that a reply to a client named.
type object struct {
	client lnet.NID
	fid    track.FID
}

// cookie is the handle of a lock on its client.
type cookie struct {
	node   lnet.NID
	handle uint64
}

// location is a range of sequences and the target that has it, as a message on
// a connection says.
type location struct {
	by          *record
	first, last uint64
	claim
}

// link connects two connections of one file system, the one with the lower
// number first.
type link struct{ a, b *record }

// pending is what a request proves if it succeeds.
type pending struct {
	of       *record
	fid      track.FID // of an object on the target
	firstMDT bool      // the target is MDT0000
	intent   bool
}

// Sent takes a request.
func (e *Evidence) Sent(r *track.RPC, m *dissect.Message) {
	e.config.Message(m)
	if r.Sends > 1 {
		return
	}
	e.requests++
	p := e.pending.Of(r)
	*p = pending{}
	if m.Msg == nil || !r.HasOpcode || opcodes.IsConnect(r.Opcode) {
		return
	}
	if opcodes.IsCallback(r.Opcode) {
		// The lock was asked for on the connection of the callback.
		c, ok := fifo.Get(e.locks, cookie{r.Server, opcodes.LockHandle(m.Msg, 0)})
		if r.Connection == nil && ok && !c.forgotten {
			r.Connection = c.conn
		}
		return
	}
	c := e.of(r, m.Time)
	if c == nil {
		return
	}
	c.setKind(e, opcodes.TargetKindOf(r.Portal))
	p.of = c
	p.firstMDT = opcodes.IsFirstMDT(m.Msg, r.Portal)
	p.fid.Read(opcodes.TargetObject(m.Msg), m.Msg.Big)
	if r.Opcode == opcodes.LDLM_ENQUEUE {
		p.intent = opcodes.IsIntent(m.Msg)
		if handle := opcodes.LockHandle(m.Msg, 0); handle != 0 && !c.conn.FindsCallbacks() {
			fifo.Put(e.locks, cookie{r.Client, handle}, c)
		}
	}
	e.conclude(m.Time)
}

// Answered takes a reply.
func (e *Evidence) Answered(r *track.RPC, m *dissect.Message) {
	e.config.Message(m)
	if m.Msg == nil || !r.HasOpcode || !r.HasRequest || r.Status != 0 || opcodes.IsCallback(r.Opcode) {
		return
	}
	p := *e.pending.Of(r)
	c := p.of
	if c == nil || c.conn != r.Connection || c.forgotten {
		if c = e.of(r, m.Time); c == nil {
			return
		}
	} else {
		c.used(e, m.Time)
	}
	if opcodes.IsConnect(r.Opcode) {
		e.learned() // it has a name now
		e.conclude(m.Time)
		return
	}
	if p.firstMDT {
		c.claim(e, claim{target{opcodes.MDTTarget, 0}, track.TargetFromService})
	}
	e.located(c, r.Client, p.fid)
	switch r.Opcode {
	case opcodes.LDLM_ENQUEUE:
		// MDT0000 has the index 0, as all MDTs do that are too old to write theirs.
		if index, ok := opcodes.GrantingMDT(m.Msg); ok && p.intent && index != 0 {
			c.claim(e, claim{target{opcodes.MDTTarget, index}, track.TargetFromLock})
		} else if ok && p.intent && !c.zeroLocks {
			c.zeroLocks = true
			e.learned()
		}
	case opcodes.FLD_QUERY, opcodes.SEQ_QUERY:
		switch s, ok := opcodes.SequenceRangeOf(m.Msg); {
		case !ok || s.First < normalSequence:
		case s.Kind == opcodes.AnyTarget:
			c.addSequence(e, s.First)
		default:
			e.locate(location{c, s.First, s.End - 1, claim{target{s.Kind, s.Index}, track.TargetFromFLD}})
		}
	}
	opcodes.LayoutOSTs(m.Msg, func(id opcodes.FileID, ost uint32) {
		fid := track.FID(id)
		e.locate(location{c, fid.Seq, fid.Seq, claim{target{opcodes.OSTTarget, ost}, track.TargetFromLayout}})
		fifo.Put(e.named, object{r.Client, fid}, c)
	})
	var fid track.FID
	b, remote := opcodes.RepliedObject(m.Msg)
	switch fid.Read(b, m.Msg.Big); {
	case !remote:
		e.located(c, r.Client, fid)
	case fid.Seq >= normalSequence:
		fifo.Put(e.named, object{r.Client, fid}, c)
	}
	e.conclude(m.Time)
}

// of returns the record of the connection of an RPC, nil for an RPC without a
// connection. now is the time of the message.
func (e *Evidence) of(r *track.RPC, now int64) *record {
	if r.Connection == nil {
		return nil
	}
	c := e.records[r.Connection]
	if c == nil {
		if len(e.list) >= maxRecords {
			e.forgetSilent()
		}
		c = &record{conn: r.Connection, number: int32(len(e.list)), client: r.Client, first: now}
		e.records[r.Connection] = c
		e.list = append(e.list, c)
		for _, l := range e.lists {
			c.setGiven(l.names)
		}
		e.newest = now
		e.learned()
	}
	c.used(e, now)
	if len(c.servers) < maxServers && !slices.Contains(c.servers, r.Server) {
		c.servers, c.nodes = append(c.servers, r.Server), append(c.nodes, e.node(r.Server))
		e.learned()
	}
	return c
}

// used takes the time of a message on the connection.
func (c *record) used(e *Evidence, now int64) {
	if len(e.lists) > 0 && c.last < e.newest && now >= e.newest {
		e.learned() // the connection is used beside a newer one
	}
	c.last = max(c.last, now)
}

// forgetSilent removes the half of the connections without messages for the longest
// time, with what they proved.
func (e *Evidence) forgetSilent() {
	times := make([]int64, len(e.list))
	for i, c := range e.list {
		times[i] = c.last
	}
	slices.Sort(times)
	limit := times[len(times)/2]
	e.list = slices.DeleteFunc(e.list, func(c *record) bool {
		if c.forgotten = c.last <= limit; c.forgotten {
			delete(e.records, c.conn)
		}
		return c.forgotten
	})
	clear(e.nodes)
	for i, c := range e.list {
		c.number = int32(i)
		for k, nid := range c.servers {
			c.nodes[k] = e.node(nid)
		}
	}
	clear(e.isKnown)
	e.ranges = slices.DeleteFunc(e.ranges, func(l location) bool {
		if !l.by.forgotten {
			e.isKnown[l] = true
		}
		return l.by.forgotten
	})
	maps.DeleteFunc(e.links, func(l link, _ bool) bool { return l.a.forgotten || l.b.forgotten })
}

func (e *Evidence) learned() { e.changed, e.requests = true, 0 }

// node returns the number of a server.
func (e *Evidence) node(nid lnet.NID) int32 {
	n, ok := e.nodes[nid]
	if !ok {
		n = int32(len(e.nodes))
		e.nodes[nid] = n
	}
	return n
}

func (c *record) setKind(e *Evidence, kind opcodes.TargetKind) {
	switch {
	case kind == opcodes.AnyTarget || kind == c.kind:
	case c.kind == opcodes.AnyTarget:
		c.kind = kind
		e.learned()
	case !c.mixed:
		c.mixed = true
		e.learned()
	}
}

// claim adds a target that a message proves.
func (c *record) claim(e *Evidence, new claim) {
	if len(c.claims) < maxClaims && !slices.ContainsFunc(c.claims, func(k claim) bool { return k.target == new.target }) {
		c.claims = append(c.claims, new)
		e.learned()
	}
}

// The sequences of FIDs that are on a known target.
var (
	rootSequence   = opcodes.FidSeq.Number("ROOT")
	dotLustre      = opcodes.FidSeq.Number("DOT_LUSTRE")
	normalSequence = opcodes.FidSeq.Number("NORMAL")
	firstIDIF      = opcodes.FidSeq.Number("IDIF")
	lastIDIF       = opcodes.FidSeq.Number("IDIF_MAX")
)

// located takes an object on the target of a connection, for which a client has
// sent a request.
func (e *Evidence) located(c *record, client lnet.NID, fid track.FID) {
	switch {
	case fid.Seq == rootSequence && fid.OID == 1, fid.Seq == dotLustre:
		c.claim(e, claim{target{opcodes.MDTTarget, 0}, track.TargetFromService})
	case fid.Seq >= firstIDIF && fid.Seq <= lastIDIF:
		c.claim(e, claim{target{opcodes.OSTTarget, uint32(fid.Seq >> 16 & 0xffff)}, track.TargetFromSequence})
	case fid.Seq >= normalSequence:
		c.addSequence(e, fid.Seq)
		by, ok := fifo.Get(e.named, object{client, fid})
		if !ok || by == c || by.forgotten {
			return
		}
		l := link{by, c}
		if by.number > c.number {
			l = link{c, by}
		}
		if !e.links[l] && len(e.links) < maxLinks {
			e.links[l] = true
			e.learned()
		}
	}
}

func (c *record) addSequence(e *Evidence, seq uint64) {
	for i, s := range c.sequences {
		if s == seq {
			c.sequences[0], c.sequences[i] = c.sequences[i], c.sequences[0] // the usual one first
			return
		}
	}
	if len(c.sequences) < maxSequences {
		c.sequences = append(c.sequences, seq)
		e.learned()
	}
}

// locate adds a range of sequences and the target that has it.
func (e *Evidence) locate(l location) {
	if l.first < normalSequence || e.isKnown[l] || len(e.ranges) >= maxRanges {
		return
	}
	e.isKnown[l] = true
	e.ranges = append(e.ranges, l)
	e.learned()
}
