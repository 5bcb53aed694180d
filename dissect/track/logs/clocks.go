package logs

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

// clock is what is known about the node of a log, and its clock.
type clock struct {
	self     nids // NIDs of the node
	given    bool // on the command line
	serves   bool // a request of the capture, which proves whose log it is
	compared bool
	foreign  bool  // the xids that it shares with the capture are of other RPCs
	offset   int64 // to add to the times of the log
	delay    int64 // between it and what it was compared with: the offset is not better known
	comparison
}

// Slack of times by RPCs of one clock, by clocks that were compared, and by others.
const (
	agreedSlack   = int64(50 * time.Millisecond) // clocks drift while a log is written
	comparedSlack = int64(time.Second)
	otherSlack    = int64(time.Minute)
)

// isAbout reports whether a line with the xid of an RPC may be about it: one about a request
// that the node served, or sent. A node gives each xid to one request, so that the xid suffices
// in its log.
func (l *log) isAbout(served bool, peer lnet.NID, opcode uint32, s *Subject) bool {
	switch {
	case l.foreign, peer.IsLoopback(), s.HasOpcode && opcode != s.Opcode:
		return false
	case served:
		return peer == s.Client && l.self.may(s.Server)
	}
	return l.self.has(s.Client) || peer == s.Server && l.self.may(s.Client)
}

// isAt reports whether a call may belong to an RPC that took place in a stretch of time.
func (l *log) isAt(c *debuglog.Call, begin, end int64) bool {
	slack := otherSlack
	if l.compared {
		slack = comparedSlack + l.delay
	}
	last := c.End()
	switch {
	case c.Served:
		last = c.Begin()
	case c.Failed != 0: // what TCP has queued is sent long after ptlrpc has given up
		last = begin
	}
	return c.Begin() <= end+slack && last >= begin-slack
}

// nids is the NIDs of a node: the few that it has.
type nids []lnet.NID

func (n nids) has(nid lnet.NID) bool { return slices.Contains(n, nid) }

// may reports whether a NID may be one of the node: it is, or none is known.
func (n nids) may(nid lnet.NID) bool { return len(n) == 0 || n.has(nid) }

func (n nids) first() (nid lnet.NID) {
	if len(n) > 0 {
		nid = n[0]
	}
	return nid
}

func (n *nids) add(nid lnet.NID) {
	if nid != (lnet.NID{}) && !nid.IsLoopback() && !n.has(nid) {
		*n = append(*n, nid)
	}
}

// layer is where times of an RPC are from: requests pass the layers from the client to the
// server, replies back.
type layer uint8

const (
	clientLog layer = iota
	onWire
	serverLog
)

// view is an RPC as it was seen in one layer.
type view struct {
	opcode         uint32
	layer          layer
	client, server lnet.NID // the zero NID: unknown
	begin, end     int64    // of the work of the layers below
	log            *log     // nil: a capture
	uuid           string   // of the client; empty: unknown
	next           *view    // of another log, with the same xid
}

// Head is the first RPCs of a capture, for comparing clocks.
type Head struct {
	views map[uint64]*view // nil: several RPCs have the xid
}

// maxHead RPCs of a capture are compared with logs. Without a capture, so many of a log or
// eight times as many of all logs are compared with each other.
const maxHead = 20000

// Add adds an RPC that has ended. It returns false when no more are needed.
func (h *Head) Add(r *track.RPC) bool {
	if h.views == nil {
		h.views = map[uint64]*view{}
	}
	if r.HasRequest && r.HasReply && r.HasOpcode && len(h.views) < maxHead {
		v := &view{r.Opcode, onWire, r.Client, r.Server, r.Requested().Time, r.Replied().Time, nil, "", nil}
		if _, known := h.views[r.XID]; known {
			v = nil // they cannot be told apart
		}
		h.views[r.XID] = v
	}
	return len(h.views) < maxHead
}

// compare finds the clocks and nodes of logs: by the RPCs of a capture, and by those that
// several logs have. Without a capture, head is nil, and the clocks agree with that of the
// first log that has RPCs in common with others.
func compare(all []*log, head *Head) ([]string, error) {
	s := sampler{head: head}
	for _, l := range all {
		l.comparison = comparison{bound: bound{math.MinInt64, math.MaxInt64}}
		if err := s.read(l); err != nil {
			return nil, err
		}
	}
	samples := s.samples
	if s.head != nil && s.apart { // a log that has nothing in common with the capture may have with others
		others := sampler{}
		for _, l := range all {
			if err := others.read(l); err != nil {
				return nil, err
			}
		}
		for i, views := range others.samples {
			maps.Copy(views, samples[i])
			samples[i] = views
		}
	}
	byXID := map[uint64]*view{}
	for _, views := range samples {
		for xid, v := range views {
			v.next, byXID[xid] = byXID[xid], v
		}
	}
	know := func(views map[uint64]*view) {
		for xid, o := range views {
			for v := byXID[xid]; v != nil && o != nil; v = v.next {
				if v.isSame(o) {
					v.log.comparison.add(v, o)
				}
			}
		}
	}
	if head != nil {
		know(head.views)
	}
	var notes []string
	for left := slices.Clone(all); len(left) > 0; {
		at := slices.IndexFunc(left, func(l *log) bool { return l.setClock(samples[l.number]) })
		if at < 0 {
			at = slices.IndexFunc(left, func(l *log) bool { return l.setClockByMost(samples[l.number]) })
		}
		if at < 0 {
			at = 0
			left[0].foreign = left[0].isForeign()
		}
		l := left[at]
		switch {
		case l.compared:
			notes = append(notes, fmt.Sprintf("%s: its clock is %v ahead (delay %v), its node is %v",
				l.Name, -time.Duration(l.offset), time.Duration(l.delay), []lnet.NID(l.self)))
		case l.foreign:
			notes = append(notes, l.Name+": is not used, as it is of another node: it shares xids with the capture, but at other times")
		case head != nil:
			notes = append(notes, l.Name+": has no RPC in common with the beginning of the capture, or with other logs; the clocks are assumed equal")
		}
		if !l.foreign {
			know(samples[l.number])
		}
		left = slices.Delete(left, at, at+1)
	}
	for _, l := range all {
		l.comparison = comparison{}
	}
	return notes, nil
}

// sampler chooses RPCs of logs: those that a capture has too, or without a capture some of
// all logs, the same in each.
type sampler struct {
	head    *Head
	samples []map[uint64]*view // of the logs that were read
	log     *log               // that is read
	event   debuglog.Event
	calls   map[uint64][]debuglog.Call
	known   int    // RPCs in samples
	apart   bool   // a log of RPCs has none of the capture
	mask    uint64 // of the bits of the xid's hash that are 0 in those chosen
}

// read reads the RPCs of a log.
func (s *sampler) read(l *log) error {
	r, err := debuglog.Open(l.Path)
	if err != nil {
		return err
	}
	defer r.Close()
	s.log, s.calls, s.event = l, map[uint64][]debuglog.Call{}, debuglog.Event{}
	// Of logs without a capture, all is read: they may begin at different times. The console has no RPCs.
	for err == nil && (s.head == nil || len(s.calls) < maxHead/4) && !s.event.Console {
		if err = r.Next(&s.event); err == nil { // an error will be reported when the log is read again
			s.take()
		}
	}
	views := s.views()
	s.samples, s.known = append(s.samples, views), s.known+len(views)
	s.apart = s.apart || len(views) == 0 && !s.event.Console
	return nil
}

func (s *sampler) chosen(xid uint64) bool {
	if s.head != nil {
		return s.head.views[xid] != nil
	}
	const mix = 0x9e3779b97f4a7c15
	return (xid*mix>>32)&s.mask == 0
}

func (s *sampler) take() {
	e := &s.event
	if e.Kind > debuglog.Handled || e.Peer.IsLoopback() || !s.chosen(e.XID) {
		return
	}
	list := s.calls[e.XID]
	for i := range list {
		if list[i].Take(e, 0) {
			return
		}
	}
	s.calls[e.XID] = append(list, debuglog.NewCall(e, s.log.number, 0))
	if s.head == nil && len(s.calls)+s.known/8 > maxHead {
		s.mask, s.known = s.mask<<1|1, 0
		maps.DeleteFunc(s.calls, func(xid uint64, _ []debuglog.Call) bool { return !s.chosen(xid) })
		for _, views := range s.samples {
			maps.DeleteFunc(views, func(xid uint64, _ *view) bool { return !s.chosen(xid) })
			s.known += len(views)
		}
	}
}

// views returns the RPCs that the log has both ends of, and once.
func (s *sampler) views() map[uint64]*view {
	views := map[uint64]*view{}
	for xid, list := range s.calls {
		if len(list) > 1 {
			continue
		}
		switch c := &list[0]; {
		case c.Served && c.Handling != 0 && c.Handled != 0:
			views[xid] = &view{c.Opcode, serverLog, c.Peer, lnet.NID{}, c.Arrived, c.Handling, s.log, uuid(c), nil}
		case !c.Served && c.Sent != 0 && c.Completed != 0 && c.Failed == 0:
			views[xid] = &view{c.Opcode, clientLog, lnet.NID{}, c.Peer, c.Sent, c.Completed, s.log, uuid(c), nil}
		}
	}
	return views
}

// comparison is how far the clock of a log is ahead, by what the log has in common with
// others. A request cannot arrive before it was sent: each RPC bounds the difference from
// both sides, and the fastest ones bound it best.
type comparison struct {
	bound
	rpcs []comparedRPC
}

// bound is how far a clock is ahead at least, and at most.
type bound struct{ least, most int64 }

// comparedRPC is an RPC that a log and another layer have.
type comparedRPC struct {
	bound
	v, o *view
}

// setClock sets the clock of a log by what it was compared with. It reports whether there
// is anything.
func (l *log) setClock(views map[uint64]*view) bool {
	x := &l.comparison
	if l.delay = x.most/2 - x.least/2; len(x.rpcs) == 0 || l.delay < -comparedSlack {
		return false
	}
	b := x.bound
	if most, n := x.agreed(); l.delay < 0 && 2*n > len(x.rpcs) { // an RPC of another node has the xid of one
		b = most
	}
	l.apply(b, comparedSlack, views)
	return true
}

// setClockByMost sets the clock of a log by the RPCs that agree, if these are more
// than half: others were sent again, or the clock was set. It reports whether they are.
func (l *log) setClockByMost(views map[uint64]*view) bool {
	b, n := l.comparison.agreed()
	if 2*n <= len(l.comparison.rpcs) {
		return false
	}
	l.apply(b, agreedSlack, views)
	return true
}

// isForeign reports whether a log is of another node, as nodes that start in the same second give the same xids: few of the RPCs
// that it shares with others agree.
func (l *log) isForeign() bool {
	_, n := l.comparison.agreed()
	return n > 0 && !l.given
}

// apply sets the clock of a log, and the nodes of the logs that have RPCs within slack of it.
func (l *log) apply(b bound, slack int64, views map[uint64]*view) {
	l.compared, l.offset, l.delay = true, -(b.least/2 + b.most/2), absolute(b.most/2-b.least/2)
	l.elect(-l.offset, slack)
	for _, v := range views {
		v.begin, v.end = v.begin+l.offset, v.end+l.offset
	}
}

// agreed returns the bound that most RPCs have in common but for agreedSlack, or less where more
// than half agree on that, and how many these are.
func (x *comparison) agreed() (most bound, n int) {
	for slack := agreedSlack / 64; slack <= agreedSlack && 2*n <= len(x.rpcs); slack *= 8 {
		most, n = x.agreedBut(slack)
	}
	return most, n
}

func (x *comparison) agreedBut(slack int64) (most bound, n int) {
	var from, to []int64
	for _, r := range x.rpcs {
		if r.least-slack <= r.most+slack {
			from, to = append(from, r.least-slack), append(to, r.most+slack)
		}
	}
	slices.Sort(from)
	slices.Sort(to)
	ended := 0
	for i, t := range from {
		for to[ended] < t {
			ended++
		}
		if begun := i + 1 - ended; begun > n {
			most, n = bound{t + slack, to[ended] - slack}, begun
		}
	}
	return most, n
}

// isSame reports whether two views with the same xid are of one RPC.
func (v *view) isSame(o *view) bool {
	same := func(a, b lnet.NID) bool { return a == b || a == (lnet.NID{}) || b == (lnet.NID{}) }
	return v.layer != o.layer && v.opcode == o.opcode && same(v.client, o.client) && same(v.server, o.server) && sameUUID(v.uuid, o.uuid)
}

// uuid returns the uuid of the client that sent a request, as both of its nodes log it:
// nodes that start at the same time have the same xids. It is empty where it is unknown, or
// the request is a callback.
func uuid(c *debuglog.Call) string {
	if c.UUID == "0" || opcodes.IsCallback(c.Opcode) {
		return ""
	}
	return c.UUID
}

func sameUUID(a, b string) bool { return a == b || a == "" || b == "" }

// add takes an RPC that a log and another layer have.
func (x *comparison) add(v, o *view) {
	begin, end := v.begin-o.begin, v.end-o.end
	b := bound{begin, end}
	if v.layer > o.layer { // o is around v
		b = bound{end, begin}
	}
	x.rpcs = append(x.rpcs, comparedRPC{b, v, o})
	x.least, x.most = max(x.least, b.least), min(x.most, b.most)
}

// vote is a node that a log may be of.
type vote struct {
	log  *log
	node lnet.NID
}

// elect sets the nodes of logs: those that more than a few RPCs prove, of those within slack of a
// clock that is ahead by so much.
func (x *comparison) elect(ahead, slack int64) {
	votes := map[vote]int{}
	most := map[*log]int{}
	count := func(v, o *view) {
		if v.log == nil {
			return
		}
		k := vote{v.log, o.client}
		if v.layer == serverLog {
			k.node = o.server
		}
		votes[k]++
		most[v.log] = max(most[v.log], votes[k])
	}
	for _, r := range x.rpcs {
		if r.least-slack <= ahead && ahead <= r.most+slack {
			count(r.v, r.o)
			count(r.o, r.v)
		}
	}
	var list []*vote
	for v := range votes {
		list = append(list, &v)
	}
	slices.SortFunc(list, func(a, b *vote) int {
		return cmp.Or(votes[*b]-votes[*a], bytes.Compare(a.node.Append(nil), b.node.Append(nil)))
	})
	for _, v := range list {
		if !v.log.given && votes[*v]*10 >= most[v.log] {
			v.log.self.add(v.node)
		}
	}
}
