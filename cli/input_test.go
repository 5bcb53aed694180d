package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lshark/lshark/capture"
)

// cutCapture writes a sample again as if captured with a snaplen.
func cutCapture(t *testing.T, path string, snaplen int) string {
	t.Helper()
	r, err := capture.Open([]string{path}, capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var b bytes.Buffer
	w := capture.NewWriter(&b)
	var f capture.Frame
	for err = r.Next(&f); err == nil; err = r.Next(&f) {
		f.Data = f.Data[:min(len(f.Data), snaplen)]
		if err := w.Write(&f, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "cut.pcapng")
	if err := os.WriteFile(out, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestShortSnaplen: a capture with too little of each frame says so.
func TestShortSnaplen(t *testing.T) {
	for snaplen, hint := range map[int]string{96: "cut to 96 bytes", 128: "cut to 128 bytes", 256: ""} {
		_, errs, status := run(t, cutCapture(t, "../pcaps/mount.pcap", snaplen))
		if status != exitOK || !strings.Contains(errs, hint) || hint == "" && errs != "" {
			t.Errorf("snaplen %d: status %d, %q", snaplen, status, errs)
		}
	}
}
