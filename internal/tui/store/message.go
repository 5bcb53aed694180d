package store

import (
	"bytes"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/lnet/link"
	"github.com/lshark/lshark/internal/codec"
	"github.com/lshark/lshark/opcodes/schema"
)

// maxData is how many bytes of a message are kept at most, so that it fits into a
// segment with the rest of it.
const maxData = 1 << 20

// messageCodec writes messages as bytes and reads them back.
type messageCodec struct {
	texts    codec.Interned[string] // names of files and targets
	variants codec.Interned[*schema.Variant]
	notes    codec.Interned[lnet.Note]
}

// message visits all fields of a message except Msg, which readers get from
// dissect.Tree.ParseRPC.
func (t *messageCodec) message(c *codec.Codec, m *dissect.Message) {
	t.frame(c, &m.Message)
	codec.Number(c, &m.Source)
	codec.Slice(c, &m.Frames, codec.Number[int64])
	codec.Number(c, &m.Conn)
	codec.AddrPort(c, &m.Src)
	codec.AddrPort(c, &m.Dst)
	codec.Number(c, &m.Transport)
	codec.Number(c, &m.Kind)
	codec.Number(c, &m.Version)
	c.Bools(&m.Swapped)
	codec.Number(c, &m.Seq)
	codec.Transfer(c, &m.Transfer)
	codec.Number(c, &m.RoundTrips.N)
	codec.Number(c, &m.RoundTrips.Least)
	header(c, &m.LNet)
	t.data(c, m)
	codec.Slice(c, &m.Notes, func(c *codec.Codec, n *lnet.Note) {
		t.notes.Visit(c, n, func(c *codec.Codec, n *lnet.Note) {
			c.Text(&n.Code)
			c.Text(&n.Text)
		})
	})
	t.rpc(c, &m.RPC)
	t.texts.Visit(c, &m.Target, (*codec.Codec).Text)
	codec.Pointer(c, &m.IB, t.infiniband)
	codec.Pointer(c, &m.Req, func(c *codec.Codec, r *dissect.RequestInfo) { t.request(c, m, r) })
}

func (t *messageCodec) frame(c *codec.Codec, m *lnet.Message) {
	codec.Number(c, &m.Number)
	codec.Number(c, &m.Frame)
	t.texts.Visit(c, &m.File, (*codec.Codec).Text)
	codec.Number(c, &m.Order)
	codec.Number(c, &m.Time)
}

func header(c *codec.Codec, h *lnet.Header) {
	codec.Number(c, &h.Type)
	codec.NID(c, &h.Src)
	codec.NID(c, &h.Dst)
	codec.Number(c, &h.Length)
	codec.Number(c, &h.MatchBits)
	codec.Number(c, &h.Portal)
	codec.Number(c, &h.Offset)
	codec.Number(c, &h.Sink)
	c.Array(h.Handle[:])
}

// data visits the bytes of a message. Of those beyond maxData only the number is kept.
func (t *messageCodec) data(c *codec.Codec, m *dissect.Message) {
	data, content, tail := m.Data, m.Content, m.Tail
	if len(data) > maxData {
		data, tail = data[:maxData], lnet.Skipped
	}
	content = content[:min(len(content), maxData)]
	c.Bytes(&data)
	c.Bytes(&content)
	codec.Number(c, &tail)
	if c.Reading() {
		m.Data, m.Content, m.Tail = data, content, tail
	}
	codec.Number(c, &m.Size)
	codec.Number(c, &m.LNetOff)
	codec.Number(c, &m.PayloadOff)
	codec.Slice(c, &m.Holes, func(c *codec.Codec, h *lnet.Hole) {
		codec.Number(c, &h.Off)
		codec.Number(c, &h.Len)
		codec.Number(c, &h.Why)
	})
}

func (t *messageCodec) variant(c *codec.Codec, p **schema.Variant) {
	t.variants.Visit(c, p, func(*codec.Codec, **schema.Variant) {}) // the protocol has few
}

func (t *messageCodec) rpc(c *codec.Codec, r *dissect.RPC) {
	c.Bools(&r.HasXID, &r.HasOpcode, &r.Big, &r.Encrypted, &r.Cut, &r.Inherited, &r.AT, &r.HasUser)
	codec.Number(c, &r.XID)
	codec.Number(c, &r.Opcode)
	codec.Number(c, &r.Inferred)
	codec.Number(c, &r.Type)
	codec.Number(c, &r.Version)
	codec.Number(c, &r.Status)
	codec.Number(c, &r.Flags)
	codec.Number(c, &r.OpFlags)
	codec.Number(c, &r.ConnCnt)
	codec.Number(c, &r.Timeout)
	codec.Number(c, &r.Service)
	codec.Number(c, &r.UID)
	codec.Number(c, &r.GID)
	codec.Number(c, &r.Transno)
	codec.Number(c, &r.LastCommitted)
	codec.Number(c, &r.Body)
	codec.Number(c, &r.Mbits)
	codec.Number(c, &r.Handle)
	c.Bytes(&r.JobID)
	t.variant(c, &r.Variant)
	codec.Number(c, &r.Bytes)
	g := &r.GSS
	if c.Present(g.Proc != 0 || g.Major != 0 || g.Minor != 0 || g.Handle != 0 || g.Setup.Service != 0 || g.Setup.Target != nil ||
		g.Setup.Reverse != 0) {
		codec.Number(c, &g.Proc)
		codec.Number(c, &g.Major)
		codec.Number(c, &g.Minor)
		codec.Number(c, &g.Handle)
		codec.Number(c, &g.Setup.Service)
		c.Bytes(&g.Setup.Target)
		codec.Number(c, &g.Setup.Reverse)
	}
}

// request visits what is known of the request r that a message belongs to. In a request
// itself that has the same bytes as the message, which are not written a second time.
func (t *messageCodec) request(c *codec.Codec, m *dissect.Message, r *dissect.RequestInfo) {
	codec.Number(c, &r.XID)
	codec.Number(c, &r.Opcode)
	codec.Number(c, &r.Inferred)
	codec.NID(c, &r.Client)
	codec.NID(c, &r.Server)
	codec.Number(c, &r.Frame)
	codec.Number(c, &r.Time)
	codec.Number(c, &r.ReplyFrame)
	codec.Number(c, &r.Handle)
	job := bytes.TrimRight(r.JobID[:], "\x00")
	c.Bytes(&job)
	copy(r.JobID[:], job)
	c.Bools(&r.Big)
	t.variant(c, &r.Variant)
	if c.Present(r.Data != nil && len(m.Data) <= maxData && bytes.Equal(r.Data, m.Payload())) {
		if c.Reading() {
			r.Data = m.Payload()
		}
		return
	}
	data := r.Data[:min(len(r.Data), maxData)]
	c.Bytes(&data)
	if c.Reading() {
		r.Data = data
	}
}

func (t *messageCodec) infiniband(c *codec.Codec, x *lnet.IB) {
	codec.Number(c, &x.SrcQP)
	codec.Number(c, &x.DestQP)
	codec.Number(c, &x.PSN)
	c.Bytes(&x.Headers)
	c.Bools(&x.Local)
	codec.Slice(c, &x.Parts, func(c *codec.Codec, p *lnet.IBPart) {
		t.linkFrame(c, &p.Frame)
		c.Bools(&p.Back)
		c.Bytes(&p.Data)
	})
	w := &x.Writes
	codec.Number(c, &w.Packets)
	codec.Number(c, &w.Bytes)
	t.linkFrame(c, &w.First)
	t.linkFrame(c, &w.Last)
	codec.Number(c, &w.VA)
	codec.Number(c, &w.RKey)
	c.Bytes(&w.Headers)
	codec.Slice(c, &w.Places, ibPlace)
	codec.Number(c, &x.Status)
	codec.Number(c, &x.Reject)
	codec.Number(c, &x.Credits)
}

func ibPlace(c *codec.Codec, p *lnet.IBPlace) {
	codec.Number(c, &p.PSN)
	codec.Number(c, &p.Off)
	codec.Number(c, &p.Len)
}

func (t *messageCodec) linkFrame(c *codec.Codec, f *link.Frame) {
	codec.Number(c, &f.Order)
	codec.Number(c, &f.Time)
	codec.Number(c, &f.Number)
	t.texts.Visit(c, &f.File, (*codec.Codec).Text)
}
