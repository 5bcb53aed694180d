package dissect

import (
	"math"
	"net/netip"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// Options are the settings of a Dissector.
type Options struct {
	Ports  []uint16       // TCP ports that carry LNet; none: 988
	Frames bool           // fill Message.Frames
	Data   bool           // keep bulk data in full, not only their first bytes
	Join   bool           // with Data: put the parts of file data together, in Message.Content
	Handle func(*Message) // receives each message, in the order of completion

	// Answered is how many requests are kept at most that have their reply, for late messages; 0: 16384.
	Answered int

	// TransferUpdate receives what TCP did for a message after Handle got it: its segments
	// were sent again, or acknowledged late. number is its Message.Number; t is valid
	// until the func returns.
	TransferUpdate func(number int64, t *lnet.Transfer)

	// Lost receives the runs of bytes that were not captured and in which
	// messages may have begun. l is valid until it returns.
	Lost func(l *lnet.Loss)

	// TCPEvent receives each TCP segment that was sent again, came out of order, closes or
	// opens a receive window, or aborts a connection. It is valid until the func returns.
	TCPEvent func(*lnet.TCPEvent)

	// Active receives, for each direction of a connection, the first segment or packet of each second,
	// and each segment that opens, closes or aborts a TCP connection. It is valid until the func returns.
	Active func(*lnet.Activity)

	// IBEvent receives the negative acknowledgements of InfiniBand packets, and those that were sent
	// again, each valid
	// until it returns.
	IBEvent func(*lnet.IBEvent)
}

// Message is an LNet message with its ptlrpc part. The Dissector reuses it: it and
// everything it refers to are valid until the handler returns. Clone copies it.
type Message struct {
	lnet.Message

	RPC     RPC
	Req     *RequestInfo // of a reply or bulk transfer: its request, if known; of a request: itself
	Msg     *schema.Msg  `codec:"-"` // the parsed lustre_msg of a request or reply that is not encrypted
	Content []byte       // complete bulk data, in the message with the last part of them
	Target  string       // of its connection, without "_UUID"; set by those who know, such as track.Names
}

// Dissector converts frames to messages: package lnet decodes LNet messages; the
// Dissector reads as much of ptlrpc as pairing needs, and finds the requests of
// replies and bulk data. A Tree reads messages in full.
type Dissector struct {
	lnet     *lnet.Decoder
	requests *requestTable
	handle   func(*Message)
	later    func(int64, *lnet.Transfer)
	msg      Message // being handed out
	rpc      rpcMsg  // the lustre_msg of the message being read
	late     lateMessages
	frames   int64
	keepData int // bytes to keep of bulk data that are not decoded
	join     bool
}

// New returns a Dissector with the given options.
func New(o Options) *Dissector {
	opcodes.Resolve()
	d := &Dissector{requests: newRequestTable(o.Answered), handle: o.Handle, later: o.TransferUpdate, keepData: keepData}
	if o.Data {
		d.keepData, d.join = math.MaxInt, o.Join
	}
	lo := lnet.Options{Ports: o.Ports, Frames: o.Frames, Want: d.want, Handle: d.message, Lost: o.Lost, TCPEvent: o.TCPEvent,
		Active: o.Active, IBEvent: o.IBEvent}
	if o.TransferUpdate != nil {
		lo.TransferUpdate = d.updateTransfer
	}
	d.lnet = lnet.NewDecoder(lo)
	return d
}

// Frame takes the next frame.
func (d *Dissector) Frame(f *capture.Frame) {
	d.frames++
	d.lnet.Frame(f)
	d.release(false)
}

// Flush is called when no frame has arrived for a while, as in a live capture. It hands
// out the messages that wait only for late frames.
func (d *Dissector) Flush() {
	d.lnet.Flush()
	d.release(true)
}

// Close ends the capture and hands out the messages that are held.
func (d *Dissector) Close() {
	d.lnet.Close()
	d.release(true)
}

// Stats returns the counts of the LNet decoder.
func (d *Dissector) Stats() lnet.Stats { return d.lnet.Stats() }

// Bytes to keep of payloads that are not decoded in full.
const (
	keepData     = 64 // of bulk data
	keepSelftest = 4096
)

// want returns how many payload bytes of a message are needed.
func (d *Dissector) want(m *lnet.Message) int {
	n := int(m.LNet.Length)
	switch m.Kind {
	case lnet.Bulk, lnet.GetReply:
		q := d.requestOfBulk(m)
		if q == nil && m.Kind == lnet.Bulk && m.LNet.Portal != opcodes.OstBulkPortal {
			return n
		}
		if q != nil && bulkType(q.info.Variant) != nil {
			return n
		}
		return min(n, d.keepData)
	case lnet.Selftest:
		return min(n, keepSelftest)
	}
	return n
}

// bulkType returns the struct that bulk data of a variant consist of, nil for
// file data.
func bulkType(v *schema.Variant) *schema.Struct {
	if v == nil || v.Bulk == nil {
		return nil
	}
	return v.Bulk.Type
}

// requestOfBulk returns the request of a bulk message, nil if it is unknown.
func (d *Dissector) requestOfBulk(m *lnet.Message) *request {
	switch m.Kind {
	case lnet.Bulk, lnet.Get:
		return d.requests.find(m.LNet.MatchBits, m.LNet.Dst, m.LNet.Src, 0, false)
	case lnet.GetReply, lnet.Ack:
		q, _ := d.requests.byHandle(m.LNet.Handle)
		return q
	}
	return nil
}

// Position is where a message is on its TCP connection or queue pair: what two capture points
// see there is the same message.
type Position struct {
	src, dst netip.AddrPort
	destQP   uint32 // 0 of TCP
	seq      uint32
	size     int
	kind     lnet.Kind
}

// Position returns where the message is.
func (m *Message) Position() Position {
	p := Position{m.Src, m.Dst, 0, m.Seq, m.Size, m.Kind}
	if m.IB != nil {
		p.destQP = m.IB.DestQP
	}
	return p
}

// message pairs an LNet message with its request and hands it out, immediately or
// when all messages before it were handed out.
func (d *Dissector) message(l *lnet.Message) {
	m := &d.msg
	notes := append(m.Notes[:0], l.Notes...) // the dissector adds its own
	m.Message = *l
	m.Notes = notes
	paired := d.pair(m)
	if held := d.lnet.Held(); paired && d.late.len() == 0 && (held == 0 || m.Order < held) {
		d.handle(m)
		return
	}
	d.late.put(m, paired, d.frames)
}

// pair reads the RPC of a message and finds its request. It returns false if the
// request may still arrive.
func (d *Dissector) pair(m *Message) bool {
	m.RPC, m.Req, m.Msg, m.Content = RPC{}, nil, nil, nil
	switch m.Kind {
	case lnet.Request:
		d.request(m)
		if r := &m.RPC; !r.HasOpcode && !r.Encrypted {
			r.Inferred = d.rpc.inferOpcode(m)
			m.Req.Inferred = r.Inferred
		}
	case lnet.Reply, lnet.EarlyReply:
		m.Kind = lnet.Reply
		d.reply(m)
		return m.Req != nil
	case lnet.Push, lnet.Selftest:
		d.requests.markNonRPC(m.LNet.Handle)
	case lnet.Bulk, lnet.Get, lnet.GetReply, lnet.Ack:
		d.bulk(m)
		return m.Req != nil || d.requests.isNonRPC(m.LNet.Handle)
	case lnet.Unknown:
		d.unknownPortal(m)
	}
	return true
}

// unknownPortal treats a message on an unknown portal as an RPC if it looks like
// one.
func (d *Dissector) unknownPortal(m *Message) {
	if m.LNet.Type != lnet.TypePut || !d.rpc.parse(m.Data, m.PayloadOff, m.Size) {
		return
	}
	m.Kind = lnet.Request
	d.request(m)
	if m.RPC.Type == TypeReply || m.RPC.Type == TypeError {
		m.Kind = lnet.Reply
		m.RPC = RPC{}
		d.reply(m)
	}
}

// probe reads the fields that every RPC has.
func (d *Dissector) probe(m *Message) {
	m.RPC.XID, m.RPC.HasXID = m.LNet.MatchBits, true
	probe(m, &d.rpc)
	if !m.RPC.Encrypted {
		m.Msg = &d.rpc.Msg
	}
}

// request reads a request and adds it to the table.
func (d *Dissector) request(m *Message) {
	d.probe(m)
	p, r := &d.rpc, &m.RPC
	p.identify(r.Opcode, false, nil)
	r.Variant, r.Cut = p.Variant, !p.summaryComplete(m)
	m.Req = &d.requests.add(m, p).info
	if r.Flags&FlagResent != 0 {
		m.Note("resent", "sent again")
	}
	if r.Flags&FlagReplay != 0 {
		m.Note("replay", "replayed after recovery")
	}
}

// reply reads a reply and finds its request.
func (d *Dissector) reply(m *Message) {
	d.probe(m)
	p, r := &d.rpc, &m.RPC
	q := d.requests.find(m.LNet.MatchBits, m.LNet.Dst, m.LNet.Src, r.Opcode, r.HasOpcode)
	if q != nil {
		m.Req = &q.info
		r.XID = q.info.XID
		if r.Variant = q.info.Variant; !r.HasOpcode || r.Opcode == 0 && !r.Encrypted {
			r.Opcode, r.Inherited = q.info.Opcode, true
		}
		if !r.HasOpcode {
			r.Inferred = q.info.Inferred
		}
	} else if r.Opcode == 0 {
		r.HasOpcode = false // the server did not unpack the request
	}
	p.Reply, p.Opcode, p.Status, p.Variant = true, r.Opcode, r.Status, r.Variant
	if early(m, p) {
		m.Kind = lnet.EarlyReply
	} else if q != nil {
		d.requests.replied(q, m)
	}
	d.requests.expectHandle(m.LNet.Handle, q, m.LNet.MatchBits)
}

// bulk finds the request of a bulk message, or of its ACK.
func (d *Dissector) bulk(m *Message) {
	q := d.requestOfBulk(&m.Message)
	bits := m.LNet.MatchBits
	m.RPC.Bytes = int(m.LNet.Length)
	switch m.Kind {
	case lnet.GetReply:
		_, bits = d.requests.byHandle(m.LNet.Handle)
	case lnet.Bulk:
		d.requests.expectHandle(m.LNet.Handle, q, bits)
	case lnet.Get:
		d.requests.expectHandle(m.LNet.Handle, q, bits)
		m.RPC.Bytes = int(m.LNet.Sink)
	case lnet.Ack:
		m.RPC.Bytes = int(m.LNet.Sink)
	}
	if q == nil {
		return
	}
	r := &m.RPC
	m.Req = &q.info
	r.XID, r.HasXID = q.info.XID, true
	r.Opcode, r.HasOpcode, r.Variant = q.info.Opcode, q.info.Opcode != 0, q.info.Variant
	hasData := m.Kind == lnet.Bulk || m.Kind == lnet.GetReply
	if hasData && (d.join || bulkType(r.Variant) != nil) && len(m.Data) == m.Size && len(m.Holes) == 0 && m.LNet.Length > 0 {
		m.Content = d.requests.addPart(q, bits, m.Payload())
	}
}
