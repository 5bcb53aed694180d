package rules

import (
	"fmt"
	"strconv"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

var earlyTime = &diagnose.Threshold{Name: "time", Value: 4, Unit: "s", Reason: "a client waits for five seconds at least, so what is answered before that had no early reply: another request with the same number had"}

var _ = add(diagnose.Rule{
	Code:     "slow.early_replies",
	Severity: diagnose.Warning,
	Noun:     "RPC with early replies",
	Summary:  "A server asked clients for more time.",
	Meaning: "With adaptive timeouts a client tells how long it will wait. A server that cannot answer by then sends an early reply, and the client waits longer. " +
		"So the RPC has waited for almost the whole time, five seconds at least: for a thread, for the storage, or for a lock.",
	Limits: "An early reply says that the server is alive and knows the RPC, and not what it waits for. Where all such RPCs ask for locks, other clients that keep these may be the cause, and the finding is a note.",
	Next:   "lctl get_param *.*.req_history and *.*.timeouts on the server; slow.server shows whether its storage is slow, lock.* and lshark locks --blockers who keeps locks.",

	Thresholds: []*diagnose.Threshold{earlyTime},
	Samples:    []string{"hung_target.pcap.zst", "late_recovery.pcap.zst", "late_recovery_client.pcap.zst", "rolled_back.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		e := &earlyReplies{report: r, conns: newPerConnection[earlyTimes]()}
		return diagnose.Hooks{Done: e.done, End: e.end}
	},
})

// earlyReplies are the RPCs that had early replies.
type earlyReplies struct {
	report *diagnose.Reporter
	conns  perConnection[earlyTimes]
}

// earlyTimes are those of a connection.
type earlyTimes struct {
	conn        *track.Connection
	rpcs, early int64
	locks       int64 // RPCs that ask for a lock
	open        int64 // RPCs without a reply when the capture ended
	operations  operationCounts
	first, last int64
	slowest     slowest
}

func (e *earlyReplies) done(r *track.RPC) {
	ns, ok := r.Latency()
	open := !r.HasReply && r.Missing == track.CaptureEnded
	if open {
		ns = e.report.Now() - r.Begin()
	}
	if r.Early == 0 || r.Connection == nil || r.Opcode == opcodes.OBD_PING || ok && ns < earlyTime.Nanoseconds() {
		return // pings wait for the end of a recovery only
	}
	t := e.conns.of(r.Connection)
	if t.rpcs == 0 {
		t.conn, t.operations, t.first = r.Connection, make(operationCounts), r.Begin()
	}
	t.rpcs++
	t.early += int64(r.Early)
	t.operations[r.Opcode]++
	if r.Opcode == opcodes.LDLM_ENQUEUE {
		t.locks++
	}
	t.last = max(t.last, r.Begin())
	if open {
		t.open++
	}
	if ok || open {
		t.last = max(t.last, r.Begin()+ns)
		t.slowest.add(r, ns)
	}
}

func (e *earlyReplies) end() {
	order, groups := byTarget(&e.conns)
	for _, k := range order {
		f := diagnose.Finding{Subject: k.subject()}
		var sum earlyTimes
		sum.operations = make(operationCounts)
		for _, t := range groups[k] {
			f.Server = t.conn.Server
			if f.First == 0 || t.first < f.First {
				f.First = t.first
			}
			f.Last = max(f.Last, t.last)
			sum.rpcs += t.rpcs
			sum.early += t.early
			sum.locks += t.locks
			sum.open += t.open
			for op, n := range t.operations {
				sum.operations[op] += n
			}
			for _, one := range t.slowest.list {
				sum.slowest.insert(one)
			}
		}
		f.Count = sum.rpcs
		f.Text = fmt.Sprintf("%s sent %s for %s (%s): it could not answer in the time that the clients wait, and asked for more.",
			k, earlyText(sum.early), plural(sum.rpcs, "RPC"), sum.operations.text())
		if len(sum.slowest.list) > 0 {
			f.Wait = sum.slowest.list[0].ns
			f.Text += " The longest waited " + duration(f.Wait) + "."
		}
		if sum.open > 0 {
			f.Text += " When the capture ended, " + strconv.FormatInt(sum.open, 10) + " of them had no reply."
		}
		if sum.locks == sum.rpcs {
			f.Severity = diagnose.Note
		}
		sum.slowest.prove(&f)
		e.report.Report(f)
	}
}

func earlyText(n int64) string {
	if n == 1 {
		return "an early reply"
	}
	return fmt.Sprintf("%d early replies", n)
}
