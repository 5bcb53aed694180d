package columns

import (
	"time"

	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/records"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/parquet"
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

// row writes the values of records to the columns of a file.
type row[R any] struct {
	val  records.Value // of a key
	text []byte        // of a value
}

// record writes the values of all columns of a record.
func (b *row[R]) record(columns []column[R], r R) {
	here := 0 // how many of the objects around the column the record has, from the outermost
	for i := range columns {
		c := &columns[i]
		has := b.around(c, &here, r, -1)
		switch c.form {
		case asGroups:
			b.groups(c, r, has)
		case asList:
			b.list(c, r, has)
		case asTexts:
			b.texts(c, has && c.key.Read(r, -1, &b.val))
		case asCounts:
			b.counts(c, has && c.key.Read(r, -1, &b.val))
		default:
			b.value(c, c.form, has && c.key.Read(r, -1, &b.val), has, 0, present)
		}
	}
}

// around reports whether a record, or the i-th element of a list in it, has the objects
// around a column. here is how many of those around the column before it has, from the
// outermost.
func (b *row[R]) around(c *column[R], here *int, r R, i int) bool {
	*here = min(*here, c.depth)
	for *here < len(c.around) && c.around[*here].Read(r, i, &b.val) {
		*here++
	}
	return *here == len(c.around)
}

// value writes the value that was read to a column, if there is one (ok): with a
// repetition level, and the definition level of a value there. has reports whether the
// objects around the column are there.
func (b *row[R]) value(c *column[R], f form, ok, has bool, repetition, definition int) {
	v := &b.val
	switch {
	case f == asBool && has:
		c.first.Bool(ok, repetition, definition) // JSON leaves the key out for false
	case !ok:
		c.first.Null(repetition, definition-1)
		if f == asTime {
			c.second.Null(repetition, definition-1)
		}
	case f == asInt:
		c.first.Int64(int64(v.U), repetition, definition)
	case f == asUint:
		c.first.Uint64(v.U, repetition, definition)
	case f == asFloat:
		c.first.Double(v.F, repetition, definition)
	case f == asTime:
		ns := int64(v.U)
		c.first.Int64(time.Unix(0, ns).UnixMicro(), repetition, definition)
		c.second.Int64(ns, repetition, definition)
	default:
		if b.text = b.text[:0]; v.Type == records.Text {
			b.text = schema.AppendUTF8(b.text, v.Text)
		} else {
			b.text = render.AppendValue(b.text, v)
		}
		c.first.Bytes(b.text, repetition, definition)
	}
}

// list writes a list of values.
func (b *row[R]) list(c *column[R], r R, has bool) {
	n, level := length(c.key, r, has)
	if n == 0 {
		c.first.Null(0, level)
	}
	f := formOf(c.key, true)
	for i := range n {
		b.value(c, f, c.key.Read(r, i, &b.val), true, min(i, 1), element)
	}
}

// length returns the length of a list, and of one without elements the definition level:
// empty or absent.
func length[R any](k *records.Key[R], r R, has bool) (n, level int) {
	switch {
	case !has:
		return 0, absent
	case k.JSON != records.Omit:
		level = emptyList
	}
	return k.Len(r), level
}

// groups writes the parts of a list of objects.
func (b *row[R]) groups(c *column[R], r R, has bool) {
	n, level := length(c.key, r, has)
	if n == 0 {
		for i := range c.parts {
			c.parts[i].null(level)
		}
	}
	for i := range n {
		here := 0
		for k := range c.parts {
			part := &c.parts[k]
			has := b.around(part, &here, r, i)
			b.value(part, part.form, has && part.key.Read(r, i, &b.val), has, min(i, 1), element)
		}
	}
}

// null writes that there is no value.
func (c *column[R]) null(level int) {
	c.first.Null(0, level)
	if c.second != nil {
		c.second.Null(0, level)
	}
}

// texts writes a list of names that was read, texts or flags, if there is one (ok).
func (b *row[R]) texts(c *column[R], ok bool) {
	n := 0
	add := func(text string) {
		c.first.String(text, min(n, 1), element)
		n++
	}
	switch {
	case !ok:
		c.first.Null(0, absent)
		return
	case b.val.Type == records.Flags:
		rest := b.val.Names.Set(b.val.U, func(v *schema.Value) { add(v.Name) })
		if rest != 0 {
			b.text = schema.AppendHex(b.text[:0], rest)
			c.first.Bytes(b.text, min(n, 1), element)
			return
		}
	default:
		for _, text := range b.val.Strings {
			add(text)
		}
	}
	if n == 0 {
		c.first.Null(0, emptyList)
	}
}

// counts writes a map of names to numbers that was read, if there is one (ok).
func (b *row[R]) counts(c *column[R], ok bool) {
	switch {
	case !ok:
		c.null(absent)
		return
	case len(b.val.Counts) == 0:
		c.null(emptyList)
	}
	for i, n := range b.val.Counts {
		c.first.String(n.Name, min(i, 1), mapEntry)
		c.second.Int64(n.N, min(i, 1), mapEntry)
	}
}

// constant writes a column with the same value in all rows; NULL when it is empty.
func constant(c *parquet.Column, value string) {
	if value != "" {
		c.String(value, 0, present)
	} else {
		c.Null(0, absent)
	}
}
