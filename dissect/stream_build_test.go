package dissect

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"net/netip"
	"os"
	"testing"

	"github.com/google/gopacket/pcapgo"

	"github.com/lshark/lshark/capture"
)

// sample reads a capture of pcaps/.
func sample(t testing.TB, name string) []capture.Frame {
	t.Helper()
	f, err := os.Open("../pcaps/" + name + ".pcap")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := pcapgo.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var frames []capture.Frame
	for {
		data, info, err := r.ReadPacketData()
		if err != nil {
			return frames
		}
		frames = append(frames, capture.Frame{Number: int64(len(frames) + 1), Time: info.Timestamp.UnixNano(),
			Len: info.Length, Data: data, Link: capture.LinkType(r.LinkType())})
	}
}

// renumber gives frames the numbers of their places.
func renumber(frames []capture.Frame) []capture.Frame {
	for i := range frames {
		frames[i].Number = int64(i + 1)
	}
	return frames
}

// seen is what a test keeps of a message.
type seen struct {
	flow  string // direction
	what  string // everything a change of segments must not change
	frame int64
	conn  int
	seq   uint32
	size  int
	tail  Why
	holes int
	notes []Note
	m     *Message
}

// collect runs frames through a Streams.
func collect(frames []capture.Frame, o StreamOptions) ([]seen, StreamStats) {
	var all []seen
	o.Handle = func(m *Message) {
		c := *m
		c.Data = append([]byte(nil), m.Data...)
		c.Holes = append([]Hole(nil), m.Holes...)
		c.Notes = append([]Note(nil), m.Notes...)
		all = append(all, seen{
			flow: fmt.Sprintf("%v>%v", m.Src, m.Dst),
			what: fmt.Sprintf("%v>%v %v v%d %v %v %d %08x", m.Src, m.Dst, m.Kind, m.Version, m.LNet.Type, m.LNet.MatchBits,
				m.Size, crc32.ChecksumIEEE(m.Data)),
			frame: m.Frame, conn: m.Conn, seq: m.Seq, size: m.Size, tail: m.Tail, holes: len(m.Holes), notes: c.Notes, m: &c,
		})
	}
	s := NewStreams(o)
	for i := range frames {
		s.Frame(&frames[i])
	}
	s.Close()
	return all, s.Stats()
}

// byFlow lists what the messages of each direction are, in order.
func byFlow(all []seen) map[string][]string {
	flows := make(map[string][]string)
	for _, m := range all {
		flows[m.flow] = append(flows[m.flow], m.what)
	}
	return flows
}

// end is one side of a TCP connection that a test builds.
type end struct {
	addr netip.Addr
	port uint16
	seq  uint32
}

// tape builds the frames of a TCP connection.
type tape struct {
	frames []capture.Frame
	a, b   end // a connects to b
	now    int64
}

const (
	testISN    = 1000
	testISNTwo = 500000
)

func newTape() *tape {
	return &tape{
		a:   end{netip.MustParseAddr("10.0.0.1"), 1023, testISN},
		b:   end{netip.MustParseAddr("10.0.0.2"), 988, testISNTwo},
		now: 1e18,
	}
}

func newTape6() *tape {
	t := newTape()
	t.a.addr, t.b.addr = netip.MustParseAddr("fd00::1"), netip.MustParseAddr("fd00::2")
	return t
}

// put adds a frame with a TCP segment from one end to the other.
func (t *tape) put(from, to *end, flags byte, seq uint32, payload []byte) {
	t.frame(capture.LinkEthernet, ethernetFrame(ipPacket(from.addr, to.addr, 6, tcpSegment(from, to, flags, seq, payload))))
}

func (t *tape) frame(link capture.LinkType, data []byte) {
	t.now += 1e5
	t.frames = append(t.frames, capture.Frame{Number: int64(len(t.frames) + 1), Time: t.now, Len: len(data), Data: data, Link: link})
}

// syn opens the connection.
func (t *tape) syn() *tape {
	t.put(&t.a, &t.b, tcpSYN, t.a.seq, nil)
	t.a.seq++
	t.put(&t.b, &t.a, tcpSYN|tcpACK, t.b.seq, nil)
	t.b.seq++
	t.put(&t.a, &t.b, tcpACK, t.a.seq, nil)
	return t
}

// send sends bytes in one segment, from a or, when back, from b.
func (t *tape) send(back bool, payload []byte) *tape {
	from, to := &t.a, &t.b
	if back {
		from, to = to, from
	}
	t.put(from, to, tcpACK|tcpPSH, from.seq, payload)
	from.seq += uint32(len(payload))
	return t
}

// lose counts bytes as sent that the capture does not have.
func (t *tape) lose(n int) *tape {
	t.a.seq += uint32(n)
	return t
}

// cut sends bytes in segments of n.
func (t *tape) cut(payload []byte, n int) *tape {
	for len(payload) > 0 {
		k := min(n, len(payload))
		t.send(false, payload[:k])
		payload = payload[k:]
	}
	return t
}

// other adds frames that have nothing to do with LNet.
func (t *tape) other(n int) *tape {
	for range n {
		t.frame(capture.LinkEthernet, make([]byte, 60))
	}
	return t
}

func tcpSegment(from, to *end, flags byte, seq uint32, payload []byte) []byte {
	b := make([]byte, 20, 20+len(payload))
	binary.BigEndian.PutUint16(b, from.port)
	binary.BigEndian.PutUint16(b[2:], to.port)
	binary.BigEndian.PutUint32(b[4:], seq)
	binary.BigEndian.PutUint32(b[8:], to.seq)
	b[12], b[13] = 5<<4, flags
	return append(b, payload...)
}

func ipPacket(src, dst netip.Addr, proto byte, body []byte) []byte {
	if src.Is6() {
		b := make([]byte, 40, 40+len(body))
		b[0], b[6], b[7] = 0x60, proto, 64
		binary.BigEndian.PutUint16(b[4:], uint16(len(body)))
		copy(b[8:], src.AsSlice())
		copy(b[24:], dst.AsSlice())
		return append(b, body...)
	}
	b := make([]byte, 20, 20+len(body))
	b[0], b[8], b[9] = 0x45, 64, proto
	binary.BigEndian.PutUint16(b[2:], uint16(20+len(body)))
	copy(b[12:], src.AsSlice())
	copy(b[16:], dst.AsSlice())
	return append(b, body...)
}

func ethernetFrame(packet []byte) []byte {
	b := make([]byte, 14, 14+len(packet))
	binary.BigEndian.PutUint16(b[12:], etherIPv4)
	if packet[0]>>4 == 6 {
		binary.BigEndian.PutUint16(b[12:], etherIPv6)
	}
	return append(b, packet...)
}

// wire builds socklnd messages between 10.0.0.1@tcp and 10.0.0.2@tcp, or
// between the IPv6 ends.
type wire struct {
	version int
	big     bool
	sum     bool // with a checksum
}

func (w wire) u32(b []byte, v uint32) []byte {
	if w.big {
		return binary.BigEndian.AppendUint32(b, v)
	}
	return binary.LittleEndian.AppendUint32(b, v)
}

func (w wire) u64(b []byte, v uint64) []byte {
	if w.big {
		return binary.BigEndian.AppendUint64(b, v)
	}
	return binary.LittleEndian.AppendUint64(b, v)
}

func testNID(back bool) uint64 {
	if back {
		return 2<<48 | 0x0a000002
	}
	return 2<<48 | 0x0a000001
}

func testNID16(b []byte, back bool) []byte {
	addr := netip.MustParseAddr("fd00::1")
	if back {
		addr = netip.MustParseAddr("fd00::2")
	}
	b = append(b, 12, 2, 0, 0)
	return append(b, addr.AsSlice()...)
}

// hello builds the hello of this version.
func (w wire) hello(back bool, ips ...uint32) []byte {
	var b []byte
	switch w.version {
	case 1:
		le := binary.LittleEndian
		b = le.AppendUint32(b, magicTCP)
		b = append(b, 1, 0, 0, 0)
		b = le.AppendUint64(b, testNID(back))
		b = le.AppendUint64(b, 0)
		b = le.AppendUint32(b, uint32(LNetHello))
		b = le.AppendUint32(b, uint32(4*len(ips)))
		b = append(b, make([]byte, 40)...)
	case 4:
		b = w.u32(w.u32(b, magicLNet), 4)
		b = testNID16(testNID16(b, back), !back)
		b = append(b, make([]byte, 32)...)
	default:
		b = w.u32(w.u32(b, magicLNet), uint32(w.version))
		b = w.u64(w.u64(b, testNID(back)), testNID(!back))
		b = append(b, make([]byte, 28)...)
		b = w.u32(b, uint32(len(ips)))
	}
	for _, ip := range ips {
		b = w.u32(b, ip)
	}
	return b
}

func (w wire) connreq() []byte {
	if w.version == 4 {
		return testNID16(w.u32(w.u32(nil, magicAcceptor), 2), true)
	}
	return w.u64(w.u32(w.u32(nil, magicAcceptor), 1), testNID(true))
}

func (w wire) noop(first, second uint64) []byte {
	return w.u64(w.u64(w.u32(w.u32(nil, ksockNoop), 0), first), second)
}

// lnet builds an LNet message from a to b, or when back from b to a.
func (w wire) lnet(back bool, typ LNetType, portal uint32, match uint64, payload []byte) []byte {
	le := binary.LittleEndian
	var b []byte
	if w.version != 1 {
		b = append(w.u32(w.u32(b, ksockLNet), 0), make([]byte, 16)...)
	}
	if w.version == 4 {
		b = testNID16(testNID16(b, !back), back)
	} else {
		b = le.AppendUint64(le.AppendUint64(b, testNID(!back)), testNID(back))
	}
	b = le.AppendUint32(le.AppendUint32(b, lnetLndPid), lnetLndPid)
	b = le.AppendUint32(le.AppendUint32(b, uint32(typ)), uint32(len(payload)))
	cmd := make([]byte, 40)
	le.PutUint64(cmd, match^0x1234)
	le.PutUint64(cmd[16:], match)
	switch typ {
	case LNetPut:
		le.PutUint32(cmd[32:], portal)
	case LNetGet:
		le.PutUint32(cmd[24:], portal)
	}
	b = append(append(b, cmd...), payload...)
	if w.sum {
		crc := crcOn(^uint32(0), b)
		copy(b[4:], w.u32(nil, crc))
	}
	return b
}

func (w wire) put(match uint64, n int) []byte {
	payload := make([]byte, n)
	for i := range payload {
		payload[i] = byte(i*7 + int(match))
	}
	return w.lnet(false, LNetPut, 12, match, payload)
}

func joined(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}
