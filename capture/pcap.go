package capture

import (
	"encoding/binary"
	"math/bits"
)

// A pcap file: a header of 24 bytes, then records of 16 bytes and the frame.
// pcapgo's reader is not used here: it copies every frame, allocates what a
// record's length claims, and cannot say where in the file it stands.
const (
	pcapMicros     = 0xa1b2c3d4
	pcapNanos      = 0xa1b23c4d
	pcapHeaderSize = 24
	pcapRecordSize = 16
)

type pcap struct {
	swapped bool  // written in big endian
	unit    int64 // nanoseconds of one unit of the sub-second part
	link    LinkType
}

// newPcap reads the file header, whose magic number has been seen.
func newPcap(w *window, magic uint32, swapped bool) (*pcap, error) {
	if !w.need(pcapHeaderSize) {
		return nil, w.cut("file header", pcapHeaderSize)
	}
	p := &pcap{swapped: swapped, unit: 1000}
	if magic == pcapNanos {
		p.unit = 1
	}
	// The upper bits of the link type tell of a frame check sequence.
	p.link = linkType(uint16(p.u32(w.buf[w.lo+20:])))
	w.lo += pcapHeaderSize
	return p, nil
}

func (p *pcap) u32(b []byte) uint32 {
	v := binary.LittleEndian.Uint32(b)
	if p.swapped {
		v = bits.ReverseBytes32(v)
	}
	return v
}

func (p *pcap) next(w *window, f *Frame) error {
	if !w.need(pcapRecordSize) {
		return w.cut("record header", pcapRecordSize)
	}
	h := w.buf[w.lo : w.lo+pcapRecordSize]
	sec, frac, have, size := p.u32(h), p.u32(h[4:]), p.u32(h[8:]), p.u32(h[12:])
	if have > maxRecord {
		return w.damage(w.offset(), "not a record: it claims a frame of %d bytes", have)
	}
	if sec|frac|have|size == 0 {
		return w.damage(w.offset(), "not a record: zeros")
	}
	n := pcapRecordSize + int(have)
	if !w.need(n) {
		return w.cut("record", int64(n))
	}
	f.Data = w.buf[w.lo+pcapRecordSize : w.lo+n : w.lo+n]
	f.Time = int64(sec)*1e9 + int64(frac)*p.unit
	f.Len = int(max(have, size))
	f.Link = p.link
	f.Iface = 0
	w.lo += n
	return nil
}

// linkType joins the numbers that mean the same: some systems write raw IP as
// 12 or 14.
func linkType(n uint16) LinkType {
	if n == 12 || n == 14 {
		return LinkRaw
	}
	return LinkType(n)
}
