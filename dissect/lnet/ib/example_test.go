package ib_test

import (
	"fmt"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/lshark/lshark/dissect/lnet/ib"
	"github.com/lshark/lshark/internal/wiretest"
)

// The payload of a UDP packet to port 4791 is decoded by a plain call.
func Example() {
	headers := wiretest.Join(wiretest.BTH(wiretest.RCWriteOnly, 0x22, 77, true), wiretest.RETH(0x7f0000001000, 0x1234, 5))
	datagram := wiretest.InfiniBand(headers, []byte("hello"))

	var t ib.Transport
	if err := t.DecodeFromBytes(datagram, gopacket.NilDecodeFeedback); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s to queue pair %#x, PSN %d\n", t.BTH.Opcode, t.BTH.DestQP, t.BTH.PSN)
	if t.Extensions.Has(ib.HasRETH) {
		fmt.Printf("%d bytes to %#x with key %#x: %q\n", t.RETH.Length, t.RETH.VA, t.RETH.RKey, t.Payload)
	}
	// Output:
	// RC_RDMA_WRITE_ONLY to queue pair 0x22, PSN 77
	// 5 bytes to 0x7f0000001000 with key 0x1234: "hello"
}

// After Register, the packets of gopacket have the layers too.
func ExampleRegister() {
	ib.Register()
	connection := wiretest.NewQueuePairs().Connect([]byte("private data"), nil)

	packet := gopacket.NewPacket(connection.Frames[0].Data, layers.LayerTypeEthernet, gopacket.NoCopy)
	for _, layer := range packet.Layers() {
		fmt.Println(layer.LayerType())
	}
	if cm, ok := packet.Layer(ib.LayerTypeCM).(*ib.CM); ok {
		fmt.Printf("%s of queue pair %#x to port %d\n", cm.Type, cm.Req.QP, cm.Req.ServiceID.Port())
	}
	// Output:
	// Ethernet
	// IPv4
	// UDP
	// BTH
	// DETH
	// MAD
	// InfiniBandCM
	// Payload
	// REQ of queue pair 0x11 to port 987
}
