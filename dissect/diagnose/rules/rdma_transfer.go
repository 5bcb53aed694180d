package rules

import (
	"fmt"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes/schema"
)

var _ = add(diagnose.Rule{
	Code:     "rdma.transfer",
	Severity: diagnose.Warning,
	Summary:  "Transfers of bulk data by RDMA failed.",
	Meaning: "o2iblnd negotiates a transfer (PUT_REQ or GET_REQ) and reports its end with a status. A negative status is an error of the node that had to write or to accept the data: " +
		"it had no memory region or no buffer for it, or the connection failed. The RPC has to be sent again.",
	Limits: "What the node failed at is only known by the number of the error.",
	Next:   "The console log of the node that reports the error (o2iblnd) at this time, and its memory.",
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		x := &failedTransfers{report: r, pairs: fifo.NewMap[failedKey, *refusedPair](maxPairs)}
		return diagnose.Hooks{Message: x.message, End: x.end}
	},
})

// failedTransfers are the RDMA transfers with an error.
type failedTransfers struct {
	report *diagnose.Reporter
	pairs  *fifo.Map[failedKey, *refusedPair]
}

// failedKey is an error of transfers from a host to another.
type failedKey struct {
	hostPair
	status int32
}

func (x *failedTransfers) message(_ *track.RPC, m *dissect.Message) {
	if m.IB == nil || m.IB.Status >= 0 {
		return
	}
	key := failedKey{hostPair{m.Source, m.Src.Addr(), m.Dst.Addr()}, m.IB.Status}
	pair, ok := x.pairs.Get(key)
	if !ok {
		pair = &refusedPair{first: m.Time}
		x.pairs.Put(key, pair)
	}
	pair.n++
	pair.last = m.Time
	if len(pair.evidence) < retransmitProofs {
		pair.evidence = append(pair.evidence, track.Point{Frame: m.Frame, File: m.File, Time: m.Time})
	}
}

func (x *failedTransfers) end() {
	x.pairs.All(func(key failedKey, pair *refusedPair) bool {
		name := string(schema.AppendErrno(nil, key.status))
		f := key.finding(x.report.Paths())
		f.First, f.Last, f.Count = pair.first, pair.last, pair.n
		f.Text = fmt.Sprintf("%s of bulk data from %s to %s failed (%s). Their RPCs have to be sent again.", plural(pair.n, "transfer"), key.from, key.to, name)
		f.Key += " " + name
		for _, at := range pair.evidence {
			f.Prove(at, "a transfer ends with %s", name)
		}
		x.report.Report(f)
		return true
	})
}
