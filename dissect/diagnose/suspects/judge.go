// Package suspects finds out by exclusion where the cause of a trouble is. A trouble is an RPC that
// waited for seconds, or a host that did not acknowledge what was sent to it. A request goes from
// the application to the client, over the path, through LNet, into the queue of the server, to a
// thread, which may wait for a lock, another server or the storage, and back. Each of these
// places is a suspect until a fact excludes it: the table in clears.go has them all.
//
// Troubles at the same time are one group, if one place can be the cause of all. What remains of the places of a
// group are its suspects. So more input can only exclude more.
package suspects

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/facts"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes"
)

// Judge finds the suspects of troubles.
type Judge struct {
	Facts *facts.Facts

	NIDOf func(netip.Addr) lnet.NID // of a host

	OnlyLogs bool // there is no capture

	// Unexplained returns what of a wait nothing else explains, such as the restart of a target; nil: all is explained.
	Unexplained func(*facts.Wait) *facts.Wait

	waits   []*facts.Wait
	takenAt []netip.Addr    // hosts at whose interfaces captures were taken
	streams []*facts.Stream // all
	during  []*facts.Stream // that have replies during the wait that is judged
	usual   map[facts.Kind]int64
	nearest map[facts.Pair]int64
}

// Trouble is an RPC that waited, a silence, or requests that were slow: exactly one of them is set.
type Trouble struct {
	facts.Span
	Wait     *facts.Wait
	Silence  *facts.Unacknowledged
	Slow     *SlowStream
	From, To lnet.NID // of a silence: who sent, and who did not acknowledge it

	Suspects []diagnose.Place
	Cleared  []diagnose.Clearance

	// Follows is the trouble that this one waited for: that of a client which keeps the lock, or of
	// another server. nil: none is known.
	Follows *Trouble
}

// Group are troubles at the same time with the same suspects.
type Group struct {
	facts.Span
	Troubles []*Trouble
	Suspects []diagnose.Place
	Cleared  []diagnose.Clearance

	// Follows is the group that those between two other nodes waited for: its suspects are theirs.
	Follows *Group
}

// Groups returns the groups of all troubles, in the order of their beginning.
func (j *Judge) Groups() []*Group {
	j.waits, j.takenAt = j.Facts.Waits(), j.Facts.TakenAt()
	j.streams = slices.Collect(j.Facts.Streams)
	var list []*Trouble
	for _, w := range j.waits {
		if !j.isTrouble(w) || w.Lock && slices.ContainsFunc(j.waits, func(o *facts.Wait) bool { return o.HasLockOf(w) }) {
			continue
		}
		if w = j.Unexplained(w); w != nil {
			t := &Trouble{Span: w.Span, Wait: w}
			j.judgeWait(t)
			list = append(list, t)
		}
	}
	for _, s := range j.Facts.Silences() {
		t := &Trouble{Span: s.Span, Silence: s.Unacknowledged, From: j.NIDOf(s.Sender), To: j.NIDOf(s.Receiver)}
		j.judgeSilence(t, s)
		list = append(list, t)
	}
	slices.SortStableFunc(list, func(a, b *Trouble) int { return cmp.Compare(a.Span.From, b.Span.From) })
	follow(list)
	groups, rest := group(list, samePause)
	slices.SortStableFunc(groups, func(a, b *Group) int { return cmp.Compare(a.From, b.From) })
	groups = withFollowers(joined(groups), rest)
	slices.SortStableFunc(groups, func(a, b *Group) int { return cmp.Compare(a.From, b.From) })
	return groups
}

// isTrouble reports whether somebody suffers from a wait. Pings are sent again by themselves: one that is late hurts nobody, two at once show that
// nothing answers them; one that was sent before all of the input shows what was then. What was refused waited for the target, which rules about
// refusals report.
func (j *Judge) isTrouble(w *facts.Wait) bool {
	isOfMGS := w.Opcode == opcodes.LDLM_ENQUEUE && w.Target.Name == "MGS" // a client waits for its configuration lock in the background
	ofNow := w.Opcode != opcodes.OBD_PING || w.GaveUp != debuglog.NoReason && w.From >= j.Facts.Began() || slices.ContainsFunc(j.waits, func(o *facts.Wait) bool {
		return o != w && o.Opcode == opcodes.OBD_PING && o.Connection == w.Connection && o.Client == w.Client && o.Overlaps(w.Span)
	})
	return !w.Lacks && !w.Refused && ofNow && !isUpkeep(w.Opcode) && !isOfMGS
}

// isUpkeep reports whether an operation is only for the connection, or a request that a server answers when
// something happens.
func isUpkeep(opc uint32) bool {
	return slices.Contains([]uint32{opcodes.SEC_CTX_INIT, opcodes.SEC_CTX_INIT_CONT, opcodes.SEC_CTX_FINI, opcodes.OBD_LOG_CANCEL}, opc)
}

// judgeWait finds the suspects of an RPC that waited.
func (j *Judge) judgeWait(t *Trouble) {
	w := t.Wait
	j.during = j.during[:0]
	for _, s := range j.streams {
		if s.Time.Overlaps(w.Span) {
			j.during = append(j.during, s)
		}
	}
	lines := clears
	for i := range decisive {
		if _, ok := decisive[i].proof(j, w); ok {
			lines = []exclusion{decisive[i], nodeAnswered}
			break
		}
	}
	if j.OnlyLogs && w.GaveUp == debuglog.NoReason && max(w.Queued, w.Worked) < w.Length()/2 {
		lines = []exclusion{noLock, noOther} // logs have too little of what else happened
	}
	places, byLog := j.places(w), max(w.Queued, w.Worked) >= w.Length()-w.Length()/4
	for i := range lines {
		proof, ok := lines[i].proof(j, w)
		if !ok {
			continue
		}
		left := slices.DeleteFunc(slices.Clone(places), func(p diagnose.Place) bool { return lines[i].has(p.Kind) })
		if byLog && len(left) == 0 {
			continue
		}
		for _, p := range places {
			if !slices.Contains(left, p) {
				t.Cleared = append(t.Cleared, diagnose.Clearance{Place: p, Evidence: proof})
			}
		}
		places = left
	}
	t.Suspects = places
	j.judgeClient(t)
	if len(w.Blocked) == 0 && t.has(diagnose.AtHolder) { // it may be the same client, whom the request for its lock does not reach
		t.Cleared = slices.DeleteFunc(t.Cleared, func(c diagnose.Clearance) bool { return c.Node == w.Client || c.Peer == w.Client })
	}
}

// judgeClient finds out whether the node of the client may be the cause: it is gone, its link is down, or it does not
// take part in the transfer of data.
func (j *Judge) judgeClient(t *Trouble) {
	w := t.Wait
	place := diagnose.Place{Kind: diagnose.AtNode, Node: w.Client}
	host := facts.HostOf(w.Client)
	isUnacked := j.unacked(w) != nil // what it sends may come no farther than to its own interface
	at, ok := j.Facts.AllThrough(host, w.Span, max(w.Length()/4, second), isUnacked, facts.MessagesOf)
	if !ok && !waitsForData(w.Operation) {
		at, ok = j.Facts.AllThrough(host, w.Span, max(w.Length()/4, min(facts.LongPause, w.Length()/5*3)), isUnacked, facts.FramesOf) // what TCP sends again comes after twice the time
	}
	if !ok && isUnacked {
		at, _, ok = j.Facts.Talks(host, w.Span, facts.HostOf(w.Server))
	}
	switch {
	case ok:
		proof, _ := evidence(at, "%s is there all the time", w.Client)
		t.Cleared = append(t.Cleared, diagnose.Clearance{Place: place, Evidence: proof})
	case w.GaveUp != debuglog.NoReason: // it was there to write so into its log, but its link may be down
		if j.reachesNobody(w) {
			t.Suspects = append(t.Suspects, place)
		}
	case w.Open || waitsForData(w.Operation) || isUnacked || j.Facts.UnackedIn(facts.HostOf(w.Server), host, w.Span) != nil, // it acknowledges nothing
		isOfClientLog(w) && max(w.Queued, w.Worked) < w.Length()/2 && j.reachesNobody(w): // it stood still
		t.Suspects = append(t.Suspects, place)
	}
}

// isOfClientLog reports whether the log of a client says that it waited.
func isOfClientLog(w *facts.Wait) bool { return w.GaveUp != debuglog.NoReason || w.Reply.IsLog() }

// reachesNobody reports whether requests of a client to another server waited, too, and no other node answered it meanwhile.
func (j *Judge) reachesNobody(w *facts.Wait) bool {
	_, ok := j.served(w, func(s *facts.Stream) bool {
		return s.Client == w.Client && s.Server != w.Server || s.Server == w.Client && s.Client != w.Server
	})
	return !ok && slices.ContainsFunc(j.waits, func(o *facts.Wait) bool {
		common := min(o.To, w.To) - max(o.From, w.From)
		return o.Client == w.Client && o.Server != w.Server && isOfClientLog(o) && 2*common > min(o.Length(), w.Length())
	})
}

// places returns the places where a request and its reply pass. A client answers a callback at once: it is one that keeps
// a lock, or nobody hears it.
func (j *Judge) places(w *facts.Wait) []diagnose.Place {
	if opcodes.IsCallback(w.Opcode) {
		return []diagnose.Place{
			diagnose.Between(diagnose.AtPath, w.Client, w.Server),
			diagnose.Between(diagnose.AtLNet, w.Client, w.Server),
			{Kind: diagnose.AtNode, Node: w.Server},
			{Kind: diagnose.AtHolder, Node: w.Server},
		}
	}
	var list []diagnose.Place
	if w.Server.Len > 0 && w.Client != w.Server { // within a node there is no network
		list = append(list, diagnose.Between(diagnose.AtPath, w.Client, w.Server), diagnose.Between(diagnose.AtLNet, w.Client, w.Server))
	}
	list = append(list, []diagnose.Place{
		{Kind: diagnose.AtNode, Node: w.Server},
		{Kind: diagnose.AtQueue, Node: w.Server},
		{Kind: diagnose.AtThread, Node: w.Server, Request: w.XID},
		{Kind: diagnose.AtStorage, Node: w.Server, Target: w.Target.Label()},
		{Kind: diagnose.AtTarget, Node: w.Server, Target: w.Target.Label()},
		{Kind: diagnose.AtOtherServer, Node: w.Server},
	}...)
	if w.Opcode == opcodes.OBD_PING { // it needs neither data nor locks nor another server
		return slices.DeleteFunc(list, func(p diagnose.Place) bool {
			return p.Kind == diagnose.AtThread || p.Kind == diagnose.AtStorage || p.Kind == diagnose.AtOtherServer
		})
	}
	if len(w.Blocked) == 0 {
		return append(list, diagnose.Place{Kind: diagnose.AtHolder})
	}
	for i := range w.Blocked {
		list = append(list, diagnose.Place{Kind: diagnose.AtHolder, Node: w.Blocked[i].Client})
	}
	return list
}

// judgeSilence finds the suspects of a silence: the path, and both ends. An end is excluded by what it
// exchanges with others meanwhile.
func (j *Judge) judgeSilence(t *Trouble, s *facts.Silence) {
	window := s.Span
	path := diagnose.Between(diagnose.AtPath, t.From, t.To)
	if at, ok := j.Facts.ThawedIn(s.Receiver, facts.Span{From: s.Span.From + s.Length()/2, To: s.Span.To + 2*s.Length()}); ok {
		proof, _ := evidence(at, "%s acknowledges late what had come to it meanwhile", t.To)
		t.Cleared = append(t.Cleared, diagnose.Clearance{Place: path, Evidence: proof})
	} else {
		t.Suspects = append(t.Suspects, path)
	}
	for _, end := range []struct {
		host, other netip.Addr
		nid         lnet.NID
	}{{s.Receiver, s.Sender, t.To}, {s.Sender, s.Receiver, t.From}} {
		place := diagnose.Place{Kind: diagnose.AtNode, Node: end.nid}
		at, peer, ok := j.Facts.Talks(end.host, window, end.other)
		if inVain := (facts.Span{From: s.From, To: s.Vain}); !ok && inVain.Length() >= minBoth {
			at, peer, ok = j.Facts.TalksWithin(end.host, inVain, end.other)
		}
		if ok {
			proof, _ := evidence(at, "%s and %s talk all the time, from here on", end.nid, j.NIDOf(peer))
			t.Cleared = append(t.Cleared, diagnose.Clearance{Place: place, Evidence: proof})
		} else {
			t.Suspects = append(t.Suspects, place)
		}
	}
}

// follow finds the troubles that others waited for: a client that keeps a lock waits itself, or does not
// get the callback.
func follow(list []*Trouble) {
	for _, t := range list {
		w := t.Wait
		if w == nil {
			continue
		}
		for i := range w.Blocked {
			holder := w.Blocked[i].Client
			c := longestOf(list, t, func(o *Trouble) bool { return o.isCallback(w.Server, holder) })
			if c == nil {
				c = longestOf(list, t, func(o *Trouble) bool { return o.isOf(holder, w.Server) })
			}
			if c != nil && c.Follows != t {
				t.Follows = c
			}
		}
		if len(w.Blocked) == 0 && t.has(diagnose.AtHolder) { // it may be one of those whose lock the server asks for
			t.Follows = longestOf(list, t, func(o *Trouble) bool {
				return o.Wait != nil && o.Wait.Opcode == opcodes.LDLM_BL_CALLBACK && o.Wait.Client == w.Server && o.Wait.From-w.From < second &&
					w.From-o.Wait.From < second
			})
		}
		isNested := w.Nested > w.Length()-w.Length()/4
		if t.Follows == nil && (isNested || t.has(diagnose.AtOtherServer)) {
			t.Follows = longestOf(list, t, func(o *Trouble) bool {
				begin, end := o.Span.From-w.From, w.To-o.Span.To
				return o.Wait != nil && o.Wait.Client == w.Server && o.Wait.Server != w.Client && (isNested || begin >= 0 && begin < second && end >= 0 && end < second)
			})
		}
	}
}

// isCallback reports whether a trouble is that a callback of a server to a client had no reply.
func (t *Trouble) isCallback(server, client lnet.NID) bool {
	return t.Wait != nil && opcodes.IsCallback(t.Wait.Opcode) && t.Wait.Client == server && t.Wait.Server == client
}

// isOf reports whether a trouble keeps a client from giving back a lock of a server.
func (t *Trouble) isOf(client, server lnet.NID) bool {
	if t.Wait == nil {
		return t.From == client || t.From == server && t.To == client
	}
	return t.Wait.Client == client || t.isCallback(server, client)
}

// longestOf returns the longest trouble that fits and fills most of the time of another.
func longestOf(list []*Trouble, of *Trouble, fits func(*Trouble) bool) (best *Trouble) {
	for _, t := range list {
		common := min(t.Span.To, of.Span.To) - max(t.Span.From, of.Span.From)
		if t != of && 2*common > of.Length() && fits(t) && (best == nil || t.Length() > best.Length()) {
			best = t
		}
	}
	return best
}

// weight is how much a trouble says: nothing if it waited for another one, little if nobody waits for it, or it may only
// wait for others, as it was told to wait.
func (t *Trouble) weight() float64 {
	seconds := float64(t.Length()) / 1e9
	switch {
	case t.Slow != nil:
		return float64(t.Slow.lost())
	case t.Follows != nil:
		return 0
	case t.Wait != nil && (t.Wait.Lock || t.Wait.Opcode == opcodes.OBD_PING || !slices.Contains(lockFree, t.Wait.Opcode) && !opcodes.IsCallback(t.Wait.Opcode) &&
		len(t.Wait.Sends) == 1 && t.has(diagnose.AtHolder)):
		return seconds / 8
	}
	return seconds
}

func (t *Trouble) has(k diagnose.PlaceKind) bool {
	return slices.ContainsFunc(t.Suspects, func(p diagnose.Place) bool { return p.Kind == k })
}

// mostly is the share of the weight of a group that a place must explain.
const mostly = 0.9

// group divides troubles into groups: those around the place that explains most of the time, then the rest. Those that are left follow from others.
// pause is the longest time between two of a group.
func group(list []*Trouble, pause int64) (groups []*Group, rest []*Trouble) {
	rest = slices.Clone(list)
	for len(rest) > 0 {
		place, ok := heaviest(rest)
		if !ok {
			break
		}
		g := around(rest, place, pause)
		groups = append(groups, g)
		rest = slices.DeleteFunc(rest, func(t *Trouble) bool { return slices.Contains(g.Troubles, t) })
	}
	return groups, rest
}

// withFollowers adds the troubles that follow from others: to a group between the same nodes, or as one of their own.
func withFollowers(groups []*Group, rest []*Trouble) []*Group {
	for _, t := range rest {
		of := groupOf(groups, t.Follows)
		if of == nil {
			groups = append(groups, &Group{Span: t.Span, Troubles: []*Trouble{t}, Suspects: t.Suspects, Cleared: t.Cleared})
			continue
		}
		if of.Follows != nil {
			of = of.Follows
		}
		at := slices.IndexFunc(groups, func(g *Group) bool {
			return (g == of || g.Follows == of) && slices.ContainsFunc(g.Troubles, func(o *Trouble) bool {
				return o.Wait != nil && o.Wait.Client == t.Wait.Client && o.Wait.Server == t.Wait.Server && o.Wait.Target == t.Wait.Target
			})
		})
		if at < 0 {
			groups = append(groups, &Group{Span: t.Span, Suspects: of.Suspects, Cleared: of.Cleared, Follows: of})
			at = len(groups) - 1
		}
		groups[at].add(t)
	}
	return groups
}

// joined joins groups with the same suspects: what happens again and again is one story. So are groups of one job of a client at
// a server soon after each other, if a place may be the cause of both.
func joined(groups []*Group) (list []*Group) {
	for _, g := range groups {
		at := slices.IndexFunc(list, func(o *Group) bool { return samePlaces(o.Suspects, g.Suspects) })
		if at < 0 {
			at = slices.IndexFunc(list, func(o *Group) bool {
				both := diagnose.CommonPlaces(o.Suspects, g.Suspects)
				if g.From > o.To+sameStory || len(both) < 2 || !sameWork(o, g) {
					return false
				}
				o.Suspects = both
				return true
			})
		}
		if at < 0 {
			list = append(list, g)
			continue
		}
		for _, t := range g.Troubles {
			list[at].add(t)
		}
	}
	return list
}

// sameStory is the longest time between two groups of the same job that are one story.
const sameStory = 15 * second

// sameWork reports whether all of two groups are waits of one job of a client at a server.
func sameWork(a, b *Group) bool {
	var first *facts.Wait
	for _, t := range slices.Concat(a.Troubles, b.Troubles) {
		w := t.Wait
		if w == nil || w.Job == "" || first != nil && (w.Client != first.Client || w.Server != first.Server || w.Job != first.Job) {
			return false
		}
		first = w
	}
	return first != nil
}

// Narrow leaves of the suspects of slow requests, and of their longest waits, those that are suspects of both.
func Narrow(groups, slow []*Group) {
	for _, g := range groups {
		if g.Follows != nil {
			g.Suspects, g.Cleared = g.Follows.Suspects, g.Follows.Cleared
			continue
		}
		for _, s := range slow {
			both := diagnose.CommonPlaces(g.Suspects, s.Suspects)
			if len(both) == 0 || !s.hasAll(g) {
				continue
			}
			cleared := withCleared(slices.Clone(g.Cleared), s.Cleared, both)
			s.Cleared = withCleared(s.Cleared, g.Cleared, both)
			g.Suspects, s.Suspects, g.Cleared = both, both, cleared
		}
	}
}

// hasAll reports whether all of a group are waits of slow requests.
func (s *Group) hasAll(g *Group) bool {
	return !slices.ContainsFunc(g.Troubles, func(t *Trouble) bool {
		w := t.Wait
		return w == nil || w.Lock || !w.Overlaps(s.Span) || !slices.ContainsFunc(s.Troubles, func(t *Trouble) bool {
			x := t.Slow
			return x.Client == w.Client && x.Server == w.Server && x.Operation == w.Operation && x.Job == w.Job
		})
	})
}

func samePlaces(a, b []diagnose.Place) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(p diagnose.Place) bool { return !slices.Contains(b, p) })
}

func groupOf(groups []*Group, t *Trouble) *Group {
	const longest = 8 // troubles may follow from each other in a circle
	for range longest {
		for _, g := range groups {
			if slices.Contains(g.Troubles, t) {
				return g
			}
		}
		if t == nil {
			return nil
		}
		t = t.Follows
	}
	return nil
}

func (g *Group) add(t *Trouble) {
	g.Troubles = append(g.Troubles, t)
	g.From, g.To = min(g.From, t.Span.From), max(g.To, t.Span.To)
}

// hasPlace reports whether a place may be one of those that are suspected: a target whose name is not known may be any of its node.
func hasPlace(list []diagnose.Place, p diagnose.Place) bool {
	unnamed := p
	unnamed.Target = ""
	return slices.Contains(list, p) || p.Target != "" && slices.Contains(list, unnamed)
}

// explained returns how much each place explains, and all of it.
func explained(list []*Trouble) (weights map[diagnose.Place]float64, total float64) {
	weights = make(map[diagnose.Place]float64)
	for _, t := range list {
		total += t.weight()
		for _, p := range t.Suspects {
			weights[p] = 0
		}
	}
	for p := range weights {
		for _, t := range list {
			if hasPlace(t.Suspects, p) {
				weights[p] += t.weight()
			}
		}
	}
	return weights, total
}

// heaviest returns the place that explains most. Holders that are not known need not be the same.
func heaviest(list []*Trouble) (best diagnose.Place, ok bool) {
	weights, _ := explained(list)
	most := 0.0
	for _, t := range list { // in order, for equal weights
		for _, p := range t.Suspects {
			weight := weights[p]
			if p.Kind == diagnose.AtHolder && p.Node.Len == 0 {
				weight = t.weight()
			}
			if weight > most*1.001 {
				best, most, ok = p, weight, true
			}
		}
	}
	return best, ok
}

// common returns the places that explain most of what belongs together.
func common(list []*Trouble) (places []diagnose.Place) {
	weights, total := explained(list)
	for _, t := range list {
		for _, p := range t.Suspects {
			if weights[p] >= mostly*total && !hasPlace(places, p) {
				places = append(places, p)
			}
		}
	}
	return slices.DeleteFunc(places, func(p diagnose.Place) bool { // the same with its name says more
		return p.Target == "" && slices.ContainsFunc(places, func(o diagnose.Place) bool { return o.Kind == p.Kind && o.Node == p.Node && o.Target != "" })
	})
}

// around returns the group of the heaviest chain of troubles that a place may be the cause of.
func around(list []*Trouble, place diagnose.Place, pause int64) *Group {
	var best, chain *Group
	weight, most := 0.0, -1.0
	finish := func() {
		if chain != nil && weight > most {
			best, most = chain, weight
		}
	}
	for _, t := range list { // they are in the order of their beginning
		if !hasPlace(t.Suspects, place) {
			continue
		}
		if chain == nil || t.Span.From > chain.To+pause {
			finish()
			chain, weight = &Group{Span: t.Span}, 0
		}
		chain.add(t)
		weight += t.weight()
	}
	finish()
	best.intersect()
	return best
}

// samePause is the longest time between two waits or silences of a group.
const samePause = 2 * second

// suspectTargets adds the targets of a server to the suspects of waits for several of them, if it may be each of them and the node is suspected:
// all may have been stopped.
func (g *Group) suspectTargets() {
	var all []diagnose.Place
	for _, t := range g.Troubles {
		at := slices.IndexFunc(t.Suspects, func(p diagnose.Place) bool { return p.Kind == diagnose.AtTarget })
		if at < 0 {
			return
		}
		if p := t.Suspects[at]; !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	if len(all) > 1 && hasPlace(g.Suspects, diagnose.Place{Kind: diagnose.AtNode, Node: all[0].Node}) {
		g.Suspects = append(g.Suspects, diagnose.Place{Kind: diagnose.AtTarget, Node: all[0].Node})
	}
}

// intersect finds the places that explain most of a group.
func (g *Group) intersect() {
	g.Suspects = common(g.Troubles)
	g.suspectTargets()
	if slices.ContainsFunc(g.Suspects, func(p diagnose.Place) bool { return p.Kind == diagnose.AtNode }) { // who is silent to two others has lost more than the path to one of them
		g.Suspects = slices.DeleteFunc(g.Suspects, func(p diagnose.Place) bool {
			return p.Kind == diagnose.AtPath && slices.ContainsFunc(g.Troubles, func(t *Trouble) bool { return t.Silence != nil && !hasPlace(t.Suspects, p) })
		})
	}
	for _, t := range g.Troubles {
		g.Cleared = withCleared(g.Cleared, t.Cleared, g.Suspects)
	}
}

// withCleared returns a list with the places of another one that are not suspects, each place once: of the threads of a server one. What cleared
// the way to a client says nothing of a callback that asks it for a lock.
func withCleared(list, more []diagnose.Clearance, suspects []diagnose.Place) []diagnose.Clearance {
	for _, c := range more {
		isOfHolder := slices.ContainsFunc(suspects, func(p diagnose.Place) bool {
			return p.Kind == diagnose.AtHolder && p.Node.Len > 0 && (p.Node == c.Node || p.Node == c.Peer)
		})
		if !isOfHolder && !hasPlace(suspects, c.Place) && !slices.ContainsFunc(list, func(o diagnose.Clearance) bool {
			o.Request = c.Request
			return o.Place == c.Place
		}) {
			list = append(list, c)
		}
	}
	return list
}
