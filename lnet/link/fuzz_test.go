package link

import (
	"testing"

	"github.com/lshark/lshark/capture"
	"github.com/lshark/lshark/internal/wiretest"
)

var fuzzLinks = []capture.LinkType{capture.LinkNull, capture.LinkEthernet, capture.LinkRawBSD, capture.LinkRawOpenBSD, capture.LinkRaw, capture.LinkLoop,
	capture.LinkLinuxSLL, capture.LinkIPv4, capture.LinkIPv6, capture.LinkLinuxSLL2}

// FuzzLink decodes one frame of any link type.
func FuzzLink(f *testing.F) {
	for _, data := range [][]byte{wiretest.Ethernet(packet4()), wiretest.Ethernet(packet6()), vlan(wiretest.Ethernet(packet4()), etherQinQ),
		vxlanFrame(), greFrame(greKey|greSequence, etherTEB, 8, wiretest.Ethernet(packet4()))} {
		f.Add(uint8(1), 0, data)
	}
	for _, p := range append(fragments4(packet4(), 24), fragments6(16)...) {
		f.Add(uint8(4), 9000, p)
	}
	f.Fuzz(func(t *testing.T, linkType uint8, more int, data []byte) {
		var d Decoder
		fr := capture.Frame{Number: 1, Len: len(data) + max(0, more), Data: data, Link: fuzzLinks[int(linkType)%len(fuzzLinks)]}
		for range 2 {
			if d.Decode(&fr) == TCP && (d.Segment.Size < len(d.Segment.Data) || d.Segment.Size > maxSegment) {
				t.Fatalf("%d bytes of %d", len(d.Segment.Data), d.Segment.Size)
			}
		}
	})
}
