package follow_test

import (
	"fmt"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest"
)

// play passes a sample to a Follower.
func play(t testing.TB, f *follow.Follower, sample string) {
	t.Helper()
	d := dissect.New(dissect.Options{Handle: f.Message, TransferUpdate: f.TransferUpdate, Lost: f.Lost, TCPEvent: f.TCPEvent,
		Active: f.Active(), IBEvent: f.IBEvent})
	wiretest.Play(d, wiretest.ReadSample(t, "../../../pcaps/"+sample))
	f.Close()
}

// TestLocksAndConnections: who asks for locks alone gets connections with all their requests.
func TestLocksAndConnections(t *testing.T) {
	n := 0
	f := follow.New(follow.Options{}, follow.Hooks{Lock: func(*locks.Lock) { n++ }})
	play(t, f, "recovery.pcap.zst")
	requests := int64(0)
	for _, i := range f.Imports().List() {
		requests += i.Requests
	}
	if n == 0 || requests == 0 || f.RPCs() < requests {
		t.Errorf("%d locks, %d requests of connections in %d RPCs", n, requests, f.RPCs())
	}
}

// TestActive: what connections send is passed on if a hook gets it.
func TestActive(t *testing.T) {
	assert.That(t, follow.New(follow.Options{}, follow.Hooks{End: func() {}}).Active() == nil, "no hook gets what connections send")
	opened := 0
	play(t, follow.New(follow.Options{}, follow.Hooks{Active: func(m *lnet.Activity) {
		if m.SYN {
			opened++
		}
	}}), "mount.pcap")
	assert.That(t, opened > 0 && opened%2 == 0, "%d SYNs in either direction", opened)
}

// TestTooLate: a part that is asked for behind the first message would lack it.
func TestTooLate(t *testing.T) {
	f := follow.New(follow.Options{})
	play(t, f, "mount.pcap")
	defer func() {
		assert.That(t, recover() != nil, "no panic")
	}()
	f.Files()
}

func Example() {
	f := follow.New(follow.Options{}, follow.Hooks{Lock: func(l *locks.Lock) {
		if ns, ok := l.Waited(); ok && ns > 1e9 {
			fmt.Printf("%s waited for %d s\n", l.Client, ns/1e9)
		}
	}})
	d := dissect.New(dissect.Options{Handle: f.Message, TransferUpdate: f.TransferUpdate, Lost: f.Lost})
	// Pass frames to d.Frame here.
	d.Close()
	f.Close()
	// Output:
}
