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
// A Reader returns the lines that are about RPCs and connections as Events, by time. What
// is no line of a log is skipped and counted.
package debuglog
