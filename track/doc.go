// Package track holds what shows only over time: it puts request, early
// replies, bulk and reply of an RPC together, counts and measures RPCs, and
// follows the life of connections. It reads what the dissector's probe says of
// each message; trees are not needed.
//
//	rpcs := track.NewRPCs(track.Options{Done: func(r *track.RPC) { … }})
//	d := dissect.New(dissect.Options{Handle: func(m *dissect.Message) { rpcs.Message(m) }})
//
// Statistics and connections listen to an RPCs: their methods fit its hooks.
package track
