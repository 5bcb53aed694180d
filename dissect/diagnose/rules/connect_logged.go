package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
)

var (
	fewestAgain = &diagnose.Threshold{Name: "nodes", Value: 3, Unit: "node", Reason: "fewer may have lost it each for itself"}
	againWithin = &diagnose.Threshold{Name: "within", Value: 2, Unit: "s", Reason: "clients try again once a second or more rarely, so those that come at once have waited for the server"}
)

var _ = add(diagnose.Rule{
	Code:     "connect.again",
	Logs:     true,
	Severity: diagnose.Warning,
	Noun:     "return of several clients",
	Summary:  "Several clients connected again at once to a server that had not been restarted.",
	Meaning: "The log of a server has lines of several nodes that reconnect in the same moment, and none about a start or a recovery of its targets. " +
		"Each of them had lost the server, all at about the same time: the node stood still, or was cut off.",
	Limits:     "Only logs without a capture have it. It does not tell a node that stood still from one that was cut off: the logs of the clients do.",
	Next:       "On the server: gaps in its other logs, the host of a virtual machine, its CPUs and interfaces; the logs of two clients say when they lost it.",
	Thresholds: []*diagnose.Threshold{fewestAgain, againWithin},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		x := &returns{report: r, nodes: fifo.NewMap[int, *returned](maxTargets)}
		return diagnose.Hooks{Line: x.line}
	},
})

// returns are the lines about clients that connect again, by the number of the log.
type returns struct {
	report *diagnose.Reporter
	nodes  *fifo.Map[int, *returned]
}

// returned are the clients that connect again in one moment.
type returned struct {
	series
	clients []lnet.NID
	targets []string
	began   int64 // the last start or recovery of a target
}

func (x *returns) line(l *track.LogLine) {
	if !x.report.OnlyLogs() {
		return
	}
	const settles = int64(600e9) // after a start
	t := fifo.GetOrNew(x.nodes, l.Log)
	switch l.Kind {
	case debuglog.Booted, debuglog.Loaded, debuglog.Started, debuglog.RecoveryBegin, debuglog.RecoveryWaits, debuglog.RecoveryEnd:
		t.began = l.Time
		return
	case debuglog.Reconnected:
	default:
		return
	}
	if !strings.HasSuffix(l.Text, "reconnecting") || l.Peer.Len == 0 || t.began != 0 && l.Time-t.began < settles {
		return
	}
	if l.Time-t.last > againWithin.Nanoseconds() {
		*t = returned{began: t.began}
	}
	t.note(l.Point(), "%s", l.Text)
	t.clients, t.targets = withNew(t.clients, l.Peer, maxTallied), withNew(t.targets, l.Target, maxTallied)
	if len(t.clients) < int(fewestAgain.Value) {
		return
	}
	f := t.finding(diagnose.Subject{Server: l.Node})
	f.Key = fmt.Sprint(l.Log, t.first)
	f.Targets = slices.Clone(t.targets)
	f.Compare(fewestAgain, float64(len(t.clients)))
	suspect(&f, atNode(l.Node), diagnose.Between(diagnose.AtPath, l.Node, lnet.NID{}), diagnose.Between(diagnose.AtLNet, l.Node, lnet.NID{}))
	f.Text = fmt.Sprintf("%s connected again within %s to %s on %s, which was not restarted then: it had not been there for any of them.",
		nodes(t.clients), duration(max(t.last-t.first, 1e8)), list(t.targets), nodeOf(l))
	x.report.Report(f)
}

var _ = addLines(diagnose.Rule{
	Code:     "connect.reported",
	Severity: diagnose.Error,
	Noun:     "logged denial of a connect",
	Summary:  "A server does not let a client in, by its log.",
	Meaning:  "A nodemap, the security flavor or the versions do not allow it.",
	Next:     "lctl nodemap_info and lctl get_param nodemap.*; the keys; lctl get_param version on both nodes.",
}, lines{
	ofClient: true,
	kinds:    []debuglog.Kind{debuglog.Denied, debuglog.SecurityFailed, debuglog.IdentityFailed},
	reasons:  []debuglog.Reason{debuglog.ByNodemap, debuglog.ByVersion, debuglog.NoReason},
	where:    func(l *track.LogLine) []diagnose.Place { return []diagnose.Place{atConfig(l.Peer), byAdmin} },
})
