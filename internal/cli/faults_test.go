package cli

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/must"
)

const sampleFile = "../../pcaps/mount.pcap"

// process starts lshark and returns it with its standard error.
func process(t *testing.T, in io.Reader, out io.Writer, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	errs := &bytes.Buffer{}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "lshark", args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errs
	must.NoError(t, cmd.Start())
	return cmd, errs
}

// ended waits for a process and compares its exit status.
func ended(t *testing.T, cmd *exec.Cmd, errs *bytes.Buffer, status int) {
	t.Helper()
	err := cmd.Wait()
	assert.Equal(t, cmd.ProcessState.ExitCode(), status, cmd.Args, "exit status", err, errs)
}

// TestFullDisk checks that output to a full disk is a failure, reported once.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	for _, args := range []string{sampleFile, "-T json " + sampleFile, "-V " + sampleFile, "rpcs " + sampleFile,
		"stats " + sampleFile, "imports " + sampleFile, "explain lu_fid", "decode errno 2", "fields", "--help"} {
		cmd, errs := process(t, nil, full, strings.Fields(args)...)
		ended(t, cmd, errs, exit.Failure)
		assert.That(t, strings.Contains(errs.String(), "no space left") && strings.Count(errs.String(), "\n") == 1, "%s: %q", args, errs)
	}
	cmd, errs := process(t, nil, nil, "-w", "/dev/full", sampleFile)
	ended(t, cmd, errs, exit.Failure)
	assert.Contains(t, errs.String(), "-w: write /dev/full: no space left", "-w", errs)
}

// full is a full disk. It closes wrote at the first write.
type full struct {
	once  sync.Once
	wrote chan struct{}
}

func (f *full) Write([]byte) (int, error) {
	f.once.Do(func() { close(f.wrote) })
	return 0, syscall.ENOSPC
}

// TestFullDiskInPause checks that an error is reported when the output is
// flushed during a pause of the input and nothing is written after that.
func TestFullDiskInPause(t *testing.T) {
	data := must.ReadFile(t, sampleFile)
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip(err)
	}
	out := &full{wrote: make(chan struct{})}
	go func() {
		w, err := os.OpenFile(fifo, os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer w.Close()
		w.Write(data) // fails when the reader gives up first
		select {
		case <-out.wrote:
		case <-time.After(time.Minute):
		}
	}()
	var errs bytes.Buffer
	status := Run(testSystem(out, &errs), []string{"-Y", "frame in {100..120}", fifo})
	assert.That(t, status == exit.Failure && strings.Count(errs.String(), "no space left") == 1, "exit status %d: %q", status, &errs)
}

// TestReaderGone checks that it is no error to write to a pipe whose reader has
// gone.
func TestReaderGone(t *testing.T) {
	for _, args := range []string{sampleFile, "-T json " + sampleFile, "-V " + sampleFile, "rpcs " + sampleFile,
		"stats " + sampleFile, "fields", "--help"} {
		r, w, err := os.Pipe()
		must.NoError(t, err)
		r.Close()
		cmd, errs := process(t, nil, w, strings.Fields(args)...)
		w.Close()
		ended(t, cmd, errs, exit.OK)
		assert.That(t, errs.Len() <= 0, "%s: %q", args, errs)
	}
}

// TestSaveToFIFO checks that -w to a FIFO waits for its reader, writes
// everything, and fails when the reader goes away early.
func TestSaveToFIFO(t *testing.T) {
	dir := t.TempDir()
	fifo, file := filepath.Join(dir, "fifo"), filepath.Join(dir, "file")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip(err)
	}
	cmd, errs := process(t, nil, nil, "-w", file, sampleFile)
	ended(t, cmd, errs, exit.OK)
	want := must.ReadFile(t, file)
	must.That(t, len(want) >= 128<<10, "%d bytes fit into the pipe", len(want))
	cmd, errs = process(t, nil, nil, "-w", fifo, sampleFile)
	got, err := os.ReadFile(fifo)
	ended(t, cmd, errs, exit.OK)
	assert.That(t, err == nil && bytes.Equal(got, want), "%d bytes of %d: %v", len(got), len(want), err)
	for _, args := range [][]string{{"-w", fifo, sampleFile}, {"rpcs", "-w", fifo, sampleFile}} {
		cmd, errs = process(t, nil, nil, args...)
		r := must.Value(os.Open(fifo))(t)
		r.Close()
		ended(t, cmd, errs, exit.Failure)
		if !strings.Contains(errs.String(), "-w: write "+fifo+": broken pipe") || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%v: %q", args, errs)
		}
	}
}

// TestNobodyReadsFIFO checks that a signal ends the process while it waits for
// the reader of the FIFO of -w, also when the input is a pipe.
func TestNobodyReadsFIFO(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	for _, fifo := range []string{in, out} {
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Skip(err)
		}
	}
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		if signal.Ignored(sig) {
			continue // and so it is for our children
		}
		cmd, errs := process(t, nil, nil, "-w", out, in)
		w := must.Value(os.OpenFile(in, os.O_WRONLY, 0))(t)
		must.NoError(t, cmd.Process.Signal(sig))
		cmd.Wait()
		status := cmd.ProcessState.Sys().(syscall.WaitStatus)
		assert.That(t, status.Signaled() && status.Signal() == sig, "%v: %v: %s", sig, cmd.ProcessState, errs)
		w.Close()
	}
}

// TestSignals checks that a signal ends the reading of a pipe whose writer is
// silent, after everything it wrote was shown.
func TestSignals(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("a read from standard input cannot be ended here")
	}
	data := must.ReadFile(t, sampleFile)
	want, _, _ := run(t, sampleFile)
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		in, feed, err := os.Pipe()
		must.NoError(t, err)
		out, to, err := os.Pipe()
		must.NoError(t, err)
		cmd, errs := process(t, in, to, "-")
		in.Close()
		to.Close()
		go func() {
			feed.Write(data) // fails when the signal comes first
		}()
		got := bufio.NewReader(out)
		var text strings.Builder
		// Messages that wait for late frames are shown after a while.
		for text.Len() < len(want) {
			line, err := got.ReadString('\n')
			if err != nil {
				t.Fatal(err, errs)
			}
			text.WriteString(line)
		}
		must.NoError(t, cmd.Process.Signal(sig))
		rest := must.Value(io.ReadAll(got))(t)
		ended(t, cmd, errs, exit.OK)
		if text.String() != want || len(rest) > 0 || errs.Len() > 0 {
			t.Errorf("%v: %d bytes, then %q: %s", sig, text.Len(), rest, errs)
		}
		feed.Close()
		out.Close()
	}
}

// TestWriterKilled checks that a FIFO whose writer ends inside a record counts
// as damaged, after everything before was shown.
func TestWriterKilled(t *testing.T) {
	data := must.ReadFile(t, sampleFile)
	fifo := filepath.Join(t.TempDir(), "fifo")
	must.NoError(t, syscall.Mkfifo(fifo, 0o600))
	var out bytes.Buffer
	cmd, errs := process(t, nil, &out, fifo)
	w := must.Value(os.OpenFile(fifo, os.O_WRONLY, 0))(t)
	if _, err := w.Write(data[:100_000]); err != nil {
		t.Fatal(err)
	}
	w.Close()
	ended(t, cmd, errs, exit.Damage)
	if !strings.Contains(errs.String(), "cut short") || strings.Count(out.String(), "\n") < 50 {
		t.Errorf("%q behind %d lines", errs, strings.Count(out.String(), "\n"))
	}
}

// mistakes returns command lines that fail with an error that contains name.
func mistakes(t *testing.T, name string) [][]string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Skip(err)
	}
	damaged, empty := filepath.Join(dir, "damaged"), filepath.Join(dir, "empty")
	data := must.ReadFile(t, sampleFile)
	must.NoError(t, os.WriteFile(damaged, data[:5000], 0o600))
	must.NoError(t, os.WriteFile(empty, nil, 0o600))
	return [][]string{{damaged}, {empty}, {damaged, empty}, {dir}, {filepath.Join(dir, "none")}, {"-v", damaged, sampleFile},
		{"--" + name}, {name}, {"-T", name}, {"-Y", name, sampleFile}, {"-Y", "name == " + name, sampleFile}, {"-f", name, sampleFile},
		{"-i", name}, {"-w", filepath.Join(dir, "none", "out"), sampleFile}, {"-w", damaged, damaged}, {"-t", name}, {"-T", "fields", "-e", name},
		{"-Y", "name == '" + name + "' and", sampleFile}, {"-f", "port " + name, sampleFile}, {"-r", name, "-t", name, "-a", name},
		{"-a", name}, {"--offset", name, sampleFile}, {"--color", name}, {"-c", name}, {"stats", "--by", name}, {"stats", "--sort", name},
		{"rpcs", "-T", "fields", "-e", name}, {"explain", name}, {"decode", name, "1"}, {"decode", "errno", name}, {"imports", "-T", name},
		{"rpcs", "-Y", name, sampleFile}, {"decode", "lu_fid", name}, {"fields", name}, {"completion", name}, {"help", name}}
}

// TestNamesOnTheTerminal checks that errors escape names that could control a
// terminal.
func TestNamesOnTheTerminal(t *testing.T) {
	for _, args := range mistakes(t, "\x1b[31mred\x07\u202e\x9b") {
		_, errs, status := run(t, args...)
		for _, line := range strings.Split(errs, "\n") {
			assert.Equal(t, line, iostreams.Printable(line), args)
		}
		assert.That(t, status != exit.OK || args[0] == "help", "%q: exit status 0", args)
	}
}

// TestNamesForgeNoLine checks that a line break in a name does not start a line
// that looks like a message of lshark.
func TestNamesForgeNoLine(t *testing.T) {
	for _, args := range mistakes(t, "nope\nlshark: fine") {
		_, errs, _ := run(t, args...)
		for _, line := range strings.Split(strings.TrimSuffix(errs, "\n"), "\n") {
			if !strings.HasPrefix(line, "lshark: ") && args[0] != "help" || strings.HasPrefix(line, "lshark: lshark: ") ||
				strings.HasPrefix(line, "lshark: fine") {
				t.Errorf("%q: %q", args, errs)
			}
		}
	}
}

// TestLines checks that an error of several lines keeps them, and that each of
// several errors has a line.
func TestLines(t *testing.T) {
	_, errs, _ := run(t, "-Y", "frame ==\n\tx", "--offset", "a\nq", sampleFile)
	const want = "lshark: --offset a\\nq: must be FILE=SECS\nlshark: filter: invalid value x for frame\nlshark:   frame ==  x\nlshark:             ^\n"
	assert.Equal(t, errs, want)
}

// TestFullDiskOnTheWay checks that -w to a full disk ends the reading early and
// is reported once.
func TestFullDiskOnTheWay(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip(err)
	}
	data := must.ReadFile(t, sampleFile)
	tiny := append(data[24:32:32], 1, 0, 0, 0, 1, 0, 0, 0, 0) // a frame of one byte at the time of the first
	file := filepath.Join(t.TempDir(), "long.pcap")
	must.NoError(t, os.WriteFile(file, append(data, bytes.Repeat(tiny, 1<<18)...), 0o600))
	for _, args := range [][]string{{"-v"}, {"-T", "json"}, {"imports"}} {
		_, errs, status := run(t, append(args, "-w", "/dev/full", file)...)
		assert.That(t, status == exit.Failure && strings.Count(errs, "no space left") == 1, "%v: status %d, %q", args, status, errs)
	}
}
