// Package dissect reads LNet messages: ptlrpc requests and replies, bulk data, LNet
// pings and selftests. Package lnet, below it, makes LNet messages of frames.
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
// There are two paths. The probe reads what every message has at fixed offsets: NIDs,
// kind, opcode, xid, status (Message and its RPC). Pairing and statistics need no
// more. A Tree holds every field, by the tables of package opcodes, in one slice that
// is reused for each message.
//
// A Dissector finds the request of a reply, of bulk data and of an ACK (pairing.go), by
// match bits and NIDs, as a reply may come on another connection. It hands messages out
// in the order of their frames (late.go); "Delays" in the comment of package lnet
// says when it has to wait. ptlrpc.go parses the buffers of a lustre_msg. A tree
// consists of sections (sections.go), whose fields the walker reads by their
// declarations (walk_fields.go, walk_record.go, walk_values.go) and adds as nodes
// (walk_nodes.go).
//
// Captures are truncated, incomplete and untrusted. Every length and count is limited
// by the captured bytes; missing bytes are a node with the reason.
package dissect
