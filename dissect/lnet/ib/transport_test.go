package ib

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest"
)

// counted returns n bytes that count up, so that each field has a value of its
// own.
func counted(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i + 1)
	}
	return b
}

func TestBTH(t *testing.T) {
	var d Transport
	assert.That(t, d.DecodeHeaders([]byte{0x07, 0xb0, 0xab, 0xcd, 0x80, 0x12, 0x34, 0x56, 0xff, 0x65, 0x43, 0x21}), "not decoded")
	assert.Equal(t, d.BTH, BTH{Opcode: 0x07, Pad: 3, DestQP: 0x123456, AckRequest: true, PSN: 0x654321})
}

// TestExtensions decodes each opcode with all of its extension headers.
func TestExtensions(t *testing.T) {
	order := binary.BigEndian
	for o := range 256 {
		opcode := Opcode(o)
		headers := wiretest.Join(wiretest.BTH(byte(o), 5, 6, false), counted(opcode.Extensions().Size()))
		packet := wiretest.InfiniBand(headers, []byte("payload"))
		var d Transport
		if !d.DecodeHeaders(packet) || d.Extensions != opcode.Extensions() || !bytes.Equal(d.Contents, packet[:len(headers)]) || d.BTH.Pad != 1 {
			t.Errorf("%#x: %+v", o, d)
		}
		at := BTHSize
		for set := d.Extensions; set != 0; set &= set - 1 {
			b := packet[at:]
			switch set & -set {
			case HasRETH:
				assert.Equal(t, d.RETH, RETH{order.Uint64(b), order.Uint32(b[8:]), order.Uint32(b[12:])}, opcode)
			case HasAETH:
				assert.Equal(t, d.Syndrome, Syndrome(b[0]), opcode)
			}
			at += (set & -set).Size()
		}
		for n := range headers {
			ok := d.DecodeHeaders(packet[:n])
			if ok != (n >= BTHSize) {
				t.Errorf("%#x: cut at %d: %v", o, n, ok)
			}
			if ok && (len(d.Contents) != n || d.Extensions == opcode.Extensions() || d.Extensions.Size() > n-BTHSize) {
				t.Errorf("%#x: cut at %d: %#x, %d bytes of headers", o, n, d.Extensions, len(d.Contents))
			}
		}
		wiretest.NoAllocations(t, 10, func() { d.DecodeHeaders(packet) })
	}
}

// TestRouting decodes the headers before a BTH.
func TestRouting(t *testing.T) {
	q := wiretest.NewQueuePairs()
	src, dst := q.A.Addr.As16(), q.B.Addr.As16()
	packet := wiretest.InfiniBand(wiretest.BTH(wiretest.RCWriteMiddle, 5, 6, false), []byte("payload"))
	grh := wiretest.GRH(src, dst, len(packet))
	lrh := wiretest.LRH(7, 9, true, len(grh)+len(packet))
	var l LRH
	var g GRH
	assert.That(t, l.Decode(lrh) && g.Decode(grh), "not decoded")
	assert.Equal(t, l, LRH{NextHeader: LNHGlobal, SLID: 7, DLID: 9, Length: LRHSize + GRHSize + len(packet)})
	assert.Equal(t, g, GRH{Version: 6, Length: uint16(len(packet)), NextHeader: NextHeaderTransport, SGID: src, DGID: dst})
	assert.That(t, !l.Decode(lrh[:LRHSize-1]) && !g.Decode(grh[:GRHSize-1]), "decoded though they are cut off")
}

func TestNAK(t *testing.T) {
	for s, want := range map[Syndrome]string{0x60: "PSN sequence error", 0x62: "remote access error", 0x7f: "NAK code 31"} {
		reason, refused := s.NAK()
		assert.That(t, refused && !s.ACK() && !s.RNR() && reason.String() == want, "%#x: %s", s, reason)
	}
	assert.That(t, Syndrome(0x1f).ACK() && Syndrome(0x20).RNR(), "ACK and RNR")
}

// FuzzTransport decodes a packet from its BTH on.
func FuzzTransport(f *testing.F) {
	for o := range 256 {
		headers := wiretest.Join(wiretest.BTH(byte(o), 5, 6, true), counted(Opcode(o).Extensions().Size()))
		f.Add(wiretest.InfiniBand(headers, []byte("payload")))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var d Transport
		whole := d.DecodeHeaders(data)
		if whole != (len(data) >= BTHSize) {
			t.Fatalf("%d bytes decoded: %v", len(data), whole)
		}
		if n := len(d.Contents); whole && (n > len(data) || n < BTHSize+d.Extensions.Size()) {
			t.Fatalf("headers %d bytes of %d, extension headers %#x", n, len(data), d.Extensions)
		}
	})
}
