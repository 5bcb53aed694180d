package wiretest

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
)

// SampleDir is the folder of the sample captures, relative to the folder of a
// top-level package.
const SampleDir = "../pcaps"

// Samples returns the paths of all sample captures.
func Samples(t testing.TB) []string {
	t.Helper()
	dir := SampleDir
	if _, err := os.Stat(dir); err != nil {
		dir = filepath.Join("..", dir) // of a package one level lower
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.pcap*"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no samples in %s: %v", SampleDir, err)
	}
	return paths
}

// ReadSample returns the frames of a capture file, with copies of their bytes.
func ReadSample(t testing.TB, path string) []capture.Frame {
	t.Helper()
	r, err := capture.Open([]string{path}, capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var frames []capture.Frame
	var f capture.Frame
	for err = r.Next(&f); err == nil; err = r.Next(&f) {
		f.Data = bytes.Clone(f.Data)
		frames = append(frames, f)
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return frames
}

// Decoder reads frames: an lnet.Decoder or a dissect.Dissector.
type Decoder interface {
	Frame(*capture.Frame)
	Close()
}

// Play passes frames to a decoder and closes it.
func Play(d Decoder, frames []capture.Frame) {
	for i := range frames {
		d.Frame(&frames[i])
	}
	d.Close()
}
