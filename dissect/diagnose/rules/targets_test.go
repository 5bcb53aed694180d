package rules

import (
	"testing"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/locks"
)

// TestTargets checks what findings say of targets, by what is known of them. All
// connections to a target of which the index is known are about the same target.
func TestTargets(t *testing.T) {
	server := lnet.NID{Addr: [16]byte{192, 0, 2, 2}, Len: 4, Type: 2}
	client := lnet.NID{Addr: [16]byte{192, 0, 2, 3}, Len: 4, Type: 2}
	rpc := func(name, index string, handle uint64) *track.RPC {
		c := &track.Connection{Target: name, TargetIndex: index, Client: client, Server: server, Handle: handle}
		return &track.RPC{Identity: track.Identity{Client: client, Server: server, Connection: c, Handle: handle}}
	}
	for _, tt := range []struct {
		name, index string
		text        string
		subject     diagnose.Subject // of handle 1
		same        bool             // for another connection
	}{
		{"lustre-OST0001", "", "lustre-OST0001", diagnose.Subject{Target: "lustre-OST0001"}, true},
		{"", "OST0001", "OST0001 of 192.0.2.2@tcp", diagnose.Subject{TargetIndex: "OST0001", Server: server}, true},
		{"", "", "a target of 192.0.2.2@tcp", diagnose.Subject{Server: server, Detail: "0x1"}, false},
	} {
		first, second := targetOf(rpc(tt.name, tt.index, 1)), targetOf(rpc(tt.name, tt.index, 2))
		if first.String() != tt.text || first.subject() != tt.subject || (first == second) != tt.same {
			t.Errorf("%+v: %s, %+v, the same over another connection %t", tt, first, first.subject(), first == second)
		}
		if c := connectionTarget(rpc(tt.name, tt.index, 1).Connection); c != first {
			t.Errorf("%+v: by its connection it is %+v, by an RPC %+v", tt, c, first)
		}
		l := &locks.Lock{Client: client, Server: server, Connection: rpc(tt.name, tt.index, 1).Connection}
		want := tt.subject
		want.Client, want.Detail = client, ""
		if got := clientOfLock(l); got != want {
			t.Errorf("%+v: a lock is of %+v, want %+v", tt, got, want)
		}
	}
}
