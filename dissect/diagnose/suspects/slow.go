package suspects

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/facts"
	"github.com/lshark/lshark/opcodes"
)

// SlowStream are the requests for an operation of a job of a client to a target while they were slow: most took far longer than the same
// operation at other times, or at other targets, though none waited for seconds.
type SlowStream struct {
	facts.Span // from the first to the last that was late
	*facts.Stream
	facts.Sums // of all
	N, Late    int
	LateTime   int64 // nanoseconds of all that were late
	limit      int64 // nanoseconds from which one is late
	Usual      int64 // nanoseconds at other times, or at other targets of the kind
	Before     bool  // Usual is of the same stream at another time
	Disturbed  int   // of them, something was sent again
	Slowest    facts.Bin
}

// The times and numbers of requests that are slow.
const (
	slowRatio  = 4 // times what is usual
	slowFloor  = 100 * 1e6
	queueFloor = 10 * 1e6   // that requests wait for a thread on average, by the log of the server
	queueRatio = 3          // times what threads work for them
	minLate    = 6          // requests
	minSlow    = 3 * second // from the first to the last
	slowPause  = 6 * second // between two late ones
	goodShare  = 0.6        // of requests that are in time where nothing is wrong
	minGood    = 5          // requests
	mostlyLate = 0.7
)

// Slow returns groups of requests that were slow: of each, all for the operations and jobs of the clients to the targets, once each.
func (j *Judge) Slow() (list []*Group) {
	j.nearest = j.Facts.Nearest()
	var all []*Trouble
	for s := range j.Facts.Streams {
		if s.IsPing() || isUpkeep(s.Opcode) {
			continue
		}
		for _, x := range j.slowIn(s) {
			t := &Trouble{Span: x.Span, Slow: x}
			j.judgeSlow(t)
			all = append(all, t)
		}
	}
	slices.SortStableFunc(all, func(a, b *Trouble) int { return cmp.Compare(a.Span.From, b.Span.From) })
	var enough, few []*Trouble // few: with too few requests to judge alone
	for _, t := range all {
		if t.Slow.isEnough() {
			enough = append(enough, t)
		} else {
			few = append(few, t)
		}
	}
	list = j.slowGroups(enough)
	if !j.OnlyLogs { // one log has too little of what others did meanwhile
		list = append(list, slices.DeleteFunc(j.slowGroups(few), func(g *Group) bool { return !g.isEnough() })...)
	}
	slices.SortStableFunc(list, func(a, b *Group) int { return cmp.Compare(a.From, b.From) })
	return list
}

// slowGroups divides slow requests into groups that one place can explain.
func (j *Judge) slowGroups(list []*Trouble) []*Group {
	groups, rest := group(list, slowPause)
	for i, g := range groups {
		others := slices.Clone(rest)
		for _, o := range groups[i+1:] {
			others = append(others, o.Troubles...)
		}
		j.recount(g, others)
	}
	return groups
}

// usualElsewhere returns what an operation takes at the target, or at the fastest one of its kind.
func (j *Judge) usualElsewhere(s *facts.Stream) int64 {
	key := facts.Kind{Target: s.Target(), Operation: s.Operation}
	if usual, ok := j.usual[key]; ok {
		return usual
	}
	usual := j.Facts.Usual(key.Target, s.Operation)
	if kind := targetKind(s); kind != "" {
		for o := range j.Facts.Streams {
			if o.Operation == s.Operation && o.Target() != key.Target && targetKind(o) == kind && o.Replies() >= minGood {
				usual = min(usual, j.Facts.Usual(o.Target(), o.Operation))
			}
		}
	}
	if j.usual == nil {
		j.usual = make(map[facts.Kind]int64)
	}
	j.usual[key] = usual
	return usual
}

// targetKind returns OST or MDT, empty where neither the operation nor the name of the target shows it.
func targetKind(s *facts.Stream) string {
	switch op := s.Operation.String(); {
	case strings.HasPrefix(op, "OST_"):
		return "OST"
	case strings.HasPrefix(op, "MDS_"):
		return "MDT"
	}
	index := s.Target().Label()
	if i := strings.LastIndexByte(index, '-'); i >= 0 {
		index = index[i+1:]
	}
	if len(index) <= len("OST") {
		return ""
	}
	return index[:len("OST")]
}

// slowIn returns the times in which the requests of a stream were slow.
func (j *Judge) slowIn(s *facts.Stream) (list []*SlowStream) {
	limit := j.limitOf(s)
	if j.usualElsewhere(s) == 0 {
		return nil
	}
	var x *SlowStream
	finish := func() {
		if x != nil && x.Late > 1 && float64(x.Late) >= mostlyLate*float64(x.N) {
			list = append(list, x)
		}
		x = nil
	}
	for i := range s.Bins {
		b := &s.Bins[i]
		if x != nil && b.From-x.Span.To > slowPause {
			finish()
		}
		switch n, late, _ := lateOf(b, limit); {
		case 2*late >= n:
			if x == nil {
				x = j.newSlowStream(s)
			}
			x.count(b)
		case x != nil && n-late >= 3:
			finish()
		case x != nil && late > 0:
			x.count(b)
		}
	}
	finish()
	return list
}

// isEnough reports whether so many requests were late for so long that they are no chance.
func (x *SlowStream) isEnough() bool { return x.Late >= minLate && x.Length() >= minSlow }

// isEnough reports the same of the requests of several streams, each of which has few.
func (g *Group) isEnough() bool {
	n, late := 0, 0
	for _, t := range g.Troubles {
		n, late = n+t.Slow.N, late+t.Slow.Late
	}
	return late >= minLate && float64(late) >= mostlyLate*float64(n) && g.Length() >= minSlow
}

func (j *Judge) newSlowStream(s *facts.Stream) *SlowStream {
	return &SlowStream{Span: facts.Span{From: math.MaxInt64, To: math.MinInt64}, Stream: s, Usual: j.usualElsewhere(s), limit: j.limitOf(s)}
}

// lateOf counts the requests of a bin, and those that were late, with all their latencies.
func lateOf(b *facts.Bin, limit int64) (n, late int, ns int64) {
	n = b.N()
	late, ns = b.Beyond(limit)
	if waited(&b.Sums, n) {
		if l, t := b.Beyond(queueFloor); l > late {
			late, ns = l, t
		}
	}
	return n, late, ns
}

// count adds the requests of a bin.
func (x *SlowStream) count(b *facts.Bin) {
	n, late, ns := lateOf(b, x.limit)
	x.N, x.Late, x.LateTime, x.Disturbed = x.N+n, x.Late+late, x.LateTime+ns, x.Disturbed+int(b.Disturbed)
	x.Sums.Add(&b.Sums)
	if late == 0 {
		return
	}
	from, to := b.Start, b.To
	if late < n {
		from, to = b.Request().Time, b.Reply().Time
	}
	x.From, x.To = min(x.From, from), max(x.To, to)
	if b.Slowest > x.Slowest.Slowest {
		x.Slowest = *b
	}
}

// recount takes all that a group is said to be about into it, so that its numbers are of the same requests. What is slow for another
// cause remains in another group.
func (j *Judge) recount(g *Group, others []*Trouble) {
	members, span := g.Troubles, g.Span
	has := func(same func(x *SlowStream) bool) bool {
		return slices.ContainsFunc(members, func(t *Trouble) bool { return same(t.Slow) })
	}
	unnamed := has(func(x *SlowStream) bool { return !x.Target().IsKnown() })
	g.Troubles, g.Span = nil, facts.Span{From: math.MaxInt64, To: math.MinInt64}
	for s := range j.Facts.Streams {
		if !has(func(x *SlowStream) bool { return x.Stream == s }) && (slices.ContainsFunc(others, func(t *Trouble) bool { return t.Slow.Stream == s }) ||
			!has(func(x *SlowStream) bool { return x.Operation == s.Operation }) || !has(func(x *SlowStream) bool { return x.Client == s.Client }) ||
			!has(func(x *SlowStream) bool { return x.Job == s.Job }) ||
			!has(func(x *SlowStream) bool { return x.Target() == s.Target() || unnamed && x.Server == s.Server })) {
			continue
		}
		x := j.within(s, span)
		if x.N > 0 {
			g.Troubles = append(g.Troubles, &Trouble{Span: x.Span, Slow: x})
		}
		if x.Late > 0 {
			g.From, g.To = min(g.From, x.Span.From), max(g.To, x.Span.To)
		}
	}
}

// within returns the requests of a stream that were answered in a span.
func (j *Judge) within(s *facts.Stream, span facts.Span) *SlowStream {
	x := j.newSlowStream(s)
	outside := 0 // in time
	for i := range s.Bins {
		if b := &s.Bins[i]; b.To >= span.From && b.From <= span.To {
			x.count(b)
		} else {
			outside += b.Within(x.limit)
		}
	}
	x.Before = outside >= minGood
	return x
}

// waited reports whether n requests waited for threads far longer than threads worked for them, by the log of the server.
func waited(s *facts.Sums, n int) bool {
	return s.Queued >= int64(n)*queueFloor && s.Queued >= queueRatio*s.Worked
}

// Waited reports whether the requests waited for threads, by the log of the server.
func (x *SlowStream) Waited() bool { return waited(&x.Sums, x.N) }

// limitOf returns from when on the requests of a stream are late: those of a client that is far away take longer all the time.
func (j *Judge) limitOf(s *facts.Stream) int64 {
	return max(lateLimit(j.usualElsewhere(s)), slowRatio*roundTrips*j.nearest[facts.Pair{Client: s.Client, Server: s.Server}])
}

// roundTrips is how often bulk data pass the network: the request, what asks for the data, and the data or the reply.
const roundTrips = 3

func lateLimit(usual int64) int64 { return max(slowRatio*usual, slowFloor) }

// fromMemory are operations that need no storage, as far as the server has what they ask for in its cache.
var fromMemory = []uint32{opcodes.OBD_PING, opcodes.MDS_GETATTR, opcodes.MDS_GETXATTR}

// judgeSlow finds the suspects of a slow stream: a place is excluded when most of what it would hurt, too, was in time.
func (j *Judge) judgeSlow(t *Trouble) {
	x := t.Slow
	target := x.Target()
	path, lnet := diagnose.Between(diagnose.AtPath, x.Client, x.Server), diagnose.Between(diagnose.AtLNet, x.Client, x.Server)
	queue := diagnose.Place{Kind: diagnose.AtQueue, Node: x.Server}
	storage := diagnose.Place{Kind: diagnose.AtStorage, Node: x.Server, Target: target.Label()}
	client, sentByClient := diagnose.Place{Kind: diagnose.AtNode, Node: x.Client}, func(s *facts.Stream) bool {
		return s.Server == x.Client || s.Client == x.Client && s.Server != x.Server && slices.Contains(withData, s.Opcode)
	}
	if delayed := x.onTheWire(); delayed != "" {
		t.Suspects = []diagnose.Place{path}
		t.clear(storage, x.Slowest.Reply(), delayed)
		if 2*x.Wire < x.lost() { // a node that has no time for what arrives loses frames, and sends data late
			j.judgePlace(t, client, sentByClient)
		}
		return
	}
	if most := 2*x.Queued >= x.lost(); most || x.Waited() {
		t.Suspects = []diagnose.Place{queue}
		if !most { // what delayed them besides was not long enough to be judged
			t.Suspects = append(t.Suspects, diagnose.Place{Kind: diagnose.AtNode, Node: x.Server}, path, lnet)
		}
		t.clear(storage, x.Slowest.Reply(), x.ofThese("waited %.3g s in all for a thread", x.Queued))
		return
	}
	worked := 2*x.Worked >= x.lost()
	text := x.ofThese("had %.3g s of work of threads in all", x.Worked)
	if worked && !waitsForData(x.Operation) { // a thread that works may wait for the data
		t.clear(path, x.Slowest.Reply(), text)
		t.clear(lnet, x.Slowest.Reply(), text)
	} else {
		j.judgePlace(t, path, func(s *facts.Stream) bool { // as much data in the same direction, of which logs do not know how much
			return s.Client == x.Client && s.Server == x.Server && (!slices.Contains(withData, x.Opcode) || s.Opcode == x.Opcode && !x.Connection.IsLog()) &&
				(!waitsForData(x.Operation) || waitsForData(s.Operation))
		})
		j.judgePlace(t, lnet, func(s *facts.Stream) bool { return s.Client == x.Client && s.Server == x.Server })
	}
	if 2*x.Disturbed >= x.Late || x.Connection.IsLog() && slices.Contains(withData, x.Opcode) { // logs do not show what was sent again
		j.judgePlace(t, client, sentByClient)
	}
	j.judgePlace(t, diagnose.Place{Kind: diagnose.AtNode, Node: x.Server}, func(s *facts.Stream) bool { return s.Server == x.Server })
	if opcodes.IsCallback(x.Opcode) { // a client answers it at once, and needs nobody for that
		return
	}
	switch {
	case worked:
		t.clear(queue, x.Slowest.Reply(), text)
	case !x.HasJob: // a limit may be on one that was not captured
		t.Suspects = append(t.Suspects, queue)
	default:
		j.judgePlace(t, queue, func(s *facts.Stream) bool {
			return s.Server == x.Server && s.Portal == x.Portal && (x.Portal != 0 || s.Operation == x.Operation) && s.Job == x.Job && !s.IsPing()
		})
	}
	if !slices.Contains(fromMemory, x.Opcode) {
		j.judgePlace(t, storage, func(s *facts.Stream) bool {
			return s.Operation == x.Operation && !mayBeCached(x.Operation) && s.Target() == target && (target.IsKnown() || target.Handle != 0) // logs of servers have no target
		})
	}
	if !slices.Contains(lockFree, x.Opcode) {
		t.Suspects = append(t.Suspects, diagnose.Place{Kind: diagnose.AtHolder})
	}
	if !slices.Contains(ownWork, x.Opcode) {
		t.Suspects = append(t.Suspects, diagnose.Place{Kind: diagnose.AtOtherServer, Node: x.Server})
	}
}

// ofThese returns what the log of the server says of the requests of a stream.
func (x *SlowStream) ofThese(what string, ns int64) string {
	return fmt.Sprintf("%d requests of %s (%s) "+what+", by the log of the server", x.N, x.Client, x.Operation, float64(ns)/1e9)
}

// clear excludes a place.
func (t *Trouble) clear(p diagnose.Place, at facts.Point, text string) {
	t.Cleared = append(t.Cleared, diagnose.Clearance{Place: p, Evidence: diagnose.Evidence{Point: at, Text: text}})
}

// onTheWire returns what shows that the network delayed the requests, empty if nothing does.
func (x *SlowStream) onTheWire() string {
	switch {
	case 2*x.Wire >= x.lost():
		return fmt.Sprintf("they passed %.3g s between the capture points", float64(x.Wire)/1e9)
	case x.Opcode == opcodes.OST_WRITE && 2*x.Transfer >= x.lost():
		return fmt.Sprintf("their data were on their way for %.3g s in all", float64(x.Transfer)/1e9)
	}
	return ""
}

// judgePlace excludes a place if most of the other requests that it would delay were in time, else suspects it.
func (j *Judge) judgePlace(t *Trouble, p diagnose.Place, hurts func(*facts.Stream) bool) {
	x := t.Slow
	var sum sample
	for s := range j.Facts.Streams {
		if s != x.Stream && hurts(s) {
			limit := min(j.limitOf(s), x.Sum/int64(x.N)/slowRatio) // what took nearly as long is no better
			sum.take(s, limit, func(b *facts.Bin) bool { return b.Overlaps(x.Span) })
		}
	}
	if sum.n >= minGood && float64(sum.inTime) >= goodShare*float64(sum.n) && !(p.Kind == diagnose.AtPath && x.Disturbed > 0) {
		t.clear(p, sum.at, fmt.Sprintf("%d of %d other requests that it would delay were in time, as this %s of %s", sum.inTime, sum.n, sum.who.Operation, sum.who.Client))
		return
	}
	t.Suspects = append(t.Suspects, p)
}

// lost returns by how much longer all requests took than usual. Where they were slow all the time, nothing shows what is usual.
func (x *SlowStream) lost() int64 { return max(x.Sum-int64(x.N)*x.Usual, x.Sum/2, 1) }
