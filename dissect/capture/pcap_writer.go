package capture

import (
	"encoding/binary"
	"io"
)

// PcapWriter writes frames of one link type as pcap, with little-endian numbers. After an
// error it writes nothing more and returns that error from then on.
type PcapWriter struct {
	w   io.Writer
	buf []byte
	per int64 // nanoseconds of a unit of the fraction
	err error
}

// NewPcapWriter returns a PcapWriter on w with the units of time, the snaplen and the first
// link type of a format. The caller must call Flush at the end, and closes w.
func NewPcapWriter(w io.Writer, format Format) *PcapWriter {
	p := &PcapWriter{w: w, buf: make([]byte, 0, writerSize), per: 1000}
	magic := uint32(pcapMicros)
	if format.Nanoseconds {
		magic, p.per = pcapNanos, 1
	}
	link := LinkEthernet
	if len(format.Links) > 0 {
		link = format.Links[0]
	}
	le := binary.LittleEndian
	b := le.AppendUint32(p.buf, magic)
	b = le.AppendUint16(b, 2) // version 2.4
	b = le.AppendUint16(b, 4)
	b = le.AppendUint64(b, 0) // time zone, accuracy
	b = le.AppendUint32(b, format.Snaplen)
	p.buf = le.AppendUint32(b, uint32(link))
	return p
}

// Write adds a frame.
func (p *PcapWriter) Write(f *Frame) error {
	if p.err != nil {
		return p.err
	}
	sec, ns := f.Time/1e9, f.Time%1e9
	if ns < 0 {
		sec, ns = sec-1, ns+1e9
	}
	le := binary.LittleEndian
	b := le.AppendUint32(p.buf, uint32(sec))
	b = le.AppendUint32(b, uint32(ns/p.per))
	b = le.AppendUint32(b, uint32(len(f.Data)))
	b = le.AppendUint32(b, uint32(max(f.Len, len(f.Data))))
	p.buf = append(b, f.Data...)
	if len(p.buf) >= writerSize/2 {
		return p.Flush()
	}
	return nil
}

// Flush writes what is buffered.
func (p *PcapWriter) Flush() error {
	if p.err == nil && len(p.buf) > 0 {
		_, p.err = p.w.Write(p.buf)
		p.buf = p.buf[:0]
	}
	return p.err
}
