package records

import (
	"sync"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

// LogLine is a line of a log that is shown with a message.
type LogLine struct {
	*track.LogLine
	Text string // in words
}

// LogLines are the keys of lines of logs.
var LogLines = Table[*LogLine]{Record: "log line", Command: "ladder", Keys: sync.OnceValue(func() []*Key[*LogLine] {
	return []*Key[*LogLine]{
		text("file", "name of the log", func(l *LogLine) string { return l.File }),
		number("line", "number of the line", func(l *LogLine) int64 { return l.Line }),
		moment("time", "when it was written, by the clock of the capture", func(l *LogLine) int64 { return l.Time }),
		nid("node", "node that wrote it", func(l *LogLine) lnet.NID { return l.Node }),
		text("text", "what it says", func(l *LogLine) string { return l.Text }),
	}
})}

func logKeys() []*Key[*rpc] {
	client := func(get func(c *debuglog.Call) int64) func(r *rpc) int64 {
		return func(r *rpc) int64 {
			if r.Log == nil || !r.Log.HasClient {
				return 0
			}
			return get(&r.Log.Client)
		}
	}
	server := func(get func(c *debuglog.Call) int64) func(r *rpc) int64 {
		return func(r *rpc) int64 {
			if r.Log == nil || !r.Log.HasServer {
				return 0
			}
			return get(&r.Log.Server)
		}
	}
	handled := func(get func(c *debuglog.Call) int64) func(r *rpc) (int64, bool) {
		return func(r *rpc) (int64, bool) {
			if r.Log == nil || r.Log.Server.Handled == 0 {
				return 0, false
			}
			return get(&r.Log.Server), true
		}
	}
	hasServer := func(r *rpc) bool { return r.Log != nil && r.Log.HasServer }
	hasEnd := func(r *rpc) bool { return r.Log != nil && r.Log.Server.Handled != 0 }
	hasReply := func(r *rpc) bool { return hasEnd(r) && r.Log.Server.ReplyStatus != debuglog.NoReply }
	return []*Key[*rpc]{
		duration("service", "time that a thread of the server worked for it", handled(func(c *debuglog.Call) int64 { return c.Service })),
		duration("queue", "time that it waited for a thread of the server", handled((*debuglog.Call).Queue)),
		duration("total", "time from its arrival at the server until the thread was ready with it",
			handled(func(c *debuglog.Call) int64 { return c.Total })),
		moment("sent", "when the client gave it to LNet", client(func(c *debuglog.Call) int64 { return c.Sent })).known(),
		moment("completed", "when it was over for the client", client(func(c *debuglog.Call) int64 { return c.Completed })).known(),
		moment("arrived", "when it arrived at the server", server(func(c *debuglog.Call) int64 { return c.Arrived })).known(),
		moment("handling", "when a thread of the server began with it", server(func(c *debuglog.Call) int64 { return c.Handling })).known(),
		moment("handled", "when the thread was ready with it", server(func(c *debuglog.Call) int64 { return c.Handled })).known(),
		text("thread", "name of the thread of the server", func(r *rpc) string {
			if r.Log == nil || !r.Log.HasServer {
				return ""
			}
			return r.Log.Server.Process
		}),
		number("thread_pid", "number of the thread of the server", server(func(c *debuglog.Call) int64 { return int64(c.PID) })).known(),
		text("process", "name of the process or thread of the client that sent it", func(r *rpc) string {
			if r.Log == nil || !r.Log.HasClient {
				return ""
			}
			return r.Log.Client.Process
		}),
		number("process_pid", "number of that process", client(func(c *debuglog.Call) int64 { return int64(c.PID) })).known(),
		number("handlings", "how often the server handled it; the other values are of the last time",
			func(r *rpc) int { return r.Log.Handled }).when(hasServer),
		number("refs", "references to the export of the client at the server", func(r *rpc) int32 { return r.Log.Server.Refs }).when(hasServer),
		number("transno", "number of the transaction", func(r *rpc) uint64 { return r.Log.Server.Transno }).as(Decimal).when(hasEnd),
		{Name: "status", Type: Status, Names: opcodes.LdlmError, Doc: "status of the reply at the server; null: there was none yet",
			Get: func(r *rpc, v *Value) bool {
				if !hasReply(r) {
					return false
				}
				v.SetStatus(r.Log.Server.Opcode, r.Log.Server.ReplyStatus)
				return true
			}},
		moment("failed", "when the client last gave up waiting for the reply", client(func(c *debuglog.Call) int64 { return c.Failed })).known(),
		text("not_on_wire", "what the log of a node has and a capture taken on this node has not: request (the node has sent it) or reply "+
			"(the server has made it)",
			func(r *rpc) string {
				if r.Log == nil {
					return ""
				}
				return r.Log.NotOnWire.String()
			}),
	}
}
