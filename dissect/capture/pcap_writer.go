package capture

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"

	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"
)

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
