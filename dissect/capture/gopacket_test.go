package capture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/gopacket"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

// TestBeyondGopacket reads what gopacket's readers refuse, read wrong or
// panic at. A note has the place where they end, if they do.
func TestBeyondGopacket(t *testing.T) {
	le := binary.LittleEndian
	one := sample{1_700_000_000_500_000_000, bytes.Repeat([]byte{7}, 100), 100}
	header := func(change func(b []byte)) []byte {
		b := pcapFile(le, false, 1, []sample{one})
		change(b)
		return b
	}
	ng := func(snaplen uint32, options ...any) []byte {
		n := (&blocks{order: le}).section()
		n.block(blockInterface, append([]any{uint16(LinkEthernet), uint16(0), snaplen}, options...)...)
		n.enhanced(0, uint64(one.time/1000), one)
		return n.b
	}
	resolution := func(value string) []any {
		return []any{uint16(optionTsResol), uint16(1), value + "\x00\x00\x00", uint32(optionEnd)}
	}
	long := sample{one.time, bytes.Repeat([]byte("0123456789"), 10000), 100000}
	simple := (&blocks{order: le}).block(blockSimple, uint32(4), "abcd")
	ticks := one.time / 1000
	epoch := func(ns int64) []sample { return []sample{{ns, one.data, one.size}} }
	for _, c := range []struct {
		name string
		data []byte
		want []sample
		note string
	}{
		{"snaplen 0", header(func(b []byte) { le.PutUint32(b[16:], 0) }), []sample{one}, ""},
		{"snaplen of 4 GiB", header(func(b []byte) { le.PutUint32(b[16:], 1<<32-1) }), []sample{one}, ""},
		{"version 9.1", header(func(b []byte) { b[4], b[6] = 9, 1 }), []sample{one}, "byte 0: read without gopacket: version 9.1"},
		{"more captured than was on the wire", header(func(b []byte) { le.PutUint32(b[36:], 60) }), []sample{one}, "byte 24"},
		{"fraction of 4294 seconds", header(func(b []byte) { le.PutUint32(b[28:], 1<<32-1) }),
			epoch(1_700_000_000e9 + (1<<32-1)*1000), "byte 24"},
		{"long frames", pcapFile(binary.BigEndian, true, 1, []sample{one, long, one}), []sample{one, long, one}, ""},
		{"pcapng, long frames", pcapngFile(binary.BigEndian, []sample{one, long, one}), []sample{one, long, one}, ""},
		{"pcapng, snaplen of 4 GiB", ng(1<<32 - 1), []sample{one}, "byte 28"},
		{"pcapng, version 2.0", func() []byte { b := ng(0); b[12] = 2; return b }(), []sample{one}, "byte 0"},
		{"2^-64", ng(0, resolution("\xc0")...), epoch(92157), "byte 28"},
		{"2^-32", ng(0, resolution("\xa0")...), epoch(395812094327993), "byte 28"},
		{"10^-12", ng(0, resolution("\x0c")...), epoch(ticks / 1000), ""},
		{"1 s", ng(0, resolution("\x00")...), epoch(ticks * 1000000000), "byte 28"},
		{"empty option", ng(0, uint16(11), uint16(0), uint32(optionEnd)), []sample{one}, ""},
		{"no resolution", ng(0, uint16(optionTsResol), uint16(0), uint32(optionEnd)), []sample{one}, "byte 28"},
		{"simple packet", append(ng(0), simple.b...), []sample{one, {one.time, []byte("abcd"), 4}}, "byte 180"},
		{"the next section", append(append(ng(1<<31), ng(0)...), ng(0)...), []sample{one, one, one}, "byte 28"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, notes, err := readNotes(t, Options{}, writeFile(t, "x", c.data))
			must.NoError(t, err)
			same(t, got, c.want)
			text := strings.Join(notes, "\n")
			assert.That(t, (c.note == "") == (text == "") && strings.Contains(text, c.note), "notes %q, want %q", notes, c.note)
		})
	}
}

// TestSamplesByGopacket checks that gopacket reads real captures.
func TestSamplesByGopacket(t *testing.T) {
	paths, err := filepath.Glob("../../pcaps/*.pcap*")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	_, notes, err := readNotes(t, Options{}, paths...)
	if err != nil || len(notes) > 0 {
		t.Error(notes, err)
	}
}

// TestClaimsCostNothing: the memory of gopacket's readers does not depend on
// what a file claims.
func TestClaimsCostNothing(t *testing.T) {
	n := (&blocks{order: binary.LittleEndian}).section()
	for range 1000 {
		n.block(blockInterface, uint16(1), uint16(0), ^uint32(0))
	}
	n.enhanced(999, 5, sample{data: []byte("abc"), size: 3})
	old := pcapFile(binary.LittleEndian, true, 1, numbered(3))
	binary.LittleEndian.PutUint32(old[16:], ^uint32(0))
	for _, data := range [][]byte{n.b, old} {
		in := newInput("x", bytes.NewReader(data), headSize)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		recs, err := newRecords(in)
		var f Frame
		for err == nil {
			err = recs.next(in, &f)
		}
		runtime.ReadMemStats(&after)
		assert.Equal(t, err, io.EOF)
		if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 256<<10 {
			t.Errorf("%d bytes of memory for a file of %d", bytes, len(data))
		}
	}
}

// timeouts is a source of frames that times out before each.
type timeouts struct {
	*Reader
	ready bool
}

func (s *timeouts) Next(f *Frame) error {
	if s.ready = !s.ready; s.ready {
		return ErrTimeout
	}
	return s.Reader.Next(f)
}

// TestSource: gopacket's channel of packets goes on after timeouts and ends at
// damage.
func TestSource(t *testing.T) {
	want := numbered(6)
	data := pcapFile(binary.LittleEndian, true, uint32(LinkLinuxSLL2), want)
	r := must.Value(Open([]string{writeFile(t, "x", data[:len(data)-1])}, Options{}))(t)
	defer r.Close()
	s := NewSource(&timeouts{Reader: r})
	n := 0
	for p := range gopacket.NewPacketSource(s, gopacket.DecodePayload).Packets() {
		info := p.Metadata()
		if !bytes.Equal(p.Data(), want[n].data) || info.Length != want[n].size || !info.Timestamp.Equal(time.Unix(0, want[n].time)) ||
			info.AncillaryData[0] != LinkLinuxSLL2 {
			t.Errorf("frame %d: %v", n+1, p)
		}
		n++
	}
	assert.Equal(t, n, len(want)-1, "frames")
	damaged(t, s.Err())
	if _, _, err := s.ReadPacketData(); err != io.EOF {
		t.Errorf("after the damage: %v", err)
	}
}

// copies is a gopacket data source that copies.
type copies struct{ *Source }

func (copies) ZeroCopyReadPacketData() {} // not the method of gopacket

// TestSourceReader: a frame that was handed to gopacket and back is the same.
func TestSourceReader(t *testing.T) {
	want := numbered(6)
	path := writeFile(t, "x", pcapFile(binary.LittleEndian, true, 1, want))
	for _, zeroCopy := range []bool{true, false} {
		r, err := Open([]string{path}, Options{})
		must.NoError(t, err)
		var source gopacket.PacketDataSource = NewSource(r)
		if !zeroCopy {
			source = copies{NewSource(r)}
		}
		back := NewSourceReader(source, LinkEthernet)
		var got []Frame
		var f Frame
		for err = back.Next(&f); err == nil; err = back.Next(&f) {
			assert.That(t, f.Number == int64(len(got)+1) && f.Link == LinkEthernet, "frame %d: %+v", len(got)+1, f)
			f.Data = bytes.Clone(f.Data)
			got = append(got, f)
		}
		if err = errors.Join(err, r.Close()); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
		same(t, got, want)
	}
}
