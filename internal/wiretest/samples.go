package wiretest

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/must"
)

// folder is the folder of the package under test, in which go test starts it.
var folder, errFolder = os.Getwd()

// Repo returns the absolute path of a file of the repository.
func Repo(name string) string {
	if errFolder != nil {
		panic(errFolder)
	}
	for dir := folder; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, filepath.FromSlash(name))
		}
		if dir == filepath.Dir(dir) {
			panic("no go.mod above " + folder)
		}
	}
}

// Sample returns the path of the sample capture with a name: mount, recovery.
func Sample(name string) string {
	path := Repo("pcaps/" + name + ".pcap")
	if _, err := os.Stat(path); err != nil {
		path += ".zst"
	}
	return path
}

// Samples returns the paths of all sample captures.
func Samples(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob(Repo("pcaps/*.pcap*"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	return paths
}

// ReadSample returns the frames of a capture file, with copies of their bytes.
func ReadSample(t testing.TB, path string) []capture.Frame {
	t.Helper()
	r, err := capture.Open([]string{path}, capture.Options{})
	must.NoError(t, err)
	var frames []capture.Frame
	var f capture.Frame
	for err = r.Next(&f); err == nil; err = r.Next(&f) {
		f.Data = bytes.Clone(f.Data)
		frames = append(frames, f)
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	must.NoError(t, r.Close())
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

// Rounds returns how often a test tries something at random or at each place: n times with
// the tag all, a quarter of it without.
func Rounds[N int | uint64](n N) N {
	if All {
		return n
	}
	return n / 4
}
