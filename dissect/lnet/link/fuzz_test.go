package link

import (
	"slices"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet/ib"
	"github.com/lshark/lshark/internal/wiretest"
)

var fuzzLinks = []capture.LinkType{capture.LinkNull, capture.LinkEthernet, capture.LinkRawBSD, capture.LinkRawOpenBSD, capture.LinkRaw, capture.LinkLoop,
	capture.LinkLinuxSLL, capture.LinkIPv4, capture.LinkIPv6, capture.LinkLinuxSLL2, capture.LinkInfiniBand, capture.LinkERF}

// FuzzLink decodes one frame of any link type.
func FuzzLink(f *testing.F) {
	for _, data := range [][]byte{wiretest.Ethernet(packet4()), wiretest.Ethernet(packet6()), vlan(wiretest.Ethernet(packet4()), etherQinQ),
		vxlanFrame(), greFrame(greKey|greSequence, etherTEB, 8, wiretest.Ethernet(packet4()))} {
		f.Add(uint8(1), 0, data)
	}
	for _, p := range append(fragments4(packet4(), 24), fragments6(16)...) {
		f.Add(uint8(4), 9000, p)
	}
	for _, c := range roceFrames() {
		f.Add(uint8(slices.Index(fuzzLinks, c.link)), 0, c.data)
	}
	for _, c := range wiretest.NewQueuePairs().Connect(nil, nil).Send(false, make([]byte, 3000)).Ack(true).Frames {
		f.Add(uint8(1), 0, c.Data)
	}
	f.Fuzz(func(t *testing.T, linkType uint8, more int, data []byte) {
		var d Decoder
		fr := capture.Frame{Number: 1, Len: len(data) + max(0, more), Data: data, Link: fuzzLinks[int(linkType)%len(fuzzLinks)]}
		for range 2 {
			switch d.Decode(&fr) {
			case TCP:
				if g := &d.Segment; g.Size < len(g.Data) || g.Size > maxSegment {
					t.Fatalf("%d bytes of %d", len(g.Data), g.Size)
				}
			case InfiniBand:
				checkPacket(t, &d.Packet)
			case None:
			}
		}
	})
}

// checkPacket checks what holds for all packets.
func checkPacket(t *testing.T, g *Packet) {
	t.Helper()
	all := ib.BTHSize + g.BTH.Opcode.Extensions().Size()
	switch {
	case g.Size < len(g.Data) || g.Size > maxPayload:
		t.Fatalf("%d bytes of %d", len(g.Data), g.Size)
	case len(g.Headers) < ib.BTHSize || len(g.Headers) > all:
		t.Fatalf("%d bytes of headers, %#x has %d", len(g.Headers), g.BTH.Opcode, all)
	case len(g.Headers) < all && len(g.Data) > 0:
		t.Fatalf("a payload of %d bytes behind headers that are cut off", len(g.Data))
	case (g.Extensions == g.BTH.Opcode.Extensions()) != (len(g.Headers) == all):
		t.Fatalf("extension headers %#x in %d bytes", g.Extensions, len(g.Headers))
	case g.BTH.PSN > 1<<24-1 || g.BTH.DestQP > 1<<24-1:
		t.Fatalf("%+v", g.BTH)
	}
}
