package parquet

import (
	"encoding/binary"
	"fmt"
	"math"
)

// formatVersion is the version of the format. Readers do not decide by it what is in
// the file.
const formatVersion = 1

type rowGroup struct {
	offset       int64
	size         int64
	uncompressed int64
	rows         int
	chunks       []chunkSizes
}

// chunkSizes has the sizes of what is kept of a chunk until the end of the file: its
// metadata, and its parts of the page index. Each is behind that of the chunk before.
type chunkSizes struct{ metadata, columnIndex, offsetIndex int32 }

type chunkInfo struct {
	offset          int64
	size            int64
	uncompressed    int64
	dictionary      int // size of the dictionary page, 0 without a dictionary
	levels          int
	values          int
	plainPages      int
	otherPages      int
	least, greatest limit
	bloomOffset     int64
	bloomSize       int
	sizes           chunkSizes
}

// writeFooter writes the end of the file: its metadata, their length, and the magic.
func (w *Writer) writeFooter() {
	start := w.offset
	e := &w.encoder
	e.buf = e.buf[:0]
	e.begin()
	e.int32(1, formatVersion)
	appendSchema(e, w.root, w.fields)
	e.int64(3, w.rows)
	e.list(4, typeStruct, len(w.groups))
	w.writeGroups()
	if n := len(w.options.Metadata); n > 0 {
		e.list(5, typeStruct, n)
		for _, m := range w.options.Metadata {
			e.begin()
			e.string(1, m[0])
			e.string(2, m[1])
			e.end()
		}
	}
	if w.options.CreatedBy != "" {
		e.string(6, w.options.CreatedBy)
	}
	e.list(7, typeStruct, len(w.columns))
	for range w.columns { // the order of bounds is that of the type
		e.begin()
		e.beginField(1)
		e.end()
		e.end()
	}
	e.end()
	length := w.offset - start + int64(len(e.buf))
	if length > math.MaxInt32 && w.err == nil {
		w.err = fmt.Errorf("parquet: metadata of %d bytes is too long", length)
	}
	e.buf = binary.LittleEndian.AppendUint32(e.buf, uint32(length))
	w.write(append(e.buf, magic...))
}

// writeGroups writes what is in the encoder, and the descriptions of the row groups.
func (w *Writer) writeGroups() {
	e := &w.encoder
	metadata := w.metadata
	columnIndex := w.offset - int64(len(w.offsetIndex.buf)+len(w.columnIndex.buf)) // they are before the footer
	offsetIndex := w.offset - int64(len(w.offsetIndex.buf))
	for i := range w.groups {
		g := &w.groups[i]
		w.write(e.buf)
		e.buf = e.buf[:0]
		e.begin()
		e.list(1, typeStruct, len(g.chunks))
		for _, sizes := range g.chunks {
			e.begin()
			e.int64(2, 0) // the metadata are here only
			e.field(3, typeStruct)
			e.buf = append(e.buf, metadata[:sizes.metadata]...)
			e.int64(4, offsetIndex)
			e.int32(5, sizes.offsetIndex)
			if sizes.columnIndex > 0 {
				e.int64(6, columnIndex)
				e.int32(7, sizes.columnIndex)
			}
			e.end()
			metadata = metadata[sizes.metadata:]
			columnIndex += int64(sizes.columnIndex)
			offsetIndex += int64(sizes.offsetIndex)
		}
		e.int64(2, g.uncompressed)
		e.int64(3, int64(g.rows))
		e.int64(5, g.offset)
		e.int64(6, g.size)
		if i <= math.MaxInt16 {
			e.int16(7, int16(i))
		}
		e.end()
	}
}

func appendMetadata(e *encoder, c *chunkInfo, leaf *Leaf) {
	e.begin()
	e.int32(1, leaf.Type.physical())
	appendEncodings(e, c, leaf)
	e.list(3, typeBinary, len(leaf.Path))
	for _, name := range leaf.Path {
		e.stringElement(name)
	}
	e.int32(4, codecZstd)
	e.int64(5, int64(c.levels))
	e.int64(6, c.uncompressed)
	e.int64(7, c.size)
	e.int64(9, c.offset+int64(c.dictionary))
	if c.dictionary > 0 {
		e.int64(11, c.offset)
	}
	appendStatistics(e, c)
	appendPageCounts(e, c, leaf)
	if c.bloomSize > 0 {
		e.int64(14, c.bloomOffset)
		e.int32(15, int32(c.bloomSize))
	}
	e.end()
}

func appendEncodings(e *encoder, c *chunkInfo, leaf *Leaf) {
	var list [3]int32
	n := 0
	add := func(encoding int32, ok bool) {
		if ok {
			list[n] = encoding
			n++
		}
	}
	add(encodingRLE, leaf.MaxDefinition > 0)
	add(encodingPlain, c.plainPages > 0 || c.dictionary > 0)
	add(leaf.Type.encoding(), c.otherPages > 0)
	e.list(2, typeInt32, n)
	for _, encoding := range list[:n] {
		e.int32Element(encoding)
	}
}

// encoding returns the encoding of pages that are not PLAIN.
func (t Type) encoding() int32 {
	if t == String {
		return encodingRLEDictionary
	}
	return encodingDelta
}

func appendPageCounts(e *encoder, c *chunkInfo, leaf *Leaf) {
	lists := [...]struct {
		pageType, encoding int32
		n                  int
	}{{dictionaryPage, encodingPlain, min(c.dictionary, 1)}, {dataPage, encodingPlain, c.plainPages}, {dataPage, leaf.Type.encoding(),
		c.otherPages}}
	n := 0
	for _, l := range lists {
		n += min(l.n, 1)
	}
	e.list(13, typeStruct, n)
	for _, l := range lists {
		if l.n > 0 {
			e.begin()
			e.int32(1, l.pageType)
			e.int32(2, l.encoding)
			e.int32(3, int32(l.n))
			e.end()
		}
	}
}

// appendStatistics appends the number of NULLs and the bounds of a chunk.
func appendStatistics(e *encoder, c *chunkInfo) {
	e.beginField(12)
	e.int64(3, int64(c.levels-c.values))
	if c.greatest.ok {
		e.bytes(5, c.greatest.plain)
	}
	if c.least.ok {
		e.bytes(6, c.least.plain)
	}
	if c.greatest.ok {
		e.bool(7, c.greatest.exact)
	}
	if c.least.ok {
		e.bool(8, c.least.exact)
	}
	e.end()
}
