package logs

import (
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/fifo"
)

// taken is a request that a service thread has begun with.
type taken struct {
	xid  uint64 // 0: none
	from lnet.NID
	time int64 // by the clock of the capture
}

const (
	maxThreads = 1 << 12
	maxBetween = 4 // requests between two RPCs of the capture
)

// noteThread notes what a thread serves, by the event that was read last, and what it does so
// when it sends a request itself, which is c.
func (t *table) noteThread(l *log, c *call) {
	e := &l.next
	switch k := (debuglog.Thread{Log: l.number, PID: e.PID}); {
	case e.Kind == debuglog.Handling:
		fifo.Put(t.threads, k, taken{e.XID, e.Peer, e.Time + l.offset})
	case e.Kind == debuglog.Handled:
		fifo.Delete(t.threads, k)
	case e.Kind == debuglog.Sent && c != nil:
		c.serves, _ = fifo.Get(t.threads, k)
	}
}

// findCause looks for the request because of which a node sent one: its thread was serving a
// request that the capture does not have, which a thread of another node, whose log is given
// too, has sent.
func (x *Logs) findCause(c *call) {
	for range maxBetween {
		if c.serves.xid == 0 || x.waiting[c.serves.xid] > 0 {
			return
		}
		served := x.servedBy(c)
		if served == nil {
			return
		}
		if c = x.sender(served); c == nil {
			return
		}
		x.rpc.Cause = c.Call
	}
}

// servedBy returns the request that the thread was serving when it sent one, nil when an RPC of
// the capture was joined with it.
func (x *Logs) servedBy(sent *call) *call {
	for c := x.byXID[sent.serves.xid]; c != nil; c = c.older {
		if c.Served && c.Log == sent.Log && c.Peer == sent.serves.from && c.Handling == sent.serves.time {
			return c
		}
	}
	return nil
}

// sender returns what the log of the client has about a request that a server has served. It returns
// nil if no log, or more than one, has the request.
func (x *Logs) sender(served *call) (found *call) {
	for c := x.byXID[served.XID]; c != nil; c = c.older {
		if c.Sent != 0 && x.isOther(&served.Call, &c.Call) {
			if found != nil {
				return nil
			}
			found = c
		}
	}
	return found
}
