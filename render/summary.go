package render

import (
	"bytes"
	"strconv"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// SummaryOptions are the settings of a Summary.
type SummaryOptions struct {
	Colors *Colors
	Width  int // columns of the terminal; 0: lines may be of any length
	Time   TimeFormat
	NIDs   NIDs
	Names  *track.Names // of targets and locks; nil: none are known
	Files  []string     // names of the files, when several are read: the column of frames has room for them
}

// minWide is the width of a terminal on which lines have all their columns.
const minWide = 120

// Wide reports whether lines have all their columns.
func (o *SummaryOptions) Wide() bool { return o.Width == 0 || o.Width >= minWide }

// Summary renders a message as one line.
type Summary struct {
	opt  SummaryOptions
	c    *Colors
	tree dissect.Tree
	line schema.Line
	text []byte

	wide bool

	// Widths of columns, which grow to the widest value so far: lines stay
	// aligned.
	number, time, src, dst, xid, op int
	maxOp                           int // a wider operation shifts the rest of its own line only
}

// NewSummary makes a summary renderer.
func NewSummary(o SummaryOptions) *Summary {
	if o.Names == nil {
		o.Names = track.NewNames()
	}
	s := &Summary{opt: o, c: o.Colors, number: 4, time: 6, src: 9, dst: 9, op: 18, maxOp: 20}
	s.line.HandleName, s.line.HeldLock = o.Names.AppendLock, o.Names.AppendHeldLock
	s.wide = o.Wide()
	if s.wide {
		s.number, s.time, s.op, s.maxOp, s.xid = 5, 9, 26, 30, 17
	}
	s.number += o.FileWidth()
	return s
}

// FileWidth returns how many columns the name of a file takes in front of the
// number of a frame, 0 with a single file.
func (o *SummaryOptions) FileWidth() int {
	columns := 0
	for _, name := range o.Files {
		columns = max(columns, Width(schema.AppendText(nil, []byte(name)))+len(":"))
	}
	return columns
}

// Append appends the line of a message.
func (s *Summary) Append(dst []byte, m *dissect.Message, at Moment) []byte {
	start := len(dst)
	dim := IsKeepalive(m)
	room := s.opt.Width
	dst = s.place(dst, m, at, dim)
	s.line.Reset()
	s.describe(m)
	left := -1
	if room > 0 {
		left = max(room-Width(dst[start:]), 0)
	}
	dst = s.c.AppendParts(dst, s.line.Text, s.line.Parts, left, dim)
	for len(dst) > start && dst[len(dst)-1] == ' ' {
		dst = dst[:len(dst)-1]
	}
	return append(dst, '\n')
}

// IsKeepalive reports whether a message carries no request, reply or data: a NOOP, an ACK, a
// ping of LNet or Lustre that did not fail.
func IsKeepalive(m *dissect.Message) bool {
	switch m.Kind {
	case lnet.Noop, lnet.Ack, lnet.Ping, lnet.PingReply:
		return true
	case lnet.Request, lnet.Reply:
		return m.RPC.Opcode == opcodes.OBD_PING && m.RPC.Status >= 0
	}
	return false
}

// place appends number, time, nodes and operation.
func (s *Summary) place(dst []byte, m *dissect.Message, at Moment, dim bool) []byte {
	c := s.c
	s.text = AppendFrame(s.text[:0], m.File, m.Frame)
	dst = AppendRight(dst, &c.Dim, s.text, &s.number)
	s.text = s.opt.Time.Append(s.text[:0], m.Time, at, s.wide)
	if !s.wide {
		const micro = 3 // digits of microseconds that a narrow line leaves out
		s.text = s.text[:len(s.text)-micro]
	}
	dst = AppendRight(append(dst, ' '), &c.Dim, s.text, &s.time)
	nid, op := &c.NID, &c.Op
	if dim {
		nid, op = &c.Dim, &c.Dim
	}
	s.text = s.node(s.text[:0], m, &m.LNet.Src, true)
	dst = AppendLeft(append(dst, ' '), nid, s.text, &s.src)
	dst = c.Dim.Append(append(dst, ' '), ">")
	s.text = s.node(s.text[:0], m, &m.LNet.Dst, false)
	dst = AppendLeft(append(dst, ' '), nid, s.text, &s.dst)
	if s.xid > 0 {
		s.text = s.text[:0]
		if m.RPC.HasXID {
			s.text = strconv.AppendUint(append(s.text, 'x'), m.RPC.XID, 10)
		}
		dst = AppendLeft(append(dst, ' '), &c.Dim, s.text, &s.xid)
	}
	s.text = AppendOperation(s.text[:0], m)
	if !s.wide {
		s.text = ShortenOpcode(s.text)
	}
	if m.Kind == lnet.Reply && m.RPC.Status < 0 {
		op = &c.Bad
	}
	dst = appendLeftUpTo(append(dst, ' '), op, s.text, &s.op, s.maxOp)
	return append(dst, ' ')
}

// ShortenOpcode abbreviates the longest names of operations.
func ShortenOpcode(op []byte) []byte {
	rest, found := bytes.CutPrefix(op, []byte(opcodes.LlogPrefix))
	if !found {
		return op
	}
	return append(append(op[:0], "LLOG_…_"...), rest...)
}

// AppendRight appends text as a column that is aligned at its right end, and
// widens the column where the text needs it.
func AppendRight(dst []byte, st *Style, text []byte, column *int) []byte {
	n := Width(text)
	*column = max(*column, n)
	dst = AppendSpaces(dst, *column-n)
	return append(append(append(dst, st.on...), text...), st.off...)
}

// AppendLeft appends text as a column that is aligned at its left end, and
// widens the column where the text needs it.
func AppendLeft(dst []byte, st *Style, text []byte, column *int) []byte {
	const maxColumn = 40
	return appendLeftUpTo(dst, st, text, column, maxColumn)
}

// appendLeftUpTo does the same for a column that grows to a maximum; a wider
// value shifts the rest of its own line only.
func appendLeftUpTo(dst []byte, st *Style, text []byte, column *int, maxColumn int) []byte {
	n := Width(text)
	if n <= maxColumn {
		*column = max(*column, n)
	}
	dst = append(append(append(dst, st.on...), text...), st.off...)
	return AppendSpaces(dst, *column-n)
}

// node appends the NID of sender or receiver, or the address in a message without NIDs.
func (s *Summary) node(dst []byte, m *dissect.Message, nid *lnet.NID, src bool) []byte {
	if (m.HasLNet() || m.IB != nil) && nid.Len > 0 {
		return s.opt.NIDs.Append(dst, *nid)
	}
	own, other := m.IB.NIDs()
	address := m.Src
	if !src {
		own, address = other, m.Dst
	}
	if own.Len > 0 {
		return s.opt.NIDs.Append(dst, own)
	}
	return address.Addr().Unmap().AppendTo(dst)
}

// AppendOperation appends the operation of a message, with ? where it is inferred, or its
// kind.
func AppendOperation(dst []byte, m *dissect.Message) []byte {
	switch {
	case m.RPC.HasOpcode:
	case m.RPC.Inferred != 0:
		return append(appendOpcodeText(dst, m.RPC.Inferred), '?')
	default:
		return append(dst, m.Kind.String()...)
	}
	dst = appendOpcodeText(dst, m.RPC.Opcode)
	if name := m.RPC.Variant.String(); name != "" {
		dst = append(append(dst, ' '), name...)
	}
	return dst
}

// appendOpcodeText appends the name of an operation, or "opcode" and its number.
func appendOpcodeText(dst []byte, opc uint32) []byte {
	if opcodes.Opcodes.Name(uint64(opc)) == "" {
		dst = append(dst, "opcode "...)
	}
	return AppendOpcode(dst, opc)
}

// Facts returns what the line of a message says behind its operation, without the
// notes. It is valid until the Summary is used again.
func (s *Summary) Facts(m *dissect.Message) *schema.Line {
	s.line.Reset()
	s.facts(m)
	return &s.line
}

// AppendParts appends text that consists of parts, truncated to a number of columns;
// -1: no limit. With dim, only errors keep the style of their role.
func (c *Colors) AppendParts(dst, line []byte, parts []schema.Part, left int, dim bool) []byte {
	long := left >= 0 && Width(line) > left
	if long {
		left-- // for the … at the end
	}
	names := 0 // parts up to the last name
	for i, p := range parts {
		if long && p.Role == schema.Name {
			names = i
		}
	}
	from := 0
	for i, p := range parts {
		text := line[from:p.End]
		from = p.End
		if p.Role == schema.Object && i < names && len(text) > len(elided) {
			text = []byte(elided)
		}
		if long {
			whole := len(text)
			if text = truncate(text, left); len(text) < whole {
				left = 0 // a wide character may leave a column
			} else {
				left -= Width(text)
			}
		}
		st := c.roles[p.Role]
		if dim && p.Role != schema.Bad {
			st = &c.Dim
		}
		dst = append(append(append(dst, st.on...), text...), st.off...)
		if long && left <= 0 {
			return c.Dim.Append(dst, "…")
		}
	}
	return dst
}

// elided replaces a FID in a line that has no room for the name behind it.
const elided = "[…]"
