package rules

import "github.com/lshark/lshark/dissect/diagnose"

var _ = add(diagnose.Rule{
	Code:     "space.read_only",
	Severity: diagnose.Error,
	Summary:  "A target refused changes with EROFS, because it is read-only.",
	Meaning: "A target becomes read-only when its file system finds itself damaged or its disk returns errors, or when an administrator mounts it so. Changes then fail with EROFS, reads go on. " +
		"The rule counts the replies with this error. Connects that are refused with it are not counted here.",
	Limits: "Why the target is read-only does not show on the network.",
	Next:   "The console log of the server at the time, for errors of the disk or of its file system (ldiskfs remounting read-only, a suspended ZFS pool). Check the file system before it is mounted for writing again.",
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		return newRefusals(r, func(k targetKey, t *tally, _ *spaceReply) string {
			return k.String() + " is read-only: it refused " + t.operationsText() + " of " + t.senders() + " with EROFS."
		}, eReadOnly).hooks()
	},
})
