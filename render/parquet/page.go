package parquet

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/klauspost/compress/zstd"
)

const (
	encodingPlain         = 0
	encodingRLE           = 3
	encodingDelta         = 5
	encodingRLEDictionary = 8
)

const (
	dataPage       = 0
	dictionaryPage = 2
)

const codecZstd = 6

type compressor struct {
	zstd       *zstd.Encoder // nil before the first page
	body       []byte        // of a page, uncompressed
	packed     []byte        // the same, compressed
	encoder    encoder
	groupBytes int // in the pages of the row group
}

// zstdWindow is the size of the window in bytes: a page.
const zstdWindow = 1 << 20

func (p *compressor) pack(body []byte) {
	if p.zstd == nil {
		p.zstd, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1),
			zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(zstdWindow), zstd.WithEncoderCRC(false)) // fails only for other options
	}
	p.packed = p.zstd.EncodeAll(body, p.packed[:0])
}

// appendPage appends a page to pages: a header and the body that was packed last. more
// appends the header of the type of the page.
func (p *compressor) appendPage(pages []byte, pageType int, body []byte, more func(e *encoder)) []byte {
	e := &p.encoder
	e.buf = e.buf[:0]
	e.begin()
	e.int32(1, pageType)
	e.int32(2, len(body))
	e.int32(3, len(p.packed))
	e.int32(4, int(int32(crc32.ChecksumIEEE(p.packed))))
	more(e)
	e.end()
	return append(append(pages, e.buf...), p.packed...)
}

// chunk is what is complete of the chunk of a column.
type chunk struct {
	counts
	pages        []byte
	index        []pageInfo
	bounds       bounds
	uncompressed int64 // size of the pages with their headers
	plainPages   int   // number of pages as PLAIN
	dictionary   int   // size of the dictionary page, 0 without one
	offset       int64 // in the file, of a chunk that is written
	sizes        chunkSizes
}

// otherPages is the number of pages that are not PLAIN.
func (c *chunk) otherPages() int { return len(c.index) - c.plainPages }

type pageInfo struct {
	offset          int // in the pages of the chunk
	size            int
	firstRow        int // in the row group
	nulls           int
	allNull         bool
	least, greatest limit
}

// endPage encodes the page that is being filled, and appends it to the chunk.
func (c *Column) endPage() {
	if c.page.levels == 0 {
		return
	}
	p, chunk := c.compressor, &c.chunk
	encoding := c.encode()
	p.pack(p.body)
	info := pageInfo{offset: len(chunk.pages), firstRow: chunk.rows, nulls: c.page.levels - c.page.values, allNull: c.page.values == 0}
	info.least, info.greatest = c.bounds.limits(c.leaf.Type)
	chunk.pages = p.appendPage(chunk.pages, dataPage, p.body, func(e *encoder) {
		e.beginField(5)
		e.int32(1, c.page.levels)
		e.int32(2, encoding)
		e.int32(3, encodingRLE)
		e.int32(4, encodingRLE)
		e.end()
	})
	info.size = len(chunk.pages) - info.offset
	p.groupBytes += info.size
	chunk.index = append(chunk.index, info)
	chunk.bounds.merge(c.leaf.Type, &c.bounds)
	chunk.uncompressed += int64(info.size - len(p.packed) + len(p.body))
	chunk.levels += c.page.levels
	chunk.values += c.page.values
	chunk.rows += c.page.rows
	if encoding == encodingPlain {
		chunk.plainPages++
	}
	c.resetPage()
}

func (c *Column) resetPage() {
	c.page = counts{}
	c.bounds.reset()
	c.repetitions.reset(bitsOf(c.leaf.MaxRepetition))
	c.definitions.reset(bitsOf(c.leaf.MaxDefinition))
	c.ints.reset()
	c.texts.resetPage()
	c.plain = c.plain[:0]
}

// encode makes the body of the page, and returns its encoding.
func (c *Column) encode() (encoding int) {
	body := c.compressor.body[:0]
	if c.leaf.MaxRepetition > 0 {
		body = appendLevels(body, &c.repetitions)
	}
	if c.leaf.MaxDefinition > 0 {
		body = appendLevels(body, &c.definitions)
	}
	switch c.leaf.Type {
	case Int64, Uint64, Timestamp:
		encoding = encodingDelta
		body = c.ints.appendTo(body)
	case String:
		body, encoding = c.encodeTexts(body)
	default:
		body = append(body, c.plain...)
	}
	c.compressor.body = body
	return encoding
}

// encodeTexts appends the strings of the page, and returns the encoding.
func (c *Column) encodeTexts(body []byte) ([]byte, int) {
	t := &c.texts
	if c.page.values == pageValues && len(c.chunk.index) == 0 && 4*t.dictionary.len() > 3*pageValues {
		t.toPlain() // most values occur once
	}
	if t.isPlain || t.dictionary.len() == 0 { // NULLs do not need a dictionary
		return append(body, t.plain...), encodingPlain
	}
	return t.appendIndices(body), encodingRLEDictionary
}

// appendLevels appends levels behind their length.
func appendLevels(dst []byte, levels *runs) []byte {
	b := levels.finish()
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(b))), b...)
}

// appendDictionary appends the dictionary page of the chunk.
func (c *Column) appendDictionary(dst []byte) []byte {
	d := &c.texts.dictionary
	p := c.compressor
	p.pack(d.data)
	page := p.appendPage(dst, dictionaryPage, d.data, func(e *encoder) {
		e.beginField(7)
		e.int32(1, d.len())
		e.int32(2, encodingPlain)
		e.end()
	})
	c.chunk.dictionary = len(page) - len(dst)
	c.chunk.uncompressed += int64(c.chunk.dictionary - len(p.packed) + len(d.data))
	return page
}
