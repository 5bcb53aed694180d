package capture

import (
	"encoding/binary"
	"io"
	"unicode/utf8"
)

const writerSize = 256 << 10 // bytes kept before they are written

// MaxComment is the longest comment of a frame that a Writer writes, in bytes:
// an option's length has 16 bits, and padding follows.
const MaxComment = 65532

// Writer writes frames as pcapng with time stamps in nanoseconds. After an
// error it writes nothing more and returns that error from then on.
type Writer struct {
	w      io.Writer
	buf    []byte
	ifaces map[origin]uint32
	err    error
}

// origin is what makes an interface of the written file.
type origin struct {
	link          LinkType
	source, iface int
}

// NewWriter returns a Writer that begins a pcapng file on w. Flush must be
// called at the end; closing w is the caller's work.
func NewWriter(w io.Writer) *Writer {
	nw := &Writer{w: w, ifaces: map[origin]uint32{}, buf: make([]byte, 0, writerSize)}
	at := nw.begin(blockSection)
	nw.u32(byteOrderMagic)
	nw.u32(1)                                                      // version 1.0
	nw.buf = append(nw.buf, "\xff\xff\xff\xff\xff\xff\xff\xff"...) // the section's length is not known
	nw.option(4, "lshark")                                         // shb_userappl
	nw.end(at)
	return nw
}

// Write adds a frame with a comment, which may be empty. Each link type,
// source and interface becomes an interface of the file.
func (w *Writer) Write(f *Frame, comment string) error {
	if w.err != nil {
		return w.err
	}
	id := origin{f.Link, f.Source, f.Iface}
	iface, known := w.ifaces[id]
	if !known {
		iface = uint32(len(w.ifaces))
		w.ifaces[id] = iface
		w.describe(f.Link)
	}
	at := w.begin(blockEnhanced)
	w.u32(iface)
	w.u32(uint32(uint64(f.Time) >> 32))
	w.u32(uint32(f.Time))
	w.u32(uint32(len(f.Data)))
	w.u32(uint32(max(f.Len, len(f.Data))))
	w.buf = append(w.buf, f.Data...)
	w.pad()
	if comment != "" {
		w.option(optionComment, shorten(comment))
		w.u32(optionEnd)
	}
	w.end(at)
	if len(w.buf) >= writerSize/2 {
		return w.Flush()
	}
	return nil
}

// Flush writes what has been kept back.
func (w *Writer) Flush() error {
	if w.err == nil && len(w.buf) > 0 {
		_, w.err = w.w.Write(w.buf)
		w.buf = w.buf[:0]
	}
	return w.err
}

// describe adds an interface description block.
func (w *Writer) describe(link LinkType) {
	at := w.begin(blockInterface)
	w.u32(uint32(link))
	w.u32(0) // no limit to the length of frames
	w.option(optionTsResol, "\x09")
	w.u32(optionEnd)
	w.end(at)
}

// begin starts a block and returns its place for end.
func (w *Writer) begin(kind uint32) int {
	at := len(w.buf)
	w.u32(kind)
	w.u32(0)
	return at
}

func (w *Writer) end(at int) {
	size := uint32(len(w.buf) - at + 4)
	w.u32(size)
	binary.LittleEndian.PutUint32(w.buf[at+4:], size)
}

func (w *Writer) u32(v uint32) { w.buf = binary.LittleEndian.AppendUint32(w.buf, v) }

// pad fills the block up to a multiple of 4 bytes; all before it has one.
func (w *Writer) pad() { w.buf = append(w.buf, "\x00\x00\x00"[:-len(w.buf)&3]...) }

func (w *Writer) option(code uint16, value string) {
	w.buf = binary.LittleEndian.AppendUint16(w.buf, code)
	w.buf = binary.LittleEndian.AppendUint16(w.buf, uint16(len(value)))
	w.buf = append(w.buf, value...)
	w.pad()
}

// shorten cuts a comment to what the format holds, not inside a character.
func shorten(s string) string {
	if len(s) <= MaxComment {
		return s
	}
	n := MaxComment
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
