package dissect

import (
	"github.com/lshark/lshark/capture"
	"github.com/lshark/lshark/lnet"
)

// Options are the settings of a Dissector.
type Options struct {
	Ports  []uint16       // TCP ports that carry LNet; none: 988
	Frames bool           // tell which frames carried each message
	Handle func(*Message) // gets each message, in the order of completion
}

// Dissector turns frames into messages: streams are put together, RPC messages
// read as far as pairing needs, replies and bulk data tied to their requests.
// What a message says in full, a Tree tells.
type Dissector struct {
	lnet   *lnet.Decoder
	ex     *exchanges
	handle func(*Message)
	now    Message // being handed out
	msg    rpcMsg
	late   late
	frames int64
}

// New makes a Dissector.
func New(o Options) *Dissector {
	d := &Dissector{ex: newExchanges(), handle: o.Handle}
	d.lnet = lnet.NewDecoder(lnet.Options{Ports: o.Ports, Frames: o.Frames, Want: d.want, Handle: d.message})
	return d
}

// Frame takes the next frame.
func (d *Dissector) Frame(f *capture.Frame) {
	d.frames++
	d.lnet.Frame(f)
	if d.late.len() > 0 {
		d.release(false)
	}
}

// Quiet says that no frame came for a while, as it happens in a live capture:
// what waits for frames that may only be late is handed out.
func (d *Dissector) Quiet() {
	d.lnet.Quiet()
	d.release(true)
}

// Close hands out what is still held: the capture has ended.
func (d *Dissector) Close() {
	d.lnet.Close()
	d.release(true)
}

// Stats tells about the streams.
func (d *Dissector) Stats() lnet.Stats { return d.lnet.Stats() }

// Kept of bulk data that nobody decodes, and of selftest messages.
const (
	keepData     = 64
	keepSelftest = 4096

	ostBulkPortal = 8
)

// want says how many payload bytes of a message are needed.
func (d *Dissector) want(m *lnet.Message) int {
	n := int(m.LNet.Length)
	switch m.Kind {
	case lnet.Bulk, lnet.GetReply:
		ex := d.exchange(m)
		if ex == nil && m.Kind == lnet.Bulk && m.LNet.Portal != ostBulkPortal {
			return n
		}
		if ex != nil && ex.known && ex.req.Variant != nil && ex.req.Variant.Bulk != nil && ex.req.Variant.Bulk.Type != nil {
			return n
		}
		return min(n, keepData)
	case lnet.Selftest:
		return min(n, keepSelftest)
	}
	return n
}

// exchange finds the request of a bulk message.
func (d *Dissector) exchange(m *lnet.Message) *exchange {
	switch m.Kind {
	case lnet.Bulk, lnet.Get:
		return d.ex.find(m.LNet.MatchBits, m.LNet.Dst, m.LNet.Src, 0, false)
	case lnet.GetReply, lnet.Ack:
		ex, _ := d.ex.expected(m.LNet.Handle)
		return ex
	}
	return nil
}

// message completes a message with what is known of its RPC and passes it on,
// at once or when its turn has come.
func (d *Dissector) message(l *lnet.Message) {
	m := &d.now
	notes := append(m.Notes[:0], l.Notes...) // the dissector adds its own
	m.Message = *l
	m.Notes = notes
	known := d.resolve(m)
	if held := d.lnet.Held(); known && d.late.len() == 0 && (held == 0 || m.Frame < held) {
		d.handle(m)
		return
	}
	d.late.put(m, known, d.frames)
}

// resolve reads what the message carries and ties it to its request. It says
// whether nothing more can become known.
func (d *Dissector) resolve(m *Message) bool {
	m.RPC, m.Req, m.Msg, m.Content = RPC{}, nil, nil, nil
	switch m.Kind {
	case lnet.Request:
		d.rpc(m)
	case lnet.Reply, lnet.EarlyReply:
		m.Kind = lnet.Reply
		d.rpc(m)
		return m.Req != nil
	case lnet.Push, lnet.Selftest:
		d.ex.foreign(m.LNet.Handle)
	case lnet.Bulk, lnet.Get, lnet.GetReply, lnet.Ack:
		d.bulk(m)
		return m.Req != nil || d.ex.isForeign(m.LNet.Handle)
	case lnet.Unknown:
		d.guess(m)
	}
	return true
}

// guess takes a message on an unknown portal for an RPC when it looks like one.
func (d *Dissector) guess(m *Message) {
	if m.LNet.Type != lnet.TypePut || !d.msg.parse(m.Data, m.PayloadOff, m.Size) {
		return
	}
	m.Kind = lnet.Request
	d.rpc(m)
	if m.RPC.Type == TypeReply || m.RPC.Type == TypeError {
		m.Kind = lnet.Reply
		m.RPC = RPC{}
		d.rpc(m)
	}
}

func (d *Dissector) rpc(m *Message) {
	p := &d.msg
	m.RPC.XID, m.RPC.HasXID = m.LNet.MatchBits, true
	probe(m, p)
	r := &m.RPC
	if !r.Encrypted {
		m.Msg = &p.Msg
	}
	if m.Kind == lnet.Request {
		p.identify(r.Opcode, false, nil)
		r.Variant, r.Cut = p.Variant, !p.whole(m)
		m.Req = &d.ex.add(m, p).req
		if r.Flags&FlagResent != 0 {
			m.Note("resent", "sent again")
		}
		if r.Flags&FlagReplay != 0 {
			m.Note("replay", "replayed after recovery")
		}
		return
	}
	ex := d.ex.find(m.LNet.MatchBits, m.LNet.Dst, m.LNet.Src, r.Opcode, r.HasOpcode)
	if ex != nil && ex.known {
		m.Req = &ex.req
		r.XID = ex.req.XID
		if r.Variant = ex.req.Variant; !r.HasOpcode || r.Opcode == 0 && !r.Encrypted {
			r.Opcode = ex.req.Opcode
		}
	}
	p.Reply, p.Opcode, p.Status, p.Variant = true, r.Opcode, r.Status, r.Variant
	if early(m, p) {
		m.Kind = lnet.EarlyReply
	} else if ex != nil {
		d.ex.reply(ex, m.Time)
	}
	d.ex.expect(m.LNet.Handle, ex, m.LNet.MatchBits)
}

func (d *Dissector) bulk(m *Message) {
	ex := d.exchange(&m.Message)
	bits := m.LNet.MatchBits
	if m.Kind == lnet.GetReply {
		_, bits = d.ex.expected(m.LNet.Handle)
	}
	if m.Kind == lnet.Bulk || m.Kind == lnet.Get {
		d.ex.expect(m.LNet.Handle, ex, bits)
	}
	m.RPC.Bytes = int(m.LNet.Length)
	switch m.Kind {
	case lnet.Get:
		m.RPC.Bytes = int(m.LNet.Sink)
	case lnet.Ack:
		m.RPC.Bytes = int(m.LNet.Sink)
	}
	if ex == nil || !ex.known {
		return
	}
	m.Req = &ex.req
	m.RPC.XID, m.RPC.HasXID = ex.req.XID, true
	m.RPC.Opcode, m.RPC.HasOpcode, m.RPC.Variant = ex.req.Opcode, ex.req.Opcode != 0, ex.req.Variant
	if (m.Kind == lnet.Bulk || m.Kind == lnet.GetReply) && m.RPC.Variant != nil && m.RPC.Variant.Bulk != nil &&
		m.RPC.Variant.Bulk.Type != nil && len(m.Data) == m.Size && len(m.Holes) == 0 && m.LNet.Length > 0 {
		m.Content = d.ex.part(ex, bits, m.Payload())
	}
}
