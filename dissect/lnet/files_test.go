package lnet

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/wiretest"
)

// TestFilesOfMessages distributes the frames of samples over files, with some
// frames late, some lost and some cut. Each message must have file and number of
// the frame that completes it without files.
func TestFilesOfMessages(t *testing.T) {
	cut := 0
	overSamples(t, func(t *testing.T, frames []capture.Frame, _ []seen) {
		rnd := rand.New(rand.NewSource(1))
		var mixed []capture.Frame
		for _, f := range frames[len(frames)/10:] {
			if rnd.Intn(50) == 0 {
				continue
			}
			if rnd.Intn(50) == 0 {
				f.Data = f.Data[:min(len(f.Data), 200)]
			}
			mixed = append(mixed, f)
			if n := len(mixed); n > 1 && rnd.Intn(20) == 0 {
				mixed[n-1], mixed[n-2] = mixed[n-2], mixed[n-1]
			}
		}
		wiretest.Renumber(mixed)
		single, _ := collect(mixed, Options{Frames: true})
		counts := make(map[string]int64)
		for i := range mixed {
			f := &mixed[i]
			f.File = fmt.Sprint("file", rnd.Intn(3))
			counts[f.File]++
			f.FileNumber = counts[f.File]
		}
		several, _ := collect(mixed, Options{Frames: true})
		if len(single) != len(several) {
			t.Fatalf("%d messages, %d without files", len(several), len(single))
		}
		for i, s := range several {
			m, one := s.m, single[i].m
			if one.File != "" || one.Frame != one.Order {
				t.Fatalf("without files: message %d has %q:%d and order %d", i, one.File, one.Frame, one.Order)
			}
			if m.Order != one.Order || !slices.Equal(m.Frames, one.Frames) {
				t.Errorf("message %d: order %d, frames %v; without files %d, %v", i, m.Order, m.Frames, one.Order, one.Frames)
			}
			if f := &mixed[m.Order-1]; m.File != f.File || m.Frame != f.FileNumber || m.Time != f.Time {
				t.Errorf("message %d is in %s:%d, not in %s:%d", i, m.File, m.Frame, f.File, f.FileNumber)
			}
			if m.Tail == Snaplen || slices.ContainsFunc(m.Holes, func(h Hole) bool { return h.Why == Snaplen }) {
				cut++
			}
		}
	})
	if cut == 0 {
		t.Error("no message was cut by the snaplen")
	}
}
