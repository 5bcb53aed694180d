// Package filter is the display filter. It compiles text such as
//
//	pb_opc == MDS_CONNECT && ocd_connect_flags.GRANT
//	lnet.src_nid == 192.0.2.0/24@tcp and pb_status == ENOENT
//	name contains "tmp" or pb_opc in {OST_READ, OST_WRITE}
//
// into functions that test messages ([Compile]) or RPCs ([CompileRPC]). The
// syntax is that of Wireshark.
//
// A name is one of these, in this order:
//   - a key of RPCs, with the prefix rpc. (package records); filters over messages
//     have only those that messages have too, such as rpc.latency
//   - a key of messages, such as kind or xid (package records)
//   - a field of the wire, or a path to one: mbo_size, mdt_body.mbo_size
//   - in filters over RPCs, a key of RPCs without its prefix
//   - one of these with a dot and the name of a flag or value: pb_flags.RESENT
//
// A comparison with a field that the message does not have is false, also with
// !=. not X is true for every message for which X is false. A bare name is true
// when the field exists, name.BIT when the flag is set. A field that occurs more
// than once matches when one of its values does.
//
// The key fid of messages has the FIDs in all their fields, so that fid == FID
// finds each message about it, and each RPC that has such a message.
//
// In a filter over RPCs, a comparison with a field of messages is true when it holds for one
// of the messages of the RPC.
//
// Some fields are read without a tree of the message ([Probes]): a filter that
// has no other fields does not build one. Testing a message or an RPC does not
// allocate memory.
package filter
