package capture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/lshark/lshark/internal/must"
)

func orders() map[string]binary.AppendByteOrder {
	return map[string]binary.AppendByteOrder{"little": binary.LittleEndian, "big": binary.BigEndian}
}

func TestPcapFormats(t *testing.T) {
	want := numbered(20)
	for name, order := range orders() {
		for _, nanos := range []bool{false, true} {
			got, err := readAll(t, Options{}, writeFile(t, name, pcapFile(order, nanos, 1, want)))
			must.NoError(t, err)
			same(t, got, want)
			if got[0].Link != LinkEthernet || got[0].Source != 0 {
				t.Errorf("%s: %+v", name, got[0])
			}
		}
	}
}

func TestLinkTypes(t *testing.T) {
	// 276 has more than 8 bits; the upper half of the field is not the type.
	for field, want := range map[uint32]LinkType{276: LinkLinuxSLL2, 1 | 0x24000000: LinkEthernet, 12: LinkRaw, 14: LinkRaw} {
		got, err := readAll(t, Options{}, writeFile(t, "x", pcapFile(binary.LittleEndian, true, field, numbered(1))))
		if err != nil || got[0].Link != want {
			t.Errorf("%#x: %v, %v", field, got, err)
		}
	}
}

func TestPcapngFormats(t *testing.T) {
	want := numbered(20)
	var two []byte
	for name, order := range orders() {
		data := pcapngFile(order, want)
		got, err := readAll(t, Options{}, writeFile(t, name, data))
		must.NoError(t, err)
		same(t, got, want)
		if got[0].Iface != 0 || got[1].Iface != 1 {
			t.Errorf("interfaces %d, %d", got[0].Iface, got[1].Iface)
		}
		two = append(two, data...)
	}
	// Two sections of different byte order, each with its own interfaces.
	got, err := readAll(t, Options{}, writeFile(t, "two", two))
	must.NoError(t, err)
	same(t, got, append(want[:20:20], want...))
	if got[21].Iface != 3 {
		t.Errorf("interface %d of the second section, want 3", got[21].Iface)
	}
}

func TestPcapngOldBlocks(t *testing.T) {
	n := (&blocks{order: binary.LittleEndian}).section()
	n.block(blockInterface, uint16(LinkRaw), uint16(0), uint32(4)) // snaplen 4
	n.enhanced(0, 5_000_000, sample{data: []byte("abc"), size: 3})
	n.block(blockSimple, uint32(6), "simp") // cut by the snaplen
	n.block(blockPacket, uint16(0), uint16(7), uint32(0), uint32(9_000_000), uint32(3), uint32(3), "old\x00")
	got, err := readAll(t, Options{}, writeFile(t, "x", n.b))
	must.NoError(t, err)
	same(t, got, []sample{{5e9, []byte("abc"), 3}, {5e9, []byte("simp"), 6}, {9e9, []byte("old"), 3}})
}

// TestManyInterfaces: more interfaces than any machine has are damage; those of
// an earlier section are forgotten.
func TestManyInterfaces(t *testing.T) {
	n := (&blocks{order: binary.LittleEndian}).section()
	begin := len(n.b)
	n.block(blockInterface, uint16(LinkEthernet), uint16(0), uint32(0))
	one := bytes.Clone(n.b[begin:])
	n.section()
	n.b = append(n.b, bytes.Repeat(one, maxInterfaces)...)
	n.enhanced(maxInterfaces-1, 5_000_000, sample{data: []byte("abc"), size: 3})
	end := len(n.b)
	n.b = append(append(n.b, one...), one...)
	in := newInput("x", bytes.NewReader(n.b), headSize)
	recs, err := newRecords(in)
	must.NoError(t, err)
	var f Frame
	if err := recs.next(in, &f); err != nil || f.Iface != maxInterfaces {
		t.Errorf("interface %d, %v", f.Iface, err)
	}
	if d := damaged(t, recs.next(in, &f)); d.Offset != int64(end) {
		t.Errorf("%v, want damage at %d", d, end)
	}
	if n := len(recs.(*pcapng).ifaces); n > maxInterfaces {
		t.Errorf("%d interfaces are kept", n)
	}
}

func TestPcapngResolution(t *testing.T) {
	for _, c := range []struct {
		resolution byte
		offset     int64
		ticks      uint64
		want       int64
	}{
		{6, 0, 1_500_000, 1_500_000_000},
		{9, 0, 1_500_000_000, 1_500_000_000},
		{0, 0, 15, 15_000_000_000},
		{3, 100, 1500, 101_500_000_000},
		{12, -1, 1_500_000_000_000, 500_000_000},
		{0x80 | 10, 0, 1536, 1_500_000_000},
		{0x80 | 32, 0, 3 << 31, 1_500_000_000},
		{0x80 | 63, 0, 1 << 62, 500_000_000},
		{0x80 | 64, 0, 1 << 63, 500_000_000},
	} {
		clock := newNgClock(c.resolution, c.offset)
		if got := clock.time(c.ticks); got != c.want {
			t.Errorf("resolution %#x: %d, want %d", c.resolution, got, c.want)
		}
	}
	n := (&blocks{order: binary.BigEndian}).section()
	n.block(blockInterface, uint16(1), uint16(0), uint32(0), uint16(optionTsOffset), uint16(8), ^uint64(0),
		uint16(optionTsResol), uint16(1), "\x83\x00\x00\x00", uint32(0))
	n.enhanced(0, 20, sample{data: []byte("x"), size: 1})
	got, err := readAll(t, Options{}, writeFile(t, "x", n.b))
	if err != nil || got[0].Time != 1_500_000_000 {
		t.Errorf("%v, %v", got, err)
	}
}

// TestOtherWriters reads what gopacket writes.
func TestOtherWriters(t *testing.T) {
	var old, ng bytes.Buffer
	want := numbered(9)
	w := pcapgo.NewWriterNanos(&old)
	must.NoError(t, w.WriteFileHeader(65535, layers.LinkTypeEthernet))
	n, err := pcapgo.NewNgWriter(&ng, layers.LinkTypeEthernet)
	must.NoError(t, err)
	for _, s := range want {
		info := gopacket.CaptureInfo{Timestamp: time.Unix(0, s.time), CaptureLength: len(s.data), Length: s.size}
		must.NoError(t, errors.Join(w.WritePacket(info, s.data), n.WritePacket(info, s.data)))
	}
	must.NoError(t, n.Flush())
	for _, data := range [][]byte{old.Bytes(), ng.Bytes()} {
		got, err := readAll(t, Options{}, writeFile(t, "x", data))
		must.NoError(t, err)
		same(t, got, want)
	}
}

func pack(t testing.TB, kind string, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch kind {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "zstd":
		w, err = zstd.NewWriter(&b)
	case "lz4":
		w = lz4.NewWriter(&b)
	}
	if err == nil {
		_, err = w.Write(data)
	}
	must.NoError(t, errors.Join(err, w.Close()))
	return b.Bytes()
}

func TestCompressed(t *testing.T) {
	want := numbered(300)
	data := pcapFile(binary.LittleEndian, true, 1, want)
	for _, kind := range []string{"gzip", "zstd", "lz4"} {
		packed := pack(t, kind, data)
		// Two files packed one behind the other are one file.
		parts := append(pack(t, kind, data[:1000]), pack(t, kind, data[1000:])...)
		for _, file := range [][]byte{packed, parts} {
			got, err := readAll(t, Options{}, writeFile(t, "capture.pcap", file))
			if err != nil {
				t.Fatal(kind, err)
			}
			same(t, got, want)
		}
		for n := len(packed) - 1; n > 0; n = n*9/10 - 1 {
			got, err := readAll(t, Options{}, writeFile(t, "capture.pcap", packed[:n]))
			if d := damaged(t, err); len(got) < len(want) && d.Offset > int64(len(data)) {
				t.Errorf("%s cut at %d: %v", kind, n, err)
			}
			same(t, got, want[:len(got)])
		}
		wrong := bytes.Clone(packed)
		for i := len(wrong) / 2; i < len(wrong)/2+40; i++ {
			wrong[i] ^= 0x55
		}
		if _, err := readAll(t, Options{}, writeFile(t, "capture.pcap", wrong)); err == nil {
			t.Errorf("%s: garbage is not noticed", kind)
		}
	}
}

// TestEveryCut cuts a file at each byte: the whole frames come, then damage at
// the record that is cut, or nothing at a border.
func TestEveryCut(t *testing.T) {
	frames := numbered(6)
	old := pcapFile(binary.LittleEndian, true, 1, frames)
	borders := []int{24}
	for _, f := range frames {
		borders = append(borders, borders[len(borders)-1]+16+len(f.data))
	}
	check := func(data []byte, borders []int, framesAt func(whole int) int) {
		for cut := 1; cut <= len(data); cut++ {
			whole := 0
			for whole < len(borders) && borders[whole] <= cut {
				whole++
			}
			begin := 0
			if whole > 0 {
				begin = borders[whole-1]
			}
			got, err := readAll(t, Options{}, writeFile(t, "cut", data[:cut]))
			same(t, got, frames[:framesAt(whole)])
			if begin == cut {
				if err != nil {
					t.Errorf("cut at the border %d: %v", cut, err)
				}
			} else if d := damaged(t, err); d.Offset != int64(begin) {
				t.Errorf("cut at %d: %v, want offset %d", cut, err, begin)
			}
		}
	}
	check(old, borders, func(whole int) int { return max(whole-1, 0) })

	ng := pcapngFile(binary.BigEndian, frames)
	var ngBorders []int
	for at := 0; at < len(ng); {
		at += int(binary.BigEndian.Uint32(ng[at+4:]))
		ngBorders = append(ngBorders, at)
	}
	// A section, two interfaces, then an unknown block before each frame.
	check(ng, ngBorders, func(whole int) int { return max(whole-3, 0) / 2 })
}

func TestNotCaptures(t *testing.T) {
	for want, data := range map[string]string{
		"not a capture: empty":        "",
		"not a capture: text":         "hello world, this is text\n",
		"not a capture: zeros":        strings.Repeat("\x00", 5000),
		"not a capture: unknown data": "\x01\x02\x03\x80\xff\xfe\xfd\x00abc",
		"xz data":                     "\xfd7zXZ\x00\x00",
		"cut short":                   "\xd4\xc3\xb2\xa1\x02\x00",
	} {
		path := writeFile(t, "x", []byte(data))
		for _, others := range [][]string{{path}, {path, writeFile(t, "good", pcapFile(binary.LittleEndian, false, 1, numbered(3)))}} {
			got, err := readAll(t, Options{}, others...)
			d := damaged(t, err)
			if !strings.Contains(d.Cause, want) || d.File != path || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: %v", data, err)
			}
			r, err := Open(others, Options{})
			must.NoError(t, err)
			var f Frame
			r.Next(&f)
			if format, known := r.Format(); known {
				t.Errorf("%q: format %v", data, format)
			}
			r.Close()
			if len(got) != 3*(len(others)-1) {
				t.Errorf("%d frames of the good file", len(got))
			}
		}
	}
	e := &DamageError{File: "a\x1b[31m", Cause: "x"}
	if strings.ContainsRune(e.Error(), 0x1b) {
		t.Error("a name reaches the terminal unescaped")
	}
}

func TestOpenFails(t *testing.T) {
	good := writeFile(t, "good", pcapFile(binary.LittleEndian, false, 1, numbered(3)))
	if _, err := Open([]string{good, good + "missing"}, Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, err := Open([]string{good, t.TempDir()}, Options{}); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("directory: %v", err)
	}
}

// TestLengthsThatLie must not cost memory, whatever they claim.
func TestLengthsThatLie(t *testing.T) {
	whole := numbered(3)
	good := pcapFile(binary.LittleEndian, false, 1, whole)
	ng := pcapngFile(binary.LittleEndian, whole)
	for _, claim := range []uint32{maxRecord, maxRecord + 1, 1 << 31, 0xfffffffc, 0xffffffff} {
		record := binary.LittleEndian.AppendUint32(append(bytes.Clone(good), 1, 0, 0, 0, 0, 0, 0, 0), claim)
		record = binary.LittleEndian.AppendUint32(record, claim)
		block := append(bytes.Clone(ng), 6, 0, 0, 0)
		block = append(binary.LittleEndian.AppendUint32(block, claim), "some bytes"...)
		for _, data := range [][]byte{record, block} {
			in := newInput("x", bytes.NewReader(data), headSize)
			recs, err := newRecords(in)
			must.NoError(t, err)
			n := 0
			var f Frame
			for ; err == nil; n++ {
				err = recs.next(in, &f)
			}
			damaged(t, err)
			if n-1 != len(whole) || in.Size() > headSize {
				t.Errorf("claim %#x: %d frames, %d bytes", claim, n-1, in.Size())
			}
		}
	}
	zeros := append(bytes.Clone(good), make([]byte, 100000)...)
	got, err := readAll(t, Options{}, writeFile(t, "zeros", zeros))
	if d := damaged(t, err); d.Offset != int64(len(good)) || len(got) != 3 {
		t.Errorf("zeros at the end: %d frames, %v", len(got), err)
	}
}

// TestLongFrames are longer than the window was made.
func TestLongFrames(t *testing.T) {
	want := numbered(3)
	for i := range want {
		want[i].data = bytes.Repeat([]byte{byte(i)}, 3<<20+i)
		want[i].size = len(want[i].data)
	}
	for _, data := range [][]byte{pcapFile(binary.BigEndian, true, 1, want), pcapngFile(binary.BigEndian, want)} {
		got, err := readAll(t, Options{}, writeFile(t, "x", data))
		must.NoError(t, err)
		same(t, got, want)
	}
}

func TestFIFO(t *testing.T) {
	want := numbered(30)
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no FIFOs here:", err)
	}
	data := pcapFile(binary.LittleEndian, true, 1, want)
	for _, send := range [][]byte{data, data[:len(data)-1], pack(t, "zstd", data)} {
		failed := make(chan error, 1)
		go func() {
			w, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err == nil {
				_, err = w.Write(send)
				err = errors.Join(err, w.Close()) // a writer that is killed does this too
			}
			failed <- err
		}()
		got, err := readAll(t, Options{}, path)
		if werr := <-failed; werr != nil {
			t.Fatal(werr)
		}
		if len(send) == len(data)-1 {
			damaged(t, err)
			same(t, got, want[:29])
		} else if same(t, got, want); err != nil {
			t.Fatal(err)
		}
	}
}

// TestQuietFIFO: a writer that says nothing between frames is waited for, but
// not without a word.
func TestQuietFIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no FIFOs here:", err)
	}
	w, err := os.OpenFile(path, os.O_RDWR, 0)
	must.NoError(t, err)
	defer w.Close()
	want := numbered(3)
	data := pcapFile(binary.LittleEndian, true, 1, want)
	r, err := Open([]string{path}, Options{Idle: time.Millisecond})
	must.NoError(t, err)
	defer r.Close()
	start := 0
	for i := range want {
		end := len(pcapFile(binary.LittleEndian, true, 1, want[:i+1]))
		if _, err := w.Write(data[start:end]); err != nil {
			t.Fatal(err)
		}
		start = end
		var f Frame
		if err := r.Next(&f); err != nil || f.Number != int64(i+1) || !bytes.Equal(f.Data, want[i].data) {
			t.Fatalf("frame %d: %v, number %d", i+1, err, f.Number)
		}
		for range 2 {
			if err := r.Next(&f); err != ErrTimeout {
				t.Fatalf("after frame %d: %v, want ErrTimeout", i+1, err)
			}
		}
	}
}

// TestCloseEndsWait closes a reader that waits for a FIFO.
func TestCloseEndsWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no FIFOs here:", err)
	}
	w, err := os.OpenFile(path, os.O_RDWR, 0) // does not wait for a reader
	must.NoError(t, err)
	defer w.Close()
	if _, err := w.Write(pcapFile(binary.LittleEndian, true, 1, numbered(1))); err != nil {
		t.Fatal(err)
	}
	r, err := Open([]string{path}, Options{})
	must.NoError(t, err)
	var f Frame
	must.NoError(t, r.Next(&f))
	go r.Close()
	if err := r.Next(&f); !errors.Is(err, os.ErrClosed) {
		t.Errorf("%v, want that the file is closed", err)
	}
}

// TestFileChanges while it is read.
func TestFileChanges(t *testing.T) {
	want := numbered(2000) // about 10 MB, more than is read ahead
	data := pcapFile(binary.LittleEndian, true, 1, want)
	path := writeFile(t, "grows", data[:5_000_000])
	r, err := Open([]string{path}, Options{})
	must.NoError(t, err)
	var f Frame
	must.NoError(t, r.Next(&f))
	must.NoError(t, os.WriteFile(path, data, 0o600))
	n := 1
	for ; err == nil; n++ {
		err = r.Next(&f)
	}
	if n-1 != len(want) || err != io.EOF {
		t.Errorf("grown file: %d of %d frames, %v", n-1, len(want), err)
	}
	r.Close()

	if r, err = Open([]string{path}, Options{}); err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	must.NoError(t, errors.Join(r.Next(&f), os.Truncate(path, 24)))
	for err == nil {
		err = r.Next(&f)
	}
	damaged(t, err)
}

func TestProgress(t *testing.T) {
	data := pcapFile(binary.LittleEndian, true, 1, numbered(20))
	path := writeFile(t, "x", data)
	r, err := Open([]string{path, path}, Options{})
	must.NoError(t, err)
	defer r.Close()
	var f Frame
	for err == nil {
		err = r.Next(&f)
	}
	if read, total := r.Progress(); read != total || total != int64(2*len(data)) {
		t.Errorf("%d of %d bytes, want %d", read, total, 2*len(data))
	}
}
