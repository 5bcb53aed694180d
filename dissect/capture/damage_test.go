package capture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/must"
)

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
		if i >= len(lines) || line != lines[i] {
			t.Fatalf("line %d of %s: got\n%s", i+1, golden, line)
		}
	}
}
