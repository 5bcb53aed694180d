package render

import (
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/track"
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

// TestConnectDiff compares the flags of a connect of a sample with its reply, then
// with its own flags in place of the reply's.
func TestConnectDiff(t *testing.T) {
	msgs := sample(t, mount)
	r := NewFlags(FlagsOptions{Colors: NewColors(false)})
	var texts []string
	pairs := track.NewConnects(func(p *track.ConnectPair) {
		text, ok := r.AppendConnectDiff(nil, p, 0)
		if !ok {
			t.Errorf("not compared: %s", text)
		}
		texts = append(texts, string(text))
		if text, ok := r.AppendConnectDiff(nil, &track.ConnectPair{Request: p.Request, Reply: p.Request}, 0); !ok || len(text) > 0 {
			t.Errorf("a request differs from itself: %s", text)
		}
		for _, part := range []*track.ConnectPair{{Request: p.Request}, {Reply: p.Reply}} {
			if text, ok := r.AppendConnectDiff(nil, part, 0); ok || len(text) > 0 {
				t.Errorf("half a connect is compared: %s", text)
			}
		}
		backwards := &track.ConnectPair{Request: p.Reply, Reply: p.Request}
		if text, _ := r.AppendConnectDiff(nil, backwards, 0); !strings.Contains(string(text), "  not asked for  ") || strings.Contains(string(text), "not granted") {
			t.Errorf("backwards: %s", text)
		}
	})
	for i := range msgs.Len() {
		pairs.Message(msgs.At(i), 0)
	}
	if len(texts) == 0 || !strings.Contains(texts[0], "\n  target MGS\n  ocd_connect_flags   not granted    LVB_TYPE\n\n") {
		t.Errorf("%q", texts)
	}
}
