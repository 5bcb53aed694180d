// Package dissect turns LNet messages into ptlrpc messages, and these into
// trees. Package lnet, below it, makes LNet messages of frames.
//
//	d := dissect.New(dissect.Options{Handle: func(m *dissect.Message) {
//		tree.Build(m)
//		for i := range tree.Nodes {
//			fmt.Println(tree.Nodes[i].Name())
//		}
//	}})
//	for r.Next(&frame) == nil {
//		d.Frame(&frame)
//	}
//	d.Close()
//
// There are two paths. The probe reads, at fixed places, what every message
// carries: NIDs, kind, opcode, xid, status (Message and its RPC). It is all
// that statistics and pairing need. A Tree holds every field, as the tables of
// package opcodes declare them, in one slice that is used again and again.
//
// Above LNet: dissector.go ties replies and bulk data to their requests
// (exchange.go), by match bits and NIDs, because an answer may come on another
// connection. ptlrpc.go takes messages apart, sections.go and walk*.go make
// trees of them.
//
// Captures are cut, thinned out, and made by strangers. Every length and count
// is bounded by the bytes that are there; what is not there is a node that says
// why.
package dissect
