package capture

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/bits"
	"unicode/utf8"
)

// records reads the frames of one capture file format.
type records interface {
	// next reads a frame into f, without its number and capture point. It
	// returns io.EOF at the end of the input and a *DamageError at damage.
	next(in *input, f *Frame) error

	format() Format
}

// Format is the format of a capture file.
type Format struct {
	PCAPNG      bool       // else pcap
	Nanoseconds bool       // of pcap: times are in nanoseconds, not microseconds
	Snaplen     uint32     // of pcap: bytes that were kept of a frame, 0 for no limit
	Links       []LinkType // of the interfaces that were described so far, by Frame.Iface
	Comment     string     // of pcapng: the comments of its sections so far, one behind the other
}

// IsMagic reports whether a file that begins with this number, in little endian, is a
// capture.
func IsMagic(n uint32) bool {
	swapped := bits.ReverseBytes32(n)
	return n == blockSection || n == pcapMicros || n == pcapNanos || swapped == pcapMicros || swapped == pcapNanos
}

// newRecords detects the format by the first bytes.
func newRecords(in *input) (records, error) {
	head, err := in.Peek(4)
	if err != nil {
		return nil, notCapture(in, head, err)
	}
	magic := binary.LittleEndian.Uint32(head)
	swapped := bits.ReverseBytes32(magic)
	switch {
	case magic == blockSection:
		return &pcapng{}, nil
	case magic == pcapMicros || magic == pcapNanos:
		return newPcap(in, magic, littleEndian)
	case swapped == pcapMicros || swapped == pcapNanos:
		return newPcap(in, swapped, bigEndian)
	}
	head, err = in.Peek(512)
	return nil, notCapture(in, head, err)
}

// otherFormats has the first bytes of files that are often given by mistake.
var otherFormats = []struct{ magic, name string }{
	{"\xfd7zXZ\x00", "xz data; unpack it first"},
	{"BZh", "bzip2 data; unpack it first"},
	{"PK\x03\x04", "a zip archive; unpack it first"},
	{"snoop\x00\x00\x00", "a snoop file; editcap can convert it"},
	{"\x34\xcd\xb2\xa1", "a pcap file of an old patched kernel; editcap can convert it"},
	{"\xa1\xb2\xcd\x34", "a pcap file of an old patched kernel; editcap can convert it"},
	{"\x7fELF", "a program"},
}

// notCapture returns the error for an input that is neither pcap nor pcapng, with
// what it seems to be by its first bytes, after which err came.
func notCapture(in *input, head []byte, err error) error {
	if err != nil && err != io.EOF {
		return in.truncated(0, int64(len(head)), "file header", pcapHeaderSize, err)
	}
	what := "unknown data"
	switch {
	case len(head) == 0:
		return in.damage(0, "not a capture: empty")
	case isText(head):
		what = "text"
	case len(bytes.Trim(head, "\x00")) == 0:
		what = "zeros"
	}
	for _, f := range otherFormats {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			what = f.name
		}
	}
	return in.damage(0, "not a capture: %s", what)
}

func isText(b []byte) bool {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 && len(b) >= utf8.UTFMax {
			return false
		}
		if r < ' ' && r != '\n' && r != '\t' && r != '\r' && r != '\f' && r != 0x1b {
			return false
		}
		b = b[n:]
	}
	return true
}

// byteOrder is the byte order of a file.
type byteOrder bool

const (
	littleEndian byteOrder = false
	bigEndian    byteOrder = true
)

func (o byteOrder) u16(b []byte) uint16 {
	v := binary.LittleEndian.Uint16(b)
	if o == bigEndian {
		v = bits.ReverseBytes16(v)
	}
	return v
}

func (o byteOrder) u32(b []byte) uint32 {
	v := binary.LittleEndian.Uint32(b)
	if o == bigEndian {
		v = bits.ReverseBytes32(v)
	}
	return v
}

func (o byteOrder) u64(b []byte) uint64 {
	v := binary.LittleEndian.Uint64(b)
	if o == bigEndian {
		v = bits.ReverseBytes64(v)
	}
	return v
}
