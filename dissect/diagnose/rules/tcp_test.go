package rules

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// tcpFindings returns the findings of rules about TCP in the frames of a connection.
func tcpFindings(tc *wiretest.Conn) (list []*diagnose.Finding) {
	e := diagnose.New(diagnose.Options{Rules: All()})
	wiretest.Play(dissect.New(dissect.Options{Handle: e.Message, TransferUpdate: e.TransferUpdate, Lost: e.Lost, TCPEvent: e.TCPEvent}), tc.Frames)
	e.Close()
	for _, f := range e.Findings() {
		if strings.HasPrefix(f.Rule.Code, "tcp.") {
			list = append(list, f)
		}
	}
	return list
}

// closeWindow makes the last frame announce a receive window of 0.
func closeWindow(tc *wiretest.Conn) {
	copy(tc.Frames[len(tc.Frames)-1].Data[14+20+14:], []byte{0, 0})
}

// TestTCPFindings checks rules for which there is no sample.
func TestTCPFindings(t *testing.T) {
	const ms = int64(1e6)
	w := wiretest.Socklnd{Version: 3}
	resend := func(tc *wiretest.Conn, flags byte, seq uint32, data []byte, times int) {
		for i := range times {
			tc.Now += 200 * ms << i
			tc.Segment(&tc.A, &tc.B, flags, seq, data)
		}
	}
	open := func() *wiretest.Conn {
		return wiretest.NewConn().Open().Send(false, w.Hello(false)).Send(true, w.Hello(true)).Send(false, w.Put(64, 10)).Send(true, w.Put(64, 10))
	}
	for name, tt := range map[string]struct {
		make func() *wiretest.Conn
		want string // code and how the text begins
	}{
		"ordinary": {open, ""},
		"window closed for long": {func() *wiretest.Conn {
			tc := open()
			closeWindow(tc)
			tc.Now += 1500 * ms
			return tc.Send(true, w.Noop(0, 1))
		}, "tcp.zero_window: 10.0.0.2 did not read what 10.0.0.1 had sent: its receive window was closed once, for 1.50 s."},
		"window closed for a moment": {func() *wiretest.Conn {
			tc := open()
			closeWindow(tc)
			tc.Now += 500 * ms
			return tc.Send(true, w.Noop(0, 1))
		}, ""},
		"aborted": {func() *wiretest.Conn {
			tc := open()
			tc.Segment(&tc.B, &tc.A, wiretest.RST, tc.B.Seq, nil)
			return tc
		}, "tcp.reset: 10.0.0.2 aborted 1 connection to 10.0.0.1 (RST)."},
		"refused": {func() *wiretest.Conn {
			tc := wiretest.NewConn()
			tc.Segment(&tc.A, &tc.B, wiretest.SYN, tc.A.Seq, nil)
			tc.A.Seq++
			tc.Segment(&tc.B, &tc.A, wiretest.RST|wiretest.ACK, 0, nil)
			return tc
		}, "tcp.refused: 10.0.0.2 refused 1 connection of 10.0.0.1 to port 988: LNet does not run there."},
		"silent": {func() *wiretest.Conn {
			tc := open()
			seq, data := tc.A.Seq, w.Put(128, 10)
			tc.Send(false, data)
			resend(tc, wiretest.ACK, seq, data, 5)
			return tc
		}, "tcp.no_answer: 10.0.0.2 did not acknowledge what 10.0.0.1 sent for at least 6.20 s: the same bytes were sent again 5 times. Nothing came from it until the end"},
		"cannot connect": {func() *wiretest.Conn {
			tc := wiretest.NewConn()
			tc.Segment(&tc.A, &tc.B, wiretest.SYN, tc.A.Seq, nil)
			resend(tc, wiretest.SYN, tc.A.Seq, nil, 4)
			return tc
		}, "tcp.no_answer: 10.0.0.2 did not acknowledge the attempts of 10.0.0.1 to connect for at least 3.00 s"},
		"a single loss": {func() *wiretest.Conn {
			tc := open()
			seq, data := tc.A.Seq, w.Put(128, 10)
			tc.Send(false, data)
			resend(tc, wiretest.ACK, seq, data, 1)
			return tc.Send(true, w.Noop(0, 1))
		}, ""},
		"losses": {func() *wiretest.Conn {
			tc := open()
			for i := range 12 {
				seq, data := tc.A.Seq, w.Put(128+uint64(i)*64, 10)
				tc.Send(false, data)
				resend(tc, wiretest.ACK, seq, data, 1)
				tc.Send(true, w.Noop(0, 1))
			}
			return tc
		}, "tcp.retransmission: 10.0.0.1 sent 12 segments to 10.0.0.2 again"},
		"losses both ways": {func() *wiretest.Conn {
			tc := open()
			for i := range 12 {
				seq, data := tc.A.Seq, w.Put(128+uint64(i)*64, 10)
				tc.Send(false, data)
				resend(tc, wiretest.ACK, seq, data, 1)
				seq, data = tc.B.Seq, w.Noop(0, 1)
				tc.Send(true, data)
				tc.Now += 200 * ms
				tc.Segment(&tc.B, &tc.A, wiretest.ACK, seq, data)
			}
			return tc
		}, "tcp.retransmission: 10.0.0.1 and 10.0.0.2 sent 12 and 12 segments to each other again"},
	} {
		list := tcpFindings(tt.make())
		switch {
		case tt.want == "" && len(list) == 0:
		case len(list) != 1 || tt.want == "":
			t.Errorf("%s: %d findings", name, len(list))
			for _, f := range list {
				t.Logf("%s: %s", f.Rule.Code, f.Text)
			}
		default:
			if got := list[0].Rule.Code + ": " + list[0].Text; !strings.HasPrefix(got, tt.want) || len(list[0].Evidence) == 0 {
				t.Errorf("%s: got %q with %d frames, want %q", name, got, len(list[0].Evidence), tt.want)
			}
		}
	}
}

// TestBlackHoleInPart checks that a black hole is found where the capture lacks frames, as
// messages come late there, and where it ends before the large segment got through.
func TestBlackHoleInPart(t *testing.T) {
	all := wiretest.ReadSample(t, "testdata/black_hole.pcap.zst")
	var lossy []capture.Frame
	for i, f := range all {
		if i%40 != 7 {
			lossy = append(lossy, f)
		}
	}
	for name, frames := range map[string][]capture.Frame{"lossy": lossy, "ended": all[:len(all)*2/3]} {
		e := diagnose.New(diagnose.Options{Rules: []*diagnose.Rule{findRule(t, "tcp.black_hole")}})
		wiretest.Play(dissect.New(dissect.Options{Handle: e.Message, Lost: e.Lost, TCPEvent: e.TCPEvent}), frames)
		if e.Close(); e.Count() != 1 {
			t.Errorf("%s: %d findings", name, e.Count())
		}
	}
}

// TestOneRail checks tcp.one_rail: nodes with several interfaces. The one through which the reply comes works.
func TestOneRail(t *testing.T) {
	interfaces := func(statuses ...uint32) []byte {
		le := binary.LittleEndian
		b := le.AppendUint32(le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, 0x70696e67), 0xb), 12345), uint32(len(statuses)+1))
		b = append(le.AppendUint64(b, 9<<48), make([]byte, 8)...) // the loopback
		for i, status := range statuses {
			b = le.AppendUint64(b, 2<<48|0x0a000002+uint64(i)<<8)
			b = le.AppendUint32(le.AppendUint32(b, status), 0)
		}
		return b
	}
	const up, down = 0x15aac0de, 0xdeadface
	w := wiretest.Socklnd{Version: 3}
	for _, tt := range []struct {
		statuses []uint32
		want     string
	}{
		{[]uint32{up, up}, ""},
		{[]uint32{up, down}, "10.0.0.2@tcp says that one of its interfaces does not work: 10.0.1.2@tcp. It can be reached by 10.0.0.2@tcp only."},
		{[]uint32{up, down, down}, "10.0.0.2@tcp says that one of its interfaces does not work: 10.0.1.2@tcp."},
		{[]uint32{down, down}, "10.0.0.2@tcp says that one of its interfaces does not work: 10.0.1.2@tcp. It can be reached by 10.0.0.2@tcp only."},
		{[]uint32{down}, ""}, // the reply came through it
	} {
		const match = 1 << 63
		tc := wiretest.NewConn().Open().Greet(w)
		tc.Send(false, w.LNet(false, wiretest.Get, 0, match, nil)).Send(true, w.LNet(true, wiretest.Reply, 0, match, interfaces(tt.statuses...)))
		got := ""
		for _, f := range tcpFindings(tc) {
			got += f.Text
		}
		if got != tt.want {
			t.Errorf("%x: got %q, want %q", tt.statuses, got, tt.want)
		}
	}
}

// TestSilenceBeforePause checks that a silence is not taken to last as long as a time in which
// nothing was captured.
func TestSilenceBeforePause(t *testing.T) {
	frames := wiretest.ReadSample(t, "testdata/vanished_client.pcap.zst")
	for _, f := range frames[:60] {
		f.Time += 20 * 60e9
		frames = append(frames, f)
	}
	e := diagnose.New(diagnose.Options{Rules: []*diagnose.Rule{findRule(t, "node.silent")}})
	wiretest.Play(dissect.New(dissect.Options{Handle: e.Message, Lost: e.Lost, TCPEvent: e.TCPEvent}), frames)
	e.Close()
	if list := e.Findings(); len(list) != 1 || !strings.HasSuffix(list[0].Text, "How it ended was not captured.") {
		t.Errorf("%d findings: %s", len(list), list[0].Text)
	}
}

// TestUnansweredProbes checks that a silence is found of which the capture has keep-alive probes only.
func TestUnansweredProbes(t *testing.T) {
	frames := wiretest.ReadSample(t, "testdata/frozen_server.pcap.zst")
	first, last := frames[0].Time, frames[len(frames)-1].Time
	frames = slices.DeleteFunc(frames, func(f capture.Frame) bool { return f.Time < first+(last-first)/3 })
	e := diagnose.New(diagnose.Options{Rules: []*diagnose.Rule{findRule(t, "node.silent")}})
	wiretest.Play(dissect.New(dissect.Options{Handle: e.Message, Lost: e.Lost, TCPEvent: e.TCPEvent}), frames)
	e.Close()
	list := e.Findings()
	must.Equal(t, len(list), 1)
	assert.That(t, strings.HasPrefix(list[0].Text, "Nothing came from 192.0.2.2@tcp for at least 16.4 s: "), "%s", list[0].Text)
}

// TestErrorsOfOneDirection checks that errors inside replies are found where the capture has no requests.
func TestErrorsOfOneDirection(t *testing.T) {
	frames := slices.DeleteFunc(wiretest.ReadSample(t, "testdata/enospc.pcap.zst"), func(f capture.Frame) bool {
		return binary.BigEndian.Uint16(f.Data[34:]) != 988 // the source port
	})
	e := diagnose.New(diagnose.Options{Rules: []*diagnose.Rule{findRule(t, "space.full")}})
	wiretest.Play(dissect.New(dissect.Options{Handle: e.Message, Lost: e.Lost, TCPEvent: e.TCPEvent}), frames)
	e.Close()
	if list := e.Findings(); len(list) != 1 || !strings.Contains(list[0].Text, "writes of 192.0.2.4@tcp with ENOSPC") {
		t.Errorf("%d findings", len(list))
	}
}
