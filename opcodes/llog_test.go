package opcodes

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"testing"

	. "github.com/lshark/lshark/opcodes/schema"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

// build puts integers, in that order, and byte strings one behind the other.
func build(order binary.AppendByteOrder, parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case uint16:
			b = order.AppendUint16(b, p)
		case uint32:
			b = order.AppendUint32(b, p)
		case uint64:
			b = order.AppendUint64(b, p)
		case []byte:
			b = append(b, p...)
		case string:
			b = append(b, p...)
		}
	}
	return b
}

func zeroPadded(text string, n int) []byte {
	return append([]byte(text), make([]byte, n-len(text))...)
}

// record puts a llog header and tail around a body.
func record(order binary.AppendByteOrder, kind uint32, body []byte) []byte {
	body = append(body, make([]byte, pad8(len(body))-len(body))...)
	n := uint32(len(body) + llogLeast)
	return build(order, n, uint32(7), kind, uint32(0), body, n, uint32(7))
}

func configRecord(order binary.AppendByteOrder, command, num uint32, nid uint64, args ...string) []byte {
	b := build(order, uint32(lustreCfgMagic), command, num, uint32(0), nid, uint32(0), uint32(len(args)))
	for _, a := range args {
		b = order.AppendUint32(b, uint32(len(a)))
	}
	b = append(b, make([]byte, pad8(len(b))-len(b))...)
	for _, a := range args {
		b = append(b, zeroPadded(a, pad8(len(a)))...)
	}
	return record(order, 0x10620000, b)
}

func TestConfigText(t *testing.T) {
	const nid = 2<<48 | 192<<24 | 2<<8 | 1
	marker := build(binary.LittleEndian, uint32(4), uint32(1), uint32(0x02110000), uint32(0), uint64(1795248343), uint64(0),
		zeroPadded("lustre-OST0000", 64), zeroPadded("add osc", 64))
	marker32 := build(binary.BigEndian, uint32(4), uint32(6), uint32(0x02110000), uint32(0), uint32(1795248343), uint32(0),
		zeroPadded("lustre-OST0000", 64), zeroPadded("add osc", 64))
	for _, c := range []struct {
		rec  []byte
		want string
	}{
		{configRecord(binary.LittleEndian, 0xcf001, 0, 0, "lustre-OST0000-osc\x00", "osc\x00", "lustre-clilov_UUID\x00"),
			"attach lustre-OST0000-osc osc lustre-clilov_UUID"},
		{configRecord(binary.BigEndian, 0xcf005, 0, nid, "", "192.0.2.1@tcp\x00"), "add_uuid 192.0.2.1@tcp 192.0.2.1@tcp"},
		{configRecord(binary.LittleEndian, 0xcf005, 0, 0, "", "fd00::1@tcp\x00", "fd00::1@tcp1\x00"), "add_uuid fd00::1@tcp1 fd00::1@tcp"},
		{configRecord(binary.LittleEndian, 0xcf00f, 0, 0, "lustre-OST0000-osc\x00", "osc.active=0\x00"),
			"param lustre-OST0000-osc osc.active=0"},
		{configRecord(binary.LittleEndian, 0xce021, 0, 0, "lustre-clilov\x00", "lustre\x00", "p\x1b[1m\x00"), "pool_add lustre-clilov lustre p\x1b[1m"},
		{configRecord(binary.LittleEndian, 0xcf009, 100, 0, "lustre\x00"), "set_timeout 100 lustre"},
		{configRecord(binary.LittleEndian, 0xcf777, 0, 0), "command 0xcf777"},
		{configRecord(binary.LittleEndian, lcfgMarker, 0, 0, "", string(marker)),
			"marker 4 start lustre-OST0000 'add osc' 2026-11-21 08:05:43"},
		{configRecord(binary.BigEndian, lcfgMarker, 0, 0, "", string(marker32)),
			"marker 4 end skip lustre-OST0000 'add osc' 2026-11-21 08:05:43"},
	} {
		big := llogBig(c.rec, false)
		assert.Equal(t, string(configText(&View{Struct: c.rec, Big: big}, nil)), c.want)
	}
}

// TestArguments: empty arguments keep their place, and a marker of either
// size is told by its length.
func TestArguments(t *testing.T) {
	rec := configRecord(binary.LittleEndian, lcfgMarker, 0, 0, "", string(make([]byte, 152)), "x")
	v := View{Struct: rec[llogRecHdr.Size:]}
	want := []struct {
		form *Field
		size int
	}{{argText, EmptyRecord}, {argMarker32, 152}, {argText, 8}, {nil, 0}}
	for i, w := range want {
		v.Index = i
		f, n := nextArgument(&v)
		assert.That(t, f == w.form && n == w.size, "argument %d: %d bytes, want %d", i, n, w.size)
	}
}

func changelogRecord(order binary.AppendByteOrder) []byte {
	const names = "new\x00old"
	rec := build(order, uint16(len(names)), uint16(clfRename|clfJobid|clfExtra), uint32(8), uint64(5), uint64(0),
		uint64(1795249589)<<30|681891870, make([]byte, 16), uint64(0x200000bd2), uint32(1), uint32(0),
		uint64(0x200000bd2), uint32(2), uint32(0), uint64(0x200000bd2), uint32(3), uint32(0),
		zeroPadded("cp.0", 32), uint64(clfeUidgid|clfeNid|clfeOpen|clfeXattr|clfeNidBE), uint64(500), uint64(501),
		[]byte{0, 2, 0, 0, 192, 0, 2, 3}, make([]byte, 16), uint32(5), zeroPadded("user.a", 256), names)
	return record(order, 0x10660000, rec)
}

func TestChangelogText(t *testing.T) {
	const want = "5 08RENME 08:26:29.681891870 2026.11.21 0x0 t=[0:0x0:0x0] j=cp.0 ef=0x1f u=500:501 nid=192.0.2.3@tcp m=--x x=user.a" +
		" p=[0x200000bd2:0x1:0x0] new s=[0x200000bd2:0x2:0x0] sp=[0x200000bd2:0x3:0x0] old"
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		rec := changelogRecord(order)
		v := View{Struct: rec, Big: llogBig(rec, false)}
		assert.Equal(t, string(changelogText(&v, nil)), want, order)
		n, old := changelogNameSize(&v), changelogOldNameSize(&v)
		assert.That(t, n == 4 && old == 3, "names of %d and %d bytes", n, old)
	}
}

// TestOpenMode: only the low 12 bits of the word are open flags.
func TestOpenMode(t *testing.T) {
	for flags, want := range map[uint64]string{
		0xf000: "", 0x904a: " m=-w-", 0x9242: " m=-w-", 0x9001: " m=r--", 0x9003: " m=rw-", 0x9005: " m=--x", 0x9400: " m=-w-", 0x9008: "",
	} {
		assert.Equal(t, string(appendOpenMode(nil, flags)), want, flags)
	}
}

// TestFlagsOfChanges: the low 12 bits of cr_flags depend on the type.
func TestFlagsOfChanges(t *testing.T) {
	for _, c := range []struct {
		kind  uint32
		flags uint64
		want  string
	}{
		{clOpen, 0x904a, "FMODE_WRITE|OPEN_CREATED|OPEN_CREAT|VERSION|EXTRA_FLAGS"},
		{clTrunc, 0x900e, "MTIME|CTIME|SIZE|VERSION|EXTRA_FLAGS"},
		{clUnlink, 0x1003, "UNLINK_LAST|UNLINK_HSM_EXISTS|VERSION"},
		{clRename, 0x3001, "RENAME_LAST|VERSION|RENAME"},
		{clHSM, 0x1480, "RESTORE|HSM_DIRTY|VERSION"},
		{clHSM, 0x1105, "CANCEL|VERSION|0x5"},
		{1, 0x1001, "VERSION|0x1"},
	} {
		rec := build(binary.LittleEndian, uint16(0), uint16(c.flags), c.kind, make([]byte, 56))
		shown := 0
		for _, f := range changelogRec.Fields {
			if v := (View{Struct: rec}); f.Name != "cr_flags" || !f.If(&v) {
				continue
			}
			shown++
			l := PlainLine(nil)
			l.Flags(f.Names, c.flags)
			assert.Equal(t, string(l.Text), c.want, "type", c.kind, "flags", c.flags)
		}
		assert.Equal(t, shown, 1, "type", c.kind, "fields cr_flags")
	}
}

// TestBlock walks a block: two records, padding up to its end, and zeros.
func TestBlock(t *testing.T) {
	block := append(configRecord(binary.BigEndian, 0xcf001, 0, 0, "a\x00"), changelogRecord(binary.BigEndian)...)
	block = append(block, record(binary.BigEndian, 0x10600000, make([]byte, 40))...)
	block = append(block, make([]byte, 64)...)
	v := View{Rest: block}
	for _, want := range []*Struct{llogConfigRec, llogChangelogRec, llogPadRec} {
		f, n := nextLogRecord(&v)
		must.That(t, f != nil && f.Type == want && n <= len(v.Rest), "%s not found", want.Name)
		v.Rest = v.Rest[n:]
	}
	if f, _ := nextLogRecord(&v); f != nil {
		t.Error("zeros are taken for a record")
	}
}

func TestUsedIndices(t *testing.T) {
	for _, c := range []struct {
		size, offset, last int // bytes of the header, offset of its bitmap, last index of that
	}{{8192, 88, 64767}, {32768, 88, 261375}, {32768, 96, 261311}} {
		hdr := make([]byte, c.size)
		binary.LittleEndian.PutUint32(hdr, uint32(c.size))
		binary.LittleEndian.PutUint32(hdr[28:], uint32(c.offset))
		bitmap := hdr[c.offset:]
		for _, i := range []int{0, 1, 2, 30, 31, 32, 100, c.last, c.last + 1} {
			bitmap[i/8] |= 1 << (i % 8) // the last one in the tail, which is no part of the bitmap
		}
		want := "0-2,30-32,100," + strconv.Itoa(c.last)
		for n := range 200 {
			usedIndices(&View{Struct: hdr[:n], Type: llogLogHdr}, nil)
		}
		got := string(usedIndices(&View{Struct: hdr, Type: llogLogHdr}, nil))
		assert.That(t, got == want, "header of %d bytes, bitmap at %d: %s, want %s", c.size, c.offset, got, want)
	}
}

// TestDirents: the page goes on behind its last entry, with entries that do
// not count.
// TestLogHeaderLine checks that the header is not counted among the records.
func TestLogHeaderLine(t *testing.T) {
	for count, want := range map[uint32]string{0: "0 records IS_PLAIN", 1: "0 records IS_PLAIN", 2: "1 record IS_PLAIN"} {
		b := make([]byte, llogLogHdr.Size)
		le.PutUint32(b[llhCount.Off:], count)
		le.PutUint32(b[llhFlags.Off:], 4)
		var l Line
		summarizeLogHeaderReply(&Msg{Bufs: [][]byte{nil, b}}, &l)
		assert.Equal(t, string(l.Text), want, "count", count)
	}
}

func TestDirents(t *testing.T) {
	entry := func(name string, reclen uint16) []byte {
		b := build(binary.LittleEndian, uint64(1), uint32(2), uint32(0), uint64(3), reclen, uint16(len(name)), uint32(1|ludaHasType), name)
		return append(b, make([]byte, pad8(len(b)+3)-len(b))...)
	}
	page := append(make([]byte, dirPageHeader), entry("first", 40)...)
	page = append(page, entry("last", 0)...)
	page = append(page, entry("hidden", 48)...)
	page = append(page, make([]byte, pageSize-len(page))...)
	var sizes []int
	v := View{Struct: page, Rest: page[dirPageHeader:]}
	for {
		f, n := nextDirent(&v)
		if f == nil {
			break
		}
		sizes = append(sizes, n)
		v.Rest = v.Rest[n:]
		v.Index++
	}
	assert.That(t, len(sizes) == 2 && sizes[0] == 40 && sizes[1] == 38, "entries of %v bytes", sizes)
	assert.That(t, bytes.HasPrefix(v.Rest[2:], entry("hidden", 48)), "the page does not go on behind its last entry")
}
