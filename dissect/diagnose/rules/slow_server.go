package rules

import (
	"fmt"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

var (
	slowServerTime = &diagnose.Threshold{Name: "time", Value: 1, Unit: "s",
		Reason: "a disk takes some milliseconds; a second is a long queue, or a disk that has a fault"}
	slowServerSum = &diagnose.Threshold{Name: "sum", Value: 2, Unit: "s",
		Reason: "a single RPC that took hardly more than a second may be a server that was busy for a moment"}
	slowServerShare = &diagnose.Threshold{Name: "share", Value: 0.01, Unit: "of the RPCs of these operations",
		Reason: "in a capture of days a few RPCs are slow for reasons that do not matter, unless one takes as long as a target that hangs"}
)

var _ = add(diagnose.Rule{
	Code:     "slow.server",
	Severity: diagnose.Warning,
	Noun:     "slow RPC",
	Summary:  "A server took a second or longer to read or write its storage.",
	Meaning: "The latency of an RPC has parts: the transfer of its bulk data, the network (a round trip, and what was sent again), and the rest, which is the time in the server. " +
		"The rule looks at operations that use the storage of a target and wait for no locks in the server (OST_READ, OST_WRITE, OST_SYNC, OST_CREATE, OST_STATFS, MDS_SYNC, MDS_STATFS, MDS_READPAGE, OUT_UPDATE). " +
		"Where such RPCs take a second or longer in the server, its storage or its queue is slow.",
	Limits: "Whether an RPC waited for a thread of the server, for memory, or for the disk cannot be seen. " +
		"RPCs that were sent more than once, replayed, or lost an unknown time by retransmission, are left out.",
	Next: "On the server: iostat -x 1 and the health of the disks and pools of this target, lctl get_param obdfilter.*.brw_stats osd-*.*.brw_stats, " +
		"lctl get_param ost.OSS.ost_io.stats (req_waittime, req_qdepth, threads), memory and CPU load. lshark rpcs --slowest shows the RPCs.",

	Thresholds: []*diagnose.Threshold{slowServerTime, slowServerSum, slowServerShare, hungTime},
	Samples:    []string{"hung_target.pcap.zst", "overload.pcap.zst", "slow_target.pcap.zst", "two_faults.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		s := &slowServers{report: r, conns: newPerConnection[serverTimes](), connects: fifo.NewMap[nodePair, int64](maxPairs)}
		return diagnose.Hooks{Opcodes: append([]uint32{opcodes.OST_CONNECT, opcodes.MDS_CONNECT}, storageOperations...), Sent: s.sent, Done: s.done, Nak: s.lost.refused, Tick: func(int64) { s.check(false) }, End: func() { s.check(true) }}
	},
})

// slowServers finds targets that are slow.
type slowServers struct {
	report *diagnose.Reporter
	conns  perConnection[serverTimes]
	lost   lostPackets

	connects *fifo.Map[nodePair, int64] // time of the last connect
}

// serverTimes are the RPCs of a connection that use the storage.
type serverTimes struct {
	conn        *track.Connection
	all, slow   int64
	operations  operationCounts // of the slow ones
	parts       parts
	first, last int64
	slowest     slowest
}

func (s *slowServers) sent(r *track.RPC, m *dissect.Message) {
	if track.IsConnect(r.Opcode) {
		s.connects.Put(nodePair{r.Client, r.Server}, m.Time)
	}
}

func (s *slowServers) done(r *track.RPC) {
	if r.Connection == nil || track.IsConnect(r.Opcode) {
		return
	}
	t := s.conns.of(r.Connection)
	t.all++
	if ns, ok := r.Latency(); !ok || ns < slowServerTime.Nanoseconds() {
		return
	}
	if s.lost.during(r) {
		return // its reply may have been lost and sent again
	}
	if connect, _ := s.connects.Get(nodePair{r.Client, r.Server}); connect > r.Requested().Time && r.Connection.Target == "" {
		return // it may have waited for a restart
	}
	p, ok := partsOf(r)
	if !ok || p.server < slowServerTime.Nanoseconds() {
		return
	}
	if t.slow == 0 {
		t.conn, t.operations, t.first = r.Connection, make(operationCounts), r.Requested().Time
	}
	t.slow++
	t.operations[r.Opcode]++
	t.parts.add(&p)
	t.last = max(t.last, r.Replied().Time)
	t.slowest.add(r, p.server)
}

// check reports targets. Before the end, those whose name is unknown may get one.
func (s *slowServers) check(end bool) {
	order, groups := byTarget(&s.conns)
	for _, k := range order {
		if k.name == "" && !end {
			continue
		}
		sum := serverTimes{operations: make(operationCounts)}
		for _, t := range groups[k] {
			sum.join(t)
		}
		if sum.parts.server >= slowServerSum.Nanoseconds() && (float64(sum.slow) >= slowServerShare.Value*float64(sum.all) || sum.slowest.list[0].ns >= hungTime.Nanoseconds()) {
			s.report.Report(sum.finding(k))
		}
	}
}

// join adds the RPCs of another connection.
func (t *serverTimes) join(other *serverTimes) {
	t.all += other.all
	if other.slow == 0 {
		return
	}
	if t.slow == 0 || other.first < t.first {
		t.first = other.first
	}
	t.conn = other.conn
	t.slow += other.slow
	for op, n := range other.operations {
		t.operations[op] += n
	}
	t.parts.add(&other.parts)
	t.last = max(t.last, other.last)
	for _, one := range other.slowest.list {
		t.slowest.insert(one)
	}
}

func (t *serverTimes) finding(k targetKey) diagnose.Finding {
	f := diagnose.Finding{Subject: k.subjectAt(t.conn.Server), First: t.first, Last: t.last, Count: t.slow,
		Text: fmt.Sprintf("%s took %s or longer in the server for %d of %d RPCs that use its storage (%s), %s at most. %s took %s: %s.",
			k, duration(slowServerTime.Nanoseconds()), t.slow, t.all, t.operations.text(), duration(t.slowest.list[0].ns), theseRPCs(t.slow), duration(t.parts.sum()), t.parts.text())}
	t.slowest.prove(&f)
	return f
}

// theseRPCs refers to so many RPCs.
func theseRPCs(n int64) string {
	if n == 1 {
		return "It"
	}
	return fmt.Sprintf("These %d RPCs", n)
}
