package parquet

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/wiretest"

	"github.com/lshark/lshark/internal/must"
)

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
	must.NoError(t, w.EndRow())
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
	wiretest.NoAllocations(t, rowGroupRows-100, func() { r.write() })
}
