package lnet

import (
	"bytes"
	"testing"

	"github.com/lshark/lshark/internal/wiretest"
)

// TestMessageFrames decodes each message of a sample again from the frames in its
// Frames alone.
func TestMessageFrames(t *testing.T) {
	frames := wiretest.ReadSample(t, "../../pcaps/mount.pcap")
	several := 0
	check := func(m *Message) {
		if m.Frames[len(m.Frames)-1] != m.Frame && len(m.Frames) == 1 {
			t.Errorf("message of frame %d has the frames %v", m.Frame, m.Frames)
		}
		if len(m.Frames) > 1 {
			several++
		}
		found := false
		s := NewDecoder(Options{Handle: func(again *Message) {
			found = found || again.Seq == m.Seq && again.Kind == m.Kind && bytes.Equal(again.Data[:m.PayloadOff], m.Data[:m.PayloadOff]) && again.Size == m.Size
		}})
		for _, n := range m.Frames {
			s.Frame(&frames[n-1])
		}
		if s.Close(); !found {
			t.Errorf("message of frame %d is not whole in frames %v", m.Frame, m.Frames)
		}
	}
	n := 0
	s := NewDecoder(Options{Frames: true, Handle: func(m *Message) {
		n++
		if m.LNetOff >= 0 {
			check(m)
		}
	}})
	for i := range frames {
		s.Frame(&frames[i])
	}
	s.Close()
	if n == 0 || several == 0 {
		t.Errorf("%d messages, %d in several frames: this proves nothing", n, several)
	}
}
