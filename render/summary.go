package render

import (
	"bytes"
	"strconv"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/track"
)

// SummaryOptions are the settings of a Summary.
type SummaryOptions struct {
	Colors *Colors
	Width  int // columns of the terminal; 0: lines may be of any length
	Time   TimeForm
	Raw    bool         // NIDs as they are, @tcp too
	Names  *track.Names // of targets and locks; nil: none are known
}

// wide is the terminal width from which on lines have all their columns.
const wide = 120

// Summary renders a message as one line.
type Summary struct {
	opt   SummaryOptions
	c     *Colors
	tree  dissect.Tree
	stamp stamp
	line  schema.Line
	text  []byte

	wide bool

	// Columns grow to the widest value so far, so lines stay aligned.
	number, time, src, dst, xid, op int
	mostOp                          int // wider operations push the rest of their own line only
}

// NewSummary makes a summary renderer.
func NewSummary(o SummaryOptions) *Summary {
	if o.Names == nil {
		o.Names = track.NewNames()
	}
	s := &Summary{opt: o, c: o.Colors, number: 4, time: 6, src: 9, dst: 9, op: 18, mostOp: 20}
	s.line.HandleName = o.Names.AppendLock
	s.wide = o.Width == 0 || o.Width >= wide
	if s.wide {
		s.number, s.time, s.op, s.mostOp, s.xid = 5, 9, 26, 30, 17
	}
	return s
}

// Append appends the line of a message.
func (s *Summary) Append(dst []byte, m *dissect.Message, at Moment) []byte {
	start := len(dst)
	dim := quiet(m)
	room := s.opt.Width
	dst = s.columns(dst, m, at, dim)
	s.line.Reset()
	s.describe(m)
	left := -1
	if room > 0 {
		left = max(room-width(dst[start:]), 0)
	}
	dst = s.pieces(dst, left, dim)
	for len(dst) > start && dst[len(dst)-1] == ' ' {
		dst = dst[:len(dst)-1]
	}
	return append(dst, '\n')
}

// quiet says whether a message is of the kind that only keeps a connection
// going.
func quiet(m *dissect.Message) bool {
	switch m.Kind {
	case lnet.Noop, lnet.Ack, lnet.Ping, lnet.PingReply:
		return true
	case lnet.Request, lnet.Reply:
		return m.RPC.Opcode == opcodes.OBD_PING && m.RPC.Status >= 0
	}
	return false
}

// columns appends number, time, nodes and operation.
func (s *Summary) columns(dst []byte, m *dissect.Message, at Moment, dim bool) []byte {
	c := s.c
	s.text = strconv.AppendInt(s.text[:0], m.Frame, 10)
	dst = right(dst, &c.Dim, s.text, &s.number)
	s.text = s.stamp.appendWhen(s.text[:0], s.opt.Time, m.Time, at, s.wide)
	if !s.wide {
		const micro = 3 // digits of microseconds that a narrow line leaves out
		s.text = s.text[:len(s.text)-micro]
	}
	dst = right(append(dst, ' '), &c.Dim, s.text, &s.time)
	nid, op := &c.NID, &c.Op
	if dim {
		nid, op = &c.Dim, &c.Dim
	}
	s.text = s.node(s.text[:0], m, &m.LNet.Src, true)
	dst = left(append(dst, ' '), nid, s.text, &s.src)
	dst = c.Dim.Append(append(dst, ' '), ">")
	s.text = s.node(s.text[:0], m, &m.LNet.Dst, false)
	dst = left(append(dst, ' '), nid, s.text, &s.dst)
	if s.xid > 0 {
		s.text = s.text[:0]
		if m.RPC.HasXID {
			s.text = strconv.AppendUint(append(s.text, 'x'), m.RPC.XID, 10)
		}
		dst = left(append(dst, ' '), &c.Dim, s.text, &s.xid)
	}
	s.text = appendOperation(s.text[:0], m)
	if !s.wide {
		s.text = s.shorten(s.text)
	}
	if m.Kind == lnet.Reply && m.RPC.Status < 0 {
		op = &c.Bad
	}
	dst = leftUpTo(append(dst, ' '), op, s.text, &s.op, s.mostOp)
	return append(dst, ' ')
}

// shorten takes the middle out of the longest names of operations.
func (s *Summary) shorten(op []byte) []byte {
	const long = "LLOG_ORIGIN_HANDLE_"
	if !bytes.HasPrefix(op, []byte(long)) {
		return op
	}
	return append(append(op[:0], "LLOG_…_"...), op[len(long):]...)
}

// right appends a column that is aligned at its right end.
func right(dst []byte, st *Style, text []byte, column *int) []byte {
	*column = max(*column, len(text))
	dst = appendSpaces(dst, *column-len(text))
	return append(append(append(dst, st.on...), text...), st.off...)
}

// left appends a column that is aligned at its left end.
func left(dst []byte, st *Style, text []byte, column *int) []byte {
	const most = 40
	return leftUpTo(dst, st, text, column, most)
}

// leftUpTo does so for a column that grows to at most columns; wider values
// push the rest of their own line only.
func leftUpTo(dst []byte, st *Style, text []byte, column *int, most int) []byte {
	n := width(text)
	if n <= most {
		*column = max(*column, n)
	}
	dst = append(append(append(dst, st.on...), text...), st.off...)
	return appendSpaces(dst, *column-n)
}

// node appends a NID, or the address where there is none.
func (s *Summary) node(dst []byte, m *dissect.Message, nid *lnet.NID, src bool) []byte {
	if m.LNetOff < 0 || nid.Len == 0 {
		if src {
			return m.Src.Addr().Unmap().AppendTo(dst)
		}
		return m.Dst.Addr().Unmap().AppendTo(dst)
	}
	start := len(dst)
	dst = schema.AppendNID(dst, nid.Addr[:nid.Len], nid.Type, nid.Num)
	const usual = "@tcp"
	if n := len(dst) - len(usual); !s.opt.Raw && n > start && string(dst[n:]) == usual {
		return dst[:n]
	}
	return dst
}

// appendOperation appends the operation of a message, or its kind.
func appendOperation(dst []byte, m *dissect.Message) []byte {
	if !m.RPC.HasOpcode {
		return append(dst, m.Kind.String()...)
	}
	if name := opcodes.Opcodes.Name(uint64(m.RPC.Opcode)); name != "" {
		dst = append(dst, name...)
	} else {
		dst = strconv.AppendUint(append(dst, "opcode "...), uint64(m.RPC.Opcode), 10)
	}
	if v := m.RPC.Variant; v != nil && v.Name != "" {
		dst = append(append(dst, ' '), v.Name...)
	}
	return dst
}

// pieces appends the described line, cut to the columns that are left; -1 is
// no limit.
func (s *Summary) pieces(dst []byte, left int, dim bool) []byte {
	long := left >= 0 && width(s.line.Text) > left
	if long {
		left-- // for the mark that something is cut off
	}
	names := 0 // parts up to the last name
	for i, p := range s.line.Parts {
		if long && p.Role == schema.Name {
			names = i
		}
	}
	from := 0
	for i, p := range s.line.Parts {
		text := s.line.Text[from:p.End]
		from = p.End
		if p.Role == schema.Object && i < names && len(text) > len(elided) {
			text = []byte(elided)
		}
		if long {
			text, _ = fit(text, left)
			left -= width(text)
		}
		st := s.c.role(p.Role)
		if dim && p.Role != schema.Bad {
			st = &s.c.Dim
		}
		dst = append(append(append(dst, st.on...), text...), st.off...)
		if long && left <= 0 {
			return s.c.Dim.Append(dst, "…")
		}
	}
	return dst
}

// elided stands for an object in a line that is too short for the name behind it.
const elided = "[…]"

// fit cuts text to a number of columns, at a character's boundary.
func fit(text []byte, columns int) (head []byte, cut bool) {
	for i := 0; i < len(text); i++ {
		if text[i]&0xc0 == 0x80 {
			continue
		}
		if columns <= 0 {
			return text[:i], true
		}
		columns--
	}
	return text, false
}
