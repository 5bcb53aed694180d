package store

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// Column is a value that rows of a kind have: a key of records or, of messages, also a
// field of the wire. It is for one goroutine.
type Column struct {
	Name string
	Doc  string
	Type records.Type // records.Object for a field of the wire
	Unit records.Unit

	rpc      *records.Path[*track.RPC]
	rpcText  *render.RecordField[*track.RPC]
	message  *records.Path[*records.Message]
	text     *render.Fields
	details  *render.Summary
	ofRecord records.Message
}

// Details is the name of the column with what a message says, or request and reply of an RPC, in
// a line.
const Details = "details"

// NewColumn makes the column with a name: of RPCs a key, of messages a key or a field of the
// wire, of both Details. It returns false for an unknown name.
func NewColumn(k Kind, name string, index *schema.Index) (*Column, bool) {
	if name == Details {
		return &Column{Name: name, Doc: "what the messages say, as in the lines of lshark without a command", Type: records.Object,
			details: render.NewSummary(render.SummaryOptions{})}, true
	}
	if k == RPCs {
		p, ok := records.RPCs.Find(name)
		if !ok || p.Key.Type == records.Object {
			return nil, false
		}
		if name == "target" {
			p.Key = targetKey(p.Key)
		}
		return &Column{Name: name, Doc: p.Key.Doc, Type: p.Key.Type, Unit: p.Key.Unit, rpc: &p, rpcText: render.NewRecordField(p, true)}, true
	}
	text, err := render.NewFields([]string{name}, index)
	if err != nil {
		return nil, false
	}
	c := &Column{Name: name, Type: records.Object, text: text}
	if p, ok := records.MessageKey(name); ok && p.Key.Type != records.Section {
		c.message, c.Doc, c.Type, c.Unit = &p, p.Key.Doc, p.Key.Type, p.Key.Unit
	} else if places := index.Find(name); len(places) > 0 {
		c.Doc = places[0].Field.Doc
	}
	return c, true
}

// targetKey returns the key of targets with their index where only that is known, as in
// other tables.
func targetKey(name *records.Key[*track.RPC]) *records.Key[*track.RPC] {
	k := *name
	k.Get = func(r *track.RPC, v *records.Value) bool {
		v.SetString(cmp.Or(r.Target(), r.TargetIndex()))
		return len(v.Text) > 0
	}
	return &k
}

// ColumnNames lists the names of the columns of a kind, apart from fields of the wire.
func ColumnNames(k Kind) (names []string) {
	var list []records.Entry
	if k == RPCs {
		list = records.RPCs.Entries()
	} else {
		list = records.Messages.Entries()
	}
	for i := range list {
		if t := list[i].Type; t != records.Object && t != records.Section {
			names = append(names, list[i].Path)
		}
	}
	return append(names, Details)
}

// Value sets v to the value of a row. It reports whether the row has one, and returns false
// for lists and fields of the wire, which have only text.
func (c *Column) Value(r *Row, v *records.Value) bool {
	switch {
	case c.rpc != nil && !c.rpc.IsList():
		return c.rpc.Value(r.RPC, 0, v)
	case c.message != nil && !c.message.IsList():
		c.ofRecord.Set(r.Message, r.First)
		return c.message.Value(&c.ofRecord, 0, v)
	}
	return false
}

// Append appends the text of the value of a row, as -T fields prints it.
func (c *Column) Append(dst []byte, r *Row) []byte {
	if c.rpcText != nil {
		return c.rpcText.Append(dst, r.RPC)
	}
	if c.details != nil && r.RPC != nil {
		return c.appendRPC(dst, r)
	}
	if c.details != nil {
		return append(dst, c.details.Facts(r.Message).Text...)
	}
	return bytes.TrimSuffix(c.text.Append(dst, r.Message, render.Moment{First: r.First}), []byte("\n"))
}

// appendRPC appends what the request of an RPC says, and its reply.
func (c *Column) appendRPC(dst []byte, r *Row) []byte {
	n := len(dst)
	for _, id := range r.Messages {
		m, err := r.reader.Message(id)
		if err != nil || m.Message.Kind != lnet.Request && m.Message.Kind != lnet.Reply {
			continue
		}
		if m.Message.Kind == lnet.Request && len(dst) > n {
			continue // it was sent again
		}
		if len(dst) > n {
			dst = append(dst, "; "...)
		}
		dst = append(dst, c.details.Facts(m.Message).Text...)
	}
	return dst
}

// sortKey is what rows are sorted by: numbers in their order, texts behind them, rows
// without a value last.
type sortKey struct {
	class  keyClass
	number float64
	exact  uint64 // of a whole number that is not negative
	text   string
}

type keyClass uint8

const (
	numberKey keyClass = iota
	textKey
	noKey
)

// parseKey returns the key of a text. Equal texts are kept once, in texts.
func parseKey(text []byte, texts map[string]string) sortKey {
	if len(text) == 0 {
		return sortKey{class: noKey}
	}
	if c := text[0]; c >= '0' && c <= '9' || c == '-' {
		s := string(text)
		if u, err := strconv.ParseUint(s, 0, 64); err == nil {
			return sortKey{number: float64(u), exact: u}
		}
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return sortKey{number: f}
		}
	}
	s, ok := texts[string(text)]
	if !ok {
		s = string(text)
		if len(texts) < maxTexts {
			texts[s] = s
		}
	}
	return sortKey{class: textKey, text: s}
}

// maxTexts is the number of texts that are kept once.
const maxTexts = 1 << 16

func (k *sortKey) compare(o *sortKey) int {
	return cmp.Or(cmp.Compare(k.number, o.number), cmp.Compare(k.exact, o.exact), cmp.Compare(k.text, o.text))
}

type sorted struct {
	key sortKey
	id  int64
}

// order returns the comparison of rows for a direction. Rows without a value come last in
// either, and those with the same value in the order of their IDs.
func order(descending bool) func(a, b sorted) int {
	return func(a, b sorted) int {
		x := cmp.Or(cmp.Compare(a.key.class, b.key.class), a.key.compare(&b.key))
		if descending && a.key.class != noKey && b.key.class != noKey {
			x = -x
		}
		return cmp.Or(x, cmp.Compare(a.id, b.id))
	}
}

// merge returns the rows of two sorted lists in order.
func merge(a, b []sorted, compare func(a, b sorted) int) []sorted {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	out := slices.Grow([]sorted(nil), len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if compare(a[0], b[0]) <= 0 {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}
