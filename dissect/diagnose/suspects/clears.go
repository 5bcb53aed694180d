package suspects

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/facts"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes"
)

// clears is the table of what excludes a place as the cause of a wait. Each line has what must be so, the kinds of places that
// this excludes ("server" is all in it but the node), and the func that looks for it and returns its evidence.
//
// Each fact holds for a window: from the request to the last failed attempt, or to the first
// acknowledgement. One success excludes only a fault that hurts all requests.
//
// The lines about the log of the server come first: a later one does not exclude what they leave last.
var clears = []exclusion{
	{"by the log of the server, it waited for a thread", "path lnet node thread storage target holder other_server", queuedByLog},
	{"by the log of the server, a thread worked on it", "node queue target", workedByLog},
	{"by the log of the server, a thread worked on it, and waited for no data", "path lnet", workedWithoutData},
	{"the server said at once that the lock has to wait, and granted it later", "path lnet thread", toldToWait},
	{"frames of both hosts arrived through all of the wait", "path", framesBothWays},
	{"an early reply", "path lnet target", earlyReply},
	{"the server says that it took as long", "path lnet target", longService},
	{"the server says that it took no time", "server holder other_server", shortService},
	{"a reply was acknowledged, and the request was sent again", "path node server holder other_server", replyIgnored},
	{"the last attempt was answered at once", "queue thread storage holder other_server", resendAnswered},
	nodeAnswered,
	{"the target answered meanwhile", "target", targetAnswered},
	{"the target served the same operation", "storage target", sameOperationServed},
	{"most requests of this job were served", "queue target", mostServed},
	{"only this request of the job waited, and the threads served others", "queue", isolated},
	{"it was answered without being sent again, and others passed in time", "lnet", notLost},
	{"by the log of the client, it connected again at once", "path node target", connectedAtOnce},
	noLock,
	{"the server asked nobody for a lock", "holder", noCallback},
	noOther,
}

// decisive has the lines that leave a part of the way only: where one of them holds, no other counts but nodeAnswered.
var decisive = []exclusion{
	{"the request was not acknowledged for long", "lnet server holder other_server", unacknowledged},
	{"retransmissions took most of the time", "lnet server holder other_server", retransmitted},
	{"its data were on their way most of the time", "lnet server holder other_server", dataOnTheirWay},
	{"the holder of the lock was asked for it, and gave it back late", "path lnet node server other_server", holderKept},
	{"by the log of the client, LNet did not send it in time, or reported an error", "server holder other_server", failedInLNet},
}

// These say something about the operation itself.
var (
	noLock  = exclusion{"the operation takes no locks", "holder", takesNoLock}
	noOther = exclusion{"the operation needs no other server", "other_server", needsNoOther}
)

// nodeAnswered counts beside the lines of decisive, too.
var nodeAnswered = exclusion{"the server answered most requests in time", "node", nodeServed}

// exclusion is a line of the table.
type exclusion struct {
	fact     string
	excludes string
	proof    func(j *Judge, w *facts.Wait) (diagnose.Evidence, bool)
}

// inServer are the places that "server" stands for.
const inServer = "queue thread storage target"

// has reports whether the line excludes places of a kind.
func (x *exclusion) has(k diagnose.PlaceKind) bool {
	return hasWord(x.excludes, k.String()) || hasWord(x.excludes, "server") && hasWord(inServer, k.String())
}

func hasWord(list, word string) bool { return slices.Contains(strings.Fields(list), word) }

// The times that the table compares with.
const (
	second = int64(1e9)

	minBoth = 4 * second // a shorter wait may be one or two lost segments, which do not show

	// minDisturbed is the shortest wait that no network explains which loses some segments: six in a row.
	minDisturbed = 15 * second
	least        = 3          // replies that prove that something works, at least
	atOnce       = second / 5 // an answer that took no time

	// longestLimited is longer than a limit holds a single request: nobody sets one of less than six requests in a minute.
	longestLimited = 10 * second
)

// served is the share of replies in time from which on something works.
var served = struct{ least, of int }{2, 3}

func evidence(p facts.Point, format string, args ...any) (diagnose.Evidence, bool) {
	return diagnose.Evidence{Point: p, Text: fmt.Sprintf(format, args...)}, true
}

func none() (diagnose.Evidence, bool) { return diagnose.Evidence{}, false }

// failed returns the window in which a wait failed: until the request was sent for the last time, or until its end.
func failed(w *facts.Wait) facts.Span {
	s := w.Span
	if n := len(w.Sends); n > 1 {
		s.To = w.Sends[n-1].Time
	}
	return s
}

// inside returns a window without its first and last second: what was on its way then proves nothing.
func inside(s facts.Span) facts.Span { return facts.Span{From: s.From + second, To: s.To - second} }

func connectedAtOnce(j *Judge, w *facts.Wait) (diagnose.Evidence, bool) {
	if !w.AtOnce || w.GaveUp != debuglog.SlowReply || w.Opcode == opcodes.OBD_PING || slices.ContainsFunc(j.waits, func(o *facts.Wait) bool {
		return o.Opcode == opcodes.OBD_PING && o.Client == w.Client && o.Server == w.Server && o.From <= w.To && o.To >= w.From
	}) {
		return none()
	}
	return evidence(w.Again, "the client was connected again as soon as it had lost the connection")
}

func failedInLNet(_ *Judge, w *facts.Wait) (diagnose.Evidence, bool) {
	switch w.GaveUp {
	case debuglog.SentDelay:
		return evidence(w.Request, "LNet of the client did not send it in time")
	case debuglog.NetworkError:
		return evidence(w.Request, "LNet of the client reported an error of the network")
	}
	return none()
}

func unacknowledged(j *Judge, w *facts.Wait) (diagnose.Evidence, bool) {
	u := j.unacked(w)
	if u == nil {
		return none()
	}
	return evidence(u.First, "%s does not acknowledge it: it is sent again", w.Server)
}

// unacked returns the request, or what was sent with it, if that was not acknowledged.
func (j *Judge) unacked(w *facts.Wait) *facts.Unacknowledged {
	from, to := facts.HostOf(w.Client), facts.HostOf(w.Server)
	for _, sent := range w.Sends {
		for _, c := range j.Facts.Contacts(from, to) {
			for _, u := range c.Unacked {
				if u.Conn == sent.Conn && !u.Unproven && u.From <= sent.Time+second/10 && u.To-sent.Time >= facts.MinUnacknowledged {
					return u
				}
			}
		}
	}
	return nil
}

// holderKept: the holder, at which a capture was taken, was busy with nothing that waits for a server, and the network lost nothing between
// it and the server meanwhile.
func holderKept(j *Judge, w *facts.Wait) (diagnose.Evidence, bool) {
	for i := range w.Blocked {
		k := j.Facts.Kept(w.Blocked[i].Handle)
		if k == nil || k.Client != w.Blocked[i].Client || k.Answered.Time-k.Asked.Time > atOnce || !slices.Contains(j.takenAt, facts.HostOf(k.Client)) {
			continue
		}
		kept := facts.Span{From: max(w.From, k.Asked.Time), To: min(w.To, k.GivenBack.Time)}
		if client, server := facts.HostOf(k.Client), facts.HostOf(w.Server); kept.Length() < w.Length()-w.Length()/4 ||
			j.Facts.UnackedIn(client, server, kept) != nil || j.Facts.DisturbedIn(client, server, kept) || j.isBusy(k.Client, kept) {
			continue
		} else if _, reset := j.Facts.ResetIn(client, server, kept); reset {
			continue
		}
		return evidence(k.GivenBack, "%s gives the lock back %.1f s after it was asked for it", k.Client, float64(k.GivenBack.Time-k.Asked.Time)/1e9)
	}
	return none()
}

// isBusy reports whether requests of a client waited for most of a span.
func (j *Judge) isBusy(client lnet.NID, s facts.Span) bool {
	return slices.ContainsFunc(j.waits, func(w *facts.Wait) bool { return w.Client == client && w.Overlaps(s) }) ||
		slices.ContainsFunc(j.during, func(o *facts.Stream) bool {
			return o.Client == client && slices.ContainsFunc(o.Bins, func(b facts.Bin) bool { return b.Overlaps(s) && 4*b.Slowest > s.Length() })
		})
}

func toldToWait(_ *Judge, w *facts.Wait) (diagnose.Evidence, bool) {
	if w.Told.IsZero() || w.Open || w.Told.Time-w.From > w.Length()/4 {
		return none()
	}
	return evidence(w.Told, "%s answers that the lock has to wait", w.Server)
}

func framesBothWays(j *Judge, w *facts.Wait) (diagnose.Evidence, bool) {
	window := failed(w)
	if window.Length() < minBoth || !w.Client.IsTCP() { // what InfiniBand sends again in vain does not show
		return none()
	}
	a, b := facts.HostOf(w.Client), facts.HostOf(w.Server)
	if w.Retransmit > window.Length()/4 || w.Bulk > window.Length()/4 || window.Length() < minDisturbed && j.Facts.DisturbedIn(a, b, window) {
		return none()
	}
	if slices.Contains(withData, w.Opcode) && !j.largePassed(w, facts.Span{From: window.From + second, To: window.To - window.Length()/2}) {
		return none()
	}
	for _, back := range j.Facts.BothWays(a, b, window) {
		if at, ok := back.Active.Within(inside(window)); ok {
			return evidence(at, "frames went both ways between %s and %s all the time, and none was sent again for long", w.Client, w.Server)
		}
	}
	return none()
}

// largePassed reports whether data passed the network between two nodes within a span, or the server asked for none. A path that loses large
// frames lets all others pass, and what it loses is only seen where it is sent. TCP sends it again after twice the time each time, so that
// a wait may last twice as long as the loss.
func (j *Judge) largePassed(w *facts.Wait, s facts.Span) bool {
	from, to := facts.HostOf(w.Server), facts.HostOf(w.Client)
	if w.Opcode == opcodes.OST_WRITE {
		if from, to = to, from; w.Bulk < 0 {
			return true
		}
	}
	return slices.Contains(j.takenAt, from) || slices.ContainsFunc(j.Facts.Contacts(from, to), func(c *facts.Contact) bool {
		_, passed := c.Large.Within(s)
		return passed
	})
}

func earlyReply(_ *Judge, w *facts.Wait) (diagnose.Evidence, bool) {
	if n := len(w.Early); n == 0 || len(w.Sends) > 1 || waitsForData(w.Operation) || w.Open && w.To-w.Early[n-1].Time > facts.LongPause {
		return none() // the reply may be lost since
	}
	return evidence(w.Early[0], "%s asks for more time: it has the request", w.Server)
}

func longService(_ *Judge, w *facts.Wait) (diagnose.Evidence, bool) {
	last := w.To - w.Sends[len(w.Sends)-1].Time
	if w.Service < 3 || waitsForData(w.Operation) || w.Service*second < last-last/4-second {
		return none()
	}
	return evidence(w.Reply, "the reply says that the server took %d s", w.Service)
}

// withData are operations with data that pass the network.
var withData = []uint32{opcodes.OST_READ, opcodes.OST_WRITE, opcodes.MDS_READPAGE, opcodes.OUT_UPDATE}

// waitsForData reports whether the server waits in an operation for data to pass the network: they may be in the request or reply.
func waitsForData(o facts.Operation) bool {
	return slices.Contains(withData, o.Opcode) && (o.Variant == nil || o.Variant.Bulk != nil || o.Variant.Name == "") // unnamed: the request was cut
}

func shortService(_ *Judge, w *facts.Wait) (diagnose.Evidence, bool) {
	last := w.To - w.Sends[len(w.Sends)-1].Time
	if w.Service < 0 || len(w.Sends) > 1 || last < minBoth || (w.Service+1)*second > last/4 {
		return none()
	}
	return evidence(w.Reply, "the reply says that the server took at most %d s", w.Service+1)
}

func replyIgnored(j *Judge, w *facts.Wait) (diagnose.Evidence, bool) {
	client, server := facts.HostOf(w.Client), facts.HostOf(w.Server)
	if w.Before.IsZero() || j.Facts.UnackedIn(server, client, facts.Span{From: w.Before.Time, To: w.Before.Time + 3*second}) != nil {
		return none()
	}
	if _, reset := j.Facts.ResetIn(client, server, facts.Span{From: w.Before.Time - second, To: w.Sends[len(w.Sends)-1].Time}); reset {
		return none() // with the reply still on its way
	}
	return evidence(w.Before, "%s has answered, and the host of %s acknowledged it", w.Server, w.Client)
}

func resendAnswered(j *Judge, w *facts.Wait) (diagnose.Evidence, bool) {
	n := len(w.Sends)
	if n < 2 || w.Reply.IsZero() || w.To-w.Sends[n-1].Time > atOnce || w.Sends[n-1].Time-w.From < minBoth {
		return none()
	}
	for _, other := range j.waits { // what waited for the same may have ended by chance
		if other != w && other.Server == w.Server && other.Target == w.Target && other.XID != w.XID && max(other.To-w.To, w.To-other.To) < 2*second &&
			len(other.Sends) == 1 {
			return none()
		}
	}
	return evidence(w.Reply, "it is answered at once when it is sent again")
}

// nodeServed: most replies of the server to all operations were in time, or those to pings. A node that stands still or is
// short of CPU answers all of them late.
func nodeServed(j *Judge, w *facts.Wait) (diagnose.Evidence, bool) {
	if j.unacked(w) != nil { // it may have been restarted since, and serve others again
		return none()
	}
	fromOthers := func(s *facts.Stream) bool { return s.Server == w.Server && s.Client != s.Server } // the link may be down
	proof, ok := j.served(w, func(s *facts.Stream) bool { return fromOthers(s) && s.IsPing() })
	if !ok {
		proof, ok = j.served(w, fromOthers)
	}
	return proof, ok
}

// targetAnswered: also pings.
func targetAnswered(j *Judge, w *facts.Wait) (diagnose.Evidence, bool) {
	window := inside(failed(w))
	if window.Length() < second || !w.Target.IsKnown() {
		return none()
	}
	for _, s := range j.during {
		if s.Target() != w.Target {
			continue
		}
		for i := range s.Bins {
			if b := &s.Bins[i]; b.From >= window.From && b.To <= window.To && b.Slowest < 2*second && isEarly(w, b, window) {
				return evidence(b.Reply(), "%s answers %s of %s", w.Target.Label(), s.Operation, s.Client)
			}
		}
	}
	return none()
}

// sameOperationServed: most requests of the same kind were in time. Others may have waited, too. What only reads may be in memory:
// instead of reads, writes show that the storage works.
func sameOperationServed(j *Judge, w *facts.Wait) (diagnose.Evidence, bool) {
	op := w.Operation
	if op.Opcode == opcodes.OST_READ {
		op.Opcode = opcodes.OST_WRITE
	}
	if !w.Target.IsKnown() || mayBeCached(op) {
		return none()
	}
	return j.served(w, func(s *facts.Stream) bool {
		return s.Target() == w.Target && (s.Operation == op || s.Opcode == op.Opcode && op.Opcode == opcodes.OST_WRITE)
	})
}

// mayBeCached reports whether a server may do an operation without its storage.
func mayBeCached(o facts.Operation) bool {
	switch o.Opcode {
	case opcodes.OST_READ, opcodes.MDS_READPAGE, opcodes.MDS_GETATTR, opcodes.MDS_GETXATTR, opcodes.OST_STATFS, opcodes.MDS_STATFS, opcodes.OBD_PING:
		return true
	case opcodes.LDLM_ENQUEUE:
		return !o.Does(opcodes.Creates)
	}
	return false
}

// mostServed: most other requests of this job were served in time by the same threads. A limit may be on one job.
func mostServed(j *Judge, w *facts.Wait) (diagnose.Evidence, bool) {
	if !w.HasJob { // it may have one that was not captured
		return none()
	}
	return j.served(w, func(s *facts.Stream) bool {
		return s.Job == w.Job && s.Client == w.Client && s.Server == w.Server && s.Portal == w.Portal && !s.IsPing()
	})
}

// served reports whether most requests that count were served in time, while a request waited, and not just at its end: the fault may have ended before it.
func (j *Judge) served(w *facts.Wait, counts func(*facts.Stream) bool) (diagnose.Evidence, bool) {
	window := inside(failed(w))
	if window.Length() < second {
		return none()
	}
	var sum sample
	before, what := false, "pings"
	for _, s := range j.during {
		if !counts(s) {
			continue
		}
		limit := max(4*j.Facts.Usual(s.Target(), s.Operation), second/4)
		sum.take(s, limit, func(b *facts.Bin) bool {
			isInside := b.From >= window.From && b.To <= window.To
			before = before || isInside && b.Within(limit) > 0 && isEarly(w, b, window)
			if isInside && !s.IsPing() {
				what = "requests"
			}
			return isInside
		})
	}
	for _, other := range j.waits {
		if other != w && !other.Lock && other.Overlaps(window) && other.Connection != nil &&
			counts(&facts.Stream{Connection: other.Connection, Client: other.Client, Server: other.Server, Operation: other.Operation, Job: other.Job,
				Portal: other.Portal}) {
			if sum.n++; !other.IsPing() {
				what = "requests"
			}
		}
	}
	if !before || sum.inTime < least || served.of*sum.inTime < served.least*sum.n {
		return none()
	}
	return evidence(sum.at, "%s answered %d of %d %s in time meanwhile, as this %s of %s", sum.who.Server, sum.inTime, sum.n, what, sum.who.Operation, sum.who.Client)
}

// sample counts requests, and how many of them were in time.
type sample struct {
	inTime, n int
	at        facts.Point // a reply in time, where one is known
	who       *facts.Stream
}

// take takes the requests of the bins of a stream that count.
func (x *sample) take(s *facts.Stream, limit int64, counts func(*facts.Bin) bool) {
	for i := range s.Bins {
		b := &s.Bins[i]
		if !counts(b) {
			continue
		}
		x.n += b.N()
		if ok := b.Within(limit); ok > 0 {
			x.inTime += ok
			if x.who == nil || b.Slowest <= limit {
				x.at, x.who = b.Reply(), s
			}
		}
	}
}

// isEarly reports whether replies came long before the end of the window of a wait: a fault may have ended just before it, and a ping that had
// no reply was dropped at its beginning.
func isEarly(w *facts.Wait, b *facts.Bin, window facts.Span) bool {
	if w.IsPing() && w.Reply.IsZero() {
		return b.From-w.From < 2*second
	}
	return b.To-window.From < window.Length()/2 || window.To-b.To > facts.LongPause
}

// isolated: a limit, or too few threads, hurt the other requests of the job, too.
func isolated(j *Judge, w *facts.Wait) (diagnose.Evidence, bool) {
	if !w.HasJob {
		return none()
	}
	around := facts.Span{From: w.From - 5*second, To: w.To + 5*second}
	for _, other := range j.waits {
		if other != w && other.Server == w.Server && other.Job == w.Job && other.Overlaps(around) {
			return none()
		}
	}
	window := inside(failed(w))
	if w.Length() < longestLimited && !slices.ContainsFunc(j.during, func(s *facts.Stream) bool { // a limit may have held it until others of the job came
		return s.Server == w.Server && s.Job == w.Job && s.Portal == w.Portal && !s.IsPing() && slices.ContainsFunc(s.Bins, func(b facts.Bin) bool {
			return b.Start > w.From && b.To < window.To
		})
	}) {
		return none()
	}
	return j.served(w, func(s *facts.Stream) bool {
		return s.Server == w.Server && (s.Operation == w.Operation || s.Portal == w.Portal && w.Portal != 0 && !s.IsPing())
	})
}

// notLost: LNet loses messages, or keeps them all.
func notLost(j *Judge, w *facts.Wait) (diagnose.Evidence, bool) {
	sent := w.Sends[len(w.Sends)-1]
	last := sent.Time
	if w.Reply.IsZero() || w.GaveUp != debuglog.NoReason && sent.Conn < 0 || w.OfServer || w.To-last < 2*second { // logs may not have the last attempt
		return none()
	}
	n := 0
	var at facts.Point
	for _, s := range j.during {
		if s.Client != w.Client || s.Server != w.Server {
			continue
		}
		for i := range s.Bins {
			if b := &s.Bins[i]; b.From > last+second && b.To < w.To-second/2 {
				n += b.Within(lateLimit(j.Facts.Usual(s.Target(), s.Operation)))
				at = b.Reply()
			}
		}
	}
	if n < least {
		return none()
	}
	return evidence(at, "%d other requests of %s to %s were answered in time, and this one was without being sent again", n, w.Client, w.Server)
}

// noCallback: a server that was captured, or has a log, asks the holder of a lock as soon as another client needs it. Where others wait
// for locks, it has asked before.
func noCallback(j *Judge, w *facts.Wait) (diagnose.Evidence, bool) {
	around := facts.Span{From: w.From - second/10, To: w.From + 2*second}
	isSeen := slices.Contains(j.takenAt, facts.HostOf(w.Server)) || j.Facts.HasLog(w.Server, around)
	if w.Lock || opcodes.IsCallback(w.Opcode) || !isSeen || j.Facts.AskedForLocks(w, around) { // who gets a callback may be the holder
		return none()
	}
	for _, other := range j.waits {
		if other != w && other.Server == w.Server && (other.Target == w.Target || !other.Target.IsKnown()) && other.From < w.From && other.To > w.From && (other.Lock || other.Locking || !slices.Contains(lockFree, other.Opcode)) {
			return none()
		}
	}
	return evidence(w.Request, "%s asks no client for a lock then", w.Server)
}

// Operations that take no locks of clients, so that they wait for none, and those that need no other server.
var (
	lockFree = []uint32{opcodes.OST_READ, opcodes.OST_WRITE, opcodes.OST_SYNC, opcodes.OST_STATFS, opcodes.MDS_STATFS, opcodes.MDS_SYNC, opcodes.MDS_READPAGE,
		opcodes.MDS_GETATTR, opcodes.MDS_GETXATTR, opcodes.MDS_CLOSE, opcodes.OBD_PING, opcodes.OST_CREATE, opcodes.LDLM_CANCEL}
	ownWork = append([]uint32{opcodes.OST_GETATTR, opcodes.OST_PUNCH}, lockFree...)
)

func takesNoLock(j *Judge, w *facts.Wait) (diagnose.Evidence, bool) {
	isCaptured := slices.ContainsFunc(w.Sends, func(s facts.Send) bool { return s.Conn >= 0 })
	if w.Lock || w.Locking || !slices.Contains(lockFree, w.Opcode) || slices.Contains(withData, w.Opcode) && !isCaptured { // logs do not say whether the server takes one
		return none()
	}
	return evidence(w.Request, "%s waits for no lock of a client", w.Operation)
}

func needsNoOther(j *Judge, w *facts.Wait) (diagnose.Evidence, bool) {
	switch {
	case w.Lock:
	case slices.Contains(ownWork, w.Opcode):
		return evidence(w.Request, "%s needs no other server", w.Operation)
	case w.AllNested && w.Nested < w.Length()/4:
		return evidence(w.Request, "the requests of the server to others took %.1f s of that time", float64(w.Nested)/1e9)
	}
	return none()
}

func retransmitted(_ *Judge, w *facts.Wait) (diagnose.Evidence, bool) {
	if w.Retransmit < w.Length()-w.Length()/4 {
		return none()
	}
	return evidence(w.Request, "%.1f s of the wait were retransmissions", float64(w.Retransmit)/1e9)
}

// dataOnTheirWay: the server has asked for the data of a write, and they came late. LNet that loses some of them shows in a second attempt.
func dataOnTheirWay(_ *Judge, w *facts.Wait) (diagnose.Evidence, bool) {
	if w.Opcode != opcodes.OST_WRITE || w.Open || len(w.Sends) > 1 || w.Bulk < w.Length()-w.Length()/4 {
		return none()
	}
	return evidence(w.Request, "the data of the write were on their way for %.1f s", float64(w.Bulk)/1e9)
}

// queuedByLog: a limit (NRS TBF), or too few threads.
func queuedByLog(_ *Judge, w *facts.Wait) (diagnose.Evidence, bool) {
	if w.Queued < w.Length()-w.Length()/4 {
		return none()
	}
	return evidence(w.Request, "by the log of %s, one %s of %s waited %.1f s for a thread", nodeName(w.Server), w.Operation, nodeName(w.Client), float64(w.Queued)/1e9)
}

func workedByLog(_ *Judge, w *facts.Wait) (diagnose.Evidence, bool) {
	if w.Worked < w.Length()-w.Length()/4 {
		return none()
	}
	return evidence(w.Request, "by the log of %s, a thread worked %.1f s for one %s of %s", nodeName(w.Server), float64(w.Worked)/1e9, w.Operation, nodeName(w.Client))
}

// workedWithoutData: a thread that waits for bulk data waits for the network.
func workedWithoutData(j *Judge, w *facts.Wait) (diagnose.Evidence, bool) {
	if waitsForData(w.Operation) {
		return none()
	}
	return workedByLog(j, w)
}

// nodeName returns the NID of a node, or a word for the one whose log does not have it.
func nodeName(n lnet.NID) string {
	if n.Len == 0 {
		return "its node"
	}
	return n.String()
}
