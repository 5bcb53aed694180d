package anonymize

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/anonymize/values"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/checksum"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

var (
	endA = wiretest.End{Addr: netip.MustParseAddr("10.11.12.13"), Port: 1023, Seq: 77}
	endB = wiretest.End{Addr: netip.MustParseAddr("10.11.12.14"), Port: lnet.DefaultPort, Seq: 88}
	six1 = netip.MustParseAddr("fd12:3456:789a::1")
	six2 = netip.MustParseAddr("fd12:3456:789a::2")
	macA = []byte{0x52, 0x54, 0x00, 0x12, 0x34, 0x56}
	text = []byte("secret.of.the.site")
)

const flagACK = 0x10

// Ethernet types, IP protocols, extension headers of IPv6, and a UDP port.
const (
	etherIPv4   = 0x0800
	etherARP    = 0x0806
	etherVLAN   = 0x8100
	etherIPv6   = 0x86dd
	etherQinQ   = 0x88a8
	etherERSPAN = 0x88be
	etherRoCE   = 0x8915

	protoICMP        = 1
	protoIPv4        = 4
	protoRouting     = 43
	protoFragment    = 44
	protoGRE         = 47
	protoAuth        = 51
	protoDestination = 60

	portVXLAN = 4789
)

func be16(v uint16) []byte { return binary.BigEndian.AppendUint16(nil, v) }

func segment() []byte { return wiretest.TCP(&endA, &endB, flagACK, 77, text) }
func packet4() []byte { return wiretest.IP(endA.Addr, endB.Addr, protoTCP, segment()) }
func packet6() []byte { return wiretest.IP(six1, six2, protoTCP, segment()) }

func udp(port uint16, body []byte) []byte {
	return wiretest.Join(be16(1234), be16(port), be16(uint16(udpSize+len(body))), be16(0), body)
}

func ethernet(typ uint16, body []byte) []byte { return wiretest.Join(macA, macA, be16(typ), body) }

// options4 gives an IPv4 packet a header with options, whose length is a multiple of 4.
func options4(packet, options []byte) []byte {
	b := wiretest.Join(packet[:ipv4Size], options, packet[ipv4Size:])
	b[0] += byte(len(options) / 4)
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	return b
}

// testFrame is a frame, and whether its payload belongs to LNet.
type testFrame struct {
	name string
	link capture.LinkType
	data []byte
	lnet bool
}

// testFrames returns frames of each link type, tunnel and protocol.
func testFrames() []testFrame {
	address := endA.Addr.AsSlice()
	six := six1.AsSlice()
	record := wiretest.Join([]byte{7, 11, 8}, address, endB.Addr.AsSlice(), []byte{0}) // record route
	cooked := wiretest.Join(be16(0), be16(1), be16(6), macA, be16(0))
	cooked2 := wiretest.Join(be16(0), []byte{0, 0, 0, 2}, be16(1), []byte{0, 6}, macA, be16(0))
	return []testFrame{
		{"Ethernet", capture.LinkEthernet, ethernet(etherIPv4, packet4()), true},
		{"Ethernet, IPv6", capture.LinkEthernet, ethernet(etherIPv6, packet6()), true},
		{"VLAN", capture.LinkEthernet, ethernet(etherVLAN, wiretest.Join(be16(5), be16(etherIPv4), packet4())), true},
		{"QinQ", capture.LinkEthernet, ethernet(etherQinQ, wiretest.Join(be16(5), be16(etherVLAN), be16(6), be16(etherIPv6), packet6())), true},
		{"padding", capture.LinkEthernet, wiretest.Join(ethernet(etherIPv4, packet4()), text), true},
		{"SLL", capture.LinkLinuxSLL, wiretest.Join(cooked, be16(etherIPv4), packet4()), true},
		{"SLL2", capture.LinkLinuxSLL2, wiretest.Join(be16(etherIPv6), cooked2, packet6()), true},
		{"raw", capture.LinkRaw, packet4(), true},
		{"NULL", capture.LinkNull, wiretest.Join([]byte{2, 0, 0, 0}, packet4()), true},
		{"ERF", capture.LinkERF, wiretest.ERF(2, 1, ethernet(etherIPv4, packet4())), true},
		{"IP options", capture.LinkRaw, options4(packet4(), record), true},
		{"IPv6 options", capture.LinkRaw, wiretest.IP(six1, six2, protoDestination, wiretest.Join([]byte{protoTCP, 2, 0xc9, 16}, six, []byte{1, 2, 0, 0}, segment())), true},
		{"routing header", capture.LinkRaw, wiretest.IP(six1, six2, protoRouting, wiretest.Join([]byte{protoTCP, 2, 0, 1, 0, 0, 0, 0}, six, segment())), true},
		{"authentication", capture.LinkRaw, wiretest.IP(six1, six2, protoAuth, wiretest.Join([]byte{protoTCP, 4, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2}, text[:12], segment())), true},
		{"IP in IP", capture.LinkRaw, wiretest.IP(six1, six2, protoIPv4, packet4()), true},
		{"VXLAN", capture.LinkRaw, wiretest.IP(six1, six2, protoUDP, udp(portVXLAN, wiretest.Join([]byte{8, 0, 0, 0, 0, 0, 1, 0}, ethernet(etherIPv4, packet4())))), true},
		{"GRE", capture.LinkRaw, wiretest.IP(endA.Addr, endB.Addr, protoGRE, wiretest.Join(be16(0x3000), be16(etherIPv6), make([]byte, 8), packet6())), true},
		{"ERSPAN", capture.LinkRaw, wiretest.IP(endA.Addr, endB.Addr, protoGRE, wiretest.Join(be16(0x1000), be16(etherERSPAN), make([]byte, 12), ethernet(etherIPv4, packet4()))), true},
		{"fragment", capture.LinkRaw, fragment(packet4()), false},
		{"IPv6 fragment", capture.LinkRaw, wiretest.IP(six1, six2, protoFragment, wiretest.Join([]byte{protoTCP, 0, 0, 1, 0, 0, 0, 9}, segment())), false},
		{"ARP", capture.LinkEthernet, ethernet(etherARP, wiretest.Join(be16(1), be16(etherIPv4), []byte{6, 4}, be16(1), macA, address, macA, address)), false},
		{"ARP of others", capture.LinkEthernet, ethernet(etherARP, wiretest.Join(be16(32), be16(etherIPv4), []byte{20, 4}, be16(1), text, address, text, address)), false},
		{"LLDP", capture.LinkEthernet, ethernet(0x88cc, wiretest.Join([]byte{2, 7, 4}, macA, text)), false},
		{"LLC", capture.LinkEthernet, ethernet(20, text), false},
		{"DNS", capture.LinkRaw, wiretest.IP(six1, six2, protoUDP, udp(53, text)), false},
		{"other TCP", capture.LinkRaw, wiretest.IP(six1, six2, protoTCP, wiretest.TCP(&endA, &wiretest.End{Addr: endB.Addr, Port: 22}, flagACK, 77, text)), false},
		{"unknown protocol", capture.LinkRaw, wiretest.IP(endA.Addr, endB.Addr, 89, text), false},
		{"unreachable", capture.LinkRaw, wiretest.IP(endB.Addr, endA.Addr, protoICMP, wiretest.Join([]byte{3, 4, 0, 0, 0, 0, 5, 0}, packet4()[:28])), false},
		{"redirect", capture.LinkRaw, wiretest.IP(endB.Addr, endA.Addr, protoICMP, wiretest.Join([]byte{5, 1, 0, 0}, address, packet4()[:28])), false},
		{"echo", capture.LinkRaw, wiretest.IP(endB.Addr, endA.Addr, protoICMP, wiretest.Join([]byte{8, 0, 0, 0, 0, 1, 0, 2}, text)), false},
		{"neighbour", capture.LinkRaw, wiretest.IP(six1, six2, protoICMPv6, wiretest.Join([]byte{135, 0, 0, 0, 0, 0, 0, 0}, six, []byte{1, 1}, macA)), false},
		{"router", capture.LinkRaw, wiretest.IP(six1, six2, protoICMPv6, wiretest.Join([]byte{134, 0, 0, 0, 64, 0, 0, 9}, make([]byte, 8), []byte{3, 4, 64, 0}, make([]byte, 12), six, []byte{5, 1, 0, 0, 0, 0, 5, 220, 31, 3}, text, make([]byte, 4))), false},
		{"invalid IP", capture.LinkRaw, wiretest.Join([]byte{0x44}, text, address), false},
		{"unknown link type", 250, wiretest.Join(text, address, macA), false},
		{"short", capture.LinkEthernet, macA, false},
	}
}

// fragment makes an IPv4 packet the first fragment.
func fragment(packet []byte) []byte {
	packet[6] |= 0x20
	return packet
}

// TestHeaders checks that of frames of any kind no address and no text is left, and that the
// payload of LNet is found.
func TestHeaders(t *testing.T) {
	originals := map[string][]byte{"address": endA.Addr.AsSlice(), "IPv6 address": six1.AsSlice()[:8], "MAC": macA, "text": text[:8]}
	for _, c := range testFrames() {
		f := capture.Frame{Number: 1, Link: c.link, Data: c.data, Len: len(c.data)}
		checkHeaders(t, &f)
		h := newHeaders(values.New([]byte("key")), []uint16{lnet.DefaultPort})
		out := make([]byte, len(c.data))
		h.rewrite(&f, out)
		for name, original := range originals {
			assert.That(t, !bytes.Contains(out, original), "%s: the %s is left in % x", c.name, name, out)
		}
		assert.Equal(t, h.payload.size > 0, c.lnet, c.name, "payload", h.payload)
		if c.lnet && string(c.data[h.payload.off:h.payload.off+h.payload.size]) != string(text) {
			t.Errorf("%s: payload at %d", c.name, h.payload.off)
		}
	}
}

// TestTCPOptions checks which options are kept.
func TestTCPOptions(t *testing.T) {
	stamps := wiretest.Timestamps(7, 9)
	cookie := []byte{34, 6, 's', 'e', 'c', 'r'}
	for name, c := range map[string]struct{ options, want []byte }{
		"timestamps": {stamps, stamps},
		"SACK":       {wiretest.SACK([2]uint32{200, 300}), wiretest.SACK([2]uint32{200, 300})},
		"SYN":        {[]byte{2, 4, 5, 180, 4, 2, 1, 3, 3, 7, 0, 0}, []byte{2, 4, 5, 180, 4, 2, 1, 3, 3, 7, 0, 0}},
		"fast open":  {append(cookie, 1, 1), bytes.Repeat([]byte{1}, 8)},
		"invalid":    {[]byte{1, 1, 34, 0}, []byte{1, 1, 0, 0}},
		"too long":   {[]byte{34, 9, 's', 'e'}, []byte{1, 1, 1, 1}},
	} {
		from, to := endA, endB
		from.Options = c.options
		data := wiretest.IP(from.Addr, to.Addr, protoTCP, wiretest.TCP(&from, &to, flagACK, 77, text))
		h := newHeaders(values.New([]byte("key")), []uint16{lnet.DefaultPort})
		out := make([]byte, len(data))
		h.rewrite(&capture.Frame{Link: capture.LinkRaw, Data: data, Len: len(data)}, out)
		got := out[ipv4Size+tcpSize:][:len(c.want)]
		assert.That(t, bytes.Equal(got, c.want), "%s: % x, want % x", name, got, c.want)
	}
}

// TestChecksums checks that a checksum is right where it was right, and else stays wrong,
// absent or that of the pseudo header.
func TestChecksums(t *testing.T) {
	const at = ipv4Size + 16
	right := packet4()
	src, dst := endA.Addr.As4(), endB.Addr.As4()
	length := len(right) - ipv4Size
	pseudo := checksum.Add(checksum.Add(uint16(protoTCP+length), src[:]), dst[:])
	clear(right[at : at+2])
	binary.BigEndian.PutUint16(right[at:], ^checksum.Add(pseudo, right[ipv4Size:]))
	with := func(v uint16) []byte {
		b := bytes.Clone(right)
		binary.BigEndian.PutUint16(b[at:], v)
		return b
	}
	for name, c := range map[string]struct {
		data []byte
		wire int
		want sumState
	}{
		"right":                   {right, len(right), sumRight},
		"wrong":                   {with(0x1234), len(right), sumWrong},
		"absent":                  {with(0), len(right), sumAbsent},
		"partial":                 {with(pseudo), len(right), sumPartial},
		"cut":                     {right[:at+8], len(right), sumRight},
		"cut, partial":            {with(pseudo)[:at+8], len(right), sumPartial},
		"cut before the checksum": {right[:at], len(right), sumRight},
	} {
		h := newHeaders(values.New([]byte("key")), []uint16{lnet.DefaultPort})
		out := make([]byte, len(c.data))
		h.rewrite(&capture.Frame{Link: capture.LinkRaw, Data: c.data, Len: c.wire}, out)
		if len(c.data) <= at {
			assert.Equal(t, len(h.sums), 0, name, "checksums")
			continue
		}
		h.sums[0].set(out)
		again := newHeaders(values.New([]byte("key")), []uint16{lnet.DefaultPort})
		again.rewrite(&capture.Frame{Link: capture.LinkRaw, Data: out, Len: c.wire}, make([]byte, len(out)))
		if h.sums[0].state != c.want || again.sums[0].state != c.want {
			t.Errorf("%s: state %d, in the result %d, want %d", name, h.sums[0].state, again.sums[0].state, c.want)
		}
	}
}

// TestSampleChecksums checks that all checksums of the samples have the same state after
// rewriting, among them the ICRC of RoCE.
func TestSampleChecksums(t *testing.T) {
	icrc := 0
	for _, path := range wiretest.Samples(t) {
		frames := wiretest.ReadSample(t, path)
		result := rewriteAll(t, frames, "key")
		before := newHeaders(values.New([]byte("key")), []uint16{lnet.DefaultPort})
		after := newHeaders(values.New([]byte("key")), []uint16{lnet.DefaultPort})
		for i := range frames {
			before.rewrite(&frames[i], make([]byte, len(frames[i].Data)))
			after.rewrite(&result[i], make([]byte, len(frames[i].Data)))
			must.Equal(t, len(before.sums), len(after.sums), path, "frame checksums, were")
			for k := range before.sums {
				assert.Equal(t, before.sums[k].state, after.sums[k].state, path, "frame state of checksum", k, "was")
				if before.sums[k].header != notICRC && before.sums[k].state == sumRight {
					icrc++
				}
			}
		}
	}
	assert.That(t, icrc != 0, "no sample has a right ICRC")
}

// rewriteAll returns the frames as rewritten with a key.
func rewriteAll(t testing.TB, frames []capture.Frame, key string) (result []capture.Frame) {
	t.Helper()
	a := New(Options{Key: []byte(key), Write: func(f *capture.Frame) error {
		g := *f
		g.Data = bytes.Clone(f.Data)
		result = append(result, g)
		return nil
	}})
	for i := range frames {
		must.NoError(t, a.Frame(&frames[i]))
	}
	must.NoError(t, a.Close())
	must.Equal(t, len(result), len(frames), "frames")
	return result
}

// infiniBandFrames returns frames of each kind with a packet of InfiniBand, whose payload is
// rewritten with that of its stream.
func infiniBandFrames() []testFrame {
	write := wiretest.InfiniBand(wiretest.Join(wiretest.BTH(wiretest.RCWriteOnly, 0x22, 77, false), wiretest.RETH(1, 2, uint32(len(text)))), text)
	a, b := wiretest.QueuePair{Addr: endA.Addr, Port: 0xc011}, wiretest.QueuePair{Addr: endB.Addr}
	c, d := wiretest.QueuePair{Addr: six1, Port: 0xc011}, wiretest.QueuePair{Addr: six2}
	grh := wiretest.GRH(six1.As16(), six2.As16(), len(write))
	return []testFrame{
		{"RoCEv2", capture.LinkEthernet, wiretest.RoCEv2(&a, &b, write), true},
		{"RoCEv2, IPv6", capture.LinkEthernet, wiretest.RoCEv2(&c, &d, write), true},
		{"RoCEv1", capture.LinkEthernet, ethernet(etherRoCE, wiretest.Join(grh, write)), true},
		{"InfiniBand", capture.LinkInfiniBand, wiretest.Join(wiretest.LRH(7, 9, false, len(write)), write), true},
		{"InfiniBand, VCRC", capture.LinkInfiniBand, wiretest.Join(wiretest.LRH(7, 9, false, len(write)), write, []byte{1, 2}), true},
		{"InfiniBand, GRH", capture.LinkInfiniBand, wiretest.Join(wiretest.LRH(7, 9, true, len(grh)+len(write)), grh, write), true},
		{"ERF", capture.LinkERF, wiretest.ERF(wiretest.ERFInfiniBand, 1, wiretest.Join(wiretest.LRH(7, 9, false, len(write)), write)), true},
		{"mirrored", capture.LinkInfiniBand, wiretest.Join([]byte{0, 0, 0, 1, 0, byte((16+len(grh)+len(write)+8)/4 + 1), 0, 2, 0, 0, 0x11, 0x23, 0, 0, 0, 0},
			wiretest.LRH(7, 9, true, len(grh)+len(write)), grh, write, []byte{1, 2, 3, 4}), true},
	}
}

// TestInfiniBandHeaders checks that no address and no payload is left, and that an ICRC
// which was right is right in the result.
func TestInfiniBandHeaders(t *testing.T) {
	for _, c := range infiniBandFrames() {
		f := capture.Frame{Number: 1, Link: c.link, Data: c.data, Len: len(c.data)}
		checkHeaders(t, &f)
		rewrite := func(data []byte) (*headers, []byte) {
			h := newHeaders(values.New([]byte("key")), []uint16{lnet.DefaultPort})
			out := make([]byte, len(data))
			g := f
			g.Data = data
			h.rewrite(&g, out)
			return h, out
		}
		h, _ := rewrite(c.data)
		last := len(h.sums) - 1
		if h.payload.size != len(text) || last < 0 || h.sums[last].header == notICRC || h.sums[last].state != sumWrong {
			t.Errorf("%s: payload %v, checksums %+v", c.name, h.payload, h.sums)
			continue
		}
		right := bytes.Clone(c.data)
		h.sums[last].state = sumRight
		h.sums[last].set(right)
		h, out := rewrite(right)
		for name, original := range map[string][]byte{"address": endA.Addr.AsSlice(), "GID": six1.AsSlice()[8:], "text": text[:8]} {
			assert.That(t, name == "GID" || !bytes.Contains(out, original), "%s: the %s is left in % x", c.name, name, out)
		}
		assert.Equal(t, h.sums[last].state, sumRight, c.name, "state")
		h.sums[last].set(out)
		if h, _ = rewrite(out); h.sums[last].state != sumRight {
			t.Errorf("%s: state %d in the result", c.name, h.sums[last].state)
		}
	}
}

// TestO2iblnd checks that all messages of a connection over RoCE can be read in the result,
// with other NIDs, and that checksums are right.
func TestO2iblnd(t *testing.T) {
	for _, w := range []wiretest.O2iblnd{{}, {Big: true}, {Sum: true}} {
		body := bytes.Repeat([]byte("payload "), 300) // several packets
		q := wiretest.NewQueuePairs().Connect(w.Connreq(), w.Connack())
		q.Send(false, w.Immediate(false, wiretest.Put, 12, 1, 0, body)).Ack(true)
		memory := wiretest.Fragment{Address: 0x1000, Size: uint32(len(body))}
		q.Send(false, w.PutReq(false, wiretest.Put, 12, 2, 0, len(body), 3)).Send(true, w.PutAck(true, 3, 4, 9, memory))
		q.Write(false, 0x1000, 9, body).Send(false, w.Done(false, wiretest.O2PutDone, 4, 0)).Ack(true)
		q.Send(false, w.Noop(false)).Reject(28, append(w.Refusal(3), "leftover"...)).Disconnect(false)

		result := rewriteAll(t, q.Frames, "key")
		for _, f := range result {
			assert.That(t, !bytes.Contains(f.Data, []byte("leftover")), "%+v: bytes behind the private data of a REJ stay", w)
		}
		before, after := messagesOf(q.Frames), messagesOf(result)
		must.That(t, len(before) >= 5 && len(after) == len(before), "%+v: %d messages, were %d", w, len(after), len(before))
		for i, m := range after {
			was := before[i]
			if m.Kind != was.Kind || m.Size != was.Size || m.LNet.MatchBits != was.LNet.MatchBits || len(m.Notes) != len(was.Notes) {
				t.Errorf("%+v: message %d is %v of %d bytes with %v, was %v of %d with %v", w, i, m.Kind, m.Size, m.Notes, was.Kind, was.Size, was.Notes)
			}
			if was.LNet.Src.Len > 0 && (m.LNet.Src == was.LNet.Src || m.LNet.Dst == was.LNet.Dst) {
				t.Errorf("%+v: message %d has the NIDs %v and %v", w, i, m.LNet.Src, m.LNet.Dst)
			}
		}
	}
}

// messagesOf returns copies of the LNet messages in frames.
func messagesOf(frames []capture.Frame) (list []*lnet.Message) {
	d := lnet.NewDecoder(lnet.Options{Handle: func(m *lnet.Message) { list = append(list, m.Clone()) }})
	wiretest.Play(d, frames)
	return list
}
