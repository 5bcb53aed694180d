package capture

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"github.com/lshark/lshark/internal/must"
)

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
		if n != 0 {
			t.Errorf("%s: %v allocations a frame", name, n)
		}
	}
}
