// Package debuglog reads the debug log of a node's kernel, as lctl dk and lctl debug_file
// print it: one line per message, of which those of ptlrpc say when a request was sent, how
// long it waited for a thread, and how long the thread worked.
//
//	r, err := debuglog.Open("oss.dk.gz")
//	…
//	for e := new(debuglog.Event); r.Next(e) == nil; {
//		if e.Kind == debuglog.Handled {
//			fmt.Println(e.XID, e.Process, e.Service)
//		}
//	}
//
// A Reader returns the lines that are about RPCs and connections as Events, by time; with its
// fields Locks and Mentions also those about locks, and those that only name an xid. What is
// no line of a log is skipped and counted. [Detect] tells a log from other files, and
// [Line.Parse] takes one line apart without looking at what it says.
//
// An Event is about an RPC (Sent to Note), a connection (ImportState to ThreadOver) or a lock
// (LockAsked to LockFreed): its Kind says which of its fields are set. [NewCall] and
// [Call.Take] put the Events of an RPC on one node together: when it was sent, how long it
// waited for a thread, how long the thread worked. [RPC] is what the logs of both its nodes
// have; package track/logs joins them, with one clock.
package debuglog
