package rules

import (
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest"
)

// cutSample returns the text of the findings of a rule in a sample with so many bytes of each frame.
func cutSample(t *testing.T, code, sample string, snaplen int) (text string) {
	e := diagnose.New(diagnose.Options{Rules: []*diagnose.Rule{findRule(t, code)}})
	d := dissect.New(dissect.Options{Handle: e.Message, Lost: e.Lost, TCPEvent: e.TCPEvent})
	frames := wiretest.ReadSample(t, samplePath(sample))
	for i := range frames {
		frames[i].Data = frames[i].Data[:min(len(frames[i].Data), snaplen)]
	}
	wiretest.Play(d, frames)
	e.Close()
	for _, f := range e.Findings() {
		text += f.Text + "\n"
	}
	return text
}

// The bytes that were cut off count among those of the messages.
func TestRetransmissionsWithSnaplen(t *testing.T) {
	const whole, cut = 1 << 16, 256
	want, _, _ := strings.Cut(cutSample(t, "tcp.retransmission", "losses.pcap.zst", whole), " As far")
	got, _, _ := strings.Cut(cutSample(t, "tcp.retransmission", "losses.pcap.zst", cut), " As far")
	assert.Equal(t, strings.TrimSpace(got), strings.TrimSpace(want), "shares")
}
