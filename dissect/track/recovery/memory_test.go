package recovery_test

import (
	"testing"

	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/dissect/track/recovery"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
)

// TestMemoryIsFlat plays restarts for a long time: what is held after a while is what
// is held later.
func TestMemoryIsFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	w := &wire{t: t, now: 1e18, xid: 1 << 50}
	passed := 0
	w.rpcs = follow.New(follow.Options{}, follow.Hooks{Recovery: func(*recovery.Recovery) { passed++ }})
	var clients []*mount
	for n := range byte(20) {
		clients = append(clients, w.mount(n+3, "lustre-OST0000").start(1))
	}
	instance := uint32(1)
	play := func(n int) {
		for range n {
			instance++
			for _, c := range clients {
				write := c.pending(opcodes.OST_WRITE)
				c.ask(opcodes.OST_READ, status(opcodes.ENOTCONN))
				c.recover(instance, 100, 3)()
				write()
				c.ask(opcodes.OST_READ)
			}
			w.now += 60 * second
		}
	}
	wiretest.Flat(t, play, 300, 600)
	if passed < 800 {
		t.Errorf("%d records", passed)
	}
}

// TestNoAllocations: an RPC costs no allocation while no target is lost.
func TestNoAllocations(t *testing.T) {
	w := newWire(t)
	c := w.mount(3, "lustre-OST0000").start(1)
	send := c.prepared(opcodes.OST_READ)
	for range 5000 {
		send()
	}
	wiretest.NoAllocations(t, 2000, send)
}
