package cli

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/render"
)

const lockContention = "../../dissect/diagnose/rules/testdata/lock_contention.pcap.zst"

// TestLadders compares diagrams with those that are stored beside the captures.
func TestLadders(t *testing.T) {
	if testing.Short() {
		t.Skip("compares results")
	}
	for _, tt := range []struct {
		file string
		args []string
	}{
		{"../../pcaps/mount.ladder", []string{"--width", "100", "../../pcaps/mount.pcap"}},
		{"../../pcaps/rdma_data.ladder", []string{"--width", "80", "-Y", "pb_opc == OST_WRITE", "../../pcaps/rdma_data.pcap.zst"}},
		{"../../dissect/diagnose/rules/testdata/lock_contention.ladder", []string{"--width", "120", "--lock", "0xfec13fbea991f704", lockContention}},
		{"../../dissect/diagnose/rules/testdata/evicted.ladder", []string{"--width", "120", "--lock", "0xfec13fbea99209a3", "../../dissect/diagnose/rules/testdata/evicted.pcap.zst"}},
		{"../../dissect/diagnose/rules/testdata/losses.ladder", []string{"--width", "80", "-Y", "rpc.retransmits > 0", "../../dissect/diagnose/rules/testdata/losses.pcap.zst"}},
		{"../../dissect/diagnose/rules/testdata/lost_frames.ladder", []string{"--width", "200", "../../dissect/diagnose/rules/testdata/lost_frames.pcap.zst"}},
		{"../../docs/ladder.svg", []string{"-T", "svg", "--lock", "0xfec13fbea991f704", lockContention}},
	} {
		t.Run(tt.file, func(t *testing.T) { golden(t, tt.file, append([]string{"ladder", "-q"}, tt.args...)) })
	}
}

// TestLadderOfXID checks what belongs to a lock request: the callback to the client
// that keeps it waiting, and how that client gives its lock up.
func TestLadderOfXID(t *testing.T) {
	out := quiet(t, "ladder", "--xid", "x1882522805918080", lockContention)
	var ops []string
	for line := range strings.Lines(out) {
		for _, op := range []string{"LDLM_ENQUEUE", "LDLM_BL_CALLBACK", "LDLM_CP_CALLBACK", "LDLM_CANCEL"} {
			if strings.Contains(line, op) {
				ops = append(ops, op)
			}
		}
	}
	got, want := strings.Join(ops, " "), "LDLM_ENQUEUE LDLM_BL_CALLBACK LDLM_BL_CALLBACK LDLM_ENQUEUE LDLM_CANCEL LDLM_CP_CALLBACK LDLM_CP_CALLBACK LDLM_CANCEL"
	assert.That(t, got == want, "%s\nwant %s\n%s", got, want, out)
	assert.That(t, strings.Contains(out, "waited 3.1s; granted PR"), "the wait is missing:\n%s", out)
}

// TestLadderWidth checks that a diagram fits into the terminal.
func TestLadderWidth(t *testing.T) {
	var out bytes.Buffer
	must.Equal(t, Run(onTerminal(&out, 100), []string{"ladder", "-c", "50", "--color", "never", "../../pcaps/mount.pcap"}), exit.OK, "status")
	for line := range bytes.Lines(out.Bytes()) {
		n := render.Width(bytes.TrimSuffix(line, []byte("\n")))
		assert.That(t, n <= 100, "line of %d columns: %s", n, line)
	}
}

// TestLadderSVG checks that pictures of all samples are XML, with nothing from
// elsewhere.
func TestLadderSVG(t *testing.T) {
	if testing.Short() {
		t.Skip("compares results")
	}
	entries, err := os.ReadDir("../../pcaps")
	must.NoError(t, err)
	n := 0
	for _, e := range entries {
		if !strings.Contains(e.Name(), ".pcap") {
			continue
		}
		n++
		out := quiet(t, "ladder", "-q", "-T", "svg", "-c", "100", "../../pcaps/"+e.Name())
		d := xml.NewDecoder(strings.NewReader(out))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", e.Name(), err)
			}
			start, ok := token.(xml.StartElement)
			if !ok {
				continue
			}
			if name := start.Name.Local; name == "script" || name == "image" || name == "a" || name == "foreignObject" {
				t.Errorf("%s: element %s", e.Name(), name)
			}
			for _, a := range start.Attr {
				if strings.Contains(a.Value, "//") && a.Name.Local != "xmlns" {
					t.Errorf("%s: attribute %s=%s", e.Name(), a.Name.Local, a.Value)
				}
			}
		}
	}
	must.That(t, n != 0, "no samples")
}
