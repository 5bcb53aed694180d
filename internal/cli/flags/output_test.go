package flags

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/render/records"
)

// TestGrowingCapture checks that a result is not taken for complete when the capture has
// grown while it was read.
func TestGrowingCapture(t *testing.T) {
	sample := must.ReadFile(t, "../../../pcaps/mount.pcap")
	const part = 24 // the header of the file
	for _, grows := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "c.pcap")
		result := filepath.Join(t.TempDir(), "c.parquet")
		must.NoError(t, os.WriteFile(path, sample[:part], 0o600))
		sys := &scan.System{IO: &iostreams.IO{Out: io.Discard, Err: io.Discard, Env: os.Getenv}}
		in := must.Value((&scan.Flags{Quiet: true}).Check([]string{path}, false))(t)
		j := Job{Sys: sys, In: in, Form: Choice{Value: ParquetForm}, Output: result, cmd: &cobra.Command{}}
		x := j.Open(scan.Options{})
		ParquetFunc(x, &records.RPCs)
		must.NoError(t, x.Out.Write(nil))
		must.NoError(t, x.Pass.Run())
		if grows {
			must.NoError(t, os.WriteFile(path, sample, 0o600))
		}
		must.NoError(t, x.Out.Close())
		got := j.isComplete(result, path)
		assert.That(t, got != grows, "grows %v: complete %v", grows, got)
	}
}

func TestSize(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "1000": "1000", "1024": "1K", "1536k": "1536K", "500M": "500M", "20g": "20G", "2048G": "2T", "8388607T": "8388607T",
	} {
		var s Size
		if err := s.Set(text); err != nil || s.String() != want {
			t.Errorf("%s: %s, %v, want %s", text, s.String(), err, want)
		}
	}
	for _, text := range []string{"", "M", "-1", "1X", "1 G", "1GG", "1.5G", "0x10", "8388608T", "9223372036854775808"} {
		var s Size
		assert.That(t, s.Set(text) != nil, "%q is accepted as %d", text, s)
	}
}
