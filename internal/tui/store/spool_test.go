package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/lshark/lshark/internal/must"
)

// record returns a record of n bytes that differs from others.
func record(i, n int) []byte {
	return bytes.Repeat([]byte{byte(i), byte(i >> 8), byte(i >> 16)}, n/3+1)[:n]
}

// TestSpool checks that records are read back, from memory and from the file, and that
// the oldest ones are dropped beyond the bound.
func TestSpool(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, tt := range []struct {
		memory int
		most   int64
	}{{64 << 20, 0}, {0, 0}, {2 * segmentSize, 4 * segmentSize}, {0, 3 * segmentSize}} {
		t.Run(fmt.Sprintf("%d of %d", tt.memory, tt.most), func(t *testing.T) {
			s := spool{memory: tt.memory, most: tt.most}
			var positions []int64
			size := func(i int) int { return i * 7919 % 100_000 }
			for i := range 600 { // 30 MB
				p, err := s.append(record(i, size(i)))
				must.NoError(t, err)
				if len(positions) > 0 && p <= positions[len(positions)-1] {
					t.Fatalf("position %d after %d", p, positions[len(positions)-1])
				}
				positions = append(positions, p)
			}
			kept := 0
			for _, order := range []int{1, -1} {
				r := reader{spool: &s}
				for i := range positions {
					if order < 0 {
						i = len(positions) - 1 - i
					}
					b, err := r.read(positions[i])
					switch {
					case positions[i] < s.oldest():
						if !errors.Is(err, errDropped) {
							t.Fatalf("record %d was dropped, but %v", i, err)
						}
					case err != nil || !bytes.Equal(b, record(i, size(i))):
						t.Fatalf("record %d: %d bytes, %v", i, len(b), err)
					default:
						kept++
					}
				}
			}
			if kept == 0 || tt.most == 0 && kept != 2*len(positions) {
				t.Errorf("%d records are kept", kept)
			}
			if n := int64(len(s.segments)) * segmentSize; tt.most > 0 && n > tt.most {
				t.Errorf("%d bytes are kept, more than %d", n, tt.most)
			}
			if tt.most > 0 && s.slots*segmentSize > tt.most {
				t.Errorf("the file has %d segments", s.slots)
			}
			if names, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(names) > 0 {
				t.Errorf("files are left: %v, %v", names, err)
			}
			if err := s.close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSpoolWithoutSpace checks that the error of the file is returned.
func TestSpoolWithoutSpace(t *testing.T) {
	t.Setenv("TMPDIR", "/nonexistent")
	s := spool{}
	var err error
	for i := 0; err == nil && i < 1000; i++ {
		_, err = s.append(record(i, 100_000))
	}
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
