package wiretest_test

import (
	"fmt"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet/link"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
)

// A ping and its reply, on a connection with hellos.
func Example() {
	const xid = 64
	w := wiretest.Socklnd{Version: 3}
	request := wiretest.Msg(wiretest.Body(wiretest.TypeRequest, opcodes.OBD_PING))
	reply := wiretest.Msg(wiretest.Body(wiretest.TypeReply, opcodes.OBD_PING))

	c := wiretest.NewConn().Open().Greet(w)
	c.Send(false, w.PutAt(false, wiretest.RequestPortal, xid, 0, request))
	c.Send(true, w.PutAt(true, wiretest.ReplyPortal, xid, 192, reply))

	d := dissect.New(dissect.Options{Handle: func(m *dissect.Message) {
		fmt.Println("frame", m.Frame, m.Kind, "opcode", m.RPC.Opcode)
	}})
	wiretest.Play(d, c.Frames)
	// Output:
	// frame 4 hello opcode 0
	// frame 5 hello opcode 0
	// frame 6 request opcode 400
	// frame 7 reply opcode 400
}

// A PUT over RoCE whose payload is written to the memory of the receiver.
func ExampleQueuePairs() {
	const offered, accepted, key = 0x11, 0x22, 7
	var w wiretest.O2iblnd
	data := make([]byte, 2500)
	memory := wiretest.Fragment{Address: 0x1000, Size: uint32(len(data))}

	c := wiretest.NewQueuePairs().Connect(w.Connreq(), w.Connack())
	c.Send(false, w.PutReq(false, wiretest.Put, wiretest.BulkPortal, 64, 0, len(data), offered)).Ack(true)
	c.Send(true, w.PutAck(true, offered, accepted, key, memory)).Ack(false)
	c.Write(false, memory.Address, key, data)
	c.Send(false, w.Done(false, wiretest.O2PutDone, accepted, int32(len(data)))).Ack(true)

	var d link.Decoder
	for i := range c.Frames {
		if d.Decode(&c.Frames[i]) == link.InfiniBand {
			p := &d.Packet
			fmt.Printf("%s to %#x, PSN %d: %d bytes\n", opcodes.IBOpcode.Name(uint64(p.BTH.Opcode)), p.BTH.DestQP, p.BTH.PSN, p.Size)
		}
	}
	// Output:
	// UD_SEND_ONLY to 0x1, PSN 0: 256 bytes
	// UD_SEND_ONLY to 0x1, PSN 0: 256 bytes
	// UD_SEND_ONLY to 0x1, PSN 0: 256 bytes
	// RC_SEND_ONLY to 0x22, PSN 1000: 128 bytes
	// RC_ACKNOWLEDGE to 0x11, PSN 1000: 0 bytes
	// RC_SEND_ONLY to 0x11, PSN 500000: 84 bytes
	// RC_ACKNOWLEDGE to 0x22, PSN 500000: 0 bytes
	// RC_RDMA_WRITE_FIRST to 0x22, PSN 1001: 1024 bytes
	// RC_RDMA_WRITE_MIDDLE to 0x22, PSN 1002: 1024 bytes
	// RC_RDMA_WRITE_LAST to 0x22, PSN 1003: 452 bytes
	// RC_SEND_ONLY to 0x22, PSN 1004: 60 bytes
	// RC_ACKNOWLEDGE to 0x11, PSN 1004: 0 bytes
}
