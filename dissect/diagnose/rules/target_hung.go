package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/recovery"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

var hungTime = &diagnose.Threshold{Name: "nothing served", Value: 10, Unit: "s",
	Reason: "a busy target serves some RPCs in that time; a disk that is retried, or a path that fails over, takes longer"}

var lossShare = &diagnose.Threshold{Name: "gaps", Value: 0.1, Unit: "of the messages",
	Reason: "where a capture lacks more, all replies to the few that use the storage may be among them"}

var _ = add(diagnose.Rule{
	Code:     "target.hung",
	Severity: diagnose.Error,
	Noun:     "target that hung",
	Summary:  "A target answered pings, but nothing that needs its storage.",
	Meaning: "A target whose storage hangs still answers pings, so that its clients do not give it up: their reads and writes wait, all of them. " +
		"The rule looks for RPCs that use the storage and waited long while the target answered none of those, from any client in the " +
		"capture, and the target or its node answered something else in between. What an MDT may answer from memory, and without waiting for " +
		"a lock of a client (MDS_GETATTR, MDS_GETXATTR, MDS_CLOSE), must have waited while the MDT answered pings only. A stall before a restart counts up to the last reply. " +
		"Where other targets of the node worked meanwhile, the storage of this one is to blame; else it may be the whole node.",
	Limits: "RPCs of clients that the capture does not have may have been served, as with a limit on one job (NRS TBF). It is an error " +
		"where RPCs still waited at the end of the capture.",
	Next: "On the server: dmesg for errors and timeouts of the disks (\"blocked for more than\", multipath, RAID), iostat -x 1, zpool " +
		"status, lctl get_param *.*.req_history, and the stacks of its threads. " +
		"The network, the clients and other targets of the node are not the cause.",
	Thresholds: []*diagnose.Threshold{hungTime, lossShare},
	Samples:    []string{"hung_target.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		h := &hungTargets{report: r, conns: newPerConnection[servedTimes](), lost: newUnseenMessages(),
			others: fifo.NewMap[lnet.NID, int64](maxTargets)}
		return diagnose.Hooks{Opcodes: slices.Concat([]uint32{opcodes.OBD_PING, opcodes.OST_SETATTR}, storageOperations, lockFree, lockTaking),
			Answered: h.answered, Done: h.done, Message: h.message, Lost: h.notCaptured, Recovery: h.recovery, End: h.end}
	},
})

// Requests to an MDT that may be answered from memory: lockFree are those that wait for no lock of a client.
var (
	lockFree   = []uint32{opcodes.MDS_GETATTR, opcodes.MDS_GETXATTR, opcodes.MDS_CLOSE}
	lockTaking = []uint32{opcodes.LDLM_ENQUEUE, opcodes.MDS_REINT, opcodes.MDS_GETATTR_NAME}
)

// hungTargets finds targets that hang.
type hungTargets struct {
	report   *diagnose.Reporter
	conns    perConnection[servedTimes]
	stalls   []*stall
	restarts []*recovery.Recovery
	lost     *unseenMessages            // those that were not captured, or only a part of them that does not show what they are
	unread   int64                      // such parts, and frames behind which messages may have begun
	messages int64                      // requests and replies
	others   *fifo.Map[lnet.NID, int64] // by server: the last reply to a request that is not in the capture
}

// servedTimes is when a connection was answered last.
type servedTimes struct {
	conn    *track.Connection
	storage replyTimes // of RPCs that use the storage
	all     replyTimes // of them and other requests, but not of pings
	ping    int64      // reply to a ping
	stall   *stall
}

// replyTimes are the times of the last reply, and of one at least a second before that.
type replyTimes struct {
	last, earlier int64
	mark          int64 // becomes earlier
}

func (t *replyTimes) add(now int64) {
	if now-t.mark >= sameMoment {
		t.earlier, t.mark = t.mark, now
	}
	t.last = now
}

// of returns the replies that end a stall in which RPCs of an operation wait.
func (t *servedTimes) of(fromMemory bool) *replyTimes {
	if fromMemory {
		return &t.all
	}
	return &t.storage
}

// stall is a time in which a target served nothing on a connection.
type stall struct {
	rpcSum
	conn       *track.Connection
	begin, end int64 // the longest that nothing was served
	open       bool  // RPCs wait at the end of the capture
	pinged     bool
	refuted    bool // another client was served
	lacks      bool // messages were not captured in which replies may be
	beside     bool // another target of the node worked
	fromMemory bool // what waited may be answered from memory, and nothing else was answered
	restarted  bool // it ended when the target was gone
	others     []string
}

const (
	maxStalls  = 1 << 10
	burst      = int64(5e9) // nanoseconds in which all is answered that had waited
	sameMoment = int64(1e9)

	longestRecovery = int64(900e9) // the default of recovery_time_hard
)

// notCaptured takes bytes that were not captured. The decoder counts gaps, but not what frames are cut off.
func (h *hungTargets) notCaptured(l *lnet.Loss) {
	h.lost.lost(l)
	if l.Why == lnet.Snaplen && l.Bytes >= minMessage {
		h.unread++
	}
}

// message takes a request or reply, of which a part may not have been captured.
func (h *hungTargets) message(r *track.RPC, m *dissect.Message) {
	if m.Kind != lnet.Request && m.Kind != lnet.Reply {
		return
	}
	if h.messages++; r != nil && r.HasOpcode || m.Missing(0, m.Size) == lnet.Present {
		return
	}
	h.unread++
	putLater(h.lost.last, m.LNet.Src, m.Time)
	putLater(h.lost.last, m.LNet.Dst, m.Time)
}

func (h *hungTargets) answered(r *track.RPC, m *dissect.Message) {
	takes := slices.Contains(lockTaking, r.Opcode)
	if !r.HasRequest && r.Opcode != opcodes.OBD_PING && !takes {
		fifo.Put(h.others, r.Server, m.Time)
	}
	if r.Connection == nil || !r.HasRequest {
		return
	}
	t := h.conns.of(r.Connection)
	if r.Opcode == opcodes.OBD_PING {
		if r.Status >= 0 { // else the target does not know the client, as after a restart
			t.ping = m.Time
		}
		return
	}
	t.conn = r.Connection
	if !takes {
		h.waited(t, r, m.Time, false)
	}
	if t.all.add(m.Time); !takes && !slices.Contains(lockFree, r.Opcode) {
		t.storage.add(m.Time)
	}
}

// waited takes an RPC that was answered, or waited for it until then.
func (h *hungTargets) waited(t *servedTimes, r *track.RPC, now int64, open bool) {
	sent := r.Requested()
	if !isSet(sent) || now-sent.Time < hungTime.Nanoseconds() {
		return
	}
	fromMemory := slices.Contains(lockFree, r.Opcode)
	replies := t.of(fromMemory)
	served := replies.last
	if now-served < sameMoment && !open {
		served = replies.earlier
	}
	lacks := h.lost.since(r.Client, sent.Time) || h.lost.since(r.Server, sent.Time)
	begin := max(sent.Time, served)
	if other, _ := fifo.Get(h.others, r.Server); !lacks { // else it is one of many
		begin = max(begin, other)
	}
	s := t.stall
	switch {
	case s != nil && now-s.end < burst && sent.Time < s.end:
	case now-begin < hungTime.Nanoseconds() || len(h.stalls) >= maxStalls:
		return
	default:
		s = &stall{conn: r.Connection, begin: begin, end: now, open: open, pinged: t.ping > begin+sameMoment, fromMemory: fromMemory}
		t.stall, h.stalls = s, append(h.stalls, s)
		h.compare(s)
	}
	s.open = s.open || open
	s.lacks = s.lacks || lacks
	s.begin = min(s.begin, max(begin, sent.Time))
	s.count(r.Opcode, sent.Time, now)
	s.slowest.insert(slowRPC{r.Opcode, sent, r.Replied(), now - sent.Time})
}

// compare looks what else was answered during a stall: by the same target, and by others of
// its node.
func (h *hungTargets) compare(s *stall) {
	k := connectionTarget(s.conn)
	for c, t := range fifo.All(h.conns.values) {
		if c == s.conn || c.Server != s.conn.Server {
			continue
		}
		within := func(at int64) bool { return at > s.begin+sameMoment && at < s.end-sameMoment }
		other := connectionTarget(c)
		replies := t.of(s.fromMemory)
		served := within(replies.last) || within(replies.earlier)
		switch {
		case other == k && k.isKnown():
			s.refuted = s.refuted || served
			s.pinged = s.pinged || within(t.ping)
		case served && c.Client == s.conn.Client || served && other.isKnown() && k.isKnown():
			s.pinged, s.beside = true, true
			if name := cmp.Or(other.name, other.index); name != "" {
				s.others = withNew(s.others, name, unlimited)
			}
		}
	}
}

// done takes an RPC that was never answered.
func (h *hungTargets) done(r *track.RPC) {
	if r.HasReply || r.Connection == nil || r.Opcode == opcodes.OBD_PING || slices.Contains(lockTaking, r.Opcode) || r.Missing != track.CaptureEnded && r.Missing != track.Unanswered {
		return
	}
	t := h.conns.of(r.Connection)
	t.conn = r.Connection
	h.waited(t, r, h.report.Now(), true)
}

func (h *hungTargets) recovery(v *recovery.Recovery) {
	if (v.Kind.IsOutage() || v.Kind == recovery.Lost && cutText(v) != "") && len(h.restarts) < maxRestarts {
		h.restarts = append(h.restarts, v)
	}
}

// mayBeAbout reports whether a target that was lost is that of a connection. Where a name is not known,
// all of the server may be.
func mayBeAbout(v *recovery.Recovery, c *track.Connection) bool {
	switch {
	case v.Target == "":
	case c.Target != "":
		return v.Target == c.Target
	case c.TargetIndex != "" && !strings.HasSuffix(v.Target, "-"+c.TargetIndex):
		return false
	}
	return v.Server == c.Server || v.ServerBefore == c.Server
}

// isRestarted reports whether a target was gone during a stall. A stall before that ends there, if the
// target answered something else for long.
func (h *hungTargets) isRestarted(s *stall) bool {
	for _, v := range h.restarts {
		until := v.Completed.Time // what arrives before that waits for the recovery
		if !isSet(v.Completed) && isSet(v.Back) {
			until = v.Back.Time + longestRecovery
		}
		if !mayBeAbout(v, s.conn) || isSet(v.Back) && until <= s.begin || v.Begin() >= s.end+burst {
			continue
		}
		if v.LastReply.Time-s.begin < hungTime.Nanoseconds() || v.Target == "" || !v.Kind.IsOutage() {
			return true
		}
		if !s.pinged && v.LastReply.Time > s.end-sameMoment {
			return true // the last reply may be the first one after the stall
		}
		s.end, s.restarted, s.open = min(s.end, v.LastReply.Time), true, false
	}
	return false
}

// hungTarget is a target and its stalls at the same time.
type hungTarget struct {
	key     targetKey
	server  lnet.NID
	stalls  []*stall
	clients []lnet.NID
}

func (h *hungTargets) end() {
	var list []*hungTarget
	c := h.report.Capture()
	tooLossy := float64(c.TCP.Gaps+c.IB.Gaps) > lossShare.Value*float64(c.Messages) || float64(h.unread) > lossShare.Value*float64(h.messages)
	for _, s := range h.stalls {
		if s.refuted || h.isRestarted(s) || !s.pinged && !s.restarted || s.lacks && (tooLossy || !s.beside) {
			continue
		}
		k := connectionTarget(s.conn)
		at := slices.IndexFunc(list, func(t *hungTarget) bool { return t.takes(k, s) })
		if at < 0 {
			at, list = len(list), append(list, &hungTarget{key: k, server: s.conn.Server})
		}
		t := list[at]
		if !t.key.isKnown() {
			t.key = k
		}
		t.stalls = append(t.stalls, s)
		t.clients = withNew(t.clients, s.conn.Client, unlimited)
	}
	for _, t := range list {
		h.report.Report(t.finding(h.report.Now()))
	}
}

// takes reports whether a stall is one of the same target at the same time. Where only the
// server is known, stalls of different clients that end together are of one target.
func (t *hungTarget) takes(k targetKey, s *stall) bool {
	first := t.stalls[0]
	if s.begin > first.end || s.end < first.begin {
		return false
	}
	if t.key.isKnown() && k.isKnown() {
		return t.key == k
	}
	const together = int64(1e9)
	ends := s.end - first.end
	return t.server == s.conn.Server && !slices.Contains(t.clients, s.conn.Client) && ends < together && ends > -together
}

func (t *hungTarget) finding(now int64) diagnose.Finding {
	f := diagnose.Finding{Subject: t.key.subjectAt(t.server), Severity: diagnose.Warning, First: t.stalls[0].begin}
	f.Client = only(t.clients)
	var sum rpcSum
	var others []string
	open, lacks, restarted, fromMemory := false, false, false, false
	for _, s := range t.stalls {
		sum.join(&s.rpcSum)
		lacks = lacks || s.lacks
		f.First, f.Last = min(f.First, s.begin), max(f.Last, s.end)
		open, restarted, fromMemory = open || s.open, restarted || s.restarted, fromMemory || s.fromMemory
		for _, name := range s.others {
			others = withNew(others, name, unlimited)
		}
	}
	f.Count = sum.n
	longest := duration(sum.slowest.list[0].ns)
	nothing := "but nothing that needs its storage"
	if fromMemory {
		nothing = "but no other request"
	}
	if lacks {
		nothing += ", as far as the capture shows, which lacks bytes"
	}
	nothing += "."
	text := fmt.Sprintf("%s hung for %s: it answered pings, %s", t.key, duration(f.Last-f.First), nothing)
	if restarted {
		text = fmt.Sprintf("%s hung for at least %s before it was gone: it answered other requests, %s", t.key, duration(f.Last-f.First), nothing)
	}
	upTo := ""
	if f.Count > 1 {
		upTo = "up to "
	}
	suffered := fmt.Sprintf(" %s of %s (%s) waited %s%s", plural(f.Count, "RPC"), nodes(t.clients), sum.operations.text(), upTo, longest)
	if open {
		f.Severity = diagnose.Error
		text = fmt.Sprintf("%s has been hanging for %s: it answers pings, %s", t.key, duration(now-f.First), nothing)
		suffered += ", and had no reply when the capture ended."
	} else {
		suffered += ", until it went on."
	}
	where := " Look at the storage of this target and at its server, not at the network or the clients."
	if len(others) > 0 {
		suffered += " " + words(others) + " of the same node worked meanwhile."
		where = " Look at the storage of this target: " + words(others) + " of the same node worked, and so did the network."
	}
	f.Text = text + suffered
	f.Brief = text + fmt.Sprintf(" %s of %s waited %s%s.", plural(f.Count, "RPC"), nodes(t.clients), upTo, longest) + where
	for _, one := range sum.slowest.list {
		f.Prove(one.request, "request of %s", operationText(one.opcode))
		f.Prove(one.reply, "its reply, %s later", duration(one.ns))
	}
	return f
}
