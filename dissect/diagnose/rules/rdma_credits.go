package rules

import (
	"fmt"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
)

var (
	lastCredits = &diagnose.Threshold{Name: "messages", Value: 20, Unit: "messages",
		Reason: "a burst may use all credits now and then"}
	lastCreditShare = &diagnose.Threshold{Name: "share", Value: 0.05, Unit: "of the messages",
		Reason: "below that, waiting for credits does not matter for the whole"}
)

var _ = add(diagnose.Rule{
	Code:     "rdma.credits",
	Severity: diagnose.Note,
	Summary:  "A host often used its last credit: it had to wait before it could send more.",
	Meaning: "o2iblnd may send as many messages to a peer as it has credits; the peer returns them as it posts buffers again. " +
		"A message that uses the last credit means that others may wait behind it, in the sender's queue.",
	Limits: "Whether other messages were waiting cannot be seen. Credits are known from the connect on: of connections that were made before the capture began, only as far as messages show them.",
	Next:   "lctl get_param peers on the sender (a negative min in the column of tx); raise peer_credits and map_on_demand of ko2iblnd on all nodes in the same way.",

	Thresholds: []*diagnose.Threshold{lastCredits, lastCreditShare},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		x := &usedCredits{report: r, pairs: fifo.NewMap[hostPair, *creditPair](maxPairs), one: fifo.NewMap[stream, bool](maxStreams)}
		return diagnose.Hooks{Message: x.message, End: x.end}
	},
})

// usedCredits counts the messages that use the last credit.
type usedCredits struct {
	report *diagnose.Reporter
	pairs  *fifo.Map[hostPair, *creditPair]
	one    *fifo.Map[stream, bool] // those with one credit left
}

// creditPair are the messages of a host to another.
type creditPair struct {
	last      int64 // that use the last credit
	first, at int64
	evidence  []track.Point
}

func (x *usedCredits) message(_ *track.RPC, m *dissect.Message) {
	if m.IB == nil || m.IB.Credits < 0 || m.IB.Credits > 1 {
		return
	}
	way := stream{m.Conn, m.Src}
	if m.IB.Credits == 1 {
		x.one.Put(way, true)
		return
	}
	if _, had := x.one.Delete(way); !had {
		return // without a credit before: what returned some was not captured
	}
	key := hostPair{m.Source, m.Src.Addr(), m.Dst.Addr()}
	pair, ok := x.pairs.Get(key)
	if !ok {
		pair = &creditPair{first: m.Time}
		x.pairs.Put(key, pair)
	}
	pair.last++
	pair.at = m.Time
	if len(pair.evidence) < retransmitProofs {
		pair.evidence = append(pair.evidence, track.Point{Frame: m.Frame, File: m.File, Time: m.Time})
	}
}

func (x *usedCredits) end() {
	x.pairs.All(func(key hostPair, pair *creditPair) bool {
		path := x.report.Paths().Get(key.source, key.from, key.to)
		if path == nil || float64(pair.last) < lastCredits.Value || float64(pair.last) < lastCreditShare.Value*float64(path.Messages) {
			return true
		}
		f := key.finding(x.report.Paths())
		f.First, f.Last, f.Count = pair.first, pair.at, pair.last
		f.Text = fmt.Sprintf("%d of %d messages of %s to %s used the last credit, so that the next one had to wait until %s returned some.", pair.last, path.Messages, key.from, key.to, key.to)
		for _, at := range pair.evidence {
			f.Prove(at, "a message uses the last credit")
		}
		x.report.Report(f)
		return true
	})
}
