package wiretest

import (
	"net/netip"

	"github.com/lshark/lshark/dissect/capture"
)

// TCP flags.
const (
	FIN = 1 << iota
	SYN
	RST
	PSH
	ACK
)

// Initial sequence numbers of the two ends of a Conn.
const (
	ISNOfA = 1000
	ISNOfB = 500000
)

// End is one end of a TCP connection.
type End struct {
	Addr netip.Addr
	Port uint16
	Seq  uint32 // of the next byte it sends

	Options []byte // TCP options of its segments, a multiple of four bytes
}

// Conn builds the frames of a TCP connection.
type Conn struct {
	Recording
	A, B End // A connects to B
}

// Recording is the frames of a capture.
type Recording struct {
	Frames []capture.Frame
	Now    int64 // time of the last frame
}

// NewConn returns a connection from 10.0.0.1:1023 to 10.0.0.2:988, without
// frames.
func NewConn() *Conn {
	return &Conn{
		Recording: Recording{Now: 1e18},
		A:         End{Addr: netip.AddrFrom4([4]byte{10, 0, 0, 1}), Port: 1023, Seq: ISNOfA},
		B:         End{Addr: netip.AddrFrom4([4]byte{10, 0, 0, 2}), Port: 988, Seq: ISNOfB},
	}
}

// NewConn6 returns the same from fd00::1 to fd00::2.
func NewConn6() *Conn {
	c := NewConn()
	c.A.Addr, c.B.Addr = netip.MustParseAddr("fd00::1"), netip.MustParseAddr("fd00::2")
	return c
}

// Segment adds a frame with a TCP segment from one end to the other. Its
// acknowledgement number is all that the other end has sent.
func (c *Conn) Segment(from, to *End, flags byte, seq uint32, payload []byte) {
	c.Frame(capture.LinkEthernet, Ethernet(IP(from.Addr, to.Addr, 6, TCP(from, to, flags, seq, payload))))
}

// Frame adds any frame, 100 µs after the last one.
func (c *Recording) Frame(link capture.LinkType, data []byte) {
	c.Now += 1e5
	c.Frames = append(c.Frames, capture.Frame{Number: int64(len(c.Frames) + 1), Time: c.Now, Len: len(data), Data: data, Link: link})
}

// Open adds the three frames that open the connection.
func (c *Conn) Open() *Conn {
	c.Segment(&c.A, &c.B, SYN, c.A.Seq, nil)
	c.A.Seq++
	c.Segment(&c.B, &c.A, SYN|ACK, c.B.Seq, nil)
	c.B.Seq++
	c.Segment(&c.A, &c.B, ACK, c.A.Seq, nil)
	return c
}

// Send sends bytes in one segment, from A or, when back is set, from B.
func (c *Conn) Send(back bool, payload []byte) *Conn {
	from, to := &c.A, &c.B
	if back {
		from, to = to, from
	}
	c.Segment(from, to, ACK|PSH, from.Seq, payload)
	from.Seq += uint32(len(payload))
	return c
}

// Lose skips n bytes that A sends, as if they had not been captured.
func (c *Conn) Lose(n int) *Conn {
	c.A.Seq += uint32(n)
	return c
}

// SendSplit sends bytes from A in segments of at most n.
func (c *Conn) SendSplit(payload []byte, n int) *Conn {
	for len(payload) > 0 {
		k := min(n, len(payload))
		c.Send(false, payload[:k])
		payload = payload[k:]
	}
	return c
}

// OtherFrames adds n frames that have nothing to do with LNet.
func (c *Conn) OtherFrames(n int) *Conn {
	for range n {
		c.Frame(capture.LinkEthernet, make([]byte, 60))
	}
	return c
}

// Swap exchanges frames i and j.
func (c *Conn) Swap(i, j int) {
	c.Frames[i], c.Frames[j] = c.Frames[j], c.Frames[i]
	Renumber(c.Frames)
}

// Renumber gives frames the numbers of their places, from 1.
func Renumber(frames []capture.Frame) []capture.Frame {
	for i := range frames {
		frames[i].Number = int64(i + 1)
	}
	return frames
}

// TCP builds a segment. Its acknowledgement number is all that the other end
// has sent, its window 65535, and the checksum zero.
func TCP(from, to *End, flags byte, seq uint32, payload []byte) []byte {
	header := 20 + len(from.Options)
	return pack(be, from.Port, to.Port, seq, to.Seq, byte(header/4)<<4, flags, uint32(0xffff<<16), uint16(0), from.Options, payload)
}

// IP builds a packet of IPv4 or IPv6, according to the addresses.
func IP(src, dst netip.Addr, proto byte, body []byte) []byte {
	if src.Is6() {
		return pack(be, uint32(0x60<<24), uint16(len(body)), proto, byte(64), src.AsSlice(), dst.AsSlice(), body)
	}
	return pack(be, uint16(0x4500), uint16(20+len(body)), uint32(0), byte(64), proto, uint16(0), src.AsSlice(), dst.AsSlice(), body)
}

// Ethernet puts an IP packet into an Ethernet frame.
func Ethernet(packet []byte) []byte {
	typ := uint16(0x0800)
	if packet[0]>>4 == 6 {
		typ = 0x86dd
	}
	return pack(be, make([]byte, 12), typ, packet)
}

// Timestamps returns the TCP options of a segment with timestamps.
func Timestamps(value, echo uint32) []byte {
	return pack(be, []byte{1, 1, 8, 10}, value, echo)
}

// SACK returns the TCP option with blocks of sequence numbers.
func SACK(blocks ...[2]uint32) []byte {
	b := []byte{1, 1, 5, byte(2 + 8*len(blocks))}
	for _, k := range blocks {
		b = pack(be, b, k)
	}
	return b
}
