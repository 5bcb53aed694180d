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

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// rewritten writes a copy of a sample with each frame changed, and returns its
// path.
func rewritten(t *testing.T, path string, change func(f *capture.Frame)) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "changed.pcapng")
	copyFrames(t, path, out, func(f *capture.Frame) bool {
		change(f)
		return true
	})
	return out
}

// copyFrames writes a copy of a capture with the frames for which keep returns
// true. It may change them.
func copyFrames(t *testing.T, from, to string, keep func(f *capture.Frame) bool) {
	t.Helper()
	var b bytes.Buffer
	w := capture.NewWriter(&b)
	for _, f := range wiretest.ReadSample(t, from) {
		if keep(&f) {
			must.NoError(t, w.Write(&f, ""))
		}
	}
	must.NoError(t, w.Flush())
	must.NoError(t, os.WriteFile(to, b.Bytes(), 0o644))
}

// cutCapture writes a copy of a sample as if captured with a snaplen.
func cutCapture(t *testing.T, path string, snaplen int) string {
	return rewritten(t, path, func(f *capture.Frame) { f.Data = f.Data[:min(len(f.Data), snaplen)] })
}

// TestCutCapturesInventNothing checks that every word about an RPC in a
// truncated capture also appears for the whole capture. Times differ: a truncated
// message ends where nothing more of it can come.
func TestCutCapturesInventNothing(t *testing.T) {
	t.Parallel()
	elapsed := regexp.MustCompile(`^[0-9.]+(us|ms|s)$`)
	for _, sample := range []string{"mount.pcap", "locks.pcap.zst", "io.pcap.zst", "metadata.pcap.zst", "recovery.pcap.zst"} {
		whole := wordsByXID(t, "../../pcaps/"+sample)
		for _, snaplen := range []int{200, 256, 330, 404, 413, 420, 480, 560, 700, 1024} {
			for xid, words := range wordsByXID(t, cutCapture(t, "../../pcaps/"+sample, snaplen)) {
				if whole[xid] == nil {
					continue // a reply to a resent write, whose match bits only the whole request connects with its xid
				}
				known := append(whole[xid], "truncated", "gap", "request", "reply", "bulk", "get", "getreply", "ack",
					"LOCK_ABORTED") // the status, where what the intent did was not captured
				for _, w := range words {
					w = strings.TrimSuffix(w, "?") // an opcode that is inferred
					if !elapsed.MatchString(w) && !slices.Contains(known, w) {
						t.Errorf("%s cut to %d bytes, %s: %s is in %q, not in %q", sample, snaplen, xid, w, words, whole[xid])
					}
				}
			}
		}
	}
}

// wordsByXID returns the words of the summary lines of each RPC of a capture.
func wordsByXID(t *testing.T, path string) map[string][]string {
	t.Helper()
	out := succeeds(t, "--color", "never", path)
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

// TestInferredOpcodesOfRPCs compares the operations that rpcs infers for a truncated capture with those of
// the whole one.
func TestInferredOpcodesOfRPCs(t *testing.T) {
	const sample = "../../pcaps/metadata.pcap.zst"
	columns := []string{"rpcs", "-q", "-T", "fields", "-e", "xid", "-e", "client", "-e"}
	whole := succeeds(t, append(columns, "opcode", sample)...)
	inferred := 0
	for line := range strings.Lines(succeeds(t, append(columns, "opcode_inferred", cutCapture(t, sample, 256))...)) {
		if !strings.HasSuffix(line, "\t\n") {
			inferred++
			assert.Contains(t, whole, line)
		}
	}
	assert.That(t, inferred > 0, "nothing is inferred")
}

// TestRDMAIsNamed checks that RDMA traffic is reported when there is no other.
func TestRDMAIsNamed(t *testing.T) {
	const protocol, port = 14 + 9, 14 + 20 + 2
	udp := rewritten(t, "../../pcaps/mount.pcap", func(f *capture.Frame) {
		f.Data = bytes.Clone(f.Data)
		f.Data[protocol] = 17
		binary.BigEndian.PutUint16(f.Data[port:], 4791)
	})
	out, errs, status := run(t, udp)
	if out != "" || status != exit.OK || !strings.Contains(errs, "no Lustre traffic") || !strings.Contains(errs, "RDMA") {
		t.Errorf("status %d, %q, %q", status, out, errs)
	}
}

// TestShortSnaplen checks that a snaplen too short for headers is reported.
func TestShortSnaplen(t *testing.T) {
	for snaplen, hint := range map[int]string{96: "truncated to 96 bytes", 128: "truncated to 128 bytes", 256: ""} {
		_, errs, status := run(t, cutCapture(t, "../../pcaps/mount.pcap", snaplen))
		if status != exit.OK || !strings.Contains(errs, hint) || hint == "" && errs != "" {
			t.Errorf("snaplen %d: status %d, %q", snaplen, status, errs)
		}
	}
}

// TestShortSnaplens checks that of several files those are named whose snaplen is
// too short.
func TestShortSnaplens(t *testing.T) {
	dir := t.TempDir()
	file := func(name, sample string, snaplen, longest int) string {
		path := filepath.Join(dir, name)
		copyFrames(t, sample, path, func(f *capture.Frame) bool {
			f.Data = f.Data[:min(len(f.Data), snaplen)]
			return f.Len <= longest
		})
		return path
	}
	const all = 1 << 20
	short, headers := file("short.pcap", "../../pcaps/mount.pcap", 96, all), file("headers.pcap", "../../pcaps/mount.pcap", 60, all)
	whole, small := file("whole.pcap", "../../pcaps/idle.pcap", all, all), file("small.pcap", "../../pcaps/mount.pcap", all, 70)
	for want, files := range map[string][]string{
		"lshark: short.pcap: frames are truncated to 96 bytes":                              {small, short, whole},
		"lshark: no Lustre traffic in 385 frames: headers.pcap: frames are truncated to 60": {small, headers},
	} {
		_, errs, status := run(t, files...)
		if status != exit.OK || strings.Count(errs, "\n") != 1 || !strings.HasPrefix(errs, want) {
			t.Errorf("%q: status %d, %q, want %q", files, status, errs, want)
		}
	}
}

// stranger is a connection on the LNet port with another protocol.
type stranger struct{ sent int }

func (s *stranger) Next(f *capture.Frame) error {
	const headers, payload, enough = 14 + 20 + 20, 60_000, 100
	if s.sent == enough {
		return io.EOF
	}
	b := make([]byte, headers+payload)
	binary.BigEndian.PutUint16(b[12:], 0x0800) // IPv4
	b[14], b[14+9] = 0x45, 6                   // TCP
	binary.BigEndian.PutUint16(b[14+2:], uint16(len(b)-14))
	tcp := b[34:]
	binary.BigEndian.PutUint16(tcp, 40_000)
	binary.BigEndian.PutUint16(tcp[2:], lnet.DefaultPort)
	binary.BigEndian.PutUint32(tcp[4:], uint32(1+s.sent*payload))
	tcp[12], tcp[13] = 5<<4, 0x10 // ACK
	copy(tcp[20:], bytes.Repeat([]byte("GET / HTTP/1.1\r\n\x00\x00\x00\x00"), payload/20))
	s.sent++
	*f = capture.Frame{Number: int64(s.sent), Time: int64(s.sent), Len: len(b), Data: b, Link: capture.LinkEthernet}
	return nil
}

func (s *stranger) Close() error { return nil }

// TestVerbose checks that -v shows the counts about streams.
func TestVerbose(t *testing.T) {
	var out, errs bytes.Buffer
	sys := testSystem(&out, &errs)
	sys.Open = func([]string, capture.Options) (scan.Frames, error) { return &stranger{}, nil }
	status := Run(sys, []string{"-v", sampleFile})
	if status != exit.OK || !strings.Contains(errs.String(), "1 streams that are not LNet, 0 messages truncated by the memory limit") {
		t.Errorf("status %d, %s", status, &errs)
	}
}

// TestFilterAmongOtherLinks checks that a capture filter ignores frames of
// unknown link types.
func TestFilterAmongOtherLinks(t *testing.T) {
	const usb, unused = 220, 147
	mixed := rewritten(t, sampleFile, func(f *capture.Frame) {
		switch f.Number % 50 {
		case 1:
			f.Link = usb
		case 2:
			f.Link = unused
		}
	})
	want, _, _ := run(t, mixed)
	got, errs, status := run(t, "-f", "tcp port 988", mixed)
	if want == "" || got != want || errs != "" || status != exit.OK {
		t.Errorf("status %d, %d bytes of %d: %s", status, len(got), len(want), errs)
	}
	if _, errs, status := run(t, "-f", "tcp prot 988", mixed); status != exit.Usage {
		t.Errorf("a wrong filter: status %d: %s", status, errs)
	}
}

// TestSaveTwoFiles checks that clocks are compared once although the files are
// read twice.
func TestSaveTwoFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.pcapng")
	_, errs, status := run(t, "rpcs", "-v", "-w", path, sampleFile, sampleFile)
	n := strings.Count(errs, "its clock is")
	assert.That(t, status == exit.OK && n == 1, "status %d, clocks are compared %d times: %s", status, n, errs)
}

// paused is a capture that pauses after one of its frames, as a pipe with a slow
// writer does.
type paused struct {
	scan.Frames
	after int64 // the frame before the pause
	waits int   // timeouts left
	read  int64
}

func (p *paused) Next(f *capture.Frame) error {
	if p.read == p.after && p.waits > 0 {
		p.waits--
		return capture.ErrTimeout
	}
	p.read++
	return p.Frames.Next(f)
}

// pausing returns an Open func for captures that pause after a frame, for so
// many timeouts.
func pausing(after int64, waits int) func(paths []string, o capture.Options) (scan.Frames, error) {
	return func(paths []string, o capture.Options) (scan.Frames, error) {
		r, err := capture.Open(paths, o)
		return &paused{Frames: r, after: after, waits: waits}, err
	}
}

// TestSilentPipe checks that RPCs that have ended are shown while a pipe is
// silent.
func TestSilentPipe(t *testing.T) {
	const last = 200 // a frame before which RPCs have ended
	shown := 0
	open := pausing(last, 120)
	var out bytes.Buffer
	sys := testSystem(&out, io.Discard)
	sys.Open = func(paths []string, o capture.Options) (scan.Frames, error) {
		src, err := open(paths, o)
		return &watched{src, func() { shown = bytes.Count(out.Bytes(), []byte{'\n'}) }}, err
	}
	must.Equal(t, Run(sys, []string{"rpcs", sampleFile}), exit.OK, "status")
	want := bytes.Count(out.Bytes(), []byte{'\n'})
	assert.That(t, shown != 0 && shown < want, "%d lines of %d when the pipe was silent", shown, want)
}

// watched calls over at the end of a pause.
type watched struct {
	scan.Frames
	over func()
}

func (w *watched) Next(f *capture.Frame) error {
	if p := w.Frames.(*paused); p.read == p.after && p.waits == 0 {
		w.over()
	}
	return w.Frames.Next(f)
}

// TestSlowPipe checks that a pause of the writer while RPCs are pending changes
// no result: time goes by the frames, not by the clock.
func TestSlowPipe(t *testing.T) {
	for _, args := range [][]string{
		{"rpcs", "-T", "json"},
		{"stats", "-T", "json"},
		{"stats", "-T", "json", "--interval", "1s"},
		{"imports", "-T", "json"},
	} {
		args = append(args, sampleFile)
		want, _, _ := run(t, args...)
		for _, frame := range []int64{0, 45, 81, 135, 189, 243} {
			var out, errs bytes.Buffer
			sys := testSystem(&out, &errs)
			sys.Open = pausing(frame, 1)
			status := Run(sys, args)
			if status != exit.OK || out.String() != want {
				t.Errorf("%v, a pause after frame %d: status %d, %d bytes that are not the %d without it: %s",
					args, frame, status, out.Len(), len(want), &errs)
			}
		}
	}
}
