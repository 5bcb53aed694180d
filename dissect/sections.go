package dissect

import (
	"strconv"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// The sections of a tree are its nodes of depth 0; these are their
// declarations.
var (
	sectionConnreqV1 = schema.Sub("connreq", &opcodes.ConnreqV1, "request of a connection for a NID, before the hello").Resolve()
	sectionConnreqV2 = schema.Sub("connreq", &opcodes.ConnreqV2, "request of a connection for a NID, before the hello").Resolve()
	sectionHelloV1   = schema.Sub("hello", &opcodes.HelloV1, "version, NIDs and type of the connection").Resolve()
	sectionHelloV2   = schema.Sub("hello", &opcodes.HelloV2, "version, NIDs and type of the connection").Resolve()
	sectionHelloV4   = schema.Sub("hello", &opcodes.HelloV4, "version, NIDs and type of the connection").Resolve()
	sectionKsock     = schema.Sub("ksock", &opcodes.KsockHdr, "header of the socket transport").Resolve()
	sectionIB        = schema.Sub("ib", &opcodes.IBPacket, "headers of the InfiniBand packet that completed the message, and of the first RDMA write").Resolve()
	sectionKib       = schema.Sub("o2iblnd", &opcodes.KibMsg, "messages of the InfiniBand transport: the first one, with the others inside it").Resolve()
	sectionKibConn   = schema.Sub("o2iblnd", &opcodes.KibConnect, "message of the InfiniBand transport").Resolve()
	sectionKibRej    = schema.Sub("o2iblnd", &opcodes.KibRej, "message of the InfiniBand transport").Resolve()
	sectionLNet4     = schema.Sub("lnet", &opcodes.LNetHdr4, "LNet header").Resolve()
	sectionLNet16    = schema.Sub("lnet", &opcodes.LNetHdr16, "LNet header").Resolve()
	sectionPing      = schema.Sub("ping_info", &opcodes.PingInfo, "the interfaces of a node").Resolve()
	sectionSelftest  = schema.Sub("selftest", &opcodes.SelftestMsg, "message of LNet selftest").Resolve()
	sectionLustreMsg = schema.Sub("lustre_msg", &opcodes.LustreMsg, "header of the RPC: its buffers and their lengths").Resolve()
	sectionBody      = schema.Sub("ptlrpc_body", &opcodes.PtlrpcBody, "fixed part of every RPC").Resolve()
	sectionBuffers   = schema.Opaque("buffers", 0, "buffers of the operation").Resolve()
	sectionContent   = schema.Opaque("content", 0, "fields of bulk data").Resolve()
	sectionGSS       = schema.Opaque("gss", 0, "security wrapping of the message").Resolve()
	sectionPlain     = schema.Opaque("plain", 0, "the plain security policy's wrapping of the message").Resolve()
	fileData         = schema.Opaque("data", 0, "bulk data, the part that was kept").Resolve()
)

// TransportSections lists the sections of the transport and of LNet, in the
// order of trees. A section that is one of several structs is listed once.
func TransportSections() []*schema.Field {
	return []*schema.Field{sectionKsock, sectionIB, sectionKib, sectionConnreqV2, sectionHelloV2, sectionLNet16, sectionPing, sectionSelftest}
}

// MessageSections lists the sections of RPC messages and of bulk data, in the
// order of trees.
func MessageSections() []*schema.Field {
	return []*schema.Field{sectionGSS, sectionPlain, sectionLustreMsg, sectionBody, sectionBuffers, sectionContent}
}

// section walks a struct as a section.
func (t *Tree) section(f *schema.Field, off, limit int) int {
	return t.walker.record(f, nil, off, limit)
}

// socklnd walks the messages and headers of socklnd.
func (t *Tree) socklnd(m *Message) {
	t.walker.big = m.Swapped
	switch {
	case m.Kind == lnet.Connreq && m.Size == opcodes.ConnreqV1.Size:
		t.section(sectionConnreqV1, 0, m.Size)
	case m.Kind == lnet.Connreq:
		t.section(sectionConnreqV2, 0, m.Size)
	case m.Kind == lnet.Hello && m.Version == 1:
		t.section(sectionHelloV1, 0, m.Size)
	case m.Kind == lnet.Hello && m.Version == 4:
		t.section(sectionHelloV4, 0, m.Size)
	case m.Kind == lnet.Hello:
		t.section(sectionHelloV2, 0, m.Size)
	case m.LNetOff != 0:
		t.section(sectionKsock, 0, opcodes.KsockHdr.Size)
	}
	t.walker.big = false
}

// lnetHeader walks the LNet header.
func (t *Tree) lnetHeader(m *Message) {
	f := sectionLNet4
	if m.PayloadOff-m.LNetOff == opcodes.LNetHdr16.Size {
		f = sectionLNet16
	}
	t.section(f, m.LNetOff, m.PayloadOff)
}

// selftest walks a message of LNet selftest.
func (t *Tree) selftest(m *Message) {
	if b := m.Payload(); len(b) >= 4 && opcodes.IsSelftest(b) {
		t.section(sectionSelftest, m.PayloadOff, m.Size)
	}
}

// ptlrpc walks an RPC message.
func (t *Tree) ptlrpc(m *Message) {
	w := &t.walker
	p := &t.rpc
	ok, encrypted := p.openIn(m)
	if !ok {
		switch why := m.Missing(m.PayloadOff, offMagic+4); why {
		case lnet.Present:
			w.note("unknown", "no lustre_msg magic in the payload")
		case lnet.Shorter:
			w.note("unknown", "too short for a lustre_msg")
		default:
			w.note(noteCode(why), "lustre_msg: "+why.String())
		}
		return
	}
	if p.outer != nil || encrypted {
		t.wrapping(p, encrypted, m.Size)
	}
	switch {
	case encrypted:
		return
	case p.innerMissing():
		t.innerMissing(p, m)
		return
	}
	w.big = p.Big
	w.record(sectionLustreMsg, nil, p.off, min(p.off+p.hdr, m.Size))
	body := p.Buf(0)
	if len(p.starts) > 0 {
		t.buffer(sectionBody, 0, p, m.Size)
	}
	p.identify(m.RPC.Opcode, m.Kind != lnet.Request, t.requestMsg(m))
	p.Status = int32(opcodes.PbStatus.Uint(body, p.Big))
	w.rpc = &p.Msg
	if m.RPC.HasOpcode {
		t.buffers(p, 1, m.Size)
	}
	if p.VariantGuessed && p.filled() {
		w.note("guess", "layout guessed: the request is missing or truncated")
	}
}

// innerMissing adds why there is no message inside a wrapping.
func (t *Tree) innerMissing(p *rpcMsg, m *Message) {
	w := &t.walker
	switch why := m.Missing(p.off, offMagic+4); {
	case p.off >= m.Size: // an error reply of the policy has none
	case why == lnet.Present || why == lnet.Shorter:
		w.note("unknown", "no lustre_msg inside the wrapping")
	default:
		w.gap(sectionLustreMsg, p.off, m.Size-p.off, why, m.Size)
	}
}

// requestMsg parses the request of a message again, if its bytes were kept. It returns
// nil if the request is unknown.
func (t *Tree) requestMsg(m *Message) *schema.Msg {
	if m.Req == nil {
		return nil
	}
	q := &t.req
	if m.Req.Data == nil || !q.parse(m.Req.Data, 0, len(m.Req.Data)) {
		q.Msg = schema.Msg{Bufs: q.Bufs[:0], Big: m.RPC.Big}
	}
	q.Opcode = m.Req.Opcode
	q.RPC, q.Variant = opcodes.ByOpcode(m.Req.Opcode), m.Req.Variant
	return &q.Msg
}

// buffers walks the buffers from number first on.
func (t *Tree) buffers(p *rpcMsg, first, limit int) {
	w := &t.walker
	if p.RPC == nil && p.Opcode != 0 {
		w.note("unknown", "opcode "+strconv.Itoa(int(p.Opcode))+" is unknown")
	}
	if len(p.starts) <= first {
		return
	}
	i := w.open(sectionBuffers, p.starts[first], 0)
	w.depth++
	decl := p.Fields()
	for k := first; k < len(p.starts); k++ {
		if p.lens[k] == 0 {
			continue
		}
		if k < len(decl) {
			t.buffer(decl[k], k, p, limit)
		} else {
			t.extraBuffer(k, p, limit)
		}
	}
	w.depth--
	w.close(i, min(p.end(), limit))
}

// extent returns where buffer k of a message begins and ends.
func (t *Tree) extent(f *schema.Field, k int, p *rpcMsg, limit int) (start, stop int) {
	w := &t.walker
	start = p.starts[k]
	stop = start + p.lens[k]
	if stop > limit {
		w.note("short", f.Name+": the buffer reaches behind the end of the message")
		stop = max(limit, start)
	}
	return start, stop
}

// buffer walks one buffer; bytes behind its declaration are a tail.
func (t *Tree) buffer(f *schema.Field, k int, p *rpcMsg, limit int) {
	w := &t.walker
	start, stop := t.extent(f, k, p, limit)
	if start >= stop {
		return
	}
	raw, nodes := w.bytes(start, stop), len(t.Nodes)
	v := w.view()
	*v = schema.View{Struct: raw, Rest: raw, Big: p.Big, Msg: &p.Msg}
	w.tail(w.field(f, v, start, stop), stop)
	w.drop()
	if len(t.Nodes) == nodes {
		t.zeros(f, start, stop)
	}
}

// zeros adds a node of a buffer that was captured in full and has only zero
// bytes.
func (t *Tree) zeros(f *schema.Field, start, stop int) {
	w := &t.walker
	if t.Remarks && w.missing(start, stop-start, stop) == lnet.Present {
		i := w.open(f, start, stop-start)
		t.Nodes[i].State |= Zeros
	}
}

// extraBuffer adds a node of a buffer that is not declared.
func (t *Tree) extraBuffer(k int, p *rpcMsg, limit int) {
	w := &t.walker
	f := t.extraField(k)
	start, stop := t.extent(f, k, p, limit)
	if start >= stop {
		return
	}
	if why := w.missing(start, stop-start, stop); why != lnet.Present {
		w.gap(f, start, stop-start, why, stop)
		return
	}
	if allZero(w.bytes(start, stop)) {
		t.zeros(f, start, stop)
		return
	}
	i := w.open(f, start, stop-start)
	t.Nodes[i].State |= Undecoded
	if p.RPC == nil || p.RPC.Common == nil || p.Variant != p.RPC.Common {
		w.note("tail", f.Name+": a buffer behind the declared ones")
	}
}

// extraField returns a declaration for buffer k where no known release has one.
func (t *Tree) extraField(k int) *schema.Field {
	for len(t.extra) <= k {
		t.extra = append(t.extra, schema.Opaque("buffer_"+strconv.Itoa(len(t.extra)), 0, "a buffer that no known release fills").Resolve())
	}
	return t.extra[k]
}

// submessage walks a lustre_msg in a buffer, as in batches. It returns where it ends.
func (t *Tree) submessage(f *schema.Field, off, limit int) int {
	w := &t.walker
	i := w.open(f, off, 0)
	p := t.inner(w.nested)
	if w.depth > maxDepth/2 || !p.parse(w.data, off, limit) {
		w.close(i, limit)
		return limit
	}
	outer, big := w.rpc, w.big
	w.big = p.Big
	p.Sub = true
	if outer != nil {
		p.Reply, p.Req, p.RPC, p.Opcode = outer.Reply, outer.Req, outer.RPC, p.opc
		if outer.RPC != nil && outer.RPC.Sub != nil {
			p.Variant = outer.RPC.Sub(&p.Msg)
		}
	}
	w.rpc = &p.Msg
	w.depth++
	w.nested++
	w.record(sectionLustreMsg, nil, off, min(off+p.hdr, limit))
	t.buffers(p, 0, limit)
	w.nested--
	w.depth--
	w.rpc, w.big = outer, big
	end := min(p.end(), limit)
	w.close(i, end)
	return end
}

// bulkData walks the payload of a bulk transfer.
func (t *Tree) bulkData(m *Message) {
	if m.Req != nil && len(m.Content) > 0 {
		if s := bulkType(m.Req.Variant); s != nil {
			t.bulkContent(m, s)
			return
		}
	}
	off := m.PayloadOff
	for i := range m.Holes {
		h := &m.Holes[i]
		if h.Off > off {
			t.walker.open(fileData, off, h.Off-off)
		}
		if h.Off >= off && h.Off < len(m.Data) {
			t.walker.gap(fileData, h.Off, h.Len, h.Why, m.Size)
		}
		off = max(off, h.Off+h.Len)
	}
	if off < len(m.Data) {
		t.walker.open(fileData, off, len(m.Data)-off)
	}
}

// bulkContent walks complete bulk data that consist of a known struct.
func (t *Tree) bulkContent(m *Message, s *schema.Struct) {
	w := &t.walker
	w.use(InContent, m.Content)
	req := t.requestMsg(m)
	t.bulkMsg = schema.Msg{Big: req.Big, Opcode: req.Opcode, RPC: req.RPC, Variant: req.Variant, Req: req}
	w.rpc, w.big = &t.bulkMsg, req.Big
	f := &t.contentField
	*f = *sectionContent
	f.Kind, f.Type, f.Doc = schema.Record, s, ""
	end := w.record(f, nil, 0, len(m.Content))
	w.tail(end, len(m.Content))
	w.use(InMessage, m.Data)
}

// wrapping walks the headers of a security policy, with the outer lustre_msg; of an
// encrypted message that is all there is to read.
func (t *Tree) wrapping(p *rpcMsg, encrypted bool, limit int) {
	w := &t.walker
	out := p.outer
	if encrypted {
		out = p
	}
	w.big = out.Big
	hdr := min(out.off+out.hdr, limit)
	if encrypted {
		w.record(sectionLustreMsg, nil, out.off, hdr)
	}
	f := sectionGSS
	if flavorPolicy(out.flavor) == policyPlain {
		f = sectionPlain
	}
	i := w.open(f, out.off+out.hdr, 0)
	w.depth++
	if !encrypted {
		w.record(sectionLustreMsg, nil, out.off, hdr)
	}
	for k, f := range opcodes.Wrapping(out.flavor, out.Bufs, out.Big, w.msg.Kind != lnet.Request, encrypted) {
		if f != nil && k < len(out.lens) && out.lens[k] > 0 {
			t.buffer(f, k, out, limit)
		}
	}
	w.depth--
	w.close(i, out.end())
	if encrypted {
		w.note("encrypted", "the message is encrypted; only its wrapping can be read")
	}
}
