package wiretest_test

import (
	"fmt"

	"github.com/lshark/lshark/dissect"
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
