package ladder_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/journal"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/ladder"
)

// TestJournal draws messages that are remarked upon, with the other messages of their RPCs.
func TestJournal(t *testing.T) {
	var j journal.Journal
	var messages []*dissect.Message
	d := dissect.New(dissect.Options{TCPEvent: j.TCPEvent, Handle: func(m *dissect.Message) {
		j.Message(nil, m)
		messages = append(messages, m.Clone())
	}})
	wiretest.Play(d, wiretest.ReadSample(t, wiretest.Sample("mount")))
	text := func(remarks ...ladder.Remark) []string {
		x := &ladder.Diagram{}
		ladder.Draw(&j, []*ladder.Diagram{x}, [][]ladder.Remark{remarks}, 4)
		var lines []string
		for _, l := range x.Text(ladder.TextOptions{}) {
			if l.Event >= 0 {
				lines = append(lines, string(l.Text))
			}
		}
		return lines
	}
	for _, m := range messages {
		if m.Kind != lnet.Request {
			continue
		}
		at := track.Point{Frame: m.Frame, Time: m.Time}
		op := string(render.AppendOpcode(nil, m.RPC.Opcode))
		lines := text(ladder.Remark{Point: at, Text: op + " is sent \x1b", Nodes: []lnet.NID{m.LNet.Src}})
		if len(lines) < 2 || !strings.Contains(lines[0], op) || !strings.HasSuffix(lines[0], op+` is sent \x1b`) || !strings.Contains(lines[0], fmt.Sprint(m.Frame)) {
			t.Fatalf("frame %d:\n%s", m.Frame, strings.Join(lines, "\n"))
		}
		for _, line := range lines[1:] { // the reply, and bulk data
			if !strings.Contains(line, op) {
				t.Errorf("frame %d:\n%s", m.Frame, strings.Join(lines, "\n"))
			}
		}
	}
	if lines := text(ladder.Remark{Point: track.Point{Frame: 1 << 40}, Text: "no such frame"}); lines != nil {
		t.Errorf("%q", lines)
	}
}

// TestJournalIsBounded forgets the oldest messages, and needs no memory for later ones.
func TestJournalIsBounded(t *testing.T) {
	var j journal.Journal
	m := &dissect.Message{}
	send := func(frame int64) {
		m.Frame, m.RPC.XID, m.RPC.HasXID = frame, uint64(frame), true
		j.Message(nil, m)
	}
	const kept = 1 << 19
	for i := range int64(kept + 10) {
		send(i + 1)
	}
	wiretest.NoAllocations(t, 1000, func() { send(m.Frame + 1) })
	for frame, want := range map[int64]int{10: 0, m.Frame: 1, m.Frame - kept + 1: 1, m.Frame - kept: 0} {
		x := &ladder.Diagram{}
		ladder.Draw(&j, []*ladder.Diagram{x}, [][]ladder.Remark{{{Point: track.Point{Frame: frame}}}}, 4)
		assert.Equal(t, x.Len(), want, "frame", frame, "messages")
	}
}
