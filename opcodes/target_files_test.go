package opcodes

import (
	"encoding/binary"
	"testing"
)

// TestTargetFileForm reads what is written to reply_data and last_rcvd by the
// length of the record, and leaves other objects and lengths alone.
func TestTargetFileForm(t *testing.T) {
	fid := func(seq uint64, oid uint32, order binary.AppendByteOrder) []byte {
		return order.AppendUint32(order.AppendUint32(order.AppendUint64(nil, seq), oid), 0)
	}
	little, big := binary.LittleEndian, binary.BigEndian
	header := make([]byte, 32)
	little.PutUint32(header, 0xbdabda01)
	little.PutUint32(header[4:], 32)
	record := make([]byte, 32)
	little.PutUint64(record, 0x1bdabda01) // a transaction number that begins like the magic
	for _, c := range []struct {
		name string
		fid  []byte
		data []byte
		big  bool
		want string
	}{
		{"reply of 2.15", fid(0x200000001, 0x15, little), make([]byte, 32), false, "lsd_reply_data_v1"},
		{"reply of 2.15, big-endian FID", fid(0x200000001, 0x15, big), make([]byte, 32), true, "lsd_reply_data_v1"},
		{"reply of 2.16", fid(0x200000001, 0x15, little), make([]byte, 64), false, "lsd_reply_data_v2"},
		{"header", fid(0x200000001, 0x15, little), header, false, "lsd_reply_header"},
		{"reply with a transaction number like the magic", fid(0x200000001, 0x15, little), record, false, "lsd_reply_data_v1"},
		{"half a reply", fid(0x200000001, 0x15, little), make([]byte, 16), false, ""},
		{"client", fid(0x200000001, 0xb, little), make([]byte, 128), false, "lsd_client_data"},
		{"another local file", fid(0x200000001, 0x16, little), make([]byte, 32), false, ""},
		{"another sequence", fid(0x200000002, 0x15, little), make([]byte, 32), false, ""},
		{"no FID", nil, make([]byte, 32), false, ""},
	} {
		got := ""
		if f := targetFileForm(c.fid, c.data, c.big); f != nil {
			got = f.Type.Name
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
