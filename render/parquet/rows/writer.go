package rows

import (
	"io"
	"slices"

	"github.com/lshark/lshark/render/parquet"
	"github.com/lshark/lshark/render/records"
)

// SchemaVersion is the version of the columns, stored as lshark.schema. It changes
// when a column is renamed, removed or gets another type, not when one is added.
const SchemaVersion = "1"

const (
	schemaKey  = "lshark.schema"
	releaseKey = "lshark.release"

	RecordsKey = "lshark.records" // the kind of records
	SourceKey  = "lshark.source"  // what the file was made from
	DamageKey  = "lshark.damage"  // where that ends before its end, as JSON
)

// bloomColumns are the columns with Bloom filters: those in which single values are
// looked for.
var bloomColumns = []string{"xid", "fid"}

// Options are the settings of a Writer.
type Options struct {
	Release string // of lshark
	Sensor  string // name of the capturing host; in each row
	Capture string // name of the capture; in each row
}

// Writer writes records of one kind to a Parquet file.
type Writer[R any] struct {
	file    *parquet.Writer
	columns []column[R]
	row     rowWriter[R]
}

// NewWriter returns a Writer of the records that keys describe. It writes when a row group
// is full, and in Close, after which the file is complete. No two columns may have the same
// name; see Duplicate.
func NewWriter[R any](to io.Writer, keys *records.Table[R], o Options) *Writer[R] {
	w := &Writer[R]{columns: columnsOf(slices.Concat(keys.Keys(), constants[R](o)))}
	w.file = parquet.NewWriter(to, keys.Record, fields(w.columns), parquet.Options{
		CreatedBy: "lshark version " + o.Release, Bloom: bloomColumns, Metadata: [][2]string{
			{schemaKey, SchemaVersion}, {releaseKey, o.Release}, {RecordsKey, keys.Record},
		}})
	assign(w.columns, w.file, 0)
	return w
}

// Append adds a record.
func (w *Writer[R]) Append(r R) error {
	w.row.write(w.columns, r, 0, 0, present)
	return w.file.EndRow()
}

// SetMetadata sets the value of a key in the metadata of the file, before Close. Keys begin
// with "lshark.".
func (w *Writer[R]) SetMetadata(key, value string) { w.file.SetMetadata(key, value) }

// Close writes what is left and the end of the file. It does not close the io.Writer.
func (w *Writer[R]) Close() error { return w.file.Close() }
