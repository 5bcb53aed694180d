package dissect

import (
	"encoding/binary"
	"math/bits"

	"github.com/lshark/lshark/dissect/lnet"
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
	Inferred  uint32 // the opcode by the buffers of the request, where its own was not captured; 0: not known
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
	Handle        uint64          // pb_handle, never swapped
	JobID         []byte          // in Message.Data
	Variant       *schema.Variant `codec:"shared"`
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
)

// Offsets in struct ptlrpc_body, in bytes: as constants, since they are used for each
// message. A test compares them with the tables of opcodes.
const (
	offHandle        = 0
	offType          = 8
	offVersion       = 12
	offOpc           = 16
	offStatus        = 20
	offLastCommitted = 40
	offTransno       = 48
	offFlags         = 56
	offOpFlags       = 60
	offConnCnt       = 64
	offTimeout       = 68
	offServiceTime   = 72
	offMbits         = 120
	offUID           = 144
	offGID           = 148
	offJobID         = 152
	bodySize         = 184
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
	r.AT = p.flags&msghdrATSupport != 0
	b, big := p.Buf(0), p.Big
	if r.Type = readUint32(b, offType, big); r.Type == 0 {
		return
	}
	r.Body = len(b)
	for _, hole := range m.Holes {
		if end := hole.Off - p.starts[0]; end+hole.Len > 0 {
			r.Body = min(r.Body, max(end, 0))
		}
	}
	r.HasOpcode = len(b) >= offOpc+4 && m.Missing(p.starts[0]+offOpc, 4) == lnet.Present
	r.Opcode = readUint32(b, offOpc, big)
	r.Version, r.Status = readUint32(b, offVersion, big), int32(readUint32(b, offStatus, big))
	r.Flags, r.OpFlags = readUint32(b, offFlags, big), readUint32(b, offOpFlags, big)
	r.ConnCnt, r.Timeout, r.Service = readUint32(b, offConnCnt, big), readUint32(b, offTimeout, big), readUint32(b, offServiceTime, big)
	r.Transno, r.LastCommitted = readUint64(b, offTransno, big), readUint64(b, offLastCommitted, big)
	r.Mbits, r.Handle = readUint64(b, offMbits, big), readUint64(b, offHandle, false)
	if r.Flags&flagPackUIDGID != 0 && len(b) >= offGID+4 {
		r.UID, r.GID, r.HasUser = readUint32(b, offUID, big), readUint32(b, offGID, big), true
	}
	if len(b) >= bodySize {
		r.JobID = schema.TrimNUL(b[offJobID:bodySize])
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
