package track

import (
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes"
)

func TestNames(t *testing.T) {
	n := NewNames()
	reconnect := func(target string, h uint64) {
		m := &dissect.Message{Message: lnet.Message{Kind: lnet.Request}}
		rpc(xid, opcodes.OST_CONNECT)(m)
		handle(h)(m)
		connectTo(target, "uuid", 1)(m)
		n.Message(m)
	}
	reconnect("lustre-OST0000_UUID", 1)
	reconnect("lustre-OST0001_UUID", 2)
	reconnect("a target of more than forty characters, not of Lustre_UUID", 3)
	for h, want := range []string{"", "lustre-OST0000", "lustre-OST0001", ""} {
		if got := n.Target(uint64(h)); got != want {
			t.Errorf("handle %d is of %q, want %q", h, got, want)
		}
	}
	if got := n.AppendLock([]byte("lock "), 7); string(got) != "lock " {
		t.Errorf("an unknown lock is %q", got)
	}
	for h := range uint64(maxTargetHandles) {
		reconnect("lustre-MDT0000_UUID", 10+h)
	}
	if n.targets.Len() != maxTargetHandles || n.Target(1) != "" || n.Target(10) != "lustre-MDT0000" {
		t.Errorf("%d handles, the first is of %q", n.targets.Len(), n.Target(1))
	}
}
