package flags

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"

	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/render/records"
)

// TestGrowingCapture checks that a result is not taken for complete when the capture has
// grown while it was read.
func TestGrowingCapture(t *testing.T) {
	sample, err := os.ReadFile("../../../pcaps/mount.pcap")
	if err != nil {
		t.Fatal(err)
	}
	const part = 24 // the header of the file
	for _, grows := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "c.pcap")
		result := filepath.Join(t.TempDir(), "c.parquet")
		if err := os.WriteFile(path, sample[:part], 0o600); err != nil {
			t.Fatal(err)
		}
		sys := &scan.System{IO: &iostreams.IO{Out: io.Discard, Err: io.Discard, Env: os.Getenv}}
		in, err := (&scan.Flags{Quiet: true}).Check([]string{path}, false)
		if err != nil {
			t.Fatal(err)
		}
		o := Output{path: result, cmd: &cobra.Command{}}
		w, err := o.NewWriter(sys, in, ParquetForm)
		if err != nil {
			t.Fatal(err)
		}
		pass := scan.New(sys, in, scan.Options{})
		ParquetFunc(&o, w, &records.RPCs, in, pass)
		if err := w.Write(nil); err != nil {
			t.Fatal(err)
		}
		if err := pass.Run(); err != nil {
			t.Fatal(err)
		}
		if grows {
			if err := os.WriteFile(path, sample, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got := o.isComplete(result, path); got == grows {
			t.Errorf("grows %v: complete %v", grows, got)
		}
	}
}
