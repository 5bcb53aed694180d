package lnet

import (
	"fmt"
	"testing"

	"github.com/lshark/lshark/internal/wiretest"
)

// transfers runs the frames of a connection through a Decoder and returns what
// TCP did to each message, by match bits: before and after it was handed out.
func transfers(tc *wiretest.Conn) (map[uint64]*Transfer, TCPAnomalies) {
	all, bits := make(map[uint64]*Transfer), make(map[int64]uint64)
	var marked TCPAnomalies
	d := NewDecoder(Options{
		Want:           skipAll,
		TCPEvent:       func(m *TCPEvent) { marked.Add(&m.TCPAnomalies) },
		TransferUpdate: func(number int64, t *Transfer) { all[bits[number]].Add(t) },
		Handle: func(m *Message) {
			t := m.Transfer
			bits[m.Number], all[m.LNet.MatchBits] = m.LNet.MatchBits, &t
		},
	})
	wiretest.Play(d, tc.Frames)
	if total := d.Stats().TCP.Marks; marked != total {
		panic(fmt.Sprintf("Marked got %+v of %+v", marked, total))
	}
	return all, marked
}

// ack adds an ACK of one end up to a sequence number of the other.
func ack(tc *wiretest.Conn, from, to *wiretest.End, number uint32) {
	end := *to
	end.Seq = number
	tc.Segment(from, &end, tcpACK, from.Seq, nil)
}

// again adds a segment of A that was sent before.
func again(tc *wiretest.Conn, seq uint32, data []byte) {
	tc.Segment(&tc.A, &tc.B, tcpACK, seq, data)
}

// stamped sends data twice, 10 ms apart, with timestamps 5 and 15; the ACK echoes
// one of them.
func stamped(tc *wiretest.Conn, data []byte, echo uint32) {
	seq := tc.A.Seq
	tc.A.Options = wiretest.Timestamps(5, 0)
	tc.Send(false, data)
	tc.Now += 10e6 - 1e5
	tc.A.Options = wiretest.Timestamps(15, 0)
	again(tc, seq, data)
	tc.B.Options = wiretest.Timestamps(100, echo)
	ack(tc, &tc.B, &tc.A, tc.A.Seq)
}

func TestTransfer(t *testing.T) {
	const ms = int64(1e6)
	for name, c := range map[string]struct {
		send func(tc *wiretest.Conn, data []byte)
		want Transfer // RTT apart
		mark TCPAnomalies
	}{
		"once": {func(tc *wiretest.Conn, data []byte) {
			tc.Send(false, data)
			ack(tc, &tc.B, &tc.A, tc.A.Seq)
		}, Transfer{}, TCPAnomalies{}},
		"captured twice": {func(tc *wiretest.Conn, data []byte) {
			seq := tc.A.Seq
			tc.A.Options = wiretest.Timestamps(5, 0)
			tc.Send(false, data[:200])
			again(tc, seq, data[:200])
			tc.Send(false, data[200:])
			again(tc, seq, data[:200])
			again(tc, seq+200, data[200:])
			ack(tc, &tc.B, &tc.A, tc.A.Seq)
			again(tc, seq+200, data[200:])
		}, Transfer{}, TCPAnomalies{}},
		"sent again, and captured twice": {func(tc *wiretest.Conn, data []byte) {
			seq := tc.A.Seq
			tc.Send(false, data)
			tc.Now += 200*ms - 1e5
			tc.A.Options = wiretest.Timestamps(205, 0)
			again(tc, seq, data)
			again(tc, seq, data)
			ack(tc, &tc.B, &tc.A, tc.A.Seq)
		}, Transfer{Resent: 1, Timed: 1, Lost: 200 * ms, AckedLate: true}, TCPAnomalies{Retransmissions: 1}},
		"after the message": {func(tc *wiretest.Conn, data []byte) {
			seq := tc.A.Seq
			tc.Send(false, data)
			tc.Now += 200*ms - 1e5
			again(tc, seq, data)
			ack(tc, &tc.B, &tc.A, tc.A.Seq)
		}, Transfer{Resent: 1, Timed: 1, Lost: 200 * ms, AckedLate: true}, TCPAnomalies{Retransmissions: 1}},
		"twice": {func(tc *wiretest.Conn, data []byte) {
			seq := tc.A.Seq
			tc.Send(false, data)
			tc.Now += 10*ms - 1e5
			again(tc, seq, data)
			tc.Now += 20*ms - 1e5
			again(tc, seq, data)
			ack(tc, &tc.B, &tc.A, tc.A.Seq)
		}, Transfer{Resent: 2, Timed: 2, Lost: 30 * ms}, TCPAnomalies{Retransmissions: 2}},
		"spurious": {func(tc *wiretest.Conn, data []byte) {
			seq := tc.A.Seq
			tc.Send(false, data)
			ack(tc, &tc.B, &tc.A, tc.A.Seq)
			tc.Now += 10 * ms
			again(tc, seq, data)
		}, Transfer{Resent: 1, Timed: 1}, TCPAnomalies{Retransmissions: 1, Spurious: 1}},
		"not acknowledged": {func(tc *wiretest.Conn, data []byte) {
			seq := tc.A.Seq
			tc.Send(false, data)
			tc.Now += 10 * ms
			again(tc, seq, data)
		}, Transfer{Resent: 1}, TCPAnomalies{Retransmissions: 1}},
		"acknowledged too soon": {func(tc *wiretest.Conn, data []byte) {
			seq := tc.A.Seq
			tc.Send(false, data)
			tc.Now += 10 * ms
			again(tc, seq, data)
			tc.Now -= 9e4
			ack(tc, &tc.B, &tc.A, tc.A.Seq)
		}, Transfer{Resent: 1, Timed: 1}, TCPAnomalies{Retransmissions: 1}},
		"received twice": {func(tc *wiretest.Conn, data []byte) {
			seq := tc.A.Seq
			tc.Send(false, data)
			tc.Now += 10 * ms
			again(tc, seq, data)
			tc.B.Options = wiretest.SACK([2]uint32{seq, tc.A.Seq})
			ack(tc, &tc.B, &tc.A, tc.A.Seq)
		}, Transfer{Resent: 1, Timed: 1}, TCPAnomalies{Retransmissions: 1}},
		"echo of the first": {func(tc *wiretest.Conn, data []byte) {
			stamped(tc, data, 5)
		}, Transfer{Resent: 1, Timed: 1}, TCPAnomalies{Retransmissions: 1}},
		"echo of the second": {func(tc *wiretest.Conn, data []byte) {
			stamped(tc, data, 15)
		}, Transfer{Resent: 1, Timed: 1, Lost: 10 * ms}, TCPAnomalies{Retransmissions: 1}},
		"echo of another": {func(tc *wiretest.Conn, data []byte) {
			seq := tc.A.Seq
			tc.Send(false, data)
			tc.A.Options = wiretest.Timestamps(15, 0)
			again(tc, seq+200, data[200:])
			tc.B.Options = wiretest.Timestamps(100, 10)
			ack(tc, &tc.B, &tc.A, tc.A.Seq)
		}, Transfer{Resent: 1}, TCPAnomalies{Retransmissions: 1}},
		"echo of another, then received twice": {func(tc *wiretest.Conn, data []byte) {
			seq := tc.A.Seq
			tc.Send(false, data)
			tc.A.Options = wiretest.Timestamps(15, 0)
			again(tc, seq+200, data[200:])
			tc.B.Options = wiretest.Timestamps(100, 10)
			ack(tc, &tc.B, &tc.A, tc.A.Seq)
			tc.B.Options = append(wiretest.Timestamps(100, 10), wiretest.SACK([2]uint32{seq + 200, tc.A.Seq})...)
			ack(tc, &tc.B, &tc.A, tc.A.Seq)
		}, Transfer{Resent: 1, Timed: 1}, TCPAnomalies{Retransmissions: 1}},
		"stalled": {func(tc *wiretest.Conn, data []byte) {
			seq := tc.A.Seq
			tc.Send(false, data[:200])
			tc.Now += 300*ms - 1e5
			again(tc, seq+100, data[100:200])
			tc.Send(false, data[200:])
		}, Transfer{Resent: 1, Timed: 1, Lost: 300 * ms}, TCPAnomalies{Retransmissions: 1}},
		"last of several": {func(tc *wiretest.Conn, data []byte) {
			seq := tc.A.Seq
			tc.Send(false, data[:100]).Lose(100)
			tc.Send(false, data[200:300])
			tc.Now += 20*ms - 1e5
			tc.Send(false, data[300:])
			tc.Now += 30*ms - 1e5
			again(tc, seq+100, data[100:200])
		}, Transfer{Resent: 1, Timed: 1, Lost: 30 * ms, NotCaptured: true}, TCPAnomalies{Retransmissions: 1}},
		"inside the message": {func(tc *wiretest.Conn, data []byte) {
			seq := tc.A.Seq
			tc.Send(false, data[:200])
			tc.Now += 10*ms - 1e5
			again(tc, seq+100, data[100:200])
			tc.Send(false, data[200:])
		}, Transfer{Resent: 1}, TCPAnomalies{Retransmissions: 1}},
		"fast": {func(tc *wiretest.Conn, data []byte) {
			seq := tc.A.Seq
			tc.Send(false, data[:200]).Send(false, data[200:])
			ack(tc, &tc.B, &tc.A, seq)
			ack(tc, &tc.B, &tc.A, seq)
			ack(tc, &tc.B, &tc.A, seq)
			tc.Now += 5 * ms
			again(tc, seq, data[:200])
			ack(tc, &tc.B, &tc.A, tc.A.Seq)
		}, Transfer{Resent: 1, Timed: 1, Lost: 5*ms + 4e5}, TCPAnomalies{Retransmissions: 1, Fast: 1}},
		"gap filled late": {func(tc *wiretest.Conn, data []byte) {
			seq := tc.A.Seq
			tc.Send(false, data[:200]).Lose(100).Send(false, data[300:])
			tc.Now += 50*ms - 1e5
			again(tc, seq+200, data[200:300])
		}, Transfer{Resent: 1, Timed: 1, Lost: 50 * ms, NotCaptured: true}, TCPAnomalies{Retransmissions: 1}},
		"gap shown by an ACK": {func(tc *wiretest.Conn, data []byte) {
			seq := tc.A.Seq
			tc.Lose(len(data))
			ack(tc, &tc.A, &tc.B, tc.B.Seq)
			tc.Now += 50 * ms
			again(tc, seq, data)
		}, Transfer{Resent: 1, NotCaptured: true}, TCPAnomalies{Retransmissions: 1}},
		"out of order": {func(tc *wiretest.Conn, data []byte) {
			seq := tc.A.Seq
			tc.Send(false, data[:200]).Lose(100).Send(false, data[300:])
			tc.Frames[len(tc.Frames)-1].Time -= 5e4
			tc.Now -= 5e4
			again(tc, seq+200, data[200:300])
		}, Transfer{}, TCPAnomalies{OutOfOrder: 1}},
		"late, of the same time": {func(tc *wiretest.Conn, data []byte) {
			seq := tc.A.Seq
			tc.A.Options = wiretest.Timestamps(5, 0)
			tc.Send(false, data[:200]).Lose(100).Send(false, data[300:])
			tc.Now += 20 * ms
			again(tc, seq+200, data[200:300])
		}, Transfer{}, TCPAnomalies{OutOfOrder: 1}},
		"late, of a later time": {func(tc *wiretest.Conn, data []byte) {
			seq := tc.A.Seq
			tc.A.Options = wiretest.Timestamps(5, 0)
			tc.Send(false, data[:200]).Lose(100).Send(false, data[300:])
			tc.Now += 20*ms - 1e5
			tc.A.Options = wiretest.Timestamps(25, 0)
			again(tc, seq+200, data[200:300])
		}, Transfer{Resent: 1, Timed: 1, Lost: 20 * ms, NotCaptured: true}, TCPAnomalies{Retransmissions: 1}},
		"sent again with new bytes": {func(tc *wiretest.Conn, data []byte) {
			seq := tc.A.Seq
			tc.A.Options = wiretest.Timestamps(5, 0)
			tc.Send(false, data[:200]).Lose(100).Send(false, data[300:400])
			tc.Now += 40 * ms
			tc.A.Options = wiretest.Timestamps(45, 0)
			tc.Send(false, data[400:])
			tc.Now += 6 * ms
			again(tc, seq+200, data[200:300])
		}, Transfer{Resent: 1, Timed: 1, Lost: 6*ms + 1e5, NotCaptured: true}, TCPAnomalies{Retransmissions: 1}},
		"keep-alive": {func(tc *wiretest.Conn, data []byte) {
			tc.Send(false, data)
			again(tc, tc.A.Seq-1, nil)
			again(tc, tc.A.Seq-1, data[len(data)-1:])
		}, Transfer{}, TCPAnomalies{}},
		"late ACK": {func(tc *wiretest.Conn, data []byte) {
			tc.Send(false, data)
			tc.Now += 201 * ms
			ack(tc, &tc.B, &tc.A, tc.A.Seq)
		}, Transfer{AckedLate: true}, TCPAnomalies{}},
	} {
		t.Run(name, func(t *testing.T) {
			tc, w := opened()
			ack(tc, &tc.B, &tc.A, tc.A.Seq)
			tc.Send(true, w.Hello(true))
			c.send(tc, w.Put(640, 400))
			all, marks := transfers(tc)
			got := all[640]
			if got == nil {
				t.Fatal("no message")
			}
			if got.RTT <= 0 {
				t.Errorf("RTT %d", got.RTT)
			}
			if got.LostTo-got.LostFrom != got.Lost {
				t.Errorf("%d ns lost from %d to %d", got.Lost, got.LostFrom, got.LostTo)
			}
			got.RTT, got.LostFrom, got.LostTo = 0, 0, 0
			if *got != c.want || marks != c.mark {
				t.Errorf("got %+v %+v, want %+v %+v", *got, marks, c.want, c.mark)
			}
		})
	}
}

// TestTransferOfRun: a segment with several messages is sent again.
func TestTransferOfRun(t *testing.T) {
	tc, w := opened()
	tc.Send(true, w.Hello(true))
	seq := tc.A.Seq
	data := wiretest.Join(w.Put(64, 10), w.Put(128, 10), w.Put(192, 10))
	tc.Send(false, data)
	tc.Now += 1e9
	again(tc, seq, data[:len(data)/3+1])
	all, _ := transfers(tc)
	if all[64].Resent != 1 || all[128].Resent != 1 || all[192].Resent != 0 {
		t.Errorf("%+v %+v %+v", all[64], all[128], all[192])
	}
}

// TestRoundTrip: the least of the last round trips counts, without those of
// segments that were sent again.
func TestRoundTrip(t *testing.T) {
	tc, w := opened()
	tc.Send(true, w.Hello(true))
	for i := range uint64(2 * rttSamples) {
		tc.Send(false, w.Put(64+i<<6, 10))
		tc.Now += 5e6 + int64(i%3)*1e6
		ack(tc, &tc.B, &tc.A, tc.A.Seq)
	}
	seq := tc.A.Seq
	tc.Send(false, w.Put(1<<20, 10))
	again(tc, seq, w.Put(1<<20, 10))
	ack(tc, &tc.B, &tc.A, tc.A.Seq)
	tc.Send(false, w.Put(1<<21, 10))
	ack(tc, &tc.B, &tc.A, tc.A.Seq)
	for i := range uint64(2 * rttSamples) {
		tc.Send(false, w.Put(1<<22+i<<6, 10))
		tc.Now += 1e9 // the server works
		tc.Send(true, w.Noop(0, 1))
	}
	all, _ := transfers(tc)
	if rtt := all[1<<22+(2*rttSamples-1)<<6].RTT; rtt > 6e6 {
		t.Errorf("RTT %d with the time of the server", rtt)
	}
	if rtt := all[1<<21].RTT; rtt != 5e6+1e5 {
		t.Errorf("RTT %d", rtt)
	}
}

// TestAnalysisIsBounded keeps sending segments of a message that never ends
// again.
func TestAnalysisIsBounded(t *testing.T) {
	tc, w := opened()
	tc.Send(false, w.LNet(false, wiretest.Put, 8, 64, make([]byte, 1<<20))[:1000])
	for i := range 1000 {
		tc.Send(false, make([]byte, 100))
		tc.Now += 1e9
		again(tc, tc.A.Seq-uint32(100*(1+i%8)), make([]byte, 100))
	}
	d := NewDecoder(Options{Want: skipAll})
	wiretest.Play(d, tc.Frames)
	c := d.tcp.conns.active.First()
	for i := range c.half {
		a := c.half[i].analysis.remembered()
		if len(a.again) > maxResentRanges || len(a.unsettled) > maxUnsettled || len(a.times) > maxSendTimes || len(a.sent.ring) > maxSentMessages {
			t.Errorf("%d ranges, %d times, %d messages", len(a.again), len(a.times), len(a.sent.ring))
		}
	}
	if n := d.Stats().TCP.Marks.Retransmissions; n != 1000 {
		t.Errorf("%d retransmissions", n)
	}
}
