package track

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/fifo"
)

// ConnectPair is a connect request and its reply.
type ConnectPair struct {
	Request *dissect.Message // nil: not captured
	Reply   *dissect.Message // nil: not captured
	Before  int64            // time of the message before the first of the two
}

// Connects pairs connect requests with their replies, by xid and client.
type Connects struct {
	done    func(*ConnectPair)
	pending *fifo.Map[connectKey, *ConnectPair]
}

type connectKey struct {
	xid    uint64
	client lnet.NID
}

// What is kept of requests until their replies come.
const (
	maxPendingConnects = 4096
	maxConnectBytes    = 8 << 10 // of one; a real one has less than 1 KiB
)

// NewConnects makes a Connects. Each pair is given to done, which must not keep
// it: with the reply, or without one when too many requests are pending and at
// the end.
func NewConnects(done func(*ConnectPair)) *Connects {
	return &Connects{done: done, pending: fifo.NewMap[connectKey, *ConnectPair](maxPendingConnects)}
}

// Message takes the next message and the time of the one before it. It reports
// whether the message belongs to a connect, so that it is part of a pair. A
// request that is sent again while the first is pending is ignored.
func (c *Connects) Message(m *dissect.Message, before int64) bool {
	if !m.RPC.HasOpcode || !IsConnect(m.RPC.Opcode) {
		return false
	}
	switch m.Kind {
	case lnet.Request:
		c.request(m, before)
	case lnet.Reply:
		p, ok := c.pending.Delete(connectKey{m.RPC.XID, m.LNet.Dst})
		if !ok {
			p = &ConnectPair{Before: before}
		}
		p.Reply = m
		c.done(p)
	default:
		return false
	}
	return true
}

func (c *Connects) request(m *dissect.Message, before int64) {
	key := connectKey{m.RPC.XID, m.LNet.Src}
	if _, ok := c.pending.Get(key); ok {
		return
	}
	if len(m.Data) > maxConnectBytes {
		c.done(&ConnectPair{Request: m, Before: before})
		return
	}
	if _, oldest, evicted := c.pending.Put(key, &ConnectPair{Request: m.Clone(), Before: before}); evicted {
		c.done(oldest)
	}
}

// Close gives the requests without a reply to done, oldest first.
func (c *Connects) Close() {
	for _, p := range c.pending.All {
		c.done(p)
	}
	c.pending = fifo.NewMap[connectKey, *ConnectPair](maxPendingConnects)
}
