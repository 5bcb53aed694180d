package capture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
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

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

func orders() map[string]binary.AppendByteOrder {
	return map[string]binary.AppendByteOrder{"little": binary.LittleEndian, "big": binary.BigEndian}
}

func TestPcapFormats(t *testing.T) {
	want := numbered(20)
	for name, order := range orders() {
		for _, nanos := range []bool{false, true} {
			got := must.Value(readAll(t, Options{}, writeFile(t, name, pcapFile(order, nanos, 1, want))))(t)
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
		assert.That(t, err == nil && got[0].Link == want, "%#x: %v, %v", field, got, err)
	}
}

func TestPcapngFormats(t *testing.T) {
	want := numbered(20)
	var two []byte
	for name, order := range orders() {
		data := pcapngFile(order, want)
		got := must.Value(readAll(t, Options{}, writeFile(t, name, data)))(t)
		same(t, got, want)
		if got[0].Iface != 0 || got[1].Iface != 1 {
			t.Errorf("interfaces %d, %d", got[0].Iface, got[1].Iface)
		}
		two = append(two, data...)
	}
	// Two sections of different byte order, each with its own interfaces.
	got := must.Value(readAll(t, Options{}, writeFile(t, "two", two)))(t)
	same(t, got, append(want[:20:20], want...))
	assert.Equal(t, got[21].Iface, 3, "interface of the second section, want 3")
}

func TestPcapngOldBlocks(t *testing.T) {
	n := (&blocks{order: binary.LittleEndian}).section()
	n.block(blockInterface, uint16(LinkRaw), uint16(0), uint32(4)) // snaplen 4
	n.enhanced(0, 5_000_000, sample{data: []byte("abc"), size: 3})
	n.block(blockSimple, uint32(6), "simp") // cut by the snaplen
	n.block(blockPacket, uint16(0), uint16(7), uint32(0), uint32(9_000_000), uint32(3), uint32(3), "old\x00")
	got := must.Value(readAll(t, Options{}, writeFile(t, "x", n.b)))(t)
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
	recs := must.Value(newRecords(in))(t)
	var f Frame
	if err := recs.next(in, &f); err != nil || f.Iface != maxInterfaces {
		t.Errorf("interface %d, %v", f.Iface, err)
	}
	assert.Equal(t, damaged(t, recs.next(in, &f)).Offset, int64(end), end)
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
		assert.Equal(t, clock.time(c.ticks), c.want, "resolution", c.resolution)
	}
	n := (&blocks{order: binary.BigEndian}).section()
	n.block(blockInterface, uint16(1), uint16(0), uint32(0), uint16(optionTsOffset), uint16(8), ^uint64(0),
		uint16(optionTsResol), uint16(1), "\x83\x00\x00\x00", uint32(0))
	n.enhanced(0, 20, sample{data: []byte("x"), size: 1})
	got, err := readAll(t, Options{}, writeFile(t, "x", n.b))
	assert.That(t, err == nil && got[0].Time == 1_500_000_000, "%v, %v", got, err)
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
		got := must.Value(readAll(t, Options{}, writeFile(t, "x", data)))(t)
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
		path := writeFile(t, "capture.pcap", nil)
		for n := len(packed) - 1; n > 0; n = n*9/10 - 1 {
			writeTo(t, path, packed[:n])
			got, err := readAll(t, Options{}, path)
			d := damaged(t, err)
			assert.That(t, len(got) >= len(want) || d.Offset <= int64(len(data)), "%s cut at %d: %v", kind, n, err)
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
	path := writeFile(t, "cut", nil)
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
			writeTo(t, path, data[:cut])
			got, err := readAll(t, Options{}, path)
			same(t, got, frames[:framesAt(whole)])
			if begin == cut {
				assert.That(t, err == nil, "cut at the border %d: %v", cut, err)
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
			assert.That(t, strings.Contains(d.Cause, want) && d.File == path && !strings.Contains(err.Error(), "\n"), "%q: %v", data, err)
			r := must.Value(Open(others, Options{}))(t)
			var f Frame
			r.Next(&f)
			format, known := r.Format()
			assert.That(t, !known, "%q: format %v", data, format)
			r.Close()
			assert.Equal(t, len(got), 3*(len(others)-1), "frames of the good file")
		}
	}
	e := &DamageError{File: "a\x1b[31m", Cause: "x"}
	assert.That(t, !strings.ContainsRune(e.Error(), 0x1b), "a name reaches the terminal unescaped")
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
	d := damaged(t, err)
	assert.That(t, d.Offset == int64(len(good)) && len(got) == 3, "zeros at the end: %d frames, %v", len(got), err)
}

// TestLongFrames are longer than the window was made.
func TestLongFrames(t *testing.T) {
	want := numbered(3)
	for i := range want {
		want[i].data = bytes.Repeat([]byte{byte(i)}, 3<<20+i)
		want[i].size = len(want[i].data)
	}
	for _, data := range [][]byte{pcapFile(binary.BigEndian, true, 1, want), pcapngFile(binary.BigEndian, want)} {
		got := must.Value(readAll(t, Options{}, writeFile(t, "x", data)))(t)
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
		werr := <-failed
		must.That(t, werr == nil, "%v", werr)
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
	w := must.Value(os.OpenFile(path, os.O_RDWR, 0))(t)
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
			must.Equal(t, r.Next(&f), ErrTimeout, "after frame")
		}
	}
}

// TestQuietCompressedFIFO: a compressed frame that was flushed is read before another one comes.
func TestQuietCompressedFIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no FIFOs here:", err)
	}
	w := must.Value(os.OpenFile(path, os.O_RDWR, 0))(t)
	defer w.Close()
	z := gzip.NewWriter(w)
	_, err := z.Write(pcapFile(binary.LittleEndian, true, 1, numbered(1)))
	must.NoError(t, errors.Join(err, z.Flush()))
	r := must.Value(Open([]string{path}, Options{}))(t)
	defer r.Close()
	var f Frame
	must.NoError(t, r.Next(&f))
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
	r := must.Value(Open([]string{path}, Options{}))(t)
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
	assert.That(t, n-1 == len(want) && err == io.EOF, "grown file: %d of %d frames, %v", n-1, len(want), err)
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
	read, total := r.Progress()
	assert.That(t, read == total && total == int64(2*len(data)), "%d of %d bytes, want %d", read, total, 2*len(data))
}

// TestFileNames checks that names are as short as possible, and that different
// paths have different names.
func TestFileNames(t *testing.T) {
	for _, c := range []struct{ paths, want []string }{
		{nil, []string{}},
		{[]string{"/data/client.pcap"}, []string{"client.pcap"}},
		{[]string{"/data/client.pcap", "oss.pcap.zst", "-"}, []string{"client.pcap", "oss.pcap.zst", "-"}},
		{[]string{"a/x.pcap", "b/x.pcap", "b/y.pcap"}, []string{"a/x.pcap", "b/x.pcap", "y.pcap"}},
		{[]string{"x.pcap", "b/x.pcap"}, []string{"x.pcap", "b/x.pcap"}},
		{[]string{"/x.pcap", "x.pcap"}, []string{"/x.pcap", "x.pcap"}},
		{[]string{"1/a/x.pcap", "2/a/x.pcap", "b/x.pcap"}, []string{"1/a/x.pcap", "2/a/x.pcap", "b/x.pcap"}},
		{[]string{"a/x.pcap", "a/x.pcap", "y.pcap"}, []string{"x.pcap", "x.pcap", "y.pcap"}},
		{[]string{"-", "./-"}, []string{"-", "./-"}},
	} {
		assert.Slice(t, FileNames(c.paths), c.want, c.paths)
	}
}

// damageCases returns captures whose fields were replaced one at a time by
// values that lie.
func damageCases() (names []string, files [][]byte) {
	add := func(name string, data []byte) { names, files = append(names, name), append(files, data) }
	frames := numbered(4)
	ng := (&blocks{order: binary.LittleEndian}).section()
	ng.block(blockInterface, uint16(LinkEthernet), uint16(0), uint32(0), uint16(optionTsOffset), uint16(8), uint64(7),
		uint16(optionTsResol), uint16(1), "\x09\x00\x00\x00", uint16(optionEnd), uint16(0))
	ng.enhanced(0, uint64(frames[0].time), frames[0], uint16(optionComment), uint16(2), "hi\x00\x00", uint32(0))
	ng.block(0x0bad, "not known")
	ng.block(blockSimple, uint32(6), "simple").block(blockPacket, uint16(0), uint16(7), uint64(9), uint32(3), uint32(3), "old\x00")
	ng.enhanced(0, uint64(frames[1].time), frames[1])
	for _, base := range []struct {
		name  string
		order binary.ByteOrder
		data  []byte
	}{
		{"pcap", binary.LittleEndian, pcapFile(binary.LittleEndian, false, 1, frames)},
		{"pcap big-endian", binary.BigEndian, pcapFile(binary.BigEndian, true, 1, frames[:2])},
		{"pcapng", binary.LittleEndian, ng.b},
		{"pcapng big-endian", binary.BigEndian, pcapngFile(binary.BigEndian, frames[:2])},
	} {
		for at := 0; at+4 <= len(base.data); at += 4 {
			was := base.order.Uint32(base.data[at:])
			for _, claim := range []uint32{0, was + 4, 1<<32 - 4} {
				data := bytes.Clone(base.data)
				base.order.PutUint32(data[at:], claim)
				add(fmt.Sprintf("%s %d: %#x", base.name, at, claim), data)
			}
		}
	}
	return names, files
}

// TestDamage compares the frames and the error of each damaged capture with the
// lines of testdata/damage.txt. UPDATE=1 writes the file.
func TestDamage(t *testing.T) {
	names, files := damageCases()
	var got strings.Builder
	path := filepath.Join(t.TempDir(), "x")
	for i, name := range names {
		writeTo(t, path, files[i])
		frames, err := readAll(t, Options{}, path)
		sum := crc32.NewIEEE()
		for _, f := range frames {
			fmt.Fprintln(sum, f.Time, f.Len, f.Link, f.Iface, f.Data)
		}
		line := fmt.Sprintf("%d frames, sum %08x", len(frames), sum.Sum32())
		if err != nil {
			d := damaged(t, err)
			line += fmt.Sprintf(", byte %d: %s", d.Offset, d.Cause)
		}
		fmt.Fprintf(&got, "%s: %s\n", name, line)
	}
	golden := filepath.Join("testdata", "damage.txt")
	if os.Getenv("UPDATE") != "" {
		writeTo(t, golden, []byte(got.String()))
	}
	want := must.ReadFile(t, golden)
	lines := strings.Split(string(want), "\n")
	for i, line := range strings.Split(got.String(), "\n") {
		must.That(t, i < len(lines) && line == lines[i], "line %d of %s: got\n%s", i+1, golden, line)
	}
}

func FuzzPcap(f *testing.F) {
	frames := numbered(4)
	f.Add(pcapFile(binary.LittleEndian, true, 1, frames))
	f.Add(pcapFile(binary.BigEndian, false, 276, frames))
	f.Add(pcapngFile(binary.LittleEndian, frames))
	f.Add(pcapngFile(binary.BigEndian, frames))
	old := (&blocks{order: binary.LittleEndian}).section().block(blockInterface, uint16(1), uint16(0), uint32(4))
	old.block(blockSimple, uint32(6), "simp").block(blockPacket, uint16(0), uint16(7), uint64(9), uint32(3), uint32(3), "old\x00")
	f.Add(old.b)
	for _, kind := range []string{"gzip", "zstd", "lz4"} {
		f.Add(pack(f, kind, pcapFile(binary.LittleEndian, true, 1, frames)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in := newInput("fuzz", bytes.NewReader(data), headSize)
		unpack, err := decompressor(in)
		if err == nil && unpack != nil {
			in = newInput("fuzz", unpack, headSize)
		}
		var recs records
		if err == nil {
			recs, err = newRecords(in)
		}
		var fr Frame
		for last := int64(0); err == nil; {
			if err = recs.next(in, &fr); err != nil {
				break
			}
			must.That(t, len(fr.Data) <= fr.Len && in.at > last, "%d of %d bytes, offset %d after %d", len(fr.Data), fr.Len, in.at, last)
			last = in.at
		}
		if unpack == nil && in.Size() > max(headSize, 2*len(data)) {
			t.Errorf("%d bytes of input cost a buffer of %d", len(data), in.Size())
		}
	})
}

func equalFrames(n, length int) []sample {
	list := make([]sample, n)
	for i := range list {
		list[i] = sample{int64(i+1) * 1e6, bytes.Repeat([]byte{1}, length), length}
	}
	return list
}

func pcapMicro(list []sample) []byte { return pcapFile(binary.LittleEndian, false, 1, list) }

func ngFile(list []sample) []byte {
	n := (&blocks{order: binary.LittleEndian}).section()
	n.block(blockInterface, uint16(LinkEthernet), uint16(0), uint32(0))
	for _, f := range list {
		n.enhanced(0, uint64(f.time/1000), f)
	}
	return n.b
}

// TestNoAllocation: a frame costs none, read, merged or written.
func TestNoAllocation(t *testing.T) {
	for name, file := range map[string]func([]sample) []byte{"pcap": pcapMicro, "pcapng": ngFile} {
		path := writeFile(t, name, file(equalFrames(3000, 200)))
		r, err := Open([]string{path, path}, Options{})
		must.NoError(t, err)
		defer r.Close()
		w := NewWriter(io.Discard)
		var f Frame
		n := testing.AllocsPerRun(4000, func() {
			err = r.Next(&f)
			if err == nil {
				err = w.Write(&f, "comment")
			}
			must.NoError(t, err)
		})
		assert.Equal(t, n, 0, name, "allocations a frame")
	}
}
