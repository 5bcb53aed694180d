// Package outdir keeps what a host writes to a directory while it captures: files, or folders,
// with names that have the host and a time. Until they are complete they have a hidden
// temporary name. They are removed by age and by total size; those of other hosts stay.
package outdir

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// TimeForm is the form of the time in names.
const TimeForm = "20060102T150405Z"

// LockName is the file that is locked while a process writes to the directory.
const LockName = ".lshark-monitor.lock"

const (
	tempSuffix = ".tmp"
	keptFree   = 64 << 20 // bytes that are left free on a disk
)

// Dir is a directory with what this host writes. Only one process at a time has it open.
type Dir struct {
	Path    string
	Prefix  string // of names, before the host
	Suffix  string // of names, such as .parquet
	Folders bool   // folders are written, not files
	Log     func(format string, args ...any)

	host string // as it is in names
	lock *os.File
}

// Open makes the directory, if it is not there, locks it, and removes what a process that was
// killed has left.
func (d *Dir) Open(host string) error {
	d.host = nameOf(host)
	if err := d.make(); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(d.Path, LockName), os.O_CREATE|os.O_RDWR|noFollow, 0o640)
	if err != nil {
		return err
	}
	if err := lockFile(lock); err != nil {
		lock.Close()
		return fmt.Errorf("%s: another lshark writes to this directory", d.Path)
	}
	d.lock = lock
	for _, e := range d.own("."+d.Prefix, d.Suffix+tempSuffix) {
		d.Remove(filepath.Join(d.Path, e.Name()))
	}
	return nil
}

func (d *Dir) make() error { return os.MkdirAll(d.Path, 0o750) }

// Close unlocks the directory.
func (d *Dir) Close() error { return d.lock.Close() }

// Base returns the name, without suffix, of what begins at a time; code may be empty.
func (d *Dir) Base(begun time.Time, code string) string {
	base := d.Prefix + d.host + "-" + begun.UTC().Format(TimeForm)
	if code != "" {
		base += "-" + nameOf(code)
	}
	return base
}

// CreateFile creates a file with a temporary name. It makes the directory again if that was moved
// away or removed.
func (d *Dir) CreateFile(base string) (*os.File, error) {
	if err := d.make(); err != nil {
		return nil, err
	}
	return os.CreateTemp(d.Path, d.temporary(base))
}

// CreateFolder makes a folder with a temporary name, as CreateFile does.
func (d *Dir) CreateFolder(base string) (path string, err error) {
	if err := d.make(); err != nil {
		return "", err
	}
	return os.MkdirTemp(d.Path, d.temporary(base))
}

func (d *Dir) temporary(base string) string { return "." + base + "-*" + d.Suffix + tempSuffix }

// Publish gives what is complete its name: base, with a number if that is taken.
func (d *Dir) Publish(temporary, base string) (path string, err error) {
	for n := 0; ; n++ {
		path = filepath.Join(d.Path, base)
		if n > 0 {
			path += "-" + strconv.Itoa(n)
		}
		path += d.Suffix
		if _, err := os.Lstat(path); err != nil {
			return path, os.Rename(temporary, path)
		}
	}
}

// Remove removes what is not complete.
func (d *Dir) Remove(temporary string) {
	if err := os.RemoveAll(temporary); err != nil {
		d.Log("%v", err)
	}
}

// own returns what this host has written: a name is the prefix, the host, the time, what follows the time, and the suffix.
func (d *Dir) own(prefix, suffix string) (list []fs.DirEntry) {
	entries, err := os.ReadDir(d.Path)
	if err != nil {
		d.Log("%v", err)
	}
	for _, e := range entries {
		rest, isHost := strings.CutPrefix(e.Name(), prefix+d.host+"-")
		rest, isKind := strings.CutSuffix(rest, suffix)
		begun, _, _ := strings.Cut(rest, "-")
		_, wrong := time.Parse(TimeForm, begun)
		if isHost && isKind && wrong == nil && (d.Folders && e.IsDir() || !d.Folders && e.Type().IsRegular()) {
			list = append(list, e)
		}
	}
	return list
}

type entry struct {
	path string
	size int64
	time time.Time // when it was completed
}

// Prune removes what is older than a time, and the oldest while all have more than so many
// bytes; 0 is no limit. It returns how many were removed, and the bytes of the others.
func (d *Dir) Prune(now time.Time, keepTime time.Duration, keepSize int64) (removed, bytes int64) {
	var kept []*entry
	for _, e := range d.own(d.Prefix, d.Suffix) {
		info, err := e.Info()
		if err != nil {
			continue // removed in the meantime
		}
		path := filepath.Join(d.Path, e.Name())
		size := SizeOf(path)
		kept = append(kept, &entry{path, size, info.ModTime()})
		bytes += size
	}
	slices.SortStableFunc(kept, func(a, b *entry) int { return cmp.Or(a.time.Compare(b.time), cmp.Compare(a.path, b.path)) })
	for _, e := range kept {
		old := keepTime > 0 && now.Sub(e.time) > keepTime
		if !old && (keepSize == 0 || bytes <= keepSize) {
			break
		}
		if err := os.RemoveAll(e.path); err != nil {
			d.Log("%v", err)
			continue
		}
		bytes -= e.size
		removed++
	}
	return removed, bytes
}

// SizeOf returns the bytes of a file, or of the files in a folder. What is removed in the meantime
// counts nothing.
func SizeOf(path string) (size int64) {
	_ = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil
	})
	return size
}

// CheckFree returns an error if the disk of a directory is nearly full. free returns how many bytes are
// left; nil: by the system. What it cannot tell shows when something is written.
func CheckFree(dir string, free func(dir string) (int64, error)) error {
	if free == nil {
		free = freeBytes
	}
	if n, err := free(dir); err == nil && n < keptFree {
		return fmt.Errorf("%s: the disk is nearly full: %d MB are left", dir, n>>20)
	}
	return nil
}

// nameOf returns a text without what may not be in the name of a file.
func nameOf(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '.' || r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, text)
}
