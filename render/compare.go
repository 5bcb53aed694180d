package render

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes/schema"
)

// Difference is one between two messages: of a value, or of the size or the struct of
// something that has parts. The values are those of JSON, empty where only the other message
// has the field.
type Difference struct {
	Field         string // path
	What          string // value, size or struct
	Before, After string
}

// Comparison has the differences between two messages in the order of the wire.
type Comparison struct {
	Kind        lnet.Kind // of the first message
	Differences []Difference
	Missing     int // fields that were not captured of one of the messages

	before, after dissect.Tree
}

// transportOnly are the sections that say how a message was carried.
var transportOnly = []string{"ksock", "ib", "o2iblnd"}

// CompareMessages compares two messages field by field, without what carried them.
func CompareMessages(before, after *dissect.Message) *Comparison {
	c := &Comparison{Kind: before.Kind}
	c.before.Build(before)
	c.after.Build(after)
	c.parts("", 0, len(c.before.Nodes), 0, len(c.after.Nodes))
	return c
}

// field is a part of a node: its name, also of elements of lists, and its index.
type field struct {
	name string
	node int
}

// fields returns the parts of a node between two indexes, without remarks. Of several with the
// same name, all but the first have a number.
func fields(t *dissect.Tree, from, to int) (list []field) {
	for i := from; i < to; i = int(t.Nodes[i].End) {
		n := &t.Nodes[i]
		if n.Is(dissect.Remark) || n.Depth == 0 && slices.Contains(transportOnly, n.Name()) {
			continue
		}
		name := n.Name()
		if n.Index >= 0 {
			name += "[" + strconv.Itoa(int(n.Index)) + "]"
		}
		plain := name
		for k := 2; slices.ContainsFunc(list, func(f field) bool { return f.name == name }); k++ {
			name = plain + "#" + strconv.Itoa(k)
		}
		list = append(list, field{name, i})
	}
	return list
}

// parts compares the parts of two nodes: those of both by name, each other one where it is.
func (c *Comparison) parts(path string, from, to, from2, to2 int) {
	before, after := fields(&c.before, from, to), fields(&c.after, from2, to2)
	at := 0
	for _, f := range before {
		k := slices.IndexFunc(after, func(o field) bool { return o.name == f.name })
		if k < 0 {
			c.only(path+f.name, &c.before, f.node)
			continue
		}
		for ; at < k; at++ {
			c.onlyAfter(path, before, after[at])
		}
		at = max(at, k+1)
		c.node(path+f.name, f.node, after[k].node)
	}
	for ; at < len(after); at++ {
		c.onlyAfter(path, before, after[at])
	}
}

func (c *Comparison) onlyAfter(path string, before []field, f field) {
	if !slices.ContainsFunc(before, func(o field) bool { return o.name == f.name }) {
		c.only(path+f.name, &c.after, f.node)
	}
}

// only takes a field that one message has.
func (c *Comparison) only(path string, t *dissect.Tree, i int) {
	if t.Nodes[i].Is(dissect.Missing) {
		c.Missing++
		return
	}
	d := Difference{Field: path, What: "value", Before: string(AppendNodeJSON(nil, t, i))}
	if t == &c.after {
		d.Before, d.After = "", d.Before
	}
	c.Differences = append(c.Differences, d)
}

// node compares a field that both messages have.
func (c *Comparison) node(path string, i, k int) {
	a, b := &c.before.Nodes[i], &c.after.Nodes[k]
	if a.Is(dissect.Missing) || b.Is(dissect.Missing) {
		if a.State&b.State&dissect.Missing == 0 {
			c.Missing++
		}
		return
	}
	add := func(what, before, after string) {
		if before != after {
			c.Differences = append(c.Differences, Difference{path, what, before, after})
		}
	}
	if !isContainer(a, i) || !isContainer(b, k) {
		add("value", string(AppendNodeJSON(nil, &c.before, i)), string(AppendNodeJSON(nil, &c.after, k)))
		return
	}
	if a.Field.Kind == schema.Record && b.Field.Kind == schema.Record {
		add("struct", strconv.Quote(a.Field.Type.Name), strconv.Quote(b.Field.Type.Name))
	}
	if onWire(a) && onWire(b) {
		add("size", strconv.Itoa(int(a.Len)), strconv.Itoa(int(b.Len)))
	}
	separator := "."
	if isList(a) || a.Field.Name == "" {
		separator = ""
	}
	c.parts(path+separator, i+1, int(a.End), k+1, int(b.End))
}

// AppendJSON appends the differences as JSON objects, a line each.
func (c *Comparison) AppendJSON(dst []byte) []byte {
	for _, d := range c.Differences {
		dst = fmt.Appendf(dst, `{"message":"%s","field":%s,"what":"%s","before":%s,"after":%s}`+"\n", c.Kind,
			schema.AppendJSONString(nil, []byte(d.Field)), d.What, cmp.Or(d.Before, null), cmp.Or(d.After, null))
	}
	return dst
}

// AppendText appends the differences as a table, of lists of flags only those that differ.
func (c *Comparison) AppendText(dst *schema.Marked, o *SummaryOptions, before, after string) {
	rows := [][3]string{{c.Kind.String(), before, after}}
	for _, d := range c.Differences {
		a, b := d.Before, d.After
		var flags, others []string
		switch {
		case d.What == "size":
			a, b = a+" bytes", b+" bytes"
		case d.What == "struct":
			a, b = "struct "+a[1:len(a)-1], "struct "+b[1:len(b)-1]
		case a != null && b != null && json.Unmarshal([]byte(a), &flags) == nil && json.Unmarshal([]byte(b), &others) == nil:
			a, b = joinWithout(flags, others), joinWithout(others, flags)
		}
		rows = append(rows, [3]string{d.Field, a, b})
	}
	var width [2]int
	for _, r := range rows {
		width[0], width[1] = max(width[0], Width([]byte(r[0]))), max(width[1], Width([]byte(r[1])))
	}
	if o.Width > 0 {
		width[1] = min(width[1], max(len(before), (o.Width-width[0]-4)/2))
	} else {
		const whole = 60
		width[1] = min(width[1], max(len(before), whole))
	}
	name, value := schema.Heading, schema.Heading
	for _, r := range rows {
		addCellLeft(dst, name, []byte(r[0]), width[0])
		a, b := []byte(cmp.Or(r[1], "-")), []byte(cmp.Or(r[2], "-"))
		widthA, widthB := max(width[1], Width(a)), Width(b)
		if o.Width > 0 {
			widthA, widthB = width[1], max(1, min(widthB, o.Width-width[0]-width[1]-4))
		}
		addCellLeft(dst.Plain("  "), value, a, widthA)
		addCellLeft(dst.Plain("  "), value, b, widthB)
		dst.TrimSpaces()
		dst.Plain("\n")
		name, value = schema.Label, schema.Number
	}
}

// joinWithout joins the elements of a list that another one does not have.
func joinWithout(list, other []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(list), func(e string) bool { return slices.Contains(other, e) }), " ")
}
