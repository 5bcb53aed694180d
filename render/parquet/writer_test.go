package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/format"
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
		if err := w.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
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
		if got := strings.Join(list, ", "); got != tt.want {
			t.Errorf("%s: pages %s, want %s", tt.name, got, tt.want)
		}
	}
}

// failingWriter fails after some bytes.
type failingWriter struct {
	left int
	err  error
}

func (w *failingWriter) Write(b []byte) (int, error) {
	if len(b) > w.left {
		n := w.left
		w.left = 0
		return n, w.err
	}
	w.left -= len(b)
	return len(b), nil
}

// TestWriteError checks that the first error is returned from then on, wherever it
// occurs.
func TestWriteError(t *testing.T) {
	size := len(writeSample(t, 100, Options{RowGroupRows: 10}))
	full := errors.New("disk full")
	for left := 0; left < size; left += 13 {
		w := NewWriter(&failingWriter{left, full}, "sample", []Field{
			{Name: "n", Type: Uint64, Repetition: Optional},
			ListOf("names", Field{Type: String, Repetition: Optional}),
		}, Options{RowGroupRows: 10})
		var first error
		for i := range 100 {
			w.Column(0).Uint64(uint64(i), 0, 1)
			w.Column(1).String("a", 0, 3)
			w.Column(1).String("b", 1, 3)
			err := w.EndRow()
			if first != nil && err != first {
				t.Fatalf("%d bytes: error %v, then %v", left, first, err)
			}
			first = err
		}
		if first != nil && first != full {
			t.Fatalf("%d bytes: error %v", left, first)
		}
		for range 2 {
			if err := w.Close(); err != full {
				t.Fatalf("%d bytes: Close returns %v", left, err)
			}
		}
	}
	w := NewWriter(&failingWriter{0, nil}, "short", []Field{{Name: "n", Type: Int64}}, Options{})
	if err := w.Close(); err != io.ErrShortWrite {
		t.Errorf("a short write: %v", err)
	}
}

// TestMissingValue checks that a column without a value for a row is an error.
func TestMissingValue(t *testing.T) {
	w := NewWriter(io.Discard, "two", []Field{{Name: "a", Type: Int64}, {Name: "b", Type: Int64}}, Options{})
	w.Column(0).Int64(1, 0, 0)
	if err := w.EndRow(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), `["b"] has 0 values for 1 rows`) {
		t.Errorf("error %v", err)
	}
}

// TestMisuse checks what the package panics at.
func TestMisuse(t *testing.T) {
	number := []Field{{Name: "n", Type: Int64, Repetition: Optional}}
	for name, use := range map[string]func(w *Writer){
		"another type":       func(w *Writer) { w.Column(0).Bool(true, 0, 1) },
		"level of a value":   func(w *Writer) { w.Column(0).Int64(1, 0, 0) },
		"level of a NULL":    func(w *Writer) { w.Column(0).Null(0, 1) },
		"repetition":         func(w *Writer) { w.Column(0).Null(1, 0) },
		"no fields":          func(*Writer) { NewWriter(io.Discard, "", nil, Options{}) },
		"empty group":        func(*Writer) { NewWriter(io.Discard, "", []Field{{Name: "g"}}, Options{}) },
		"two names":          func(*Writer) { NewWriter(io.Discard, "", append(number, number...), Options{}) },
		"value with fields":  func(*Writer) { NewWriter(io.Discard, "", []Field{{Name: "n", Type: Int64, Fields: number}}, Options{}) },
		"unknown type":       func(*Writer) { NewWriter(io.Discard, "", []Field{{Name: "n", Type: Timestamp + 1}}, Options{}) },
		"unknown repetition": func(*Writer) { NewWriter(io.Discard, "", []Field{{Name: "n", Type: Int64, Repetition: 3}}, Options{}) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			use(NewWriter(io.Discard, "n", number, Options{}))
		})
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
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
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
		if err := w.EndRow(); err != nil {
			t.Fatal(err)
		}
		if w.compressor.groupBytes > rowGroupBytes+pageBytes*2 {
			t.Fatalf("%d bytes held", w.compressor.groupBytes)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
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
		if err := w.EndRow(); err != nil {
			t.Fatal(err)
		}
	}
	if size := cap(w.columns[0].texts.plain); size > 2*maxPageBytes {
		t.Errorf("a page of %d bytes", size)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if f := open(t, file.Bytes()); f.NumRows() != n {
		t.Errorf("%d rows", f.NumRows())
	}
}

// recordFields are those of a record such as an RPC has: 41 columns.
func recordFields() (fields []Field) {
	for i := range 20 {
		fields = append(fields, Field{Name: fmt.Sprint("int", i), Type: Int64, Repetition: Optional})
	}
	for i := range 15 {
		fields = append(fields, Field{Name: fmt.Sprint("text", i), Type: String, Repetition: Optional})
	}
	for i := range 4 {
		fields = append(fields, Field{Name: fmt.Sprint("bool", i), Type: Boolean, Repetition: Optional})
	}
	return append(fields, Field{Name: "xid", Type: Uint64}, ListOf("flags", Field{Type: String, Repetition: Optional}))
}

// recordWriter writes records whose values change as those of RPCs do.
type recordWriter struct {
	w      *Writer
	random *rand.Rand
	texts  [1000][]byte
	n      int
}

func newRecordWriter() *recordWriter {
	r := &recordWriter{random: rand.New(rand.NewPCG(1, 1)), w: NewWriter(io.Discard, "record", recordFields(), Options{Bloom: []string{"xid", "text0"}})}
	for i := range r.texts {
		r.texts[i] = fmt.Appendf(nil, "192.168.%d.%d@tcp", i/250, i%250)
	}
	return r
}

func (r *recordWriter) write() error {
	r.n++
	for i := range 41 {
		c := r.w.Column(i)
		switch {
		case i < 20 && i%3 > 0:
			c.Int64(int64(r.random.IntN(1000*i)), 0, 1)
		case i >= 20 && i < 35 && i%3 > 0:
			c.Bytes(r.texts[r.random.IntN(r.random.IntN(i*20)+1)], 0, 1)
		case i >= 35 && i < 39:
			c.Bool(r.n%i == 0, 0, 1)
		case i == 39:
			c.Uint64(uint64(r.n)*128+1<<60, 0, 0)
		case i == 40 && r.n%10 == 0:
			c.String("resent", 0, 3)
			c.String("replay", 1, 3)
		default:
			c.Null(0, 0)
		}
	}
	return r.w.EndRow()
}

// TestAllocations checks that nothing is allocated per value once buffers have grown.
func TestAllocations(t *testing.T) {
	r := newRecordWriter()
	for range rowGroupRows {
		r.write()
	}
	if n := testing.AllocsPerRun(rowGroupRows-100, func() { r.write() }); n != 0 {
		t.Errorf("%v allocations per row", n)
	}
}

func BenchmarkRow(b *testing.B) {
	r := newRecordWriter()
	b.ReportAllocs()
	for b.Loop() {
		if err := r.write(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(r.w.offset)/float64(b.N), "bytes/row")
}
