package wiretest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/must"
)

// folder is the folder of the package under test, in which go test starts it.
var folder, errFolder = os.Getwd()

// Repo returns the absolute path of a file of the repository.
func Repo(name string) string {
	if errFolder != nil {
		panic(errFolder)
	}
	for dir := folder; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, filepath.FromSlash(name))
		}
		if dir == filepath.Dir(dir) {
			panic("no go.mod above " + folder)
		}
	}
}

// Sample returns the path of the sample capture with a name: mount, recovery.
func Sample(name string) string {
	path := Repo("pcaps/" + name + ".pcap")
	if _, err := os.Stat(path); err != nil {
		path += ".zst"
	}
	return path
}

// Samples returns the paths of all sample captures.
func Samples(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob(Repo("pcaps/*.pcap*"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	return paths
}

// ReadSample returns the frames of a capture file, with copies of their bytes.
func ReadSample(t testing.TB, path string) []capture.Frame {
	t.Helper()
	r, err := capture.Open([]string{path}, capture.Options{})
	must.NoError(t, err)
	var frames []capture.Frame
	var f capture.Frame
	for err = r.Next(&f); err == nil; err = r.Next(&f) {
		f.Data = bytes.Clone(f.Data)
		frames = append(frames, f)
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	must.NoError(t, r.Close())
	return frames
}

// SaveFrames writes frames of any link types to a file.
func SaveFrames(t testing.TB, frames []capture.Frame) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "frames.pcapng")
	file, err := os.Create(path)
	must.NoError(t, err)
	w := capture.NewWriter(file)
	for i := range frames {
		must.NoError(t, w.Write(&frames[i], ""))
	}
	must.NoError(t, errors.Join(w.Flush(), file.Close()))
	return path
}

// Decoder reads frames: an lnet.Decoder or a dissect.Dissector.
type Decoder interface {
	Frame(*capture.Frame)
	Close()
}

// Play passes frames to a decoder and closes it.
func Play(d Decoder, frames []capture.Frame) {
	for i := range frames {
		d.Frame(&frames[i])
	}
	d.Close()
}

// Main runs the tests of a package that allocate much: a small heap would be collected a
// thousand times.
func Main(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

// Rounds returns how often a test tries something at random or at each place: n times with
// the tag all, a quarter of it without.
func Rounds[N int | uint64](n N) N {
	if All {
		return n
	}
	return n / 4
}

// Update reports whether tests write their golden files instead of comparing
// with them: UPDATE=1 go test ./...
func Update() bool { return os.Getenv("UPDATE") != "" }

// Golden compares text with a file, which UPDATE=1 writes.
func Golden(t testing.TB, file, text string) {
	t.Helper()
	if Update() {
		must.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		return
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s does not exist: %s", file, UpdateHint(t))
		return
	}
	must.NoError(t, err)
	old, made := strings.Split(string(data), "\n"), strings.Split(text, "\n")
	for i := range min(len(old), len(made)) {
		if old[i] != made[i] {
			t.Errorf("%s: line %d is\n%s\nand the test made\n%s\n%s", file, i+1, old[i], made[i], UpdateHint(t))
			return
		}
	}
	if len(old) != len(made) {
		t.Errorf("%s has %d lines, and the test made %d\n%s", file, len(old), len(made), UpdateHint(t))
	}
}

// UpdateHint names the command that writes the golden files of a test.
func UpdateHint(t testing.TB) string {
	dir, err := filepath.Rel(Repo("."), folder)
	must.NoError(t, err)
	name, _, _ := strings.Cut(t.Name(), "/")
	return fmt.Sprintf("UPDATE=1 go test ./%s -run '^%s$' writes it", filepath.ToSlash(dir), name)
}

// Heap returns how many bytes are in use.
func Heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Flat plays what takes memory for a while, and checks that as much is in use when it has
// been played for longer.
func Flat(t *testing.T, play func(times int), first, then int) {
	t.Helper()
	play(first)
	before := Heap()
	play(then)
	if after := Heap(); after > before+before/10+1<<20 {
		t.Errorf("%d bytes held, %d later", before, after)
	}
}

// NoAllocations checks that calling f allocates nothing.
func NoAllocations(t testing.TB, times int, f func()) {
	t.Helper()
	if n := testing.AllocsPerRun(times, f); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Portals that RPCs use here.
const (
	RequestPortal = 12
	ReplyPortal   = 10
	BulkPortal    = 8
)

// Types of ptlrpc messages, and the size of a ptlrpc_body.
const (
	TypeRequest = 4711
	TypeReply   = 4713
	BodySize    = 184
)

// Msg builds a little-endian lustre_msg_v2 from its buffers, which follow the
// header, each padded to a multiple of 8 bytes.
func Msg(bufs ...[]byte) []byte {
	b := make([]byte, 32)
	le.PutUint32(b, uint32(len(bufs)))
	le.PutUint32(b[8:], 0x0bd00bd3)
	for _, buf := range bufs {
		b = le.AppendUint32(b, uint32(len(buf)))
	}
	b = pad8(b)
	for _, buf := range bufs {
		b = pad8(append(b, buf...))
	}
	return b
}

func pad8(b []byte) []byte { return append(b, make([]byte, -len(b)&7)...) }

// Body builds a ptlrpc_body with a type and an opcode, and zeros elsewhere.
func Body(typ, opcode uint32) []byte {
	b := make([]byte, BodySize)
	le.PutUint32(b[8:], typ)
	le.PutUint32(b[16:], opcode)
	return b
}

// ConnectData builds an obd_connect_data with flags and a version.
func ConnectData(flags uint64, version uint32) []byte {
	return pack(le, flags, version, make([]byte, 180))
}
