package flags

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/cobra"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/exit"
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
		_, got := j.isComplete(result, path)
		assert.That(t, got != grows, "grows %v: complete %v", grows, got)
	}
}

// TestDamagedCapture checks that the damage of a capture is known from its result, and that an
// interrupted run leaves no result.
func TestDamagedCapture(t *testing.T) {
	sample := must.ReadFile(t, "../../../pcaps/mount.pcap")
	dir := t.TempDir()
	path, result := filepath.Join(dir, "c.pcap"), filepath.Join(dir, "c.parquet")
	must.NoError(t, os.WriteFile(path, sample[:60000], 0o600))
	sys := &scan.System{IO: &iostreams.IO{Out: io.Discard, Err: io.Discard, Env: os.Getenv}}
	in := must.Value((&scan.Flags{Quiet: true}).Check([]string{path}, false))(t)
	j := Job{Sys: sys, In: in, Args: []string{path}, Form: Choice{Value: ParquetForm}, Output: result, cmd: &cobra.Command{}}
	runs := 0
	run := func(j Job) error {
		runs++
		return Open(&j, &records.RPCs, scan.Options{}).Run(nil)
	}
	first := j.once(run)
	must.That(t, first != nil && runs == 1, "%d runs, %v", runs, first)
	other := filepath.Join(t.TempDir(), "c.pcap")
	must.NoError(t, os.Rename(path, other))
	j.Args = []string{other}
	again := j.once(run)
	assert.That(t, errors.As(again, new(*capture.DamageError)) && runs == 1, "%d runs, %v", runs, again)
	assert.Equal(t, again.Error(), strings.Replace(first.Error(), path, other, 1))
	must.NoError(t, os.WriteFile(other, sample, 0o600))
	err := j.once(func(Job) error { return exit.Interrupted{} })
	_, missing := os.Stat(result)
	assert.That(t, errors.As(err, new(exit.Interrupted)) && missing != nil, "%v, %v", err, missing)
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

// TestParallel checks that each number has its call, also where nothing says how many at a time.
func TestParallel(t *testing.T) {
	for _, atOnce := range []int{-1, 0, 1, 8} {
		var sum atomic.Int64
		Parallel(5, atOnce, func(i int) { sum.Add(int64(i)) })
		assert.Equal(t, sum.Load(), 10)
	}
}
