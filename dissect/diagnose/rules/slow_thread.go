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

var _ = add(diagnose.Rule{
	Code:     "slow.thread",
	Logs:     true,
	Severity: diagnose.Warning,
	Noun:     "inactive service thread",
	Summary:  "A service thread worked for one request for so long that the kernel reported it.",
	Meaning: "A server watches its service threads. Of one that works for a request for too long it logs \"service thread pid … was inactive\", with " +
		"the stack of the thread, and \"completed after\" when it goes on. The rule counts these lines in the log of a server. Where the log has the stack, the first " +
		"function of it that is one of the storage, of locks or of requests to other servers tells what the thread waits for.",
	Limits: "Only the logs of servers have it (--log beside a capture). The stack is in the console log only. A thread that waits for the storage may wait for what another " +
		"thread does there.",
	Next: "The stack traces in the console log of the server show where the threads wait: for the disk, a lock, the network, or another server. " +
		"lshark rpcs --slowest with this log shows the requests.",
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		s := &stuckThreads{r, fifo.NewMap[int, *stuckThread](maxTargets)}
		return diagnose.Hooks{Line: s.line}
	},
})

// stuckThreads are the lines about threads, by the number of the log.
type stuckThreads struct {
	report *diagnose.Reporter
	logs   *fifo.Map[int, *stuckThread]
}

type stuckThread struct {
	series
	longest int64
	open    map[uint32]bool // threads that go on, by their process ids
	over    []diagnose.Request

	stuck  uint32 // the thread of the last line
	reads  bool   // its stack follows
	sends  bool   // the last function of it waits for replies
	places []diagnose.Place
	waits  string // the first function that tells where a thread waits
}

// waitsIn are the beginnings of functions that say what a thread waits for.
var waitsIn = []struct {
	kind  diagnose.PlaceKind
	words []string
}{
	{diagnose.AtStorage, []string{"jbd2_", "__jbd2_", "start_this_handle", "wait_transaction_locked", "do_get_write_access", "ldiskfs_", "ext4_", "osd_", "zio_", "dbuf_", "dmu_",
		"txg_", "zil_", "arc_", "zap_", "dsl_", "spa_", "dm_", "md_", "raid5_", "scsi_", "nvme_", "blk_", "submit_bio", "sync_buffer", "__wait_on_buffer"}},
	{diagnose.AtHolder, []string{"ldlm_"}},
	{diagnose.AtOtherServer, []string{"osp_", "lwp_", "osc_", "mdc_"}},
}

// frame takes a function of a stack, and reports whether it tells where the thread waits.
func (t *stuckThread) frame(l *track.LogLine) bool {
	if !t.reads {
		return false
	}
	if hasPrefix(l.Text, "ptlrpc_set_wait", "ptlrpc_queue_wait") { // for replies to callbacks, or of another server
		t.sends = true
		return false
	}
	for _, x := range waitsIn {
		if !hasPrefix(l.Text, x.words...) {
			continue
		}
		kind := x.kind
		if t.sends && kind == diagnose.AtStorage {
			kind = diagnose.AtOtherServer
		}
		t.reads = false
		if t.waits == "" {
			t.waits = l.Text
		}
		p := diagnose.Place{Kind: kind, Node: l.Node}
		if kind == diagnose.AtHolder {
			p.Node = lnet.NID{}
		}
		t.places = withNew(t.places, p, unlimited)
		return true
	}
	return false
}

func (s *stuckThreads) line(l *track.LogLine) {
	t, known := fifo.Get(s.logs, l.Log)
	switch {
	case l.Kind == debuglog.ThreadStuck, l.Kind == debuglog.ThreadOver:
	case known && l.Kind == debuglog.StackFrame && t.frame(l):
		s.tell(t, l)
		return
	case known && slices.Contains([]debuglog.Kind{debuglog.StackOf, debuglog.TaskHung, debuglog.CPUStuck, debuglog.Bug, debuglog.Panic}, l.Kind):
		t.reads = t.reads && l.Kind == debuglog.StackOf && l.Number == t.stuck
		return
	default:
		return
	}
	if !known {
		t = &stuckThread{open: make(map[uint32]bool)}
		fifo.Put(s.logs, l.Log, t)
	}
	t.reads, t.sends, t.stuck = l.Kind == debuglog.ThreadStuck && !strings.Contains(l.Text, "skipping this one"), false, l.Number
	if l.Kind == debuglog.ThreadOver {
		if delete(t.open, l.Number); t.count == 0 {
			t.series.add(l.Time - l.Service)
		}
		t.last = max(t.last, l.Time)
		t.over = withNew(t.over, diagnose.Request{Server: l.Node, From: l.Time - l.Service, To: l.Time}, maxRequests)
	} else if t.series.add(l.Time); len(t.open) < maxTargets {
		t.open[l.Number] = true
	}
	t.longest, t.first = max(t.longest, l.Service), min(t.first, l.Time-l.Service)
	s.tell(t, l)
}

// tell reports the threads of a log. The line is of one of them.
func (s *stuckThreads) tell(t *stuckThread, l *track.LogLine) {
	f := t.finding(diagnose.Subject{Server: l.Node, Detail: l.File})
	suspect(&f, atThread(l.Node), atStorage("", l.Node), diagnose.Place{Kind: diagnose.AtOtherServer, Node: l.Node}, atHolder(lnet.NID{}))
	if len(t.places) > 0 {
		suspect(&f, append([]diagnose.Place{atThread(l.Node)}, t.places...)...)
	}
	if len(t.open) == 0 {
		f.Requests = t.over
	}
	f.ProveLine(l)
	t.proofs = f.Evidence[:min(len(f.Evidence), maxProofs)]
	f.Text = fmt.Sprintf("The kernel of %s reported %s that worked for one request for long, the longest %s.", nodeOf(l), plural(t.count,
		"service thread"), duration(t.longest))
	if t.waits != "" {
		f.Text += " By its stack, the first one waits in " + t.waits + "."
	}
	if n := len(t.open); n > 0 {
		f.Text += " " + plural(n, "thread") + " " + was(n) + " still inactive when the log ended."
	}
	s.report.Report(f)
}

// nodeOf returns the node of a log, its name, or the name of the log.
func nodeOf(l *track.LogLine) string {
	if l.Node.Len == 0 && l.Host != "" {
		return l.Host
	}
	return nameOf(l.Node, l.Point())
}

// nameOf returns a node, or if it is unknown that of a line of its log.
func nameOf(n lnet.NID, line track.Point) string {
	if n.Len > 0 {
		return n.String()
	}
	return "the node of " + line.File
}

var _ = addLines(diagnose.Rule{
	Code:     "slow.service",
	Severity: diagnose.Warning,
	Noun:     "logged line of a late request",
	Summary:  "A server reports that it was late with requests.",
	Meaning: "The server had the requests: they waited for a thread, or a thread worked on them for longer than the client was told, or still did when " +
		"the client connected again.",
	Next: "On the server: lctl get_param *.*.nrs_policies *.*.req_history, the load of its CPUs and devices, and whether threads wait for locks.",
}, lines{
	kinds:   []debuglog.Kind{debuglog.ServiceSlow, debuglog.StorageSlow, debuglog.TaskHung, debuglog.Denied, debuglog.Note},
	reasons: []debuglog.Reason{debuglog.TookLong, debuglog.NoTimeAdded, debuglog.PastDeadline, debuglog.DroppedLate, debuglog.StillBusy},
	where: func(l *track.LogLine) []diagnose.Place {
		storage := atStorage(l.Target, l.Node)
		switch {
		case l.Kind == debuglog.StorageSlow, l.Kind == debuglog.TaskHung && hasPrefix(l.Process, "jbd2/", "txg_", "z_wr_"):
			return []diagnose.Place{storage}
		case l.Kind == debuglog.TaskHung && !hasPrefix(l.Process, "ll_ost", "ll_mgs", "mdt", "ldlm_"):
			return nil // an application
		}
		places := []diagnose.Place{{Kind: diagnose.AtQueue, Node: l.Node}, atThread(l.Node), storage, {Kind: diagnose.AtOtherServer, Node: l.Node},
			atHolder(lnet.NID{}), atNode(l.Node)}
		if l.Kind == debuglog.Denied { // its threads may wait for data of the client
			places = append(places, atNode(l.Peer), diagnose.Between(diagnose.AtPath, l.Node, l.Peer), diagnose.Between(diagnose.AtLNet, l.Node, l.Peer))
		}
		return places
	},
})

func hasPrefix(text string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(text, p) })
}
