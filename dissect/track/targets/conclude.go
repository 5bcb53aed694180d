package targets

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

// solution is the memory of Conclude, used again.
type solution struct {
	parent   []int32 // of records, to the first one of their file system
	systems  []system
	firsts   []int32   // records, by node: the first one that it serves
	writes   []bool    // by node: its MDTs write their indices into locks
	at       [][]int32 // connections, by node
	numbers  map[ownedSequence]int32
	numbered []int32 // numbers of the sequences of all records, one record after the other
	owners   []owner // of sequences, as messages name them, by number
	learned  []owner // the same, from objects on connections
	found    []owner // by record
	records  []*record
}

// byNode returns an empty value for each node, in the memory of a list.
func byNode[T any](list []T, nodes int, empty T) []T {
	list = slices.Grow(list[:0], nodes)[:nodes]
	for i := range list {
		list[i] = empty
	}
	return list
}

// system is what is known about a file system, at its first record.
type system struct {
	name      string
	ambiguous bool // two names
	listed    listedName
	differ    bool // there are several of these
}

// listedName is the name of a file system by a list of targets, where no connect has one.
type listedName struct {
	text string
	from track.TargetSource
}

// named returns the name of the file system, empty when it is unknown, and the kind of
// list that it comes from, track.TargetUnknown for none.
func (y *system) named() (name string, from track.TargetSource) {
	switch {
	case y.ambiguous:
		return "", track.TargetUnknown
	case y.name != "":
		return y.name, track.TargetUnknown
	case y.differ:
		return "", track.TargetUnknown
	}
	return y.listed.text, y.listed.from
}

type ownedSequence struct {
	system int32 // its first record
	seq    uint64
}

// owner is the target of a sequence or of a connection.
type owner struct {
	claim
	known     bool
	ambiguous bool // two messages contradict each other
}

func (o *owner) add(c claim) {
	if !o.known {
		o.claim, o.known = c, true
	} else if o.target != c.target {
		o.ambiguous = true
	}
}

// The pause between two conclusions, in nanoseconds, and a part for each
// connection: the work grows with their number.
const (
	pause           = 10e6
	pausePerRequest = 20e3
	listPause       = 1e9
)

// conclude calls Conclude when something has changed, after a pause since the last
// time.
func (e *Evidence) conclude(now int64) {
	if e.changed && now >= e.next {
		if now >= e.nextList {
			e.listConfig()
			e.nextList = now + listPause
		}
		e.solve()
		e.next = now + pause + pausePerRequest*int64(len(e.list))
	}
}

// Conclude sets the target of each connection for which the evidence suffices.
func (e *Evidence) Conclude() {
	e.listConfig()
	if e.changed {
		e.solve()
	}
}

// Requests returns how many requests came since the last one that told anything about targets.
func (e *Evidence) Requests() int { return e.requests }

// Complete reports whether the targets of all connections so far are known.
func (e *Evidence) Complete() bool {
	e.Conclude()
	return !slices.ContainsFunc(e.list, func(c *record) bool { return c.conn.Target == "" })
}

// listConfig lists the targets in configuration logs anew when these have changed.
func (e *Evidence) listConfig() {
	if e.config.Changes == e.read {
		return
	}
	e.read = e.config.Changes
	names := NewNames()
	e.config.ClientTargets(names.addTarget)
	e.lists = slices.DeleteFunc(e.lists, func(l list) bool { return l.from == track.TargetFromConfig })
	if len(names.servers) > 0 {
		e.lists = slices.Insert(e.lists, 0, list{names, track.TargetFromConfig})
	}
	e.learned()
}

// solve sets the target of each connection for which the evidence suffices.
func (e *Evidence) solve() {
	s := &e.solution
	s.records = e.list
	e.group(s)
	e.index(s)
	e.changed = false
	for i, c := range e.list {
		if c.isNamed() {
			continue
		}
		uuid, from, index := "", track.TargetUnknown, ""
		name, list := s.systems[s.first(int32(i))].named()
		switch o := s.found[i]; {
		case c.mixed:
		case c.kind == opcodes.MGSTarget:
			uuid, from = mgs, track.TargetFromPortal
		case c.conn.IsFoundAhead() && (!o.known || name == "" && !o.ambiguous):
			continue
		case !o.known || o.ambiguous:
		case name == "":
			index = o.target.String()
		case list != track.TargetUnknown:
			uuid, from = c.uuid(name, o.target), list
		default:
			uuid, from = c.uuid(name, o.target), o.from
		}
		if c.conn.TargetUUID != uuid {
			c.conn.SetTarget(uuid, from)
		}
		c.conn.TargetIndex = index
	}
}

// uuid returns the UUID of a target, which the connection may already have.
func (c *record) uuid(system string, t target) string {
	if n := c.name(); n.ok && n.system == system && n.target == t && strings.HasSuffix(c.conn.TargetUUID, uuidSuffix) {
		return c.conn.TargetUUID
	}
	return system + "-" + t.String() + uuidSuffix
}

// group finds which connections are of the same file system, and its name.
func (e *Evidence) group(s *solution) {
	s.parent, s.systems = s.parent[:0], s.systems[:0]
	const none = -1
	s.firsts = byNode(s.firsts, len(e.nodes), none)
	for i, c := range e.list {
		s.parent = append(s.parent, int32(i))
		s.systems = append(s.systems, system{})
		if c.kind == opcodes.MGSTarget || c.conn.Target == mgs {
			continue // it may serve several
		}
		for _, node := range c.nodes {
			if first := s.firsts[node]; first != none {
				s.join(first, int32(i))
			} else {
				s.firsts[node] = int32(i)
			}
		}
	}
	for l := range e.links {
		s.join(l.a.number, l.b.number)
	}
	for i, c := range e.list {
		if n := c.name(); n.ok && c.isNamed() {
			s.systems[s.first(int32(i))].addName(n.system)
		}
	}
	for i, c := range e.list {
		for _, nid := range c.servers {
			for _, l := range e.lists {
				s.systems[s.first(int32(i))].addListed(listedName{l.names.system(nid), l.from})
			}
		}
	}
	byName := make(map[string]int32)
	for i := range s.systems {
		first := s.first(int32(i))
		name, _ := s.systems[first].named()
		if int(first) != i || name == "" {
			continue
		}
		if other, ok := byName[name]; ok {
			s.join(other, first)
		} else {
			byName[name] = first
		}
	}
}

func (y *system) addListed(name listedName) {
	switch {
	case name.text == "":
	case y.listed.text == "":
		y.listed = name
	case y.listed.text != name.text:
		y.differ = true
	}
}

func (y *system) addName(name string) {
	y.ambiguous = y.ambiguous || y.name != "" && y.name != name
	y.name = name
}

// first returns the first record of the file system of a record.
func (s *solution) first(i int32) int32 {
	for s.parent[i] != i {
		s.parent[i] = s.parent[s.parent[i]]
		i = s.parent[i]
	}
	return i
}

// join makes two records part of one file system. The one with the lower number
// becomes the first, unless only the other has a name.
func (s *solution) join(a, b int32) {
	if a, b = s.first(a), s.first(b); a == b {
		return
	}
	if a > b {
		a, b = b, a
	}
	s.parent[b] = a
	other := s.systems[b]
	if other.name != "" {
		s.systems[a].addName(other.name)
		s.systems[a].ambiguous = s.systems[a].ambiguous || other.ambiguous
	}
	s.systems[a].addListed(other.listed)
	s.systems[a].differ = s.systems[a].differ || other.differ
}

// index finds the kind and index of the target of each connection: first from what
// messages prove about the connection itself, then from the sequences that it
// has objects of, as long as that adds anything. A sequence that is on two
// targets proves nothing, so what it has proved before is found anew.
func (e *Evidence) index(s *solution) {
	if s.numbers == nil {
		s.numbers = make(map[ownedSequence]int32)
	}
	clear(s.numbers)
	s.owners, s.numbered = s.owners[:0], s.numbered[:0]
	e.firstMDTs(s)
	for i, c := range e.list {
		for _, seq := range c.sequences {
			q := ownedSequence{s.first(int32(i)), seq}
			n, ok := s.numbers[q]
			if !ok {
				n = int32(len(s.owners))
				s.numbers[q] = n
				s.owners = append(s.owners, e.locationOf(s, q))
			}
			s.numbered = append(s.numbered, n)
		}
	}
	for s.combine(e) {
	}
	for _, l := range e.lists {
		s.list(e, l)
	}
	for i, c := range e.list {
		if o := &s.found[i]; c.kind != opcodes.AnyTarget && o.kind != c.kind {
			o.ambiguous = true
		}
	}
}

// firstMDTs finds connections to MDT0000 by the index 0 in their locks: another MDT
// of the same node writes its index, so the node has a release that does.
func (e *Evidence) firstMDTs(s *solution) {
	s.writes = byNode(s.writes, len(e.nodes), false)
	for _, c := range e.list {
		for _, k := range c.claims {
			if k.from == track.TargetFromLock {
				for _, node := range c.nodes {
					s.writes[node] = true
				}
			}
		}
	}
	for _, c := range e.list {
		if c.zeroLocks && slices.ContainsFunc(c.nodes, func(node int32) bool { return s.writes[node] }) {
			c.claim(e, claim{target{opcodes.MDTTarget, 0}, track.TargetFromLock})
		}
	}
}

// locationOf returns the target of a sequence as messages name it.
func (e *Evidence) locationOf(s *solution, q ownedSequence) (o owner) {
	for k := range e.ranges {
		if l := &e.ranges[k]; l.first <= q.seq && q.seq <= l.last && s.first(l.by.number) == q.system {
			o.add(l.claim)
		}
	}
	return o
}

// combine finds the target of each connection. It reports whether a sequence turned
// out to be on two targets.
func (s *solution) combine(e *Evidence) (again bool) {
	s.found = s.found[:0]
	for _, c := range e.list {
		o := owner{}
		if n := c.name(); n.ok && c.isNamed() {
			o.add(claim{n.target, c.conn.TargetFrom})
		} else {
			for _, k := range c.claims {
				o.add(k)
			}
		}
		s.found = append(s.found, o)
	}
	s.learned = byNode(s.learned, len(s.owners), owner{})
	for more := true; more; {
		more = false
		numbered := s.numbered
		for i, c := range e.list {
			o := &s.found[i]
			for _, n := range numbered[:len(c.sequences)] {
				owner := s.owners[n]
				if !owner.known {
					owner = s.learned[n]
				}
				switch {
				case owner.ambiguous || o.ambiguous:
				case !owner.known:
					if o.known {
						s.learned[n].add(claim{o.target, track.TargetFromSequence})
						more = true
					}
				case !o.known:
					o.add(owner.claim)
					more = true
				case o.target != owner.target:
					owner.ambiguous = true
					s.owners[n] = owner
					again = true
				}
			}
			numbered = numbered[len(c.sequences):]
		}
	}
	return again
}

// list finds targets in a list: those that are the only ones of their kind
// on the node of the server. The list is out of date, or has not all, when a
// connection to another target of that kind leads to the node, or a client uses two
// connections there at once.
func (s *solution) list(e *Evidence, from list) {
	s.at = s.at[:0]
	found := make(map[int32]claim)
	for i, c := range e.list {
		if s.found[i].known || c.mixed {
			continue
		}
		l, ok := c.listed(from.names)
		if name, _ := s.systems[s.first(int32(i))].named(); !ok || name != l.system {
			continue
		}
		if len(s.at) == 0 {
			s.connectionsAt(e)
		}
		for _, node := range c.nodes {
			ok = ok && !slices.ContainsFunc(s.at[node], func(k int32) bool { return int(k) != i && s.refutes(k, c, l.target) })
		}
		if ok {
			found[int32(i)] = claim{l.target, from.from}
		}
	}
	for i, c := range found {
		s.found[i].add(c)
	}
}

// connectionsAt lists the connections of each node.
func (s *solution) connectionsAt(e *Evidence) {
	s.at = slices.Grow(s.at[:0], len(e.nodes))[:len(e.nodes)]
	for i := range s.at {
		s.at[i] = s.at[i][:0]
	}
	for i, c := range e.list {
		for _, node := range c.nodes {
			s.at[node] = append(s.at[node], int32(i))
		}
	}
}

// refutes reports whether a connection shows that another one to the same node need
// not lead to the only target of its kind in the list.
func (s *solution) refutes(k int32, c *record, listed target) bool {
	switch other := s.records[k]; {
	case other.kind != c.kind:
		return false
	case s.found[k].known:
		return s.found[k].target != listed
	default:
		return other.client == c.client && other.first <= c.last && c.first <= other.last
	}
}

// listed returns the target of a connection by a list.
func (c *record) listed(names *Names) (l listed, ok bool) {
	for i, nid := range c.servers {
		one, found := names.only(nid, c.kind)
		if !found || i > 0 && one != l {
			return l, false
		}
		l, ok = one, true
	}
	return l, ok
}

// targetName is the name of the target of a connection, and what it says.
type targetName struct {
	text   string
	system string
	target
	ok bool // it is one of an MDT or OST
}

// name returns the name of the target that the connection has now.
func (c *record) name() *targetName {
	if n := &c.parsed; n.text != c.conn.Target {
		n.text = c.conn.Target
		n.system, n.target, n.ok = parseTarget(n.text)
	}
	return &c.parsed
}

// parseTarget splits the name of a target, such as lustre-OST0001.
func parseTarget(name string) (system string, t target, ok bool) {
	at := len(name) - len("-OST0001")
	if at <= 0 {
		return "", t, false
	}
	switch name[at : at+4] {
	case "-MDT":
		t.kind = opcodes.MDTTarget
	case "-OST":
		t.kind = opcodes.OSTTarget
	default:
		return "", t, false
	}
	for _, c := range []byte(name[at+4:]) {
		digit := strings.IndexByte("0123456789abcdef", c)
		if digit < 0 {
			return "", t, false
		}
		t.index = t.index<<4 | uint32(digit)
	}
	return name[:at], t, true
}

const uuidSuffix = "_UUID"

// String returns the end of the target's name, such as OST0001.
func (t target) String() string {
	kind := "MDT"
	if t.kind == opcodes.OSTTarget {
		kind = "OST"
	}
	return fmt.Sprintf("%s%04x", kind, t.index)
}
