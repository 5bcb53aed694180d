package opcodes

import (
	"encoding/binary"
	"strings"
	"testing"

	. "github.com/lshark/lshark/opcodes/schema"

	"github.com/lshark/lshark/internal/assert"
)

// orders are the byte orders that a sender may have.
var orders = []struct {
	name  string
	order binary.AppendByteOrder
	big   bool
}{{"little", binary.LittleEndian, false}, {"big", binary.BigEndian, true}}

// resID is a struct ldlm_res_id.
func resID(o binary.AppendByteOrder, name ...uint64) []byte {
	var b []byte
	for i := range 4 {
		var w uint64
		if i < len(name) {
			w = name[i]
		}
		b = o.AppendUint64(b, w)
	}
	return b
}

func TestResourceText(t *testing.T) {
	const lustre = 0x65727473756c // "lustre", first character lowest
	tests := []struct {
		kind uint64
		name []uint64
		want string
	}{
		{InodeLock, []uint64{0x200000401, 5 | 2<<32}, "[0x200000401:0x5:0x2]"},
		{InodeLock, []uint64{0x200000401, 5, 0, 0xabc}, "[0x200000401:0x5:0x0] name hash 0xabc"},
		{FlockLock, []uint64{0x200000401, 5, 0, FlockLock}, "[0x200000401:0x5:0x0]"},
		{ExtentLock, []uint64{0x100010000, 7}, "[0x100010000:0x7:0x0]"},
		{ExtentLock, []uint64{123}, "0x0:123"},
		{ldlmPlainType, []uint64{lustre}, "lustre config"},
		{ldlmPlainType, []uint64{lustre, 2}, "lustre recover"},
		{ldlmPlainType, []uint64{lustre, 5}, "lustre barrier"},
		{ldlmPlainType, []uint64{0x736d61726170, 3}, "params"},
		{ldlmPlainType, []uint64{seqQuotaGlobal, 0x20000}, "[0x200000006:0x20000:0x0] usr blocks"},
		{ldlmPlainType, []uint64{seqQuotaGlobal, 0x1010000}, "[0x200000006:0x1010000:0x0] grp inodes"},
		{ldlmPlainType, []uint64{seqQuotaGlobal, 0x1020000, 501}, "[0x200000006:0x1020000:0x0] gid 501"},
		{ldlmPlainType, []uint64{seqQuotaGlobal, 0x2020000, 1001}, "[0x200000006:0x2020000:0x0] projid 1001"},
		{ldlmPlainType, []uint64{0xff01, 2}, "[0xff01:0x2:0x0]"},
		{InodeLock, nil, ""},
	}
	for _, o := range orders {
		for _, tt := range tests {
			got := string(appendResource(nil, resID(o.order, tt.name...), tt.kind, o.big))
			assert.That(t, got == tt.want, "%s, kind %d: %#x is %q, not %q", o.name, tt.kind, tt.name, got, tt.want)
		}
	}
}

// lockBytes is a struct ldlm_request of 88 bytes, which begins as a
// ldlm_reply does.
func lockBytes(o binary.AppendByteOrder, flags uint32, kind uint32, name []uint64, asked, granted uint32, policy ...uint64) []byte {
	b := o.AppendUint32(nil, flags)
	b = o.AppendUint32(b, 1)
	b = o.AppendUint32(b, kind)
	b = o.AppendUint32(b, 0)
	b = append(b, resID(o, name...)...)
	b = o.AppendUint32(b, asked)
	b = o.AppendUint32(b, granted)
	return append(b, resID(o, policy...)...)
}

// TestFlockTest: the reply to a test of a flock has the one that is in the way; one that waits is no test.
func TestFlockTest(t *testing.T) {
	const testLock, pw, null = 0x80000, 2, 0x20
	for _, o := range orders {
		pid := uint64(856) // behind 32 bits of padding
		if !o.big {
			pid <<= 32
		}
		for _, tt := range []struct {
			flags, mode uint32
			want        string
		}{
			{testLock, pw, "conflict PW [10-19] pid 856"},
			{testLock, null, "no conflict"},
			{uint32(LdlmFlags.Bit("BLOCK_WAIT")), pw, "waits BLOCK_WAIT"}, // no test
		} {
			b := append(lockBytes(o.order, tt.flags, FlockLock, []uint64{9}, tt.mode, 0, 10, 19, 0xff11, pid), make([]byte, 24)...)
			l := Line{}
			summarizeLockReply(&Msg{Reply: true, Big: o.big, Opcode: LDLM_ENQUEUE, Bufs: [][]byte{nil, b}}, &l)
			assert.Equal(t, strings.TrimSpace(string(l.Text)), tt.want)
		}
	}
}

func TestLockLine(t *testing.T) {
	tests := []struct {
		kind   uint32
		policy []uint64
		want   string
	}{
		{ExtentLock, []uint64{0, ^uint64(0)}, "PW 0x0:9 [0-EOF]"},
		{FlockLock, []uint64{10, 1<<63 - 1}, "PW flock [0x9:0x0:0x0] [10-EOF]"},
		{InodeLock, []uint64{0x1 | 0x8}, "PW [0x9:0x0:0x0] LOOKUP|LAYOUT"},
	}
	for _, o := range orders {
		for _, tt := range tests {
			var l Line
			k := requestLock(lockBytes(o.order, 0, tt.kind, []uint64{9}, 2, 0, tt.policy...), o.big)
			k.appendWithMode(&l, k.requestedMode())
			assert.Equal(t, string(l.Text), tt.want, o.name)
		}
	}
}

// TestBlockingCallbackLine checks the line of a blocking callback: the request
// that is blocked, whose end the server has overwritten with its start, and the
// lock that blocks it, as it was granted.
func TestBlockingCallbackLine(t *testing.T) {
	const server = 0xfec13fbea99209cd
	for _, o := range orders {
		callback := func(kind uint32, policy ...uint64) *Msg {
			b := lockBytes(o.order, 0, kind, []uint64{0x280000401, 5}, 4, 0, policy...)
			b = binary.LittleEndian.AppendUint64(b, 0x91875bed321879e6)
			return &Msg{Big: o.big, Opcode: LDLM_BL_CALLBACK, Bufs: [][]byte{nil, binary.LittleEndian.AppendUint64(b, server)}}
		}
		granted := func(granted uint32) *Msg {
			b := lockBytes(o.order, 0, ExtentLock, []uint64{0x280000401, 5}, 2, granted, 0, ^uint64(0))
			b = append(b, make([]byte, 8)...)
			return &Msg{Big: o.big, Opcode: LDLM_CP_CALLBACK, Bufs: [][]byte{nil, binary.LittleEndian.AppendUint64(b, server)}}
		}
		tests := []struct {
			callback, granted *Msg
			want              string
		}{
			{callback(ExtentLock), nil, "blocks PR [0x280000401:0x5:0x0] [0-?] 0x91875bed321879e6"},
			{callback(ExtentLock, 4096, 4096), granted(2), "blocks PR [0x280000401:0x5:0x0] [4096-?] held PW [0-EOF] 0x91875bed321879e6"},
			{callback(ExtentLock), granted(0), "blocks PR [0x280000401:0x5:0x0] [0-?] 0x91875bed321879e6"},
			{callback(ExtentLock, 0, 65535), granted(2), "blocks PR [0x280000401:0x5:0x0] [0-65535] held PW [0-EOF] 0x91875bed321879e6"}, // 2.10
			{callback(InodeLock, 2, 2), nil, "blocks PR [0x280000401:0x5:0x0] UPDATE 0x91875bed321879e6"},
		}
		for _, tt := range tests {
			var l Line
			l.HeldLock = func(dst []byte, cookie uint64) []byte {
				if tt.granted == nil {
					return dst
				}
				of, lock, ok := GrantedLock(tt.granted)
				assert.That(t, ok && of == cookie, "%s: lock %#x, %v", o.name, of, ok)
				return lock.AppendRange(dst)
			}
			tt.callback.RPC = ByOpcode(LDLM_BL_CALLBACK)
			tt.callback.RPC.Variants[0].SummarizeRequest(tt.callback, &l)
			assert.Equal(t, string(l.Text), tt.want, o.name)
		}
	}
}

// TestEndOverwritten checks that the end of a range is no value where it is the
// start again, in a blocking callback alone.
func TestEndOverwritten(t *testing.T) {
	tests := []struct {
		opcode     uint32
		start, end uint64
		want       string
	}{
		{LDLM_BL_CALLBACK, 4096, 4096, "end_overwritten"},
		{LDLM_BL_CALLBACK, 0, 65535, "end"},
		{LDLM_ENQUEUE, 0, 0, "end"},
	}
	for _, o := range orders {
		for _, tt := range tests {
			v := &View{Struct: resID(o.order, tt.start, tt.end), Big: o.big, Type: ldlmExtent, Msg: &Msg{Opcode: tt.opcode}}
			got := ""
			for _, f := range ldlmExtent.Fields {
				if f.Off == 8 && f.If(v) {
					got += f.Name
				}
			}
			assert.Equal(t, got, tt.want, o.name, "opcode", tt.opcode, "[", tt.start, "-", tt.end, "]")
		}
	}
}

// TestLockSubject holds that the FID of a lock is in the order of the message:
// the resource name has the two halves of its second word the other way round
// on big-endian senders.
func TestLockSubject(t *testing.T) {
	for _, o := range orders {
		m := &Msg{Big: o.big, Bufs: [][]byte{nil, lockBytes(o.order, 0, InodeLock, []uint64{0x200000401, 5 | 7<<32}, 4, 0)}}
		fid, _ := lockSubject(m)
		assert.Equal(t, string(AppendFIDBytes(nil, fid, o.big)), "[0x200000401:0x5:0x7]", o.name)
	}
	m := &Msg{Bufs: [][]byte{nil, lockBytes(binary.LittleEndian, 0, ExtentLock, []uint64{123}, 4, 0)}}
	if fid, _ := lockSubject(m); fid != nil {
		t.Errorf("object 0x0:123 has the FID %x", fid)
	}
}

// TestPolicyKind holds that the member of the policy is the one of the lock's
// kind, and that a convert, which has no kind, is about inode bits.
func TestPolicyKind(t *testing.T) {
	tests := []struct {
		opcode, kind uint32
		want         string
	}{
		{LDLM_ENQUEUE, ExtentLock, "l_extent"},
		{LDLM_ENQUEUE, FlockLock, "l_flock"},
		{LDLM_ENQUEUE, InodeLock, "l_inodebits"},
		{LDLM_ENQUEUE, ldlmPlainType, ""},
		{LDLM_CANCEL, 0, ""},
		{LDLM_CONVERT, 0, "l_inodebits"},
	}
	for _, tt := range tests {
		desc := lockBytes(binary.LittleEndian, 0, tt.kind, nil, 2, 2)[lockDesc.Off:]
		m := &Msg{Opcode: tt.opcode}
		v := &View{Struct: desc[lPolicyData.Off:], Msg: m, Up: &View{Struct: desc, Msg: m}}
		got := ""
		for _, f := range ldlmWirePolicyData.Fields {
			if f.If(v) {
				got += f.Name
			}
		}
		assert.Equal(t, got, tt.want, "opcode", tt.opcode, "kind", tt.kind)
	}
}

func TestPickEnqueue(t *testing.T) {
	o := binary.LittleEndian
	intent := func(opc uint64) []byte { return o.AppendUint64(nil, opc) }
	rec := func(op uint32) []byte { return o.AppendUint32(nil, op) }
	tests := []struct {
		want  string
		kind  uint32
		flags uint32
		rest  [][]byte
	}{
		{"extent", ExtentLock, 0, nil},
		{"glimpse", ExtentLock, 0x1000, nil},
		{"flock", FlockLock, 0, nil},
		{"ibits", InodeLock, 0, nil},
		{"ibits", InodeLock, 0x1000, nil}, // for reading a directory
		{"plain", ldlmPlainType, 0, nil},
		{"OPEN", InodeLock, 0x1000, [][]byte{intent(1), rec(reintOpen)}},
		{"OPEN|CREAT", InodeLock, 0x1000, [][]byte{intent(3), rec(reintOpen)}},
		{"CREATE", InodeLock, 0x1000, [][]byte{intent(2), rec(reintCreate)}},
		{"GETATTR", InodeLock, 0x1000, [][]byte{intent(8)}},
		{"LOOKUP", InodeLock, 0x1000, [][]byte{intent(0x10)}},
		{"GETXATTR", InodeLock, 0x1000, [][]byte{intent(0x80)}},
		{"LAYOUT", InodeLock, 0x1000, [][]byte{intent(0x400)}},
		{"QUOTA_DQACQ", ldlmPlainType, 0x1000, [][]byte{intent(0x800)}},
		{"QUOTA_CONN", ldlmPlainType, 0x1000, [][]byte{intent(0x1000)}},
		{"GLIMPSE", InodeLock, 0x1000, [][]byte{intent(0x4000)}},
		{"BRW", InodeLock, 0x1000, [][]byte{intent(0x8000)}},
	}
	for _, tt := range tests {
		m := &Msg{Bufs: append([][]byte{nil, lockBytes(o, tt.flags, tt.kind, nil, 4, 0)}, tt.rest...)}
		assert.Equal(t, ByOpcode(LDLM_ENQUEUE).Pick(m).Name, tt.want, "is taken for")
	}
}

// reply is a reply to an enqueue with n buffers.
func enqueueReply(n int, kind uint32, disposition uint64) *Msg {
	o := binary.LittleEndian
	rep := append(lockBytes(o, 0, kind, []uint64{0x200000401, 5}, 4, 4), make([]byte, 8)...)
	rep = o.AppendUint64(rep, disposition)
	m := &Msg{Reply: true, Opcode: LDLM_ENQUEUE, Bufs: make([][]byte, n)}
	m.Bufs[1] = append(rep, make([]byte, 8)...)
	return m
}

func TestGuessEnqueue(t *testing.T) {
	tests := []struct {
		want        string
		buffers     int
		kind        uint32
		disposition uint64
	}{
		{"extent", 3, ExtentLock, 0},
		{"ibits", 3, InodeLock, 0},
		{"flock", 2, FlockLock, 0},
		{"QUOTA_CONN", 4, ldlmPlainType, 0},
		{"GLIMPSE", 5, InodeLock, 0},
		{"GETATTR", 7, InodeLock, 0x3},
		{"GETXATTR", 8, InodeLock, 0},
		{"GETATTR", 9, InodeLock, 0x3},
		{"OPEN", 9, InodeLock, 0x23}, // 2.12
		{"OPEN", 10, InodeLock, 0x23},
		{"OPEN", 11, InodeLock, 0x3},
	}
	for _, tt := range tests {
		got := ByOpcode(LDLM_ENQUEUE).PickReply(enqueueReply(tt.buffers, tt.kind, tt.disposition)).Name
		assert.That(t, got == tt.want, "%d buffers, disposition %#x: %s, not %s", tt.buffers, tt.disposition, got, tt.want)
	}
}

func TestLvbForm(t *testing.T) {
	layout := append(binary.LittleEndian.AppendUint32(nil, lovMagicV1), make([]byte, 52)...)
	tests := []struct {
		want string
		kind uint32
		name uint64
		lvb  []byte
	}{
		{"ost_lvb", ExtentLock, 9, make([]byte, 56)},
		{"ost_lvb_v1", ExtentLock, 9, make([]byte, 40)},
		{"ost_lvb", InodeLock, 9, make([]byte, 56)},
		{"lov_mds_md_v1", InodeLock, 9, layout},
		{"lquota_lvb", ldlmPlainType, seqQuotaGlobal, make([]byte, 40)},
		{"barrier_lvb", ldlmPlainType, 9, make([]byte, 16)},
	}
	for _, tt := range tests {
		m := &Msg{Reply: true, Opcode: LDLM_ENQUEUE, Bufs: [][]byte{nil, lockBytes(binary.LittleEndian, 0, tt.kind, []uint64{tt.name}, 4, 4), tt.lvb}}
		f := chooseLvb(&View{Struct: tt.lvb, Rest: tt.lvb, Msg: m})
		assert.That(t, f != nil && f.Type.Name == tt.want, "%s of kind %d is taken for %v", tt.want, tt.kind, f)
	}
	if f := chooseLvb(&View{Rest: make([]byte, 20), Msg: &Msg{Reply: true, Opcode: LDLM_GL_CALLBACK}}); f != nil {
		t.Errorf("20 zero bytes without a request are taken for %s", f.Name)
	}
}

func TestLvbError(t *testing.T) {
	for blocks, want := range map[uint64]string{
		0xffbadbad_fffffffe: "error ENOENT",
		0xffbadbad_80000000: "not filled in yet",
		8:                   "",
	} {
		assert.Equal(t, string(lvbErrorText(&View{Value: blocks}, nil)), want, blocks)
	}
}

func TestLockStatus(t *testing.T) {
	assert.Equal(t, LockStatus(LDLM_ENQUEUE, 301), "LOCK_ABORTED", "301")
	assert.Equal(t, LockStatus(OST_READ, 301), "", "301 bytes read")
}

func TestErrnoValue(t *testing.T) {
	for v, want := range map[uint64]int64{
		0xfffffffffffffffe: -2,
		0xfffffffe:         -2, // the sign stayed behind
		2:                  2,
		0:                  0,
	} {
		assert.Equal(t, ErrnoValue(v), want, v)
	}
}

func TestGlimpseForms(t *testing.T) {
	o := binary.LittleEndian
	plain := func(seq uint64) []byte {
		return lockBytes(o, 0, ldlmPlainType, []uint64{seq, 0x20000, 500}, 0x10, 0x10)
	}
	tests := []struct {
		want, line string
		bufs       [][]byte
	}{
		{"", "[0x9:0x0:0x0]", [][]byte{nil, lockBytes(o, 0, InodeLock, []uint64{9}, 4, 4)}},
		{"quota", "[0x200000006:0x20000:0x0] uid 500 id 7 hard 0 soft 0", [][]byte{nil, plain(seqQuotaGlobal), append([]byte{7}, make([]byte, 63)...)}},
	}
	for _, tt := range tests {
		m := &Msg{Opcode: LDLM_GL_CALLBACK, Bufs: tt.bufs}
		v := ByOpcode(LDLM_GL_CALLBACK).Pick(m)
		var l Line
		v.SummarizeRequest(m, &l)
		assert.That(t, v.Name == tt.want && string(l.Text) == tt.line, "%q: %q, not %q: %q", v.Name, l.Text, tt.want, tt.line)
	}
	barrier := [][]byte{nil, plain(9), append([]byte{3}, make([]byte, 63)...)}
	assert.Equal(t, ByOpcode(LDLM_GL_CALLBACK).Pick(&Msg{Bufs: barrier}).Name, "barrier", "a barrier's glimpse is taken for")
}
