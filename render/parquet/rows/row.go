package rows

import (
	"time"

	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// Definition levels: how many of the optional and repeated nodes of the schema are
// there, from the outermost to the value.
const (
	absent      = 0
	present     = 1 // a value outside lists
	emptyList   = 1
	nullElement = 2
	element     = 3
	mapEntry    = 2
)

type rowWriter[R any] struct {
	val  records.Value // of a key
	text []byte        // of a value
}

func (w *rowWriter[R]) record(columns []column[R], r R) {
	depth := 0 // number of parents of the column that the record has, from the outermost
	for i := range columns {
		c := &columns[i]
		hasParents := w.hasParents(c, &depth, r, -1)
		switch c.kind {
		case asGroups:
			w.groups(c, r, hasParents)
		case asList:
			w.list(c, r, hasParents)
		case asTexts:
			w.texts(c, hasParents && c.key.Read(r, -1, &w.val))
		case asCounts:
			w.counts(c, hasParents && c.key.Read(r, -1, &w.val))
		default:
			w.value(c, c.kind, hasParents && c.key.Read(r, -1, &w.val), hasParents, 0, present)
		}
	}
}

// hasParents reports whether a record, or the i-th element of a list in it, has all
// parents of a column. depth is the number of parents of the column before that it has,
// from the outermost; hasParents updates it.
func (w *rowWriter[R]) hasParents(c *column[R], depth *int, r R, i int) bool {
	*depth = min(*depth, c.depth)
	for *depth < len(c.parents) && c.parents[*depth].Read(r, i, &w.val) {
		*depth++
	}
	return *depth == len(c.parents)
}

// value writes the value that was read to a column, if there is one (ok): with a
// repetition level, and the definition level of a value there. hasParents reports
// whether the record has all parents of the column.
func (w *rowWriter[R]) value(c *column[R], k kind, ok, hasParents bool, repetition, definition int) {
	v := &w.val
	switch {
	case k == asBool && hasParents:
		c.first.Bool(ok, repetition, definition) // JSON leaves the key out for false
	case !ok:
		c.first.Null(repetition, definition-1)
		if k == asTime {
			c.second.Null(repetition, definition-1)
		}
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

func (w *rowWriter[R]) list(c *column[R], r R, hasParents bool) {
	n, level := length(c.key, r, hasParents)
	if n == 0 {
		c.first.Null(0, level)
	}
	k := parquetKind(c.key, true)
	for i := range n {
		w.value(c, k, c.key.Read(r, i, &w.val), true, min(i, 1), element)
	}
}

// length returns the length of a list, and of one without elements the definition level:
// empty or absent.
func length[R any](k *records.Key[R], r R, hasParents bool) (n, level int) {
	switch {
	case !hasParents:
		return 0, absent
	case k.JSON != records.Omit:
		level = emptyList
	}
	return k.Len(r), level
}

// groups writes the parts of a list of objects.
func (w *rowWriter[R]) groups(c *column[R], r R, hasParents bool) {
	n, level := length(c.key, r, hasParents)
	if n == 0 {
		for i := range c.parts {
			c.parts[i].null(level)
		}
	}
	for i := range n {
		depth := 0
		for k := range c.parts {
			part := &c.parts[k]
			hasParents := w.hasParents(part, &depth, r, i)
			w.value(part, part.kind, hasParents && part.key.Read(r, i, &w.val), hasParents, min(i, 1), element)
		}
	}
}

func (c *column[R]) null(level int) {
	c.first.Null(0, level)
	if c.second != nil {
		c.second.Null(0, level)
	}
}

// texts writes a list of names that was read, texts or flags, if there is one (ok).
func (w *rowWriter[R]) texts(c *column[R], ok bool) {
	n := 0
	add := func(text string) {
		w.text = schema.AppendUTF8(w.text[:0], []byte(text))
		c.first.Bytes(w.text, min(n, 1), element)
		n++
	}
	switch {
	case !ok:
		c.first.Null(0, absent)
		return
	case w.val.Type == records.Flags:
		rest := w.val.Names.Set(w.val.U, func(v *schema.Value) { add(v.Name) })
		if rest != 0 {
			w.text = schema.AppendHex(w.text[:0], rest)
			c.first.Bytes(w.text, min(n, 1), element)
			return
		}
	default:
		for _, text := range w.val.Strings {
			add(text)
		}
	}
	if n == 0 {
		c.first.Null(0, emptyList)
	}
}

// counts writes a map of names to numbers that was read, if there is one (ok).
func (w *rowWriter[R]) counts(c *column[R], ok bool) {
	switch {
	case !ok:
		c.null(absent)
		return
	case len(w.val.Counts) == 0:
		c.null(emptyList)
	}
	for i, n := range w.val.Counts {
		w.text = schema.AppendUTF8(w.text[:0], []byte(n.Name))
		c.first.Bytes(w.text, min(i, 1), mapEntry)
		c.second.Int64(n.N, min(i, 1), mapEntry)
	}
}
