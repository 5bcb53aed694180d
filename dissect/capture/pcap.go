package capture

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"

	"github.com/google/gopacket/layers"
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

// pcap reads pcap records with gopacket. It checks a record before gopacket reads
// it, because gopacket allocates as many bytes as a record claims, and its errors
// have no offset.
type pcap struct {
	reader  *pcapgo.Reader // nil if gopacket does not read the file
	order   byteOrder
	unit    int64 // of the fraction, nanoseconds
	link    LinkType
	snaplen uint32
}

// newPcap reads the file header. The magic number has been read in the given
// byte order.
func newPcap(in *input, magic uint32, order byteOrder) (records, error) {
	h, err := in.peek(0, pcapHeaderSize, "file header")
	if err != nil {
		return nil, err
	}
	p := &pcap{order: order, unit: 1000, snaplen: order.u32(h[16:])}
	if magic == pcapNanos {
		p.unit = 1
	}
	// gopacket's link type has 8 bits. In the file it has 16; the upper ones
	// describe a frame check sequence.
	p.link = linkType(uint16(order.u32(h[20:])))
	if major, minor := order.u16(h[4:]), order.u16(h[6:]); major != 2 || minor != 4 {
		in.readByHand(in.at, "version %d.%d", major, minor) // gopacket refuses it
		in.discard(pcapHeaderSize)
		return p, nil
	}
	if p.reader, err = pcapgo.NewReader(in.Reader); err != nil {
		return nil, in.damage(in.at, "%v", err)
	}
	in.advance(pcapHeaderSize)
	// gopacket refuses longer frames, and allocates as much for each.
	p.reader.SetSnaplen(headSize)
	return p, nil
}

func (p *pcap) format() Format {
	return Format{Nanoseconds: p.unit == 1, Snaplen: p.snaplen, Links: []LinkType{p.link}}
}

func (p *pcap) next(in *input, f *Frame) error {
	h, err := in.peek(0, pcapRecordSize, "record header")
	if err != nil {
		return err
	}
	sec, frac, have, size := p.order.u32(h), p.order.u32(h[4:]), p.order.u32(h[8:]), p.order.u32(h[12:])
	if have > maxRecord {
		return in.damage(in.at, "not a record: it claims a frame of %d bytes", have)
	}
	if sec|frac|have|size == 0 {
		return in.damage(in.at, "not a record: zeros")
	}
	n := pcapRecordSize + int(have)
	record, err := in.peek(0, n, "record")
	if err != nil {
		return err
	}
	f.Len, f.Link, f.Iface = int(max(have, size)), p.link, 0
	switch {
	case in.byHand != "":
	case have > size: // gopacket refuses it
		in.readByHand(in.at, "a frame with more bytes than it had on the wire")
	case p.unit != 1 && frac > (1<<32-1)/1000: // gopacket multiplies 32 bits
		in.readByHand(in.at, "a time with %d microseconds", frac)
	}
	if in.byHand != "" {
		f.Data, f.Time = record[pcapRecordSize:], int64(sec)*1e9+int64(frac)*p.unit
		in.discard(n)
		return nil
	}
	if have > p.reader.Snaplen() {
		p.reader.SetSnaplen(2 * have)
	}
	data, info, err := p.reader.ZeroCopyReadPacketData()
	if err != nil {
		return in.damage(in.at, "%v", err)
	}
	f.Data, f.Time = data[:have:have], info.Timestamp.UnixNano()
	in.advance(n)
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

// PcapWriter writes frames of one link type as pcap, with little-endian numbers. After an
// error it writes nothing more and returns that error from then on.
type PcapWriter struct {
	records *pcapgo.Writer
	buf     *bufio.Writer
}

// NewPcapWriter returns a PcapWriter on w with the units of time, the snaplen and the first
// link type of a format. The caller must call Flush at the end, and closes w.
func NewPcapWriter(w io.Writer, format Format) *PcapWriter {
	create, link := pcapgo.NewWriter, LinkEthernet
	if format.Nanoseconds {
		create = pcapgo.NewWriterNanos
	}
	if len(format.Links) > 0 {
		link = format.Links[0]
	}
	var header bytes.Buffer
	create(&header).WriteFileHeader(format.Snaplen, layers.LinkType(link)) // a bytes.Buffer has no errors
	binary.LittleEndian.PutUint16(header.Bytes()[20:], uint16(link))       // gopacket's type has 8 bits
	p := &PcapWriter{buf: bufio.NewWriterSize(w, writerSize)}
	p.records = create(p.buf)
	p.buf.Write(header.Bytes()) // an error is that of Flush, too
	return p
}

// Write adds a frame.
func (p *PcapWriter) Write(f *Frame) error {
	if p.records.WritePacket(captureInfo(f, 0), f.Data) != nil {
		return p.Flush() // with the error itself, of which gopacket returns only the text
	}
	return nil
}

// Flush writes what is buffered.
func (p *PcapWriter) Flush() error { return p.buf.Flush() }
