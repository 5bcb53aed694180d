package capture

import (
	"bytes"
	"encoding/binary"
	"testing"
)

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
		w := newWindow("fuzz", bytes.NewReader(data), headSize)
		unpack, err := decompressor(w)
		if err == nil && unpack != nil {
			w = newWindow("fuzz", unpack, headSize)
		}
		var recs records
		if err == nil {
			recs, err = newRecords(w)
		}
		var fr Frame
		for last := int64(0); err == nil; {
			if err = recs.next(w, &fr); err != nil {
				break
			}
			if len(fr.Data) > fr.Len || w.offset() <= last {
				t.Fatalf("%d of %d bytes, offset %d after %d", len(fr.Data), fr.Len, w.offset(), last)
			}
			last = w.offset()
			segmentOf(&fr)
		}
		if unpack == nil && len(w.buf) > max(headSize, 2*len(data)) {
			t.Errorf("%d bytes of input cost a buffer of %d", len(data), len(w.buf))
		}
	})
}
