package dissect

import (
	"fmt"
	"testing"

	"github.com/lshark/lshark/dissect/lnet"
)

// TestCloneMsg: a clone refers to nothing that the dissector reuses, and has the
// same Msg as ParseRPC returns.
func TestCloneMsg(t *testing.T) {
	var kept []*Message
	var want []string
	eachMessage(t, "../pcaps/mount.pcap", func(m *Message) {
		if m.Msg != nil {
			kept, want = append(kept, m.Clone()), append(want, fmt.Sprintf("%q", m.Msg.Bufs))
		}
	})
	if len(kept) == 0 {
		t.Fatal("the sample shows nothing")
	}
	var tree Tree
	for i, m := range kept {
		if m.Frames != nil {
			t.Fatalf("frame %d: the clone refers to the dissector's own", m.Frame)
		}
		if got := fmt.Sprintf("%q", m.Msg.Bufs); got != want[i] {
			t.Errorf("frame %d: the clone has %s, want %s", m.Frame, got, want[i])
		}
		if msg, _ := tree.ParseRPC(m); msg == nil || fmt.Sprintf("%q", msg.Bufs) != want[i] {
			t.Errorf("frame %d: %+v, want %s", m.Frame, msg, want[i])
		}
	}
}

// TestArenaSetup overwrites the UUID in the set-up of a security context after the
// message was copied.
func TestArenaSetup(t *testing.T) {
	target := []byte("lustre-OST0000_UUID")
	var m Message
	m.RPC.GSS.Setup.Target = target
	c := m.Clone()
	clear(target)
	if got := string(c.RPC.GSS.Setup.Target); got != "lustre-OST0000_UUID" {
		t.Errorf("the copy is for %q", got)
	}
}

// TestArenaIB overwrites a message that came over InfiniBand after it was copied.
func TestArenaIB(t *testing.T) {
	headers, write, request, done := []byte("BTH"), []byte("RETH"), []byte("PUT_REQ"), []byte("PUT_DONE")
	var m Message
	m.IB = &lnet.IB{SrcQP: 17, Headers: headers, Parts: []lnet.IBPart{{Data: request}, {Data: done}}}
	m.IB.Writes.Headers = write
	var a Arena
	a.Add(&m)
	cloned := m.Message.Clone()
	for _, b := range [][]byte{headers, write, request, done} {
		clear(b)
	}
	m.IB.SrcQP, m.IB.Parts[0] = 18, lnet.IBPart{Back: true}
	for _, c := range []*lnet.IB{a.At(0).IB, cloned.IB} {
		if got := fmt.Sprintf("%d %s %s %s %s", c.SrcQP, c.Headers, c.Writes.Headers, c.Parts[0].Data, c.Parts[1].Data); got != "17 BTH RETH PUT_REQ PUT_DONE" || c.Parts[0].Back {
			t.Errorf("the copy is %s, %+v", got, c.Parts[0])
		}
	}
}
