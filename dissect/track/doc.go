// Package track follows what spans more than one message: RPCs, connections,
// statistics. It receives the messages of a capture one after the other, in the
// order of their frames, and reads the fields that the dissector's probe has found;
// it needs no trees.
//
// # RPCs
//
// A Pairing finds the request, early replies, bulk data and reply of each RPC, by
// xid and client. An RPC waits for its reply, then lingers for late messages; if it
// failed because the target was not there, its client may send it again for minutes.
// It is passed to the Done hook when it ends:
//
//	pairing := track.NewPairing(track.Options{Done: func(r *track.RPC) { … }})
//	d := dissect.New(dissect.Options{Handle: func(m *dissect.Message) { pairing.Message(m) }})
//
// pairing.go takes messages and finds the RPC of each, pairing_lifetime.go moves RPCs
// from one state to the next. rpc.go has the fields of an RPC, sighting.go when each capture
// point saw it, archive.go writes RPCs to bytes. A package that needs values of its own for
// each RPC keeps them in an Attached. lock_waits.go
// finds how long an LDLM_ENQUEUE waits for its lock after the reply.
//
// # Statistics and connections
//
// Stats and Imports follow RPCs: pass their methods Sent, Answered and Done as
// hooks in Options.
//
// Stats has a Row for each Key in each Interval. What a row counts is a field of
// Row and a line in Row.add; what rows can be grouped by is a Dimension (both in
// stats_row.go).
//
// Imports has an Import for each connection between a client and a target: its
// state, its ImportLog of transitions and events, how it was lost (Outage), and
// what client and server agreed on. import_connect.go decides on states;
// import_eviction.go decides whether a client was evicted, and which lock callbacks
// were pending; import_outage.go follows a connection from the first sign that it is
// lost until it is up again, and compares what was replayed with what should have
// been; import_carriers.go counts what TCP and InfiniBand did for it. Packages evictions and recovery add what spans connections.
// connection.go finds the connection of an RPC by its handle.
//
// # Names, connects and duplicates
//
// Names remembers targets and lock resources by their handles, Connects pairs
// connect requests with their replies, and Duplicates recognizes messages that
// two capture points have seen.
//
// # Bounds
//
// The state that is kept of an endless capture is bounded, by number and by age:
// each bound is a constant beside the type that it limits.
package track
