package track

import (
	"cmp"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// Options are the settings of a Pairing.
type Options struct {
	// Timeout is the longest wait for a reply, in nanoseconds of capture
	// time; 0: an hour.
	Timeout int64

	// Linger is how long a complete RPC is held for late messages: its reply at
	// another capture point, a resend, the last parts of a bulk. In nanoseconds of
	// capture time; 0: 20 seconds.
	Linger int64

	// Held is how many complete RPCs are held at most, and how many that have ended; 0: 16384.
	Held int

	// Resend is how long an RPC is held at most whose reply is an error after
	// which clients send the request again, such as ENOTCONN: a failover takes
	// minutes. It ends earlier when the client gave it up. In nanoseconds of
	// capture time; 0: as long as Timeout.
	Resend int64

	// LockWait is how long an RPC whose lock has to wait is held until the
	// lock is granted, in nanoseconds of capture time; 0: as long as Timeout.
	LockWait int64

	// Sent is called for each request, also when it is sent again; Answered
	// for each first final reply. Both are called before Done, with the
	// message itself. Sent may set the Connection of a callback whose handle
	// is unknown; later callbacks with the handle have it then.
	Sent, Answered func(*RPC, *dissect.Message)

	// Known, if it is set, is called once, at the first request of a connection
	// that was made before the capture began. It returns what a look ahead in the
	// same capture has found about such connections.
	Known func() Known

	// Bulk is called for each message with bulk data that are complete and decoded,
	// such as the pages of a directory.
	Bulk func(*RPC, *dissect.Message)

	// Done gets each RPC once, in the order in which they ended: Linger after the
	// reply; see Resend for one that failed, LockWait for one that waits for a lock,
	// and Timeout for one without a reply. At the end of the capture it gets the
	// rest, those without a reply last, in the order of the requests.
	Done func(*RPC)
}

// The bounds of what is held. Over one of them, the oldest RPC goes on to the
// next state early.
const (
	maxWaiting  = 1 << 17
	maxBlocked  = 1 << 14
	maxRefused  = 1 << 14
	maxHeld     = 1 << 14
	maxEndedAge = int64(60 * time.Second)
	maxName     = 4096 // bytes of a name, which is a path at most

	// resendDelay is longer than a client that has connected again takes to send its
	// requests again.
	resendDelay = int64(10 * time.Second)
)

// Pairing groups messages into RPCs, by xid and client node, whatever connection,
// rail or router they came by, and whichever capture point saw them.
type Pairing struct {
	opt         Options
	now         int64
	byXID       fifo.Index[RPC]
	queues      [ended + 1]fifo.Queue[RPC] // by state
	free        []*RPC
	slots       int32 // number of records that were made
	connections connections
	locks       lockWaits
	carried     []carriedMessage // by their numbers
	lost        lossTable
	tree        dissect.Tree // for replies that are read with their requests
	finishing   bool         // no more requests are taken
}

// NewPairing makes a Pairing.
func NewPairing(o Options) *Pairing {
	o.Timeout = cmp.Or(o.Timeout, int64(time.Hour))
	o.Linger = cmp.Or(o.Linger, int64(20*time.Second))
	o.Held = cmp.Or(o.Held, maxHeld)
	o.LockWait = cmp.Or(o.LockWait, o.Timeout)
	o.Resend = cmp.Or(o.Resend, o.Timeout)
	t := &Pairing{opt: o, connections: newConnections(), lost: newLossTable(), carried: make([]carriedMessage, maxCarried)}
	t.connections.learnKnown = o.Known
	return t
}

// Message takes the next message and returns the RPC it belongs to: nil when
// it belongs to none, or to one that has ended.
func (t *Pairing) Message(m *dissect.Message) *RPC {
	t.Advance(m.Time)
	r := t.take(m)
	if r == nil || r.state == ended {
		return nil
	}
	t.carried[uint64(m.Number)%maxCarried] = carriedMessage{m.Number, r, r.use, int32(m.Source), m.Kind}
	r.sighting(m.Source).addTransfer(m.Kind, &m.Transfer)
	if m.IB != nil {
		r.addRDMA(m)
	}
	if m.Content != nil && t.opt.Bulk != nil {
		t.opt.Bulk(r, m)
	}
	return r
}

// Finish ends the taking of requests: from now on Message takes only what belongs
// to RPCs that wait for their reply. It reports whether any does.
func (t *Pairing) Finish() bool {
	t.finishing = true
	return t.queue(waiting).First() != nil
}

func (t *Pairing) take(m *dissect.Message) *RPC {
	if t.finishing {
		if r := t.rpcOfReply(m); m.Kind == lnet.Request || r == nil || r.state != waiting {
			return nil
		}
	}
	switch m.Kind {
	case lnet.Request:
		return t.request(m)
	case lnet.Reply:
		return t.reply(m)
	case lnet.EarlyReply:
		return t.early(m)
	case lnet.Bulk, lnet.Get, lnet.GetReply, lnet.Ack:
		return t.bulk(m)
	}
	return nil
}

func (t *Pairing) request(m *dissect.Message) *RPC {
	q := &m.RPC
	t.lockRequest(m)
	r := t.rpcOfRequest(m)
	switch {
	case r == nil:
		r = t.newRecord(q.XID)
	case r.state == ended:
		return r
	}
	s := r.sighting(m.Source)
	sentBefore := !s.Request.IsZero()
	switch {
	case !sentBefore:
		s.Request = PointOf(m)
	case s.sender != m.Src.Addr() && s.flags == q.Flags && s.mbits == q.Mbits:
		return r // its next leg: beside a router it is seen twice
	case s.mbits != q.Mbits:
		s.parts = [2]uint64{}
	}
	s.sends++
	s.sender, s.receiver, s.flags, s.mbits = m.Src.Addr(), m.Dst.Addr(), q.Flags, q.Mbits
	r.expectReply(m.Time, q.Timeout)
	if s.sends <= r.Sends {
		return r // another capture point saw it before
	}
	r.Sends = s.sends
	r.Flags |= q.Flags
	resent := q.Flags&dissect.FlagResent != 0 || !hasFlags(m) && r.isRetried()
	if r.HasReply && r.state != waiting && r.state != ended && resent {
		t.reopen(r)
	}
	if r.HasRequest = true; r.Sends == 1 {
		t.describe(r, m)
	}
	if r.state == waiting && r.OneWay {
		t.complete(r)
	}
	if t.opt.Sent != nil {
		t.opt.Sent(r, m)
		if r.Connection != nil && opcodes.IsCallback(r.Opcode) && t.connections.byHandle(r.Handle) == nil {
			t.connections.learnCallbacks(r.Handle, r.Connection)
		}
	}
	return r
}

// hasFlags reports whether pb_flags were captured.
func hasFlags(m *dissect.Message) bool {
	return len(m.Msg.Buf(0)) >= opcodes.PbFlags.Off+opcodes.PbFlags.Size
}

// reopen waits for another reply to a request that is sent again after its
// reply: either the server did not know the client, or the reply was lost.
func (t *Pairing) reopen(r *RPC) {
	r.reopened = true
	for i := range r.Seen {
		r.Seen[i].reopened = true
	}
	t.setState(r, waiting)
}

// describe copies the fields of the request.
func (t *Pairing) describe(r *RPC, m *dissect.Message) {
	q := &m.RPC
	r.Opcode, r.HasOpcode, r.Encrypted, r.Variant = q.Opcode, q.HasOpcode, q.Encrypted, q.Variant
	r.Inferred = q.Inferred
	r.Client, r.Server, r.Portal = m.LNet.Src, m.LNet.Dst, m.LNet.Portal
	r.UID, r.GID, r.HasUser = q.UID, q.GID, q.HasUser
	r.PID = q.Status
	r.ConnCnt, r.Handle, r.RequestSize = q.ConnCnt, q.Handle, q.Bytes
	r.HasFlags = hasFlags(m)
	r.jobLen, r.hasJob = uint8(copy(r.job[:], q.JobID)), q.JobID != nil
	if op := opcodes.ByOpcode(q.Opcode); op != nil && q.HasOpcode {
		r.OneWay = op.OneWay
	}
	if v := q.Variant; v != nil && v.Subject != nil && m.Msg != nil && !q.Cut {
		fid, name := v.Subject(m.Msg)
		r.HasFID = r.FID.Read(fid, q.Big)
		r.name = append(r.name[:0], name[:min(len(name), maxName)]...)
	}
	if r.Opcode == opcodes.LDLM_ENQUEUE && r.HasOpcode {
		if cookie := opcodes.LockHandle(m.Msg, 0); cookie != 0 {
			t.locks.byClient.Add(&r.byClientLock, cookie, r)
		}
	}
	t.connections.request(r, m)
}

func (t *Pairing) reply(m *dissect.Message) *RPC {
	q := &m.RPC
	r := t.rpcOfReply(m)
	if r == nil {
		r = t.withoutRequest(m)
	}
	s := r.sighting(m.Source)
	if !s.Reply.IsZero() && !s.reopened || r.state == ended {
		return r
	}
	s.Reply, s.reopened = PointOf(m), false
	if r.HasReply && !r.reopened {
		return r // another capture point saw it before
	}
	if r.HasReply {
		r.addOtherError(r.Status)
	}
	r.HasReply, r.reopened = true, false
	t.innerError(r, m)
	r.IntentDone = opcodes.IsIntentDone(m.Msg)
	r.Status, r.Type, r.Transno, r.Service, r.Estimate = q.Status, q.Type, q.Transno, q.Service, q.Timeout
	r.ReplySize, r.body = q.Bytes, len(m.Msg.Buf(0))
	if errno := q.GSS.Errno(); errno != 0 {
		r.addOtherError(errno)
		r.body = 0 // not filled
	}
	if !r.HasOpcode && q.HasOpcode {
		r.Opcode, r.HasOpcode, r.Inferred = q.Opcode, true, 0
	}
	switch {
	case r.state != waiting:
	case r.Opcode == opcodes.LDLM_ENQUEUE && t.locks.replied(r, m):
		t.setState(r, blocked)
	default:
		t.complete(r)
	}
	t.connections.reply(r, m)
	if t.opt.Answered != nil {
		t.opt.Answered(r, m)
	}
	return r
}

// innerError adds the error inside a reply. If there is one, the reply is read
// with its request, as far as that was kept, to tell errors from results that
// are regular.
func (t *Pairing) innerError(r *RPC, m *dissect.Message) {
	v := m.RPC.Variant
	if v == nil && m.Req == nil {
		v = opcodes.ErrorVariant(m.RPC.Opcode, m.Msg)
	}
	if v == nil || v.InnerError == nil || m.Msg == nil || v.InnerError(m.Msg) == 0 {
		return
	}
	msg := m.Msg
	if whole, _ := t.tree.ParseRPC(m); whole != nil {
		msg = whole
	}
	r.notThere = m.RPC.Opcode == opcodes.OUT_UPDATE && opcodes.IsNotThere(msg)
	if m.RPC.Status >= 0 {
		r.addOtherError(v.InnerError(msg))
	}
}

// withoutRequest makes the record of a reply whose request was not captured.
func (t *Pairing) withoutRequest(m *dissect.Message) *RPC {
	q := &m.RPC
	r := t.newRecord(q.XID)
	r.Opcode, r.HasOpcode, r.Encrypted, r.Variant = q.Opcode, q.HasOpcode, q.Encrypted, q.Variant
	r.Client, r.Server, r.Handle = m.LNet.Dst, m.LNet.Src, q.Handle
	r.Connection = t.connections.byHandle(q.Handle)
	if q.Encrypted {
		fifo.GetOrNew(t.lost.encrypted, lossKey{m.Source, m.Src.Addr(), m.Dst.Addr()}).Add(Span{m.Time, m.Time}, maxLossSpans)
	}
	return r
}

func (t *Pairing) early(m *dissect.Message) *RPC {
	r := t.rpcOfReply(m)
	if r == nil {
		r = t.withoutRequest(m)
	}
	s := r.sighting(m.Source)
	s.early++
	r.Early = max(r.Early, s.early)
	if !r.HasReply {
		r.Estimate = m.RPC.Timeout
		r.expectReply(m.Time, r.Estimate)
	}
	return r
}

func (t *Pairing) bulk(m *dissect.Message) *RPC {
	r := t.rpcOfReply(m)
	if r == nil || r.state == ended {
		return r
	}
	s := r.sighting(m.Source)
	if m.Kind != lnet.Ack {
		s.Bulk.From = cmp.Or(s.Bulk.From, m.Time)
		s.Bulk.To = m.Time
	}
	switch m.Kind {
	case lnet.Bulk:
		if s.markPart(m.LNet.MatchBits) {
			s.Bytes += int64(m.RPC.Bytes)
		}
	case lnet.Get:
		if s.markPart(m.LNet.MatchBits) {
			s.pendingGets++
		}
	case lnet.GetReply:
		if s.pendingGets > 0 {
			s.pendingGets--
			s.Bytes += int64(m.RPC.Bytes)
		}
	}
	return r
}

// rpcOfRequest returns the record of a request that was seen before: sent
// again, forwarded, or seen by another capture point. A replay is another RPC
// than the one it repeats.
func (t *Pairing) rpcOfRequest(m *dissect.Message) *RPC {
	q := &m.RPC
	replay := q.Flags&dissect.FlagReplay != 0
	for e := t.byXID.First(q.XID); e != nil; e = e.Next() {
		r := e.Owner
		if !sameOpcode(r, q) || r.HasRequest && replay != r.Replay() {
			continue
		}
		if r.Client != m.LNet.Src && (r.Handle == 0 || r.Handle != q.Handle) {
			continue // another client with the same xid, unless it is another rail
		}
		if replay && r.HasReply && r.Handle != 0 && q.Handle != 0 && r.Handle != q.Handle {
			continue // it is replayed again, in the recovery after another restart
		}
		if r.state == ended && q.Flags&dissect.FlagResent != 0 && r.Flags&dissect.FlagResent == 0 {
			return nil // resent after the end of the RPC
		}
		return r
	}
	return nil
}

// rpcOfReply returns the record that a reply or bulk belongs to: one that waits
// for its reply rather than one that has it, the newest of them.
func (t *Pairing) rpcOfReply(m *dissect.Message) *RPC {
	q := &m.RPC
	var replied *RPC
	for e := t.byXID.First(q.XID); e != nil; e = e.Next() {
		r := e.Owner
		if !sameOpcode(r, q) || !samePeer(m, r) {
			continue
		}
		if r.state == waiting {
			return r
		}
		if replied == nil {
			replied = r
		}
	}
	return replied
}

// sameOpcode reports whether the opcodes agree; an unknown one agrees with any. An
// error reply to a request that could not be read has none.
func sameOpcode(r *RPC, q *dissect.RPC) bool {
	return !r.HasOpcode || !q.HasOpcode || q.Opcode == 0 || r.Opcode == q.Opcode
}

// samePeer reports whether a message goes to, or comes from, the client of an
// RPC.
func samePeer(m *dissect.Message, r *RPC) bool {
	if m.Kind == lnet.GetReply {
		if r.Client == m.LNet.Src {
			return true
		}
	} else if r.Client == m.LNet.Dst || m.Kind == lnet.Ack && r.Client == m.LNet.Src {
		return true
	}
	if m.Req != nil && m.Req.XID == r.XID && m.Req.Client == r.Client {
		return true
	}
	return r.Handle != 0 && r.Handle == m.RPC.Handle
}
