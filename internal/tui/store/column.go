package store

import (
	"cmp"
	"strconv"
	"unique"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// Column is a value that rows of a kind have: a key of records or, of messages, also a
// field of the wire. It is for one goroutine.
type Column struct {
	Name string
	Doc  string
	Type records.Type // records.EscapedText for a field of the wire
	Unit records.Unit

	// Append appends the text of the value of a row, as -T fields prints it.
	Append func(dst []byte, r *Row) []byte

	// Value sets v to the value of a row, and reports whether the row has one; nil for lists and fields of the
	// wire, which have only text.
	Value func(r *Row, v *records.Value) bool
}

// Details is the name of the column with what a message says, or request and reply of an RPC, in
// a line.
const Details = "details"

// NewColumn makes the column with a name: of RPCs a key, of messages a key or a field of the
// wire, of both Details. It returns false for an unknown name.
func NewColumn(k Kind, name string) (*Column, bool) {
	if name == Details {
		lines := render.NewSummary(render.SummaryOptions{})
		return &Column{Name: name, Doc: "what the messages say, as in the lines of lshark without a command", Type: records.Object,
			Append: func(dst []byte, r *Row) []byte { return appendDetails(dst, lines, r) }}, true
	}
	if k == RPCs {
		p, ok := records.RPCs.Find(name)
		if !ok || p.Key.Type == records.Object {
			return nil, false
		}
		if name == "target" {
			p.Key = targetKey(p.Key)
		}
		return keyColumn(name, p, func(r *Row) *track.RPC { return r.RPC }), true
	}
	p, ok := render.MessageField(name)
	if !ok {
		return nil, false
	}
	var record records.Message
	return keyColumn(name, p, func(r *Row) *records.Message {
		record.Set(r.Message, r.First)
		return &record
	}), true
}

func keyColumn[R any](name string, p records.Path[R], record func(*Row) R) *Column {
	text := render.NewRecordField(p, true)
	c := &Column{Name: name, Doc: p.Key.Doc, Type: p.Key.Type, Unit: p.Key.Unit,
		Append: func(dst []byte, r *Row) []byte { return text.Append(dst, record(r)) }}
	if !p.IsList() && p.Key.Type != records.EscapedText {
		c.Value = func(r *Row, v *records.Value) bool { return p.Value(record(r), 0, v) }
	}
	return c
}

// targetKey returns the key of targets with their index where only that is known, as in
// other tables.
func targetKey(name *records.Key[*track.RPC]) *records.Key[*track.RPC] {
	k := *name
	k.Get = func(r *track.RPC, _ int, v *records.Value) bool {
		v.SetString(cmp.Or(r.Target(), r.TargetIndex()))
		return len(v.Text) > 0
	}
	return &k
}

// ColumnNames lists the names of the columns of a kind, apart from fields of the wire.
func ColumnNames(k Kind) (names []string) {
	list := records.RPCs.Entries()
	if k == Messages {
		list = records.Messages.Entries()
	}
	for i := range list {
		if t := list[i].Type; t != records.Object && t != records.Section {
			names = append(names, list[i].Path)
		}
	}
	return append(names, Details)
}

// appendDetails appends what a message says, or the request of an RPC and its reply.
func appendDetails(dst []byte, lines *render.Summary, r *Row) []byte {
	if r.Message != nil {
		return append(dst, lines.Facts(r.Message).Text...)
	}
	n := len(dst)
	for _, id := range r.Messages {
		m, err := r.reader.Read(Messages, id)
		if err != nil || m.Message.Kind != lnet.Request && m.Message.Kind != lnet.Reply {
			continue
		}
		if m.Message.Kind == lnet.Request && len(dst) > n {
			continue // it was sent again
		}
		if len(dst) > n {
			dst = append(dst, "; "...)
		}
		dst = append(dst, lines.Facts(m.Message).Text...)
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

// parseKey returns the key of a text.
func parseKey(text []byte) sortKey {
	if len(text) == 0 {
		return sortKey{class: noKey}
	}
	s := string(text)
	if c := s[0]; c >= '0' && c <= '9' || c == '-' {
		if u, err := strconv.ParseUint(s, 0, 64); err == nil {
			return sortKey{number: float64(u), exact: u}
		}
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return sortKey{number: f}
		}
	}
	return sortKey{class: textKey, text: unique.Make(s).Value()} // many rows have the same one
}

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
