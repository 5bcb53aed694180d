package dissect

import (
	"encoding/binary"
	"math/bits"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// RPC holds the fields that every ptlrpc message has at fixed offsets. Fields whose
// bytes were not captured are zero.
type RPC struct {
	XID       uint64
	HasXID    bool
	HasOpcode bool
	Big       bool
	Encrypted bool
	Inherited bool // of a reply: it has no opcode of its own, so Opcode is that of the request
	Cut       bool // of a request: a summary needs bytes that were not captured
	Body      int  // bytes of ptlrpc_body that were captured, up to the first that was not
	AT        bool // the sender has adaptive timeouts: it accepts early replies
	Opcode    uint32
	Type      uint32 // pb_type
	Version   uint32
	Status    int32
	Flags     uint32
	OpFlags   uint32
	ConnCnt   uint32
	Timeout   uint32 // seconds
	Service   uint32 // seconds the server took, or the estimate, see pb_service_time
	UID, GID  uint32
	HasUser   bool // the message has UID and GID

	Transno       uint64
	LastCommitted uint64
	Mbits         uint64
	Handle        uint64 // pb_handle, never swapped
	JobID         []byte // in Message.Data
	Variant       *schema.Variant
	GSS           GSS
	Bytes         int // of the lustre_msg, or of bulk data
}

// Values of pb_type and pb_flags.
const (
	TypeRequest = 4711
	TypeError   = 4712
	TypeReply   = 4713

	FlagResent         = 0x2
	FlagReplay         = 0x4
	FlagReqReplayDone  = 0x40
	FlagLockReplayDone = 0x80
	flagPackUIDGID     = 0x200
	msghdrATSupport    = 1
	bodySize           = 184
)

// probe fills m.RPC of a request or reply, and parses its lustre_msg into p.
func probe(m *Message, p *rpcMsg) {
	r := &m.RPC
	ok, encrypted := p.openIn(m)
	r.Bytes = m.Size - m.PayloadOff
	if !ok {
		return
	}
	r.Big, r.Encrypted = p.Big, encrypted
	p.probeGSS(m, encrypted)
	if encrypted || p.innerMissing() {
		return
	}
	r.AT = opcodes.LmFlags.Uint(m.Data[p.off:], p.Big)&msghdrATSupport != 0
	b := p.Buf(0)
	u32 := func(f *schema.Field) uint32 { return readUint32(b, f.Off, p.Big) }
	if r.Type = u32(opcodes.PbType); r.Type == 0 {
		return
	}
	r.Body = len(b)
	for _, hole := range m.Holes {
		if end := hole.Off - p.starts[0]; end+hole.Len > 0 {
			r.Body = min(r.Body, max(end, 0))
		}
	}
	opc := opcodes.PbOpc
	r.HasOpcode = m.Missing(p.starts[0]+opc.Off, opc.Size) == lnet.Present && len(b) >= opc.Off+opc.Size
	r.Opcode = u32(opc)
	r.Version, r.Status = u32(opcodes.PbVersion), int32(u32(opcodes.PbStatus))
	r.Flags, r.OpFlags = u32(opcodes.PbFlags), u32(opcodes.PbOpFlags)
	r.ConnCnt, r.Timeout, r.Service = u32(opcodes.PbConnCnt), u32(opcodes.PbTimeout), u32(opcodes.PbServiceTime)
	r.Transno = readUint64(b, opcodes.PbTransno.Off, p.Big)
	r.LastCommitted = readUint64(b, opcodes.PbLastCommitted.Off, p.Big)
	r.Mbits = readUint64(b, opcodes.PbMbits.Off, p.Big)
	r.Handle = readUint64(b, opcodes.PbHandle.Off, false)
	if gid := opcodes.PbGid; r.Flags&flagPackUIDGID != 0 && len(b) >= gid.Off+gid.Size {
		r.UID, r.GID, r.HasUser = u32(opcodes.PbUid), u32(gid), true
	}
	if len(b) >= bodySize {
		r.JobID = schema.TrimNUL(b[opcodes.PbJobid.Off : opcodes.PbJobid.Off+opcodes.PbJobid.Size])
	}
}

// readUint32 reads an integer of four bytes at an offset, 0 when it was not
// captured. It is for the fields of every message, as Field.Uint for any field is
// slower.
func readUint32(b []byte, off int, big bool) uint32 {
	if off+4 > len(b) {
		return 0
	}
	v := binary.LittleEndian.Uint32(b[off:])
	if big {
		return bits.ReverseBytes32(v)
	}
	return v
}

// readUint64 is readUint32 for eight bytes.
func readUint64(b []byte, off int, big bool) uint64 {
	if off+8 > len(b) {
		return 0
	}
	v := binary.LittleEndian.Uint64(b[off:])
	if big {
		return bits.ReverseBytes64(v)
	}
	return v
}

// early reports whether a reply only extends the timeout: it is at the start of the
// reply buffer, has nothing but a body, and a checksum.
func early(m *Message, p *rpcMsg) bool {
	if m.LNet.Offset != 0 || m.RPC.Status != 0 || m.RPC.Type != TypeReply {
		return false
	}
	if p.outer != nil {
		return len(p.lens) == minBodies && m.RPC.AT && p.outer.cksum != 0
	}
	return len(p.lens) == minBodies && p.cksum != 0
}
