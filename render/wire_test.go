package render

import (
	"encoding/binary"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/lshark/lshark/capture"
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// The nodes of built conversations, as NIDs on tcp.
const (
	testClient = 2<<48 | 0x0a000001
	testServer = 2<<48 | 0x0a000002

	testXID = 0x6000000000040

	portalRequest = 12
	portalReply   = 10
	portalBulk    = 8
)

// talk builds the frames of a conversation between two nodes.
type talk struct {
	frames []capture.Frame
	seq    [2]uint32
	now    int64
}

// message builds a socklnd message with an LNet header and a payload.
func message(back bool, typ uint32, cmd func(b []byte), payload []byte) []byte {
	le := binary.LittleEndian
	b := make([]byte, 24+72, 24+72+len(payload))
	b[0] = 0xc1
	src, dst := uint64(testClient), uint64(testServer)
	if back {
		src, dst = dst, src
	}
	h := b[24:]
	le.PutUint64(h, dst)
	le.PutUint64(h[8:], src)
	le.PutUint32(h[16:], 12345)
	le.PutUint32(h[20:], 12345)
	le.PutUint32(h[24:], typ)
	le.PutUint32(h[28:], uint32(len(payload)))
	cmd(h[32:])
	return append(b, payload...)
}

// put builds an LNet PUT.
func put(back bool, portal, offset uint32, bits uint64, payload []byte) []byte {
	return message(back, 1, func(b []byte) {
		b[0] = byte(portal) // a handle for the acknowledgement
		binary.LittleEndian.PutUint64(b[16:], bits)
		binary.LittleEndian.PutUint32(b[32:], portal)
		binary.LittleEndian.PutUint32(b[36:], offset)
	}, payload)
}

// get builds an LNet GET and its answer.
func get(portal uint32, bits uint64, payload []byte) (ask, answer []byte) {
	ask = message(true, 2, func(b []byte) {
		b[0] = 7
		binary.LittleEndian.PutUint64(b[16:], bits)
		binary.LittleEndian.PutUint32(b[24:], portal)
		binary.LittleEndian.PutUint32(b[32:], uint32(len(payload)))
	}, nil)
	return ask, message(false, 3, func(b []byte) { b[0] = 7 }, payload)
}

// segmentMost is how many bytes one segment of a talk has at most.
const segmentMost = 32 << 10

// send sends bytes from the client, or back from the server. Of each segment
// snap bytes are captured, all when it is 0; the segment number lose is not
// captured at all.
func (t *talk) send(back bool, data []byte, snap, lose int) {
	for k := 0; len(data) > 0; k++ {
		n := min(segmentMost, len(data))
		if lose >= 0 && len(data) > 200 && n > len(data)/2 {
			n = len(data) / 2
		}
		f := t.segment(back, data[:n])
		if snap > 0 && snap < n {
			f.Data = f.Data[:40+snap]
		}
		if k != lose {
			t.frames = append(t.frames, f)
		}
		data = data[n:]
	}
}

func (t *talk) segment(back bool, data []byte) capture.Frame {
	be := binary.BigEndian
	from, to := 0, 1
	if back {
		from, to = 1, 0
	}
	b := make([]byte, 40, 40+len(data))
	b[0], b[8], b[9] = 0x45, 64, 6
	be.PutUint16(b[2:], uint16(40+len(data)))
	copy(b[12:], []byte{10, 0, 0, byte(1 + from)})
	copy(b[16:], []byte{10, 0, 0, byte(1 + to)})
	ports := [2]uint16{1021, 988}
	be.PutUint16(b[20:], ports[from])
	be.PutUint16(b[22:], ports[to])
	be.PutUint32(b[24:], t.seq[from])
	be.PutUint32(b[28:], t.seq[to])
	b[32], b[33] = 5<<4, 0x18
	t.seq[from] += uint32(len(data))
	t.now += 1e6
	return capture.Frame{Number: int64(len(t.frames) + 1), Time: 1e18 + t.now, Len: 40 + len(data), Data: append(b, data...),
		Link: capture.LinkRaw}
}

// eachSample calls handle for each message of the samples.
func eachSample(t testing.TB, handle func(*dissect.Message)) {
	t.Helper()
	paths, err := filepath.Glob("../pcaps/*.pcap*")
	if err != nil || len(paths) == 0 {
		t.Fatal("no samples: ", err)
	}
	for _, path := range paths {
		r, err := capture.Open([]string{path}, capture.Options{})
		if err != nil {
			t.Fatal(err)
		}
		d := dissect.New(dissect.Options{Handle: handle})
		var f capture.Frame
		for err = r.Next(&f); err == nil; err = r.Next(&f) {
			d.Frame(&f)
		}
		d.Close()
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
	}
}

// dialog is a request and what answers it.
type dialog struct {
	name            string
	request, answer []byte // lustre_msg, or the bulk data
	how             uint8  // see conversation
}

// How the answer of a dialog comes.
const (
	byReply = iota
	byBulkPut
	byBulkGet
	byEarlyReply
	ways

	withoutRequest = 1 << 2
	cutBySnaplen   = 1 << 3
	losingSegment  = 1 << 4
)

// conversation builds the frames of a dialog.
func conversation(how uint8, request, answer []byte) []capture.Frame {
	t := &talk{seq: [2]uint32{1000, 2000}}
	snap, lose := 0, -1
	if how&cutBySnaplen != 0 {
		snap = 96 + len(answer)/2
	}
	if how&losingSegment != 0 {
		lose = 1
	}
	if how&withoutRequest == 0 {
		t.send(false, put(false, portalRequest, 0, testXID, request), 0, -1)
	}
	switch how % ways {
	case byReply:
		t.send(true, put(true, portalReply, 192, testXID, answer), snap, lose)
	case byEarlyReply:
		t.send(true, put(true, portalReply, 0, testXID, answer), snap, lose)
	case byBulkPut:
		t.send(true, put(true, portalBulk, 0, testXID, answer), snap, lose)
	case byBulkGet:
		ask, data := get(portalBulk, testXID, answer)
		t.send(true, ask, 0, -1)
		t.send(false, data, snap, lose)
	}
	// A message behind it shows where the answer ends.
	t.send(true, put(true, portalReply, 192, testXID+64, nil), 0, -1)
	return t.frames
}

// sampleDialogs are one dialog a message format from the samples.
func sampleDialogs(t testing.TB) []dialog {
	var list []dialog
	seen := map[string]bool{}
	requests := map[uint64][]byte{}
	eachSample(t, func(m *dissect.Message) {
		how := uint8(byReply)
		switch m.Kind {
		case lnet.Request:
			requests[m.RPC.XID] = append([]byte(nil), m.Payload()...)
			return
		case lnet.Reply:
		case lnet.Bulk:
			how = byBulkPut
		case lnet.GetReply:
			how = byBulkGet
		default:
			return
		}
		name := m.Kind.String() + " " + opcodes.Opcodes.Name(uint64(m.RPC.Opcode))
		if v := m.RPC.Variant; v != nil {
			name += " " + v.Name
		}
		if q := requests[m.RPC.XID]; !seen[name] && q != nil {
			seen[name] = true
			// The bulk goes by the match bits of the xid alone.
			list = append(list, dialog{name, q, append([]byte(nil), m.Payload()...), how})
		}
	})
	return list
}

// tableDialogs are dialogs built from the declarations: every buffer of every
// variant is there, with bytes that are neither zero nor the same.
func tableDialogs() []dialog {
	var list []dialog
	for _, r := range opcodes.Protocol.RPCs {
		for _, v := range r.Variants {
			d := dialog{r.Name + " " + v.Name, builtMsg(r.Opcode, 4711, v.Request), builtMsg(r.Opcode, 4713, v.Reply), byReply}
			list = append(list, d)
			if b := v.Bulk; b != nil {
				d.how, d.answer = byBulkPut, pattern(4096)
				if b.Get {
					d.how = byBulkGet
				}
				list = append(list, d)
			}
		}
	}
	return list
}

func builtMsg(opc, typ uint32, fields []*schema.Field) []byte {
	le := binary.LittleEndian
	n := max(len(fields), 1)
	b := make([]byte, (32+4*n+7)&^7)
	le.PutUint32(b, uint32(n))
	le.PutUint32(b[8:], 0x0bd00bd3)
	for i := range n {
		size := 184
		if i > 0 {
			size = builtSize(fields[i])
		}
		le.PutUint32(b[32+4*i:], uint32(size))
		at := len(b)
		b = append(b, pattern((size+7)&^7)...)
		if i == 0 {
			clear(b[at:])
			le.PutUint32(b[at+8:], typ)
			le.PutUint32(b[at+16:], opc)
		}
	}
	return b
}

func builtSize(f *schema.Field) int {
	switch {
	case f.Size > 0:
		return f.Size
	case f.Type != nil:
		return f.Type.Size + 32
	case f.Elem != nil && f.Elem.Type != nil:
		return 3 * f.Elem.Type.Size
	}
	return 96
}

// pattern is bytes that stand for small numbers.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := 0; i < n; i += 4 {
		b[i] = byte(i/4 + 1)
	}
	return b
}

// bulk is what a request asks to be transferred: bytes with a meaning.
type bulk struct {
	dialog
	opcode  uint32
	variant *schema.Variant
}

// message is that of the part that completes the bulk.
func (b *bulk) message(data []byte) *dissect.Message {
	req := &dissect.RequestInfo{Opcode: b.opcode, Variant: b.variant, Data: b.request}
	m := &dissect.Message{Message: lnet.Message{Kind: lnet.Bulk, LNetOff: -1}, Req: req, Content: data}
	m.RPC = dissect.RPC{Opcode: b.opcode, HasOpcode: true, Variant: b.variant}
	return m
}

// contents are bulk data of all kinds: from the samples, and zeros and small
// numbers.
func contents(t testing.TB) []bulk {
	var list []bulk
	for _, r := range opcodes.Protocol.RPCs {
		for _, v := range r.Variants {
			if v.Bulk != nil && v.Bulk.Type != nil {
				b := bulk{dialog{name: r.Name + " " + v.Name, request: builtMsg(r.Opcode, 4711, v.Request)}, r.Opcode, v}
				for _, b.answer = range [][]byte{pattern(4096), make([]byte, 512), {}} {
					list = append(list, b)
				}
			}
		}
	}
	seen := map[*schema.Variant]int{}
	eachSample(t, func(m *dissect.Message) {
		if v := m.RPC.Variant; len(m.Content) > 0 && m.Req != nil && seen[v] < 3 {
			seen[v]++
			list = append(list, bulk{dialog{name: m.Kind.String() + " " + v.Name, request: append([]byte(nil), m.Req.Data...),
				answer: append([]byte(nil), m.Content...)}, m.RPC.Opcode, v})
		}
	})
	return list
}
