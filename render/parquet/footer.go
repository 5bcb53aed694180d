package parquet

import (
	"encoding/binary"
	"math"
	"slices"
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
	e.buf = binary.LittleEndian.AppendUint32(e.buf, uint32(w.offset-start+int64(len(e.buf))))
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
			e.int32(5, int(sizes.offsetIndex))
			if sizes.columnIndex > 0 {
				e.int64(6, columnIndex)
				e.int32(7, int(sizes.columnIndex))
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
			e.field(7, typeInt16)
			e.number(int64(i))
		}
		e.end()
	}
}

// appendMetadata appends what is known of the chunk of a column that is written. It has a Bloom
// filter of some bytes at an offset, or of none.
func appendMetadata(e *encoder, c *Column, bloomOffset int64, bloomSize int) {
	leaf, chunk := &c.leaf, &c.chunk
	type pages struct{ pageType, encoding, n int }
	list := slices.DeleteFunc([]pages{{dictionaryPage, encodingPlain, min(chunk.dictionary, 1)}, {dataPage, encodingPlain, chunk.plainPages},
		{dataPage, leaf.Type.encoding(), chunk.otherPages()}}, func(p pages) bool { return p.n == 0 })
	var encodings []int
	if leaf.MaxDefinition > 0 {
		encodings = append(encodings, encodingRLE)
	}
	for _, p := range list {
		encodings = append(encodings, p.encoding)
	}
	encodings = slices.Compact(encodings)
	e.begin()
	e.int32(1, physical[leaf.Type])
	e.list(2, typeInt32, len(encodings))
	for _, encoding := range encodings {
		e.number(int64(encoding))
	}
	e.list(3, typeBinary, len(leaf.Path))
	for _, name := range leaf.Path {
		e.text(name)
	}
	e.int32(4, codecZstd)
	e.int64(5, int64(chunk.levels))
	e.int64(6, chunk.uncompressed)
	e.int64(7, int64(chunk.dictionary+len(chunk.pages)))
	e.int64(9, chunk.offset+int64(chunk.dictionary))
	if chunk.dictionary > 0 {
		e.int64(11, chunk.offset)
	}
	appendStatistics(e, leaf.Type, chunk)
	e.list(13, typeStruct, len(list))
	for _, p := range list {
		e.begin()
		e.int32(1, p.pageType)
		e.int32(2, p.encoding)
		e.int32(3, p.n)
		e.end()
	}
	if bloomSize > 0 {
		e.int64(14, bloomOffset)
		e.int32(15, bloomSize)
	}
	e.end()
}

// encoding returns the encoding of pages that are not PLAIN.
func (t Type) encoding() int {
	if t == String {
		return encodingRLEDictionary
	}
	return encodingDelta
}

// appendStatistics appends the number of NULLs and the bounds of a chunk.
func appendStatistics(e *encoder, t Type, c *chunk) {
	least, greatest := c.bounds.limits(t)
	e.beginField(12)
	e.int64(3, int64(c.levels-c.values))
	if greatest.ok {
		e.string(5, string(greatest.plain))
	}
	if least.ok {
		e.string(6, string(least.plain))
	}
	if greatest.ok {
		e.bool(7, greatest.exact)
	}
	if least.ok {
		e.bool(8, least.exact)
	}
	e.end()
}
