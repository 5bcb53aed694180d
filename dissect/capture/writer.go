package capture

import (
	"bytes"
	"encoding/binary"
	"io"
	"unicode/utf8"

	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"
)

const writerSize = 256 << 10 // bytes that are buffered

// MaxComment is the longest comment of a frame that a Writer writes, in bytes:
// an option's length has 16 bits, and padding follows.
const MaxComment = 65532

// Writer writes frames as pcapng with time stamps in nanoseconds. After an
// error it writes nothing more and returns that error from then on.
//
// gopacket writes the blocks. Comments and link types above 255, which gopacket
// v1.1.19 does not write, are put into its blocks before they reach the file.
type Writer struct {
	w      io.Writer
	blocks *pcapgo.NgWriter // nil before the first interface
	buf    blockBuffer
	size   int64          // bytes that were written to w
	ifaces map[origin]int // index of the interface
	about  []byte         // comment of the file
	err    error
}

// origin identifies an interface of the written file.
type origin struct {
	link          LinkType
	source, iface int
}

// blockBuffer holds whole blocks until they are written to the file.
type blockBuffer []byte

func (b *blockBuffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

// NewWriter returns a Writer of a pcapng file on w. The caller must call Flush
// at the end, and closes w.
func NewWriter(w io.Writer) *Writer {
	return &Writer{w: w, ifaces: map[origin]int{}, buf: make(blockBuffer, 0, writerSize)}
}

// SetComment sets the comment of the file, before its first frame. Of a long one the file has
// several, which end with lines.
func (w *Writer) SetComment(text []byte) { w.about = text }

// Write adds a frame with a comment, which may be empty. Each link type,
// source and interface becomes an interface of the file.
func (w *Writer) Write(f *Frame, comment string) error {
	if w.err != nil {
		return w.err
	}
	id := origin{f.Link, f.Source, f.Iface}
	iface, described := w.ifaces[id]
	if !described {
		if w.AddInterface(f.Link, f.Source, f.Iface, f.Interface) != nil {
			return w.err
		}
		iface = w.ifaces[id]
	}
	w.err = w.blocks.WritePacket(captureInfo(f, iface), f.Data)
	if w.err == nil {
		w.err = w.blocks.Flush()
	}
	if w.err != nil {
		return w.err
	}
	if comment != "" {
		w.addComment(shorten(comment))
	}
	if len(w.buf) >= writerSize/2 {
		return w.Flush()
	}
	return nil
}

// AddInterface describes an interface of a source, unless it is described; the name may be empty.
// Write does so for interfaces with frames, in the order of their frames.
func (w *Writer) AddInterface(link LinkType, source, iface int, name string) error {
	if w.err != nil {
		return w.err
	}
	id := origin{link, source, iface}
	if _, described := w.ifaces[id]; !described {
		w.ifaces[id], w.err = w.addInterface(link, name)
	}
	return w.err
}

// Flush writes what is buffered. A file without frames gets the description of
// an interface, without which gopacket writes no section header.
func (w *Writer) Flush() error {
	if w.err == nil && w.blocks == nil {
		_, w.err = w.addInterface(LinkEthernet, "")
	}
	if w.err == nil && len(w.buf) > 0 {
		var n int
		n, w.err = w.w.Write(w.buf)
		w.size += int64(n)
		w.buf = w.buf[:0]
	}
	return w.err
}

// Size returns how many bytes the frames so far take, including those that are buffered.
func (w *Writer) Size() int64 { return w.size + int64(len(w.buf)) }

// addInterface adds an interface description block, before the first one also
// the section header. It returns the index of the interface.
func (w *Writer) addInterface(link LinkType, name string) (index int, err error) {
	iface := pcapgo.NgInterface{Name: name, LinkType: layers.LinkType(link)}
	if w.blocks == nil {
		options := pcapgo.NgWriterOptions{SectionInfo: pcapgo.NgSectionInfo{Application: "lshark"}}
		w.blocks, err = pcapgo.NewNgWriterInterface(&w.buf, iface, options)
		if err == nil && len(w.about) > 0 {
			if err = w.blocks.Flush(); err == nil {
				w.commentSection()
			}
		}
	} else {
		index, err = w.blocks.AddInterface(iface)
	}
	if err == nil {
		err = w.blocks.Flush()
	}
	if err != nil {
		return 0, err
	}
	binary.LittleEndian.PutUint16(w.lastBlock()[8:], uint16(link)) // gopacket's type has 8 bits
	return index, nil
}

// addComment adds an option with a comment to the last block, which has no
// options.
func (w *Writer) addComment(comment string) {
	n := len(w.lastBlock())
	b := appendOption(w.buf[:len(w.buf)-4], optionComment, []byte(comment)) // without the length at its end
	b = binary.LittleEndian.AppendUint32(b, optionEnd)
	size := n + len(b) - (len(w.buf) - 4)
	w.buf = binary.LittleEndian.AppendUint32(b, uint32(size))
	binary.LittleEndian.PutUint32(w.lastBlock()[4:], uint32(size))
}

// maxSectionComment is the longest comment of a file that is written, in bytes: readers refuse
// blocks that are much longer.
const maxSectionComment = 4 << 20

// commentSection adds the comment of the file to the section header, which is the first block
// of the buffer and ends its options, as gopacket writes some.
func (w *Writer) commentSection() {
	const end = 4 + 4 // of the options, and the length
	header := int(binary.LittleEndian.Uint32(w.buf[4:]))
	rest := append(blockBuffer(nil), w.buf[header:]...)
	b := w.buf[:header-end]
	for text := w.about[:min(len(w.about), maxSectionComment)]; len(text) > 0; {
		n := len(text)
		if n > MaxComment {
			if n = bytes.LastIndexByte(text[:MaxComment], '\n') + 1; n == 0 {
				n = MaxComment
			}
		}
		b = appendOption(b, optionComment, text[:n])
		text = text[n:]
	}
	b = binary.LittleEndian.AppendUint32(b, optionEnd)
	size := len(b) + 4
	b = binary.LittleEndian.AppendUint32(b, uint32(size))
	binary.LittleEndian.PutUint32(b[4:], uint32(size))
	w.buf = append(b, rest...)
}

func appendOption(b []byte, code uint16, value []byte) []byte {
	b = binary.LittleEndian.AppendUint16(b, code)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(value)))
	b = append(b, value...)
	return append(b, "\x00\x00\x00"[:-len(value)&3]...)
}

// lastBlock returns the last block of the buffer, which ends with its length.
func (w *Writer) lastBlock() []byte {
	end := len(w.buf)
	return w.buf[end-int(binary.LittleEndian.Uint32(w.buf[end-4:])):]
}

// shorten truncates a comment to MaxComment bytes, but not inside a character.
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
