package files_test

import (
	"encoding/binary"
	"net/netip"
	"runtime"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/files"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/internal/wiretest/messages"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

func filesOf(t *testing.T, sample string, take func(m *dissect.Message) bool) *files.Files {
	t.Helper()
	w := newWire(t)
	d := dissect.New(dissect.Options{Handle: func(m *dissect.Message) {
		if take(m) {
			w.message(m)
		}
	}})
	wiretest.Play(d, wiretest.ReadSample(t, "../../../pcaps/"+sample))
	w.close()
	return w.files
}

func all(*dissect.Message) bool { return true }

// byPath returns the files by path, those without one left out.
func byPath(list []*files.File) map[string]*files.File {
	paths := make(map[string]*files.File)
	for _, f := range list {
		if path := f.Path(); path != "" && f.Removed.IsZero() {
			paths[path] = f
		}
	}
	return paths
}

// TestIO: one file of 3,000,000 bytes is written and read back; the sample has some of
// these RPCs.
func TestIO(t *testing.T) {
	f := byPath(filesOf(t, "io.pcap.zst", all).List())["/data/one.txt"]
	must.That(t, f != nil, "no file")
	size, _ := f.Size()
	if f.Kind() != "file" || f.Layout != "raid0 1x4194304" || size != 3000000 || f.Pattern() != files.Sequential {
		t.Errorf("%s, layout %s, %d bytes, %v", f.Kind(), f.Layout, size, f.Pattern())
	}
	if f.Count[files.Open] != 4 || f.Write.RPCs != 3 || f.Write.Bytes != 902848 || f.Read.RPCs != 2 || len(f.Users) != 2 || f.Locks == 0 {
		t.Errorf("%+v", f.Activity)
	}
	objects, more := f.Objects()
	assert.That(t, len(objects) == 1 && more == 0 && objects[0].HasOST, "objects %+v", objects)
}

// TestPartsOfCaptures: without some of the messages there are fewer names and counts,
// but no other ones.
func TestPartsOfCaptures(t *testing.T) {
	for _, sample := range []string{"io.pcap.zst", "metadata.pcap.zst", "layouts.pcap.zst", "recovery.pcap.zst", "directories.pcap.zst"} {
		whole := make(map[track.FID]*files.File)
		paths := make(map[track.FID][]string)
		for _, f := range filesOf(t, sample, all).List() {
			whole[f.FID] = f
			paths[f.FID] = append(f.Links(), f.Path(), f.Former())
		}
		for name, take := range map[string]func(m *dissect.Message) bool{
			"end":      func(m *dissect.Message) bool { return m.Frame < 400 },
			"start":    func(m *dissect.Message) bool { return m.Frame > 200 },
			"requests": func(m *dissect.Message) bool { return m.Kind == lnet.Request },
			"replies":  func(m *dissect.Message) bool { return m.Kind != lnet.Request },
			"some":     func(m *dissect.Message) bool { return m.Frame%3 != 0 },
		} {
			for _, f := range filesOf(t, sample, take).List() {
				o := whole[f.FID]
				if o == nil {
					assert.That(t, f.Object, "%s, %s: %v only there", sample, name, f.FID)
					continue
				}
				if path := strings.TrimPrefix(f.Path(), "…"); path != "" && !hasSuffix(paths[f.FID], path) && f.Removed.IsZero() {
					t.Errorf("%s, %s: path %s, of the whole capture %q", sample, name, f.Path(), paths[f.FID])
				}
				if f.RPCs > o.RPCs || f.Read.Bytes > o.Read.Bytes || f.Write.Bytes > o.Write.Bytes || f.Count[files.Open] > o.Count[files.Open] {
					t.Errorf("%s, %s: %s: more than in the whole capture: %+v, %+v", sample, name, f.Path(), f.Actions, o.Actions)
				}
			}
		}
	}
}

func hasSuffix(paths []string, suffix string) bool {
	for _, p := range paths {
		if strings.HasSuffix(p, suffix) {
			return true
		}
	}
	return false
}

// TestDirectories: sums by directory.
func TestDirectories(t *testing.T) {
	dirs := make(map[string]*files.Directory)
	for _, d := range files.Directories(filesOf(t, "recovery.pcap.zst", all).List()) {
		dirs[d.Path] = d
	}
	if d := dirs["/rec"]; d == nil || d.Files != 12 || d.Write.Bytes != 640<<10+68<<10+5+2 || len(d.Clients) != 1 || len(d.Errors) != 1 {
		t.Errorf("%+v", d)
	}
	if d := dirs["/"]; d == nil || d.Files != 2 {
		t.Errorf("%+v", d)
	}
}

// wire makes the messages about objects of one server.
type wire struct {
	now   int64
	frame int64
	xid   uint64
	rpcs  *follow.Follower
	files *files.Files
	msg   dissect.Message
}

func newWire(testing.TB) *wire {
	w := &wire{now: 1e18, xid: 1 << 50, rpcs: follow.New(follow.Options{})}
	w.rpcs.Locks()
	w.files = w.rpcs.Files()
	return w
}

func (w *wire) message(m *dissect.Message) { w.rpcs.Message(m) }

func (w *wire) close() { w.rpcs.Close() }

var node = messages.NID

func addr(n lnet.NID) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte(n.Addr[:4])), 988)
}

var obdo, ioobj, niobuf = opcodes.StructNamed("obdo"), opcodes.StructNamed("obd_ioobj"), opcodes.StructNamed("niobuf_remote")

// put sets a field of a struct by its name.
func put(b []byte, structure *schema.Struct, field string, v uint64) {
	f := structure.Field(field)
	switch f.Size {
	case 4:
		binary.LittleEndian.PutUint32(b[f.Off:], uint32(v))
	case 8:
		binary.LittleEndian.PutUint64(b[f.Off:], v)
	default:
		panic("size of " + field)
	}
}

// transfer is a read or write of an object.
type transfer struct {
	body, object, ranges, results []byte
}

// newTransfer makes a transfer of ranges of an object, which is of the file, if that
// is not zero.
func newTransfer(object, file uint64, ranges ...uint64) transfer {
	x := transfer{make([]byte, obdo.Size), make([]byte, ioobj.Size), nil, nil}
	valid := opcodes.ObdMdValid.Bit("FLID")
	binary.LittleEndian.PutUint64(x.body[8:], 0x2c0000401)
	binary.LittleEndian.PutUint64(x.body[16:], object)
	if file != 0 {
		valid |= opcodes.ObdMdValid.Bit("FLFID")
		put(x.body, obdo, "o_parent_seq", 0x200000401)
		put(x.body, obdo, "o_parent_oid", file)
	}
	put(x.body, obdo, "o_valid", valid)
	for i := 0; i < len(ranges); i += 2 {
		b := make([]byte, niobuf.Size)
		put(b, niobuf, "rnb_offset", ranges[i])
		put(b, niobuf, "rnb_len", ranges[i+1])
		x.ranges = append(x.ranges, b...)
		x.results = append(x.results, 0, 0, 0, 0)
	}
	return x
}

// send sends a message, 1 ms after the one before.
func (w *wire) send(kind lnet.Kind, opcode uint32, status int32, flags uint32, bufs ...[]byte) {
	src, dst := node(3), node(1)
	if kind == lnet.Reply {
		src, dst = dst, src
	}
	w.frame++
	w.now += 1e6
	m := &w.msg
	if m.Msg == nil {
		m.Msg = &schema.Msg{}
	}
	m.Frame, m.Time, m.Kind = w.frame, w.now, kind
	m.LNet.Src, m.LNet.Dst, m.LNet.MatchBits, m.Src, m.Dst = src, dst, w.xid, addr(src), addr(dst)
	m.RPC.XID, m.RPC.HasXID, m.RPC.Opcode, m.RPC.HasOpcode, m.RPC.Status, m.RPC.Flags = w.xid, true, opcode, true, status, flags
	m.RPC.Variant = opcodes.ByOpcode(opcode).Variants[0]
	*m.Msg = schema.Msg{Opcode: opcode, Reply: kind == lnet.Reply, Status: status, Variant: m.RPC.Variant, Bufs: append(append(m.Msg.Bufs[:0], body), bufs...)}
	w.message(m)
}

var body = make([]byte, opcodes.PtlrpcBody.Size)

// write writes, with the results of the ranges.
func (w *wire) write(x *transfer, status int32, results ...int32) {
	w.xid += 64
	w.send(lnet.Request, opcodes.OST_WRITE, 0, 0, x.body, x.object, x.ranges)
	for i, rc := range results {
		binary.LittleEndian.PutUint32(x.results[4*i:], uint32(rc))
	}
	w.send(lnet.Reply, opcodes.OST_WRITE, status, 0, x.body, x.results)
}

func (w *wire) read(x *transfer, bytes int32) {
	w.xid += 64
	w.send(lnet.Request, opcodes.OST_READ, 0, 0, x.body, x.object, x.ranges)
	w.send(lnet.Reply, opcodes.OST_READ, bytes, 0, x.body)
}

// TestBytes: bytes that were moved count, not those that were asked for.
func TestBytes(t *testing.T) {
	w := newWire(t)
	x := newTransfer(7, 0x42, 0, 8192, 16384, 4096)
	w.write(&x, 0, 0, 0)
	w.write(&x, 0, 0, -28)
	w.write(&x, 0, 0, 0) // again
	w.write(&x, -28)
	w.read(&x, 100)
	w.read(&x, -5)
	unanswered := newTransfer(7, 0x42, 1<<20, 4096)
	w.xid += 64
	w.send(lnet.Request, opcodes.OST_WRITE, 0, 0, unanswered.body, unanswered.object, unanswered.ranges)
	w.send(lnet.Request, opcodes.OST_WRITE, 0, dissect.FlagResent, unanswered.body, unanswered.object, unanswered.ranges)
	w.xid += 64
	w.send(lnet.Request, opcodes.OST_WRITE, 0, dissect.FlagReplay, x.body, x.object, x.ranges)
	w.close()
	list := w.files.List()
	must.Equal(t, len(list), 1, "files")
	f := list[0]
	assert.That(t, f.FID == (track.FID{Seq: 0x200000401, OID: 0x42}) && !f.Object && f.RPCs == 7, "%+v", f)
	if f.Write.RPCs != 5 || f.Write.Bytes != 12288+8192+12288 || f.Rewrites != 1 || f.Read.RPCs != 2 || f.Read.Bytes != 100 {
		t.Errorf("%+v", f.Activity)
	}
	size, ok := f.Read.TypicalSize()
	assert.That(t, size == 12288 && ok, "size %d", size)
	if len(f.Errors) != 2 || f.Errors[0] != (files.Error{Errno: -28, Count: 1}) && f.Errors[0].Errno != -28 {
		t.Errorf("errors %v", f.Errors)
	}
}

// TestObjects: an object whose file is unknown has a row, until a request names the
// file.
func TestObjects(t *testing.T) {
	w := newWire(t)
	x := newTransfer(7, 0, 0, 4096)
	w.read(&x, 4096)
	w.now += 60e9
	w.rpcs.Advance(w.now)
	list := w.files.List()
	must.That(t, len(list) == 1 && list[0].Object && list[0].FID.OID == 7 && list[0].Read.Bytes == 4096, "%+v", list)
	named := newTransfer(7, 0x42, 0, 4096)
	w.read(&named, 4096)
	w.close()
	if list := w.files.List(); len(list) != 1 || list[0].Object || list[0].FID.OID != 0x42 || list[0].Read.Bytes != 8192 {
		t.Fatalf("%+v", list)
	}
}

// TestMemoryIsFlat: files, objects and users do not add up.
func TestMemoryIsFlat(t *testing.T) {
	w := newWire(t)
	n := uint64(0)
	play := func(count int) {
		for range count {
			n++
			x := newTransfer(n, n/2*(n%2), n<<20, 4096) // every other one without a file
			w.write(&x, 0, 0)
		}
	}
	wiretest.Flat(t, play, 140_000, 30_000)
	assert.That(t, w.files.Dropped != 0 && len(w.files.List()) <= 1<<16, "%d files dropped, %d kept", w.files.Dropped, len(w.files.List()))
	runtime.KeepAlive(w)
}

// TestNoAllocations: reads and writes of known files cost no allocation.
func TestNoAllocations(t *testing.T) {
	w := newWire(t)
	x := newTransfer(7, 0x42, 0, 8192, 16384, 4096)
	once := func() {
		w.write(&x, 0, 0, 0)
		w.read(&x, 12288)
		w.now += 300e6
	}
	for range 5000 {
		once()
	}
	wiretest.NoAllocations(t, 2000, once)
}
