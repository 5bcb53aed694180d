package lnet

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/wiretest"
)

// TestIBRetransmission sends packets again after a NAK, captured before or not.
func TestIBRetransmission(t *testing.T) {
	w := wiretest.O2iblnd{}
	for _, captured := range []bool{true, false} {
		c := connected(w)
		c.Send(false, w.Immediate(false, wiretest.Put, requestPortal, 1, 0, pattern(100))).Ack(true)
		psn := c.A.PSN
		c.Send(false, w.Immediate(false, wiretest.Put, requestPortal, 2, 0, pattern(3000)))
		if !captured {
			at := len(c.Frames) - 4
			c.Frames = slices.Delete(c.Frames, at+1, at+2)
		}
		c.Now += 1e6
		c.Acknowledge(true, psn+1, 0x60, c.B.MSN-1)
		c.Now += 1e6
		c.A.PSN = psn
		again := len(c.Frames)
		c.Send(false, w.Immediate(false, wiretest.Put, requestPortal, 2, 0, pattern(3000)))
		c.Frames = slices.Delete(c.Frames, again, again+1) // from the missing packet on
		c.Ack(true)
		c.Send(false, w.Immediate(false, wiretest.Put, requestPortal, 3, 0, pattern(100)))
		later := make(map[int64]Transfer)
		got, st := collect(wiretest.Renumber(c.Frames), Options{TransferUpdate: func(number int64, t *Transfer) {
			sum := later[number]
			sum.Add(t)
			later[number] = sum
		}})
		if st.IB.Retransmits != 3 || st.IB.Naks != 1 || st.IB.RNR != 0 || st.IB.Gaps != 0 {
			t.Errorf("captured %v: %+v", captured, st.IB)
		}
		m := got[3].m
		transfer := m.Transfer
		if sum, ok := later[m.Number]; ok {
			transfer.Add(&sum)
		}
		if m.LNet.MatchBits != 2 || transfer.Resent < 2 || transfer.NotCaptured == captured || transfer.Lost < 2e6 || transfer.Lost > 4e6 {
			t.Errorf("captured %v: %v %d: %+v", captured, m.Kind, m.LNet.MatchBits, transfer)
		}
		for _, s := range got {
			if s.m.LNet.MatchBits != 2 && (s.m.Transfer.Resent != 0 || later[s.m.Number].Resent != 0) {
				t.Errorf("captured %v: %v %d: %+v", captured, s.m.Kind, s.m.LNet.MatchBits, s.m.Transfer)
			}
		}
		if rtt := got[4].m.Transfer.RTT; rtt != 1e5 {
			t.Errorf("captured %v: round trip of %d ns", captured, rtt)
		}
	}
}

// TestIBLosses checks the losses that are reported: packets that were not captured and in
// which messages may have begun.
func TestIBLosses(t *testing.T) {
	w := wiretest.O2iblnd{}
	c := connected(w)
	c.Send(false, w.Immediate(false, wiretest.Put, requestPortal, 1, 0, pattern(3000))).Ack(true)
	c.Lose(false, 3)
	for i := range uint64(ReorderFrames) {
		c.Send(false, w.Immediate(false, wiretest.Put, requestPortal, 2+i, 0, pattern(10))).Ack(true)
	}
	c.Lose(false, 2).Ack(true)
	c.Now += 2e9
	c.Ack(true)
	var losses []string
	got, st := collect(c.Frames, Options{Lost: func(l *Loss) {
		losses = append(losses, fmt.Sprintf("%v>%v %d in %d", l.Src.Addr(), l.Dst.Addr(), l.Bytes, (l.To-l.From)/1e5))
	}})
	want := []string{"10.0.0.1>10.0.0.2 3072 in 2", "10.0.0.1>10.0.0.2 2048 in 2"}
	if !slices.Equal(losses, want) || len(got) != 3+ReorderFrames || st.IB.Gaps != 1 || st.IB.LostPackets != 3 {
		t.Errorf("%q, %d messages, %+v", losses, len(got), st.IB)
	}
}

// TestIBOneDirection reports the messages that acknowledgements prove, in a capture of one
// direction.
func TestIBOneDirection(t *testing.T) {
	w := wiretest.O2iblnd{}
	c := wiretest.NewQueuePairs()
	for i := range uint64(3) {
		c.Send(false, w.Immediate(false, wiretest.Put, requestPortal, 1+i, 0, pattern(100))).Ack(true)
		c.Send(true, w.Immediate(true, wiretest.Put, requestPortal, 1+i, 0, pattern(2000))).Ack(false)
	}
	both := make([]capture.Frame, len(c.Frames))
	copy(both, c.Frames)
	one := slices.DeleteFunc(c.Frames, func(f capture.Frame) bool { return f.Data[29] != 1 }) // last byte of the source address
	for frames, want := range map[*[]capture.Frame][]string{
		&both: nil,
		&one:  {"10.0.0.2>10.0.0.1 7 packets in 12"},
	} {
		var losses []string
		collect(wiretest.Renumber(*frames), Options{Lost: func(l *Loss) {
			losses = append(losses, fmt.Sprintf("%v>%v %d packets in %d", l.Src.Addr(), l.Dst.Addr(), l.Bytes, (l.To-l.From)/1e5))
			if len(l.NIDs) != 2 {
				t.Errorf("NIDs %v", l.NIDs)
			}
		}})
		if !slices.Equal(losses, want) {
			t.Errorf("%q, want %q", losses, want)
		}
	}
}

// TestIBBounds has many queue pairs, and transfers that never end.
func TestIBBounds(t *testing.T) {
	w := wiretest.O2iblnd{}
	messages := 0
	d := NewDecoder(Options{MaxTotal: 4 << 20, Handle: func(*Message) { messages++ }})
	frame := int64(0)
	play := func(c *wiretest.QueuePairs) {
		for i := range c.Frames {
			frame++
			c.Frames[i].Number = frame
			d.Frame(&c.Frames[i])
		}
		c.Frames = c.Frames[:0]
	}
	for i := range maxQueuePairs/2 + 100 {
		c := wiretest.NewQueuePairs()
		c.A.Addr = netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)})
		c.A.Number, c.B.Number = uint32(i), uint32(i)
		play(c.Send(false, w.Noop(false)).Send(true, w.Noop(true)))
	}
	if st := d.Stats(); st.IB.Live > maxQueuePairs || st.IB.Evicted == 0 || st.IB.QueuePairs != maxQueuePairs+200 {
		t.Errorf("%+v", st.IB)
	}
	c := connected(w)
	const transfers = 12000 // of 1000 bytes each: more than the bound
	most := 0
	for i := range uint64(transfers) {
		c.Send(false, w.PutReq(false, wiretest.Put, bulkPortal, i, 0, 1<<20, i))
		c.Send(true, w.PutAck(true, i, i, 9, wiretest.Fragment{Address: i << 20, Size: 1 << 20})).Write(false, i<<20, 9, make([]byte, 1000))
		play(c)
		most = max(most, d.Stats().Held)
	}
	if most > 8<<20 || messages < transfers-1000 {
		t.Errorf("%d bytes were held, %d messages", most, messages)
	}
	d.Close()
	if st := d.Stats(); st.Held != 0 || messages != int(st.Messages) || messages < maxQueuePairs+transfers {
		t.Errorf("%d messages, %d bytes are held", messages, st.Held)
	}
}

// TestIBUnpaired finds the ends of connections without the connection manager.
func TestIBUnpaired(t *testing.T) {
	w := wiretest.O2iblnd{}
	for name, play := range map[string]func(c *wiretest.QueuePairs){
		"acknowledgements": func(c *wiretest.QueuePairs) {
			c.Send(false, w.Noop(false)).Ack(true).Send(true, w.Noop(true)).Ack(false)
		},
		"cookies": func(c *wiretest.QueuePairs) {
			put(c, w, false, 7, pattern(2000), 2000)
			c.Frames = slices.DeleteFunc(c.Frames, isAck)
		},
		"addresses": func(c *wiretest.QueuePairs) {
			get(c, w, false, 7, pattern(2000), 2000)
			c.Frames = slices.DeleteFunc(c.Frames, isAck)
		},
	} {
		c := wiretest.NewQueuePairs()
		play(c)
		c.Send(false, w.Noop(false)).Send(true, w.Noop(true))
		got, st := collect(wiretest.Renumber(c.Frames), Options{})
		for _, s := range got[len(got)-2:] {
			if s.m.IB.SrcQP == 0 || s.m.Conn != 0 {
				t.Errorf("%s: %x>%x of connection %d", name, s.m.IB.SrcQP, s.m.IB.DestQP, s.m.Conn)
			}
		}
		if name != "acknowledgements" && st.IB.Joined != 1 {
			t.Errorf("%s: %+v", name, st.IB)
		}
	}
}

func isAck(f capture.Frame) bool { return f.Data[bthOff] == wiretest.RCAcknowledge }

// TestIBReusedNumber opens another connection with the same numbers of queue pairs.
func TestIBReusedNumber(t *testing.T) {
	w := wiretest.O2iblnd{}
	c := connected(w)
	c.Send(false, w.Immediate(false, wiretest.Put, requestPortal, 1, 0, pattern(100))).Ack(true)
	c.Send(true, w.PutReq(true, wiretest.Put, bulkPortal, 2, 0, 5000, 7)).Ack(false)
	c.A.PSN, c.B.PSN, c.A.CommID, c.B.CommID = 0x800000, 0x900000, 5, 6
	c.Connect(w.Connreq(), w.Connack())
	c.Send(false, w.Immediate(false, wiretest.Put, requestPortal, 3, 0, pattern(100))).Ack(true)
	c.Send(true, w.Immediate(true, wiretest.Put, requestPortal, 4, 0, pattern(100))).Ack(false)
	got, _ := collect(c.Frames, Options{})
	checkIB(t, got,
		"1 c0 connreq 56 11>0 1",
		"2 c0 connack 56 22>11 2",
		"4 c0 request 220 11>22 4",
		"6 c0 bulk 5120 22>11 6 data 120 in a segment that was not captured truncated",
		"8 c1 connreq 56 11>0 8",
		"9 c1 connack 56 22>11 9",
		"11 c1 request 220 11>22 11",
		"13 c1 request 220 22>11 13")
}

// TestIBQuiet hands out what waits for late frames only, in a live capture.
func TestIBQuiet(t *testing.T) {
	w := wiretest.O2iblnd{}
	c := connected(w)
	c.Send(false, w.Noop(false)).Ack(true).Lose(false, 1).Send(false, w.Noop(false)).Ack(true)
	n := 0
	d := NewDecoder(Options{Handle: func(*Message) { n++ }})
	for i := range c.Frames {
		d.Frame(&c.Frames[i])
	}
	if n != 3 || d.Held() != 6 {
		t.Errorf("%d messages, frame %d is held", n, d.Held())
	}
	d.Flush()
	if n != 4 || d.Held() != 0 {
		t.Errorf("%d messages, frame %d is held", n, d.Held())
	}
}

// TestIBOtherSender uses a queue pair again without a message of the connection manager:
// from another address, and with numbers that are far behind.
func TestIBOtherSender(t *testing.T) {
	w := wiretest.O2iblnd{}
	c := connected(w)
	c.Send(false, w.Noop(false)).Ack(true)
	c.A.PSN = 0x700000
	for range ReorderFrames {
		c.Send(false, w.Noop(false)).Ack(true)
	}
	c.A.PSN = 5
	c.Send(false, w.Noop(false))
	c.A.Addr = netip.AddrFrom4([4]byte{10, 0, 0, 9})
	c.A.PSN = 1000
	c.Send(false, w.Noop(false)).Send(false, w.Noop(false))
	got, st := collect(c.Frames, Options{})
	if len(got) != 2+1+ReorderFrames+1+2 || st.IB.QueuePairs < 4 || got[len(got)-1].m.Conn == got[0].m.Conn {
		t.Errorf("%d messages, %+v", len(got), st.IB)
	}
}

// TestIBNotReady counts an acknowledgement of a receiver that has no buffer.
func TestIBNotReady(t *testing.T) {
	w := wiretest.O2iblnd{}
	c := connected(w)
	c.Send(false, w.Noop(false))
	psn := c.A.PSN - 1
	c.Acknowledge(true, psn, 0x20|14, 0)
	c.Now += 1e6
	c.A.PSN = psn
	c.Send(false, w.Noop(false)).Ack(true)
	got, st := collect(c.Frames, Options{})
	if len(got) != 3 || st.IB.Naks != 1 || st.IB.RNR != 1 || st.IB.Retransmits != 1 {
		t.Errorf("%d messages, %+v", len(got), st.IB)
	}
}

// TestIBUnpairedWrites: writes are joined to the request that they answer where the capture
// begins with them and has no acknowledgements, whatever else the queue pair carries.
func TestIBUnpairedWrites(t *testing.T) {
	const noise = 2 * ReorderFrames // frames of another connection behind them
	w := wiretest.O2iblnd{}
	data := pattern(5000)
	for name, request := range map[string]bool{"request first": true, "writes first": false} {
		c := wiretest.NewQueuePairs()
		if request {
			c.Send(false, w.Immediate(false, wiretest.Put, requestPortal, 1, 0, pattern(100)))
		}
		get(c, w, true, 7, data, 5000)
		other := wiretest.NewQueuePairs()
		other.A.Number, other.B.Number, other.Now = 0x33, 0x44, c.Now
		for i := range uint64(noise) {
			other.Send(false, w.Immediate(false, wiretest.Put, requestPortal, i+2, 0, pattern(100)))
		}
		all, _ := collect(wiretest.Renumber(slices.DeleteFunc(append(c.Frames, other.Frames...), isAck)), Options{})
		joined := 0
		for i := range all {
			if m := all[i].m; m.Kind == GetReply && bytes.Equal(m.Payload(), data) && len(m.Holes) == 0 {
				joined++
			}
		}
		if joined != 1 {
			t.Errorf("%s: %d of the replies are complete: %s", name, joined, ibSummary(all))
		}
	}
}

// TestIBCopies: packets that were captured twice, as mirrored ports show them, count once: those that
// are sent again after a NAK, and the NAK.
func TestIBCopies(t *testing.T) {
	w := wiretest.O2iblnd{}
	for _, run := range []int{1, 4} { // copies come behind so many packets
		c := connected(w)
		begin := len(c.Frames)
		c.Send(false, w.Immediate(false, wiretest.Put, requestPortal, 1, 0, pattern(3000)))
		psn := c.A.PSN - 2
		c.Now += 1e6
		c.Acknowledge(true, psn, 0x60, c.B.MSN-1)
		c.Now += 1e6
		c.A.PSN = psn - 1
		again := len(c.Frames)
		c.Send(false, w.Immediate(false, wiretest.Put, requestPortal, 1, 0, pattern(3000)))
		c.Frames = slices.Delete(c.Frames, again, again+1)
		c.Ack(true)
		frames := slices.Clone(c.Frames[:begin])
		for i := begin; i < len(c.Frames); {
			n := 1
			for n < run && i+n < len(c.Frames) && c.Frames[i+n].Time-c.Frames[i].Time < 5e5 {
				n++
			}
			part := c.Frames[i : i+n]
			i += n
			frames = append(frames, part...)
			for _, f := range part {
				f.Time = part[n-1].Time + 2e4
				frames = append(frames, f)
			}
		}
		once, want := collect(c.Frames, Options{})
		events := 0
		twice, got := collect(wiretest.Renumber(frames), Options{IBEvent: func(*IBEvent) { events++ }})
		if got.IB.Retransmits != want.IB.Retransmits || got.IB.Naks != want.IB.Naks || events != 2 || len(once) != len(twice) {
			t.Errorf("run of %d: %d messages, %d events, %+v; want %d, %+v", run, len(twice), events, got.IB, len(once), want.IB)
		}
	}
}
