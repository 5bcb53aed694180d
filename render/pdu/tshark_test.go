package pdu

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/must"
)

// TestTshark checks that tshark, where it is installed, shows the last member of
// JSON that is nested to any depth, and that it reads the largest packet.
func TestTshark(t *testing.T) {
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip(err)
	}
	path := filepath.Join(t.TempDir(), "out.pcapng")
	file := must.Value(os.Create(path))(t)
	defer file.Close()
	w := capture.NewWriter(file)
	r := rand.New(rand.NewPCG(3, 4))
	var l Limiter
	var want strings.Builder
	for i := range 150 {
		object := map[string]any{"a": nested(r, i%12), "b": chain(r, i%60), "z": i}
		if i == 100 {
			object["c"] = make([]int, MaxPacket)
		}
		h := Header{Dissector: "json", Protocol: "Lustre", Frame: int64(i)}
		packet := h.Append(nil)
		packet = l.Append(packet, encode(t, object), MaxPacket-len(packet))
		must.NoError(t, w.Write(&capture.Frame{Data: packet, Len: len(packet), Link: LinkType}, ""))
		fmt.Fprintf(&want, "exported_pdu:json\t/z:%d\n", i)
	}
	must.NoError(t, w.Flush())
	out, err := exec.Command("tshark", "-r", path, "-Y", "!_ws.malformed", "-T", "fields", "-e", "frame.protocols", "-e", "json.path_with_value", "-E", "occurrence=l").Output()
	if err != nil {
		t.Fatalf("tshark: %v", err)
	}
	got := string(out)
	if got != want.String() {
		for i, line := range strings.Split(want.String(), "\n") {
			if lines := strings.Split(got, "\n"); i >= len(lines) || lines[i] != line {
				t.Fatalf("tshark shows %.200q, want %q", strings.Join(lines[min(i, len(lines)):min(i+1, len(lines))], ""), line)
			}
		}
	}
}
