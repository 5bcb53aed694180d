package capture

import (
	"github.com/google/gopacket/pcapgo"
)

// A pcap file is a header of 24 bytes, then records: a header of 16 bytes and
// the frame.
const (
	pcapMicros     = 0xa1b2c3d4
	pcapNanos      = 0xa1b23c4d
	pcapHeaderSize = 24
	pcapRecordSize = 16
)

// pcap reads pcap records with gopacket. It checks a record before gopacket
// reads the header, of which gopacket v1.1.19 needs another one in four cases:
//   - a frame longer than the snaplen, which may be 0, or than it was on the wire
//     would be refused; gopacket gets all headers with 0 bytes captured,
//   - fractions of more than a second overflow; gopacket gets the rest,
//   - a version other than 2.4 is refused,
//   - a link type above 255 is cut; it is taken from the file.
type pcap struct {
	reader    *pcapgo.Reader
	input     headerReader
	header    [pcapRecordSize]byte // for gopacket
	order     byteOrder
	perSecond uint32 // units of the fraction
	link      LinkType
	snaplen   uint32
}

// newPcap reads the file header. The magic number has been read in the given
// byte order.
func newPcap(w *window, magic uint32, order byteOrder) (*pcap, error) {
	if !w.need(pcapHeaderSize) {
		return nil, w.truncated("file header", pcapHeaderSize)
	}
	p := &pcap{order: order, perSecond: 1e6}
	if magic == pcapNanos {
		p.perSecond = 1e9
	}
	// The upper bits of the link type describe a frame check sequence.
	p.link = linkType(uint16(order.u32(w.buf[w.lo+20:])))
	p.snaplen = order.u32(w.buf[w.lo+16:])
	header := make([]byte, pcapHeaderSize)
	order.put32(header, magic)
	order.put16(header[4:], 2)
	order.put16(header[6:], 4)
	order.put32(header[20:], uint32(LinkEthernet))
	p.input.unread = header
	var err error
	if p.reader, err = pcapgo.NewReader(&p.input); err != nil {
		return nil, w.damage(w.offset(), "%v", err)
	}
	w.lo += pcapHeaderSize
	return p, nil
}

func (p *pcap) format() Format {
	return Format{Nanoseconds: p.perSecond == 1e9, Snaplen: p.snaplen, Links: []LinkType{p.link}}
}

func (p *pcap) next(w *window, f *Frame) error {
	if !w.need(pcapRecordSize) {
		return w.truncated("record header", pcapRecordSize)
	}
	h := p.header[:]
	copy(h, w.buf[w.lo:])
	sec, frac, have, size := p.order.u32(h), p.order.u32(h[4:]), p.order.u32(h[8:]), p.order.u32(h[12:])
	if have > maxRecord {
		return w.damage(w.offset(), "not a record: it claims a frame of %d bytes", have)
	}
	if sec|frac|have|size == 0 {
		return w.damage(w.offset(), "not a record: zeros")
	}
	n := pcapRecordSize + int(have)
	if !w.need(n) {
		return w.truncated("record", int64(n))
	}
	var carry uint32
	if frac >= p.perSecond {
		carry = frac / p.perSecond
		p.order.put32(h[4:], frac%p.perSecond)
	}
	p.order.put32(h[8:], 0) // no bytes were captured
	p.input.unread = h
	_, info, err := p.reader.ZeroCopyReadPacketData()
	if err != nil {
		return w.damage(w.offset(), "%v", err)
	}
	f.Data = w.buf[w.lo+pcapRecordSize : w.lo+n : w.lo+n]
	f.Time = info.Timestamp.UnixNano() + int64(carry)*1e9
	f.Len = max(int(have), info.Length)
	f.Link = p.link
	f.Iface = 0
	w.lo += n
	return nil
}

// linkType returns the link type for its number in a file. Some systems write
// raw IP as 12 or 14.
func linkType(n uint16) LinkType {
	if n == 12 || n == 14 {
		return LinkRaw
	}
	return LinkType(n)
}
