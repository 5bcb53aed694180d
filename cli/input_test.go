package cli

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// TestCutCapturesInventNothing: what lshark says of an RPC whose messages the
// snaplen cut, it says of the whole ones too. Times differ: a message that is
// cut ends where nothing more of it can come.
func TestCutCapturesInventNothing(t *testing.T) {
	elapsed := regexp.MustCompile(`^[0-9.]+(us|ms|s)$`)
	for _, sample := range []string{"mount.pcap", "locks.pcap.zst", "io.pcap.zst", "metadata.pcap.zst", "recovery.pcap.zst"} {
		whole := wordsByXID(t, "../pcaps/"+sample)
		for _, snaplen := range []int{200, 256, 330, 400, 480, 560, 700, 1024} {
			for xid, words := range wordsByXID(t, cutCapture(t, "../pcaps/"+sample, snaplen)) {
				if whole[xid] == nil {
					continue // of a request that was sent again, before it can be told as what
				}
				known := append(whole[xid], "truncated", "gap", "request", "reply", "bulk", "get", "getreply", "ack")
				for _, w := range words {
					if !elapsed.MatchString(w) && !slices.ContainsFunc(known, func(k string) bool { return strings.HasPrefix(k, w) }) {
						t.Errorf("%s cut to %d bytes, %s: %s is in %q, not in %q", sample, snaplen, xid, w, words, whole[xid])
					}
				}
			}
		}
	}
}

// wordsByXID is what the summaries of a capture tell of each RPC.
func wordsByXID(t *testing.T, path string) map[string][]string {
	t.Helper()
	out, errs, status := run(t, "--color", "never", path)
	if status != exitOK {
		t.Fatalf("status %d, %s", status, errs)
	}
	const xid = 5 // behind number, time and the nodes
	words := make(map[string][]string)
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) > xid && f[xid][0] == 'x' {
			before, _, _ := strings.Cut(strings.Join(f[xid+1:], " "), " portal ")
			words[f[xid]] = append(words[f[xid]], strings.Fields(before)...)
		}
	}
	return words
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
