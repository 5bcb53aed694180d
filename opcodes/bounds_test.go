package opcodes

import (
	"bytes"
	"fmt"
	"testing"

	. "github.com/lshark/lshark/opcodes/schema"
)

// TestFuncsSurviveAnything calls the funcs of the tables with bytes of every
// length and no sense, in a message and without one: whatever is on the wire,
// they must come back.
func TestFuncsSurviveAnything(t *testing.T) {
	var fills [][]byte
	for _, b := range []byte{0, 1, 0xff, 'a'} {
		fills = append(fills, bytes.Repeat([]byte{b}, 160))
	}
	for _, magic := range []uint32{lovMagicV1, lovMagicV3, lovMagicComp, lovMagicForeign, lmvMagicV1, lmvMagicUser} {
		b := bytes.Repeat([]byte{3}, 160)
		copy(b, []byte{byte(magic), byte(magic >> 8), byte(magic >> 16), byte(magic >> 24)})
		fills = append(fills, b)
	}
	tryAll := func(name string, f *Field, s *Struct) {
		for _, fill := range fills {
			for _, n := range []int{0, 1, 3, 4, 7, 8, 11, 16, 24, 31, 32, 40, 48, 63, 72, 100, 136, 160} {
				for _, m := range []*Msg{{}, {Reply: true}, {Variant: variantOpen, Bufs: [][]byte{nil, fill[:n], nil, fill[:n]}}} {
					callFuncs(t, name, f, s, fill[:n], m)
				}
			}
		}
	}
	for _, s := range Protocol.Structs() {
		tryAll(s.Name, nil, s)
		for _, f := range s.Fields {
			tryAll(s.Name+"."+f.Name, f, s)
		}
	}
	for _, r := range Protocol.RPCs() {
		for _, v := range r.Variants {
			for _, f := range append(append([]*Field(nil), v.Request...), v.Reply...) {
				tryAll(r.Name+" "+v.Name+" "+f.Name, f, f.Type)
			}
		}
	}
}

func callFuncs(t *testing.T, name string, f *Field, s *Struct, b []byte, m *Msg) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Fatal(fmt.Sprint(name, " with ", len(b), " bytes: ", p))
		}
	}()
	v := &View{Struct: b, Rest: b, Type: s, Msg: m, Index: 1, Off: 48}
	if f == nil {
		if s.Summarize != nil && len(b) >= 8 {
			s.Summarize(v, nil)
		}
		if s.Detect != nil {
			s.Detect(b, false)
		}
		return
	}
	if f.If != nil {
		f.If(v)
	}
	if f.CountOf != nil {
		f.CountOf(v)
	}
	if f.Choose != nil && len(b) > 0 {
		f.Choose(v)
	}
	if f.Step != nil {
		f.Step(v)
	}
	if f.Locate != nil {
		f.Locate(v)
	}
	if f.Derive != nil {
		f.Derive(v, nil)
	}
	if f.Remark != nil {
		if len(b) >= f.Size {
			v.Value = ReadUint(b[:min(8, f.Size)], false)
			f.Remark(v, nil)
		}
	}
}

// TestLinesSurviveAnything does the same with the funcs of the variants, and checks that no label is
// at the end of a line where its value was cut off.
func TestLinesSurviveAnything(t *testing.T) {
	for _, r := range Protocol.RPCs() {
		for _, v := range r.Variants {
			for _, n := range []int{0, 1, 4, 8, 12, 16, 40, 56, 96, 136, 216, 300} {
				for _, fill := range []byte{0, 1, 0xff} {
					b := bytes.Repeat([]byte{fill}, n)
					for count := range 9 {
						bufs := make([][]byte, count)
						for i := range bufs {
							bufs[i] = b
						}
						callLines(t, r, v, bufs)
					}
				}
			}
		}
	}
}

func callLines(t *testing.T, r *RPC, v *Variant, bufs [][]byte) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Fatal(fmt.Sprint(r.Name, " ", v.Name, " with ", len(bufs), " buffers: ", p))
		}
	}()
	var l Line
	ask := &Msg{Opcode: r.Opcode, RPC: r, Variant: v, Bufs: bufs}
	answer := &Msg{Opcode: r.Opcode, RPC: r, Variant: v, Bufs: bufs, Reply: true}
	if r.Pick != nil {
		r.Pick(ask)
	}
	if r.PickReply != nil {
		r.PickReply(answer)
	}
	if v.SummarizeRequest != nil {
		v.SummarizeRequest(ask, &l)
		checkEnd(t, r, &l)
	}
	if v.Subject != nil {
		v.Subject(ask)
	}
	TargetObject(ask)
	IsFirstMDT(ask, 0)
	GrantingMDT(answer)
	RepliedObject(answer)
	SequenceRangeOf(answer)
	LayoutOSTs(answer, func(FileID, uint32) {})
	if v.SummarizeReply != nil {
		l.Reset()
		v.SummarizeReply(answer, &l)
		checkEnd(t, r, &l)
		answer.Req = ask
		v.SummarizeReply(answer, &l)
	}
}

func checkEnd(t *testing.T, r *RPC, l *Line) {
	t.Helper()
	if l.DropLabel(); bytes.HasSuffix(l.Text, []byte(" ")) {
		t.Errorf("%s: %q ends with a label", r.Name, l.Text)
	}
}
