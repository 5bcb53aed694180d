package opcodes

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	. "github.com/lshark/lshark/opcodes/schema"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

func update(order binary.AppendByteOrder, kind uint16, params ...string) []byte {
	b := build(order, kind, uint16(len(params)), uint32(0), uint32(0), uint32(0), uint64(0), uint64(0x240000401), uint32(1), uint32(0))
	for _, p := range params {
		b = build(order, b, uint16(len(p)), uint16(0), uint32(0), zeroPadded(p, pad8(len(p))))
	}
	return b
}

// TestUpdateParams: the form of a parameter follows from the update's type
// and, of an attribute's value, from the name in front.
func TestUpdateParams(t *testing.T) {
	for _, c := range []struct {
		kind   uint16
		params []string
		want   []*Field
	}{
		{outCreate, []string{string(make([]byte, 208)), string(make([]byte, 16))}, []*Field{paramAttr, paramFid}},
		{outAttrSet, []string{string(make([]byte, 208))}, []*Field{paramAttr}},
		{outXattrSet, []string{"trusted.lma\x00", string(make([]byte, 24)), "\x01\x00\x00\x00"}, []*Field{paramXattr, formLma, paramFlags}},
		{outXattrSet, []string{"user.a\x00", "some text", "\x00\x00\x00\x00"}, []*Field{paramXattr, paramText, paramFlags}},
		{outIndexInsert, []string{"name\x00", string(make([]byte, 16)), "\x00\x40\x00\x00"}, []*Field{paramName, paramFid, paramType}},
		{outWrite, []string{string(changelogRecord(binary.LittleEndian)), "\x00\x20\x00\x00\x00\x00\x00\x00"}, []*Field{formLog, paramOffset}},
		{outWrite, []string{"data", "\x00\x20\x00\x00\x00\x00\x00\x00"}, []*Field{paramBytes, paramOffset}},
		{outRead, []string{"\x00\x20\x00\x00\x00\x00\x00\x00", "\x00\x00\x00\x00\x00\x00\x00\x00"}, []*Field{paramOffset, paramOffset}},
	} {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			u := update(order, c.kind, c.params...)
			big := order == binary.AppendByteOrder(binary.BigEndian)
			list := View{Struct: u, Big: big, Rest: u[updateHeader:], Type: objectUpdate}
			for i, want := range c.want {
				list.Index = i
				form, n := nextUpdateParam(&list)
				must.Equal(t, form, updateParam, "update", c.kind, "has no parameter", i)
				v := View{Struct: list.Rest, Rest: list.Rest[paramHeader:n], Big: big, Index: i, Type: objectUpdateParam, Up: &list}
				assert.Equal(t, chooseUpdateParam(&v), want, "parameter", i, "of update", c.kind, "has another form")
				list.Rest = list.Rest[n:]
			}
			if len(list.Rest) != 0 || updateSize(u, big) != len(u) {
				t.Errorf("update %d has %d bytes, not %d", c.kind, len(u), updateSize(u, big))
			}
		}
	}
}

// TestLogHeaderParts: a log header is written in three parts, each with its
// offset; the form of the small ones follows from the header before them.
func TestLogHeaderParts(t *testing.T) {
	order := binary.LittleEndian
	header := string(build(order, uint32(32768), uint32(0), uint32(llogHeaderMagic), make([]byte, 16), uint32(88), make([]byte, 56)))
	at := func(offset uint64) string { return string(build(order, offset)) }
	writes := [][]string{
		{"word", at(92)}, // no header before it
		{header, at(0)},
		{"word", at(92)},
		{"tail" + "tail", at(32760)},
		{"word", at(32760)},
		{"word", at(4)},
	}
	req := build(order, uint32(0xbdde0002), uint16(len(writes)), uint16(0))
	for _, w := range writes {
		req = append(req, update(order, outWrite, w...)...)
	}
	updates := req[updateRequestHeader:]
	for i, want := range []*Field{paramBytes, formLog, formBitmap, formLogTail, paramBytes, paramBytes} {
		whole := View{Struct: req, Index: i}
		list := View{Struct: updates, Type: objectUpdate, Up: &whole}
		v := View{Struct: updates[updateHeader:], Type: objectUpdateParam, Up: &list}
		v.Rest = v.Struct[paramHeader:paramSize(v.Struct, false)]
		assert.Equal(t, chooseUpdateParam(&v), want, "write", i, "has another form")
		for n := range req {
			short := View{Struct: req[:n], Index: i}
			list.Up = &short
			chooseUpdateParam(&v)
		}
		updates = updates[updateSize(updates, false):]
	}
}

// TestRounding: bytes that round a parameter up are those, whatever is in them;
// any others are not.
func TestRounding(t *testing.T) {
	param := func(length uint16, data string) *View {
		b := build(binary.LittleEndian, length, uint16(0), uint32(0), data)
		return &View{Struct: b, Rest: b[min(len(b), paramHeader+int(length)):], Type: objectUpdateParam}
	}
	for _, c := range []struct {
		view *View
		want int
	}{
		{param(5, "name\x00\x01\x02\x03"), 3},
		{param(5, "name\x00\x00\x00\x00"), 0},
		{param(8, "12345678"), 0},
		{param(5, "name\x00\x01\x02\x03more"), 0},
		{param(5, "name\x00\x01"), 0},
	} {
		assert.Equal(t, rounding(c.view), c.want, c.view.Struct, "bytes")
	}
}

// TestResults: what a result holds is known from the request.
func TestResults(t *testing.T) {
	updates := append(update(binary.LittleEndian, outAttrGet), update(binary.LittleEndian, outXattrGet, "trusted.lma\x00")...)
	updates = append(updates, update(binary.LittleEndian, outIndexLookup, "name\x00")...)
	header := build(binary.LittleEndian, uint32(0xbddf0001), uint32(1), uint32(updateRequestHeader+len(updates)), uint32(4096),
		uint32(0xbdde0002), uint16(3), uint16(0), updates)
	req := &Msg{Bufs: [][]byte{nil, header}}
	for i, want := range []*Field{paramAttr, formLma, resultFid, paramBytes} {
		result := build(binary.LittleEndian, uint32(0), uint16(24), uint16(0), make([]byte, 24))
		v := View{Struct: result, Rest: result[8:], Index: i, Type: objectUpdateResult, Msg: &Msg{Reply: true, Req: req}}
		assert.Equal(t, chooseUpdateResult(&v), want, "result", i, "has another form")
	}
}

// TestUpdateBrief checks the line of an update: the range that it reads or
// writes, or a name.
func TestUpdateBrief(t *testing.T) {
	for _, o := range orders {
		u64 := func(v uint64) string { return string(binary.LittleEndian.AppendUint64(nil, v)) }
		for _, tt := range []struct {
			kind   uint16
			params []string
			want   string
		}{
			{outRead, []string{u64(4096), u64(32768)}, "READ [0x240000401:0x1:0x0] [32768-36863]"},
			{outRead, []string{u64(0), u64(32768)}, "READ [0x240000401:0x1:0x0]"},
			{outRead, []string{u64(4096)}, "READ [0x240000401:0x1:0x0]"},
			{outWrite, []string{"12345", u64(88)}, "WRITE [0x240000401:0x1:0x0] [88-92]"},
			{outWrite, []string{"", u64(88)}, "WRITE [0x240000401:0x1:0x0]"},
			{outPunch, []string{u64(0), u64(88)}, "PUNCH [0x240000401:0x1:0x0]"},
			{outXattrGet, []string{"trusted.lov\x00"}, "XATTR_GET [0x240000401:0x1:0x0] trusted.lov"},
			{3, nil, "REF_ADD [0x240000401:0x1:0x0]"},
		} {
			u := update(o.order, tt.kind, tt.params...)
			assert.Equal(t, string(appendUpdate(nil, u, o.big)), tt.want, o.name)
			for n := range u {
				updateRange(u[:n], o.big)
			}
		}
	}
}

// TestReadData: what an OUT_READ reads is a log where its request names one.
func TestReadData(t *testing.T) {
	order := binary.LittleEndian
	request := func(seq uint64) *Msg {
		u := build(order, uint16(outRead), make([]byte, 14), uint64(0), seq, uint32(1), uint32(0))
		return &Msg{Bufs: [][]byte{nil, build(order, uint32(0xbddf0001), uint32(1), uint32(updateRequestHeader+len(u)), uint32(4096),
			uint32(0xbdde0002), uint16(1), uint16(0), u)}}
	}
	data := make([]byte, llogCatid.Size)
	for seq, want := range map[uint64]*Field{updateLogSeq: formCatids, 0x240000401: formRead} {
		assert.Equal(t, chooseReadData(&View{Rest: data, Msg: &Msg{Req: request(seq)}}), want, seq)
	}
	assert.Equal(t, chooseReadData(&View{Rest: data, Msg: &Msg{}}), formRead)
}

// TestFailedUpdates checks which results are errors, and which are the answer
// that there is no such thing, and the line of the reply.
func TestFailedUpdates(t *testing.T) {
	order := binary.LittleEndian
	kinds := []uint16{outAttrGet, outXattrGet, outIndexLookup, outXattrSet}
	var updates []byte
	for _, k := range kinds {
		updates = append(updates, update(order, k, "name\x00")...)
	}
	req := &Msg{Bufs: [][]byte{nil, build(order, uint32(0xbddf0001), uint32(1), uint32(updateRequestHeader+len(updates)), uint32(4096),
		uint32(0xbdde0002), uint16(len(kinds)), uint16(0), updates)}}
	reply := func(status int32, rcs ...int32) *Msg {
		b := build(order, uint32(0x00000002), uint16(len(rcs)), uint16(0))
		for range rcs {
			b = build(order, b, uint16(8))
		}
		b = zeroPadded(string(b), resultsAt+pad8(2*len(rcs)))
		for _, rc := range rcs {
			b = build(order, b, uint32(rc), uint16(0), uint16(0))
		}
		return &Msg{Reply: true, Status: status, Bufs: [][]byte{nil, b}}
	}
	var first Line
	one := update(order, outXattrGet, "name\x00")
	summarizeUpdatesRequest(&Msg{Bufs: [][]byte{nil, build(order, uint32(0xbddf0001), uint32(1), uint32(updateRequestHeader+len(one)), uint32(4096),
		uint32(0xbdde0002), uint16(1), uint16(0), one)}}, &first)
	assert.Equal(t, string(first.Text), "XATTR_GET [0x240000401:0x1:0x0] name")
	tests := []struct {
		reply    *Msg
		rc       int32 // with the request
		bare     int32 // without it
		notThere bool
		line     string
	}{
		{reply(0, 0, 0, 0, 0), 0, 0, false, ""},
		{reply(0, 0, -61, 0, 0), 0, -61, true, "XATTR_GET ENODATA"},
		{reply(0, -2, -2, -2, 0), 0, -2, true, "ATTR_GET ENOENT"},
		{reply(-2, 0, 0, -2, 0), 0, -2, true, "INDEX_LOOKUP"},
		{reply(0, -61, 0, 0, 0), -61, -61, false, "ATTR_GET ENODATA"},
		{reply(0, 0, -61, 0, -28), -28, -61, false, "XATTR_SET ENOSPC"},
		{reply(0, 0, 0, 0, -61), -61, -61, false, "XATTR_SET ENODATA"},
	}
	for i, tt := range tests {
		m := tt.reply
		got := updateError(m)
		assert.That(t, got == tt.bare && !IsNotThere(m), "%d: %d without the request, not %d", i, got, tt.bare)
		m.Req = req
		var l Line
		summarizeUpdatesReply(m, &l)
		if got := updateError(m); got != tt.rc || IsNotThere(m) != tt.notThere || string(l.Text) != tt.line {
			t.Errorf("%d: %d, %v, %q, not %d, %v, %q", i, got, IsNotThere(m), l.Text, tt.rc, tt.notThere, tt.line)
		}
	}
}

// TestRecordedParams: in the record of an operation the updates refer to the
// parameters by number, and share them.
func TestRecordedParams(t *testing.T) {
	order := binary.LittleEndian
	fid := build(order, uint64(0x240000401), uint32(1), uint32(0))
	ops := build(order, fid, uint16(outXattrSet), uint16(3), uint16(1), uint16(2), uint16(3), fid, uint16(outAttrSet), uint16(1), uint16(0))
	params := []byte(nil)
	for _, p := range []string{string(make([]byte, 208)), "trusted.lma\x00", string(make([]byte, 24)), "\x00\x00\x00\x00"} {
		params = build(order, params, uint16(len(p)), uint16(0), uint32(0), zeroPadded(p, pad8(len(p))))
	}
	rec := build(order, uint64(1), uint64(2), uint32(0), uint32(0), uint32(2), uint32(4), ops, params)
	whole := View{Struct: rec, Type: updateRecords}
	list := View{Struct: params, Rest: params, Type: updateParams, Up: &whole}
	for i, want := range []*Field{paramAttr, paramXattr, formLma, paramFlags} {
		list.Index = i
		form, n := nextRecordedParam(&list)
		must.That(t, form != nil, "no parameter %d", i)
		v := View{Struct: list.Rest, Rest: list.Rest[paramHeader:n], Index: i, Type: form.Type, Up: &list}
		assert.Equal(t, chooseRecordedParam(&v), want, "parameter", i, "has another form")
		list.Rest = list.Rest[n:]
	}
}

// TestBatchError: a sub-request fails by lm_result, or by the result of its
// intent; that a name is not there is no failure.
func TestBatchError(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		answer := func(result, intent int32, disposition uint64) []byte {
			reply := make([]byte, ldlmReply.Size)
			copy(reply[lockRes1.Off:], build(order, disposition))
			copy(reply[lockRes2.Off:], build(order, uint64(uint32(intent))))
			return build(order, uint32(1), make([]byte, 20), uint32(result), uint32(0), uint32(len(reply)), uint32(0), reply)
		}
		good := answer(0, 0, 0)
		for _, c := range []struct {
			answers [][]byte
			index   int
			rc      int32
		}{
			{nil, 0, 0},
			{[][]byte{good, good}, 0, 0},
			{[][]byte{good, answer(-13, 0, 0), answer(-2, 0, 0)}, 1, -13},
			{[][]byte{good, good, answer(0, -5, 0)}, 2, -5},
			{[][]byte{answer(0, -2, dispNeg)}, 0, 0},
			{[][]byte{answer(301, 0, 0), good}, 0, 0},
		} {
			reply := build(order, uint32(0xad0001), uint16(len(c.answers)), uint16(0), bytes.Join(c.answers, nil))
			m := &Msg{Bufs: [][]byte{nil, reply}, Big: order == binary.AppendByteOrder(binary.BigEndian), Reply: true}
			if index, rc := failedInBatch(m); index != c.index || rc != c.rc {
				t.Errorf("%d answers: request %d failed with %d, want %d with %d", len(c.answers), index, rc, c.index, c.rc)
			}
			var l Line
			m.Status = c.rc // what the whole failed with is not said again
			summarizeBatchReply(m, &l)
			assert.That(t, !strings.Contains(string(l.Text), "request"), "%q", l.Text)
			m.Status = 0
			for n := range reply {
				m.Bufs[1] = reply[:n]
				failedInBatch(m)
			}
		}
	}
}

// TestBatchSubject: the first request of a batch says what it is about.
func TestBatchSubject(t *testing.T) {
	order := binary.LittleEndian
	msg := build(order, uint32(5), make([]byte, 28), uint32(8), uint32(0), uint32(16), uint32(0), uint32(5), uint32(0),
		uint64(1), uint64(0x240000401), uint32(2), uint32(0), "name\x00\x00\x00\x00")
	header := build(order, uint32(0xbadf0001), uint32(1), uint32(len(msg)+8), make([]byte, 12), uint32(0xbade0001), uint16(1), uint16(0), msg)
	fid, name := batchSubject(&Msg{Bufs: [][]byte{nil, header}})
	assert.That(t, string(name) == "name" && string(AppendFIDBytes(nil, fid, false)) == "[0x240000401:0x2:0x0]", "%x %q", fid, name)
	for n := range header {
		batchSubject(&Msg{Bufs: [][]byte{nil, header[:n]}})
	}
}
