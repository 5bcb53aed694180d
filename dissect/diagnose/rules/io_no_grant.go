package rules

import (
	"fmt"
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

var (
	noGrantWrites = diagnose.Threshold{Name: "writes without grant", Value: 16, Unit: "writes",
		Reason: "a client that has just connected, or was idle, has little grant at first"}
	noGrantShare = diagnose.Threshold{Name: "share of the writes", Value: 30, Unit: "%",
		Reason: "else most writes are cached"}
)

var _ = add(diagnose.Rule{
	Code:     "io.no_grant",
	Severity: diagnose.Warning,
	Summary:  "A client writes synchronously because the OST gives it too little grant.",
	Meaning: "An OST promises space to each client (grant), so that the client may cache writes and be sure that they fit. Without enough grant, a client cannot cache: each write of the application goes to the OST at once and waits for the disk. " +
		"The rule counts writes that are synchronous, do not use grant, and are larger than the grant that the client says it has left. Direct I/O is not counted.",
	Limits:     "Why the OST gives little does not show: it is short of space, or too many clients share it.",
	Next:       "lfs df: an OST that is nearly full gives no grant. On the client lctl get_param osc.*.cur_grant_bytes, on the OSS obdfilter.*.tot_granted and tot_dirty; with many clients, osc.*.grant_shrink=1.",
	Thresholds: []*diagnose.Threshold{&noGrantWrites, &noGrantShare},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		g := &noGrant{report: r, clients: fifo.NewMap[grantKey, *ungranted](maxTargets)}
		return diagnose.Hooks{Opcodes: []uint32{opcodes.OST_WRITE}, Sent: g.sent}
	},
})

// noGrant counts the writes of clients without grant.
type noGrant struct {
	report  *diagnose.Reporter
	clients *fifo.Map[grantKey, *ungranted]
}

type grantKey struct {
	client lnet.NID
	target targetKey
}

// ungranted counts the writes of a client to a target.
type ungranted struct {
	tally        // those without grant
	all   int64  // those that were not direct I/O
	least uint64 // grant that the client had left
	want  uint64 // what it asked for then
}

func (g *noGrant) sent(r *track.RPC, m *dissect.Message) {
	if m.Msg == nil || r.Sends != 1 || r.Replay() {
		return
	}
	t, ok := opcodes.TransferOf(m.Msg)
	if !ok || !t.HasGrant || t.AnyFlags&opcodes.BrwLocked != 0 || t.IsAgain {
		return
	}
	key := grantKey{r.Client, targetOf(r)}
	x, known := g.clients.Get(key)
	if !known {
		x = &ungranted{least: ^uint64(0)}
		g.clients.Put(key, x)
	}
	x.all++
	if t.AllFlags&opcodes.BrwSync == 0 || t.AnyFlags&opcodes.BrwFromGrant != 0 || t.Grant >= t.Bytes {
		return
	}
	x.add(r, r.Requested())
	x.prove(r.Requested(), "synchronous write of %s with %s of grant left", binarySize(t.Bytes), binarySize(t.Grant))
	if t.Grant < x.least {
		x.least, x.want = t.Grant, t.Wanted
	}
	if float64(x.count) < noGrantWrites.Value || 100*float64(x.count) < noGrantShare.Value*float64(x.all) {
		return
	}
	f := diagnose.Finding{Subject: key.target.subject(), First: x.first, Last: x.last, Count: x.count, Evidence: slices.Clone(x.proofs)}
	f.Client = r.Client
	f.Text = fmt.Sprintf("%s had too little grant of %s for %d of %d writes, which went to the disk one by one instead of through its cache: it had %s left and asked for %s.",
		x.senders(), key.target, x.count, x.all, binarySize(x.least), binarySize(x.want))
	g.report.Report(f)
}
