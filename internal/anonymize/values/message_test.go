package values

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
)

// TestGuessedLayout replaces a reply whose request is missing, and whose text is taken for
// a struct.
func TestGuessedLayout(t *testing.T) {
	secret := []byte("a text of the site that no one should see, which is as long as a few structs are, or even longer than that")
	reply := wiretest.Msg(wiretest.Body(wiretest.TypeReply, opcodes.MDS_GET_INFO), secret)
	dst := replacedBytes(t, New([]byte("key")), wiretest.Dialog(wiretest.ByReply|wiretest.WithoutRequest, nil, reply), lnet.Reply)
	for i := range len(secret) - minUnique {
		if part := secret[i : i+minUnique]; bytes.Contains(dst, part) {
			t.Fatalf("%q is still there: %q", part, dst)
		}
	}
}

// TestUnknown replaces messages that cannot be read: unknown operations, bytes behind what
// is declared, encrypted ones, and what is no lustre_msg. Nothing of them stays.
func TestUnknown(t *testing.T) {
	secret := bytes.Repeat([]byte("secret"), 20)
	behind := wiretest.Msg(wiretest.Body(wiretest.TypeRequest, opcodes.MDS_GETXATTR), nil, nil, nil, nil, nil, nil, nil, secret)
	encrypted := wiretest.Msg(make([]byte, 40), append(make([]byte, 16), secret...)) // behind the header of the cipher
	binary.LittleEndian.PutUint32(encrypted[4:], 0x30322)                            // lm_secflvr: SKPI
	for name, tt := range map[string]struct {
		request []byte
		reason  func(Removed) int64
	}{
		"operation":  {wiretest.Msg(wiretest.Body(wiretest.TypeRequest, 9999), secret), func(r Removed) int64 { return r.Undecoded }},
		"buffer":     {behind, func(r Removed) int64 { return r.Undecoded }},
		"encrypted":  {encrypted, func(r Removed) int64 { return r.Encrypted + r.Undecoded }},
		"short data": {writeOf(secret), func(r Removed) int64 { return r.Data }},
	} {
		p := New([]byte("key"))
		dst := replacedBytes(t, p, wiretest.Dialog(wiretest.ByReply, tt.request, requestOf(400)), lnet.Request)
		if bytes.Contains(dst, []byte("secret")) {
			t.Errorf("%s: the text is still there: %q", name, dst)
		}
		if n := tt.reason(p.Removed()); n < int64(len(secret)) {
			t.Errorf("%s: %d bytes are counted as removed for this reason: %+v", name, n, p.Removed())
		}
	}
}

// writeOf returns a request to write data, which are in the request.
func writeOf(data []byte) []byte {
	body := make([]byte, opcodes.StructNamed("obdo").Size)
	binary.LittleEndian.PutUint64(body, 1<<20) // OBD_MD_FLFLAGS
	flags := opcodes.StructNamed("obdo").Field("o_flags")
	binary.LittleEndian.PutUint32(body[flags.Off:], uint32(opcodes.ObdoFlags.Bit("SHORT_IO")))
	return wiretest.Msg(wiretest.Body(wiretest.TypeRequest, opcodes.OST_WRITE), body, nil, nil, nil, data)
}

// TestShorterDestination replaces a message of which only the first bytes are needed.
func TestShorterDestination(t *testing.T) {
	frames := wiretest.ReadSample(t, sample(t, "mount.pcap"))
	whole, part := New([]byte("key")), New([]byte("key"))
	messages(frames, func(m *dissect.Message) {
		a, b := make([]byte, len(m.Data)), make([]byte, len(m.Data)*2/3)
		whole.Message(a, m)
		part.Message(b, m)
		for i := range b {
			// A value at the end is either there or not.
			if b[i] != a[i] && (b[i] != 0 || i < len(b)-4096) {
				t.Fatalf("%s: byte %d is %#x, that of the whole message %#x", m.Kind, i, b[i], a[i])
			}
		}
	})
}

// TestResource replaces names of resources of locks.
func TestResource(t *testing.T) {
	plain, extent := opcodes.LdlmType.Number("PLAIN"), opcodes.LdlmType.Number("EXTENT")
	text := func(s string) uint64 {
		var b [8]byte
		copy(b[:], s)
		return binary.LittleEndian.Uint64(b[:])
	}
	p := New([]byte("key"))
	fsname := text(p.device([]byte("lustre")))
	for _, tt := range []struct {
		kind         uint64
		name, wanted [4]uint64
	}{
		{plain, [4]uint64{text("lustre")}, [4]uint64{fsname}},
		{plain, [4]uint64{text("lustre"), 2}, [4]uint64{fsname, 2}},
		{plain, [4]uint64{text("params"), 3}, [4]uint64{text("params"), 3}},
		{extent, [4]uint64{text("lustre")}, [4]uint64{text("lustre")}}, // the number of an object
		{plain, [4]uint64{0x200000401, 7, 0, 0x12345678}, [4]uint64{0x200000401, 7, 0, 0x12345678}},
		{plain, [4]uint64{0x200000005, 0x20000, 500}, [4]uint64{0x200000005, 0x20000, p.ID(500)}},
		{plain, [4]uint64{0x200000006, 0x20000}, [4]uint64{0x200000006, 0x20000}},
	} {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			var in, want []byte
			for i := range tt.name {
				in, want = order.AppendUint64(in, tt.name[i]), order.AppendUint64(want, tt.wanted[i])
			}
			v := value{in: in, out: make([]byte, len(in)), big: order == binary.BigEndian}
			w := writer{p: p, lockType: tt.kind}
			w.resource(&v)
			if !bytes.Equal(v.out, want) {
				t.Errorf("%x of kind %d became %x, want %x", tt.name, tt.kind, v.out, want)
			}
		}
	}
}
