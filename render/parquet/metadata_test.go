package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// writeSample returns a file with some rows.
func writeSample(t testing.TB, rows int, o Options) []byte {
	var b bytes.Buffer
	w := NewWriter(&b, "sample", []Field{
		{Name: "n", Type: Uint64, Repetition: Optional},
		ListOf("names", Field{Type: String, Repetition: Optional}),
	}, o)
	for i := range rows {
		w.Column(0).Uint64(uint64(i), 0, 1)
		w.Column(1).Bytes([]byte("a"), 0, 3)
		w.Column(1).Bytes([]byte("b"), 1, 3)
		must.NoError(t, w.EndRow())
	}
	must.NoError(t, w.Close())
	return b.Bytes()
}

func TestReadMetadata(t *testing.T) {
	metadata := [][2]string{{"schema", "1"}, {"empty", ""}, {"long", strings.Repeat("x", 100_000)}}
	file := writeSample(t, 1000, Options{CreatedBy: "test", Metadata: metadata, RowGroupRows: 10})
	path := filepath.Join(t.TempDir(), "a.parquet")
	must.NoError(t, os.WriteFile(path, file, 0o666))
	for _, pair := range append(metadata, [2]string{"missing", ""}) {
		got, err := ReadMetadata(path, pair[0])
		assert.That(t, err == nil && got == pair[1], "%s: %d bytes, error %v", pair[0], len(got), err)
	}
	if _, err := ReadMetadata(filepath.Join(t.TempDir(), "missing"), "schema"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := ReadMetadata(t.TempDir(), "schema"); !errors.Is(err, ErrFormat) {
		t.Errorf("a folder: %v", err)
	}
	for _, n := range []int{0, 4, 11, 12, len(file) / 2, len(file) - 1} {
		must.NoError(t, os.WriteFile(path, file[:n], 0o666))
		if _, err := ReadMetadata(path, "schema"); !errors.Is(err, ErrFormat) {
			t.Errorf("the first %d bytes: %v", n, err)
		}
	}
}

// errorReader fails to read.
type errorReader struct{ error }

func (r errorReader) ReadAt([]byte, int64) (int, error) { return 0, r.error }

func TestReadMetadataError(t *testing.T) {
	if _, err := readMetadata(errorReader{io.ErrClosedPipe}, 100, "a"); err != io.ErrClosedPipe {
		t.Errorf("error %v", err)
	}
}

// footerOf returns a file with a footer and nothing else.
func footerOf(footer ...byte) []byte {
	n := len(footer)
	return append(append([]byte(magic), footer...), byte(n), byte(n>>8), byte(n>>16), byte(n>>24), 'P', 'A', 'R', '1')
}

func TestReadMetadataInvalid(t *testing.T) {
	pair := []byte{0x18, 1, 'a', 0x18}
	for _, value := range [][]byte{nil, {1}, {2, 'b'}, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, bytes.Repeat([]byte{0xff}, 12)} {
		file := footerOf(append(pair, value...)...)
		if value, err := readMetadata(bytes.NewReader(file), int64(len(file)), "a"); err == nil {
			t.Errorf("%q without an error", value)
		}
	}
}

// FuzzReadMetadata reads any footer.
func FuzzReadMetadata(f *testing.F) {
	sample := writeSample(f, 3, Options{CreatedBy: "test", Metadata: [][2]string{{"a", "b"}}})
	length := int(sample[len(sample)-8]) | int(sample[len(sample)-7])<<8
	f.Add(sample[len(sample)-8-length : len(sample)-8])
	f.Add([]byte{0x59, 0x1c, 0x18, 1, 'a', 0, 0})
	f.Add([]byte{0x1b, 2, 0x55, 1, 2, 3, 4, 0})
	f.Fuzz(func(t *testing.T, footer []byte) {
		file := footerOf(footer...)
		value, err := readMetadata(bytes.NewReader(file), int64(len(file)), "a")
		assert.That(t, err != nil || len(value) <= len(footer), "%d bytes of metadata in a footer of %d", len(value), len(footer))
	})
}

// TestSetMetadata sets values until the end of the file.
func TestSetMetadata(t *testing.T) {
	var file bytes.Buffer
	given := [][2]string{{"a", "1"}, {"b", "2"}}
	w := NewWriter(&file, "n", []Field{{Name: "n", Type: Int64}}, Options{Metadata: given})
	w.SetMetadata("b", "3")
	w.SetMetadata("c", "4")
	must.NoError(t, w.Close())
	for _, want := range [][2]string{{"a", "1"}, {"b", "3"}, {"c", "4"}} {
		got, err := readMetadata(bytes.NewReader(file.Bytes()), int64(file.Len()), want[0])
		assert.That(t, err == nil && got == want[1], "%s: %q, error %v, want %q", want[0], got, err, want[1])
	}
	assert.Equal(t, given[1][1], "2", "the options of the caller changed")
}

// TestTextBounds checks the bounds of strings that are about as long as bounds are,
// added to one page or merged from several.
func TestTextBounds(t *testing.T) {
	ends := []string{"", "a", "b", "ü", "€", "\ud7ff", "\U0010ffff"}
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 2))
		var all, page bounds
		var texts []string
		for range 1 + r.IntN(6) {
			text := strings.Repeat("\U0010ffff", r.IntN(2)*15)
			text += strings.Repeat("a", max(0, maxBound-4-len(text)))
			for range r.IntN(6) {
				text += ends[r.IntN(len(ends))]
			}
			texts = append(texts, text)
			page.text([]byte(text))
			if r.IntN(3) == 0 {
				all.merge(String, &page)
				page.reset()
			}
		}
		all.merge(String, &page)
		low, high := all.limits(String)
		least, greatest := slices.Min(texts), slices.Max(texts)
		switch {
		case !low.ok, string(low.plain) > least, low.exact && string(low.plain) != least, !utf8.Valid(low.plain), len(low.plain) > maxBound:
			t.Fatalf("seed %d: least %q, want %q", seed, low.plain, least)
		case !high.ok && greatest < strings.Repeat("\U0010ffff", maxBound/4):
			t.Fatalf("seed %d: no greatest of %q", seed, texts)
		case !high.ok:
		case string(high.plain) < greatest, high.exact && string(high.plain) != greatest, !utf8.Valid(high.plain), len(high.plain) > maxBound+1:
			t.Fatalf("seed %d: greatest %q, want %q", seed, high.plain, greatest)
		}
		if !slices.ContainsFunc(texts, func(text string) bool { return len(text) > maxBound }) && !(low.exact && high.exact) {
			t.Fatalf("seed %d: bounds of %q are not exact", seed, texts)
		}
	}
	var b bounds
	b.text([]byte(strings.Repeat("\U0010ffff", 100)))
	if low, high := b.limits(String); high.ok || !low.ok {
		t.Errorf("bounds %v, %v of the greatest string", low, high)
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
			w.Column(1).Bytes([]byte("a"), 0, 3)
			w.Column(1).Bytes([]byte("b"), 1, 3)
			err := w.EndRow()
			must.That(t, first == nil || err == first, "%d bytes: error %v, then %v", left, first, err)
			first = err
		}
		must.That(t, first == nil || first == full, "%d bytes: error %v", left, first)
		for range 2 {
			must.Equal(t, w.Close(), full, left, "bytes: Close returns")
		}
	}
	w := NewWriter(&failingWriter{0, nil}, "short", []Field{{Name: "n", Type: Int64}}, Options{})
	assert.Equal(t, w.Close(), io.ErrShortWrite, "a short write")
}

// TestMissingValue checks that a column without a value for a row is an error.
func TestMissingValue(t *testing.T) {
	w := NewWriter(io.Discard, "two", []Field{{Name: "a", Type: Int64}, {Name: "b", Type: Int64}}, Options{})
	w.Column(0).Int64(1, 0, 0)
	must.NoError(t, w.EndRow())
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), `["b"] has 0 values for 1 rows`) {
		t.Errorf("error %v", err)
	}
}

// TestMisuse checks what the package panics at.
func TestMisuse(t *testing.T) {
	number := []Field{{Name: "n", Type: Int64, Repetition: Optional}}
	for name, use := range map[string]func(w *Writer){
		"another type":     func(w *Writer) { w.Column(0).Bool(true, 0, 1) },
		"level of a value": func(w *Writer) { w.Column(0).Int64(1, 0, 0) },
		"level of a NULL":  func(w *Writer) { w.Column(0).Null(0, 1) },
		"repetition":       func(w *Writer) { w.Column(0).Null(1, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				assert.That(t, recover() != nil, "no panic")
			}()
			use(NewWriter(io.Discard, "n", number, Options{}))
		})
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
			c.Bytes([]byte("resent"), 0, 3)
			c.Bytes([]byte("replay"), 1, 3)
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
	wiretest.NoAllocations(t, rowGroupRows-100, func() { r.write() })
}
