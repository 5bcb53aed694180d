package render

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/nested"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

// Trace renders an RPC with those nested in it.
type Trace struct {
	ASCII bool // draw branches with ASCII characters

	opt  SummaryOptions
	text []byte
	op   int // columns of the operation and the branches before it
	node int // columns of the nodes
}

// NewTrace makes a renderer of traces.
func NewTrace(o SummaryOptions) *Trace { return &Trace{opt: o} }

// The columns of a trace.
const (
	traceTime   = 8 // each of start, time and own
	minTraceOp  = 16
	traceIndent = 2
)

// Append appends a tree: a line about the RPC, and a line for each RPC of the tree with its
// start after the first request, its latency, and what of it is its own.
func (t *Trace) Append(dst []byte, n *nested.Node, at Moment) []byte {
	c := t.opt.Colors
	t.op, t.node = len("operation"), len("nodes")
	t.measure(n, 0)
	if width := t.opt.Width; width > 0 {
		links := len(" thread ")
		t.op = max(minTraceOp, min(t.op, width-3*traceTime-1-1-t.node-links))
	}
	var stamp Stamp
	t.text = append(strconv.AppendUint(append(t.text[:0], 'x'), n.RPC.XID, 10), "  "...)
	t.text = stamp.Append(t.text, t.opt.Time, n.RPC.Begin(), at, true)
	dst = append(c.Head.Append(dst, string(t.text)), t.about(n.RPC)...)
	dst = append(dst, '\n')
	for _, title := range [...]string{"start", "time", "own"} {
		dst = appendCellRight(dst, &c.Dim, []byte(title), traceTime)
	}
	dst = appendCellLeft(append(dst, ' '), &c.Dim, []byte("operation"), t.op)
	dst = appendCellLeft(append(dst, ' '), &c.Dim, []byte("nodes"), t.node)
	dst = append(c.Dim.Append(append(dst, ' '), "link"), '\n')
	return t.line(dst, n, "", n.RPC.Begin())
}

// about returns what the request is about.
func (t *Trace) about(r *track.RPC) (b []byte) {
	if r.HasFID {
		b = schema.AppendFID(append(b, "  "...), r.FID.Seq, r.FID.OID, r.FID.Ver)
	}
	if len(r.Name()) > 0 {
		b = schema.AppendText(append(b, '/'), r.Name())
	}
	if len(r.Job()) > 0 {
		b = schema.AppendText(append(b, "  job "...), r.Job())
	}
	return b
}

// measure makes the columns wide enough for a tree.
func (t *Trace) measure(n *nested.Node, depth int) {
	t.op = max(t.op, depth*traceIndent+Width(t.operation(n.RPC)))
	t.node = max(t.node, Width(t.nodes(n.RPC)))
	for _, child := range n.Children {
		t.measure(child, depth+1)
	}
}

func (t *Trace) operation(r *track.RPC) []byte {
	b := t.text[:0]
	switch {
	case r.HasOpcode:
		b = AppendOpcode(b, r.Opcode)
	case r.Encrypted:
		b = append(b, "(encrypted)"...)
	default:
		b = append(b, "(unknown)"...)
	}
	if r.Variant != nil && r.Variant.Name != "" {
		b = append(append(b, ' '), r.Variant.Name...)
	}
	t.text = b
	return b
}

func (t *Trace) nodes(r *track.RPC) []byte {
	b := t.opt.NIDs.Append(t.text[:0], r.Client)
	t.text = t.opt.NIDs.Append(append(b, " > "...), r.Server)
	return t.text
}

// line appends the lines of a tree. branches are drawn before its operation.
func (t *Trace) line(dst []byte, n *nested.Node, branches string, start int64) []byte {
	c, r := t.opt.Colors, n.RPC
	dst = appendCellRight(dst, &c.Dim, AppendLatency(nil, roundLatency(r.Begin()-start)), traceTime)
	dst = t.span(dst, &c.Num, r.Latency)
	if len(n.Children) > 0 {
		dst = t.span(dst, &c.Num, r.OwnTime)
	} else {
		dst = AppendSpaces(dst, traceTime)
	}
	st := &c.Op
	if r.Failed() && !r.IsExpectedError() {
		st = &c.Bad
	}
	dst = c.Dim.Append(append(dst, ' '), branches)
	dst = appendCellLeft(dst, st, t.operation(r), max(0, t.op-Width([]byte(branches))))
	dst = appendCellLeft(append(dst, ' '), &c.NID, t.nodes(r), t.node)
	dst = append(append(dst, ' '), n.Link.String()...)
	if n.Link == nested.ByTime {
		dst = append(dst, '?')
	}
	if r.Failed() {
		dst = c.Bad.Append(append(dst, ' '), string(records.AppendErrno(nil, r.Status)))
	} else if r.Missing != track.NotMissing {
		dst = c.Dim.Append(append(dst, ' '), missingTexts[r.Missing])
	}
	if len(branches) > 0 && t.opt.Wide() {
		dst = append(dst, t.about(r)...)
	}
	dst = append(bytes.TrimRight(dst, " "), '\n')
	more, last, through := "├ ", "└ ", "│ "
	if t.ASCII {
		more, last, through = "|-", "`-", "| "
	}
	below := strings.NewReplacer(more, through, last, "  ").Replace(branches)
	for i, child := range n.Children {
		branch := more
		if i == len(n.Children)-1 {
			branch = last
		}
		dst = t.line(dst, child, below+branch, start)
	}
	return dst
}

// span appends a time span, where it is known.
func (t *Trace) span(dst []byte, st *Style, get func() (int64, bool)) []byte {
	text := []byte("-")
	if ns, ok := get(); ok {
		text = AppendLatency(nil, roundLatency(ns))
	}
	return appendCellRight(dst, st, text, traceTime)
}

// TraceJSON renders an RPC with those nested in it as one JSON object on a line.
type TraceJSON struct{ json *RecordJSON[*track.RPC] }

// NewTraceJSON makes a JSON renderer of traces.
func NewTraceJSON() *TraceJSON { return &TraceJSON{NewRecordJSON(records.RPCs.Keys(), false)} }

// Append appends the object and a newline.
func (j *TraceJSON) Append(dst []byte, n *nested.Node) []byte { return append(j.object(dst, n), '\n') }

// object appends the object of an RPC with the keys link and children.
func (j *TraceJSON) object(dst []byte, n *nested.Node) []byte {
	dst = bytes.TrimSuffix(j.json.Append(dst, n.RPC), []byte("}"))
	if n.Link != nested.Unlinked {
		dst = append(append(append(dst, `,"link":"`...), n.Link.String()...), '"')
	}
	dst = append(dst, `,"children":[`...)
	for i, child := range n.Children {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = j.object(dst, child)
	}
	return append(dst, "]}"...)
}
