package ib

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/lshark/lshark/internal/must"
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
	data := []byte{0x0a, 0xb0, 0xab, 0xcd, 0x80, 0x12, 0x34, 0x56, 0xff, 0x65, 0x43, 0x21}
	var h BTH
	must.NoError(t, h.DecodeFromBytes(data, gopacket.NilDecodeFeedback))
	h.BaseLayer = layers.BaseLayer{}
	want := "{BaseLayer:{Contents:[] Payload:[]} Opcode:RC_RDMA_WRITE_ONLY Solicited:true Migrated:false Pad:3 Version:0 PKey:43981 FECN:true BECN:false DestQP:1193046 AckRequest:true PSN:6636321}"
	if got := fmt.Sprintf("%+v", h); got != want {
		t.Errorf("%s", got)
	}
}

// TestExtensions decodes each opcode with all of its extension headers.
func TestExtensions(t *testing.T) {
	order := binary.BigEndian
	for o := range 256 {
		opcode := Opcode(o)
		headers := wiretest.Join(wiretest.BTH(byte(o), 5, 6, false), counted(opcode.Extensions().Size()))
		payload := []byte("payload")
		packet := wiretest.InfiniBand(headers, payload)
		var d Transport
		must.NoError(t, d.DecodeFromBytes(packet, gopacket.NilDecodeFeedback))
		if d.Extensions != opcode.Extensions() || !bytes.Equal(d.Payload, payload) || !bytes.Equal(d.Contents, packet[:len(headers)]) || d.BTH.Pad != 1 {
			t.Errorf("%s: %+v", opcode, d)
		}
		at := BTHSize
		for set := d.Extensions; set != 0; set &= set - 1 {
			b := packet[at:]
			ok := false
			switch set & -set {
			case HasRDETH:
				ok = d.RDETH.EEContext == order.Uint32(b)&0xffffff
			case HasDETH:
				ok = d.DETH.QKey == order.Uint32(b) && d.DETH.SrcQP == order.Uint32(b[4:])&0xffffff
			case HasXRCETH:
				ok = d.XRCETH.SRQ == order.Uint32(b)&0xffffff
			case HasFETH:
				ok = d.FETH.Placement == b[3]&15 && d.FETH.Selectivity == b[3]>>4&3
			case HasRETH:
				ok = d.RETH.VA == order.Uint64(b) && d.RETH.RKey == order.Uint32(b[8:]) && d.RETH.Length == order.Uint32(b[12:])
			case HasAtomicETH:
				ok = d.AtomicETH.VA == order.Uint64(b) && d.AtomicETH.RKey == order.Uint32(b[8:]) && d.AtomicETH.Swap == order.Uint64(b[12:]) && d.AtomicETH.Compare == order.Uint64(b[20:])
			case HasAETH:
				ok = uint8(d.AETH.Syndrome) == b[0] && d.AETH.MSN == order.Uint32(b)&0xffffff
			case HasAtomicAckETH:
				ok = d.AtomicAckETH.Original == order.Uint64(b)
			case HasImmDt:
				ok = d.ImmDt.Immediate == order.Uint32(b)
			case HasIETH:
				ok = d.IETH.RKey == order.Uint32(b)
			}
			if !ok {
				t.Errorf("%s: extension header %#x is %+v", opcode, set&-set, d)
			}
			at += (set & -set).Size()
		}
		for n := range headers {
			ok := d.DecodeHeaders(packet[:n])
			if ok != (n >= BTHSize) {
				t.Errorf("%s: cut at %d: %v", opcode, n, ok)
			}
			if ok && (len(d.Contents) != n || d.Extensions == opcode.Extensions() || d.Extensions.Size() > n-BTHSize) {
				t.Errorf("%s: cut at %d: %#x, %d bytes of headers", opcode, n, d.Extensions, len(d.Contents))
			}
		}
	}
}

// TestParser runs the layers in gopacket's parser, from the link to the MAD.
func TestParser(t *testing.T) {
	q := wiretest.NewQueuePairs().Connect(nil, nil)
	packet := q.Frames[0].Data[udpHeaders:]
	src, dst := q.A.Addr.As16(), q.B.Addr.As16()
	grh := wiretest.Join(wiretest.GRH(src, dst, len(packet)), packet)
	var l LRH
	var g GRH
	var tr Transport
	var m MAD
	var rest gopacket.Payload
	parser := gopacket.NewDecodingLayerParser(LayerTypeLRH, &l, &g, &tr, &m, &rest)
	for name, data := range map[string][]byte{
		"local":  wiretest.Join(wiretest.LRH(7, 9, false, len(packet)), packet),
		"global": wiretest.Join(wiretest.LRH(7, 9, true, len(grh)), grh),
	} {
		var decoded []gopacket.LayerType
		if err := parser.DecodeLayers(append(data, 0xdd, 0xdd), &decoded); err != nil || parser.Truncated {
			t.Errorf("%s: %v, truncated: %v", name, err, parser.Truncated)
		}
		want := []gopacket.LayerType{LayerTypeLRH, LayerTypeGRH, LayerTypeTransport, LayerTypeMAD, gopacket.LayerTypePayload}
		if name == "local" {
			want = append(want[:1], want[2:]...)
		}
		if fmt.Sprint(decoded) != fmt.Sprint(want) || l.SLID != 7 || l.DLID != 9 || l.Length != len(data) || len(rest) != 232 || m.Class != ClassCM {
			t.Errorf("%s: %v, %+v, %d bytes in the MAD", name, decoded, l, len(rest))
		}
	}
	if g.SGID != src || g.DGID != dst || int(g.Length) != len(packet) {
		t.Errorf("%+v", g)
	}
}

func TestTransportAllocations(t *testing.T) {
	for _, opcode := range []byte{0x07, 0x0a, 0x12, 0x64, 0xab} {
		packet := wiretest.InfiniBand(wiretest.Join(wiretest.BTH(opcode, 5, 6, false), counted(Opcode(opcode).Extensions().Size())), counted(100))
		var d Transport
		if n := testing.AllocsPerRun(100, func() {
			if !d.DecodeHeaders(packet) || d.DecodeFromBytes(packet, gopacket.NilDecodeFeedback) != nil {
				t.Fatal("not decoded")
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", Opcode(opcode), n)
		}
	}
}
