package render

import (
	"strings"
	"testing"

	"github.com/lshark/lshark/track"
)

// TestConnectFlags shows a connect of a sample with its reply, and each of the
// two alone.
func TestConnectFlags(t *testing.T) {
	var whole *track.ConnectPair
	pairs := track.NewConnects(func(p *track.ConnectPair) {
		if whole == nil && p.Request != nil && p.Reply != nil {
			whole = &track.ConnectPair{Request: p.Request, Reply: p.Reply.Clone()}
		}
	})
	msgs := sample(t, mount)
	for i := range msgs.Len() {
		pairs.Message(msgs.At(i), 0)
	}
	if whole == nil {
		t.Fatal("no connect in " + mount)
	}
	r := NewFlags(FlagsOptions{Colors: NewColors(false)})
	for _, tt := range []struct {
		pair      *track.ConnectPair
		head, row string
	}{
		{whole, "reply in frame ", "yes    yes      "},
		{&track.ConnectPair{Request: whole.Request}, "no reply\n", "yes      ?      "},
		{&track.ConnectPair{Reply: whole.Reply}, "reply MGS_CONNECT\n", "  ?    yes      "},
	} {
		text := string(r.AppendConnect(nil, tt.pair, 0))
		head, rows, _ := strings.Cut(text, "\n")
		if !strings.Contains(head+"\n", tt.head) || !strings.Contains(rows, tt.row) {
			t.Errorf("%q and %q are not in\n%s", tt.head, tt.row, text)
		}
	}
}
