package link

import (
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/wiretest"
)

// BenchmarkDecode decodes one frame of each kind. A packet of RDMA data should cost
// about as much as a TCP segment.
func BenchmarkDecode(b *testing.B) {
	from, to := roceEnds()
	headers := wiretest.BTH(wiretest.RCWriteMiddle, 0x22, 77, false)
	write := wiretest.InfiniBand(headers, make([]byte, 1024))
	first := wiretest.InfiniBand(wiretest.Join(wiretest.BTH(wiretest.RCWriteFirst, 0x22, 77, false), wiretest.RETH(1, 2, 3)), make([]byte, 1024))
	ack := wiretest.InfiniBand(wiretest.Join(wiretest.BTH(wiretest.RCAcknowledge, 0x22, 77, false), wiretest.AETH(0x1f, 7)), nil)
	segment := wiretest.TCP(&linkA, &linkB, ackFlag, 77, make([]byte, 1024))
	for _, c := range []struct {
		name string
		link capture.LinkType
		data []byte
		kind Kind
	}{
		{"TCP", capture.LinkEthernet, wiretest.Ethernet(wiretest.IP(linkA.Addr, linkB.Addr, protoTCP, segment)), TCP},
		{"RoCEv2 write middle", capture.LinkEthernet, wiretest.RoCEv2(from, to, write), InfiniBand},
		{"RoCEv2 write first", capture.LinkEthernet, wiretest.RoCEv2(from, to, first), InfiniBand},
		{"RoCEv2 acknowledge", capture.LinkEthernet, wiretest.RoCEv2(from, to, ack), InfiniBand},
		{"InfiniBand write middle", capture.LinkInfiniBand, wiretest.Join(wiretest.LRH(7, 9, false, len(write)), write), InfiniBand},
	} {
		b.Run(c.name, func(b *testing.B) {
			var d Decoder
			f := capture.Frame{Number: 1, Len: len(c.data), Data: c.data, Link: c.link}
			b.ReportAllocs()
			for b.Loop() {
				if d.Decode(&f) != c.kind {
					b.Fatal("not decoded")
				}
			}
		})
	}
}
