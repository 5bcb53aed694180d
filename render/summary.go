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
	Width int // columns of the terminal; 0: lines may be of any length
	Time  TimeFormat
	NIDs  NIDs
	Names *track.Names // of targets and locks; nil: none are known
	Files []string     // names of the files, when several are read: the column of frames has room for them
}

// minWide is the width of a terminal on which lines have all their columns.
const minWide = 120

// Wide reports whether lines have all their columns.
func (o *SummaryOptions) Wide() bool { return o.Width == 0 || o.Width >= minWide }

// Summary renders a message as one line.
type Summary struct {
	opt  SummaryOptions
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
	s := &Summary{opt: o, number: 4, time: 6, src: 9, dst: 9, op: 18, maxOp: 20}
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
func (s *Summary) Append(dst *schema.Marked, m *dissect.Message, at Moment) {
	start := len(dst.Text)
	dim := IsKeepalive(m)
	room := s.opt.Width
	s.place(dst, m, at, dim)
	s.line.Reset()
	s.describe(m)
	left := -1
	if room > 0 {
		left = max(room-Width(dst.Text[start:]), 0)
	}
	AddFacts(dst, &s.line.Marked, left, dim)
	dst.TrimSpaces()
	dst.Text = append(dst.Text, '\n')
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
func (s *Summary) place(dst *schema.Marked, m *dissect.Message, at Moment, dim bool) {
	s.text = AppendFrame(s.text[:0], m.File, m.Frame)
	AddRight(dst, schema.Dim, s.text, &s.number)
	s.text = s.opt.Time.Append(s.text[:0], m.Time, at, s.wide)
	if !s.wide {
		const micro = 3 // digits of microseconds that a narrow line leaves out
		s.text = s.text[:len(s.text)-micro]
	}
	AddRight(dst.Plain(" "), schema.Dim, s.text, &s.time)
	nid, op := schema.Node, schema.Action
	if dim {
		nid, op = schema.Dim, schema.Dim
	}
	s.text = s.node(s.text[:0], m, &m.LNet.Src, true)
	AddLeft(dst.Plain(" "), nid, s.text, &s.src)
	dst.Plain(" ").Add(schema.Dim, ">")
	s.text = s.node(s.text[:0], m, &m.LNet.Dst, false)
	AddLeft(dst.Plain(" "), nid, s.text, &s.dst)
	if s.xid > 0 {
		s.text = s.text[:0]
		if m.RPC.HasXID {
			s.text = strconv.AppendUint(append(s.text, 'x'), m.RPC.XID, 10)
		}
		AddLeft(dst.Plain(" "), schema.Dim, s.text, &s.xid)
	}
	s.text = AppendOperation(s.text[:0], m)
	if !s.wide {
		s.text = ShortenOpcode(s.text)
	}
	if m.Kind == lnet.Reply && m.RPC.Status < 0 {
		op = schema.Bad
	}
	addLeftUpTo(dst.Plain(" "), op, s.text, &s.op, s.maxOp)
	dst.Text = append(dst.Text, ' ')
}

// ShortenOpcode abbreviates the longest names of operations.
func ShortenOpcode(op []byte) []byte {
	rest, found := bytes.CutPrefix(op, []byte(opcodes.LlogPrefix))
	if !found {
		return op
	}
	return append(append(op[:0], "LLOG_…_"...), rest...)
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

// AddFacts appends what a line says, truncated to a number of columns; -1: no limit. With dim,
// only errors keep their role.
func AddFacts(dst, facts *schema.Marked, left int, dim bool) {
	long := left >= 0 && !fits(facts.Text, left)
	names := 0 // parts up to the last name
	for i, p := range facts.Parts {
		if long && p.Role == schema.Name {
			names = i
		}
	}
	begin, from := len(dst.Text), 0
	for i, p := range facts.Parts {
		text, role := facts.Text[from:p.End], p.Role
		from = p.End
		if role == schema.Object && i < names && len(text) > len(elided) {
			text = []byte(elided)
		}
		if dim && role != schema.Bad {
			role = schema.Dim
		}
		dst.AddBytes(role, text)
	}
	if text := dst.Text[begin:]; long && !fits(text, left-2) {
		dst.Cut(begin + len(truncate(text, left-1)))
		dst.Add(schema.Dim, "…")
	}
}

// elided replaces a FID in a line that has no room for the name behind it.
const elided = "[…]"
