package parquet

// appendOffsetIndex appends where the pages of a chunk are, whose first one is at an
// offset in the file.
func appendOffsetIndex(e *encoder, pages []pageInfo, offset int64) {
	e.begin()
	e.list(1, typeStruct, len(pages))
	for i := range pages {
		p := &pages[i]
		e.begin()
		e.int64(1, offset+int64(p.offset))
		e.int32(2, int32(p.size))
		e.int64(3, int64(p.firstRow))
		e.end()
	}
	e.end()
}

// hasBounds reports whether all pages with values have bounds: an index needs them.
func hasBounds(pages []pageInfo) bool {
	for i := range pages {
		if p := &pages[i]; !p.allNull && !(p.least.ok && p.greatest.ok) {
			return false
		}
	}
	return true
}

// appendColumnIndex appends the bounds of pages.
func appendColumnIndex(e *encoder, pages []pageInfo) {
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
