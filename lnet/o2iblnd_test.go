package lnet

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

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

// ibSummary describes messages, each with what InfiniBand tells of it.
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
