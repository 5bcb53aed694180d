package opcodes

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/lshark/lshark/opcodes/schema"
)

// TestMovedTargets: entries of any length, in both byte orders; one that claims more
// or less than there is ends the table.
func TestMovedTargets(t *testing.T) {
	entry := func(order binary.ByteOrder, kind byte, index, instance, length uint32, nids int) []byte {
		b := make([]byte, mgsNidtblEntry.Size+8*nids)
		order.PutUint32(b[mneInstance.Off:], instance)
		order.PutUint32(b[mneIndex.Off:], index)
		order.PutUint32(b[mneLength.Off:], length)
		b[mneType.Off] = kind
		return b
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		table := entry(order, 1, 2, 30, 32, 1)
		table = append(table, entry(order, 2, 10, 7, 40, 2)...)
		table = append(table, entry(order, 2, 11, 1, 4, 0)...)
		table = append(table, entry(order, 2, 12, 1, 24, 0)...)
		for cut, want := range map[int]string{0: "", 23: "", 24: "MDT 2 30", 32: "MDT 2 30", 72: "MDT 2 30, OST 10 7", len(table): "MDT 2 30, OST 10 7, OST 11 1"} {
			var got []string
			MovedTargets(table[:cut], order == binary.BigEndian, func(kind string, index, instance uint32) {
				got = append(got, fmt.Sprint(kind, " ", index, " ", instance))
			})
			if got := strings.Join(got, ", "); got != want {
				t.Errorf("%v, %d bytes: %s, want %s", order, cut, got, want)
			}
		}
	}
}

func TestRegisteredTarget(t *testing.T) {
	info := make([]byte, mgsTargetInfo.Size)
	copy(info[mtiSvname.Off:], "lustre-OST0001")
	for n, want := range map[int]string{len(info): "lustre-OST0001", mtiSvname.Off + mtiSvname.Size: "lustre-OST0001", mtiSvname.Off + 10: "", 0: ""} {
		name, ok := RegisteredTarget(&schema.Msg{Bufs: [][]byte{nil, info[:n]}})
		if string(name) != want || ok != (want != "") {
			t.Errorf("%d bytes: %q, %v", n, name, ok)
		}
	}
}
