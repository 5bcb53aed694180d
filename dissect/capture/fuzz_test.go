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
			if len(fr.Data) > fr.Len || in.at <= last {
				t.Fatalf("%d of %d bytes, offset %d after %d", len(fr.Data), fr.Len, in.at, last)
			}
			last = in.at
			segmentOf(&fr)
		}
		if unpack == nil && in.Size() > max(headSize, 2*len(data)) {
			t.Errorf("%d bytes of input cost a buffer of %d", len(data), in.Size())
		}
	})
}
