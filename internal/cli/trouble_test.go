package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/must"
)

// errorsOf returns the codes and targets of findings of severity error, in lines of JSON.
func errorsOf(t *testing.T, lines string) (list []string) {
	t.Helper()
	for line := range strings.Lines(lines) {
		var f struct {
			Code, Severity, Target string
			Evidence               []struct{ Frame int }
		}
		must.NoError(t, json.Unmarshal([]byte(line), &f))
		if f.Severity == "error" {
			list = append(list, f.Code+" "+f.Target)
			assert.That(t, len(f.Evidence) > 0 && f.Evidence[0].Frame > 0, "%s", line)
		}
	}
	slices.Sort(list)
	return list
}

// TestTrouble: diagnose says of the capture in a folder what the finding in the folder says,
// whether monitor or diagnose has written it, and the targets of connections are known that were
// made before.
func TestTrouble(t *testing.T) {
	t.Parallel()
	const sample = ruleSamples + "evicted.pcap.zst"
	for _, args := range [][]string{{"monitor"}, {"diagnose"}} {
		dir := t.TempDir()
		_, errs, status := run(t, append(args, "--trouble", dir, "--before", "1s", "--after", "1s", sample)...)
		must.Equal(t, status, exit.OK, errs)
		folders := must.Value(filepath.Glob(filepath.Join(dir, "lshark-trouble-*-evicted.lock_callback")))(t)
		must.Equal(t, len(folders), 2, errs)
		for _, folder := range folders {
			assert.Contains(t, errs, folder)
			want := errorsOf(t, string(must.ReadFile(t, filepath.Join(folder, "finding.json"))))
			got := errorsOf(t, quiet(t, "diagnose", "-q", "-T", "json", filepath.Join(folder, "capture.pcapng")))
			lost := slices.ContainsFunc(want, func(line string) bool { return !slices.Contains(got, line) })
			assert.That(t, slices.Contains(want, "evicted.lock_callback lustre-OST0000") && !lost, "%s: %q, diagnose says %q", args, want, got)
			page := must.ReadFile(t, filepath.Join(folder, "report.html"))
			assert.Contains(t, string(page), "evicted")
			entries := must.Value(os.ReadDir(folder))(t)
			assert.Equal(t, len(entries), 5, folder)
		}
	}
}

// TestTroubleFlags checks what flags of the flight recorder are refused.
func TestTroubleFlags(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"--trouble-filter rpc.error", "--trouble-filter needs --trouble"},
		{"--trouble x --records x", "must be different directories"},
		{"--trouble x --before -1s", "must not be negative"},
		{"--trouble x --trouble-size 1M", "must be at least 4M"},
		{"--trouble x --trouble-severity bad", "--trouble-severity"},
		{"--trouble x --trouble-filter rpc.nothing", "rpc.nothing"},
	} {
		_, errs, status := run(t, append([]string{"monitor", sampleFile}, strings.Fields(c[0])...)...)
		assert.That(t, status == exit.Usage && strings.Contains(errs, c[1]), "%s: %d, %s", c[0], status, errs)
	}
}
