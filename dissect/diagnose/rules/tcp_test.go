package rules

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/lnet/link"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/internal/wiretest/messages"
	"github.com/lshark/lshark/opcodes"
)

// tcpFindings returns the findings of rules about TCP in the frames of a connection.
func tcpFindings(tc *wiretest.Conn) (list []*diagnose.Finding) {
	e := diagnose.New(diagnose.Options{Rules: All()})
	wiretest.Play(dissect.New(dissect.Options{Handle: e.Message, TransferUpdate: e.TransferUpdate, Lost: e.Lost, TCPEvent: e.TCPEvent}), tc.Frames)
	e.Close()
	for _, f := range e.Findings() {
		if strings.HasPrefix(f.Rule.Code, "tcp.") || f.Rule.Code == "node.silent" {
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
		}, "tcp.refused: 10.0.0.2 refused 1 connection of 10.0.0.1 to port 988: LNet does not run there, or a packet filter refuses it."},
		"silent": {func() *wiretest.Conn {
			tc := open()
			seq, data := tc.A.Seq, w.Put(128, 10)
			tc.Send(false, data)
			resend(tc, wiretest.ACK, seq, data, 5)
			return tc
		}, "node.silent: 10.0.0.2@tcp acknowledged nothing that 10.0.0.1@tcp sent for at least 6.20 s"},
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

// TestLeftConnections checks that a client that has left its targets may abort its connections.
func TestLeftConnections(t *testing.T) {
	for _, after := range []uint32{opcodes.OST_DISCONNECT, opcodes.OBD_PING} {
		s := newScene(t)
		s.mounted(node3, oss, ost0, handle)
		s.rpc(node3, oss, opcodes.OST_DISCONNECT, []change{withHandle(handle)}, []change{withHandle(handle)})
		s.rpc(node3, oss, after, []change{withHandle(handle)}, []change{withHandle(handle)})
		s.pass(1)
		s.e.TCPEvent(&lnet.TCPEvent{Frame: link.Frame{Number: 99, Time: s.now}, Conn: 1, Src: messages.Addr(node3), Dst: messages.Addr(oss), Seq: 1, RST: true})
		want := []string{"note tcp.reset: 192.0.2.3 aborted 1 connection to 192.0.2.2 (RST)."}
		if after == opcodes.OST_DISCONNECT {
			want = nil
		}
		s.expect(want...)
	}
}

// TestRefusedByFilter checks that LNet of a host that serves others runs there, where it does not only do so before and after.
func TestRefusedByFilter(t *testing.T) {
	for _, serves := range []bool{true, false} {
		s := newScene(t)
		s.mounted(node4, oss, ost0, handle)
		times := 6
		if !serves {
			s.pass(3)
			s.ping(node4, oss, handle)
			times = 1
		}
		for i := range times {
			s.pass(3)
			if serves {
				s.ping(node4, oss, handle)
			}
			s.frame++
			s.e.TCPEvent(&lnet.TCPEvent{Frame: link.Frame{Number: s.frame, Time: s.now}, Conn: 10 + i, Src: messages.Addr(oss), Dst: messages.Addr(node3), RST: true})
		}
		s.pass(3)
		s.ping(node4, oss, handle)
		want := "warning tcp.refused: 192.0.2.2 refused 1 connection of 192.0.2.3 to port 988"
		if serves {
			want = "warning tcp.refused: 192.0.2.2 refused 6 connections of 192.0.2.3 to port 988, though LNet runs there: it exchanged messages with 192.0.2.4 meanwhile."
		} else {
			want += ": LNet does not run there, or a packet filter refuses it."
		}
		s.expect(want)
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
	if list := e.Findings(); len(list) != 1 || list[0].Last-list[0].First > 200e9 {
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
	assert.That(t, strings.HasPrefix(list[0].Text, "192.0.2.2@tcp was silent for at least 14.0 s: "), "%s", list[0].Text)
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
