package dissect

import (
	"encoding/binary"

	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// Layout of struct lustre_msg_v2, in bytes.
const (
	msgMagic   = uint32(0x0bd00bd3)
	msgFixed   = 32  // bytes before lm_buflens
	maxBufs    = 256 // more buffers than any message has
	offMagic   = 8
	offLmFlags = 20
	minBodies  = 1
)

// Parts of lm_secflvr.
const (
	policyNull  = 0
	policyPlain = 1
	policyGSS   = 2
	svcPrivacy  = 3
)

func flavorPolicy(flvr uint32) uint32  { return flvr & 0xf }
func flavorService(flvr uint32) uint32 { return flvr >> 8 & 0xf }

// rpcMsg is a parsed lustre_msg: where its buffers are in the data that it was
// parsed from.
type rpcMsg struct {
	schema.Msg
	off    int     // of the message
	hdr    int     // size of its header
	flavor uint32  // lm_secflvr
	cksum  uint32  // lm_cksum
	flags  uint32  // lm_flags
	opc    uint32  // lm_opc
	starts []int   // offsets of the buffers
	lens   []int   // lm_buflens
	outer  *rpcMsg // the message of a security policy around this one, if any
	spare  *rpcMsg // reused for outer
}

// parse parses the lustre_msg at off, which ends at limit at the latest. It returns
// false if there is no valid magic. A truncated message has fewer or shorter buffers.
func (p *rpcMsg) parse(data []byte, off, limit int) bool {
	p.off, p.hdr = off, 0
	p.Msg = schema.Msg{Bufs: p.Bufs[:0]}
	p.starts, p.lens = p.starts[:0], p.lens[:0]
	limit = max(limit, off)
	b := data[min(off, len(data)):min(limit, len(data))]
	if len(b) < offMagic+4 {
		return false
	}
	switch msgMagic {
	case binary.LittleEndian.Uint32(b[offMagic:]):
	case binary.BigEndian.Uint32(b[offMagic:]):
		p.Big = true
	default:
		return false
	}
	u32 := func(at int) uint32 { return readUint32(b, at, p.Big) }
	n := int(min(u32(0), maxBufs))
	p.flavor, p.cksum, p.flags, p.opc = u32(4), u32(16), u32(offLmFlags), u32(24)
	n = min(n, max(0, (limit-off-msgFixed)/4))
	p.hdr = round8(msgFixed + 4*n)
	at := off + p.hdr
	for i := range n {
		if msgFixed+4*i+4 > len(b) {
			break
		}
		size := int(min(u32(msgFixed+4*i), 1<<24))
		p.starts, p.lens = append(p.starts, at), append(p.lens, size)
		p.Bufs = append(p.Bufs, cut(data, at, min(at+size, limit)))
		at += round8(size)
	}
	return true
}

// inferOpcode returns the operation of a request whose header was captured, and no opcode:
// 0 if its buffers leave several.
func (p *rpcMsg) inferOpcode(m *Message) uint32 {
	if n := len(p.lens); p.outer != nil || n == 0 || m.Captured(p.off, p.hdr) < p.hdr || uint32(n) != readUint32(m.Data, p.off, p.Big) ||
		p.end() > round8(m.Size) {
		return 0
	}
	opcode, _ := opcodes.InferOpcode(p.lens)
	return opcode
}

// end returns where the message ends, with padding.
func (p *rpcMsg) end() int {
	if n := len(p.starts); n > 0 {
		return p.starts[n-1] + round8(p.lens[n-1])
	}
	return p.off + p.hdr
}

func round8(n int) int { return (n + 7) &^ 7 }

// cut returns the captured bytes between two offsets.
func cut(b []byte, from, to int) []byte {
	to = min(to, len(b))
	if from >= to {
		return nil
	}
	return b[from:to]
}

// wrapped returns which buffer of a security policy's message has the inner message, 0
// if no buffer has, and whether the inner message is encrypted.
func (p *rpcMsg) wrapped() (buf int, encrypted bool) {
	switch flavorPolicy(p.flavor) {
	case policyPlain:
		return 1, false
	case policyGSS:
		if flavorService(p.flavor) == svcPrivacy && len(p.lens) == 2 {
			return 0, true
		}
		return 1, false
	}
	return 0, false
}

// open parses the lustre_msg in a payload. If a security policy has wrapped it, p is the
// inner message and p.outer the outer one. If the inner one is missing, p is empty.
func (p *rpcMsg) open(data []byte, off, limit int) (ok, encrypted bool) {
	p.outer = nil
	if !p.parse(data, off, limit) {
		return false, false
	}
	buf, encrypted := p.wrapped()
	if encrypted || buf == 0 {
		return true, encrypted
	}
	if p.spare == nil {
		p.spare = &rpcMsg{}
	}
	out := p.spare
	*out, p.Bufs, p.starts, p.lens = *p, out.Bufs, out.starts, out.lens
	out.spare = nil
	from, size := out.end(), 0
	if buf < len(out.lens) {
		from, size = out.starts[buf], out.lens[buf]
	}
	if !p.parse(data, from, min(from+size, limit)) {
		p.Big = out.Big
	}
	p.outer = out
	return true, false
}

// openIn opens the lustre_msg of a message. Buffers end where a hole begins.
func (p *rpcMsg) openIn(m *Message) (ok, encrypted bool) {
	ok, encrypted = p.open(m.Data, m.PayloadOff, m.Size)
	if len(m.Holes) == 0 || !ok {
		return ok, encrypted
	}
	for k, b := range p.Bufs {
		p.Bufs[k] = b[:m.Captured(p.starts[k], len(b))]
	}
	return ok, encrypted
}

// canPick reports whether enough was captured for Pick to choose a variant.
func (p *rpcMsg) canPick() bool {
	for i, need := range p.RPC.PickBytes {
		k := i + 1
		if k < len(p.lens) && (k >= len(p.Bufs) || len(p.Bufs[k]) < min(need, p.lens[k])) {
			return false
		}
	}
	return true
}

// summaryComplete reports whether every buffer that a summary reads was captured
// in full; opaque bytes may be truncated.
func (p *rpcMsg) summaryComplete(m *Message) bool {
	if len(m.Data) == m.Size && len(m.Holes) == 0 {
		return true
	}
	for k, f := range p.Fields() {
		switch {
		case k >= len(p.lens):
			return true
		case f.Kind == schema.Bytes:
		case k >= len(p.Bufs) || len(p.Bufs[k]) < p.lens[k]:
			return false
		}
	}
	return true
}

// filled reports whether a buffer behind the body has any bytes.
func (p *rpcMsg) filled() bool {
	for k := 1; k < len(p.Bufs); k++ {
		if len(p.Bufs[k]) > 0 {
			return true
		}
	}
	return false
}

// innerMissing reports whether the inner message of a security policy is missing.
func (p *rpcMsg) innerMissing() bool { return p.outer != nil && p.hdr == 0 }

// identify sets the operation and its variant: of a request by its buffers, of a reply
// by its request, or by a guess if that is unknown.
func (p *rpcMsg) identify(opc uint32, reply bool, req *schema.Msg) {
	p.Opcode, p.Reply, p.Req = opc, reply, req
	p.RPC = opcodes.ByOpcode(opc)
	if p.RPC == nil || len(p.RPC.Variants) == 0 {
		return
	}
	p.Variant = p.RPC.Variants[0]
	switch {
	case !reply && p.RPC.Pick != nil && !p.canPick():
		p.Variant = p.RPC.Common
	case !reply && p.RPC.Pick != nil:
		p.Variant = p.RPC.Pick(&p.Msg)
	case reply && req != nil && req.RPC == p.RPC && req.Variant != nil && req.Variant != p.RPC.Common:
		p.Variant = req.Variant
	case reply && len(p.RPC.Variants) > 1:
		p.VariantGuessed = !p.RPC.SameReplies()
		if p.RPC.PickReply != nil {
			p.Variant = p.RPC.PickReply(&p.Msg)
		}
	}
}
