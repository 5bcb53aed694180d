package logs

import (
	"testing"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/opcodes"
)

// TestLinesElsewhere checks which lines of a client are about connections that a capture does not have: a server that only asks
// for locks in it is no captured client, and a captured client may have connections to other servers.
func TestLinesElsewhere(t *testing.T) {
	nid := func(last byte) lnet.NID { return lnet.NID{Addr: [16]byte{192, 0, 2, last}, Len: 4, Type: 2} }
	mds, oss, client := nid(1), nid(2), nid(3)
	x := New(nil)
	x.Elsewhere = true
	for _, at := range []int64{1, 100} {
		x.wire.add(0, opcodes.LDLM_BL_CALLBACK, mds, client, at)
		x.wire.add(0, opcodes.OST_WRITE, client, oss, at)
	}
	for _, tt := range []struct {
		node, peer lnet.NID
		want       bool
	}{
		{mds, lnet.NID{}, true},
		{mds, oss, true},
		{client, lnet.NID{}, false},
		{client, oss, false},
		{client, mds, true},
	} {
		line := track.LogLine{Node: tt.node, Event: debuglog.Event{Kind: debuglog.ImportState, Time: 50, Peer: tt.peer}}
		assert.Equal(t, x.IsElsewhere(&line), tt.want, tt.node, tt.peer)
	}
}

// TestCoversBesideLoss: what one capture point lacks hides nothing of the node at another one.
func TestCoversBesideLoss(t *testing.T) {
	nid := func(last byte) lnet.NID { return lnet.NID{Addr: [16]byte{192, 0, 2, last}, Len: 4, Type: 2} }
	mds, oss, client := nid(1), nid(2), nid(3)
	x := New(nil)
	for source, node := range []lnet.NID{client, oss} {
		for i, peer := range []lnet.NID{mds, nid(4)} {
			x.wire.add(source, opcodes.OBD_PING, node, peer, []int64{1, 100e9}[i])
		}
	}
	l := &log{clock: clock{self: nids{client}, compared: true}}
	c := &debuglog.Call{Peer: mds, Sent: 50e9}
	x.Lost(&lnet.Loss{Source: 1, From: 49e9, To: 51e9})
	assert.That(t, x.wire.covers(l, c), "a loss elsewhere")
	x.Lost(&lnet.Loss{Source: 0, From: 49e9, To: 51e9})
	assert.That(t, !x.wire.covers(l, c), "a loss at the node")
}
