package rules

import (
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/internal/wiretest/messages"
	"github.com/lshark/lshark/opcodes"
)

// cut leaves what a snaplen of 256 bytes leaves of a message over TCP: the ptlrpc_body up to the
// number of the last committed transaction.
func cut(m *message) {
	m.Msg.Bufs = [][]byte{m.Msg.Bufs[0][:opcodes.PbFlags.Off-2]}
	m.RPC.Flags, m.RPC.OpFlags, m.RPC.ConnCnt, m.RPC.Transno, m.RPC.Cut = 0, 0, 0, 0, true
	m.Size, m.Tail = 400, lnet.Snaplen
}

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

// An inodebits lock may have been given back in part, by a message that was not captured in full.
func TestLateLockWithSnaplen(t *testing.T) {
	var hooks diagnose.Hooks
	rule := *findRule(t, "lock.wait")
	start := rule.Start
	rule.Start = func(r *diagnose.Reporter) diagnose.Hooks { hooks = start(r); return hooks }
	for _, kind := range []uint64{opcodes.InodeLock, opcodes.ExtentLock} {
		e := diagnose.New(diagnose.Options{Rules: []*diagnose.Rule{&rule}})
		at := func(s int64) track.Point { return track.Point{Frame: s, Time: s * 1e9} }
		m := messages.New(lnet.Request, node3, oss, 1, opcodes.LDLM_CONVERT, cut)
		m.Time = 3e9
		hooks.Sent(&track.RPC{Identity: track.Identity{Client: node3, Server: oss}}, m)
		hooks.Lock(&locks.Lock{Client: node3, Server: oss, Handle: 7, Desc: opcodes.LockDesc{Kind: kind, Name: [4]uint64{1, 2}},
			Callbacks: []locks.Callback{{Kind: locks.Blocking, Sent: at(2), Obeyed: at(5)}}})
		e.Close()
		assert.Equal(t, len(e.Findings()), map[uint64]int{opcodes.InodeLock: 0, opcodes.ExtentLock: 1}[kind], kind, "findings")
	}
}
