package rules

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/facts"
	"github.com/lshark/lshark/dissect/diagnose/suspects"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

var putOff = &diagnose.Threshold{Name: "changes put off for", Value: 2, Unit: "s",
	Reason: "a client tries again after a second or two: one repetition is not noticed"}

var _ = add(diagnose.Rule{
	Code:     "target.barrier",
	Logs:     true,
	Severity: diagnose.Warning,
	Noun:     "delayed change",
	Summary:  "An MDT put off changes (EINPROGRESS), as it does behind a write barrier.",
	Meaning: "A write barrier (lctl barrier_freeze, for a snapshot of all targets) makes an MDT answer all that would change something with " +
		"EINPROGRESS, and clients try again until it is over: applications wait in creates, renames and removals, while reads and data go on. " +
		"The rule looks for such answers to requests of clients for longer than the threshold.",
	Limits: "Logs without a capture show it of closes only. An MDT that checks its object index (OI scrub), or has no answer of the quota master, also answers with EINPROGRESS.",
	Next: "On the MGS: lctl barrier_stat FSNAME, and who uses barriers (snapshots: lctl snapshot_create, backup scripts). If there is none, " +
		"on the MDS lctl get_param osd-*.*.oi_scrub and the quota state osd-*.*.quota_slave.info.",
	Thresholds: []*diagnose.Threshold{putOff},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		targets := fifo.NewMap[targetKey, *delayed](maxTargets)
		known := factsOf(r)
		report := func(key targetKey, t *delayed) {
			if t.last-t.first < putOff.Nanoseconds() {
				return
			}
			f := t.finding(key.subject())
			f.Wait = t.last - t.first
			f.CompareTime(putOff, f.Wait)
			over, lower := " with EINPROGRESS over ", ""
			if r.OnlyLogs() {
				over, lower = " with EINPROGRESS over at least ", " Logs do not show it of creates, renames and removals, which may have waited longer."
			}
			f.Text = key.String() + " answered " + t.operationsText() + " of " + t.senders() + over + duration(f.Wait) +
				": a write barrier, as for a snapshot, does that. Clients repeat such requests until it is over." + lower
			suspect(&f, byAdmin, atTarget(key.Label(), t.server), atStorage(key.Label(), t.server))
			if at, what, ok := servedReads(known, key.Target, facts.Span{From: t.first, To: t.last}); ok {
				exclude(&f, atStorage(key.Label(), t.server), at, key.String()+" answered "+what+" meanwhile")
				f.Text += " The MDT served " + what + " at the usual speed meanwhile."
			}
			tell(&f, known)
			f.Brief = f.Text + " Look who froze the file system (lctl barrier_stat), not at the disks or the network."
			r.Report(f)
		}
		answered := func(rpc *track.RPC, _ *dissect.Message) {
			if hasError(rpc, opcodes.EINPROGRESS) == 0 || rpc.Opcode == opcodes.LDLM_ENQUEUE && !rpc.Does(opcodes.Opens|opcodes.Creates) {
				return
			}
			key, at := targetOf(rpc), rpc.Replied()
			t := fifo.GetOrNew(targets, key)
			t.add(rpc, at)
			t.prove(at, "the reply to a request of %s says EINPROGRESS", rpc.Client)
			t.server = rpc.Server
			report(key, t)
		}
		return diagnose.Hooks{Opcodes: []uint32{opcodes.LDLM_ENQUEUE, opcodes.MDS_REINT, opcodes.MDS_CLOSE}, Answered: answered,
			Unseen: onlyLogged([]uint32{opcodes.MDS_CLOSE}, func(rpc *track.RPC) { answered(rpc, nil) }),
			End: func() { // what logs have is known then
				for key, t := range fifo.All(targets) {
					report(key, t)
				}
			}}
	},
})

// delayed counts the changes that a target put off.
type delayed struct {
	tally
	server lnet.NID
}

// servedReads returns operations without changes that a target served quickly within a span.
func servedReads(known *facts.Facts, t facts.Target, s facts.Span) (at track.Point, what string, ok bool) {
	const soon = int64(1e9)
	for x := range known.Streams {
		if x.Target() != t || x.IsPing() || x.Opcode == opcodes.MDS_REINT || x.Opcode == opcodes.MDS_CLOSE || x.Opcode == opcodes.LDLM_CANCEL || x.Opcode == opcodes.LDLM_ENQUEUE && !x.Does(opcodes.Stats) {
			continue
		}
		for i := range x.Bins {
			if b := &x.Bins[i]; b.From >= s.From && b.To <= s.To && b.Slowest < soon {
				return b.Reply(), x.Operation.String(), true
			}
		}
	}
	return at, "", false
}

var _ = addTrouble(diagnose.Rule{
	Code:     "target.hung",
	Severity: diagnose.Error,
	Noun:     "target that hung",
	Summary:  "A target served nothing that needs its storage.",
	Meaning: "A target whose storage hangs still answers pings, so that its clients do not give it up: their reads and writes wait, all of them. " +
		"The rule reports waits for which the network, LNet, the node, its queue and its threads are excluded.",
	Limits: "RPCs of clients that the capture does not have may have been served.",
	Next: "On the server: dmesg for errors and timeouts of the disks (\"blocked for more than\", multipath, RAID), iostat -x 1, zpool " +
		"status, and the stacks of its threads.",
}, onlySuspect(diagnose.AtStorage), func(t *troubles, g *suspects.Group, f *diagnose.Finding) {
	storage := g.Suspects[0]
	f.Text += " The cause is the " + storage.String() + ", as all else is excluded."
	f.Brief = f.Text + " Look there."
})

var _ = addLines(diagnose.Rule{
	Code:        "target.stopped",
	Severity:    diagnose.Warning,
	Noun:        "stopped target",
	CountsLines: true,
	Summary:     "A target was stopped by a command.",
	Meaning:     "A server logs \"Failing over\" and \"server umount … complete\" when somebody, or the HA software, unmounts a target.",
	Next:        "Who stopped it: the history of commands and the log of the HA software on that node at that time.",
}, lines{
	kinds: []debuglog.Kind{debuglog.FailingOver, debuglog.Stopped},
	where: func(l *track.LogLine) []diagnose.Place { return []diagnose.Place{atTarget(l.Target, l.Node), byAdmin} },
})
