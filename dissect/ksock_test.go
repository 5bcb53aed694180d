package dissect

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// run gives the messages of a tape and fails unless there are so many.
func (tp *tape) run(t *testing.T, want int) []seen {
	t.Helper()
	got, _ := collect(tp.frames, StreamOptions{})
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
				w := wire{version: version, big: big && version > 1, sum: sum && version == 2}
				t.Run(fmt.Sprintf("v%d big %v sum %v", version, big, sum), func(t *testing.T) { testConversation(t, w) })
			}
		}
	}
}

// testConversation opens a connection and sends a request and its reply.
func testConversation(t *testing.T, w wire) {
	tp := newTape()
	if w.version == 4 {
		tp = newTape6()
	}
	tp.syn()
	var ips []uint32
	if w.version < 4 {
		ips = []uint32{1, 2, 3}
	}
	request, reply := w.put(64, 500), w.lnet(true, LNetPut, 10, 64, []byte("answer"))
	tp.send(false, w.connreq()).send(false, w.hello(false, ips...)).send(true, w.hello(true))
	tp.send(false, request).send(true, reply)
	got := tp.run(t, 5)
	if k := kinds(got); k != "connreq hello hello request reply" {
		t.Fatal(k)
	}
	for i, data := range [][]byte{w.connreq(), w.hello(false, ips...), w.hello(true), request, reply} {
		m := got[i].m
		if !bytes.Equal(m.Data, data) || m.Size != len(data) {
			t.Errorf("%v: %x, want %x", m.Kind, m.Data, data)
		}
		if i > 0 && int(m.Version) != w.version {
			t.Errorf("%v: version %d", m.Kind, m.Version)
		}
		if m.Swapped != w.big {
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
	w := wire{version: 2, sum: true}
	bad := w.put(64, 500)
	bad[300]++
	o := StreamOptions{Want: func(*Message) int { return 0 }}
	tp := newTape().syn().send(false, w.connreq()).send(false, w.hello(false)).cut(joined(bad, w.put(128, 500)), 100)
	got, _ := collect(tp.frames, o)
	if len(got) != 4 || len(got[2].notes) != 1 || got[2].notes[0].Code != "checksum" || len(got[3].notes) != 0 {
		t.Fatalf("%+v", got)
	}
	if len(got[2].m.Data) != len(bad) {
		t.Error("a message with a checksum was not kept")
	}
}

// TestSplit cuts a stream in two at every byte.
func TestSplit(t *testing.T) {
	for _, w := range []wire{{version: 2, big: true}, {version: 3}, {version: 4}} {
		stream := joined(w.connreq(), w.hello(false), w.put(64, 30), w.noop(0, 5), w.put(128, 0), w.noop(3, 9), w.noop(0, 1), w.put(192, 100))
		for at := 1; at < len(stream); at++ {
			tp := newTape()
			if w.version == 4 {
				tp = newTape6()
			}
			got := tp.syn().send(false, stream[:at]).send(false, stream[at:]).run(t, 8)
			if k := kinds(got); k != "connreq hello request noop request noop noop request" {
				t.Fatalf("cut at %d: %s", at, k)
			}
		}
	}
}

// TestInference begins behind the hellos.
func TestInference(t *testing.T) {
	for _, w := range []wire{{version: 1}, {version: 2, big: true}, {version: 3}, {version: 4}, {version: 4, big: true}} {
		tp := newTape()
		if w.version == 4 {
			tp = newTape6()
		}
		for i := range uint64(5) {
			tp.send(false, w.put(64*(i+1), 300))
		}
		got := tp.run(t, 5)
		if m := got[4].m; m.Version != 0 || m.Swapped != w.big || m.LNet.MatchBits != 320 {
			t.Errorf("version %d: %+v", w.version, m)
		}
	}
}

// TestHelloOfOneSide knows the framing of both sides by the hello of one.
func TestHelloOfOneSide(t *testing.T) {
	w := wire{version: 1}
	got := newTape().syn().send(true, w.hello(true)).lose(16+72).send(false, w.put(64, 10)).send(false, w.put(128, 10)).run(t, 3)
	if got[1].m.Version != 1 || kinds(got) != "hello request request" {
		t.Errorf("%s %+v", kinds(got), got[1].m)
	}
}

func TestKinds(t *testing.T) {
	w := wire{version: 3}
	for _, c := range []struct {
		message []byte
		want    Kind
	}{
		{w.noop(0, 1), Noop},
		{w.lnet(false, LNetAck, 0, 64, nil), Ack},
		{w.lnet(false, LNetGet, 0, pingBits, nil), Ping},
		{w.lnet(false, LNetPut, 0, pingBits, []byte("x")), Push},
		{w.lnet(false, LNetPut, 8, 64, []byte("x")), Bulk},
		{w.lnet(false, LNetGet, 8, 64, nil), Get},
		{w.lnet(false, LNetReply, 0, 64, []byte("x")), GetReply},
		{w.lnet(false, LNetPut, 51, 64, nil), Selftest},
		{w.lnet(false, LNetPut, 26, 64, nil), Request},
		{w.lnet(false, LNetPut, 25, 64, nil), Reply},
		{w.lnet(false, LNetPut, 99, 64, nil), Unknown},
		{w.lnet(false, LNetGet, 12, 64, nil), Unknown},
	} {
		got := newTape().syn().send(false, w.connreq()).send(false, w.hello(false)).send(false, c.message).run(t, 3)
		if got[2].m.Kind != c.want {
			t.Errorf("%v, want %v", got[2].m.Kind, c.want)
		}
	}
}

// TestPingReply pairs by handle, also over connections.
func TestPingReply(t *testing.T) {
	w := wire{version: 3}
	tp := newTape().syn().send(false, w.connreq()).send(false, w.hello(false))
	tp.send(false, w.lnet(false, LNetGet, 0, pingBits, nil))
	tp.a.port = 1022
	tp.syn().send(true, w.hello(true)).send(true, w.lnet(true, LNetReply, 0, pingBits, []byte("x")))
	tp.send(true, w.lnet(true, LNetReply, 0, 77, []byte("x")))
	if k := kinds(tp.run(t, 6)); k != "connreq hello ping hello ping_reply getreply" {
		t.Error(k)
	}
}

// TestCutHeader has a snaplen that leaves type and length of a message, but
// not its portal.
func TestCutHeader(t *testing.T) {
	w := wire{version: 3}
	tp := newTape().syn().send(false, w.connreq()).send(false, w.hello(false)).send(false, w.put(64, 200)).send(false, w.put(128, 200))
	f := &tp.frames[5]
	f.Data = f.Data[:54+60]
	got := tp.run(t, 4)
	if m := got[2].m; m.Kind != Unknown || m.LNet.Length != 200 || m.Tail != Snaplen || len(m.Data) != 60 {
		t.Errorf("%+v", m)
	}
	if got[3].m.Kind != Request || len(got[3].notes) > 0 {
		t.Errorf("%+v", got[3].m)
	}
}

// TestFuzzyLengths has headers that claim too much.
func TestFuzzyLengths(t *testing.T) {
	w := wire{version: 3}
	long := w.put(64, 10)
	long[24+28], long[24+29], long[24+30] = 0xff, 0xff, 0xff
	get := w.lnet(false, LNetGet, 8, 64, nil)
	get[24+28] = 1
	for _, bad := range [][]byte{long, get, {0xc2, 0, 0, 0}, bytes.Repeat([]byte{0}, 500)} {
		tp := newTape().syn().send(false, w.connreq()).send(false, w.hello(false)).send(false, bad)
		got := tp.send(false, w.put(128, 10)).run(t, 3)
		if len(got[2].notes) != 1 || got[2].notes[0].Code != "gap" || !strings.HasPrefix(got[2].notes[0].Text, fmt.Sprint(len(bad))) {
			t.Errorf("%+v", got[2].notes)
		}
	}
}
