package opcodes

import (
	"encoding/binary"
	"testing"

	. "github.com/lshark/lshark/opcodes/schema"
)

func TestFiemapExtents(t *testing.T) {
	for _, tt := range []struct{ claimed, room, want int }{
		{2, 3, 2},
		{0, 3, 0}, // a request: room for the answer
		{1 << 30, 3, 3},
		{5, 0, 0},
	} {
		b := make([]byte, fiemapHdr.Size+tt.room*fiemapExtent.Size)
		binary.LittleEndian.PutUint32(b[fmMapped.Off:], uint32(tt.claimed))
		if got := fiemapExtents(&View{Struct: b}); got != tt.want {
			t.Errorf("%d extents claimed, room for %d: %d", tt.claimed, tt.room, got)
		}
	}
}

// TestKeys holds that keys count as far as they go, with a NUL behind them or
// without.
func TestKeys(t *testing.T) {
	tests := []struct {
		rpc       *RPC
		key, want string
	}{
		{rpcOstGetInfo, "last_id", "last_id"},
		{rpcOstGetInfo, "last_fid\x00", "last_fid"},
		{rpcOstGetInfo, "fiemap\x00\x00rest", "fiemap"},
		{rpcOstGetInfo, "fid2path\x00", "fid2path"},
		{rpcOstGetInfo, "", "other"},
		{rpcOstSetInfo, "grant_shrink", "grant_shrink"},
		{rpcOstSetInfo, "checksum\x00", "other"},
	}
	for _, tt := range tests {
		if got := tt.rpc.Pick(&Msg{Bufs: [][]byte{nil, []byte(tt.key)}}).Name; got != tt.want {
			t.Errorf("%s %q is taken for %s", tt.rpc.Name, tt.key, got)
		}
	}
	for size, want := range map[int]string{8: "last_id", 16: "last_fid", 32: "fiemap", 88: "fiemap", 20: "other"} {
		if got := rpcOstGetInfo.PickReply(&Msg{Bufs: [][]byte{nil, make([]byte, size)}}).Name; got != want {
			t.Errorf("an answer of %d bytes is taken for %s", size, got)
		}
	}
}
