//go:build all

package parquet

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/format"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

// TestManyPages writes chunks of several pages, and dictionaries that become full.
func TestManyPages(t *testing.T) {
	fields := []Field{
		{Name: "row", Type: Int64},
		{Name: "random", Type: Uint64, Repetition: Optional},
		{Name: "few", Type: String},
		{Name: "unique", Type: String, Repetition: Optional},
		{Name: "fills", Type: String}, // few different ones at first
		{Name: "large", Type: String},
		{Name: "double", Type: Double},
		{Name: "bool", Type: Boolean, Repetition: Optional},
		{Name: "null", Type: String, Repetition: Optional},
		{Name: "late", Type: String, Repetition: Optional}, // NULL in the first page
		ListOf("list", Field{Type: Int64, Repetition: Optional}),
	}
	leaves := Leaves(fields)
	out := make(cells, len(leaves))
	o := Options{RowGroupRows: 60_000, Bloom: []string{"row", "random", "few", "unique", "fills", "late"}}
	var file bytes.Buffer
	w := NewWriter(&file, "pages", fields, o)
	r := rand.New(rand.NewPCG(1, 1))
	const rows = 100_000
	for i := range rows {
		fills := "a"
		if i%60_000 > 20_000 {
			fills = fmt.Sprintf("%050d", i)
		}
		row := [][]cell{
			{{int64(i), 0, 0}}, {{r.Uint64(), 0, 1}}, {{fmt.Sprint(i / 1000), 0, 0}}, {{fmt.Sprint(i), 0, 1}}, {{fills, 0, 0}},
			{{strings.Repeat(fmt.Sprint(i%7), i%2000), 0, 0}}, {{r.Float64(), 0, 0}}, {{i%3 == 0, 0, 1}}, {{nil, 0, 0}}, {{nil, 0, 0}}, nil,
		}
		if i%5 == 0 {
			row[1][0] = cell{nil, 0, 0}
		}
		if i > 20_000 {
			row[9][0] = cell{fmt.Sprint(i % 10), 0, 1}
		}
		for k := range i % 4 {
			row[10] = append(row[10], cell{int64(i * k), min(k, 1), 3})
		}
		if i%4 == 0 {
			row[10] = append(row[10], cell{nil, 0, i / 4 % 3})
		}
		for k := range row {
			for _, c := range row[k] {
				c.put(w.Column(k))
			}
			out[k] = append(out[k], row[k]...)
		}
		must.NoError(t, w.EndRow())
	}
	must.NoError(t, w.Close())
	f := checkFile(t, file.Bytes(), leaves, out, o)
	chunk := func(name string) *format.ColumnMetaData {
		i := slices.IndexFunc(leaves, func(l Leaf) bool { return l.Path[0] == name })
		return &f.Metadata().RowGroups[0].Columns[i].MetaData
	}
	for _, tt := range []struct{ name, want string }{
		{"row", "DATA_PAGE DELTA_BINARY_PACKED 4"},
		{"few", "DICTIONARY_PAGE PLAIN 1, DATA_PAGE RLE_DICTIONARY 4"},
		{"unique", "DATA_PAGE PLAIN 4"},
		{"fills", "DICTIONARY_PAGE PLAIN 1, DATA_PAGE PLAIN 2, DATA_PAGE RLE_DICTIONARY 2"},
		{"null", "DATA_PAGE PLAIN 1"},
		{"late", "DICTIONARY_PAGE PLAIN 1, DATA_PAGE RLE_DICTIONARY 3"},
	} {
		var list []string
		for _, s := range chunk(tt.name).EncodingStats {
			list = append(list, fmt.Sprintf("%v %v %d", s.PageType, s.Encoding, s.Count))
		}
		assert.Equal(t, strings.Join(list, ", "), tt.want, tt.name, "pages")
	}
}

// TestInvalidUTF8 checks what becomes of bytes that are not UTF-8.
func TestInvalidUTF8(t *testing.T) {
	for _, rows := range []int{1, 100_000} { // in a dictionary, and as PLAIN
		var file bytes.Buffer
		w := NewWriter(&file, "text", []Field{{Name: "text", Type: String}}, Options{Bloom: []string{"text"}})
		var want []cell
		for i := range rows {
			w.Column(0).Bytes(fmt.Appendf(nil, "a\xff\xfeb%050d\xe2\x82", i), 0, 0)
			want = append(want, cell{value: fmt.Sprintf("a\ufffd\ufffdb%050d\ufffd\ufffd", i)})
			w.EndRow()
		}
		must.NoError(t, w.Close())
		checkFile(t, file.Bytes(), Leaves(w.fields), cells{want}, w.options)
	}
}

// TestRowGroupBytes checks that a row group ends before it takes too much memory.
func TestRowGroupBytes(t *testing.T) {
	var file bytes.Buffer
	w := NewWriter(&file, "text", []Field{{Name: "text", Type: String}}, Options{})
	r := rand.NewChaCha8([32]byte{})
	text := make([]byte, 1<<20)
	for range 100 {
		r.Read(text)
		for i := range text {
			text[i] &= 0x7f
		}
		w.Column(0).Bytes(text, 0, 0)
		must.NoError(t, w.EndRow())
		must.That(t, w.compressor.groupBytes <= rowGroupBytes+pageBytes*2, "%d bytes held", w.compressor.groupBytes)
	}
	must.NoError(t, w.Close())
	if f := open(t, file.Bytes()); len(f.RowGroups()) != 2 || f.NumRows() != 100 {
		t.Errorf("%d row groups, %d rows", len(f.RowGroups()), f.NumRows())
	}
}

// TestFullDictionary checks that a page of a long string that occurs again and again is not
// too large when it becomes one without the dictionary.
func TestFullDictionary(t *testing.T) {
	var file bytes.Buffer
	w := NewWriter(&file, "text", []Field{{Name: "text", Type: String}}, Options{})
	text := make([]byte, 64<<10)
	const n = pageValues - 100
	for i := range n {
		if i >= n-20 { // too many different ones for the dictionary
			text[0] = byte(i)&0x3f + 1
		}
		w.Column(0).Bytes(text, 0, 0)
		must.NoError(t, w.EndRow())
	}
	size := cap(w.columns[0].texts.plain)
	assert.That(t, size <= 2*maxPageBytes, "a page of %d bytes", size)
	must.NoError(t, w.Close())
	assert.Equal(t, open(t, file.Bytes()).NumRows(), n, "rows")
}
