package monitor_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/monitor"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/render/parquet"
)

// logged collects what a Recorder logs.
type logged struct {
	sync.Mutex
	lines []string
}

func (l *logged) log(format string, args ...any) {
	l.Lock()
	defer l.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

// rpcsOf passes the RPCs of a sample to f.
func rpcsOf(t *testing.T, f func(*track.RPC)) {
	t.Helper()
	p := track.NewPairing(track.Options{Done: f})
	d := dissect.New(dissect.Options{Handle: func(m *dissect.Message) { p.Message(m) }})
	wiretest.Play(d, wiretest.ReadSample(t, "../../pcaps/recovery.pcap.zst"))
	p.Close()
}

// list returns the names of the visible files in a folder, and of the temporary ones.
func list(t *testing.T, dir string) (files, temporary []string) {
	t.Helper()
	entries := must.Value(os.ReadDir(dir))(t)
	for _, e := range entries {
		switch {
		case strings.HasSuffix(e.Name(), ".tmp"):
			temporary = append(temporary, e.Name())
		case !strings.HasPrefix(e.Name(), "."):
			files = append(files, e.Name())
		}
	}
	return files, temporary
}

func record(t *testing.T, dir string, change func(*monitor.RecorderOptions)) (*monitor.Recorder, *logged) {
	t.Helper()
	l := &logged{}
	o := monitor.RecorderOptions{Dir: dir, Sensor: "oss-1", Capture: "eth0", Release: "1", Log: l.log}
	if change != nil {
		change(&o)
	}
	r := must.Value(monitor.NewRecorder(o))(t)
	return r, l
}

// TestRotation checks that a file ends at each multiple of the time, that all RPCs are in
// files, and that files say how their RPCs were selected and are for their user only.
func TestRotation(t *testing.T) {
	dir := t.TempDir()
	r, l := record(t, dir, func(o *monitor.RecorderOptions) {
		o.Time = time.Hour
		o.Filter, o.Sample = "rpc.error", 1000
	})
	begun := time.Date(2026, 11, 21, 9, 59, 59, 0, time.UTC)
	n := int64(0)
	rpcsOf(t, func(rpc *track.RPC) {
		now := begun.Add(time.Duration(n) * 20 * time.Second)
		r.Add(rpc, now)
		r.Flush(now.Add(time.Minute))
		n++
	})
	must.NoError(t, r.Close())
	files, temporary := list(t, dir)
	s := r.Stats()
	must.That(t, len(files) >= 2 && len(temporary) <= 0 && len(l.lines) <= 0, "files %q, %q; %q", files, temporary, l.lines)
	if files[0] != "lshark-rpcs-oss-1-20261121T095959Z.parquet" || files[1][:len("lshark-rpcs-oss-1-20261121T1000")] != "lshark-rpcs-oss-1-20261121T1000" {
		t.Errorf("%q", files)
	}
	if s.Written+s.LostInQueue != n || s.Written == 0 || s.Files != int64(len(files)) || s.LostOnDisk != 0 {
		t.Errorf("%d RPCs: %+v", n, s)
	}
	info := must.Value(os.Stat(filepath.Join(dir, files[0])))(t)
	assert.Equal(t, info.Mode().Perm(), 0o600, files[0])
	for _, want := range [][2]string{{"lshark.filter", "rpc.error"}, {"lshark.sample", "1/1000"}} {
		got, err := parquet.ReadMetadata(filepath.Join(dir, files[0]), want[0])
		assert.That(t, err == nil && got == want[1], "%s: %q, %v", want[0], got, err)
	}
}

// TestRotationBySize checks that files end when they are large enough, and that all together
// are not larger than they may be.
func TestRotationBySize(t *testing.T) {
	dir := t.TempDir()
	keep := []string{"mine.parquet", "lshark-rpcs-today.parquet", "lshark-rpcs-oss-1-today.parquet", "lshark-rpcs-oss-1-20261121T095959Z.json",
		"lshark-rpcs-oss-20250101T000000Z.parquet", "lshark-rpcs-oss-1-2-20250101T000000Z.parquet"} // the last two are of other hosts
	others := ".lshark-rpcs-oss-2-20250101T000000Z-1.parquet.tmp"
	for _, name := range append(keep, others, ".lshark-rpcs-oss-1-20250101T000000Z-1.parquet.tmp", "lshark-rpcs-oss-1-20250101T000000Z.parquet", "lshark-rpcs-oss-1-20250101T000000Z-1.parquet") {
		path := filepath.Join(dir, name)
		must.NoError(t, os.WriteFile(path, make([]byte, 5000), 0o600))
		old := time.Now().Add(-48 * time.Hour)
		must.NoError(t, os.Chtimes(path, old, old))
	}
	r, _ := record(t, dir, func(o *monitor.RecorderOptions) { o.KeepTime = 24 * time.Hour })
	rpcsOf(t, func(rpc *track.RPC) { r.Add(rpc, time.Now()) })
	r.Set(monitor.Rotation{KeepSize: 1}) // completes the file, and removes it
	must.NoError(t, r.Close())
	files, temporary := list(t, dir)
	slices.Sort(keep)
	if !slices.Equal(files, keep) || !slices.Equal(temporary, []string{others}) {
		t.Errorf("%q and %q are left, want %q and %q", files, temporary, keep, others)
	}
	s := r.Stats()
	assert.That(t, s.Pruned == 3 && s.DiskBytes == 0 && s.Files == 1, "%+v", s)
}

// TestFullDisk checks that a file is completed before the disk is full, and that RPCs are
// counted that are not written then.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	r, l := record(t, dir, func(o *monitor.RecorderOptions) {
		o.Free = func(string) (int64, error) { return 1 << 20, nil }
	})
	n := int64(0)
	rpcsOf(t, func(rpc *track.RPC) {
		r.Add(rpc, time.Now())
		n++
	})
	must.NoError(t, r.Close())
	files, temporary := list(t, dir)
	s := r.Stats()
	assert.That(t, s.LostOnDisk == n && s.Written == 0 && len(files)+len(temporary) <= 0, "%d RPCs, %+v, %q, %q", n, s, files, temporary)
	assert.That(t, len(l.lines) == 1 && strings.Contains(l.lines[0], "nearly full"), "%q", l.lines)
}

// TestRecordsFolder checks that two Recorders do not share a folder, and what is said about
// one that cannot be used or goes away.
func TestRecordsFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	r, l := record(t, dir, nil)
	if _, err := monitor.NewRecorder(monitor.RecorderOptions{Dir: dir, Log: l.log}); err == nil || !strings.Contains(err.Error(), "another lshark") {
		t.Errorf("%v", err)
	}
	write := func() (n int64) {
		t.Helper()
		rpcsOf(t, func(rpc *track.RPC) {
			r.Add(rpc, time.Now())
			n++
		})
		must.NoError(t, r.Close())
		return n
	}

	// One that was moved away is made again.
	must.NoError(t, os.Rename(dir, dir+".old"))
	n := write()
	files, _ := list(t, dir)
	assert.That(t, r.Stats().Written == n && len(files) == 1, "%d RPCs, %+v, %q, %q", n, r.Stats(), files, l.lines)

	parent := filepath.Join(t.TempDir(), "parent")
	r, l = record(t, filepath.Join(parent, "new"), nil)
	must.NoError(t, os.RemoveAll(parent))
	must.NoError(t, os.WriteFile(parent, nil, 0o600))
	if n := write(); r.Stats().LostOnDisk != n || len(l.lines) == 0 {
		t.Errorf("%d RPCs, %+v, %q", n, r.Stats(), l.lines)
	}
	if _, err := monitor.NewRecorder(monitor.RecorderOptions{Dir: "/proc/x", Log: l.log}); err == nil {
		t.Error("/proc/x was made")
	}
}
