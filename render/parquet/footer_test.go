//go:build all

package parquet

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// TestFooter compares the metadata of a file, as another reader sees them, with
// testdata/footer.txt.
func TestFooter(t *testing.T) {
	var file bytes.Buffer
	w := NewWriter(&file, "record", []Field{
		{Name: "int", Type: Int64},
		{Name: "uint", Type: Uint64, Repetition: Optional},
		{Name: "text", Type: String, Repetition: Optional},
		{Name: "time", Type: Timestamp, Repetition: Optional},
		{Name: "group", Repetition: Optional, Fields: []Field{{Name: "bool", Type: Boolean}, {Name: "double", Type: Double}}},
		ListOf("list", Field{Fields: []Field{{Name: "n", Type: Int64, Repetition: Optional}}}),
		MapOf("map", String, Int64),
	}, Options{CreatedBy: "test version 1", Metadata: [][2]string{{"key", "value"}}, RowGroupRows: 2, Bloom: []string{"uint", "text"}})
	for i := range 3 {
		w.Column(0).Int64(int64(-i), 0, 0)
		w.Column(1).Uint64(1<<63-1+uint64(i), 0, 1)
		w.Column(2).Bytes([]byte([]string{"b", "", "a"}[i]), 0, 1)
		w.Column(3).Int64(1_700_000_000_000_000+int64(i), 0, 1)
		w.Column(4).Bool(i > 0, 0, 1)
		w.Column(5).Double(0, 0, 1)
		w.Column(6).Int64(1, 0, 3)
		w.Column(6).Null(1, 2)
		w.Column(7).Null(0, i%2)
		w.Column(8).Null(0, i%2)
		must.NoError(t, w.EndRow())
	}
	must.NoError(t, w.Close())
	f := open(t, file.Bytes())
	got := fmt.Appendf(nil, "%s\n", f.Schema())
	m := f.Metadata()
	for _, kv := range m.KeyValueMetadata {
		got = fmt.Appendf(got, "%s = %s\n", kv.Key, kv.Value)
	}
	got = fmt.Appendf(got, "by %s, version %d, %d rows, %d orders of columns\n", m.CreatedBy, m.Version, m.NumRows, len(m.ColumnOrders))
	for _, g := range m.RowGroups {
		got = fmt.Appendf(got, "\nrow group %d at %d: %d rows, %d bytes, %d uncompressed\n", g.Ordinal, g.FileOffset, g.NumRows, g.TotalCompressedSize, g.TotalByteSize)
		for i := range g.Columns {
			c, d := &g.Columns[i], &g.Columns[i].MetaData
			got = fmt.Appendf(got, "%s: %v %v %v, %d values, %d NULL, from %q to %q, dictionary at %d, pages at %d, %d bytes, %d uncompressed, %v, Bloom filter %d+%d, indexes %d+%d, %d+%d\n",
				strings.Join(d.PathInSchema, "."), d.Type, d.Encoding, d.Codec, d.NumValues, d.Statistics.NullCount, d.Statistics.MinValue, d.Statistics.MaxValue,
				d.DictionaryPageOffset, d.DataPageOffset, d.TotalCompressedSize, d.TotalUncompressedSize, d.EncodingStats, d.BloomFilterOffset, d.BloomFilterLength,
				c.ColumnIndexOffset, c.ColumnIndexLength, c.OffsetIndexOffset, c.OffsetIndexLength)
		}
	}
	wiretest.Golden(t, "testdata/footer.txt", string(got))
}
