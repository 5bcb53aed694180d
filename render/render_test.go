package render

import (
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/internal/wiretest"
)

// sample reads the messages of a capture.
func sample(t testing.TB, path string) *dissect.Arena {
	t.Helper()
	msgs := &dissect.Arena{}
	wiretest.Play(dissect.New(dissect.Options{Handle: msgs.Add}), wiretest.ReadSample(t, path))
	if msgs.Len() == 0 {
		t.Fatal("no messages in " + path)
	}
	return msgs
}

const mount = "../pcaps/mount.pcap"

// renderers are all that work message by message.
func renderers() map[string]Renderer {
	c := NewColors(true)
	return map[string]Renderer{
		"JSON":    NewJSON(),
		"Tree":    NewTree(TreeOptions{Colors: c, Width: 80}),
		"Hex":     NewTree(TreeOptions{Colors: c, Hex: true}),
		"Summary": NewSummary(SummaryOptions{Colors: c, Width: 80}),
		"Wide":    NewSummary(SummaryOptions{Colors: c}),
	}
}

// TestNoAllocations: once buffers are large enough, a message costs none.
func TestNoAllocations(t *testing.T) {
	msgs := sample(t, mount)
	for i := range msgs.Len() {
		if i%2 == 0 {
			msgs.At(i).File = strings.Repeat("long/", 20) + "client.pcap"
		}
	}
	for name, r := range renderers() {
		var buf []byte
		n := testing.AllocsPerRun(3, func() {
			for i := range msgs.Len() {
				buf = r.Append(buf[:0], msgs.At(i), Moment{})
			}
		})
		if n != 0 {
			t.Errorf("%s: %v allocations for %d messages", name, n, msgs.Len())
		}
	}
}
