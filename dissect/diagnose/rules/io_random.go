package rules

import (
	"fmt"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
)

var (
	randomRPCs = diagnose.Threshold{Name: "RPCs about an object", Value: 64, Unit: "RPCs",
		Reason: "fewer may be a look at the index of a file"}
	randomShare = diagnose.Threshold{Name: "share that continues another one, or is at the same distance, at most", Value: 20, Unit: "%",
		Reason: "above it, most of the access is sequential or strided"}
	randomSize = diagnose.Threshold{Name: "mean size, at most", Value: 64 << 10, Unit: "B",
		Reason: "larger pieces cost disks little"}
)

var _ = add(diagnose.Rule{
	Code:     "io.random",
	Severity: diagnose.Note,
	Summary:  "A client reads or writes small pieces of a file at random places.",
	Meaning: "Small random reads need a seek each on rotating disks, and read-ahead does not help; small random writes make file systems that write whole records (ZFS) read and write much more. " +
		"The rule looks for objects whose RPCs are small, do not continue each other, and are not at equal distances.",
	Limits:     "Only what goes over the network is seen: accesses that the cache of the client satisfies are not.",
	Next:       "Whether the application can sort its accesses, use larger blocks, or keep such files on flash (a pool, or Data-on-MDT for small files).",
	Thresholds: []*diagnose.Threshold{&randomRPCs, &randomShare, &randomSize},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		s := newAccesses(func(k accessKey, a *access, _ *track.RPC) {
			if float64(a.count) >= randomRPCs.Value && a.count%64 == 0 {
				randomAccess(r, k, a)
			}
		})
		return diagnose.Hooks{Opcodes: transferOpcodes, Sent: s.sent}
	},
})

func randomAccess(r *diagnose.Reporter, k accessKey, a *access) {
	if 100*a.share(a.adjacent+a.strided) > randomShare.Value || float64(a.mean()) > randomSize.Value {
		return
	}
	f := accessFinding(k, a)
	f.Text = fmt.Sprintf("%s%s %s %s on %s at random places: %d RPCs of %s on average, %.0f %% of which did not continue another one.",
		k.client, jobsText(a.jobs), k.verb(), a.fileText(), a.target, a.count, binarySize(a.mean()), 100*(1-a.share(a.adjacent)))
	r.Report(f)
}
