package cli

import (
	"bytes"
	"io"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/internal/must"
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

// succeeds runs a command line and returns its output.
func succeeds(t *testing.T, args ...string) string {
	t.Helper()
	out, errs, status := run(t, args...)
	must.Equal(t, status, exit.OK, args, "status", errs)
	return out
}

// quiet runs a command line that has nothing to say beside its output.
func quiet(t *testing.T, args ...string) string {
	t.Helper()
	out, errs, status := run(t, args...)
	must.That(t, status == exit.OK && errs == "", "%q: status %d: %s", args, status, errs)
	return out
}

func TestRecordsOfSamples(t *testing.T) {
	if testing.Short() {
		t.Skip("compares results")
	}
	t.Parallel()
	for _, sample := range wiretest.Samples(t) {
		name, _, _ := strings.Cut(filepath.Base(sample), ".pcap")
		for _, g := range recordGoldens {
			t.Run(name+g.ext, func(t *testing.T) { golden(t, wiretest.Repo("pcaps/"+name+g.ext), append(g.args, sample)) })
		}
	}
}

// TestRecoveriesOfSamples: only one sample has targets that were gone.
func TestRecoveriesOfSamples(t *testing.T) {
	if testing.Short() {
		t.Skip("compares results")
	}
	golden(t, "../../pcaps/recovery.recovery", []string{"recovery", "--all", "-v", "-q", recoverySample})
	for _, sample := range wiretest.Samples(t) {
		if filepath.Base(sample) == filepath.Base(recoverySample) {
			continue
		}
		out, errs, status := run(t, "recovery", "--all", sample)
		assert.That(t, out == "" && errs == "" && status == exit.OK, "%s: status %d, %s%s", sample, status, out, errs)
	}
}

// TestConfigurationOfSamples: the samples in which a node mounts or starts have
// configuration.
func TestConfigurationOfSamples(t *testing.T) {
	for _, name := range []string{"mount", "ip6_mount", "rdma_mount", "servers", "recovery", "io"} {
		golden(t, "../../pcaps/"+name+".config", []string{"config", wiretest.Sample(name)})
	}
}

// TestMetricsOfSamples: all samples have metrics; one of them stands for all in a golden.
func TestMetricsOfSamples(t *testing.T) {
	wiretest.Golden(t, wiretest.Repo("pcaps/recovery.metrics"), withoutZeros(quiet(t, "monitor", recoverySample)))
	for _, sample := range wiretest.Samples(t) {
		out, errs, status := run(t, "monitor", sample)
		if !strings.HasSuffix(out, "\n# EOF\n") || errs != "" || status != exit.OK {
			t.Errorf("%s: status %d, %d bytes, %s", sample, status, len(out), errs)
		}
	}
}

// withoutZeros leaves out rules that found nothing, and buckets in which nothing is that the one before lacks: with
// them, a new rule or another bound would change hundreds of lines.
func withoutZeros(metrics string) string {
	var kept strings.Builder
	before := ""
	for line := range strings.Lines(metrics) {
		isBucket, value := strings.Contains(line, "_bucket{"), line[strings.LastIndexByte(line, ' ')+1:]
		if !isBucket {
			before = "0\n"
		}
		noNews := isBucket && value == before || strings.HasPrefix(line, "lshark_findings_total{") && value == "0\n"
		if !noNews {
			kept.WriteString(line)
		}
		if isBucket {
			before = value
		}
	}
	return kept.String()
}

// golden compares what a command prints with a file.
func golden(t *testing.T, file string, args []string) {
	t.Helper()
	out := quiet(t, args...)
	wiretest.Golden(t, file, out)
}

// TestTuneCollection checks that the first garbage collection waits, and that those of a large
// heap are as usual until memory is to be saved.
func TestTuneCollection(t *testing.T) {
	percent := func() uint64 {
		s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	const usual = 150
	defer debug.SetGCPercent(debug.SetGCPercent(usual))
	t.Setenv("GOGC", "off")
	tuneCollection()
	assert.Equal(t, percent(), usual, "with GOGC in the environment")
	t.Setenv("GOGC", "")
	heap := make([]byte, 16<<20)
	saveMemory := tuneCollection()
	got := percent()
	assert.That(t, got > usual, "before the first collection: %d", got)
	collect := func(want func() bool) {
		const tries = 10000 // the cleanup runs in a goroutine of its own
		for range tries {
			if runtime.GC(); want() {
				return
			}
		}
		t.Errorf("after a collection: %d", percent())
	}
	collect(func() bool { return percent() == usual })
	saveMemory()
	collect(func() bool { return percent() < usual })
	runtime.KeepAlive(heap)
}

// TestCores: what a command prints does not depend on the number of cores. With -short, for the
// race detector, there is nothing to compare.
func TestCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, files := range [][]string{
		{recoverySample},
		{"../../pcaps/rdma_data.pcap.zst"},
		{"../../pcaps/mount.pcap", "../../pcaps/locks.pcap.zst"},
		{cutCapture(t, "../../pcaps/mount.pcap", 200)},
	} {
		for _, command := range [][]string{
			{}, {"-T", "json", "-v"}, {"rpcs", "-v"}, {"rpcs", "-c", "20", "-v"}, {"rpcs", "--slowest", "5"}, {"stats", "-v"}, {"stats", "--by", "target,job", "-T", "json"},
			{"imports", "--timeline"}, {"locks"}, {"files", "-T", "json"}, {"recovery", "-v"}, {"config"}, {"diagnose", "-v"},
		} {
			args := append(command, files...)
			runtime.GOMAXPROCS(4)
			got, errs, status := run(t, args...)
			if testing.Short() {
				continue
			}
			runtime.GOMAXPROCS(1)
			if want, wantErrs, wantStatus := run(t, args...); got != want || errs != wantErrs || status != wantStatus {
				t.Errorf("%q: on four cores %d bytes, %q, status %d; on one %d bytes, %q, %d", args, len(got), errs, status, len(want), wantErrs, wantStatus)
			}
		}
	}
}
