package parquet

// pageIndex holds the indexes of all chunks until the end of the file: the bounds of
// the pages, and where they are.
type pageIndex struct {
	columns encoder
	offsets encoder
	at      int64 // offset of columns in the file
}

// indexInfo says where the indexes of a chunk are in pageIndex.
type indexInfo struct {
	columnAt, columnSize int // size 0: a page has no bounds, so there is no index of them
	offsetAt, offsetSize int
}

// add adds the indexes of a chunk.
func (x *pageIndex) add(info *chunkInfo, c *chunk) {
	start := info.offset + int64(info.dictionary)
	e := &x.offsets
	info.index.offsetAt = len(e.buf)
	e.begin()
	e.list(1, typeStruct, len(c.index))
	for i := range c.index {
		p := &c.index[i]
		e.begin()
		e.int64(1, start+int64(p.offset))
		e.int32(2, int32(p.size))
		e.int64(3, int64(p.firstRow))
		e.end()
	}
	e.end()
	info.index.offsetSize = len(e.buf) - info.index.offsetAt
	for i := range c.index {
		if p := &c.index[i]; !p.allNull && !(p.least.ok && p.greatest.ok) {
			return
		}
	}
	info.index.columnAt = len(x.columns.buf)
	x.columns.appendColumnIndex(c.index)
	info.index.columnSize = len(x.columns.buf) - info.index.columnAt
}

// appendColumnIndex appends the bounds of pages.
func (e *encoder) appendColumnIndex(pages []pageInfo) {
	const unordered = 0
	n := len(pages)
	e.begin()
	e.list(1, typeTrue, n)
	for i := range pages {
		e.boolElement(pages[i].allNull)
	}
	e.list(2, typeBinary, n)
	for i := range pages {
		e.bytesElement(pages[i].least.plain)
	}
	e.list(3, typeBinary, n)
	for i := range pages {
		e.bytesElement(pages[i].greatest.plain)
	}
	e.int32(4, unordered)
	e.list(5, typeInt64, n)
	for i := range pages {
		e.int64Element(int64(pages[i].nulls))
	}
	e.end()
}

// write writes the indexes.
func (x *pageIndex) write(w *Writer) {
	x.at = w.offset
	w.write(x.columns.buf)
	w.write(x.offsets.buf)
}

// appendOffsets appends to the description of a chunk where its indexes are.
func (x *pageIndex) appendOffsets(e *encoder, i *indexInfo) {
	e.int64(4, x.at+int64(len(x.columns.buf)+i.offsetAt))
	e.int32(5, int32(i.offsetSize))
	if i.columnSize > 0 {
		e.int64(6, x.at+int64(i.columnAt))
		e.int32(7, int32(i.columnSize))
	}
}
