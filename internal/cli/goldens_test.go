package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/internal/wiretest"
)

// recordGoldens lists the outputs of records that are stored beside each sample.
var recordGoldens = []struct {
	ext  string
	args []string
}{
	{".rpcs", []string{"rpcs"}},
	{".stats", []string{"stats", "--by", "op,variant"}},
	{".imports", []string{"imports", "--timeline"}},
	{".locks", []string{"locks"}},
	{".files", []string{"files"}},
}

// testSystem returns a System without terminal and environment.
func testSystem(out, errs io.Writer) *scan.System {
	return &scan.System{IO: &iostreams.IO{Out: out, Err: errs, Env: func(string) string { return "" }}}
}

// onTerminal returns a System whose output is a terminal.
func onTerminal(out io.Writer, columns int) *scan.System {
	sys := testSystem(out, io.Discard)
	sys.OutTTY, sys.Columns = true, columns
	return sys
}

// run runs a command line as if its output were a file.
func run(t *testing.T, args ...string) (out, errs string, status int) {
	t.Helper()
	var o, e bytes.Buffer
	sys := testSystem(&o, &e)
	status = Run(sys, args)
	return o.String(), e.String(), status
}

func TestRecordsOfSamples(t *testing.T) {
	plain, err := filepath.Glob("../../pcaps/*.pcap")
	if err != nil {
		t.Fatal(err)
	}
	packed, err := filepath.Glob("../../pcaps/*.pcap.zst")
	if err != nil {
		t.Fatal(err)
	}
	samples := append(plain, packed...)
	if len(samples) == 0 {
		t.Fatal("no samples")
	}
	for _, sample := range samples {
		name, _, _ := strings.Cut(sample[len("../../pcaps/"):], ".pcap")
		for _, g := range recordGoldens {
			t.Run(name+g.ext, func(t *testing.T) { golden(t, "../../pcaps/"+name+g.ext, append(g.args, sample)) })
		}
	}
}

// TestRecoveriesOfSamples: only one sample has targets that were gone.
func TestRecoveriesOfSamples(t *testing.T) {
	golden(t, "../../pcaps/recovery.recovery", []string{"recovery", "--all", "-v", "-q", recoverySample})
	for _, sample := range wiretest.Samples(t) {
		if filepath.Base(sample) == filepath.Base(recoverySample) {
			continue
		}
		if out, errs, status := run(t, "recovery", "--all", sample); out != "" || errs != "" || status != exit.OK {
			t.Errorf("%s: status %d, %s%s", sample, status, out, errs)
		}
	}
}

// TestConfigurationOfSamples: the samples in which a node mounts or starts have
// configuration.
func TestConfigurationOfSamples(t *testing.T) {
	for _, name := range []string{"mount", "ip6_mount", "rdma_mount", "servers", "recovery", "io"} {
		golden(t, "../../pcaps/"+name+".config", []string{"config", samplePath(t, name)})
	}
}

// TestMetricsOfSamples: all samples have metrics; two of them stand for all in goldens.
func TestMetricsOfSamples(t *testing.T) {
	for _, name := range []string{"mount", "recovery"} {
		golden(t, "../../pcaps/"+name+".metrics", []string{"monitor", samplePath(t, name)})
	}
	for _, sample := range wiretest.Samples(t) {
		out, errs, status := run(t, "monitor", sample)
		if !strings.HasSuffix(out, "\n# EOF\n") || errs != "" || status != exit.OK {
			t.Errorf("%s: status %d, %d bytes, %s", sample, status, len(out), errs)
		}
	}
}

// samplePath returns the path of a sample by its name.
func samplePath(t *testing.T, name string) string {
	t.Helper()
	for _, path := range wiretest.Samples(t) {
		if file, _, _ := strings.Cut(filepath.Base(path), ".pcap"); file == name {
			return path
		}
	}
	t.Fatalf("no sample %s", name)
	return ""
}

func golden(t *testing.T, file string, args []string) {
	out, errs, status := run(t, args...)
	if status != exit.OK || errs != "" {
		t.Fatalf("status %d: %s", status, errs)
	}
	if wiretest.Update() {
		if err := os.WriteFile(file, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if out == string(want) {
		return
	}
	a, b := strings.Split(out, "\n"), strings.Split(string(want), "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("line %d is\n%s\nwant\n%s", i+1, a[i], b[i])
		}
	}
	t.Errorf("%d lines, want %d", len(a), len(b))
}
