package opcodes

import (
	"encoding/binary"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	. "github.com/lshark/lshark/opcodes/schema"
)

// obdoWith is an obdo with those bits of o_valid, and the fields set by name.
func obdoWith(o binary.ByteOrder, valid uint64, fields map[string]uint64) []byte {
	b := make([]byte, obdo.Size)
	o.PutUint64(b, valid)
	for name, val := range fields {
		switch f := obdo.Field(name); f.Size {
		case 4:
			o.PutUint32(b[f.Off:], uint32(val))
		default:
			o.PutUint64(b[f.Off:], val)
		}
	}
	return b
}

// validIn reports whether a field means something, and whether it is there at
// all, in such an obdo.
func validIn(name string, opcode uint32, reply bool, valid uint64) (means, there bool) {
	f := obdo.Field(name)
	v := View{Struct: obdoWith(binary.LittleEndian, valid, nil), Msg: &Msg{Opcode: opcode, Reply: reply}}
	return f.Valid(&v), f.If == nil || f.If(&v)
}

func TestObdoValidity(t *testing.T) {
	const mode, nlink, checksum, grant, kind, version = 0x80, 0x2000, 0x100000, 0x8000000, 0x100, 0x10000000000000
	tests := []struct {
		field        string
		opcode       uint32
		reply        bool
		valid        uint64
		means, there bool
	}{
		{"o_size", OST_PUNCH, false, 0x10, true, true},
		{"o_size", OST_PUNCH, false, 0, false, true},
		{"o_size", OST_SEEK, false, 0, true, true},
		{"o_whence", OST_SEEK, false, 0, true, true},
		{"o_whence", OST_WRITE, false, 0, true, false},
		{"o_mode", OST_SETATTR, false, mode, true, true},
		{"o_mode", OST_WRITE, false, kind | grant, false, false}, // the slot has the grant wanted
		{"o_undirty", OST_WRITE, false, kind | grant, true, true},
		{"o_mode", OST_WRITE, true, mode | grant, true, true},
		{"o_undirty", OST_WRITE, true, mode | grant, true, false},
		{"o_undirty", OST_READ, true, grant, true, true}, // sent back as it was
		{"o_mode", OST_SET_INFO, true, grant, false, false},
		{"o_grant_used", OST_WRITE, true, mode | grant, true, true},
		{"o_data_version", OST_WRITE, true, mode | grant, false, false},
		{"o_data_version", OST_GETATTR, true, version, true, true},
		{"o_nlink", OST_GETATTR, true, nlink, true, true},
		{"o_nlink", OST_WRITE, false, checksum, false, false},
		{"o_nlink", OST_FALLOCATE, false, 0, false, false},
		{"o_mode", OST_SEEK, false, 0, false, false},
		{"o_data_version", OST_WRITE, false, grant, false, false},
		{"o_cksum", OST_WRITE, false, checksum, true, true},
		{"o_cksum", OST_GETATTR, true, nlink, true, false},
		{"o_falloc_mode", OST_FALLOCATE, false, 0, true, true},
		{"o_blocks", OST_FALLOCATE, false, 0, true, true},
		{"o_blocks", OST_PUNCH, false, 0, false, true},
	}
	for _, tt := range tests {
		means, there := validIn(tt.field, tt.opcode, tt.reply, tt.valid)
		if there != tt.there || there && means != tt.means {
			t.Errorf("%s of opcode %d (reply %v) with %#x: means something %v, there %v", tt.field, tt.opcode, tt.reply, tt.valid, means, there)
		}
	}
}

func TestChecksumTypes(t *testing.T) {
	for word, want := range map[uint64]string{
		0x1000: "CKSUM_CRC32", 0x4000: "CKSUM_CRC32C", 0x5000: "CKSUM_T10IP512", 0x7000: "CKSUM_T10CRC512",
		0x8000 | 0x400000: "CKSUM_T10CRC4K|SHORT_IO",
	} {
		var l Line
		l.Flags(ObdoFlags, word)
		assert.Equal(t, string(l.Text), want, word)
	}
}

func TestParentOfObject(t *testing.T) {
	for _, o := range orders {
		b := obdoWith(o.order.(binary.ByteOrder), 0x2000001, map[string]uint64{
			"o_parent_seq": 0x200000401, "o_parent_oid": 9, "o_parent_ver": 3,
		})
		assert.Equal(t, string(AppendFIDBytes(nil, attrs{b, o.big}.file(nil), o.big)), "[0x200000401:0x9:0x3]", o.name)
	}
}

func TestObjectSubjectAllocatesNothing(t *testing.T) {
	m := &Msg{Bufs: [][]byte{nil, obdoWith(binary.LittleEndian, 0x2000001, nil)}}
	assert.Equal(t, testing.AllocsPerRun(100, func() { objectSubject(m) }), 0, "allocations")
}

func TestTransferLine(t *testing.T) {
	o := binary.LittleEndian
	obj := o.AppendUint64(o.AppendUint64(nil, 0x100010000), 7)
	obj = o.AppendUint32(o.AppendUint32(obj, 0), 2)
	niobuf := func(b []byte, off uint64, n uint32) []byte {
		return o.AppendUint32(o.AppendUint32(o.AppendUint64(b, off), n), 0)
	}
	m := &Msg{Opcode: OST_WRITE, Bufs: [][]byte{nil, obdoWith(o, 0x8000000, map[string]uint64{"o_grant": 5000}), obj,
		niobuf(niobuf(nil, 0, 4096), 8192, 4096)}}
	var l Line
	summarizeTransferRequest(m, &l)
	assert.Equal(t, string(l.Text), "[0x100010000:0x7:0x0] [0-12287] 8192 bytes niobufs 2 grant 5000")
	m.Bufs = [][]byte{nil, obdoWith(o, 0, nil), append(make([]byte, 4), 0xe4, 0xff, 0xff, 0xff)}
	l.Reset()
	summarizeWriteReply(m, &l)
	assert.Equal(t, string(l.Text), "failed niobufs 1 ENOSPC")
}

// TestCutRequests holds that a summary says nothing of fields that are not
// there, and that no length makes one panic.
func TestCutRequests(t *testing.T) {
	for _, r := range Protocol.RPCs() {
		for _, v := range r.Variants {
			for n := range 260 {
				m := &Msg{Opcode: r.Opcode, RPC: r, Variant: v}
				for range 12 {
					m.Bufs = append(m.Bufs, make([]byte, n))
				}
				summarize(m, v)
			}
		}
	}
	var l Line
	m := &Msg{Opcode: OST_PUNCH, Bufs: [][]byte{nil, obdoWith(binary.LittleEndian, 0x31, nil)[:40]}}
	summarizeSpanRequest(m, &l)
	assert.Equal(t, string(l.Text), "0x0:0")
}

func summarize(m *Msg, v *Variant) {
	var l Line
	if v.SummarizeRequest != nil {
		v.SummarizeRequest(m, &l)
	}
	if v.Subject != nil {
		v.Subject(m)
	}
	m.Reply = true
	if v.SummarizeReply != nil {
		v.SummarizeReply(m, &l)
	}
	if m.RPC.PickReply != nil {
		m.RPC.PickReply(m)
	}
	if m.RPC.Pick != nil {
		m.RPC.Pick(m)
	}
}

// TestSumData checks the checksums of the nine digits, which are known for all of
// them, and that T10 kinds follow the sectors of the object.
func TestSumData(t *testing.T) {
	digits := []byte("123456789")
	one := []DataRange{{0, uint32(len(digits))}}
	for name, want := range map[string]uint32{"CRC32": 0x340bc6d9, "ADLER": 0x091e01de, "CRC32C": 0xe3069283, "T10CRC512": guardAdler(0xd0db), "T10IP4K": guardAdler(0xf62a)} {
		c, ok := SumData(ObdoFlags.Number("CKSUM_"+name), digits, one)
		if !ok || c.Value != want || c.Name() != name {
			t.Errorf("%s: %#x, want %#x", c.Name(), c.Value, want)
		}
	}
	if _, ok := SumData(0xf000, digits, one); ok {
		t.Error("a checksum of an unknown kind")
	}
	// Bytes 4095 and 4096 are in two sectors; a read may end before its range.
	c, _ := SumData(ObdoFlags.Number("CKSUM_T10IP4K"), []byte{1, 0, 2}, []DataRange{{4095, 2}, {8192, 100}})
	assert.Equal(t, c.Value, guardAdler(0xfeff, 0xffff, 0xfdff), "three sectors")
}

func guardAdler(tags ...uint16) uint32 {
	a, b := uint32(1), uint32(0)
	for _, tag := range tags {
		for _, c := range []uint32{uint32(tag >> 8), uint32(tag & 0xff)} {
			a = (a + c) % 65521
			b = (b + a) % 65521
		}
	}
	return b<<16 | a
}

func TestFiemapExtents(t *testing.T) {
	for _, tt := range []struct{ claimed, room, want int }{
		{2, 3, 2},
		{0, 3, 0}, // a request: room for the answer
		{1 << 30, 3, 3},
		{5, 0, 0},
	} {
		b := make([]byte, fiemapHdr.Size+tt.room*fiemapExtent.Size)
		binary.LittleEndian.PutUint32(b[fmMapped.Off:], uint32(tt.claimed))
		assert.Equal(t, fiemapExtents(&View{Struct: b}), tt.want, tt.claimed, "extents claimed, room for", tt.room)
	}
}

// TestKeys holds that keys count as far as they go, with a NUL behind them or
// without.
func TestKeys(t *testing.T) {
	tests := []struct {
		rpc       *RPC
		key, want string
	}{
		{ByOpcode(OST_GET_INFO), "last_id", "last_id"},
		{ByOpcode(OST_GET_INFO), "last_fid\x00", "last_fid"},
		{ByOpcode(OST_GET_INFO), "fiemap\x00\x00rest", "fiemap"},
		{ByOpcode(OST_GET_INFO), "fid2path\x00", "fid2path"},
		{ByOpcode(OST_GET_INFO), "", "other"},
		{ByOpcode(OST_SET_INFO), "grant_shrink", "grant_shrink"},
		{ByOpcode(OST_SET_INFO), "checksum\x00", "other"},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.rpc.Pick(&Msg{Bufs: [][]byte{nil, []byte(tt.key)}}).Name, tt.want, tt.rpc.Name, tt.key, "is taken for")
	}
	for size, want := range map[int]string{8: "last_id", 16: "last_fid", 32: "fiemap", 88: "fiemap", 20: "other"} {
		got := ByOpcode(OST_GET_INFO).PickReply(&Msg{Bufs: [][]byte{nil, make([]byte, size)}}).Name
		assert.That(t, got == want, "an answer of %d bytes is taken for %s", size, got)
	}
}
