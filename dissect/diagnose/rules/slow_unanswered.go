package rules

import (
	"fmt"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

var answeredLater = &diagnose.Threshold{Name: "answered", Value: 15, Unit: "s",
	Reason: "a client waits for a reply for 15 s at least; what is answered after that was sent later"}

var _ = add(diagnose.Rule{
	Code:     "slow.unanswered",
	Severity: diagnose.Warning,
	Noun:     "RPC without a reply",
	Summary:  "A server did not answer RPCs, though it answered others of the same client.",
	Meaning: "An RPC counts if its reply was due, everything that the server sent was captured, and later RPCs of the same connection were answered without a new connect in between. " +
		"So the server is alive and knows the client, and these RPCs hang in it: they wait for something, their thread is stuck, or the server has dropped them.",
	Limits:     "Pings, connects, disconnects, and callbacks for locks do not count; neither do RPCs after which the client connected again, as these are part of a recovery. What an RPC waits for cannot be seen.",
	Next:       "On the server: the console log (\"service thread pid … was inactive\", watchdog stack traces), lctl get_param *.*.req_history, echo t > /proc/sysrq-trigger for the stacks of its threads.",
	Thresholds: []*diagnose.Threshold{answeredLater},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		u := &unanswered{report: r, conns: newPerConnection[unansweredRPCs]()}
		return diagnose.Hooks{Done: u.done, End: u.end}
	},
})

// unanswered are the RPCs without a reply.
type unanswered struct {
	report *diagnose.Reporter
	conns  perConnection[unansweredRPCs]
}

// unansweredRPCs are those of a connection.
type unansweredRPCs struct {
	conn *track.Connection
	list []unansweredRPC
	n    int64
}

// unansweredRPC is an RPC without a reply.
type unansweredRPC struct {
	opcode  uint32
	request track.Point
	connCnt uint32
}

const maxUnanswered = 64 // of a connection

func (u *unanswered) done(r *track.RPC) {
	if !r.Unanswered() || r.Connection == nil || !r.HasOpcode || r.Opcode == opcodes.OBD_PING || track.IsCallback(r.Opcode) ||
		track.IsConnect(r.Opcode) || track.IsDisconnect(r.Opcode) || isContext(r.Opcode) {
		return
	}
	t := u.conns.of(r.Connection)
	t.conn = r.Connection
	if t.n++; len(t.list) < maxUnanswered {
		t.list = append(t.list, unansweredRPC{r.Opcode, r.Requested(), r.ConnCnt})
	}
}

func (u *unanswered) end() {
	later := make(map[*track.Connection]*track.Import)
	for _, i := range u.report.Imports() {
		later[i.Connection] = i
	}
	order, groups := byTarget(&u.conns)
	for _, k := range order {
		f := diagnose.Finding{Subject: k.subject()}
		operations := make(operationCounts)
		n := int64(0)
		for _, t := range groups[k] {
			i := later[t.conn]
			if i == nil {
				continue
			}
			for _, one := range t.list {
				if i.ConnCnt != one.connCnt || i.LastReply-one.request.Time < answeredLater.Nanoseconds() || i.Evictions > 0 {
					continue
				}
				n++
				f.Server = t.conn.Server
				operations[one.opcode]++
				if f.First == 0 || one.request.Time < f.First {
					f.First = one.request.Time
				}
				f.Last = max(f.Last, one.request.Time)
				f.Prove(one.request, "%s sends %s, which is never answered", t.conn.Client, operationText(one.opcode))
			}
		}
		if n == 0 {
			continue
		}
		f.Count = n
		f.Text = fmt.Sprintf("%s never answered %s (%s), though their connections went on: it answered later RPCs, and the clients did not connect again.", k, plural(n, "RPC"), operations.text())
		u.report.Report(f)
	}
}

// isContext reports whether an operation is about a security context.
func isContext(opcode uint32) bool {
	return opcode == opcodes.SEC_CTX_INIT || opcode == opcodes.SEC_CTX_INIT_CONT || opcode == opcodes.SEC_CTX_FINI
}
