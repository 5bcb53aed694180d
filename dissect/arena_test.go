package dissect

import (
	"fmt"
	"testing"
)

// TestCloneMsg: a clone refers to nothing that the dissector reuses, and ParseRPC
// returns its Msg again.
func TestCloneMsg(t *testing.T) {
	var kept []*Message
	var said []string
	eachMessage(t, "../pcaps/mount.pcap", func(m *Message) {
		if m.Msg != nil {
			kept, said = append(kept, m.Clone()), append(said, fmt.Sprintf("%q", m.Msg.Bufs))
		}
	})
	if len(kept) == 0 {
		t.Fatal("the sample shows nothing")
	}
	var tree Tree
	for i, m := range kept {
		if m.Msg != nil || m.Frames != nil {
			t.Fatalf("frame %d: the clone refers to the dissector's own", m.Frame)
		}
		if msg, _ := tree.ParseRPC(m); msg == nil || fmt.Sprintf("%q", msg.Bufs) != said[i] {
			t.Errorf("frame %d: %+v, the buffers were %s", m.Frame, msg, said[i])
		}
	}
}
