package render

import (
	"cmp"
	"math/bits"
	"slices"
	"strconv"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

// Flags renders the flag words of a message as tables, a row a flag, and those
// of a connect with what was asked for beside what was granted.
type Flags struct {
	opt  SummaryOptions
	tree dissect.Tree
	text []byte
}

// NewFlags makes a flags renderer.
func NewFlags(o SummaryOptions) *Flags {
	return &Flags{opt: o}
}

// Append appends the tables of a message, without those of InfiniBand packets; nothing
// when it has no flags set.
func (r *Flags) Append(dst *schema.Marked, m *dissect.Message, at Moment) {
	r.tree.Build(m)
	start := len(dst.Text)
	r.head(dst, m, at)
	dst.Plain("\n")
	empty := len(dst.Text)
	for i := range r.tree.Nodes {
		if n := &r.tree.Nodes[i]; isFlags(n) && n.Val != 0 && n.Src < dissect.InTransport {
			r.table(dst, n.Field, n.Val, "", noMarks)
		}
	}
	if len(dst.Text) == empty {
		dst.Cut(start)
		return
	}
	dst.Plain("\n")
}

func isFlags(n *dissect.Node) bool {
	return n.Field.Names != nil && n.Field.Names.Flags && n.State&(dissect.Missing|dissect.NotValid|dissect.Remark) == 0 &&
		(n.Field.Kind == schema.Uint || n.Field.Kind == schema.Int)
}

// word is a word of flags in a connect.
type word struct {
	field          *schema.Field
	asked, granted flagWord
}

// flagWord is a word in one message of a connect.
type flagWord struct {
	flags uint64
	known bool // false: that part of the message was not captured
}

// words returns the words of flags in a connect.
func (r *Flags) words(p *track.ConnectPair) (list []*word) {
	read := func(m *dissect.Message, of func(*word) *flagWord) {
		if m == nil {
			return
		}
		r.tree.Build(m)
		for i := range r.tree.Nodes {
			n := &r.tree.Nodes[i]
			if !isFlags(n) || !n.Field.Negotiated {
				continue
			}
			k := slices.IndexFunc(list, func(w *word) bool { return w.field.Name == n.Name() })
			if k < 0 {
				k, list = len(list), append(list, &word{field: n.Field})
			}
			*of(list[k]) = flagWord{n.Val, true}
		}
	}
	asked, granted := func(w *word) *flagWord { return &w.asked }, func(w *word) *flagWord { return &w.granted }
	read(p.Request, asked)
	read(p.Reply, granted)
	for _, w := range list { // what a whole message does not have, as a short structure of an old release, is 0
		w.asked.known = w.asked.known || isWhole(p.Request)
		w.granted.known = w.granted.known || isWhole(p.Reply)
	}
	return list
}

func isWhole(m *dissect.Message) bool { return m != nil && m.RPC.HasOpcode && !m.RPC.Cut }

// AppendConnect appends the tables of a connect, what was asked for beside what was granted; first
// is the time of the capture's first frame.
func (r *Flags) AppendConnect(dst *schema.Marked, p *track.ConnectPair, first int64) {
	r.connectHead(dst, p, Moment{First: first, Before: p.Before})
	for _, w := range r.words(p) {
		asked, granted := w.asked, w.granted
		if asked.flags|granted.flags == 0 {
			continue
		}
		r.table(dst, w.field, asked.flags|granted.flags, "asked  granted  ", func(isIn func(word uint64) bool) (string, schema.Role) {
			role := schema.Good
			if asked.known && granted.known && isIn(asked.flags) && !isIn(granted.flags) {
				role = schema.Warning
			}
			return mark(isIn(asked.flags), asked.known) + "    " + mark(isIn(granted.flags), granted.known) + "      ", role
		})
	}
	dst.Plain("\n")
}

// AppendConnectDiff appends in which flags the reply to a connect differs from the
// request, nothing when it does not. ok reports whether they could be compared: both
// were captured, and the connect was not refused.
func (r *Flags) AppendConnectDiff(dst *schema.Marked, p *track.ConnectPair, first int64) (ok bool) {
	list := slices.DeleteFunc(r.words(p), func(w *word) bool { return !w.asked.known || !w.granted.known })
	if len(list) == 0 || p.Reply.RPC.Status < 0 {
		return false
	}
	start := len(dst.Text)
	r.connectHead(dst, p, Moment{First: first, Before: p.Before})
	r.target(dst, p.Request)
	empty := len(dst.Text)
	for _, w := range list {
		if w.field.Names != opcodes.MsgConnectFlags { // those of pb_op_flags have a direction: they are not negotiated
			r.flagList(dst, w.field, "not granted", w.asked.flags&^w.granted.flags)
			r.flagList(dst, w.field, "not asked for", w.granted.flags&^w.asked.flags)
		}
	}
	if len(dst.Text) == empty {
		dst.Cut(start)
		return true
	}
	dst.Plain("\n")
	return true
}

// connectHead appends the line that identifies a connect: its request and the reply, or the reply alone.
func (r *Flags) connectHead(dst *schema.Marked, p *track.ConnectPair, at Moment) {
	start := len(dst.Text)
	r.head(dst, cmp.Or(p.Request, p.Reply), at)
	if p.Request != nil {
		r.text = append(r.text[:0], "no reply"...)
		if p.Reply != nil {
			r.text = AppendFrame(append(r.text[:0], "reply in frame "...), p.Reply.File, p.Reply.Frame)
		}
		appendGap(dst, start, len(r.text), r.opt.Width)
		dst.AddBytes(schema.NoRole, r.text)
		if p.Reply != nil && p.Reply.RPC.Status < 0 {
			r.text = records.AppendErrno(r.text[:0], p.Reply.RPC.Status)
			dst.Plain("  ").AddBytes(schema.Bad, r.text)
		}
	}
	dst.Plain("\n")
}

// head appends the line that identifies the message, without its end.
func (r *Flags) head(dst *schema.Marked, m *dissect.Message, at Moment) {
	start := len(dst.Text)
	addFrame(dst, m, at, r.opt.Time)
	r.text = m.LNet.Src.Append(r.text[:0])
	dst.AddBytes(schema.Node, r.text).Plain(" > ")
	r.text = m.LNet.Dst.Append(r.text[:0])
	dst.AddBytes(schema.Node, r.text)
	kind := m.Kind.String()
	r.text = r.text[:0]
	if m.RPC.HasOpcode {
		r.text = AppendOperation(r.text, m)
	}
	appendGap(dst, start, len(kind)+1+len(r.text), r.opt.Width)
	dst.Plain(kind)
	if len(r.text) > 0 {
		dst.Plain(" ").AddBytes(schema.Action, r.text)
	}
}

// mark returns the cell of a flag.
func mark(set, known bool) string {
	switch {
	case !known:
		return "  ?"
	case set:
		return "yes"
	}
	return "  -"
}

// table appends a line for each flag of a word. marks returns what is shown in front of the meaning
// of a flag, and its role.
func (r *Flags) table(dst *schema.Marked, f *schema.Field, word uint64, title string, marks func(isIn func(word uint64) bool) (string, schema.Role)) {
	dst.Spaces(indent).Add(schema.Label, f.Name).Plain("\n")
	r.row(dst, "bit", f.Names, "name", title, "meaning", schema.Dim)
	rest := f.Names.Set(word, func(v *schema.Value) {
		text, role := marks(func(word uint64) bool { return word&v.Bits() == v.Value })
		r.row(dst, BitText(v.Bits()), f.Names, v.Name, text, v.Doc, role)
	})
	if rest != 0 {
		text, _ := marks(func(word uint64) bool { return word&rest != 0 })
		r.row(dst, "", f.Names, string(schema.AppendHex(nil, rest)), text, "unknown bits", schema.Warning)
	}
}

func noMarks(func(uint64) bool) (string, schema.Role) { return "", schema.Flag }

// row appends a line of a table; the meaning is wrapped within its column.
func (r *Flags) row(dst *schema.Marked, bit string, names *schema.Names, name, marks, doc string, st schema.Role) {
	const bitColumn = 6
	column := 4
	for i := range names.Values {
		column = max(column, min(len(names.Values[i].Name), maxNameWidth))
	}
	start := len(dst.Text)
	dst.Spaces(indent + bitColumn - len(bit)).Plain(bit).Plain("  ")
	dst.Add(st, name)
	if doc != "" || marks != "" {
		dst.Spaces(column - len(name) + 2).Plain(marks)
		begin := len(dst.Text)
		dst.Plain(doc)
		Wrap(dst, begin, Width(dst.Text[start:begin]), r.opt.Width)
	}
	dst.Plain("\n")
}

// BitText returns the number of the bit of a mask, or of its first and last.
func BitText(mask uint64) string {
	first, last := bits.TrailingZeros64(mask), bits.Len64(mask)-1
	switch {
	case mask == 0:
		return "-"
	case first == last:
		return strconv.Itoa(first)
	}
	return strconv.Itoa(first) + "-" + strconv.Itoa(last)
}

// target appends a line with the target of a connect request.
func (r *Flags) target(dst *schema.Marked, m *dissect.Message) {
	r.tree.Build(m)
	for i := range r.tree.Nodes {
		n := &r.tree.Nodes[i]
		if n.Name() == "target_uuid" && !n.Is(dissect.Missing) {
			dst.Spaces(indent)
			r.text = schema.AppendText(append(r.text[:0], "target "...), schema.TrimNUL(r.tree.Bytes(n)))
			dst.AddBytes(schema.Node, r.text).Plain("\n")
			return
		}
	}
}

// flagList appends the names of flags behind a label, nothing without flags.
func (r *Flags) flagList(dst *schema.Marked, f *schema.Field, label string, flags uint64) {
	if flags == 0 {
		return
	}
	const wordColumn, labelColumn = 20, 15
	dst.Spaces(indent).Add(schema.Label, f.Name).Spaces(max(1, wordColumn-len(f.Name)))
	dst.Add(schema.Warning, label).Spaces(labelColumn - len(label))
	begin := len(dst.Text)
	dst.Text = schema.AppendFlags(dst.Text, f.Names, flags, " ")
	Wrap(dst, begin, indent+max(1+len(f.Name), wordColumn)+labelColumn, r.opt.Width)
	dst.Plain("\n")
}
