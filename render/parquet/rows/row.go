package rows

import (
	"slices"
	"time"

	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// Definition levels: how many of the optional and repeated nodes of the schema are
// there, from the outermost to the value.
const (
	absent    = 0
	present   = 1 // a value outside lists
	emptyList = 1
	element   = 3
	mapEntry  = 2
)

type rowWriter[R any] struct {
	val  records.Value // of a key
	text []byte        // of a value
}

// write writes a record, or the i-th element of a list in it: with a repetition level, and the
// definition level of a value there.
func (w *rowWriter[R]) write(columns []column[R], r R, i, repetition, definition int) {
	for k := range columns {
		c := &columns[k]
		hasParents := !slices.ContainsFunc(c.parents, func(p *records.Key[R]) bool { return !p.Read(r, i, &w.val) })
		if c.kind == asList {
			w.list(c, r, hasParents)
			continue
		}
		switch ok := hasParents && c.key.Read(r, i, &w.val); c.kind {
		case asTexts:
			w.texts(c, ok)
		case asCounts:
			w.counts(c, ok)
		default:
			w.value(c, ok, hasParents, repetition, definition)
		}
	}
}

func (w *rowWriter[R]) list(c *column[R], r R, hasParents bool) {
	n, level := 0, absent
	if hasParents {
		n = c.key.Len(r)
		if c.key.JSON != records.Omit {
			level = emptyList
		}
	}
	if n == 0 {
		for k := range c.parts {
			c.parts[k].null(0, level)
		}
	}
	for i := range n {
		w.write(c.parts, r, i, min(i, 1), element)
	}
}

func (c *column[R]) null(repetition, level int) {
	c.first.Null(repetition, level)
	if c.second != nil {
		c.second.Null(repetition, level)
	}
}

// value writes the value that was read, if there is one (ok). hasParents reports
// whether the record has all parents of the column.
func (w *rowWriter[R]) value(c *column[R], ok, hasParents bool, repetition, definition int) {
	v := &w.val
	switch k := c.kind; {
	case k == asBool && hasParents:
		c.first.Bool(ok, repetition, definition) // JSON leaves the key out for false
	case !ok:
		c.null(repetition, definition-1)
	case k == asInt:
		c.first.Int64(int64(v.U), repetition, definition)
	case k == asUint:
		c.first.Uint64(v.U, repetition, definition)
	case k == asFloat:
		c.first.Double(v.F, repetition, definition)
	case k == asTime:
		ns := int64(v.U)
		c.first.Int64(time.Unix(0, ns).UnixMicro(), repetition, definition)
		c.second.Int64(ns, repetition, definition)
	default:
		if w.text = w.text[:0]; v.Type == records.Text {
			w.text = schema.AppendUTF8(w.text, v.Text)
		} else {
			w.text = render.AppendValue(w.text, v)
		}
		c.first.Bytes(w.text, repetition, definition)
	}
}

// texts writes a list of names that was read, texts or flags, if there is one (ok).
func (w *rowWriter[R]) texts(c *column[R], ok bool) {
	if !ok {
		c.null(0, absent)
		return
	}
	n := 0
	add := func(text string) {
		w.text = schema.AppendUTF8(w.text[:0], []byte(text))
		c.first.Bytes(w.text, min(n, 1), element)
		n++
	}
	if w.val.Type == records.Flags {
		if rest := w.val.Names.Set(w.val.U, func(v *schema.Value) { add(v.Name) }); rest != 0 {
			add(string(schema.AppendHex(nil, rest)))
		}
	} else {
		for _, text := range w.val.Strings {
			add(text)
		}
	}
	if n == 0 {
		c.null(0, emptyList)
	}
}

// counts writes a map of names to numbers that was read, if there is one (ok).
func (w *rowWriter[R]) counts(c *column[R], ok bool) {
	switch {
	case !ok:
		c.null(0, absent)
		return
	case len(w.val.Counts) == 0:
		c.null(0, emptyList)
	}
	for i, n := range w.val.Counts {
		w.text = schema.AppendUTF8(w.text[:0], []byte(n.Name))
		c.first.Bytes(w.text, min(i, 1), mapEntry)
		c.second.Int64(n.N, min(i, 1), mapEntry)
	}
}
