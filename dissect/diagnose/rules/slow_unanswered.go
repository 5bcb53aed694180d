package rules

import (
	"fmt"
	"strconv"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

var answeredLater = &diagnose.Threshold{Name: "answered", Value: 15, Unit: "s",
	Reason: "a client waits for a reply for 15 s at least; what is answered after that was sent later"}

var _ = add(diagnose.Rule{
	Code:     "slow.unanswered",
	Severity: diagnose.Warning,
	Noun:     "RPC without a reply",
	Summary:  "A server did not answer RPCs, though it answered others of the same client.",
	Meaning: "An RPC counts if its reply was due, everything that the server sent was captured, and later RPCs of the same connection were " +
		"answered without a new connect in between. " +
		"So the server is alive and knows the client, and these RPCs hang in it: they wait for something, their thread is stuck, or the " +
		"server has dropped them.",
	Limits: "Pings, connects, disconnects, and callbacks for locks do not count; neither do RPCs after which the client connected " +
		"again, as these are part of a recovery. What an RPC waits for cannot be seen.",
	Next: "On the server: the console log (\"service thread pid … was inactive\", watchdog stack traces), lctl get_param " +
		"*.*.req_history, echo t > /proc/sysrq-trigger for the stacks of its threads.",
	Thresholds: []*diagnose.Threshold{answeredLater},
	Start: func(reporter *diagnose.Reporter) diagnose.Hooks {
		conns := newPerConnection[unansweredRPCs]()
		return diagnose.Hooks{Done: func(r *track.RPC) {
			if !r.Unanswered() || r.Connection == nil || !r.HasOpcode || r.Opcode == opcodes.OBD_PING || track.IsCallback(r.Opcode) ||
				track.IsConnect(r.Opcode) || track.IsDisconnect(r.Opcode) || isContext(r.Opcode) {
				return
			}
			t := conns.of(r.Connection)
			t.conn = r.Connection
			if len(t.list) < maxUnanswered {
				t.list = append(t.list, unansweredRPC{r.Opcode, r.Requested(), r.ConnCnt})
			}
		}, End: func() {
			later := make(map[*track.Connection]*track.Import)
			for _, i := range reporter.Imports() {
				later[i.Connection] = i
			}
			for k, list := range fifo.All(byTarget(&conns)) {
				var sum series
				server := lnet.NID{}
				operations := make(operationCounts)
				for _, t := range list {
					i := later[t.conn]
					if i == nil || i.Evictions > 0 {
						continue
					}
					for _, one := range t.list {
						if i.ConnCnt == one.connCnt && i.LastReply-one.request.Time >= answeredLater.Nanoseconds() {
							server = t.conn.Server
							operations[one.opcode]++
							sum.add(one.request.Time)
							sum.proofs.Add(one.request, "%s sends %s, which is not answered", t.conn.Client, operationText(one.opcode))
						}
					}
				}
				if sum.count > 0 {
					f := sum.finding(k.subjectAt(server))
					f.Text = fmt.Sprintf("%s did not answer %s (%s) by the end of the capture, though it answered later ones without a new connect.",
						k, plural(sum.count, "RPC"), operations.text())
					reporter.Report(f)
				}
			}
		}}
	},
})

// unansweredRPCs are those of a connection.
type unansweredRPCs struct {
	conn *track.Connection
	list []unansweredRPC
}

// unansweredRPC is an RPC without a reply.
type unansweredRPC struct {
	opcode  uint32
	request track.Point
	connCnt uint32
}

const maxUnanswered = 64 // of a connection

// isContext reports whether an operation is about a security context.
func isContext(opcode uint32) bool {
	return opcode == opcodes.SEC_CTX_INIT || opcode == opcodes.SEC_CTX_INIT_CONT || opcode == opcodes.SEC_CTX_FINI
}

var (
	longEstimate = &diagnose.Threshold{Name: "estimate", Value: 30, Unit: "s",
		Reason: "a server begins with 5 s (at_min) and raises it only when RPCs took longer"}
	raisedEstimate = &diagnose.Threshold{Name: "ratio", Value: 2, Unit: "times the least estimate of the connection",
		Reason: "at_min may be set to a high value, and then nothing was raised"}
)

var _ = add(diagnose.Rule{
	Code:       "slow.timeouts",
	Severity:   diagnose.Note,
	Noun:       "raised timeout",
	Background: true,
	Summary:    "Adaptive timeouts have grown: some RPCs of the last minutes took very long.",
	Meaning: "With each reply a server tells how long its RPCs take at most, as seen in the last minutes (adaptive timeouts). Clients wait " +
		"that long, and a quarter more, before they give up. " +
		"A high estimate shows that RPCs were slow before, perhaps before the capture began, and it makes clients slow to notice that a " +
		"server is gone.",
	Limits: "The estimate is of a service of the server, and not of a single target. Which RPCs were slow does not show in it. The " +
		"estimates in replies to connects and to requests for security contexts do not count.",
	Next: "lctl get_param *.*.timeouts on client and server shows the history of the estimates; slow.server and slow.early_replies " +
		"whether RPCs are slow now.",

	Thresholds: []*diagnose.Threshold{longEstimate, raisedEstimate},
	Samples: []string{"black_hole.pcap.zst", "checksum.pcap.zst", "eio.pcap.zst", "enospc.pcap.zst", "evicted.pcap.zst",
		"evicted_ping.pcap.zst", "failback.pcap.zst", "failover.pcap.zst", "hung_target.pcap.zst", "late_recovery.pcap.zst",
		"late_recovery_client.pcap.zst", "no_recovery.pcap.zst", "rdma_loss.pcap.zst", "slow_client.pcap.zst", "slow_network.pcap.zst",
		"slow_target.pcap.zst", "two_faults.pcap.zst", "vanished_client.pcap.zst"},
	Start: func(reporter *diagnose.Reporter) diagnose.Hooks {
		conns := newPerConnection[estimateRange]()
		return diagnose.Hooks{Done: func(r *track.RPC) {
			if r.Connection == nil || r.Estimate == 0 || track.IsCallback(r.Opcode) || track.IsConnect(r.Opcode) || !r.HasOpcode ||
				isContext(r.Opcode) {
				return
			}
			t := conns.of(r.Connection)
			if t.least == 0 || r.Estimate < t.least {
				t.least = r.Estimate
			}
			if float64(r.Estimate) < longEstimate.Value {
				return
			}
			if t.long == 0 {
				t.first = r.Replied().Time
			}
			t.long++
			t.last = r.Replied().Time
			if r.Estimate > t.most {
				t.most, t.at, t.opcode = r.Estimate, r.Replied(), r.Opcode
			}
		}, End: func() {
			servers := fifo.NewMap[lnet.NID, *estimateRange](maxConnections) // as an estimate is not of a single target
			for c, t := range fifo.All(conns.values) {
				fifo.GetOrNew(servers, c.Server).join(t)
			}
			for server, t := range fifo.All(servers) {
				if t.long > 0 && float64(t.most) >= raisedEstimate.Value*float64(t.least) {
					reporter.Report(t.finding(server))
				}
			}
		}}
	},
})

// estimateRange are the estimates of a connection in seconds.
type estimateRange struct {
	least, most uint32
	long        int64 // RPCs with a long one
	first, last int64
	at          track.Point // reply with the highest
	opcode      uint32      // of this RPC
}

// join adds the estimates of another connection.
func (t *estimateRange) join(other *estimateRange) {
	if other.least != 0 && (t.least == 0 || other.least < t.least) {
		t.least = other.least
	}
	if other.long == 0 {
		return
	}
	if t.long == 0 || other.first < t.first {
		t.first = other.first
	}
	t.last = max(t.last, other.last)
	t.long += other.long
	if other.most > t.most {
		t.most, t.at, t.opcode = other.most, other.at, other.opcode
	}
}

func (t *estimateRange) finding(server lnet.NID) diagnose.Finding {
	f := diagnose.Finding{Subject: diagnose.Subject{Server: server}, First: t.first, Last: t.last, Count: t.long,
		Text: fmt.Sprintf("%s expects some of its RPCs to take up to %d s, while %d s is the least that it says: in the minutes before, some "+
			"took that long. Clients wait for %d s or longer before they give up.",
			server, t.most, t.least, t.most+t.most/4)}
	f.Prove(t.at, "a reply (%s) with an estimate of %d s", operationText(t.opcode), t.most)
	return f
}

var earlyTime = &diagnose.Threshold{Name: "time", Value: 4, Unit: "s", Reason: "a client waits for five seconds at least, so what is " +
	"answered before that had no early reply: another request with the same number had"}

var _ = add(diagnose.Rule{
	Code:     "slow.early_replies",
	Severity: diagnose.Warning,
	Noun:     "RPC with early replies",
	Summary:  "A server asked clients for more time.",
	Meaning: "With adaptive timeouts a client tells how long it will wait. A server that cannot answer by then sends an early reply, and " +
		"the client waits longer. " +
		"So the RPC has waited for almost the whole time, five seconds at least: for a thread, for the storage, or for a lock.",
	Limits: "An early reply says that the server is alive and knows the RPC, and not what it waits for. Where all such RPCs ask for locks, " +
		"other clients that keep these may be the cause, and the finding is a note.",
	Next: "lctl get_param *.*.req_history and *.*.timeouts on the server; slow.server shows whether its storage is slow, lock.* and " +
		"lshark locks --blockers who keeps locks.",

	Thresholds: []*diagnose.Threshold{earlyTime},
	Samples: []string{"hung_target.pcap.zst", "late_recovery.pcap.zst", "late_recovery_client.pcap.zst", "rdma_loss.pcap.zst",
		"rolled_back.pcap.zst"},
	Start: func(reporter *diagnose.Reporter) diagnose.Hooks {
		conns := newPerConnection[earlyTimes]()
		return diagnose.Hooks{Done: func(r *track.RPC) {
			ns, ok := r.Latency()
			open := !r.HasReply && (r.Missing == track.CaptureEnded || r.Missing == track.Unanswered)
			if open {
				ns = reporter.Now() - r.Begin()
			}
			if r.Early == 0 || r.Connection == nil || r.Opcode == opcodes.OBD_PING || ok && ns < earlyTime.Nanoseconds() {
				return // pings wait for the end of a recovery only
			}
			t := conns.of(r.Connection)
			t.conn = r.Connection
			t.count(r.Opcode, r.Begin(), r.Begin())
			t.early += int64(r.Early)
			if r.Opcode == opcodes.LDLM_ENQUEUE {
				t.locks++
			}
			if open {
				t.open++
			}
			if ok || open {
				t.last = max(t.last, r.Begin()+ns)
				t.slowest.add(r, ns)
			} else {
				t.unseen++
				t.request = r.Requested()
			}
		}, End: func() {
			for k, list := range fifo.All(byTarget(&conns)) {
				var sum earlyTimes
				var clients []lnet.NID
				for _, t := range list {
					sum.join(&t.rpcSum)
					clients = withNew(clients, t.conn.Client, unlimited)
					sum.conn = t.conn
					sum.early += t.early
					sum.locks += t.locks
					sum.open += t.open
					if sum.unseen += t.unseen; t.unseen > 0 {
						sum.request = t.request
					}
				}
				f := sum.finding(k.subjectAt(sum.conn.Server))
				f.Client = only(clients)
				f.Text = fmt.Sprintf("%s sent %s for %s (%s): it could not answer in the time that the clients wait, and asked for more.",
					k, earlyText(sum.early), plural(sum.n, "RPC"), sum.operations.text())
				if len(sum.slowest.list) > 0 {
					f.Wait = sum.slowest.list[0].ns
					f.Text += " " + longestOf(sum.n) + " waited " + duration(f.Wait) + "."
				}
				if sum.open > 0 {
					f.Text += " When the capture ended, " + ofThem(sum.open, sum.n) + " had no reply."
				}
				if sum.unseen > 0 {
					f.Text += " The capture lacks the reply to " + ofThem(sum.unseen, sum.n) + "."
				}
				if sum.locks == sum.n {
					f.Severity = diagnose.Note
				}
				if len(f.Evidence) == 0 {
					f.Prove(sum.request, "a request whose reply was not captured")
				}
				reporter.Report(f)
			}
		}}
	},
})

// earlyTimes are those of a connection.
type earlyTimes struct {
	rpcSum
	conn    *track.Connection
	early   int64
	locks   int64       // RPCs that ask for a lock
	open    int64       // RPCs without a reply when the capture ended
	unseen  int64       // RPCs whose reply was not captured
	request track.Point // of such an RPC
}

// longestOf begins a sentence about the longest of so many RPCs.
func longestOf(n int64) string { return oneOrMany(n, "It", "The longest") }

// ofThem refers to n of all RPCs.
func ofThem(n, all int64) string {
	if all == 1 {
		return "it"
	}
	return strconv.FormatInt(n, 10) + " of them"
}

func earlyText(n int64) string {
	if n == 1 {
		return "an early reply"
	}
	return fmt.Sprintf("%d early replies", n)
}
