package rules

import "github.com/lshark/lshark/dissect/diagnose"

var _ = add(diagnose.Rule{
	Code:     "space.full",
	Severity: diagnose.Error,
	Summary:  "A target refused requests with ENOSPC.",
	Meaning: "An OST answers a write with ENOSPC when its file system has no blocks left, or none that are not promised to other clients. " +
		"An MDT answers a create or an open with ENOSPC when it has no inodes or blocks left, or when no OST has objects for the new file. Applications get the error. " +
		"The rule counts the replies with this error, and names what the target said last about its space.",
	Limits: "What is left is only known when a statfs of the target is in the capture before. An application may get ENOSPC later than the reply, from close or fsync, because writes are cached.",
	Next: "lfs df and lfs df -i show the space and the objects of all targets. If only some OSTs are full, keep new objects off them (osp.*.create_count=0 or max_create_count=0 on the MDS) and move files with lfs migrate. " +
		"If an MDT refuses although it has space, look for OSTs that are down or not connected to it.",
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		return newRefusals(r, fullText, eNoSpace).hooks()
	},
})

func fullText(k targetKey, t *tally, space *spaceReply) string {
	text := k.String() + " refused " + t.operationsText() + " of " + t.senders() + " with ENOSPC, no space left."
	if space != nil {
		text += " Its last statfs said: " + space.freeText() + "."
	}
	return text
}
