package rules

import (
	"fmt"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
)

var (
	unalignedRPCs = diagnose.Threshold{Name: "unaligned RPCs about an object", Value: 32, Unit: "RPCs",
		Reason: "the header of a file may well be unaligned"}
	unalignedShare = diagnose.Threshold{Name: "share of the RPCs", Value: 50, Unit: "%",
		Reason: "else most of the access is aligned"}
)

var _ = add(diagnose.Rule{
	Code:     "io.unaligned",
	Severity: diagnose.Note,
	Summary:  "A client writes pieces of a file that do not begin at the start of a page.",
	Meaning: "An OST must read a page, or a whole record of its file system, before it can write a part of it, and two clients that write to the same page take its lock from each other. " +
		"The rule counts the writes of an object that begin inside a page of 4 KiB, except where they continue what was written so far, as logs do.",
	Limits:     "Writes to the cache of the client are joined before they are sent, and are seen only as they go over the network.",
	Next:       "Whether the application can write blocks that are multiples of 4 KiB, or of the stripe size where several nodes write to one file (MPI-IO: collective buffering, striping_unit).",
	Thresholds: []*diagnose.Threshold{&unalignedRPCs, &unalignedShare},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		s := newAccesses(func(k accessKey, a *access, _ *track.RPC) {
			if k.write && float64(a.unaligned) >= unalignedRPCs.Value && a.unaligned%32 == 0 && 100*a.share(a.unaligned) >= unalignedShare.Value {
				f := accessFinding(k, a)
				f.Count = a.unaligned
				f.Text = fmt.Sprintf("%s%s wrote %s on %s in pieces that begin inside a page: %d of %d writes, of %s on average.",
					k.client, jobsText(a.jobs), a.fileText(), a.target, a.unaligned, a.count, binarySize(a.mean()))
				r.Report(f)
			}
		})
		return diagnose.Hooks{Opcodes: transferOpcodes, Sent: s.sent}
	},
})
