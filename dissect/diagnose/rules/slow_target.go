package rules

import (
	"fmt"
	"strings"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
)

var _ = add(diagnose.Rule{
	Code:     "slow.target",
	Severity: diagnose.Warning,
	Summary:  "One target takes far longer than the others of its kind.",
	Meaning: "The times that a target takes in the server are compared with those of the other targets of the file system, OSTs with OSTs and MDTs with MDTs: only the same operations, with about the same number of bytes, of the same clients. " +
		"A target is reported if nearly all of its RPCs take longer than those of the others (a rank test), by a factor and by a time that matter.",
	Limits: "Only OST_READ, OST_WRITE, OST_SYNC, OST_STATFS, MDS_STATFS and MDS_READPAGE are compared, as others wait for locks or differ in what they do. Targets without a name are not compared. " +
		"Where half of the targets are slow, none of them is far from the others.",
	Next: "Compare the storage of this target with that of the others: iostat -x 1, state of the pool or RAID (rebuild, a disk with errors), lctl get_param obdfilter.*.brw_stats.",

	Thresholds: []*diagnose.Threshold{comparedRPCs, comparedDeviations, comparedSuperiority, comparedRatio, comparedExcess},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		t := newWorkTimes()
		report := func() {
			for _, c := range t.compare(targetGroup) {
				if c.isFar() {
					r.Report(slowTargetFinding(c))
				}
			}
		}
		return diagnose.Hooks{Opcodes: comparableOperations, Done: t.done, Tick: func(int64) { report() }, End: report}
	},
})

// done adds an RPC that says something about its server.
func (t *workTimes) done(r *track.RPC) {
	if r.Connection == nil || r.Failed() {
		return
	}
	if p, ok := partsOf(r); ok {
		t.add(r, p.server)
	}
}

// targetGroup compares targets by what the same client asks of them.
func targetGroup(c *track.Connection) (member string, group comparisonGroup, ok bool) {
	system, index, found := cutTarget(c.Target)
	if !found {
		return "", comparisonGroup{}, false
	}
	return c.Target, comparisonGroup{kind: system + "-" + index[:len("OST")], client: c.Client}, true
}

// cutTarget cuts the name of a target into that of the file system and the rest.
func cutTarget(name string) (system, rest string, found bool) {
	i := strings.LastIndexByte(name, '-')
	if i < 0 || len(name)-i <= len("-OST") {
		return "", "", false
	}
	return name[:i], name[i+1:], true
}

func slowTargetFinding(c *compared) diagnose.Finding {
	f := diagnose.Finding{Subject: diagnose.Subject{Target: c.member, Server: c.conn.Server}, First: c.first, Last: c.last, Count: c.n,
		Text: fmt.Sprintf("%s takes %.1f times as long in the server as %s for the same operations (%s).", c.member, c.ratio(), peersText(c.peers, "targets"), c.text())}
	c.slowest.prove(&f)
	return f
}

// peersText names the only one of a list, or counts them.
func peersText(list []string, noun string) string {
	if len(list) == 1 {
		return list[0]
	}
	return fmt.Sprintf("%d other %s", len(list), noun)
}
