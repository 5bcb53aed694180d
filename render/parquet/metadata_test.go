package parquet

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/must"
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
		w.Column(1).String("a", 0, 3)
		w.Column(1).String("b", 1, 3)
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
	got, err := ReadMetadata(path)
	if err != nil || !slices.Equal(got, metadata) {
		t.Errorf("%d pairs, error %v", len(got), err)
	}
	if _, err := ReadMetadata(filepath.Join(t.TempDir(), "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := ReadMetadata(t.TempDir()); !errors.Is(err, ErrFormat) {
		t.Errorf("a folder: %v", err)
	}
	for _, n := range []int{0, 4, 11, 12, len(file) / 2, len(file) - 1} {
		must.NoError(t, os.WriteFile(path, file[:n], 0o666))
		if _, err := ReadMetadata(path); !errors.Is(err, ErrFormat) {
			t.Errorf("the first %d bytes: %v", n, err)
		}
	}
}

// errorReader fails to read.
type errorReader struct{ error }

func (r errorReader) ReadAt([]byte, int64) (int, error) { return 0, r.error }

func TestReadMetadataError(t *testing.T) {
	if _, err := readMetadata(errorReader{io.ErrClosedPipe}, 100); err != io.ErrClosedPipe {
		t.Errorf("error %v", err)
	}
}

// footerOf returns a file with a footer and nothing else.
func footerOf(footer ...byte) []byte {
	n := len(footer)
	return append(append([]byte(magic), footer...), byte(n), byte(n>>8), byte(n>>16), byte(n>>24), 'P', 'A', 'R', '1')
}

func TestReadMetadataInvalid(t *testing.T) {
	deep := bytes.Repeat([]byte{0x1c}, 100)
	for _, tt := range []struct {
		name   string
		footer []byte
	}{
		{"no bytes", nil},
		{"deep", deep},
		{"list of numbers", []byte{0x59, 0x15, 2, 0}},
		{"long number", append(bytes.Repeat([]byte{0xff}, 12), 0)},
		{"string of 2^63 bytes", []byte{0x59, 0x1c, 0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}},
		{"type 15", []byte{0x1f, 0}},
		{"list of 2^60", []byte{0x59, 0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f, 0}},
	} {
		file := footerOf(tt.footer...)
		if list, err := readMetadata(bytes.NewReader(file), int64(len(file))); err == nil {
			t.Errorf("%s: %q without an error", tt.name, list)
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
		list, err := readMetadata(bytes.NewReader(file), int64(len(file)))
		n := 0
		for _, m := range list {
			n += len(m[0]) + len(m[1])
		}
		if err == nil && n > len(footer) {
			t.Errorf("%d bytes of metadata in a footer of %d", n, len(footer))
		}
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
	got, err := readMetadata(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if want := [][2]string{{"a", "1"}, {"b", "3"}, {"c", "4"}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("metadata %q, error %v, want %q", got, err, want)
	}
	if given[1][1] != "2" {
		t.Error("the options of the caller changed")
	}
}
