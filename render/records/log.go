package records

import (
	"slices"
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
		TextKey("file", "name of the log", func(l *LogLine) string { return l.File }),
		NumberKey("line", "number of the line", func(l *LogLine) int64 { return l.Line }),
		TimeKey("time", "when it was written, by the clock of the capture", func(l *LogLine) int64 { return l.Time }),
		NIDKey("node", "node that wrote it", func(l *LogLine) lnet.NID { return l.Node }),
		TextKey("text", "what it says", func(l *LogLine) string { return l.Text }),
	}
})}

func logKeys() []*Key[*rpc] {
	type call = debuglog.Call
	client := func(r *rpc) *call {
		if r.Log == nil || !r.Log.HasClient {
			return nil
		}
		return &r.Log.Client
	}
	server := func(r *rpc) *call {
		if r.Log == nil || !r.Log.HasServer {
			return nil
		}
		return &r.Log.Server
	}
	handled := func(r *rpc) *call {
		if r.Log == nil || r.Log.Server.Handled == 0 {
			return nil
		}
		return &r.Log.Server
	}
	return slices.Concat(inside(handled,
		NumberKey("service", "time that a thread of the server worked for it", func(c *call) int64 { return c.Service }).as(Duration),
		NumberKey("queue", "time that it waited for a thread of the server", (*call).Queue).as(Duration),
		NumberKey("total", "time from its arrival at the server until the thread was ready with it",
			func(c *call) int64 { return c.Total }).as(Duration),
	), inside(client,
		TimeKey("sent", "when the client gave it to LNet", func(c *call) int64 { return c.Sent }).known(),
		TimeKey("completed", "when it was over for the client", func(c *call) int64 { return c.Completed }).known(),
	), inside(server,
		TimeKey("arrived", "when it arrived at the server", func(c *call) int64 { return c.Arrived }).known(),
		TimeKey("handling", "when a thread of the server began with it", func(c *call) int64 { return c.Handling }).known(),
		TimeKey("handled", "when the thread was ready with it", func(c *call) int64 { return c.Handled }).known(),
		TextKey("thread", "name of the thread of the server", func(c *call) string { return c.Process }),
		NumberKey("thread_pid", "number of the thread of the server", func(c *call) int { return int(c.PID) }).known(),
	), inside(client,
		TextKey("process", "name of the process or thread of the client that sent it", func(c *call) string { return c.Process }),
		NumberKey("process_pid", "number of that process", func(c *call) int { return int(c.PID) }).known(),
	), []*Key[*rpc]{
		NumberKey("handlings", "how often the server handled it; the other values are of the last time",
			func(r *rpc) int { return r.Log.Handled }).when(func(r *rpc) bool { return server(r) != nil }),
	}, inside(server,
		NumberKey("refs", "references to the export of the client at the server", func(c *call) int32 { return c.Refs }),
	), inside(handled,
		NumberKey("transno", "number of the transaction", func(c *call) uint64 { return c.Transno }).as(Decimal),
		&Key[*call]{Name: "status", Type: Status, Names: opcodes.LdlmError, Doc: "status of the reply at the server; null: there was none yet",
			Get: func(c *call, _ int, v *Value) bool {
				v.SetStatus(c.Opcode, c.ReplyStatus)
				return c.ReplyStatus != debuglog.NoReply
			}},
	), inside(client,
		TimeKey("failed", "when the client last gave up waiting for the reply", func(c *call) int64 { return c.Failed }).known(),
	), []*Key[*rpc]{
		TextKey("not_on_wire", "what the log of a node has and a capture taken on this node has not: request (the node has sent it) or reply "+
			"(the server has made it)",
			func(r *rpc) string {
				if r.Log == nil {
					return ""
				}
				return r.Log.NotOnWire.String()
			}),
	})
}
