package render

import (
	"bytes"
	"strconv"

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
	traceTime  = 8 // each of start, time and own
	minTraceOp = 16
)

// Append appends a tree: a line about the RPC, and a line for each RPC of the tree with its
// start after the first request, its latency, and what of it is its own.
func (t *Trace) Append(dst *schema.Marked, n *nested.Node, at Moment) {
	t.text = append(strconv.AppendUint(append(t.text[:0], 'x'), n.RPC.XID, 10), "  "...)
	t.text = t.opt.Time.Append(t.text, n.RPC.Begin(), at, true)
	dst.AddBytes(schema.Heading, t.text)
	dst.Text = append(dst.Text, t.about(n.RPC)...)
	dst.Text = append(dst.Text, '\n')
	t.table(dst, t.rows(nil, n, "", ""), "link")
}

// AppendList appends trees as one table, without a line above each. at has the time of the
// first frame.
func (t *Trace) AppendList(dst *schema.Marked, list []*nested.Node, at Moment) {
	t.list = true
	var rows []traceRow
	for _, n := range list {
		first := len(rows)
		rows = t.rows(rows, n, "", "")
		rows[first].at = t.opt.Time.Append(nil, n.RPC.Begin(), at, true)
		t.at = max(t.at, len(rows[first].at))
		at.Before = n.RPC.Begin()
	}
	t.table(dst, rows, "xid, link")
}

// traceRow is a line about an RPC.
type traceRow struct {
	*nested.Node
	at        []byte // in a list: when an RPC began that is in no other one
	branches  string // drawn before the operation
	operation []byte
	nodes     []byte
}

// rows appends the rows of a tree. below are the branches before those of its children.
func (t *Trace) rows(list []traceRow, n *nested.Node, branches, below string) []traceRow {
	nodes := t.opt.NIDs.Append(append(t.opt.NIDs.Append(nil, n.RPC.Client), " > "...), n.RPC.Server)
	list = append(list, traceRow{Node: n, branches: branches, operation: appendRPCOperation(nil, n.RPC), nodes: nodes})
	for i, child := range n.Children {
		if i < len(n.Children)-1 {
			list = t.rows(list, child, below+"├ ", below+"│ ")
		} else {
			list = t.rows(list, child, below+"└ ", below+"  ")
		}
	}
	return list
}

// table appends the titles of columns, which it fits to the rows, and the rows. last is the title of the last column.
func (t *Trace) table(dst *schema.Marked, rows []traceRow, last string) {
	t.op, t.node = len("operation"), len("nodes")
	for _, r := range rows {
		t.op = max(t.op, Width([]byte(r.branches))+Width(r.operation))
		t.node = max(t.node, Width(r.nodes))
	}
	if width := t.opt.Width; width > 0 {
		links := len(" thread ")
		t.op = max(minTraceOp, min(t.op, width-t.at-3*traceTime-1-1-t.node-links))
	}
	dst.Spaces(t.at)
	for _, title := range [...]string{"start", "time", "own"} {
		addCellRight(dst, schema.Dim, []byte(title), traceTime)
	}
	addCellLeft(dst.Plain(" "), schema.Dim, []byte("operation"), t.op)
	addCellLeft(dst.Plain(" "), schema.Dim, []byte("nodes"), t.node)
	dst.Plain(" ").Add(schema.Dim, last).Plain("\n")
	var start int64
	for _, r := range rows {
		if r.branches == "" {
			start = r.RPC.Begin()
		}
		addCellRight(dst, schema.Dim, r.at, t.at)
		t.line(dst, &r, start)
	}
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

// line appends the line of an RPC in a tree that began at start.
func (t *Trace) line(dst *schema.Marked, n *traceRow, start int64) {
	r := n.RPC
	if n.at != nil {
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
	dst.Plain(" ").Add(schema.Dim, n.branches)
	addCellLeft(dst, st, n.operation, max(0, t.op-Width([]byte(n.branches))))
	addCellLeft(dst.Plain(" "), schema.Node, n.nodes, t.node)
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
	if (t.list || len(n.branches) > 0) && t.opt.Wide() {
		dst.Text = append(dst.Text, t.about(r)...)
	}
	dst.TrimSpaces()
	dst.Text = append(dst.Text, '\n')
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
