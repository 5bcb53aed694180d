package anonymize

import (
	"net/netip"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/lnet/link"
	"github.com/lshark/lshark/internal/anonymize/values"
)

// Options are the settings of an Anonymizer.
type Options struct {
	// Key determines the replacements: the same key gives the same ones.
	Key []byte

	// FlatAddresses replaces IP addresses as a whole: those of a subnet have nothing in common.
	FlatAddresses bool

	// Ports are the TCP ports that carry LNet; without any, lnet.DefaultPort.
	Ports []uint16

	// Write receives the rewritten frames in the order of the capture. A frame is valid
	// until Write returns. Only its Data differs from the frame that was passed to Frame.
	Write func(f *capture.Frame) error
}

// Anonymizer rewrites the frames of one capture.
type Anonymizer struct {
	opt       Options
	dissector *dissect.Dissector
	values    *values.Mapper
	headers   *headers
	window    window
	content   *content
	frames    int64
	messages  int64  // of LNet and its transports that were rewritten
	late      int64  // messages whose first frames were written before the message was complete: these frames have zeros in its place
	skipped   int64  // bytes of data in messages that were removed without reading them
	out       []byte // the headers of the current frame
	frame     []byte // the frame being written
	message   []byte // the message being rewritten
	ends      []byte // scratch space
	err       error
}

// New returns an Anonymizer with the given options.
func New(o Options) *Anonymizer {
	if len(o.Ports) == 0 {
		o.Ports = []uint16{lnet.DefaultPort}
	}
	a := &Anonymizer{opt: o, values: values.New(o.Key)}
	a.values.Flat = o.FlatAddresses
	a.headers = newHeaders(a.values, o.Ports)
	a.content = newContent(a.writeUpTo)
	a.dissector = dissect.New(dissect.Options{Ports: o.Ports, Frames: true, Handle: a.rewriteMessage})
	return a
}

// Values returns the mapper, which has the replacements so far.
func (a *Anonymizer) Values() *values.Mapper { return a.values }

// Frame takes the next frame, whose Number must be higher than that of the frame before. The
// error is the first one of Options.Write; after it nothing is written.
func (a *Anonymizer) Frame(f *capture.Frame) error {
	if a.window.full() {
		a.writeOldest()
	}
	a.frames++
	a.out = zeros(a.out, len(f.Data))
	a.headers.rewrite(f, a.out)
	a.window.add(f, a.out[:a.headers.kept], a.headers.payload, a.headers.sums)
	a.dissector.Frame(f)
	return a.err
}

// Close writes the frames that are held.
func (a *Anonymizer) Close() error {
	a.dissector.Close()
	for a.window.n > 0 {
		a.writeOldest()
	}
	return a.err
}

// zeros returns n zero bytes, in the memory of buf where it is large enough.
func zeros(buf []byte, n int) []byte {
	if cap(buf) < n {
		return make([]byte, n, 2*n)
	}
	buf = buf[:n]
	clear(buf)
	return buf
}

// rewriteMessage rewrites a message, for the frames that carry it.
func (a *Anonymizer) rewriteMessage(m *dissect.Message) {
	a.messages++
	if k := a.window.oldest(); k != nil && len(m.Frames) > 0 && m.Frames[0] < k.frame.Number {
		a.late++
	}
	if m.Tail == lnet.Skipped {
		a.skipped += int64(m.Size - len(m.Data))
	}
	a.message = zeros(a.message, len(m.Data))
	a.values.Message(a.message, m)
	if m.Transport == lnet.O2IB {
		a.addInfiniBand(m)
		return
	}
	f := link.Flow{Src: as16(m.Src), Dst: as16(m.Dst), SrcPort: m.Src.Port(), DstPort: m.Dst.Port()}
	a.content.addTCP(&f, m.Seq, a.message, m.Order)
	if a.headers.truncated {
		order := byte(endLittle)
		if m.Swapped {
			order = endBig
		}
		f.Source = endSource
		a.content.addTCP(&f, m.Seq+uint32(m.Size), []byte{order}, m.Order)
	}
}

// In truncated captures, content also keeps where messages end. The flow of these entries has
// the source endSource, so they do not collide with message bytes. An entry is one byte at the
// sequence number behind a message: endLittle or endBig, the byte order of that message.
const (
	endSource = -1
	endLittle = 1
	endBig    = 2
)

// maxCutHeader is how many bytes of a header a truncated frame can have at its end without
// the length of the message: ksock header, NIDs and process IDs.
const maxCutHeader = 24 + 40 + 8

// restoreType writes the message type of a socklnd header that begins so close to the end of a
// truncated frame that the message was not dissected. Without the type, a reader of the result
// that has to find the next message boundary would not accept these bytes as a header.
func (a *Anonymizer) restoreType(dst []byte, k *heldFrame) {
	const typeLNet = 0xc1
	from := max(0, len(dst)-maxCutHeader)
	a.ends = zeros(a.ends, len(dst)-from)
	f := k.payload.key.flow
	f.Source = endSource
	a.content.readTCP(a.ends, &f, k.payload.seq+uint32(from), k.frame.Number)
	for i := len(a.ends) - 1; i >= 0 && dst[from+i] == 0; i-- {
		if a.ends[i] == endBig && from+i+3 < len(dst) {
			dst[from+i+3] = typeLNet
		} else if a.ends[i] == endLittle {
			dst[from+i] = typeLNet
		}
		if a.ends[i] != 0 {
			return
		}
	}
}

// as16 returns an address as in link.Flow.
func as16(a netip.AddrPort) [16]byte { return a.Addr().As16() }

func (a *Anonymizer) writeUpTo(order int64) {
	for k := a.window.oldest(); k != nil && k.frame.Number <= order; k = a.window.oldest() {
		a.writeOldest()
	}
}

func (a *Anonymizer) writeOldest() {
	k := a.window.oldest()
	a.frame = zeros(a.frame, k.size)
	copy(a.frame, k.head)
	if p := &k.payload; p.size > 0 {
		dst := a.frame[p.off : p.off+p.size]
		if p.tcp {
			a.content.readTCP(dst, &p.key.flow, p.seq, k.frame.Number)
			if p.cut {
				a.restoreType(dst, k)
			}
		} else {
			a.content.read(dst, p.key, 0, k.frame.Number)
		}
	}
	for i := len(k.sums) - 1; i >= 0; i-- {
		k.sums[i].set(a.frame)
	}
	f := k.frame
	f.Data = a.frame
	a.window.remove()
	if a.err == nil {
		a.err = a.opt.Write(&f)
	}
}
