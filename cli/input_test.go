package cli

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lshark/lshark/capture"
)

// rewritten writes a sample again with each frame changed.
func rewritten(t *testing.T, path string, change func(f *capture.Frame)) string {
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
		change(&f)
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
	out := filepath.Join(t.TempDir(), "changed.pcapng")
	if err := os.WriteFile(out, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return out
}

// cutCapture writes a sample again as if captured with a snaplen.
func cutCapture(t *testing.T, path string, snaplen int) string {
	return rewritten(t, path, func(f *capture.Frame) { f.Data = f.Data[:min(len(f.Data), snaplen)] })
}

// TestRDMAIsNamed: what goes over another transport is not no traffic.
func TestRDMAIsNamed(t *testing.T) {
	const protocol, port = 14 + 9, 14 + 20 + 2
	udp := rewritten(t, "../pcaps/mount.pcap", func(f *capture.Frame) {
		f.Data = bytes.Clone(f.Data)
		f.Data[protocol] = 17
		binary.BigEndian.PutUint16(f.Data[port:], 4791)
	})
	out, errs, status := run(t, udp)
	if out != "" || status != exitOK || !strings.Contains(errs, "no Lustre traffic") || !strings.Contains(errs, "RDMA") {
		t.Errorf("status %d, %q, %q", status, out, errs)
	}
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
