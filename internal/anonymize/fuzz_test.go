package anonymize

import (
	"bytes"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/lnet/ib"
	"github.com/lshark/lshark/dissect/lnet/link"
	"github.com/lshark/lshark/internal/anonymize/values"
	"github.com/lshark/lshark/internal/wiretest"
)

// FuzzHeaders compares the payloads that are rewritten with those that package link finds,
// and checks that no other byte of a frame is beyond what was written.
func FuzzHeaders(f *testing.F) {
	links := []capture.LinkType{capture.LinkEthernet, capture.LinkRaw, capture.LinkLinuxSLL, capture.LinkLinuxSLL2,
		capture.LinkNull, capture.LinkERF, capture.LinkInfiniBand}
	for _, path := range wiretest.Samples(f) {
		for i, frame := range wiretest.ReadSample(f, path) {
			if i < 8 {
				f.Add(uint8(frame.Link), uint16(frame.Len-len(frame.Data)), frame.Data)
			}
		}
	}
	for _, frame := range append(testFrames(), infiniBandFrames()...) {
		f.Add(uint8(frame.link), uint16(0), frame.data)
		f.Add(uint8(frame.link), uint16(7), frame.data[:len(frame.data)-min(7, len(frame.data))])
	}
	f.Fuzz(func(t *testing.T, typ uint8, cut uint16, data []byte) {
		for _, l := range links {
			if uint8(l) == typ {
				checkHeaders(t, &capture.Frame{Number: 1, Link: l, Data: data, Len: len(data) + int(cut)})
			}
		}
	})
}

// checkHeaders rewrites the headers of a frame and compares its payload with that of package
// link.
func checkHeaders(t *testing.T, f *capture.Frame) {
	h := newHeaders(values.New([]byte("key")), []uint16{lnet.DefaultPort})
	out := make([]byte, len(f.Data))
	h.rewrite(f, out)
	if h.kept > len(out) || len(bytes.Trim(out[h.kept:], "\x00")) > 0 {
		t.Fatalf("%d bytes are kept of % x", h.kept, out)
	}
	for i := len(h.sums) - 1; i >= 0; i-- {
		h.sums[i].set(out)
	}
	p := &h.payload
	var payload []byte
	if p.size > 0 {
		payload = f.Data[p.off : p.off+p.size]
	}
	var d link.Decoder
	switch d.Decode(f) {
	case link.TCP:
		g := &d.Segment
		isLNet := g.Flow.SrcPort == lnet.DefaultPort || g.Flow.DstPort == lnet.DefaultPort
		switch {
		case !isLNet || len(g.Data) == 0 || g.Flags&tcpRST != 0:
		case !p.tcp || !bytes.Equal(payload, g.Data) || p.key.flow != g.Flow:
			t.Fatalf("payload % x of %v, want % x of %v", payload, p.key.flow, g.Data, g.Flow)
		}
	case link.InfiniBand:
		g := &d.Packet
		operation := g.BTH.Opcode.Operation()
		if operation != ib.Send && operation != ib.Write || g.BTH.Opcode.Service() == ib.UD || len(g.Data) == 0 {
			return
		}
		if p.tcp || !bytes.Equal(payload, g.Data) || p.key.flow.Dst != g.Dst || p.key.number != infiniBandBlock(g.BTH.DestQP, g.BTH.PSN) {
			t.Fatalf("payload % x of %v, want % x", payload, p.key, g.Data)
		}
	case link.None:
	}
}
