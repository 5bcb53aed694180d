package render

import (
	"strconv"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

// FlagsOptions are the settings of Flags.
type FlagsOptions struct {
	Colors *Colors
	Width  int // columns of the terminal; 0: lines may be of any length
	Time   TimeFormat
}

// Flags renders the flag words of a message as tables, a row a flag, and those
// of a connect with what was asked for beside what was granted.
type Flags struct {
	opt  FlagsOptions
	c    *Colors
	tree dissect.Tree
	text []byte
}

type word struct {
	field *schema.Field
	val   uint64
}

// NewFlags makes a flags renderer.
func NewFlags(o FlagsOptions) *Flags {
	return &Flags{opt: o, c: o.Colors}
}

// Append appends the tables of a message, without those of InfiniBand packets; nothing
// when it has no flags set.
func (r *Flags) Append(dst []byte, m *dissect.Message, at Moment) []byte {
	r.tree.Build(m)
	start := len(dst)
	dst = append(r.head(dst, m, at), '\n')
	empty := len(dst)
	for i := range r.tree.Nodes {
		if n := &r.tree.Nodes[i]; isFlags(n) && n.Val != 0 && n.Src < dissect.InTransport {
			dst = r.table(dst, n)
		}
	}
	if len(dst) == empty {
		return dst[:start]
	}
	return append(dst, '\n')
}

func isFlags(n *dissect.Node) bool {
	return n.Field.Names != nil && n.Field.Names.Flags && n.State&(dissect.Missing|dissect.NotValid|dissect.Remark) == 0 &&
		(n.Field.Kind == schema.Uint || n.Field.Kind == schema.Int)
}

// AppendConnect appends the tables of a connect; first is the time of the
// capture's first frame.
func (r *Flags) AppendConnect(dst []byte, p *track.ConnectPair, first int64) []byte {
	at := Moment{First: first, Before: p.Before}
	if p.Request == nil {
		dst = append(r.head(dst, p.Reply, at), '\n')
		dst = r.words(dst, nil, r.connectWords(p.Reply))
		return append(dst, '\n')
	}
	start := len(dst)
	if p.Reply == nil {
		const text = "no reply"
		dst = r.head(dst, p.Request, at)
		dst = append(appendGap(dst, start, len(text), r.opt.Width), text+"\n"...)
		dst = r.words(dst, r.connectWords(p.Request), nil)
		return append(dst, '\n')
	}
	dst = append(r.connectHead(dst, p, first), '\n')
	asked := r.connectWords(p.Request)
	dst = r.words(dst, asked, r.connectWords(p.Reply))
	return append(dst, '\n')
}

// connectHead appends the line that identifies a connect request and its reply,
// without its end.
func (r *Flags) connectHead(dst []byte, p *track.ConnectPair, first int64) []byte {
	start := len(dst)
	dst = r.head(dst, p.Request, Moment{First: first, Before: p.Before})
	r.text = AppendFrame(append(r.text[:0], "reply in frame "...), p.Reply.File, p.Reply.Frame)
	dst = append(appendGap(dst, start, len(r.text), r.opt.Width), r.text...)
	if status := p.Reply.RPC.Status; status < 0 {
		r.text = records.AppendErrno(r.text[:0], status)
		dst = append(append(append(append(dst, "  "...), r.c.Bad.on...), r.text...), r.c.Bad.off...)
	}
	return dst
}

func (r *Flags) connectWords(m *dissect.Message) []word {
	r.tree.Build(m)
	var list []word
	for i := range r.tree.Nodes {
		n := &r.tree.Nodes[i]
		if isFlags(n) && n.Field.Negotiated {
			list = append(list, word{n.Field, n.Val})
		}
	}
	return list
}

// head appends the line that identifies the message, without its end.
func (r *Flags) head(dst []byte, m *dissect.Message, at Moment) []byte {
	c, start := r.c, len(dst)
	dst = append(append(dst, c.Head.on...), "frame "...)
	dst = append(AppendFrame(dst, m.File, m.Frame), c.Head.off...)
	dst = r.opt.Time.Append(append(dst, "  "...), m.Time, at, true)
	dst = append(append(dst, "  "...), c.NID.on...)
	dst = append(append(m.LNet.Src.Append(dst), c.NID.off...), " > "...)
	dst = append(m.LNet.Dst.Append(append(dst, c.NID.on...)), c.NID.off...)
	kind := m.Kind.String()
	r.text = r.text[:0]
	if m.RPC.HasOpcode {
		r.text = AppendOperation(r.text, m)
	}
	dst = append(appendGap(dst, start, len(kind)+1+len(r.text), r.opt.Width), kind...)
	if len(r.text) > 0 {
		dst = append(append(append(append(dst, ' '), c.Op.on...), r.text...), c.Op.off...)
	}
	return dst
}

// words appends a table for each word, asked beside granted; nil: not captured.
func (r *Flags) words(dst []byte, asked, granted []word) []byte {
	list := asked
	if list == nil {
		list = granted
	}
	for _, w := range list {
		a, haveAsked := findWord(asked, w.field.Name)
		g, haveGranted := findWord(granted, w.field.Name)
		if a|g == 0 {
			continue
		}
		dst = r.title(dst, w.field)
		dst = r.row(dst, "bit", w.field.Names, "name", "asked  granted  ", "meaning", &r.c.Dim)
		w.field.Names.Set(a|g, func(v *schema.Value) {
			marks := mark(a&v.Bits() == v.Value, haveAsked) + "    " + mark(g&v.Bits() == v.Value, haveGranted) + "      "
			st := &r.c.Good
			if haveAsked && haveGranted && a&v.Bits() == v.Value && g&v.Bits() != v.Value {
				st = &r.c.Warn
			}
			dst = r.row(dst, BitText(v.Bits()), w.field.Names, v.Name, marks, v.Doc, st)
		})
		if rest := w.field.Names.Set(a|g, func(*schema.Value) {}); rest != 0 {
			marks := mark(a&rest != 0, haveAsked) + "    " + mark(g&rest != 0, haveGranted) + "      "
			dst = r.row(dst, "", w.field.Names, string(schema.AppendHex(nil, rest)), marks, "unknown bits", &r.c.Warn)
		}
	}
	return dst
}

func findWord(words []word, name string) (val uint64, ok bool) {
	for _, w := range words {
		if w.field.Name == name {
			return w.val, true
		}
	}
	return 0, words != nil
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

// table appends the set bits of a word.
func (r *Flags) table(dst []byte, n *dissect.Node) []byte {
	dst = r.title(dst, n.Field)
	names := n.Field.Names
	dst = r.row(dst, "bit", names, "name", "", "meaning", &r.c.Dim)
	rest := names.Set(n.Val, func(v *schema.Value) {
		dst = r.row(dst, BitText(v.Bits()), names, v.Name, "", v.Doc, &r.c.Flag)
	})
	if rest != 0 {
		dst = r.row(dst, "", names, string(schema.AppendHex(nil, rest)), "", "unknown bits", &r.c.Warn)
	}
	return dst
}

func (r *Flags) title(dst []byte, f *schema.Field) []byte {
	dst = append(AppendSpaces(dst, indent), r.c.Key.on...)
	dst = append(append(dst, f.Name...), r.c.Key.off...)
	return append(dst, '\n')
}

// row appends a line of a table; the meaning is wrapped within its column.
func (r *Flags) row(dst []byte, bit string, names *schema.Names, name, marks, doc string, st *Style) []byte {
	const bitColumn = 6
	column := 4
	for i := range names.Values {
		column = max(column, min(len(names.Values[i].Name), maxNameWidth))
	}
	start := len(dst)
	dst = AppendSpaces(dst, indent+bitColumn-len(bit))
	dst = append(append(dst, bit...), "  "...)
	dst = st.Append(dst, name)
	if doc == "" && marks == "" {
		return append(dst, '\n')
	}
	dst = AppendSpaces(dst, column-len(name)+2)
	dst = append(dst, marks...)
	at := Width(dst[start:])
	return append(AppendWrapped(dst, doc, at, r.opt.Width), '\n')
}

// AppendWrapped appends text from a column on, in lines that end before the width,
// 0 for lines of any length.
func AppendWrapped(dst []byte, text string, column, width int) []byte {
	room := width - column
	const minRoom = 24 // columns that make another line worthwhile
	for width > 0 && room >= minRoom && len(text) > room {
		cut := room
		for cut > 0 && text[cut] != ' ' {
			cut--
		}
		if cut == 0 {
			break
		}
		dst = append(append(dst, text[:cut]...), '\n')
		dst = AppendSpaces(dst, column)
		text = text[cut+1:]
	}
	return append(dst, text...)
}

// BitText returns the number of the bit of a mask, or of its first and last.
func BitText(mask uint64) string {
	first, last := -1, -1
	for i := range 64 {
		if mask>>i&1 != 0 {
			if last = i; first < 0 {
				first = i
			}
		}
	}
	switch {
	case first < 0:
		return "-"
	case first == last:
		return strconv.Itoa(first)
	}
	return strconv.Itoa(first) + "-" + strconv.Itoa(last)
}

// AppendConnectDiff appends in which flags the reply to a connect differs from the
// request, nothing when it does not. ok reports whether they could be compared: both
// were captured, and the connect was not refused.
func (r *Flags) AppendConnectDiff(dst []byte, p *track.ConnectPair, first int64) (_ []byte, ok bool) {
	if p.Request == nil || p.Reply == nil {
		return dst, false
	}
	granted := r.connectWords(p.Reply)
	asked := r.connectWords(p.Request)
	if asked == nil || granted == nil || p.Reply.RPC.Status < 0 {
		return dst, false
	}
	start := len(dst)
	dst = append(r.connectHead(dst, p, first), '\n')
	dst = r.target(dst)
	empty := len(dst)
	for _, w := range asked {
		// The flags of pb_op_flags have a direction: they are not negotiated.
		if w.field.Names == opcodes.MsgConnectFlags {
			continue
		}
		given, _ := findWord(granted, w.field.Name)
		dst = r.flagList(dst, w.field, "not granted", w.val&^given)
		dst = r.flagList(dst, w.field, "not asked for", given&^w.val)
	}
	for _, w := range granted { // words that the request does not have
		if _, asks := findWord(asked, w.field.Name); !asks && w.field.Names != opcodes.MsgConnectFlags {
			dst = r.flagList(dst, w.field, "not asked for", w.val)
		}
	}
	if len(dst) == empty {
		return dst[:start], true
	}
	return append(dst, '\n'), true
}

// target appends a line with the target of the connect request that the tree is of.
func (r *Flags) target(dst []byte) []byte {
	for i := range r.tree.Nodes {
		n := &r.tree.Nodes[i]
		if n.Name() == "target_uuid" && !n.Is(dissect.Missing) {
			dst = append(append(AppendSpaces(dst, indent), r.c.NID.on...), "target "...)
			dst = schema.AppendText(dst, schema.TrimNUL(r.tree.Bytes(n)))
			return append(append(dst, r.c.NID.off...), '\n')
		}
	}
	return dst
}

// flagList appends the names of flags behind a label, nothing without flags.
func (r *Flags) flagList(dst []byte, f *schema.Field, label string, flags uint64) []byte {
	if flags == 0 {
		return dst
	}
	const wordColumn, labelColumn = 20, 15
	dst = append(append(AppendSpaces(dst, indent), r.c.Key.on...), f.Name...)
	dst = AppendSpaces(append(dst, r.c.Key.off...), max(1, wordColumn-len(f.Name)))
	dst = AppendSpaces(r.c.Warn.Append(dst, label), labelColumn-len(label))
	r.text = AppendFlags(r.text[:0], f.Names, flags, " ")
	return append(AppendWrapped(dst, string(r.text), indent+max(1+len(f.Name), wordColumn)+labelColumn, r.opt.Width), '\n')
}
