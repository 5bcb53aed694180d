package trouble

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

const (
	second = int64(time.Second)
	start  = 1_800_000_000 * second
)

// at returns the frame of a second, whose number is that of the second.
func at(n int, size int) *capture.Frame {
	return &capture.Frame{Number: int64(n), Time: start + int64(n)*second, Len: size, Data: bytes.Repeat([]byte{byte(n)}, size), Link: capture.LinkEthernet}
}

var rule = &diagnose.Rule{Code: "target.hung", Severity: diagnose.Error}

// found returns a finding about a client, proven by the frames of seconds.
func found(client byte, seconds ...int) *diagnose.Finding {
	f := &diagnose.Finding{Rule: rule, Severity: diagnose.Error, Text: "It hangs.", Count: 1}
	f.Client = lnet.NID{Len: 4}
	f.Client.Addr[3] = client
	for _, n := range seconds {
		f.Prove(track.Point{Frame: int64(n), Time: start + int64(n)*second}, "frame of second %d", n)
	}
	f.First, f.Last = f.Evidence[0].Time, f.Evidence[len(seconds)-1].Time
	return f
}

// recording is a Recorder with what it is told about findings.
type recording struct {
	*Recorder
	t        *testing.T
	dir      string
	findings []*diagnose.Finding
}

func record(t *testing.T, change func(*RecorderOptions)) *recording {
	t.Helper()
	x := &recording{t: t, dir: t.TempDir()}
	o := RecorderOptions{MemoryTime: time.Minute, MemorySize: 16 << 20, Snaplen: 1024,
		Findings: func() []*diagnose.Finding { return x.findings }, Names: func() []byte { return []byte("# names\n") }}
	o.Options = Options{Dir: x.dir, Host: "oss-1", Capture: "eth0", Before: 5 * time.Second, After: 5 * time.Second,
		Log: func(string, ...any) {}}
	if change != nil {
		change(&o)
	}
	x.Recorder = must.Value(NewRecorder(o))(t)
	return x
}

func (x *recording) frames(from, to, size int) {
	for n := from; n <= to; n++ {
		x.Frame(at(n, size))
	}
}

func (x *recording) finding(f *diagnose.Finding) {
	x.findings = append(x.findings, f)
	x.Finding(f)
}

// folders returns the names of the folders, and of what is hidden, after the end.
func (x *recording) folders() (names, hidden []string) {
	x.t.Helper()
	must.NoError(x.t, x.Close())
	return list(x.t, x.dir)
}

func list(t *testing.T, dir string) (names, hidden []string) {
	t.Helper()
	for _, e := range must.Value(os.ReadDir(dir))(t) {
		switch {
		case strings.HasPrefix(e.Name(), ".lshark-trouble-"):
			hidden = append(hidden, e.Name())
		case e.IsDir():
			names = append(names, e.Name())
		}
	}
	return names, hidden
}

// seconds returns the first byte of each frame of a capture, which is its second.
func seconds(t *testing.T, path string) (list []int) {
	t.Helper()
	r := must.Value(capture.Open([]string{path}, capture.Options{}))(t)
	defer r.Close()
	var f capture.Frame
	for {
		err := r.Next(&f)
		if err == io.EOF {
			return list
		}
		must.NoError(t, err)
		list = append(list, int(f.Data[0]))
	}
}

func span(from, to int) (list []int) {
	for n := from; n <= to; n++ {
		list = append(list, n)
	}
	return list
}

// TestFolder checks what a folder has: the frames around the evidence, the finding with the
// numbers of these frames, and a page.
func TestFolder(t *testing.T) {
	x := record(t, func(o *RecorderOptions) {
		o.Report = func(captures []string, page string) error {
			assert.That(t, len(captures) == 1 && filepath.Base(captures[0]) == "capture.pcapng", "%q", captures)
			return os.WriteFile(page, []byte("page"), 0o600)
		}
	})
	x.frames(1, 40, 2000)
	x.finding(found(3, 20, 39))
	x.frames(41, 60, 100)
	names, hidden := x.folders()
	must.That(t, len(names) == 1 && names[0] == "lshark-trouble-oss-1-20270115T080020Z-target.hung" && len(hidden) == 0, "%q, %q", names, hidden)
	dir := filepath.Join(x.dir, names[0])
	assert.That(t, slices.Equal(seconds(t, filepath.Join(dir, "capture.pcapng")), span(15, 46)), "%v", seconds(t, filepath.Join(dir, "capture.pcapng")))
	var finding struct {
		Code     string
		Evidence []struct{ Frame int }
	}
	must.NoError(t, json.Unmarshal(must.ReadFile(t, filepath.Join(dir, "finding.json")), &finding))
	assert.That(t, finding.Code == "target.hung" && len(finding.Evidence) == 2 && finding.Evidence[0].Frame == 6 && finding.Evidence[1].Frame == 25, "%+v", finding)
	assert.Contains(t, string(must.ReadFile(t, filepath.Join(dir, "finding.txt"))), "frame of second 39")
	assert.Contains(t, string(must.ReadFile(t, filepath.Join(dir, "capture.pcapng"))), "target.hung: frame of second 20")
	assert.Equal(t, string(must.ReadFile(t, filepath.Join(dir, "names.txt"))), "# names\n")
	assert.Equal(t, string(must.ReadFile(t, filepath.Join(dir, "report.html"))), "page")
	s := x.Stats()
	assert.That(t, s.Folders["target.hung"] == 1 && s.Bytes == s.DiskBytes && s.Bytes > 0 && s.Newest[0].Name == names[0], "%+v", s)
}

// TestInterfaces: each interface has a file of its own, in which evidence has its numbers.
func TestInterfaces(t *testing.T) {
	x := record(t, nil)
	for n := 1; n <= 40; n++ {
		f := at(n, 100)
		f.Source, f.File, f.FileNumber = n%2, []string{"eth0", "eth1"}[n%2], int64(n)
		f.Interface = "captured " + f.File
		x.Frame(f)
	}
	f := found(3, 20, 39)
	f.Evidence[0].File, f.Evidence[1].File = "eth0", "eth1"
	x.finding(f)
	names, _ := x.folders()
	must.Equal(t, len(names), 1, "folders")
	text := string(must.ReadFile(t, filepath.Join(x.dir, names[0], "finding.json")))
	assert.Contains(t, text, `"file":"capture-2.pcapng","frame":3`)
	assert.Contains(t, text, `"file":"capture.pcapng","frame":13`)
	second := string(must.ReadFile(t, filepath.Join(x.dir, names[0], "capture-2.pcapng")))
	assert.Contains(t, second, "target.hung: frame of second 20")
	assert.Contains(t, second, "captured eth0")
}

// TestStories: findings of one story have one folder, also when that turns out later; others
// have one each.
func TestStories(t *testing.T) {
	x := record(t, nil)
	x.frames(1, 20, 100)
	a, b, c := found(3, 15), found(4, 16), found(5, 17)
	x.finding(a)
	x.frames(21, 22, 100)
	x.finding(b) // opens one of its own
	x.finding(c)
	x.frames(23, 23, 100)
	b.Cause = a
	x.frames(24, 60, 100)
	names, _ := x.folders()
	must.Equal(t, len(names), 2, "folders")
	text := string(must.ReadFile(t, filepath.Join(x.dir, names[0], "finding.txt")))
	assert.That(t, strings.Contains(text, "frame of second 15") && strings.Contains(text, "frame of second 16") && !strings.Contains(text, "second 17"), "%s", text)
}

// TestRestart: what is found again when the rules have restarted has no second folder, unless it
// happens later.
func TestRestart(t *testing.T) {
	x := record(t, nil)
	x.frames(1, 20, 100)
	x.finding(found(3, 15))
	x.Restart(func() { x.findings = nil })
	x.finding(found(3, 16)) // while the folder is open
	x.frames(21, 40, 100)
	x.finding(found(3, 17)) // the folder has it
	x.frames(41, 50, 100)
	x.finding(found(3, 48))
	x.frames(51, 51, 100)
	names, _ := x.folders()
	assert.That(t, len(names) == 2 && x.Stats().Skipped[SkippedRepeated] == 1, "%q, %+v", names, x.Stats())
}

// TestLate: a finding whose frames are not in memory any more has no folder; one that began
// earlier has the frames that are there.
func TestLate(t *testing.T) {
	x := record(t, func(o *RecorderOptions) { o.MemorySize = minMemory; o.Snaplen = 0 })
	x.frames(1, 100, 100_000) // twenty of them fit
	x.finding(found(3, 15))
	x.finding(found(4, 15, 99))
	x.frames(101, 101, 100_000)
	names, _ := x.folders()
	must.That(t, len(names) == 1 && x.Stats().Skipped[SkippedLate] == 1, "%q, %+v", names, x.Stats())
	got := seconds(t, filepath.Join(x.dir, names[0], "capture.pcapng"))
	must.That(t, len(got) > 10 && len(got) <= 20, "%v", got)
	assert.Contains(t, string(must.ReadFile(t, filepath.Join(x.dir, names[0], "finding.txt"))), "frames of the evidence that were not in memory any more: 1")
}

// TestBounds: frames of an open incident are written when they leave the memory. While the disk
// is slow, the memory keeps its bound, and frames are left out.
func TestBounds(t *testing.T) {
	x := record(t, func(o *RecorderOptions) { o.MemorySize = 4 << 20; o.Snaplen = 0; o.After = time.Minute })
	x.frames(1, 20, 100)
	x.finding(found(3, 15))
	x.frames(21, 22, 100)
	for n := 23; n <= 81; n++ {
		x.Frame(at(n, 200_000))
		done := make(chan struct{})
		x.writer.enqueue(func() { close(done) }) // the disk is fast
		<-done
	}
	x.frames(82, 90, 200_000)
	assert.That(t, x.Stats().MemoryBytes <= 4<<20, "%+v", x.Stats())

	slow := make(chan struct{})
	x.finding(found(4, 85))
	x.frames(91, 91, 100)
	x.writer.enqueue(func() { <-slow })
	x.frames(92, 140, 200_000)
	assert.That(t, x.Stats().MemoryBytes <= 4<<20 && x.memory.dropped > 0, "%+v, %d frames are left out", x.Stats(), x.memory.dropped)
	close(slow)
	names, _ := x.folders()
	must.Equal(t, len(names), 2, "folders")
	got := seconds(t, filepath.Join(x.dir, names[0], "capture.pcapng"))
	assert.That(t, slices.Equal(got, span(10, 81)), "%v", got)
	assert.Contains(t, string(must.ReadFile(t, filepath.Join(x.dir, names[1], "finding.txt"))), "frames that are missing")
}

// TestFullDisk: nothing that looks complete is left where the disk is full, or writing fails.
func TestFullDisk(t *testing.T) {
	full := false
	x := record(t, func(o *RecorderOptions) {
		o.Free = func(string) (int64, error) {
			if full {
				return 1 << 20, nil
			}
			return 1 << 40, nil
		}
	})
	x.frames(1, 20, 100)
	full = true
	x.finding(found(3, 15))
	x.frames(21, 40, 100)
	names, hidden := x.folders()
	assert.That(t, len(names)+len(hidden) == 0 && x.Stats().Skipped[SkippedDisk] == 1, "%q, %q, %+v", names, hidden, x.Stats())

	x = record(t, nil)
	x.frames(1, 20, 100)
	x.finding(found(3, 15))
	x.frames(21, 21, 100)
	x.end(x.open[0])
	done := make(chan struct{})
	x.writer.enqueue(func() { close(done) })
	<-done
	j := newFolder(&x.opt.Options, &x.writer.dir, nil)
	x.writer.write(j, x.memory.piece(x.memory.list[0]), func(*capture.Frame) bool { return true }, nil)
	must.NoError(t, j.captures[0].file.Close()) // as if writing failed
	x.writer.finish(j, &content{code: "x"})
	names, hidden = x.folders()
	assert.That(t, len(names) == 1 && len(hidden) == 0 && x.Stats().Skipped[SkippedDisk] == 1, "%q, %q, %+v", names, hidden, x.Stats())
}

// TestFolderIsCompleted: a folder that was begun is completed although the disk has little room now, also
// with frames that are larger than a chunk.
func TestFolderIsCompleted(t *testing.T) {
	looks := 0
	x := record(t, func(o *RecorderOptions) {
		o.Snaplen, o.MemorySize = 0, 1<<62
		o.Free = func(string) (int64, error) {
			looks++
			return 1 << (40 / looks), nil
		}
	})
	x.frames(1, 20, 100)
	x.finding(found(3, 15))
	x.frames(21, 22, 2*chunkSize)
	names, hidden := x.folders()
	must.That(t, len(names) == 1 && len(hidden) == 0 && looks == 1, "%q, %q after %d looks at the disk", names, hidden, looks)
	got := seconds(t, filepath.Join(x.dir, names[0], "capture.pcapng"))
	assert.That(t, slices.Equal(got, span(10, 22)), "%v", got)
}

// TestPruning: what a killed process left is removed, and the oldest folders of this host, but
// nothing else.
func TestPruning(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"lshark-trouble-oss-1-20270115T080020Z-x.y", ".lshark-trouble-oss-1-20270115T080020Z-123.tmp",
		".lshark-trouble-oss-2-20270115T080020Z-123.tmp", "lshark-trouble-oss-2-20270115T080020Z-x.y", "mine"} {
		must.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o750))
		must.NoError(t, os.WriteFile(filepath.Join(dir, name, "capture.pcapng"), make([]byte, 1000), 0o600))
	}
	x := record(t, func(o *RecorderOptions) { o.Dir = dir })
	x.dir = dir
	names, hidden := list(t, dir)
	assert.That(t, len(names) == 3 && len(hidden) == 1 && x.Stats().DiskBytes == 1000, "%q, %q, %+v", names, hidden, x.Stats())
	x.Set(Retention{KeepSize: 999})
	names, hidden = x.folders()
	assert.That(t, slices.Equal(names, []string{"lshark-trouble-oss-2-20270115T080020Z-x.y", "mine"}) && len(hidden) == 1 && x.Stats().Pruned == 1, "%q, %q, %+v", names, hidden, x.Stats())
	if _, err := os.Stat(filepath.Join(dir, ".lshark-trouble-oss-2-20270115T080020Z-123.tmp")); err != nil {
		t.Error(err)
	}
}

// TestRPCs: RPCs that match open one folder together.
func TestRPCs(t *testing.T) {
	x := record(t, nil)
	x.frames(1, 20, 100)
	rpc := &track.RPC{HasRequest: true, Seen: []track.Sighting{{Request: track.Point{Frame: 18, Time: start + 18*second}}}}
	rpc.XID = 4711
	x.RPC(rpc)
	x.frames(21, 22, 100)
	x.RPC(rpc)
	x.frames(23, 40, 100)
	names, _ := x.folders()
	must.That(t, len(names) == 1 && strings.HasSuffix(names[0], "-rpc"), "%q", names)
	lines := bytes.Split(bytes.TrimSpace(must.ReadFile(t, filepath.Join(x.dir, names[0], "rpc.json"))), []byte("\n"))
	var got struct {
		XID     string
		Request struct{ Frame int }
	}
	must.NoError(t, json.Unmarshal(lines[0], &got))
	assert.That(t, len(lines) == 2 && got.XID == "4711" && got.Request.Frame == 6, "%d, %+v", len(lines), got)
}

// TestWrite cuts folders out of a capture that can be read again, with several files.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	o := Options{Dir: dir, Host: "oss-1", Before: 5 * time.Second, After: 5 * time.Second, Log: t.Logf}
	a, b := found(3, 20, 30), found(4, 200)
	for i := range a.Evidence {
		a.Evidence[i].File = "b.pcap"
	}
	note := found(5, 100)
	note.Severity = diagnose.Note
	read := func(do func(*capture.Frame) error) error {
		for n := 1; n <= 240; n++ {
			f := at(n, 100)
			f.Source, f.File, f.FileNumber = n%2, []string{"b.pcap", "c.pcap"}[n%2], int64(n)
			if err := do(f); err != nil {
				return err
			}
		}
		return nil
	}
	errors1 := func(f *diagnose.Finding) bool { return f.Severity == diagnose.Error }
	paths := must.Value(Write(o, []*diagnose.Finding{a, b, note}, errors1, nil, read))(t)
	must.Equal(t, len(paths), 2, "folders")
	first := seconds(t, filepath.Join(paths[0], "capture.pcapng"))
	second := seconds(t, filepath.Join(paths[0], "capture-2.pcapng"))
	assert.That(t, first[0] == 15 && first[len(first)-1] == 35 && second[0] == 16, "%v, %v", first, second)
	assert.Contains(t, string(must.ReadFile(t, filepath.Join(paths[0], "finding.json"))), `"evidence":[{"file":"capture-2.pcapng","frame":3`)

	broken := errors.New("unreadable")
	paths, err := Write(o, []*diagnose.Finding{a, b}, errors1, nil, func(do func(*capture.Frame) error) error {
		return errors.Join(do(at(20, 100)), broken)
	})
	names, hidden := list(t, dir)
	assert.That(t, errors.Is(err, broken) && len(paths) == 0 && len(names) == 2 && len(hidden) == 0, "%v, %q, %q, %q", err, paths, names, hidden)
}
