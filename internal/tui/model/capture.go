// Package model is what is known about the capture that the terminal program shows: its rows
// (package store), and what trackers found out about it, which is findings, connections,
// locks and files.
package model

import (
	"sync"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/rules"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/internal/tui/store"
)

// Capture takes the messages of a capture. Frame, Rows.AddMessage and what a scan.Observer has are for
// one goroutine. Others may use Rows and the other methods at the same time.
type Capture struct {
	Rows *store.Store

	mu     sync.Mutex // of all below
	engine *diagnose.Engine
	names  *track.Names
	ended  *fifo.Map[lockKey, *locks.Lock]
}

type lockKey struct {
	node   lnet.NID // that gave the lock this handle
	handle uint64
}

// maxLocks is the number of handles of locks that have ended which are kept.
const maxLocks = 1 << 17

// New makes a Capture, with the settings of its rows and of the engine that finds out the rest. The rules
// and hooks of the engine are its own.
func New(rows store.Options, o diagnose.Options) *Capture {
	c := &Capture{Rows: store.New(rows), names: track.NewNames(), ended: fifo.NewMap[lockKey, *locks.Lock](maxLocks)}
	o.Rules = rules.All()
	o.Hooks = []diagnose.Hooks{{
		Message: func(r *track.RPC, m *dissect.Message) { c.Rows.AddMessage(m, r) },
		Done:    func(r *track.RPC) { c.Rows.AddRPC(r) },
		Lock: func(l *locks.Lock) {
			for _, k := range keysOf(l) {
				fifo.Put(c.ended, k, l)
			}
		},
	}}
	c.engine = diagnose.New(o)
	c.engine.Files() // it follows them from now on
	return c
}

func keysOf(l *locks.Lock) (list []lockKey) {
	if l.Handle != 0 {
		list = append(list, lockKey{l.Server, l.Handle})
	}
	if l.ClientHandle != 0 {
		list = append(list, lockKey{l.Client, l.ClientHandle})
	}
	return list
}

// locked calls f while no other goroutine uses what the engine knows.
func (c *Capture) locked(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

// Frame takes the next frame. The error is the first one of Rows.
func (c *Capture) Frame(f *capture.Frame) error {
	c.Rows.AddFrame(f)
	return c.Rows.Err()
}

// Message takes the next message.
func (c *Capture) Message(m *dissect.Message) {
	c.locked(func() {
		c.names.Message(m)
		c.engine.Message(m)
	})
}

// TransferUpdate takes what TCP did for a message after it was handed out.
func (c *Capture) TransferUpdate(number int64, t *lnet.Transfer) {
	c.locked(func() { c.engine.TransferUpdate(number, t) })
}

// Lost takes a run of bytes that was not captured.
func (c *Capture) Lost(l *lnet.Loss) { c.locked(func() { c.engine.Lost(l) }) }

// TCPEvent takes a TCP segment that was sent again, came out of order, and so on.
func (c *Capture) TCPEvent(m *lnet.TCPEvent) { c.locked(func() { c.engine.TCPEvent(m) }) }

// Active returns the func that takes what connections send, nil if nothing needs it.
func (c *Capture) Active() func(*lnet.Activity) {
	active := c.engine.Active()
	if active == nil {
		return nil
	}
	return func(m *lnet.Activity) { c.locked(func() { active(m) }) }
}

// IBEvent takes a negative acknowledgement of InfiniBand.
func (c *Capture) IBEvent(r *lnet.IBEvent) { c.locked(func() { c.engine.IBEvent(r) }) }

// Line takes a line of a log.
func (c *Capture) Line(l *track.LogLine) { c.locked(func() { c.engine.Line(l) }) }

// Unseen takes an RPC that only logs have.
func (c *Capture) Unseen(r *track.RPC) { c.locked(func() { c.engine.Unseen(r) }) }

// Advance sets the time, in nanoseconds since the epoch.
func (c *Capture) Advance(now int64) { c.locked(func() { c.engine.Advance(now) }) }

// Close ends the capture.
func (c *Capture) Close() {
	c.locked(c.engine.Close)
	c.Rows.End()
}
