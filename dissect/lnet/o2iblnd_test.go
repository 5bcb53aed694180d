package lnet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest"
)

// Portals in tests.
const (
	requestPortal = 12
	bulkPortal    = 8
)

// pattern returns n bytes of which no two ranges are alike.
func pattern(n int) []byte {
	b := make([]byte, n)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

// ibSummary describes messages, each with its InfiniBand fields.
func ibSummary(all []seen) string {
	var lines []string
	for _, s := range all {
		m := s.m
		line := fmt.Sprintf("%d c%d %v %d", m.Frame, m.Conn, m.Kind, m.Size)
		if m.IB == nil {
			lines = append(lines, line+" no IB")
			continue
		}
		line += fmt.Sprintf(" %x>%x", m.IB.SrcQP, m.IB.DestQP)
		for _, p := range m.IB.Parts {
			line += fmt.Sprintf(" %d", p.Frame.Number)
			if p.Back {
				line += "<"
			}
		}
		if w := m.IB.Writes; w.Packets > 0 {
			line += fmt.Sprintf(" w%d:%d:%d-%d", w.Packets, w.Bytes, w.First.Number, w.Last.Number)
		}
		if m.IB.Status != 0 {
			line += fmt.Sprintf(" status %d", m.IB.Status)
		}
		for _, h := range m.Holes {
			line += fmt.Sprintf(" hole %d+%d %v", h.Off, h.Len, h.Why)
		}
		if m.Tail != Present {
			line += fmt.Sprintf(" data %d %v", len(m.Data), m.Tail)
		}
		for _, n := range m.Notes {
			line += " " + n.Code
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func checkIB(t *testing.T, got []seen, want ...string) {
	t.Helper()
	if text := ibSummary(got); text != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", text, strings.Join(want, "\n"))
	}
}

// connected returns a connection of two nodes.
func connected(w wiretest.O2iblnd) *wiretest.QueuePairs {
	return wiretest.NewQueuePairs().Connect(w.Connreq(), w.Connack())
}

// put sends a PUT of data, which the receiver wants in pieces of the given sizes.
func put(c *wiretest.QueuePairs, w wiretest.O2iblnd, back bool, cookie uint64, data []byte, pieces ...int) {
	c.Send(back, w.PutReq(back, wiretest.Put, bulkPortal, 64*cookie, 0, len(data), cookie)).Ack(!back)
	var fragments []wiretest.Fragment
	for i, n := range pieces {
		fragments = append(fragments, wiretest.Fragment{Address: 0xff1100 + uint64(i)<<24, Size: uint32(n)})
	}
	key := 0x9900 + uint32(cookie) // memory is registered for one transfer
	c.Send(!back, w.PutAck(!back, cookie, 1000+cookie, key, fragments...)).Ack(back)
	write(c, back, key, data, fragments)
	c.Send(back, w.Done(back, wiretest.O2PutDone, 1000+cookie, int32(len(data)))).Ack(!back)
}

func write(c *wiretest.QueuePairs, back bool, key uint32, data []byte, fragments []wiretest.Fragment) {
	for _, f := range fragments {
		c.Write(back, f.Address, key, data[:f.Size])
		data = data[f.Size:]
	}
}

// get asks for data, which are written in pieces of the given sizes.
func get(c *wiretest.QueuePairs, w wiretest.O2iblnd, back bool, cookie uint64, data []byte, pieces ...int) {
	var fragments []wiretest.Fragment
	for i, n := range pieces {
		fragments = append(fragments, wiretest.Fragment{Address: 0xee1100 + uint64(i)<<24, Size: uint32(n)})
	}
	key := 0x9900 + uint32(cookie)
	c.Send(back, w.GetReq(back, bulkPortal, 64*cookie, cookie, key, fragments...)).Ack(!back)
	write(c, !back, key, data, fragments)
	c.Send(!back, w.Done(!back, wiretest.O2GetDone, cookie, int32(len(data)))).Ack(back)
}

var o2Forms = map[string]wiretest.O2iblnd{"little": {Credits: 1}, "big, version 1, sums": {Version: 0x11, Big: true, Sum: true, Credits: 1}}

// TestTransfers joins a PUT and a GET with their data.
func TestTransfers(t *testing.T) {
	data := pattern(9000)
	for name, w := range o2Forms {
		t.Run(name, func(t *testing.T) {
			c := connected(w)
			c.Send(false, w.Immediate(false, wiretest.Put, requestPortal, 1, 0, data[:3000])).Ack(true)
			put(c, w, true, 7, data, 5000, 4000)
			get(c, w, true, 8, data, 9000)
			c.Send(false, w.Noop(false))
			got, st := collect(c.Frames, Options{Frames: true})
			checkIB(t, got,
				"1 c0 connreq 56 11>0 1",
				"2 c0 connack 56 22>11 2",
				"7 c0 request 3120 11>22 7",
				"22 c0 bulk 9120 22>11 9 11< 22 w9:9000:13-21 status 9000",
				"24 c0 get 120 22>11 24",
				"35 c0 getreply 9000 11>22 24< 35 w9:9000:26-34 status 9000",
				"37 c0 noop 48 11>22 37")
			if st.Held != 0 || st.IB.Joined != 2 || st.IB.Unjoined != 0 || st.IB.Gaps != 0 {
				t.Errorf("%+v", st)
			}
			for _, s := range got {
				if m := s.m; (m.Kind == Bulk || m.Kind == GetReply) && !bytes.Equal(m.Payload(), data) {
					t.Errorf("%v: the data are not those that were sent", m.Kind)
				}
			}
		})
	}
}

// TestRefusals has transfers that fail and connections that are refused.
func TestRefusals(t *testing.T) {
	w := wiretest.O2iblnd{}
	c := wiretest.NewQueuePairs()
	c.CM(false, wiretest.CMReq, c.Req(w.Connreq())).Reject(28, w.Refusal(1))
	c.CM(false, wiretest.CMReq, c.Req(w.Connreq())).Reject(8, nil)
	c.Connect(w.Connreq(), w.Connack())
	c.Send(false, w.PutReq(false, wiretest.Put, bulkPortal, 1, 0, 5000, 7)).Send(true, w.Done(true, wiretest.O2PutNak, 7, -12))
	c.Send(true, w.PutReq(true, wiretest.Put, bulkPortal, 2, 0, 5000, 8))
	c.Send(false, w.PutAck(false, 8, 9, 0x99, wiretest.Fragment{Address: 0x1000, Size: 5000}))
	c.Write(true, 0x1000, 0x99, pattern(2048)).Send(true, w.Done(true, wiretest.O2PutDone, 9, -5))
	c.Send(true, w.GetReq(true, bulkPortal, 3, 10, 0x99, wiretest.Fragment{Address: 0x1000, Size: 5000}))
	c.Send(false, w.Done(false, wiretest.O2GetDone, 10, -110))
	got, _ := collect(c.Frames, Options{})
	checkIB(t, got,
		"1 c0 connreq 56 11>0 1",
		"2 c0 connrej 24 0>11 2",
		"3 c1 connreq 56 11>0 3",
		"4 c1 connrej 0 0>11 4",
		"5 c2 connreq 56 11>0 5",
		"6 c2 connack 56 22>11 6",
		"9 c2 bulk 120 11>22 8 9< status -12 rdma_failed",
		"14 c2 bulk 2168 22>11 10 11< 14 w2:2048:12-13 status -5 rdma_failed",
		"15 c2 get 120 22>11 15",
		"16 c2 getreply 0 11>22 15< 16 status -110 rdma_failed")
	if a, b := got[1].m.IB.Reject, got[3].m.IB.Reject; a != 28 || b != 8 {
		t.Errorf("rejected for the reasons %d and %d", a, b)
	}
}

// TestConnectionManager has connections that end, requests that are sent again, and one that nobody
// answers.
func TestConnectionManager(t *testing.T) {
	const pause = 4e9
	w := wiretest.O2iblnd{}
	c := wiretest.NewQueuePairs()
	request := func(times int) {
		for range times {
			c.Now += pause
			c.CM(false, wiretest.CMReq, c.Req(w.Connreq()))
		}
	}
	next := func() { c.A.CommID, c.A.Number = c.A.CommID+1, c.A.Number+1 }
	request(2)
	c.CM(false, wiretest.CMReq, c.Req(w.Connreq())) // captured twice
	c.CM(true, wiretest.CMRep, c.Rep(w.Connack()))
	c.Disconnect(true)
	next()
	request(1)
	c.CM(true, wiretest.CMMra, binary.BigEndian.AppendUint32(make([]byte, 4), c.A.CommID))
	next()
	request(3)
	next()
	request(1)
	got, _ := collect(c.Frames, Options{})
	checkIB(t, got,
		"1 c0 connreq 56 11>0 1",
		"2 c0 connreq 56 11>0 2 resent",
		"4 c0 connack 56 22>11 4",
		"5 c0 dreq 0 22>11 5",
		"6 c0 drep 0 11>22 6",
		"7 c1 connreq 56 12>0 7",
		"9 c2 connreq 56 13>0 9",
		"10 c2 connreq 56 13>0 10 resent",
		"11 c2 connreq 56 13>0 11 resent",
		"12 c3 connreq 56 14>0 12",
		"11 c2 connreq 0 13>0 11 unanswered",
		"12 c3 connreq 0 14>0 12 unanswered")
	dreq := got[3].m.LNet
	assert.Equal(t, fmt.Sprint(dreq.Src, " ", dreq.Dst), "10.0.0.2@o2ib 10.0.0.1@o2ib")
	var notes []string
	for _, s := range got {
		for _, n := range s.notes {
			notes = append(notes, n.Text)
		}
	}
	assert.Equal(t, strings.Join(notes, "; "), "repeats frame 1; repeats frame 9; repeats frame 9; "+
		"no answer until the end of the capture, sent 3 times since frame 9; no answer until the end of the capture")
	c = wiretest.NewQueuePairs().Connect(w.Connreq(), w.Connack())
	begin := len(c.Frames) // of the capture
	const noops = 150      // more frames than the first packet of a queue pair waits
	for range noops {
		c.Send(false, w.Noop(false)).Ack(true)
	}
	got, _ = collect(wiretest.Renumber(c.Disconnect(false).Frames[begin:]), Options{})
	checkIB(t, got[noops:],
		"301 c0 dreq 0 11>22 301",
		"302 c0 drep 0 22>11 302")
}

// TestForeign names messages of other network drivers by their magic.
func TestForeign(t *testing.T) {
	for magic, name := range map[uint32]string{magicGNI: "gnilnd", magicKFI: "kfilnd", magicEFA: "efalnd", 0x12345678: ""} {
		b := binary.LittleEndian.AppendUint32(nil, magic)
		c := wiretest.NewQueuePairs().Send(false, append(b, make([]byte, 100)...))
		got, st := collect(c.Frames, Options{})
		switch {
		case st.IB.Foreign != 1:
			t.Errorf("%s: %+v", name, st.IB)
		case name == "" && len(got) == 0:
		case len(got) != 1 || got[0].m.Kind != Unknown || got[0].size != 104 || len(got[0].notes) != 1 || !strings.Contains(got[0].notes[0].Text, name):
			t.Errorf("%s: %s", name, ibSummary(got))
		}
	}
}

// TestClaims has messages whose lengths and checksums are wrong.
func TestClaims(t *testing.T) {
	w := wiretest.O2iblnd{Sum: true}
	plain := wiretest.O2iblnd{}
	message := plain.Immediate(false, wiretest.Put, requestPortal, 1, 0, pattern(100))
	long, short, version, typ := slices.Clone(message), slices.Clone(message), slices.Clone(message), slices.Clone(message)
	binary.LittleEndian.PutUint32(long[8:], 4000)
	binary.LittleEndian.PutUint32(short[8:], 150)
	version[4], typ[6] = 0x13, 0xe0
	sum := w.Immediate(false, wiretest.Put, requestPortal, 1, 0, pattern(100))
	sum[200] ^= 1
	length := slices.Clone(message)
	binary.LittleEndian.PutUint32(length[48+28:], 99999)
	for name, tt := range map[string]struct {
		data []byte
		want string
	}{
		"long": {long, "4 c0 request 220 11>22 4 short"}, "short": {short, "4 c0 request 150 11>22 4 short tail"},
		"version": {version, "4 c0 unknown 220 11>22 4 unknown"}, "type": {typ, "4 c0 unknown 220 11>22 4 unknown"},
		"sum": {sum, "4 c0 request 220 11>22 4 checksum"}, "length": {length, "4 c0 request 220 11>22 4 short"},
	} {
		got, _ := collect(connected(plain).Send(false, tt.data).Frames, Options{})
		if text := ibSummary(got[2:]); text != tt.want {
			t.Errorf("%s: %s, want %s", name, text, tt.want)
		}
	}
}

// TestCredits follows the credits of a connection.
func TestCredits(t *testing.T) {
	plain, w := wiretest.O2iblnd{}, wiretest.O2iblnd{Credits: 3}
	c := connected(plain)
	for range 8 {
		c.Send(false, plain.Immediate(false, wiretest.Put, requestPortal, 1, 0, nil))
	}
	c.Send(true, w.Noop(true)).Send(false, plain.Immediate(false, wiretest.Put, requestPortal, 1, 0, nil))
	got, st := collect(c.Frames, Options{})
	var left []int
	for _, s := range got {
		left = append(left, s.m.IB.Credits)
	}
	if want := []int{-1, -1, 7, 6, 5, 4, 3, 2, 1, 0, 8, 2}; !slices.Equal(left, want) || st.IB.Exhausted != 1 {
		t.Errorf("%v, want %v; %+v", left, want, st.IB)
	}
}
