package rules

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

var (
	slowServerTime = &diagnose.Threshold{Name: "time", Value: 1, Unit: "s",
		Reason: "a disk takes some milliseconds; a second is a long queue, or a disk that has a fault"}
	slowServerSum = &diagnose.Threshold{Name: "sum", Value: 2, Unit: "s",
		Reason: "a single RPC that took hardly more than a second may be a server that was busy for a moment"}
	sentBeforeTime = &diagnose.Threshold{Name: "time from the begin of the capture", Value: 10, Unit: "s",
		Reason: "a request that was sent before the capture has been delayed for longer than any ordinary one"}
	slowServerShare = &diagnose.Threshold{Name: "share", Value: 0.01, Unit: "of the RPCs of these operations",
		Reason: "in a capture of days a few RPCs are slow for reasons that do not matter, unless one takes as long as a target that hangs"}
)

var _ = add(diagnose.Rule{
	Code:     "slow.server",
	Logs:     true,
	Severity: diagnose.Warning,
	Noun:     "slow RPC",
	Summary:  "A server took a second or longer to read or write its storage.",
	Meaning: "The latency of an RPC has parts: the transfer of its bulk data, the network (a round trip, and what was sent again), and the " +
		"rest, which is the time in the server. " +
		"The rule looks at operations that use the storage of a target and wait for no locks in the server (OST_READ, OST_WRITE, OST_SYNC, " +
		"OST_CREATE, OST_STATFS, MDS_SYNC, MDS_STATFS, MDS_READPAGE, OUT_UPDATE). " +
		"Where such RPCs take a second or longer in the server, its storage or its queue is slow. " +
		"Where many wait and their replies come at an even pace, the server limits the rate of the client.",
	Limits: "Whether an RPC waited for a thread of the server, for memory, or for the disk cannot be seen without the debug log of the " +
		"server (--log). " +
		"RPCs that were sent more than once, replayed, or lost an unknown time by retransmission, are left out.",
	Next: "On the server: iostat -x 1 and the health of the disks and pools of this target, lctl get_param obdfilter.*.brw_stats " +
		"osd-*.*.brw_stats, " +
		"lctl get_param ost.OSS.ost_io.stats (req_waittime, req_qdepth, threads), memory and CPU load. lshark rpcs --slowest shows the RPCs.",

	Thresholds: []*diagnose.Threshold{slowServerTime, slowServerSum, sentBeforeTime, slowServerShare, hungTime},
	Samples:    []string{"hung_target.pcap.zst", "overload.pcap.zst", "slow_target.pcap.zst", "two_faults.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		s := &slowServers{report: r, conns: newPerConnection[serverTimes](), connects: fifo.NewMap[nodePair, int64](maxPairs),
			paces: fifo.NewMap[nodePair, *replyPace](maxPairs), begins: fifo.NewMap[lnet.NID, clientBegin](maxPairs)}
		return diagnose.Hooks{Opcodes: append([]uint32{opcodes.OST_CONNECT, opcodes.MDS_CONNECT}, storageOperations...), Sent: s.sent,
			Done: s.done, Unseen: onlyLogged(storageOperations, s.done), IBEvent: s.lost.event, TCPEvent: s.segment,
			Tick: func(int64) { s.check(false) }, End: func() { s.check(true) }}
	},
})

// slowServers finds targets that are slow.
type slowServers struct {
	report *diagnose.Reporter
	conns  perConnection[serverTimes]
	lost   lostPackets
	resent lostPackets // over TCP

	connects *fifo.Map[nodePair, int64]      // time of the last connect
	paces    *fifo.Map[nodePair, *replyPace] // of slow RPCs
	begins   *fifo.Map[lnet.NID, clientBegin]
	client   lnet.NID // the last one in begins
}

// clientBegin is the first request of a client in the capture.
type clientBegin struct {
	xid  uint64
	time int64
}

// serverTimes are the RPCs of a connection that use the storage.
type serverTimes struct {
	rpcSum  // of the slow ones
	conn    *track.Connection
	all     int64 // those of which the time in the server is known
	parts   parts
	connect int64 // time of the last connect

	// Of those that are in the log of the server, for how long they waited for a thread, and
	// how long threads worked for them.
	logged, queued, worked int64
}

func (s *slowServers) segment(m *lnet.TCPEvent) {
	if m.Retransmissions > 0 {
		s.resent.event(&lnet.IBEvent{Frame: m.Frame, Src: m.Src, Dst: m.Dst})
	}
}

func (s *slowServers) sent(r *track.RPC, m *dissect.Message) {
	if track.IsConnect(r.Opcode) {
		fifo.Put(s.connects, nodePair{r.Client, r.Server}, m.Time)
		if r.Connection != nil {
			s.conns.of(r.Connection).connect = m.Time
		}
	}
	if r.Client == s.client {
		return
	}
	s.client = r.Client
	if _, known := fifo.Get(s.begins, r.Client); !known {
		fifo.Put(s.begins, r.Client, clientBegin{r.XID, m.Time})
	}
}

// sentBefore reports an RPC whose request was sent before the capture began, if its reply came
// long after: a client numbers its requests.
func (s *slowServers) sentBefore(r *track.RPC) {
	begin, known := fifo.Get(s.begins, r.Client)
	waited := r.Replied().Time - begin.time
	if !known || r.XID >= begin.xid || waited < sentBeforeTime.Nanoseconds() || s.lost.since(begin.time, r) ||
		s.resent.since(begin.time, r) {
		return
	}
	f := diagnose.Finding{Subject: diagnose.Subject{Client: r.Client, Server: r.Server, Detail: diagnose.SentBefore}, First: begin.time,
		Last: r.Replied().Time, Wait: waited}
	f.Text = fmt.Sprintf("%s of %s waited at least %s for the reply of %s: it was sent before the capture began.", operationText(r.Opcode), r.Client,
		duration(waited), r.Server)
	f.Brief = f.Text + " Look at the storage of that server first (iostat -x 1)."
	f.Prove(r.Replied(), "its reply")
	s.report.Report(f)
}

func (s *slowServers) done(r *track.RPC) {
	if !r.HasRequest && r.HasReply && !track.IsConnect(r.Opcode) {
		s.sentBefore(r)
	}
	if r.Connection == nil || track.IsConnect(r.Opcode) {
		return
	}
	t := s.conns.of(r.Connection)
	switch ns, ok := r.Latency(); {
	case !ok:
		return
	case ns < slowServerTime.Nanoseconds():
		t.all++
		return
	}
	if s.lost.during(r) {
		return // its reply may have been lost and sent again
	}
	connect, _ := fifo.Get(s.connects, nodePair{r.Client, r.Server})
	if connect > r.Requested().Time && r.Connection.Target == "" || t.connect > r.Requested().Time {
		return // it may have waited for a restart, or has been sent again
	}
	p, ok := partsOf(r)
	if !ok {
		return
	}
	if t.all++; p.server < slowServerTime.Nanoseconds() {
		return
	}
	t.conn = r.Connection
	t.count(r.Opcode, r.Requested().Time, r.Replied().Time)
	t.parts.add(&p)
	t.slowest.add(r, p.server)
	if l := r.Log; l != nil && l.Server.Handled != 0 {
		t.logged++
		t.queued += l.Server.Queue()
		t.worked += l.Server.Service
	}
	fifo.GetOrNew(s.paces, nodePair{r.Client, r.Server}).add(r.Replied().Time, p.server)
}

// check reports targets. Before the end, those whose name is unknown may get one.
func (s *slowServers) check(end bool) {
	for k, conns := range fifo.All(byTarget(&s.conns)) {
		if k.name == "" && !end {
			continue
		}
		var sum serverTimes
		for _, t := range conns {
			sum.join(t)
		}
		if sum.parts.server >= slowServerSum.Nanoseconds() && (float64(sum.n) >= slowServerShare.Value*float64(sum.all) ||
			sum.slowest.list[0].ns >= hungTime.Nanoseconds()) {
			f := sum.finding(k)
			if gap, ok := s.evenPace(conns); ok {
				pace := fmt.Sprintf(" They were answered at an even pace, one RPC of each client every %s, however many waited.", duration(gap))
				f.Brief = diagnose.Sentences(f.Text, 1) + pace + " Look for a limit in the server (NRS TBF rules) before its disks and the network."
				f.Text += pace
				f.Next = "On the server: lctl get_param ost.OSS.ost_io.nrs_policies ost.OSS.ost_io.nrs_tbf_rule, and req_waittime in " +
					"ost.OSS.ost_io.stats."
			}
			sum.explainByLog(&f)
			s.report.Report(f)
		}
	}
}

// Shares of the time in the server from which on the queue, or the threads, are to blame.
const (
	mostlyQueued = 0.8
	mostlyWorked = 0.2
)

// explainByLog adds what the log of the server has about the slow RPCs: whether they waited
// for a thread, or for what the thread did.
func (t *serverTimes) explainByLog(f *diagnose.Finding) {
	total := t.queued + t.worked
	if total == 0 {
		return
	}
	share := float64(t.queued) / float64(total)
	log := fmt.Sprintf(" By the log of the server, %s waited %s in its queue for a thread (%.0f %%), and threads worked %s for them.",
		plural(t.logged, "RPC"), duration(t.queued), 100*share, duration(t.worked))
	storage := " Look at the storage of this target and what its threads wait for, not at the queue or the network."
	if t.conn.IsLog() {
		log = strings.TrimSuffix(log, ".") + ", in which their data were transferred, too."
		storage = " Look at the storage, and at the network on which the data came or went meanwhile, not at the queue."
	}
	switch first := diagnose.Sentences(f.Text, 1); {
	case share >= mostlyQueued:
		f.Brief = first + log + " Look for what fills the queue (NRS rules, too few threads), not at the disks or the network."
	case share <= mostlyWorked:
		f.Brief = first + log + storage
	}
	f.Text += log
}

// evenPace reports whether the server answered the slow RPCs of each client at an even
// pace, and how much time passed between two answers (of the slowest client).
func (s *slowServers) evenPace(conns []*serverTimes) (gap int64, ok bool) {
	for _, t := range conns {
		if t.n == 0 {
			continue
		}
		pace, found := fifo.Get(s.paces, nodePair{t.conn.Client, t.conn.Server})
		if !found || !pace.isEven() {
			return 0, false
		}
		gap = max(gap, median(pace.gaps))
	}
	return gap, gap > 0
}

// join adds the RPCs of another connection.
func (t *serverTimes) join(other *serverTimes) {
	t.all += other.all
	if other.n == 0 {
		return
	}
	t.rpcSum.join(&other.rpcSum)
	t.conn = other.conn
	t.logged, t.queued, t.worked = t.logged+other.logged, t.queued+other.queued, t.worked+other.worked
	t.parts.add(&other.parts)
}

func (t *serverTimes) finding(k targetKey) diagnose.Finding {
	f := t.rpcSum.finding(k.subjectAt(t.conn.Server))
	longest := duration(t.slowest.list[0].ns)
	switch {
	case t.all == 1:
		f.Text = fmt.Sprintf("%s took %s in the server for the only RPC that uses its storage (%s).", k, longest, t.operations.text())
	case t.n == 1:
		f.Text = fmt.Sprintf("%s took %s in the server for 1 of %d RPCs that use its storage (%s).", k, longest, t.all, t.operations.text())
	default:
		f.Text = fmt.Sprintf("%s took %s or longer in the server for %d of %d RPCs that use its storage (%s), %s at most.",
			k, duration(slowServerTime.Nanoseconds()), t.n, t.all, t.operations.text(), longest)
	}
	if !t.conn.IsLog() {
		f.Text += fmt.Sprintf(" %s took %s: %s.", theseRPCs(t.n), duration(t.parts.sum()), t.parts.text())
	}
	f.Brief = f.Text + " Look at its disks first (iostat -x 1), then at threads and load of the server."
	return f
}

// theseRPCs refers to so many RPCs.
func theseRPCs(n int64) string {
	if n == 1 {
		return "It"
	}
	return fmt.Sprintf("These %d RPCs", n)
}

// replyPace are the times between the replies to slow RPCs of a client, and how long these
// took. A limit on the rate of a client lets one through at a time, at an even pace; the
// time that a disk takes varies.
type replyPace struct {
	last  int64 // reply
	gaps  []int64
	waits []int64
}

const (
	minPaceReplies = 10
	maxPaceReplies = 64 // kept
	paceTolerance  = 10 // a gap differs by a tenth from the median at most
)

func (p *replyPace) add(replied, wait int64) {
	if p.last != 0 && replied >= p.last && len(p.gaps) < maxPaceReplies {
		p.gaps, p.waits = append(p.gaps, replied-p.last), append(p.waits, wait)
	}
	p.last = replied
}

// isEven reports whether most gaps are equal, though several RPCs waited at a time.
func (p *replyPace) isEven() bool {
	if len(p.gaps) < minPaceReplies {
		return false
	}
	gap, equal := median(p.gaps), 0
	for _, g := range p.gaps {
		if max(g-gap, gap-g) <= gap/paceTolerance {
			equal++
		}
	}
	return gap > 0 && 4*equal >= 3*len(p.gaps) && median(p.waits) >= 3*gap
}

func median(times []int64) int64 {
	return slices.Sorted(slices.Values(times))[len(times)/2]
}

var (
	overloadDepth = &diagnose.Threshold{Name: "depth", Value: 16, Unit: "RPCs in flight",
		Reason: "one client has 8 in flight by default; two such clients are no overload, but the least that shows one"}
	overloadRPCs = &diagnose.Threshold{Name: "RPCs", Value: 20, Unit: "RPCs at each depth",
		Reason: "with fewer, chance decides"}
	overloadRatio = &diagnose.Threshold{Name: "ratio", Value: 4, Unit: "times the latency at low depth",
		Reason: "some growth is normal, as RPCs share the network and the disk"}
	overloadGain = &diagnose.Threshold{Name: "gain", Value: 1.5, Unit: "times as many RPCs in a second as at low depth",
		Reason: "a server that still does more work with more RPCs in flight is not overloaded"}
	overloadLatency = &diagnose.Threshold{Name: "latency", Value: 0.1, Unit: "s",
		Reason: "less than that is not noticed"}
)

var _ = add(diagnose.Rule{
	Code:     "slow.overload",
	Severity: diagnose.Note,
	Noun:     "RPC that waited in a queue",
	Summary:  "A target has more RPCs in flight than it can work on: they only wait longer.",
	Meaning: "The latency of reads and writes of about the same size is compared by how many RPCs with data the target had in flight when " +
		"each was sent, by powers of two. " +
		"The rate of a server is the number in flight divided by the latency. Where the latency grows as fast as the number in flight, the " +
		"rate stays: the storage or the network is saturated, and RPCs wait in its queue.",
	Limits: "Only the RPCs in the capture count: in that of a client, those of other clients are missing. What is saturated, the disk or " +
		"the network, cannot be told by this alone.",
	Next: "Find out who sends so much: lshark stats --by job,client. On the server: iostat -x 1, req_qdepth in lctl get_param " +
		"ost.OSS.ost_io.stats; a TBF or ORR policy of NRS can divide it among clients or jobs.",

	Thresholds: []*diagnose.Threshold{overloadDepth, overloadRPCs, overloadRatio, overloadGain, overloadLatency},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		o := newOverloads(r)
		return diagnose.Hooks{Opcodes: []uint32{opcodes.OST_READ, opcodes.OST_WRITE}, Sent: o.sent, Answered: o.answered, Done: o.done,
			End: o.end}
	},
})

// overloads has the latencies by the number of RPCs in flight.
type overloads struct {
	report   *diagnose.Reporter
	conns    perConnection[connectionDepth]
	targets  *fifo.Map[targetKey, *depths]
	attached track.Attached[int32] // RPCs in flight when it was sent, 0 when it is not
}

func newOverloads(r *diagnose.Reporter) *overloads {
	return &overloads{report: r, conns: newPerConnection[connectionDepth](), targets: fifo.NewMap[targetKey, *depths](maxConnections)}
}

// connectionDepth finds the target of a connection.
type connectionDepth struct{ target *depths }

// depths are the latencies at a target.
type depths struct {
	conn        *track.Connection
	inFlight    int32
	first, last int64
	levels      map[workClass]*[maxDepthBits]histogram
}

const maxDepthBits = 14

func (o *overloads) of(c *track.Connection) *depths {
	v := o.conns.of(c)
	if v.target == nil {
		k := connectionTarget(c)
		d := fifo.GetOrMake(o.targets, k, func() *depths { return &depths{conn: c, levels: make(map[workClass]*[maxDepthBits]histogram)} })
		v.target = d
	}
	return v.target
}

func (o *overloads) sent(r *track.RPC, _ *dissect.Message) {
	if r.Connection == nil || r.Sends > 1 {
		return
	}
	if depth := o.attached.Of(r); *depth == 0 {
		d := o.of(r.Connection)
		d.inFlight++
		*depth = d.inFlight
	}
}

func (o *overloads) answered(r *track.RPC, _ *dissect.Message) {
	depth := o.attached.Of(r)
	if *depth <= 0 {
		return
	}
	d := o.of(r.Connection)
	d.inFlight--
	if ns, ok := r.Latency(); ok && !r.Failed() {
		if d.first == 0 {
			d.first = r.Begin()
		}
		d.last = r.Begin()
		class := classOf(r)
		levels := d.levels[class]
		if levels == nil {
			levels = new([maxDepthBits]histogram)
			d.levels[class] = levels
		}
		levels[min(bits.Len32(uint32(*depth))-1, maxDepthBits-1)].add(ns)
	}
	*depth = -1 // counted
}

func (o *overloads) done(r *track.RPC) {
	depth := o.attached.Of(r)
	if *depth > 0 {
		o.of(r.Connection).inFlight--
	}
	*depth = 0
}

func (o *overloads) end() {
	for _, d := range fifo.All(o.targets) {
		o.check(d)
	}
}

// check reports a target whose rate does not grow with the number in flight. Of
// several classes of RPCs, that with the highest latency is reported.
func (o *overloads) check(d *depths) {
	var worst overload
	for class, levels := range d.levels {
		if x, ok := overloadOf(levels); ok && (x.slow > worst.slow || x.slow == worst.slow && class.size > worst.class.size) {
			worst = x
			worst.class = class
		}
	}
	if worst.n == 0 {
		return
	}
	k := connectionTarget(d.conn)
	o.report.Report(diagnose.Finding{Subject: k.subjectAt(d.conn.Server), First: d.first, Last: d.last, Count: worst.n,
		Text: fmt.Sprintf("%s is saturated: with %d or more reads and writes in flight, the median latency of %s is %s; with %s, of the same "+
			"size, it is %s. With so many more at a time it does only %.1f times the work.",
			k, 1<<worst.high, operationText(worst.class.opcode), duration(int64(worst.slow)), depthText(worst.low), duration(int64(worst.fast)), worst.gain)})
}

// overload is a comparison of latencies at a low and a high number of RPCs in flight.
type overload struct {
	class      workClass
	low, high  int     // levels
	fast, slow float64 // medians, in nanoseconds
	gain       float64 // of the rate
	n          int64   // RPCs at the high level
}

// overloadOf compares the lowest with the highest level that has enough RPCs.
func overloadOf(levels *[maxDepthBits]histogram) (x overload, ok bool) {
	x.low, x.high = -1, -1
	for level := range levels {
		if float64(levels[level].n) < overloadRPCs.Value {
			continue
		}
		if x.low < 0 {
			x.low = level
		}
		x.high = level
	}
	if x.high < 0 || float64(int(1)<<x.high) < overloadDepth.Value || x.low == x.high {
		return x, false
	}
	x.fast, x.slow, x.n = levels[x.low].median(), levels[x.high].median(), levels[x.high].n
	x.gain = float64(int(1)<<(x.high-x.low)) * x.fast / x.slow
	return x, x.slow >= overloadRatio.Value*x.fast && x.gain <= overloadGain.Value && x.slow >= float64(overloadLatency.Nanoseconds())
}

// depthText returns the depths of a level as in "1" or "4 to 7".
func depthText(level int) string {
	if level == 0 {
		return "1"
	}
	return fmt.Sprintf("%d to %d", 1<<level, 1<<(level+1)-1)
}
