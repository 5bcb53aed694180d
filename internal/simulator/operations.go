package simulator

import (
	"encoding/binary"

	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
)

// access is what an operation needs of the storage of its target.
type access uint8

const (
	noAccess access = iota
	cachedRead
	diskRead
	change // of metadata
	writeData
	syncData
)

// changes reports whether a write barrier or a full device concerns it.
func (a access) changes() bool { return a == change || a == writeData }

// operation is a kind of RPC.
type operation struct {
	opcode             uint32
	portal, reply, blk uint32
	version            uint32
	access             access
	ack                bool // the reply has to be acknowledged
	transno            bool
}

// Portals.
const (
	mdsRequest  = 12
	mdsReadpage = 23
	mdcReply    = 10
	ostRequest  = 28
	ostIO       = 6
	ostCreate   = 7
	oscReply    = 4
	mgsRequest  = 26
	mgcReply    = 25
	ldlmRequest = 15
	ldlmReply   = 16
	cancelReq   = 17
	cancelReply = 18
	ostBulk     = 8
	mdsBulk     = 14
)

const (
	versionOBD = 0x10003
	versionMDS = 0x20003
	versionOST = 0x30003
	versionDLM = 0x40003
)

var (
	opIbits     = &operation{opcode: opcodes.LDLM_ENQUEUE, portal: mdsRequest, reply: mdcReply, version: versionDLM, access: cachedRead}
	opCreate    = &operation{opcode: opcodes.LDLM_ENQUEUE, portal: mdsRequest, reply: mdcReply, version: versionDLM, access: change, ack: true, transno: true}
	opMkdir     = &operation{opcode: opcodes.MDS_REINT, portal: mdsRequest, reply: mdcReply, version: versionMDS, access: change, ack: true, transno: true}
	opUnlink    = &operation{opcode: opcodes.MDS_REINT, portal: mdsRequest, reply: mdcReply, version: versionMDS, access: change, ack: true, transno: true}
	opClose     = &operation{opcode: opcodes.MDS_CLOSE, portal: mdsReadpage, reply: mdcReply, version: versionMDS, access: cachedRead, transno: true}
	opSyncMDT   = &operation{opcode: opcodes.MDS_SYNC, portal: mdsRequest, reply: mdcReply, version: versionMDS, access: syncData}
	opReaddir   = &operation{opcode: opcodes.MDS_READPAGE, portal: mdsReadpage, reply: mdcReply, blk: mdsBulk, version: versionMDS, access: diskRead}
	opStatfsMDT = &operation{opcode: opcodes.MDS_STATFS, portal: mdsRequest, reply: mdcReply, version: versionMDS}
	opStatfsOST = &operation{opcode: opcodes.OST_STATFS, portal: ostCreate, reply: oscReply, version: versionOST}
	opExtent    = &operation{opcode: opcodes.LDLM_ENQUEUE, portal: ostRequest, reply: oscReply, version: versionDLM, access: cachedRead}
	opFlock     = &operation{opcode: opcodes.LDLM_ENQUEUE, portal: mdsRequest, reply: mdcReply, version: versionDLM, access: cachedRead}
	opRead      = &operation{opcode: opcodes.OST_READ, portal: ostIO, reply: oscReply, blk: ostBulk, version: versionOST, access: diskRead}
	opWrite     = &operation{opcode: opcodes.OST_WRITE, portal: ostIO, reply: oscReply, blk: ostBulk, version: versionOST, access: writeData, transno: true}
	opSyncOST   = &operation{opcode: opcodes.OST_SYNC, portal: ostRequest, reply: oscReply, version: versionOST, access: syncData}
	opBlocking  = &operation{opcode: opcodes.LDLM_BL_CALLBACK, portal: ldlmRequest, reply: ldlmReply, version: versionDLM}
	opGranted   = &operation{opcode: opcodes.LDLM_CP_CALLBACK, portal: ldlmRequest, reply: ldlmReply, version: versionDLM}
	opSize      = &operation{opcode: opcodes.LDLM_GL_CALLBACK, portal: ldlmRequest, reply: ldlmReply, version: versionDLM}
	opPrecreate = &operation{opcode: opcodes.OST_CREATE, portal: ostRequest, reply: oscReply, version: versionOST, access: change, transno: true}
	opDestroy   = &operation{opcode: opcodes.OST_DESTROY, portal: ostRequest, reply: oscReply, version: versionOST, access: change, transno: true}
	opCancel    = &operation{opcode: opcodes.LDLM_CANCEL, portal: cancelReq, reply: cancelReply, version: versionDLM}
)

// portals are those of pings and connects, with the opcode of a connect.
var portals = [...]struct{ request, reply, connect uint32 }{
	mgs: {mgsRequest, mgcReply, opcodes.MGS_CONNECT},
	mdt: {mdsRequest, mdcReply, opcodes.MDS_CONNECT},
	ost: {ostRequest, oscReply, opcodes.OST_CONNECT},
}

// operation returns a ping, connect or disconnect.
func (t *target) operation(opcode uint32) *operation {
	return &operation{opcode: opcode, portal: portals[t.kind].request, reply: portals[t.kind].reply, version: versionOBD}
}

// record is a struct of the wire.
type record []byte

func (r record) u32(at int, v uint32) record { binary.LittleEndian.PutUint32(r[at:], v); return r }
func (r record) u64(at int, v uint64) record { binary.LittleEndian.PutUint64(r[at:], v); return r }

// fid is the identifier of a file, a directory or an object of an OST.
type fid struct {
	seq uint64
	oid uint32
}

func (r record) fid(at int, f fid) record { return r.u64(at, f.seq).u32(at+8, f.oid) }

// Lock modes, types and flags.
const (
	modePW, modePR, modeCW, modeCR, modeNL = 2, 4, 8, 16, 32
	typeExtent, typeFlock, typeIbits       = 11, 12, 13

	lockChanged  = 1
	blockGranted = 2
	hasIntent    = 0x1000
	lockReplay   = 0x100
)

// lockDesc fills in a struct ldlm_lock_desc. The bits of a flock are its owner.
func (r record) lockDesc(at int, typ uint32, f fid, asked, granted uint32, bits uint64) record {
	r.u32(at, typ).u64(at+8, f.seq).u64(at+16, uint64(f.oid)).u32(at+40, asked).u32(at+44, granted)
	switch typ {
	case typeIbits:
		r.u64(at+48, bits)
	case typeExtent:
		r.u64(at+56, ^uint64(0))
	case typeFlock:
		r.u64(at+32, 0xc).u64(at+56, 1<<63-1).u64(at+64, bits).u32(at+72, uint32(bits))
	}
	return r
}

// lockRequest returns a struct ldlm_request.
func lockRequest(flags, count, typ uint32, f fid, mode uint32, bits uint64, handle, second uint64) record {
	r := make(record, 104)
	r.u32(0, flags).u32(4, count)
	if typ != 0 {
		r.lockDesc(8, typ, f, mode, 0, bits)
	}
	return r.u64(88, handle).u64(96, second)
}

func lockReply(flags, typ uint32, f fid, mode, granted uint32, bits, handle, disposition uint64) record {
	r := make(record, 112)
	return r.u32(0, flags).lockDesc(8, typ, f, mode, granted, bits).u64(88, handle).u64(96, disposition)
}

// Masks of fields that are valid.
const (
	validGetattr = 0x1140008090012fbf
	validNew     = 0x1100008080022f8f
	validChanged = 0x1100000000012fbf
)

func mdtBody(f fid, valid uint64, mode uint32, size uint64, now int64) record {
	r := make(record, 216)
	s := uint64(now / second)
	return r.fid(0, f).u64(40, valid).u64(48, size).u64(56, s).u64(64, s).u64(72, s).u32(116, mode).u32(136, 1)
}

// layout returns a struct lov_mds_md_v1 with one object.
func layout(f, object fid, index uint32) record {
	r := make(record, 56)
	return r.u32(0, 0x0bd10bd0).u32(4, 1).u64(8, uint64(f.oid)).u64(16, f.seq).u32(24, 4<<20).u32(28, 1).fid(32, object).u32(52, index)
}

// obdo returns a struct ost_body for an object of a file.
func obdo(valid uint64, object, f fid, size, blocks uint64) record {
	r := make(record, 208)
	return r.u64(0, valid).fid(8, object).u64(24, f.seq).u32(104, f.oid).u64(32, size).u64(64, blocks)
}

func statfs(full bool) record {
	r := make(record, 144)
	free := uint64(400000)
	if full {
		free = 12
	}
	return r.u64(0, 0xef53).u64(8, 500000).u64(16, free).u64(24, free).u64(32, 130000).u64(40, 120000).u32(88, 4096).u32(92, 255)
}

// text returns a string of the wire.
func text(s string) []byte { return append([]byte(s), 0) }

// body fills in the ptlrpc_body of a request.
func (r *rpc) body() record {
	b := record(wiretest.Body(wiretest.TypeRequest, r.op.opcode))
	flags := uint32(0x600) // uid, gid and project id are valid
	if r.sends > 1 {
		flags |= resentFlag
	}
	flags |= r.flags
	b.u32(12, r.op.version).u32(20, 900+uint32(len(r.job))).u64(24, r.xid-1).u32(56, flags).u32(60, r.connectFlags)
	b.u32(68, uint32(r.timeout/second)).u64(120, r.mbits)
	if r.imp != nil {
		b.u64(0, r.imp.handle).u32(64, r.imp.count)
	} else {
		b.u64(0, r.lock.imp.cookie).u32(56, flags&resentFlag)
	}
	if r.connect {
		b.u32(56, 0)
	}
	copy(b[152:184], r.job)
	return b
}

// Flags of a request.
const (
	resentFlag     = 0x2
	replayFlag     = 0x4
	replayDone     = 0x40
	lockReplayDone = 0x80
)

// data is what the payload of bulk transfers is taken from.
var data = func() []byte {
	b := make([]byte, 1<<16)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}()
