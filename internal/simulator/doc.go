// Package simulator is a small model of a Lustre cluster: what its nodes send is captured as
// frames, which lshark reads. Something goes wrong in it, and package diagnose has to find out
// what, from what some capture points saw. So it meets faults that nobody has captured.
//
//	s := simulator.Play(seed)
//	frames := s.Capture(s.View())
//	… // diagnose them, and compare with s.Faults
//
// The same seed gives the same frames: time is virtual, and the order of events and the random
// numbers depend on nothing else.
//
// Clients mount a file system of an MDS and up to two OSSes. Processes of jobs create, write,
// read and list files, wait for their RPCs one by one, and compete for locks. From the bottom
// to the top there are
//
//   - the clock (clock.go) and nodes that may freeze, die and start again (host.go);
//   - paths that lose, delay and reorder frames (path.go), TCP with retransmission and
//     keep-alive probes (tcp.go), socklnd and LNet (lnd.go);
//   - RPCs with their deadlines, early replies and resends (rpc.go, operations.go), connections
//     of clients with pings, reconnects, recovery and evictions (client.go), targets, threads and
//     storage (server.go), locks and callbacks (locks.go);
//   - jobs (jobs.go), the cluster that they work on (cluster.go), faults (faults.go), and scenes
//     with their capture points (scene.go).
//
// It is as real as diagnose needs: messages have the buffers that summaries read, with the numbers
// of Lustre 2.17 on a timeout of 20 s; data is the same everywhere; congestion control is slow
// start and a halved window.
package simulator
