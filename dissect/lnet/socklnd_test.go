package lnet

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/wiretest"
)

// run returns the messages of a connection and fails unless there are want.
func run(t *testing.T, tc *wiretest.Conn, want int) []seen {
	t.Helper()
	got, _ := collect(tc.Frames, Options{})
	if len(got) != want {
		for _, m := range got {
			t.Logf("%d %s %v", m.frame, m.what, m.notes)
		}
		t.Fatalf("%d messages, want %d", len(got), want)
	}
	return got
}

func kinds(all []seen) string {
	var names []string
	for _, m := range all {
		names = append(names, m.m.Kind.String())
	}
	return strings.Join(names, " ")
}

func TestVersionsAndOrders(t *testing.T) {
	for version := 1; version <= 4; version++ {
		for _, big := range []bool{false, true} {
			for _, sum := range []bool{false, true} {
				w := wiretest.Socklnd{Version: version, Big: big && version > 1, Sum: sum && version == 2}
				t.Run(fmt.Sprintf("v%d big %v sum %v", version, big, sum), func(t *testing.T) { testConversation(t, w) })
			}
		}
	}
}

// testConversation opens a connection and sends a request and its reply.
func testConversation(t *testing.T, w wiretest.Socklnd) {
	tc := wiretest.NewConn()
	if w.Version == 4 {
		tc = wiretest.NewConn6()
	}
	tc.Open()
	var ips []uint32
	if w.Version < 4 {
		ips = []uint32{1, 2, 3}
	}
	request, reply := w.Put(64, 500), w.LNet(true, wiretest.Put, 10, 64, []byte("answer"))
	tc.Send(false, w.Connreq()).Send(false, w.Hello(false, ips...)).Send(true, w.Hello(true))
	tc.Send(false, request).Send(true, reply)
	got := run(t, tc, 5)
	if k := kinds(got); k != "connreq hello hello request reply" {
		t.Fatal(k)
	}
	for i, data := range [][]byte{w.Connreq(), w.Hello(false, ips...), w.Hello(true), request, reply} {
		m := got[i].m
		if !bytes.Equal(m.Data, data) || m.Size != len(data) {
			t.Errorf("%v: %x, want %x", m.Kind, m.Data, data)
		}
		if i > 0 && int(m.Version) != w.Version {
			t.Errorf("%v: version %d", m.Kind, m.Version)
		}
		if m.Swapped != w.Big {
			t.Errorf("%v: swapped %v", m.Kind, m.Swapped)
		}
		if len(m.Notes) > 0 {
			t.Errorf("%v: %v", m.Kind, m.Notes)
		}
	}
	m := got[3].m
	if m.LNet.MatchBits != 64 || m.LNet.Portal != 12 || len(m.Payload()) != 500 || m.LNet.Src == m.LNet.Dst {
		t.Errorf("%+v", m.LNet)
	}
	if got[1].m.LNet.Src != m.LNet.Src || got[0].m.LNet.Dst != m.LNet.Dst {
		t.Errorf("the NIDs of the hello %+v are not those of the request %+v", got[1].m.LNet, m.LNet)
	}
}

func TestChecksumWrong(t *testing.T) {
	w := wiretest.Socklnd{Version: 2, Sum: true}
	bad := w.Put(64, 500)
	bad[300]++
	o := Options{Want: func(*Message) int { return 0 }}
	tc := wiretest.NewConn().Open().Send(false, w.Connreq()).Send(false, w.Hello(false)).SendSplit(wiretest.Join(bad, w.Put(128, 500)), 100)
	got, _ := collect(tc.Frames, o)
	if len(got) != 4 || len(got[2].notes) != 1 || got[2].notes[0].Code != "checksum" || len(got[3].notes) != 0 {
		t.Fatalf("%+v", got)
	}
	if len(got[2].m.Data) != len(bad) {
		t.Error("a message with a checksum was not kept")
	}
}

// TestSplit splits a stream in two segments at every byte.
func TestSplit(t *testing.T) {
	for _, w := range []wiretest.Socklnd{{Version: 2, Big: true}, {Version: 3}, {Version: 4}} {
		stream := wiretest.Join(w.Connreq(), w.Hello(false), w.Put(64, 30), w.Noop(0, 5), w.Put(128, 0), w.Noop(3, 9), w.Noop(0, 1), w.Put(192, 100))
		for at := 1; at < len(stream); at++ {
			tc := wiretest.NewConn()
			if w.Version == 4 {
				tc = wiretest.NewConn6()
			}
			got := run(t, tc.Open().Send(false, stream[:at]).Send(false, stream[at:]), 8)
			if k := kinds(got); k != "connreq hello request noop request noop noop request" {
				t.Fatalf("cut at %d: %s", at, k)
			}
		}
	}
}

// TestInference: the framing is inferred when the hellos were not captured.
func TestInference(t *testing.T) {
	for _, w := range []wiretest.Socklnd{{Version: 1}, {Version: 2, Big: true}, {Version: 3}, {Version: 4}, {Version: 4, Big: true}} {
		tc := wiretest.NewConn()
		if w.Version == 4 {
			tc = wiretest.NewConn6()
		}
		for i := range uint64(5) {
			tc.Send(false, w.Put(64*(i+1), 300))
		}
		got := run(t, tc, 5)
		if m := got[4].m; m.Version != 0 || m.Swapped != w.Big || m.LNet.MatchBits != 320 {
			t.Errorf("version %d: %+v", w.Version, m)
		}
	}
}

// TestHelloOfOneSide: the hello of one side sets the framing of both.
func TestHelloOfOneSide(t *testing.T) {
	w := wiretest.Socklnd{Version: 1}
	got := run(t, wiretest.NewConn().Open().Send(true, w.Hello(true)).Lose(16+72).Send(false, w.Put(64, 10)).Send(false, w.Put(128, 10)), 3)
	if got[1].m.Version != 1 || kinds(got) != "hello request request" {
		t.Errorf("%s %+v", kinds(got), got[1].m)
	}
}

func TestKinds(t *testing.T) {
	w := wiretest.Socklnd{Version: 3}
	for _, c := range []struct {
		message []byte
		want    Kind
	}{
		{w.Noop(0, 1), Noop},
		{w.LNet(false, wiretest.Ack, 0, 64, nil), Ack},
		{w.LNet(false, wiretest.Get, 0, pingBits, nil), Ping},
		{w.LNet(false, wiretest.Put, 0, pingBits, []byte("x")), Push},
		{w.LNet(false, wiretest.Put, 8, 64, []byte("x")), Bulk},
		{w.LNet(false, wiretest.Get, 8, 64, nil), Get},
		{w.LNet(false, wiretest.Reply, 0, 64, []byte("x")), GetReply},
		{w.LNet(false, wiretest.Put, 51, 64, nil), Selftest},
		{w.LNet(false, wiretest.Put, 26, 64, nil), Request},
		{w.LNet(false, wiretest.Put, 25, 64, nil), Reply},
		{w.LNet(false, wiretest.Put, 99, 64, nil), Unknown},
		{w.LNet(false, wiretest.Get, 12, 64, nil), Unknown},
	} {
		got := run(t, wiretest.NewConn().Open().Send(false, w.Connreq()).Send(false, w.Hello(false)).Send(false, c.message), 3)
		if got[2].m.Kind != c.want {
			t.Errorf("%v, want %v", got[2].m.Kind, c.want)
		}
	}
}

// TestPingReply: the reply to a ping is found by its handle, on any connection.
func TestPingReply(t *testing.T) {
	w := wiretest.Socklnd{Version: 3}
	tc := wiretest.NewConn().Open().Send(false, w.Connreq()).Send(false, w.Hello(false))
	tc.Send(false, w.LNet(false, wiretest.Get, 0, pingBits, nil))
	tc.A.Port = 1022
	tc.Open().Send(true, w.Hello(true)).Send(true, w.LNet(true, wiretest.Reply, 0, pingBits, []byte("x")))
	tc.Send(true, w.LNet(true, wiretest.Reply, 0, 77, []byte("x")))
	if k := kinds(run(t, tc, 6)); k != "connreq hello ping hello ping_reply getreply" {
		t.Error(k)
	}
}

// TestCutHeader has a snaplen that leaves type and length of a message, but
// not its portal.
func TestCutHeader(t *testing.T) {
	w := wiretest.Socklnd{Version: 3}
	tc := wiretest.NewConn().Open().Send(false, w.Connreq()).Send(false, w.Hello(false)).Send(false, w.Put(64, 200)).Send(false, w.Put(128, 200))
	f := &tc.Frames[5]
	f.Data = f.Data[:54+60]
	got := run(t, tc, 4)
	if m := got[2].m; m.Kind != Unknown || m.LNet.Length != 200 || m.Tail != Snaplen || len(m.Data) != 60 {
		t.Errorf("%+v", m)
	}
	if got[3].m.Kind != Request || len(got[3].notes) > 0 {
		t.Errorf("%+v", got[3].m)
	}
}

// TestLengthsTooLarge: headers that claim too much are invalid.
func TestLengthsTooLarge(t *testing.T) {
	w := wiretest.Socklnd{Version: 3}
	long := w.Put(64, 10)
	long[24+28], long[24+29], long[24+30] = 0xff, 0xff, 0xff
	get := w.LNet(false, wiretest.Get, 8, 64, nil)
	get[24+28] = 1
	for _, bad := range [][]byte{long, get, {0xc2, 0, 0, 0}, bytes.Repeat([]byte{0}, 500)} {
		tc := wiretest.NewConn().Open().Send(false, w.Connreq()).Send(false, w.Hello(false)).Send(false, bad)
		got := run(t, tc.Send(false, w.Put(128, 10)), 3)
		if len(got[2].notes) != 1 || got[2].notes[0].Code != "gap" || !strings.HasPrefix(got[2].notes[0].Text, fmt.Sprint(len(bad))) {
			t.Errorf("%+v", got[2].notes)
		}
	}
}
