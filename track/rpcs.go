package track

import (
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// Options are the settings of an RPCs.
type Options struct {
	// Timeout is the longest wait for a reply, in nanoseconds of capture
	// time; 0: an hour.
	Timeout int64

	// Linger is how long a complete RPC is kept back for what may still
	// come: its reply at another capture point, a resend, the last parts of
	// a bulk. 0: 20 seconds of capture time, or as long as there is room.
	Linger int64

	// Sent is called for each request, also when it is sent again; Answered
	// for each first final reply. Both before Done, with the message that
	// made it so.
	Sent, Answered func(*RPC, *dissect.Message)

	// Done gets each RPC once, in the order in which they ended: by the
	// reply, or by giving up. What is left at the end of the capture comes
	// in the order of the requests.
	Done func(*RPC)
}

// The bounds of what is held.
const (
	maxOpen   = 1 << 17 // RPCs that wait for a reply
	maxLinger = 1 << 14 // complete ones that wait for stragglers
	maxSpent  = 1 << 14 // ones that were handed out and absorb duplicates
	maxSame   = 64      // ones with the same xid, of many clients
	maxName   = 4096    // bytes of a name, which is a path at most
	absorb    = int64(60 * time.Second)
)

// RPCs puts the messages of RPCs together: by xid and client node, whatever
// connection, rail or router they came by, and whichever capture point saw
// them.
type RPCs struct {
	opt   Options
	now   int64
	byXID map[uint64]*RPC
	open  fifo.Queue[RPC]
	done  fifo.Queue[RPC]
	spent fifo.Queue[RPC]
	free  []*RPC
	slots int32 // records that were made
	links links
}

// NewRPCs makes an RPCs.
func NewRPCs(o Options) *RPCs {
	if o.Timeout == 0 {
		o.Timeout = int64(time.Hour)
	}
	if o.Linger == 0 {
		o.Linger = int64(20 * time.Second)
	}
	return &RPCs{opt: o, byXID: make(map[uint64]*RPC), links: newLinks()}
}

// Message takes the next message and returns the RPC it belongs to: nil when
// it belongs to none, or to one that Done has had.
func (t *RPCs) Message(m *dissect.Message) *RPC {
	t.Advance(m.Time)
	r := t.take(m)
	if r == nil || r.state == spent {
		return nil
	}
	return r
}

func (t *RPCs) take(m *dissect.Message) *RPC {
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

func (t *RPCs) request(m *dissect.Message) *RPC {
	q := &m.RPC
	r := t.findRequest(m)
	if r == nil {
		r = t.fresh(q.XID)
	}
	s := r.at(m.Source)
	again := s.Request.Frame != 0
	switch {
	case !again:
		s.Request = Point{m.Frame, m.Time}
	case s.forwarded(m):
		return r
	case s.mbits != q.Mbits:
		s.parts = [2]uint64{}
	}
	s.sends++
	s.from, s.flags, s.mbits = m.Src.Addr(), q.Flags, q.Mbits
	if s.sends <= r.Sends {
		return r // another capture point saw it before
	}
	r.Sends = s.sends
	r.Flags |= q.Flags
	if r.HasReply && r.state == lingering && q.Flags&dissect.FlagResent != 0 {
		t.reopen(r)
	}
	if r.HasRequest = true; r.Sends == 1 {
		t.describe(r, m)
	}
	if r.state == open && r.OneWay {
		t.finish(r)
	}
	if t.opt.Sent != nil {
		t.opt.Sent(r, m)
	}
	return r
}

// reopen waits for another reply to a request that is sent again although it
// was answered: the client was told that the server does not know it, or the
// answer did not reach it.
func (t *RPCs) reopen(r *RPC) {
	r.reopened = true
	for i := range r.Seen {
		r.Seen[i].reopened = true
	}
	t.move(r, &t.open, open)
}

// forwarded says whether a request that the point has seen is on its next leg:
// a router's neighbour sees it twice.
func (s *Sighting) forwarded(m *dissect.Message) bool {
	return s.from != m.Src.Addr() && s.flags == m.RPC.Flags && s.mbits == m.RPC.Mbits
}

// describe takes what a request says of its RPC.
func (t *RPCs) describe(r *RPC, m *dissect.Message) {
	q := &m.RPC
	r.Opcode, r.HasOpcode, r.Encrypted, r.Variant = q.Opcode, q.HasOpcode, q.Encrypted, q.Variant
	r.Client, r.Server, r.Portal = m.LNet.Src, m.LNet.Dst, m.LNet.Portal
	r.UID, r.GID, r.HasUser = q.UID, q.GID, q.HasUser
	r.ConnCnt, r.Handle, r.RequestSize = q.ConnCnt, q.Handle, q.Bytes
	r.jobLen, r.hasJob = uint8(copy(r.job[:], q.JobID)), q.JobID != nil
	if op := opcodes.ByOpcode(q.Opcode); op != nil && q.HasOpcode {
		r.OneWay = op.OneWay
	}
	if v := q.Variant; v != nil && v.Subject != nil && m.Msg != nil && !q.Cut {
		fid, name := v.Subject(m.Msg)
		r.HasFID = r.FID.read(fid, q.Big)
		r.name = append(r.name[:0], name[:min(len(name), maxName)]...)
	}
	t.links.request(r, m)
}

func (t *RPCs) reply(m *dissect.Message) *RPC {
	q := &m.RPC
	r := t.findReply(m)
	if r == nil {
		r = t.orphan(m)
	}
	s := r.at(m.Source)
	if s.Reply.Frame != 0 && !s.reopened || r.state == spent {
		return r
	}
	s.Reply, s.reopened = Point{m.Frame, m.Time}, false
	if r.HasReply && !r.reopened {
		return r // another capture point saw it before
	}
	if r.HasReply {
		r.other(r.Status)
	}
	r.HasReply, r.reopened = true, false
	if v := q.Variant; v != nil && v.Inner != nil && q.Status >= 0 && m.Msg != nil {
		r.other(v.Inner(m.Msg))
	}
	r.Status, r.Type, r.Transno, r.Service, r.Estimate = q.Status, q.Type, q.Transno, q.Service, q.Timeout
	r.ReplySize, r.body = q.Bytes, len(m.Msg.Buf(0))
	if !r.HasOpcode && q.HasOpcode {
		r.Opcode, r.HasOpcode = q.Opcode, true
	}
	if r.state == open {
		t.finish(r)
	}
	t.links.reply(r, m)
	if t.opt.Answered != nil {
		t.opt.Answered(r, m)
	}
	return r
}

// orphan makes the record of a reply whose request was not seen.
func (t *RPCs) orphan(m *dissect.Message) *RPC {
	q := &m.RPC
	r := t.fresh(q.XID)
	r.Opcode, r.HasOpcode, r.Encrypted, r.Variant = q.Opcode, q.HasOpcode, q.Encrypted, q.Variant
	r.Client, r.Server, r.Handle = m.LNet.Dst, m.LNet.Src, q.Handle
	r.Link = t.links.handle(q.Handle)
	return r
}

func (t *RPCs) early(m *dissect.Message) *RPC {
	r := t.findReply(m)
	if r == nil {
		r = t.orphan(m)
	}
	s := r.at(m.Source)
	s.early++
	r.Early = max(r.Early, s.early)
	if !r.HasReply {
		r.Estimate = m.RPC.Timeout
	}
	return r
}

func (t *RPCs) bulk(m *dissect.Message) *RPC {
	r := t.findReply(m)
	if r == nil || r.state == spent {
		return r
	}
	s := r.at(m.Source)
	if m.Kind != lnet.Ack {
		if s.Bulk.From == 0 {
			s.Bulk.From = m.Time
		}
		s.Bulk.To = m.Time
	}
	switch m.Kind {
	case lnet.Bulk:
		if s.part(m.LNet.MatchBits) {
			s.Bytes += int64(m.RPC.Bytes)
		}
	case lnet.Get:
		if s.part(m.LNet.MatchBits) {
			s.asked++
		}
	case lnet.GetReply:
		if s.asked > 0 {
			s.asked--
			s.Bytes += int64(m.RPC.Bytes)
		}
	}
	return r
}

// part marks a part of the bulk as seen; false: it was before.
func (s *Sighting) part(bits uint64) bool {
	word, bit := &s.parts[bits>>6&1], uint64(1)<<(bits&63)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	return true
}

func (f *FID) read(b []byte, big bool) bool {
	if len(b) < 16 {
		return false
	}
	f.Seq = schema.ReadUint(b[:8], big)
	f.OID, f.Ver = uint32(schema.ReadUint(b[8:12], big)), uint32(schema.ReadUint(b[12:16], big))
	return *f != FID{}
}
