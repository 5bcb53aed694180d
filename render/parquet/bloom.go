package parquet

import "encoding/binary"

// bloomBits is the size of a Bloom filter in bits per value, before it is rounded up to
// a power of two, which some readers require. With 8 bits about 3 % of the lookups
// find a value that is not there, with 16 far fewer.
const bloomBits = 8

// bloomBlock is the size of a block in bytes. A value sets one bit in each of its 8
// words.
const bloomBlock = 32

// bloomSalt chooses the bit in each word of a block.
var bloomSalt = [bloomBlock / 4]uint32{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31}

func bloomSize(n int) int {
	size := bloomBlock
	for size*8 < n*bloomBits {
		size *= 2
	}
	return size
}

// appendBloom appends a Bloom filter of values with these hashes: a header and a
// split block filter.
func appendBloom(e *encoder, hashes []uint64) {
	size := bloomSize(len(hashes))
	e.begin()
	e.int32(1, size)
	for id := 2; id <= 4; id++ { // algorithm: split blocks; hash: xxHash64; not compressed
		e.beginField(id)
		e.beginField(1)
		e.end()
		e.end()
	}
	e.end()
	from := len(e.buf)
	e.buf = append(e.buf, make([]byte, size)...)
	filter := e.buf[from:]
	blocks := uint64(size / bloomBlock)
	for _, h := range hashes {
		block := filter[bloomBlock*(h>>32*blocks>>32):][:bloomBlock]
		for i, salt := range bloomSalt {
			word := block[4*i:]
			binary.LittleEndian.PutUint32(word, binary.LittleEndian.Uint32(word)|1<<(uint32(h)*salt>>27))
		}
	}
}

// appendOffsetIndex appends where the pages of a chunk are, whose first one is at an
// offset in the file.
func appendOffsetIndex(e *encoder, pages []pageInfo, offset int64) {
	e.begin()
	e.list(1, typeStruct, len(pages))
	for i := range pages {
		p := &pages[i]
		e.begin()
		e.int64(1, offset+int64(p.offset))
		e.int32(2, p.size)
		e.int64(3, int64(p.firstRow))
		e.end()
	}
	e.end()
}

// lacksBounds reports whether a page has values and no bounds, which an index needs.
func lacksBounds(p pageInfo) bool { return !p.allNull && !(p.least.ok && p.greatest.ok) }

func appendColumnIndex(e *encoder, pages []pageInfo) {
	const unordered = 0
	n := len(pages)
	e.begin()
	e.list(1, typeTrue, n)
	for i := range pages {
		e.buf = append(e.buf, typeOfBool(pages[i].allNull))
	}
	e.list(2, typeBinary, n)
	for i := range pages {
		e.text(string(pages[i].least.plain))
	}
	e.list(3, typeBinary, n)
	for i := range pages {
		e.text(string(pages[i].greatest.plain))
	}
	e.int32(4, unordered)
	e.list(5, typeInt64, n)
	for i := range pages {
		e.number(int64(pages[i].nulls))
	}
	e.end()
}
