package scan

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/pdu"
)

// pduWriter writes messages as packets that Wireshark's JSON dissector shows
// (Options.SavePDUs). It allocates nothing once its buffers have grown.
type pduWriter struct {
	w      *capture.Writer
	flush  bool // after each message
	json   *render.JSON
	limits pdu.Limiter
	text   []byte // JSON
	packet []byte
}

func newPDUWriter(w *capture.Writer, flush bool) *pduWriter {
	return &pduWriter{w: w, flush: flush, json: render.NewJSON()}
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
	p.packet = p.limits.Append(p.packet, text, pdu.MaxPacket-len(p.packet))
	f := capture.Frame{Time: m.Time, Data: p.packet, Len: len(p.packet), Link: pdu.LinkType, Source: m.Source}
	err := p.w.Write(&f, string(comment))
	if err == nil && p.flush {
		err = p.w.Flush()
	}
	return err
}
