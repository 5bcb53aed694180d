package parquet

import (
	"bytes"
	"math/bits"
	"unicode/utf8"
)

// texts holds the strings of a page, and the dictionary of the chunk.
type texts struct {
	dictionary dictionary
	indices    []uint32 // the page, unless it is plain
	plain      []byte   // the page as PLAIN
	size       int      // of the strings of the page, with duplicates, in bytes
	isPlain    bool     // this page and the rest of the chunk
	runs       runs
	valid      []byte
}

func (t *texts) reset() {
	t.dictionary.reset()
	t.isPlain = false
	t.resetPage()
}

func (t *texts) resetPage() { t.indices, t.plain, t.size = t.indices[:0], t.plain[:0], 0 }

// add appends v to the page, and extends the bounds of the page. It returns the string as it is stored, and
// whether the dictionary did not have it.
func (t *texts) add(v []byte, b *bounds) (stored []byte, isNew bool) {
	if d := &t.dictionary; !t.isPlain {
		if n := len(t.indices); n > 0 { // the same as before?
			last := t.indices[n-1]
			if _, text := d.value(last); bytes.Equal(text, v) {
				t.indices = append(t.indices, last)
				return v, false
			}
		}
		index, ok := d.index[string(v)]
		if !ok {
			v = t.validate(v)
			index, ok = d.index[string(v)]
		}
		if !ok {
			isNew = true
			index, ok = d.add(v)
		}
		if ok {
			t.indices = append(t.indices, index)
			b.text(v)
			return v, isNew
		}
		t.toPlain()
	}
	v = t.validate(v)
	t.plain = appendPlain(t.plain, v)
	b.text(v)
	return v, true
}

// validate returns a string with U+FFFD for each byte that is not part of valid UTF-8:
// readers refuse a file with others.
func (t *texts) validate(v []byte) []byte {
	if utf8.Valid(v) {
		return v
	}
	t.valid = t.valid[:0]
	for _, r := range string(v) {
		t.valid = utf8.AppendRune(t.valid, r)
	}
	return t.valid
}

// toPlain changes the page from indices to strings, and does without the dictionary in
// the rest of the chunk.
func (t *texts) toPlain() {
	t.isPlain = true
	for _, i := range t.indices {
		plain, _ := t.dictionary.value(i)
		t.plain = append(t.plain, plain...)
	}
	t.indices = t.indices[:0]
}

func (t *texts) appendIndices(dst []byte) []byte {
	width := max(1, bits.Len(uint(t.dictionary.len()-1)))
	t.runs.reset(width)
	for _, i := range t.indices {
		t.runs.put(i)
	}
	return append(append(dst, byte(width)), t.runs.finish()...)
}
