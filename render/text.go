package render

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

// Width returns the number of columns that text takes on a terminal.
func Width(b []byte) int {
	n := 0
	for i := 0; i < len(b); i++ {
		if b[i] < utf8.RuneSelf {
			n++
			continue
		}
		r, size := utf8.DecodeRune(b[i:])
		n += RuneWidth(r)
		i += size - 1
	}
	return n
}

// fits reports whether text takes no more than a number of columns. None takes more than it
// has bytes.
func fits(text []byte, columns int) bool { return len(text) <= columns || Width(text) <= columns }

// RuneWidth returns the number of columns that a character takes: none if it is
// combined with the one before it, two if it is wide, as those of East Asia.
func RuneWidth(r rune) int {
	const combining = 0x300 // the first character that is not one column wide
	if r < combining {
		return 1
	}
	return uniseg.StringWidth(string(r))
}

// truncate cuts text to a number of columns, at a character's boundary.
func truncate(text []byte, columns int) []byte {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if columns -= RuneWidth(r); columns < 0 {
			return text[:i]
		}
		i += size
	}
	return text
}

// Thousands returns a number with commas between thousands.
func Thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	const group = 3
	for i := len(digits) - group; i > 0 && digits[i-1] != '-'; i -= group {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Counted returns a number with a noun, such as 3 findings.
func Counted(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	switch {
	case strings.HasSuffix(noun, "y"):
		noun = strings.TrimSuffix(noun, "y") + "ie"
	case strings.HasSuffix(noun, "ss"), strings.HasSuffix(noun, "x"), strings.HasSuffix(noun, "ch"):
		noun += "e"
	}
	return Thousands(n) + " " + noun + "s"
}

// AppendFrame appends the number of a frame, behind the name of its file if it
// has one: client.pcap:2925. Negative numbers are those of lines of a log: oss.dk.gz:1030.
func AppendFrame(dst []byte, file string, number int64) []byte {
	if file != "" {
		dst = append(schema.AppendText(dst, []byte(file)), ':')
	}
	return strconv.AppendInt(dst, max(number, -number), 10)
}

// appendGap appends what separates two parts of a line: two spaces, or a line
// break where the next part would go beyond the width of the terminal; 0: there
// is no such width. The line begins at start.
func appendGap(dst *schema.Marked, start, next, terminal int) {
	if terminal > 0 && Width(dst.Text[start:])+2+next > terminal {
		dst.Plain("\n")
	}
	dst.Plain("  ")
}

// NIDs is how NIDs are shown in text.
type NIDs struct {
	Full bool // show the NID with its network, as in 192.0.2.3@tcp, and no name

	// Name returns the name of a node, empty when it has none; nil: none has.
	Name func(lnet.NID) string
}

// Append appends the name of a node, else its NID, without @tcp unless it is to be
// full.
func (t NIDs) Append(dst []byte, nid lnet.NID) []byte {
	const defaultNet = "@tcp"
	if t.Name != nil && !t.Full {
		if name := t.Name(nid); name != "" {
			return append(dst, name...)
		}
	}
	start := len(dst)
	dst = nid.Append(dst)
	if n := len(dst) - len(defaultNet); !t.Full && n > start && string(dst[n:]) == defaultNet {
		return dst[:n]
	}
	return dst
}

// The comments of frames in a file that -w writes.

// AppendComment appends the comment about a message: operation, kind, what its line says,
// target and xid, without those that are unknown. The frame shows its addresses.
func (s *Summary) AppendComment(b []byte, m *dissect.Message) []byte {
	start := len(b)
	if m.RPC.HasOpcode || m.RPC.Inferred != 0 {
		b = append(AppendOperation(b, m), ' ')
	}
	kind := m.Kind.String()
	b = append(b, kind...)
	s.line.Reset()
	s.describe(m)
	facts := s.line.Text
	if rest, found := bytes.CutPrefix(facts, []byte(strings.ReplaceAll(kind, "_", " "))); found {
		facts = rest
	}
	if facts = bytes.TrimSpace(facts); len(facts) > 0 {
		b = append(append(b, ' '), facts...)
	}
	if !bytes.Contains(b[start:], []byte(m.Target)) {
		b = schema.AppendText(append(b, ' '), []byte(m.Target))
	}
	if m.RPC.HasXID {
		b = strconv.AppendUint(append(b, " x"...), m.RPC.XID, 10)
	}
	return b
}

// AppendRPCComment appends the comment about the messages of a kind of an RPC:
// operation, kind, the result of a reply, target and xid.
func AppendRPCComment(b []byte, r *track.RPC, kind lnet.Kind) []byte {
	if r.HasOpcode {
		b = append(appendOpcodeText(b, r.Opcode), ' ')
	}
	b = append(b, kind.String()...)
	if kind == lnet.Reply && r.HasReply {
		b = append(b, ' ')
		if r.Status < 0 {
			b = records.AppendErrno(b, r.Status)
		} else {
			b = append(b, "ok"...)
		}
		if ns, ok := r.Latency(); ok {
			b = AppendLatency(append(b, ' '), ns)
		}
	}
	if t := r.Target(); t != "" {
		b = schema.AppendText(append(b, ' '), []byte(t))
	}
	return strconv.AppendUint(append(b, " x"...), r.XID, 10)
}
