//go:build unix

package scan

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// ringInput returns the input of a live capture with values of -b and -a.
func ringInput(t *testing.T, ring, stop string) *Input {
	t.Helper()
	f := Flags{Interfaces: []string{"lo"}, RingBuffer: strings.Fields(ring), AutoStop: strings.Fields(stop)}
	return must.Value(f.Check(nil, false))(t)
}

// TestRing checks which frames are in which file of -b, and which files are left.
func TestRing(t *testing.T) {
	const frames, frameBytes = 10, 100
	for _, tt := range []struct {
		ring, stop string
		want       string // number of each file, and of the frames in it
	}{
		{"packets:4", "", "00001:4 00002:4 00003:2"},
		{"packets:4 files:2", "", "00002:4 00003:2"},
		{"packets:4", "files:2", "00001:4 00002:4"},
		{"packets:5", "", "00001:5 00002:5 00003:0"}, // as tshark, which begins the next file at once
		{"duration:3", "", "00001:3 00002:3 00003:3 00004:1"},
		{"duration:0.5 files:3", "", "00017:1 00018:0 00019:1"},
		{"filesize:1", "", "00001:7 00002:3"},
		{"", "filesize:1", "7"},
	} {
		dir := t.TempDir()
		in := ringInput(t, tt.ring, tt.stop)
		s := must.Value(newSaveOutput(&System{IO: &iostreams.IO{}}, in, filepath.Join(dir, "x.y.pcapng")))(t)
		start := s.ends - int64(in.ring.duration)
		if in.ring.duration == 0 {
			start = time.Now().UnixNano()
		}
		var err error
		for n := range int64(frames) {
			f := capture.Frame{Time: start + n*int64(time.Second), Data: make([]byte, frameBytes), Len: frameBytes, Link: capture.LinkEthernet, Interface: "lo"}
			f.Data[0] = byte(n)
			if err = s.Write(&f, ""); err != nil {
				break
			}
		}
		assert.That(t, err == nil || err == errEnough && tt.stop != "", "%s, %s: %v", tt.ring, tt.stop, err)
		must.NoError(t, s.Close())
		var got []string
		next := -1
		for _, e := range must.Value(os.ReadDir(dir))(t) {
			name := regexp.MustCompile(`^x\.y_(\d{5})_20\d{12}\.pcapng$`).FindStringSubmatch(e.Name())
			list := wiretest.ReadSample(t, filepath.Join(dir, e.Name()))
			for _, f := range list {
				assert.That(t, next < 0 || int(f.Data[0]) == next, "%s: frame %d, want %d", tt.ring, f.Data[0], next)
				next = int(f.Data[0]) + 1
			}
			count := string(rune('0' + len(list)))
			if name != nil {
				count = name[1] + ":" + count
			}
			got = append(got, count)
		}
		assert.Equal(t, strings.Join(got, " "), tt.want, tt.ring, tt.stop)
	}
}

func TestLimits(t *testing.T) {
	for _, wrong := range []Flags{
		{RingBuffer: []string{"files:3"}},
		{RingBuffer: []string{"packets:0"}},
		{RingBuffer: []string{"filesize:-1"}},
		{RingBuffer: []string{"minutes:3"}},
		{RingBuffer: []string{"filesize:9223372036854775807"}},
		{RingBuffer: []string{"packets:3"}, AutoStop: []string{"filesize:3"}},
		{AutoStop: []string{"files:3"}},
		{AutoStop: []string{"duration:-1"}},
		{Snaplen: -1},
		{Buffer: 1 << 20},
		{Interfaces: []string{"lo", "lo"}},
		{Interfaces: []string{"lo", "any"}},
		{Interfaces: []string{""}},
	} {
		if wrong.Interfaces == nil {
			wrong.Interfaces = []string{"lo"}
		}
		_, err := wrong.Check(nil, false)
		assert.That(t, err != nil, "%+v was accepted", wrong)
	}
}

// TestFullDisk checks that a live capture goes on when nothing more can be written, and that
// what was written can be read.
func TestFullDisk(t *testing.T) {
	full := "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip(err)
	}
	var said bytes.Buffer
	sys := &System{IO: &iostreams.IO{Err: &said}}
	s := must.Value(newSaver(sys, ringInput(t, "", ""), Options{SaveTo: full, SaveAll: true}))(t)
	f := capture.Frame{Number: 1, Data: []byte{1}, Len: 1, Link: capture.LinkEthernet}
	must.NoError(t, s.add(&f))
	s.fail(s.recent.Flush())
	for f.Number = 2; f.Number < 4; f.Number++ {
		must.NoError(t, s.add(&f))
	}
	assert.Equal(t, strings.Count(said.String(), "no space left on device; nothing more is written, the capture goes on"), 1, said.String())
	p := New(sys, ringInput(t, "", ""), Options{})
	p.saver = s
	assert.That(t, p.finishSave() != nil, "the file is incomplete, but there is no error")
}

// TestPartOfBlock checks that a block that was written in part is removed.
func TestPartOfBlock(t *testing.T) {
	limit := syscall.Rlimit{}
	must.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	path := filepath.Join(t.TempDir(), "x.pcapng")
	s := must.Value(newSaveOutput(&System{IO: &iostreams.IO{}}, ringInput(t, "", ""), path))(t)
	less := limit
	less.Cur = 250 // three frames
	for range 5 {
		f := capture.Frame{Data: make([]byte, 20), Len: 20, Link: capture.LinkEthernet}
		must.NoError(t, s.Write(&f, ""))
	}
	must.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &less))
	err := s.Flush()
	must.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	assert.That(t, errors.Is(err, syscall.EFBIG), "%v", err)
	assert.Equal(t, len(wiretest.ReadSample(t, path)), 3, "frames in the file")
}

// TestForeignFolder: root keeps a capability where files are made in a folder that its user does
// not own or may not write in, and only there.
func TestForeignFolder(t *testing.T) {
	own, foreign := t.TempDir(), t.TempDir()
	must.NoError(t, os.Chmod(foreign, 0o500))
	hardened := errors.New("hardened")
	for _, tt := range []struct {
		records, ring string
		want          bool
	}{
		{own, own, false},
		{foreign, own, true},
		{own, foreign, true},
	} {
		var got Files
		sys := &System{IO: &iostreams.IO{Err: io.Discard}, Harden: func(f Files) error {
			got = f
			return hardened
		}}
		in := ringInput(t, "packets:1", "")
		live, err := capture.OpenLive(in.flags.Interfaces, in.live)
		if err != nil {
			t.Skip("no live capture here: ", err)
		}
		must.NoError(t, live.Close())
		if tt.ring == foreign && os.Geteuid() != 0 {
			continue // the first file cannot be made
		}
		err = New(sys, in, Options{SaveTo: filepath.Join(tt.ring, "x.pcapng"), Files: Files{Write: []string{tt.records}}}).Run()
		assert.That(t, errors.Is(err, hardened) && got.Foreign == tt.want, "%+v: %v, %+v", tt, err, got)
	}
}
