package capture

import (
	"encoding/binary"
	"fmt"
	"math/rand"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

// at makes frames at the given seconds, marked with a letter.
func at(mark string, seconds ...int64) []byte {
	var list []sample
	for _, s := range seconds {
		list = append(list, sample{s * 1e9, []byte(mark), 1})
	}
	return pcapFile(binary.LittleEndian, true, 1, list)
}

func TestMergeOrder(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	var paths []string
	var want []int64
	for i := range 7 {
		var list []sample
		now := int64(0)
		for range 100 * i {
			now += random.Int63n(1000)
			list = append(list, sample{now + 1, []byte{byte(i)}, 1})
			want = append(want, now+1)
		}
		paths = append(paths, writeFile(t, fmt.Sprint(i), pcapFile(binary.LittleEndian, true, 1, list)))
	}
	slices.Sort(want)
	got, err := readAll(t, Options{}, paths...)
	must.That(t, err == nil && len(got) == len(want), "%d frames, want %d; %v", len(got), len(want), err)
	for i, f := range got {
		must.Equal(t, f.Time, want[i], "frame")
	}
}

// TestSources: files of one node follow each other, files of different nodes
// overlap.
func TestSources(t *testing.T) {
	dir := func(name string, data []byte) string { return writeFile(t, name, data) }
	for name, c := range map[string]struct {
		files []string
		want  string
	}{
		"rotated": {[]string{dir("c2", at("c", 5, 6)), dir("c0", at("a", 1, 2)), dir("c1", at("b", 3, 4))},
			"a0 a0 b0 b0 c0 c0"},
		"two nodes": {[]string{dir("x", at("a", 1, 3)), dir("y", at("b", 2, 4))},
			"a0 b1 a0 b1"},
		"equal times": {[]string{dir("x", at("a", 1, 1)), dir("y", at("b", 1, 1))},
			"a0 a0 b0 b0"},
		"one inside": {[]string{dir("x", at("a", 1, 9)), dir("y", at("b", 2, 3)), dir("z", at("c", 4))},
			"a0 b1 b1 c1 a0"},
	} {
		got := must.Value(readAll(t, Options{}, c.files...))(t)
		assert.Equal(t, marks(got), c.want, name)
	}
	// Two nodes, rotated: the names say what goes on with what.
	base := t.TempDir() + "/"
	for name, data := range map[string][]byte{"client.0": at("a", 1, 4), "server.0": at("b", 2, 3), "client.1": at("c", 6, 8), "server.1": at("d", 5, 7)} {
		writeTo(t, base+name, data)
	}
	got, err := readAll(t, Options{}, base+"client.0", base+"client.1", base+"server.0", base+"server.1")
	if want := "a0 b1 b1 a0 d1 c0 d1 c0"; err != nil || marks(got) != want {
		t.Errorf("%s, want %s; %v", marks(got), want, err)
	}
}

func marks(list []Frame) string {
	text := ""
	for i, f := range list {
		if i > 0 {
			text += " "
		}
		text += string(f.Data) + fmt.Sprint(f.Source)
	}
	return text
}

// TestFrameFiles checks that each frame of a merge has the name of its file and
// its number in it, and that of a single file only the number.
func TestFrameFiles(t *testing.T) {
	a, b, c := writeFile(t, "a", at("a", 1, 5)), writeFile(t, "b", at("b", 2, 3, 7)), writeFile(t, "c", at("c", 4))
	names := FileNames([]string{a, b, c})
	got, err := readAll(t, Options{}, a, b, c)
	must.NoError(t, err)
	type place struct {
		file   string
		number int64
	}
	want := []place{{names[0], 1}, {names[1], 1}, {names[1], 2}, {names[2], 1}, {names[0], 2}, {names[1], 3}}
	var places []place
	for _, f := range got {
		places = append(places, place{f.File, f.FileNumber})
	}
	assert.Slice(t, places, want)
	got, err = readAll(t, Options{}, b)
	assert.That(t, err == nil && len(got) == 3 && got[2].File == "" && got[2].Number == 3, "a single file: %+v; %v", got, err)
}

func TestOffset(t *testing.T) {
	a, b := writeFile(t, "a", at("a", 1, 3, 5)), writeFile(t, "b", at("b", 12, 14))
	got, err := readAll(t, Options{Offset: map[string]time.Duration{b: -10 * time.Second}}, a, b)
	if want := "a0 b1 a0 b1 a0"; err != nil || marks(got) != want || got[1].Time != 2e9 {
		t.Errorf("%s, want %s; %v", marks(got), want, err)
	}
}

// TestMergeDamage: the damaged file ends early, the others go on.
func TestMergeDamage(t *testing.T) {
	data := at("b", 2, 4, 6)
	a, b := writeFile(t, "a", at("a", 1, 3, 5, 7)), writeFile(t, "b", data[:len(data)-1])
	c := writeFile(t, "c", nil)
	got, err := readAll(t, Options{}, a, b, c)
	assert.Equal(t, marks(got), "a0 b1 a0 b1 a0 a0")
	d := damaged(t, err)
	first := (err.(interface{ Unwrap() []error })).Unwrap()
	assert.That(t, len(first) == 2 && d.File == c, "%v, want the damage of %s and %s", err, c, b)
}

// testSegment is an Ethernet frame with 100 bytes of a connection from a to b.
func testSegment(t *testing.T, seq uint32, toB bool) []byte {
	ip := &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolTCP, SrcIP: net.IP{192, 0, 2, 1}, DstIP: net.IP{192, 0, 2, 2}}
	tcp := &layers.TCP{SrcPort: 1021, DstPort: 988, Seq: seq, ACK: true}
	if !toB {
		ip.SrcIP, ip.DstIP, tcp.SrcPort, tcp.DstPort = ip.DstIP, ip.SrcIP, tcp.DstPort, tcp.SrcPort
	}
	address := make(net.HardwareAddr, 6)
	buf := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true},
		&layers.Ethernet{SrcMAC: address, DstMAC: address, EthernetType: layers.EthernetTypeIPv4},
		ip, tcp, gopacket.Payload(make([]byte, 100))); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// testPacket makes a frame with a number, in one of the directions.
type testPacket = func(t *testing.T, seq uint32, toB bool) []byte

// testRoCE is a testPacket with an RDMA write over RoCEv2. The ports of the senders
// differ from those of the receivers.
func testRoCE(t *testing.T, seq uint32, toB bool) []byte {
	ip := &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: net.IP{192, 0, 2, 1}, DstIP: net.IP{192, 0, 2, 2}}
	udp := &layers.UDP{SrcPort: 50000, DstPort: 4791}
	bth := binary.BigEndian.AppendUint32([]byte{0x07, 0, 0xff, 0xff, 0, 0, 0, 0x11}, seq&(1<<24-1))
	if !toB {
		ip.SrcIP, ip.DstIP, udp.SrcPort, bth[7] = ip.DstIP, ip.SrcIP, 50001, 0x12
	}
	address := make(net.HardwareAddr, 6)
	buf := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true},
		&layers.Ethernet{SrcMAC: address, DstMAC: address, EthernetType: layers.EthernetTypeIPv4},
		ip, udp, gopacket.Payload(append(bth, make([]byte, 100)...))); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// conversation makes the captures of a connection at its two ends: what a
// sends arrives at b after delay and more, and b's clock is ahead by skew.
func conversation(t *testing.T, packet testPacket, skew, delay time.Duration, oneWay bool) (a, b string) {
	random := rand.New(rand.NewSource(2))
	var at [2][]sample
	for i := range 200 {
		toB := oneWay || i%3 != 0
		data := packet(t, uint32(i*100), toB)
		sent := int64(i) * 1e6
		arrived := sent + int64(delay) + random.Int63n(300_000)
		if i == 10 {
			arrived = sent + int64(delay)
		}
		if toB {
			at[0] = append(at[0], sample{5e9 + sent, data, len(data)})
			at[1] = append(at[1], sample{5e9 + arrived + int64(skew), data, len(data)})
		} else {
			if i == 12 {
				arrived = sent + int64(delay)
			}
			at[0] = append(at[0], sample{5e9 + arrived, data, len(data)})
			at[1] = append(at[1], sample{5e9 + sent + int64(skew), data, len(data)})
		}
	}
	// Sent again, and seen at a different time by each: to be left out.
	again := at[0][0]
	at[0] = append(at[0], again)
	again.time += 3e9
	at[1] = append(at[1], again, again)
	return writeFile(t, "a", pcapFile(binary.LittleEndian, true, 1, at[0])), writeFile(t, "b", pcapFile(binary.LittleEndian, true, 1, at[1]))
}

func TestEstimateOffsets(t *testing.T) {
	for i, skew := range []time.Duration{0, 3 * time.Second, -700 * time.Millisecond, 20 * time.Microsecond, time.Second} {
		packet := testSegment
		if i%2 == 0 {
			packet = testRoCE
		}
		a, b := conversation(t, packet, skew, 150*time.Microsecond, false)
		got, notes, err := EstimateOffsets([]string{a, b})
		if err != nil || len(notes) != 1 {
			t.Fatal(err, notes)
		}
		off := got[b] + skew
		_, moved := got[a]
		assert.That(t, !moved && off.Abs() <= time.Microsecond, "skew %v: offset %v", skew, got)
		swapped, _, err := EstimateOffsets([]string{b, a})
		if off := swapped[a] - skew; err != nil || off.Abs() > time.Microsecond {
			t.Errorf("skew %v the other way: offset %v, %v", skew, swapped, err)
		}
	}
	a, b := conversation(t, testSegment, time.Second, 0, true)
	if got, _, err := EstimateOffsets([]string{a, b}); err != nil || len(got) != 0 {
		t.Errorf("one direction alone: %v, %v", got, err)
	}
	a, b = conversation(t, testSegment, time.Second, 5*time.Second, false)
	if got, notes, err := EstimateOffsets([]string{a, b}); err != nil || len(got) != 0 || len(notes) != 1 {
		t.Errorf("five seconds on the way: %v, %v, %v", got, notes, err)
	}
	if _, _, err := EstimateOffsets([]string{a, a + "missing"}); err == nil {
		t.Error("a missing file is not reported")
	}
}

// TestEstimateThree: a file is compared with the first one that it shares
// segments of both directions with.
func TestEstimateThree(t *testing.T) {
	a, b := conversation(t, testSegment, time.Second, 100*time.Microsecond, false)
	alone := writeFile(t, "alone", at("x", 1, 2))
	_, c := conversation(t, testSegment, 3*time.Second, 100*time.Microsecond, false)
	got, notes, err := EstimateOffsets([]string{alone, a, b, c})
	if err != nil || len(notes) != 2 || len(got) != 2 {
		t.Fatal(got, notes, err)
	}
	if b, c := got[b]+time.Second, got[c]+3*time.Second; b.Abs() > time.Microsecond || c.Abs() > time.Microsecond {
		t.Errorf("%v", got)
	}
}

// TestSegmentTable compares with a map.
func TestSegmentTable(t *testing.T) {
	var table segmentTable
	places := map[flowSegment]int32{}
	random := rand.New(rand.NewSource(1))
	for range 10_000 {
		s := flowSegment{random.Int31n(4), uint32(random.Intn(1000)) << 10, uint32(random.Intn(2)) * 1448}
		want, known := places[s]
		if !known {
			want = int32(len(places))
			places[s] = want
		}
		if i, isNew := table.place(s); i != want || isNew == known {
			t.Fatalf("%v is at %d, new: %v; want %d", s, i, isNew, want)
		}
	}
	assert.Equal(t, table.segments.n, len(places), "segments")
}

// TestManySightings: files that share nothing are not compared, and of a
// segment that all files saw not all sightings are kept.
func TestManySightings(t *testing.T) {
	f := flow{netip.MustParseAddrPort("192.0.2.1:1021"), netip.MustParseAddrPort("192.0.2.2:988")}
	s := newSightings()
	there, back := s.number(f), s.number(f.back())
	assert.That(t, there == s.number(f) && back == there^1, "flows %d and %d", there, back)
	for file := range int32(1000) {
		own := flowSegment{0, uint32(file), 1}
		every := flowSegment{1, 0, 1}
		list := fileSegments{flows: []flow{f, f.back()}}
		list.place(own)
		list.times.add(1)
		list.place(every)
		list.times.add(2)
		shared := s.add(file, &list)
		must.Equal(t, len(shared), min(int(file), maxSightings), "file", file, "is compared with")
		_, first := shared[0]
		must.That(t, file <= 0 || first, "file %d is not compared with the first", file)
	}
	assert.Equal(t, s.all.n, 1000+maxSightings, "sightings are kept")
}
