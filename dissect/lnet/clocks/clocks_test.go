package clocks

import (
	"encoding/binary"
	"math/rand"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet/link"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

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

// sample is a frame with its time.
type sample struct {
	time int64
	data []byte
}

func writeFile(t *testing.T, name string, list []sample) string {
	f := must.Value(os.Create(filepath.Join(t.TempDir(), name)))(t)
	w := capture.NewWriter(f)
	for _, s := range list {
		must.NoError(t, w.Write(&capture.Frame{Time: s.time, Len: len(s.data), Data: s.data, Link: capture.LinkEthernet}, ""))
	}
	must.NoError(t, w.Flush())
	must.NoError(t, f.Close())
	return f.Name()
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
			at[0] = append(at[0], sample{5e9 + sent, data})
			at[1] = append(at[1], sample{5e9 + arrived + int64(skew), data})
		} else {
			if i == 12 {
				arrived = sent + int64(delay)
			}
			at[0] = append(at[0], sample{5e9 + arrived, data})
			at[1] = append(at[1], sample{5e9 + sent + int64(skew), data})
		}
	}
	// Sent again, and seen at a different time by each: to be left out.
	again := at[0][0]
	at[0] = append(at[0], again)
	again.time += 3e9
	at[1] = append(at[1], again, again)
	return writeFile(t, "a", at[0]), writeFile(t, "b", at[1])
}

func TestCompare(t *testing.T) {
	for i, skew := range []time.Duration{0, 3 * time.Second, -700 * time.Millisecond, 20 * time.Microsecond, time.Second} {
		packet := testSegment
		if i%2 == 0 {
			packet = testRoCE
		}
		a, b := conversation(t, packet, skew, 150*time.Microsecond, false)
		got, notes, err := Compare([]string{a, b})
		if err != nil || len(notes) != 1 {
			t.Fatal(err, notes)
		}
		off := got[b].Offset + skew
		assert.That(t, got[a] == Clock{Of: a} && got[b].Of == a && off.Abs() <= time.Microsecond, "skew %v: offset %v", skew, got)
		swapped, _, err := Compare([]string{b, a})
		if off := swapped[a].Offset - skew; err != nil || off.Abs() > time.Microsecond {
			t.Errorf("skew %v the other way: offset %v, %v", skew, swapped, err)
		}
	}
	a, b := conversation(t, testSegment, time.Second, 0, true)
	if got, _, err := Compare([]string{a, b}); err != nil || len(got) != 0 {
		t.Errorf("one direction alone: %v, %v", got, err)
	}
	a, b = conversation(t, testSegment, time.Second, 5*time.Second, false)
	if got, notes, err := Compare([]string{a, b}); err != nil || len(got) != 0 || len(notes) != 1 {
		t.Errorf("five seconds on the way: %v, %v, %v", got, notes, err)
	}
	if _, _, err := Compare([]string{a, a + "missing"}); err == nil {
		t.Error("a missing file is not reported")
	}
}

func TestCompareThree(t *testing.T) {
	a, b := conversation(t, testSegment, time.Second, 100*time.Microsecond, false)
	alone := writeFile(t, "alone", []sample{{1e9, []byte("x")}, {2e9, []byte("x")}})
	_, c := conversation(t, testSegment, 3*time.Second, 100*time.Microsecond, false)
	got, notes, err := Compare([]string{alone, a, b, c})
	if err != nil || len(notes) != 2 || len(got) != 3 {
		t.Fatal(got, notes, err)
	}
	if b, c := got[b].Offset+time.Second, got[c].Offset+3*time.Second; b.Abs() > time.Microsecond || c.Abs() > time.Microsecond {
		t.Errorf("%v", got)
	}
}

// TestSegmentTable compares with a map.
func TestSegmentTable(t *testing.T) {
	var table segmentTable
	places := map[segment]int32{}
	random := rand.New(rand.NewSource(1))
	for range 10_000 {
		s := segment{random.Int31n(4), uint32(random.Intn(1000)) << 10, uint32(random.Intn(2)) * 1448}
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
	f := link.Flow{Src: [16]byte{1}, Dst: [16]byte{2}, SrcPort: 1021, DstPort: 988}
	s := newSightings()
	there, opposite := s.number(f), s.number(f.Reverse())
	assert.That(t, there == s.number(f) && opposite == there^1, "flows %d and %d", there, opposite)
	for file := range int32(1000) {
		own := segment{0, uint32(file), 1}
		every := segment{1, 0, 1}
		list := fileSegments{flows: []link.Flow{f, f.Reverse()}}
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
