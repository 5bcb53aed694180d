package parquet

import (
	"fmt"
	"io"
	"math/bits"
	"slices"
)

const (
	// rowGroupRows is the number of rows of a row group, unless Options has another.
	rowGroupRows = 1 << 16

	rowGroupBytes = 64 << 20
)

// magic is at the beginning and at the end of a file.
const magic = "PAR1"

// Options are the settings of a Writer.
type Options struct {
	CreatedBy    string // "APPLICATION version VERSION", as readers parse it
	Metadata     [][2]string
	RowGroupRows int      // 0: 65,536
	Bloom        []string // names of the leaves with Bloom filters; leaves that are repeated, Boolean or Double are ignored
}

// Writer writes a file.
type Writer struct {
	w           io.Writer
	root        string // name of the root of the schema
	fields      []Field
	options     Options
	columns     []Column
	compressor  compressor
	offset      int64
	rows        int64 // in complete row groups
	groupRows   int   // in the row group that is being filled
	groups      []rowGroup
	metadata    []byte  // of all chunks
	columnIndex encoder // bounds of the pages of all chunks
	offsetIndex encoder // where the pages are
	encoder     encoder
	err         error
	closed      bool
}

// NewWriter returns a Writer of a file with this schema; root is the name of its
// root. No two fields of a group may have the same name. The file is complete after Close.
func NewWriter(w io.Writer, root string, fields []Field, o Options) *Writer {
	if o.RowGroupRows == 0 {
		o.RowGroupRows = rowGroupRows
	}
	o.Metadata = slices.Clone(o.Metadata)
	f := &Writer{w: w, root: root, fields: fields, options: o}
	leaves := Leaves(fields)
	f.columns = make([]Column, len(leaves))
	for i, leaf := range leaves {
		c := &f.columns[i]
		c.leaf, c.compressor = leaf, &f.compressor
		c.bloom = leaf.Type != Boolean && leaf.Type != Double && leaf.MaxRepetition == 0 && slices.Contains(o.Bloom, leaf.Path[len(leaf.Path)-1])
		c.reset()
	}
	return f
}

// Column returns the column of a leaf, by its index in Leaves.
func (w *Writer) Column(leaf int) *Column { return &w.columns[leaf] }

// SetMetadata sets the value of a key in the metadata of the file, before Close.
func (w *Writer) SetMetadata(key, value string) {
	list := &w.options.Metadata
	if i := slices.IndexFunc(*list, func(m [2]string) bool { return m[0] == key }); i >= 0 {
		(*list)[i][1] = value
		return
	}
	*list = append(*list, [2]string{key, value})
}

// EndRow ends a row: each column has a value or NULL, or several. It returns the
// first error that writing to the file had, at this or an earlier time.
func (w *Writer) EndRow() error {
	w.groupRows++
	if w.groupRows >= w.options.RowGroupRows || w.compressor.groupBytes >= rowGroupBytes {
		w.endGroup()
	}
	return w.err
}

// Close writes what is left and the end of the file. It does not close the io.Writer.
func (w *Writer) Close() error {
	if w.closed {
		return w.err
	}
	w.closed = true
	if w.groupRows > 0 {
		w.endGroup()
	}
	if w.err == nil {
		w.begin()
		w.write(w.columnIndex.buf)
		w.write(w.offsetIndex.buf)
		w.writeFooter()
	}
	return w.err
}

// begin writes the beginning of the file if nothing was written.
func (w *Writer) begin() {
	if w.offset == 0 {
		w.write([]byte(magic))
	}
}

func (w *Writer) write(b []byte) {
	if w.err != nil {
		return
	}
	n, err := w.w.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	w.offset += int64(n)
	w.err = err
}

func (w *Writer) endGroup() {
	for i := range w.columns {
		c := &w.columns[i]
		c.endPage()
		if w.err == nil && c.chunk.rows != w.groupRows {
			w.err = fmt.Errorf("parquet: %q has %d values for %d rows", c.leaf.Path, c.chunk.rows, w.groupRows)
		}
	}
	if w.err == nil {
		w.begin()
		w.writeGroup()
	}
	for i := range w.columns {
		w.columns[i].reset()
	}
	w.compressor.groupBytes = 0
	w.rows += int64(w.groupRows)
	w.groupRows = 0
}

func (w *Writer) writeGroup() {
	group := rowGroup{offset: w.offset, rows: w.groupRows, chunks: make([]chunkSizes, len(w.columns))}
	for i := range w.columns {
		w.writeChunk(&w.columns[i])
		group.uncompressed += w.columns[i].chunk.uncompressed
	}
	group.size = w.offset - group.offset
	e := &w.encoder
	for i := range w.columns {
		c, bloomOffset := &w.columns[i], w.offset
		e.buf = e.buf[:0]
		if len(c.hashes) > 0 {
			appendBloom(e, c.hashes)
			w.write(e.buf)
		}
		bloomSize := len(e.buf)
		e.buf = e.buf[:0]
		appendMetadata(e, c, bloomOffset, bloomSize)
		w.metadata = append(w.metadata, e.buf...)
		c.chunk.sizes.metadata = int32(len(e.buf))
		group.chunks[i] = c.chunk.sizes
	}
	w.groups = append(w.groups, group)
}

// writeChunk writes the chunk of a column, and adds its pages to the indexes.
func (w *Writer) writeChunk(c *Column) {
	chunk := &c.chunk
	chunk.offset = w.offset
	if c.leaf.Type == String && chunk.otherPages() > 0 {
		w.encoder.buf = c.appendDictionary(w.encoder.buf[:0])
		w.write(w.encoder.buf)
	}
	columns, offsets := len(w.columnIndex.buf), len(w.offsetIndex.buf)
	if !slices.ContainsFunc(chunk.index, lacksBounds) {
		appendColumnIndex(&w.columnIndex, chunk.index)
	}
	appendOffsetIndex(&w.offsetIndex, chunk.index, w.offset)
	chunk.sizes.columnIndex, chunk.sizes.offsetIndex = int32(len(w.columnIndex.buf)-columns), int32(len(w.offsetIndex.buf)-offsets)
	w.write(chunk.pages)
}

func (c *Column) reset() {
	b := &c.chunk.bounds
	b.reset()
	c.chunk = chunk{pages: c.chunk.pages[:0], index: c.chunk.index[:0], bounds: *b}
	c.hashes = c.hashes[:0]
	c.texts.reset()
	c.resetPage()
}

func bitsOf(level int) int { return bits.Len(uint(level)) }
