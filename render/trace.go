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
	opt  SummaryOptions
	text []byte
	list bool // several trees in one table
	at   int  // columns of the time of an RPC that is in no other one; 0: it stands above
	op   int  // columns of the operation and the branches before it
	node int  // columns of the nodes
}

// NewTrace makes a renderer of traces.
func NewTrace(o SummaryOptions) *Trace { return &Trace{opt: o} }

const (
	traceTime   = 8 // each of start, time and own
	minTraceOp  = 16
	traceIndent = 2
)

// Append appends a tree: a line about the RPC, and a line for each RPC of the tree with its
// start after the first request, its latency, and what of it is its own.
func (t *Trace) Append(dst *schema.Marked, n *nested.Node, at Moment) {
	t.fit([]*nested.Node{n})
	t.text = append(strconv.AppendUint(append(t.text[:0], 'x'), n.RPC.XID, 10), "  "...)
	t.text = t.opt.Time.Append(t.text, n.RPC.Begin(), at, true)
	dst.AddBytes(schema.Heading, t.text)
	dst.Text = append(dst.Text, t.about(n.RPC)...)
	dst.Text = append(dst.Text, '\n')
	t.titles(dst, "link")
	t.line(dst, n, "", n.RPC.Begin())
}

// AppendList appends trees as one table, without a line above each. at has the time of the
// first frame.
func (t *Trace) AppendList(dst *schema.Marked, list []*nested.Node, at Moment) {
	times := make([]string, len(list))
	for i, n := range list {
		times[i] = string(t.opt.Time.Append(nil, n.RPC.Begin(), at, true))
		t.at = max(t.at, len(times[i]))
		at.Before = n.RPC.Begin()
	}
	t.list = true
	t.fit(list)
	dst.Spaces(t.at)
	t.titles(dst, "xid, link")
	for i, n := range list {
		addCellRight(dst, schema.Dim, []byte(times[i]), t.at)
		t.line(dst, n, "", n.RPC.Begin())
	}
}

// fit chooses the widths of columns for trees.
func (t *Trace) fit(list []*nested.Node) {
	t.op, t.node = len("operation"), len("nodes")
	for _, n := range list {
		t.measure(n, 0)
	}
	if width := t.opt.Width; width > 0 {
		links := len(" thread ")
		t.op = max(minTraceOp, min(t.op, width-t.at-3*traceTime-1-1-t.node-links))
	}
}

// titles appends the line with the titles of columns.
func (t *Trace) titles(dst *schema.Marked, last string) {
	for _, title := range [...]string{"start", "time", "own"} {
		addCellRight(dst, schema.Dim, []byte(title), traceTime)
	}
	addCellLeft(dst.Plain(" "), schema.Dim, []byte("operation"), t.op)
	addCellLeft(dst.Plain(" "), schema.Dim, []byte("nodes"), t.node)
	dst.Plain(" ").Add(schema.Dim, last)
	dst.Text = append(dst.Text, '\n')
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
	if name := r.Variant.String(); name != "" {
		b = append(append(b, ' '), name...)
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
func (t *Trace) line(dst *schema.Marked, n *nested.Node, branches string, start int64) {
	r := n.RPC
	if t.list && len(branches) == 0 {
		dst.Spaces(traceTime) // the time of the request stands before it
	} else {
		addCellRight(dst, schema.Dim, AppendLatency(nil, roundLatency(r.Begin()-start)), traceTime)
	}
	t.span(dst, schema.Number, r.Latency)
	if len(n.Children) > 0 {
		t.span(dst, schema.Number, r.OwnTime)
	} else {
		dst.Spaces(traceTime)
	}
	st := schema.Action
	if r.Failed() && !r.IsExpectedError() {
		st = schema.Bad
	}
	dst.Plain(" ").Add(schema.Dim, branches)
	addCellLeft(dst, st, t.operation(r), max(0, t.op-Width([]byte(branches))))
	addCellLeft(dst.Plain(" "), schema.Node, t.nodes(r), t.node)
	dst.Plain(" ")
	dst.Text = append(dst.Text, n.Link.String()...)
	switch {
	case n.Link == nested.ByTime:
		dst.Text = append(dst.Text, '?')
	case t.list && n.Link == nested.Unlinked:
		dst.Add(schema.Dim, "x"+strconv.FormatUint(r.XID, 10))
	}
	if r.Failed() {
		dst.Plain(" ").Add(schema.Bad, string(records.AppendErrno(nil, r.Status)))
	} else if r.Missing != track.NotMissing {
		dst.Plain(" ").Add(schema.Dim, missingTexts[r.Missing])
	}
	if (t.list || len(branches) > 0) && t.opt.Wide() {
		dst.Text = append(dst.Text, t.about(r)...)
	}
	dst.TrimSpaces()
	dst.Text = append(dst.Text, '\n')
	const more, last, through = "├ ", "└ ", "│ "
	below := strings.NewReplacer(more, through, last, "  ").Replace(branches)
	for i, child := range n.Children {
		branch := more
		if i == len(n.Children)-1 {
			branch = last
		}
		dst.Spaces(t.at)
		t.line(dst, child, below+branch, start)
	}
}

// span appends a time span, where it is known.
func (t *Trace) span(dst *schema.Marked, st schema.Role, get func() (int64, bool)) {
	text := []byte("-")
	if ns, ok := get(); ok {
		text = AppendLatency(nil, roundLatency(ns))
	}
	addCellRight(dst, st, text, traceTime)
}

// AppendTraceJSON appends trees of RPCs as JSON objects, a line each.
func AppendTraceJSON(dst []byte, list []*nested.Node) []byte {
	json := NewRecordJSON(&records.RPCs)
	for _, n := range list {
		dst = append(appendTree(dst, json, n), '\n')
	}
	return dst
}

// appendTree appends the object of an RPC with the keys link and children.
func appendTree(dst []byte, json *RecordJSON[*track.RPC], n *nested.Node) []byte {
	dst = bytes.TrimSuffix(json.Append(dst, n.RPC), []byte("}"))
	if n.Link != nested.Unlinked {
		dst = append(append(append(dst, `,"link":"`...), n.Link.String()...), '"')
	}
	return append(appendJoined(append(dst, `,"children":[`...), n.Children, ",", func(dst []byte, child *nested.Node) []byte {
		return appendTree(dst, json, child)
	}), "]}"...)
}
