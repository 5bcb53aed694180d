package opcodes

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	. "github.com/lshark/lshark/opcodes/schema"

	"github.com/lshark/lshark/internal/assert"
)

var le = binary.LittleEndian

// plainLayout is a lov_mds_md_v1 of a file 0x200000401:7 with objects on OSTs
// 0 to n-1.
func plainLayout(pattern uint32, count uint16, objects int) []byte {
	b := le.AppendUint32(nil, lovMagicV1)
	b = le.AppendUint32(b, pattern)
	b = le.AppendUint64(b, 7)
	b = le.AppendUint64(b, 0x200000401)
	b = le.AppendUint32(b, 65536)
	b = le.AppendUint16(b, count)
	b = le.AppendUint16(b, 0xffff)
	for i := range objects {
		b = le.AppendUint64(b, 0x2c0000400)
		b = le.AppendUint32(b, 5)
		b = le.AppendUint32(b, 0)
		b = le.AppendUint32(b, 0)
		b = le.AppendUint32(b, uint32(i+3))
	}
	return b
}

// composite is a layout of the parts, the first in use, the others not yet.
func composite(parts ...[]byte) []byte {
	size := lovCompMdV1.Size + len(parts)*lovCompMdEntryV1.Size
	b := le.AppendUint32(nil, lovMagicComp)
	b = append(b, make([]byte, lovCompMdV1.Size-4)...)
	le.PutUint16(b[lcmEntryCount.Off:], uint16(len(parts)))
	at := size
	for i, p := range parts {
		e := make([]byte, lovCompMdEntryV1.Size)
		le.PutUint32(e, uint32(i+1))
		if i == 0 {
			le.PutUint32(e[lcmeFlags.Off:], uint32(compInit))
		}
		le.PutUint64(e[lcmeExtent.Off:], uint64(i)<<20)
		le.PutUint64(e[lcmeExtent.Off+8:], uint64(i+1)<<20)
		le.PutUint32(e[lcmeOffset.Off:], uint32(at))
		le.PutUint32(e[lcmeSize.Off:], uint32(len(p)))
		b = append(b, e...)
		at += len(p)
	}
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// entryView sees entry i of a composite layout that begins at base.
func entryView(b []byte, i, base int) *View {
	off := lovCompMdV1.Size + i*lovCompMdEntryV1.Size
	up := &View{Struct: b, Off: base, Type: lovCompMdV1}
	return &View{Struct: b[off:], Off: base + off, Index: i, Type: lovCompMdEntryV1, Up: up}
}

func TestLayoutOfEntry(t *testing.T) {
	b := composite(plainLayout(1, 2, 2), plainLayout(1, 1, 1))
	first := lovCompMdV1.Size + 2*lovCompMdEntryV1.Size
	for i, want := range [][2]int{{1000 + first, 80}, {1000 + first + 80, 56}} {
		off, n := layoutOfEntry(entryView(b, i, 1000))
		assert.That(t, off == want[0] && n == want[1], "component %d lies at %d, %d bytes; want %v", i, off, n, want)
	}
	// A layout over the entries, or over the one before it, is none: else a
	// small message could be read as a very large tree.
	le.PutUint32(b[lovCompMdV1.Size+lovCompMdEntryV1.Size+lcmeOffset.Off:], uint32(first))
	if off, n := layoutOfEntry(entryView(b, 1, 0)); n != 0 {
		t.Errorf("a layout over another one at %d, %d bytes", off, n)
	}
	le.PutUint32(b[lovCompMdV1.Size+lcmeOffset.Off:], 0)
	if off, n := layoutOfEntry(entryView(b, 0, 0)); n != 0 {
		t.Errorf("a layout over the header at %d, %d bytes", off, n)
	}
}

func TestObjects(t *testing.T) {
	b := composite(plainLayout(1, 2, 2), plainLayout(1, 2, 1))
	inUse, notYet := entryView(b, 0, 0), entryView(b, 1, 0)
	for _, c := range []struct {
		what    string
		pattern uint32
		count   uint16
		up      *View
		want    int
	}{
		{"striped", 1, 2, nil, 2},
		{"released", 0x80000001, 2, nil, 0},
		{"on the MDT", 0x100, 1, nil, 0},
		{"on all OSTs", 1, 0xffff, nil, 0},
		{"overstriped on all OSTs", 0x201, 0xffe1, nil, 0},
		{"component in use", 1, 2, inUse, 2},
		{"component not in use", 1, 2, notYet, 0},
	} {
		l := plainLayout(c.pattern, c.count, 0)
		v := &View{Struct: l, Type: lovMdsMdV1, Up: c.up}
		assert.Equal(t, lovObjects(v), c.want, c.what, "objects")
	}
}

func TestLayoutForm(t *testing.T) {
	magic := func(m uint32, order binary.AppendByteOrder) []byte {
		return append(order.AppendUint32(nil, m), make([]byte, 80)...)
	}
	hsm := magic(lovMagicForeign, le)
	le.PutUint32(hsm[4:], 56)
	le.PutUint32(hsm[8:], 1)
	for _, c := range []struct {
		b    []byte
		user bool
		want *Field
	}{
		{magic(lovMagicV1, le), false, formLovV1},
		{magic(lovMagicV1, le), true, formUserV1},
		{magic(lovMagicV3, binary.BigEndian), true, formUserV3},
		{magic(lovMagicComp, le), true, formComp},
		{magic(lovMagicForeign, le), false, formForeign},
		{hsm, false, formHsm},
		{magic(lmvMagicV1, le), false, formLmv},
		{magic(lmvMagicSpecific, le), false, formLmv},
		{magic(lmvMagicSpecific, le), true, formUserLmv},
		{magic(lmvMagicForeign, le), false, formLmvForeign},
		{[]byte("target"), false, nil},
	} {
		if got := layoutForm(c.b, c.user); got != c.want {
			t.Errorf("% x: %v, not %v", c.b[:4], got, c.want)
		}
	}
}

func TestBriefs(t *testing.T) {
	comp := composite(plainLayout(1, 2, 2), plainLayout(1, 0xffff, 1))
	at := lovCompMdV1.Size + 2*lovCompMdEntryV1.Size
	for _, c := range []struct {
		v    *View
		want string
	}{
		{&View{Struct: plainLayout(0x201, 4, 4), Type: lovMdsMdV1}, "stripe_count 4, stripe_size 65536, raid0,overstriped, stripe_offset 3"},
		{&View{Struct: plainLayout(1, 0xffff, 0), Type: lovUserMdV1}, "stripe_count -1, stripe_size 65536, raid0, stripe_offset -1"},
		{&View{Struct: comp, Type: lovCompMdV1}, "2 components"},
		{&View{Struct: comp[lovCompMdV1.Size:], Type: lovCompMdEntryV1}, "[0, 1048576), INIT"},
		{&View{Struct: comp[at+80:], Type: lovMdsMdV1, Up: entryView(comp, 1, 0)}, "stripe_count -1, stripe_size 65536, raid0, no objects yet"},
		{&View{Struct: comp[at+32:], Type: lovOstDataV1}, "l_ost_idx 3, l_fid [0x2c0000400:0x5:0x0]"},
	} {
		assert.Equal(t, string(c.v.Type.Summarize(c.v, nil)), c.want, c.v.Type.Name)
	}
}

// TestLayoutNames holds the names of layout.c to the facts: that of a buffer, and those of the variants whose buffers a format
// has, or with whose buffers it begins.
func TestLayoutNames(t *testing.T) {
	all := readFacts(t)
	fact, declared := make(map[string]bool), make(map[string]bool)
	for _, row := range all.Buffers {
		if row[3] != "" {
			fact[row[3]+" "+strings.TrimPrefix(row[0], "-")] = true
		}
	}
	for _, b := range Protocol.FormatBuffers() {
		declared[b.Name+" "+b.Buffer] = true
		topics := FieldIndex().Topics(b.Name)
		assert.That(t, b.Buffer == "" || len(topics) == 1 && len(topics[0].Places) > 0, "%s: no message has the buffer %s", b.Name, b.Buffer)
	}
	begin := make(map[string][]string) // the row of a format with which several variants begin
	for _, row := range all.Formats {
		begin[row[0]] = row
		for operation := range strings.FieldsSeq(row[1]) {
			fact[row[0]+" of "+operation] = true
		}
	}
	for _, row := range all.Messages {
		for name := range strings.FieldsSeq(row[2]) {
			for variant := range strings.FieldsSeq(row[1]) {
				fact[name+" of "+row[0]+" "+variantName(variant)] = true
			}
		}
	}
	for _, f := range Protocol.Formats() {
		for _, u := range Protocol.Uses(f) {
			assert.That(t, len(u.Variants) != 0, "%s: %s has no variant %q", f.Name, u.RPC.Name, f.Variants)
			if row := begin[f.Name]; row != nil {
				declared[f.Name+" of "+u.RPC.Name] = true
				assert.That(t, slices.ContainsFunc(u.Variants, func(v *Variant) bool {
					return beginsWith(v.Request, row[2]) && beginsWith(v.Reply, row[3])
				}), "%s: no variant of %s begins with its buffers", f.Name, u.RPC.Name)
				continue
			}
			for _, v := range u.Variants {
				declared[f.Name+" of "+u.RPC.Name+" "+v.Name] = true
			}
		}
	}
	for key := range declared {
		assert.That(t, fact[key], "layout_names.go has %s, which is not in the facts", key)
	}
	for key := range fact {
		assert.That(t, declared[key], "the facts have %s, which is not in layout_names.go", key)
	}
}

// beginsWith reports whether the first buffers of a message are those named.
func beginsWith(message []*Field, names string) bool {
	for i, name := range strings.Fields(names) {
		if i >= len(message) || message[i].Name != name {
			return false
		}
	}
	return true
}
