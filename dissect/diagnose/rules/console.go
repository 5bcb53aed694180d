package rules

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
)

// consoleRule is a rule about lines of the kernel that name a cause by themselves.
type consoleRule struct {
	code     string
	severity diagnose.Severity
	noun     string
	summary  string
	meaning  string
	next     string
	kinds    []debuglog.Kind
	reasons  []debuglog.Reason // of Denied and Note: only these
	where    func(l *track.LogLine) []diagnose.Place
}

// consoleRules is the table of what lines say, and where the cause is then.
var consoleRules = []consoleRule{
	{"node.fault", diagnose.Error, "message about the machine", "The kernel of a node reports a fault of its machine or of itself.",
		"Panics, failed assertions, CPUs that are stuck, memory that is used up or damaged, and network links that are down stop all that a node does.",
		"The lines around it in the log of this node, its hardware, and what was changed there.",
		[]debuglog.Kind{debuglog.Panic, debuglog.Bug, debuglog.CPUStuck, debuglog.OutOfMemory, debuglog.MemoryError, debuglog.LinkDown, debuglog.NetDeviceFailed}, nil,
		func(l *track.LogLine) []diagnose.Place { return []diagnose.Place{atNode(l.Node)} }},
	{"io.device", diagnose.Error, "message about a device", "The kernel of a server reports that a device fails, or that the file system on it is damaged.",
		"Requests to the target on the device wait, fail with EIO, or the target turns read-only.",
		"The device, its cables and controller, smartctl, the state of the RAID or pool. Which target is on it: mount, or lctl get_param *.*.mntdev.",
		[]debuglog.Kind{debuglog.DiskError, debuglog.DiskTimeout, debuglog.RaidFailed, debuglog.PathFailed, debuglog.FilesystemError, debuglog.StorageError}, nil,
		func(l *track.LogLine) []diagnose.Place { return []diagnose.Place{atStorage(l.Target, l.Node)} }},
	{"slow.service", diagnose.Warning, "message about late requests", "A server reports that it was late with requests.",
		"The server had the requests: they waited for a thread, or a thread worked on them for longer than the client was told.",
		"On the server: lctl get_param *.*.nrs_policies *.*.req_history, the load of its CPUs and devices, and whether threads wait for locks.",
		[]debuglog.Kind{debuglog.ServiceSlow, debuglog.StorageSlow, debuglog.TaskHung, debuglog.Note},
		[]debuglog.Reason{debuglog.TookLong, debuglog.NoTimeAdded, debuglog.PastDeadline, debuglog.DroppedLate},
		func(l *track.LogLine) []diagnose.Place {
			storage := atStorage(l.Target, l.Node)
			if l.Kind == debuglog.StorageSlow {
				return []diagnose.Place{storage}
			}
			return []diagnose.Place{{Kind: diagnose.AtQueue, Node: l.Node}, atThread(l.Node), storage, {Kind: diagnose.AtOtherServer, Node: l.Node},
				atHolder(lnet.NID{}), atNode(l.Node)}
		}},
	{"target.stopped", diagnose.Warning, "target that was stopped", "A target is stopped by a command, or its server does not have it.",
		"A server logs \"Failing over\" when somebody, or the HA software, unmounts a target, and refuses connects to a target that it does not have.",
		"Who stopped it: the history of commands and the log of the HA software on that node at that time.",
		[]debuglog.Kind{debuglog.FailingOver, debuglog.Refused}, nil,
		func(l *track.LogLine) []diagnose.Place { return []diagnose.Place{atTarget(l.Target, l.Node), byAdmin} }},
	{"mount.by_log", diagnose.Error, "mount that failed", "A node reports that a mount failed, or that it got no configuration.",
		"The name of the file system, the address of the MGS, or what a server lets this node do is wrong, or the MGS cannot be reached.",
		"The line has the step that failed. lctl ping of the MGS; the names on the MGS: lctl --device MGS llog_catlist.",
		[]debuglog.Kind{debuglog.MountFailed, debuglog.ConfigFailed}, nil,
		func(l *track.LogLine) []diagnose.Place {
			return []diagnose.Place{atConfig(l.Node), atTarget("MGS", lnet.NID{}), byAdmin}
		}},
	{"connect.denied_by_log", diagnose.Error, "connect that was denied", "A server does not let a client in, by its log.",
		"A nodemap, the security flavor or the versions do not allow it.",
		"lctl nodemap_info and lctl get_param nodemap.*; the keys; lctl get_param version on both nodes.",
		[]debuglog.Kind{debuglog.Denied, debuglog.SecurityFailed, debuglog.IdentityFailed}, []debuglog.Reason{debuglog.ByNodemap, debuglog.ByVersion, debuglog.NoReason},
		func(l *track.LogLine) []diagnose.Place { return []diagnose.Place{atConfig(l.Peer), byAdmin} }},
	{"lnet.failed", diagnose.Warning, "error of the network", "LNet reports errors with a peer.",
		"Connections to the peer fail or time out, or messages to it are dropped: the peer or the network between both is to blame.",
		"lctl ping and lnetctl peer show on both nodes; the switch, cables and counters of the interfaces.",
		[]debuglog.Kind{debuglog.NetError, debuglog.NetDropped}, nil,
		func(l *track.LogLine) []diagnose.Place {
			if l.Reason == debuglog.NetRouteless {
				return []diagnose.Place{atConfig(l.Node)}
			}
			return []diagnose.Place{atNode(l.Peer), between(diagnose.AtPath, l.Node, l.Peer), between(diagnose.AtLNet, l.Node, l.Peer)}
		}},
	{"lnet.reply_dropped", diagnose.Warning, "reply that was dropped", "A server dropped a reply, as a test wants.",
		"A fault is injected by lctl set_param fail_loc: the request was executed, and the client gets no reply.",
		"lctl get_param fail_loc on the server.",
		[]debuglog.Kind{debuglog.Note}, []debuglog.Reason{debuglog.ReplyDropped},
		func(l *track.LogLine) []diagnose.Place {
			return []diagnose.Place{between(diagnose.AtLNet, l.Node, l.Peer), byAdmin}
		}},
	{"version.log_replay", diagnose.Error, "replay that failed", "Requests that clients replay to a restarted target fail, by their logs.",
		"The target has lost transactions that it had reported as committed, or other clients that changed the same objects did not come back.",
		"The storage of the target: write caches, snapshots and rollbacks.",
		[]debuglog.Kind{debuglog.TransnoBack, debuglog.ReplayFailed, debuglog.Note}, []debuglog.Reason{debuglog.ReplayMismatch, debuglog.ReplayTimeout},
		func(l *track.LogLine) []diagnose.Place {
			return []diagnose.Place{atTarget(l.Target, l.Peer), atStorage(l.Target, l.Peer), byAdmin}
		}},
}

// between returns a place between two nodes, of which one may be unknown.
func between(kind diagnose.PlaceKind, a, b lnet.NID) diagnose.Place {
	if a.Len == 0 || b.Len == 0 {
		if a.Len == 0 {
			a = b
		}
		return diagnose.Place{Kind: kind, Node: a}
	}
	return diagnose.Between(kind, a, b)
}

var _ = func() bool {
	for i := range consoleRules {
		c := &consoleRules[i]
		add(diagnose.Rule{Code: c.code, Logs: true, Severity: c.severity, Noun: c.noun, Summary: c.summary, Meaning: c.meaning + " The rule counts these lines of a log.",
			Limits: "Only logs have it. Lines that the kernel left out, as they repeat each other, are counted where it says how many.", Next: c.next,
			Start: func(r *diagnose.Reporter) diagnose.Hooks {
				x := &consoleLines{c, r, fifo.NewMap[consoleSubject, *consoleSeries](maxTargets), nil}
				return diagnose.Hooks{Line: x.line}
			}})
	}
	return true
}()

// consoleLines counts the lines of a rule.
type consoleLines struct {
	rule     *consoleRule
	report   *diagnose.Reporter
	subjects *fifo.Map[consoleSubject, *consoleSeries]
	last     *consoleSeries // which lines that were left out repeat
}

// consoleSubject is what lines are about.
type consoleSubject struct {
	log            int
	target, device string
	peer           lnet.NID
}

type consoleSeries struct {
	series
	line track.LogLine // the first one
}

func (x *consoleLines) line(l *track.LogLine) {
	if l.Kind == debuglog.Skipped && x.last != nil && x.last.line.Log == l.Log {
		x.last.count += int64(l.Number)
		x.tell(x.last)
		return
	}
	x.last = nil
	if !slices.Contains(x.rule.kinds, l.Kind) || (l.Kind == debuglog.Note || l.Kind == debuglog.Denied) && !slices.Contains(x.rule.reasons, l.Reason) {
		return
	}
	k := consoleSubject{l.Log, l.Target, l.Device, l.Peer}
	if l.Kind == debuglog.Refused {
		k.peer = lnet.NID{}
	}
	s := fifo.GetOrMake(x.subjects, k, func() *consoleSeries { return &consoleSeries{line: *l} })
	s.add(l.Time)
	var f diagnose.Finding
	if f.ProveLine(l); len(s.proofs) < maxProofs {
		s.proofs = append(s.proofs, f.Evidence...)
	}
	x.last = s
	x.tell(s)
}

// tell reports what was counted. The text quotes the first line.
func (x *consoleLines) tell(s *consoleSeries) {
	l := &s.line
	f := s.finding(diagnose.Subject{Target: l.Target, Server: l.Node, Detail: l.Device})
	f.Key = fmt.Sprint(l.Log, l.Target, l.Device, l.Peer)
	of := ""
	if l.Node.Len > 0 || l.Host != "" {
		of = " of " + nodeOf(l)
	}
	f.Text = fmt.Sprintf("The log%s has %s (%s:%d)", of, strconv.Quote(l.Text), l.File, l.Line)
	if s.count > 1 {
		f.Text += fmt.Sprintf(", and %d more", s.count-1)
	}
	f.Text += "."
	f.Brief = f.Text + " " + x.rule.summary + " Look at: " + x.rule.next
	f.Suspects = x.rule.where(l)
	x.report.Report(f)
}
