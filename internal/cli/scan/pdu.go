package scan

import (
	"cmp"
	"fmt"
	"math"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/pdu"
	"github.com/lshark/lshark/render/records"
)

// pduWriter writes messages as packets that Wireshark's JSON dissector shows
// (Options.SavePDUs). It allocates nothing once its buffers have grown.
type pduWriter struct {
	w      capture.FrameWriter
	flush  bool // after each message
	json   *render.JSON
	limits pdu.Limiter
	text   []byte // JSON
	packet []byte

	findings *render.RecordJSON[*diagnose.Finding]
}

func newPDUWriter(w capture.FrameWriter, flush bool) *pduWriter {
	return &pduWriter{w: w, flush: flush, json: render.NewJSON(), findings: render.NewRecordJSON(&records.Findings)}
}

// write writes a message, with a comment for the column Info and for the packet; first
// is the time of the first frame of the capture.
func (p *pduWriter) write(m *dissect.Message, first int64, comment []byte) error {
	header := pdu.Header{
		Dissector: "json",
		Ports:     pdu.TCP,
		SrcPort:   uint32(m.Src.Port()),
		DstPort:   uint32(m.Dst.Port()),
		Frame:     m.Frame,
		Protocol:  "Lustre",
		Info:      comment,
	}
	if m.Transport == lnet.O2IB {
		header.Ports, header.SrcPort, header.DstPort = pdu.QueuePair, m.IB.SrcQP, m.IB.DestQP
	}
	if m.Transport != lnet.O2IB || !m.IB.Local { // LIDs are no IP addresses
		header.Src, header.Dst = m.Src.Addr(), m.Dst.Addr()
	}
	p.packet = header.Append(p.packet[:0])
	p.text = p.json.Append(p.text[:0], m, render.Moment{First: first})
	text := p.text[:len(p.text)-1] // without the line break
	return p.writePacket(m.Time, m.Source, text, comment)
}

// writePacket writes the packet whose header is in p.packet.
func (p *pduWriter) writePacket(at int64, source int, text, comment []byte) error {
	p.packet = p.limits.Append(p.packet, text, pdu.MaxPacket-len(p.packet))
	f := capture.Frame{Time: at, Data: p.packet, Len: len(p.packet), Link: pdu.LinkType, Source: source}
	err := p.w.Write(&f, string(comment))
	if err == nil && p.flush {
		err = p.w.Flush()
	}
	return err
}

// writeFinding writes a finding; first is the time of the first frame of the capture.
func (p *pduWriter) writeFinding(f *diagnose.Finding, first int64) error {
	comment := fmt.Appendf(nil, "%s %s %s", f.Severity, f.Rule.Code, schema.AppendText(nil, []byte(f.Text)))
	comment = comment[:min(len(comment), math.MaxUint16)]
	header := pdu.Header{Dissector: "json", Protocol: "Lustre", Info: comment}
	p.packet = header.Append(p.packet[:0])
	p.text = p.findings.Append(p.text[:0], f)
	return p.writePacket(cmp.Or(f.First, first), 0, p.text, comment)
}
