package files

import (
	"hash/maphash"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// name is a name of a file in a directory. A fid2path gives the path from a
// directory on in one piece.
type name struct {
	dir  track.FID
	text string
	gone int64 // when it was removed, or names another file; 0: it has not
}

// entryKey is a name in a directory.
type entryKey struct {
	dir  track.FID
	hash uint64 // of the name
}

// maxDepth is how many directories a path may have.
const maxDepth = 512

// canonical returns the directory that a stripe belongs to, or the directory
// itself. A directory that is split becomes a stripe of another one.
func (t *Files) canonical(dir track.FID) track.FID {
	const most = 4
	for range most {
		f := t.files[dir]
		if f == nil || f.stripeOf == (track.FID{}) {
			break
		}
		dir = f.stripeOf
	}
	return dir
}

// entryKey returns the key of a name.
func (t *Files) entryKey(dir track.FID, text []byte) entryKey {
	return entryKey{t.canonical(dir), maphash.Bytes(t.seed, text)}
}

// entry returns the file that a name stands for, nil when it is unknown.
func (t *Files) entry(dir track.FID, text []byte) *File {
	if len(text) == 0 {
		return nil
	}
	k := t.entryKey(dir, text)
	f := t.entries[k]
	if f == nil || t.find(f, k.dir, text) < 0 {
		return nil
	}
	return f
}

// learn notes that a name in a directory stands for a file. It returns the file, nil
// when the name is none that paths have.
func (t *Files) learn(dir track.FID, text []byte, fid track.FID) *File {
	none := track.FID{}
	if len(text) == 0 || len(text) > maxName || fid == none || dir == none || fid == dir || string(text) == "." || string(text) == ".." {
		return nil
	}
	if dir == byFID {
		return nil
	}
	if opcodes.IsStripeName(text, opcodes.FileID(fid)) {
		t.addStripe(dir, fid)
		return nil
	}
	k := t.entryKey(dir, text)
	if k.dir == fid {
		return nil
	}
	f := t.entries[k]
	if f != nil && f.FID == fid {
		if i := t.find(f, k.dir, text); i >= 0 {
			t.touch(f)
			f.regain(i)
			return f
		}
	}
	if f != nil {
		t.lose(f, k.dir, text)
	}
	f = t.file(fid)
	t.addName(f, k, text)
	return f
}

// byFID is the directory /.lustre/fid, which has all files by their FIDs.
var byFID = track.FID(opcodes.FilesByFID)

// maxName is the length in bytes of the longest name that is kept, which may be a
// path.
const maxName = 4096

func (t *Files) addName(f *File, k entryKey, text []byte) {
	t.entries[k] = f
	if i := t.find(f, k.dir, text); i >= 0 {
		f.regain(i)
		return
	}
	if f.Activity != nil {
		f.Removed = track.Point{}
	}
	n := name{dir: k.dir, text: string(text)}
	if len(f.names) < maxNames {
		f.names = append(f.names, n)
	} else {
		i := slices.IndexFunc(f.names, func(n name) bool { return n.gone != 0 })
		if i < 0 {
			i = maxNames - 1
		}
		t.dropName(f, i)
		f.names[i] = n
	}
	t.file(k.dir).children++
}

// dropName forgets that one of the names of a file stands for it.
func (t *Files) dropName(f *File, i int) {
	n := &f.names[i]
	k := t.entryKey(n.dir, []byte(n.text))
	if t.entries[k] == f {
		delete(t.entries, k)
	}
	if dir := t.files[n.dir]; dir != nil {
		dir.children = max(0, dir.children-1)
	}
}

// find returns the index of a name, -1 when the file does not have it.
func (t *Files) find(f *File, dir track.FID, text []byte) int {
	for i := range f.names {
		if n := &f.names[i]; n.text == string(text) && (n.dir == dir || t.canonical(n.dir) == dir) {
			return i
		}
	}
	return -1
}

// lose notes that a file does not have a name any longer. Its path stays that name
// when it has no other.
func (t *Files) lose(f *File, dir track.FID, text []byte) {
	if i := t.find(f, dir, text); i >= 0 {
		f.names[i].gone = max(1, t.now)
	}
}

// regain notes that a file has one of its names, perhaps again.
func (f *File) regain(i int) {
	if f.names[i].gone = 0; f.Activity != nil {
		f.Removed = track.Point{}
	}
}

// forget notes that a name stands for nothing.
func (t *Files) forget(dir track.FID, text []byte) {
	k := t.entryKey(dir, text)
	if f := t.entries[k]; f != nil && t.find(f, k.dir, text) >= 0 {
		t.lose(f, k.dir, text)
		delete(t.entries, k)
	}
}

func (f *File) hasName() bool {
	return slices.ContainsFunc(f.names, func(n name) bool { return n.gone == 0 })
}

// rename notes that a file has got another name.
func (t *Files) rename(dir track.FID, text []byte, newDir track.FID, newText []byte) {
	f := t.entry(dir, text)
	if f == nil {
		t.forget(newDir, newText)
		return
	}
	former := f.Path()
	t.forget(dir, text)
	i := t.find(f, t.canonical(dir), text)
	t.dropName(f, i)
	f.names = slices.Delete(f.names, i, i+1)
	t.learn(newDir, newText, f.FID)
	if last := len(f.names) - 1; i < last && t.find(f, t.canonical(newDir), newText) == last { // it takes the place of the old one
		n := f.names[last]
		copy(f.names[i+1:], f.names[i:last])
		f.names[i] = n
	}
	if path := f.Path(); path != former {
		f.former = former
	}
}

// addStripe notes that a directory is a stripe of another one.
func (t *Files) addStripe(dir, stripe track.FID) {
	if dir != stripe && t.canonical(dir) != stripe {
		t.file(stripe).stripeOf = dir
	}
}

// Path returns the path of the file from the root of the file system. A file with
// several hard links has the path that was seen first, a removed file its last path.
// The path begins with … where directories above are unknown; it is empty when no
// name of the file is known.
func (f *File) Path() string { return f.pathBy(f.best()) }

// Former returns the path before the last rename, empty without one.
func (f *File) Former() string { return f.former }

// Links returns the paths of the file, other than Path.
func (f *File) Links() (list []string) {
	first := f.best()
	for i := range f.names {
		if n := &f.names[i]; n != first && n.gone == 0 {
			list = append(list, f.pathBy(n))
		}
	}
	return list
}

// best returns the name that the path of the file ends with, nil without any.
func (f *File) best() (best *name) {
	most := -1
	for i := range f.names {
		n, rank := &f.names[i], 0
		if n.gone == 0 {
			rank += 2
		}
		if d := f.files.files[n.dir]; n.dir == f.files.root || d != nil && (len(d.names) > 0 || d.stripeOf != track.FID{}) {
			rank++ // it is known where the directory is
		}
		if rank > most || rank == most && n.gone > best.gone {
			best, most = n, rank
		}
	}
	return best
}

// pathBy returns the path that ends with one of the names of the file. Directories
// that contain each other, as no file system has, end it.
func (f *File) pathBy(n *name) string {
	t, whole := f.files, f.FID == f.files.root
	var parts []string
	for depth := 0; depth < maxDepth && !whole; depth++ {
		dir := f.stripeOf
		if dir == (track.FID{}) {
			if n == nil {
				break
			}
			parts = append(parts, n.text)
			dir = n.dir
		}
		whole = dir == t.root
		if f = t.files[dir]; f == nil {
			break
		}
		n = f.best()
	}
	switch {
	case whole && len(parts) == 0:
		return "/"
	case whole:
		parts = append(parts, "")
	case len(parts) == 0:
		return ""
	default:
		parts = append(parts, strings.TrimSuffix(unknownDir, "/"))
	}
	slices.Reverse(parts)
	return strings.Join(parts, "/")
}

// unknownDir is the beginning of a path whose directories are unknown.
const unknownDir = "…/"

// Dir returns the path of the directory that the file is in, … when it is unknown.
func (f *File) Dir() string {
	path := f.Path()
	switch i := strings.LastIndexByte(path, '/'); {
	case path == "/":
		return "/"
	case i < 0:
		return strings.TrimSuffix(unknownDir, "/")
	case i == 0:
		return "/"
	default:
		return path[:i]
	}
}

// Directory is what was done with the files in a directory, those in directories
// below it not included.
type Directory struct {
	Path    string // … when it is unknown
	Files   int64
	Clients []lnet.NID
	Jobs    []string
	Errors  []Error
	Actions

	LockWaited int64 // nanoseconds, in total
}

// Directories sums up files by the directory that they are in.
func Directories(list []*File) []*Directory {
	dirs := fifo.NewMap[string, *Directory](len(list))
	for _, f := range list {
		path := f.Dir()
		d := fifo.GetOrMake(dirs, path, func() *Directory { return &Directory{Path: path} })
		d.Files++
		d.Actions.add(&f.Actions)
		d.LockWaited += f.LockWaited
		d.Clients = union(d.Clients, f.Clients())
		d.Jobs = union(d.Jobs, f.Jobs())
		sum := Activity{Errors: d.Errors}
		for _, e := range f.Errors {
			sum.addErrors(e.Errno, e.Count)
		}
		d.Errors = sum.Errors
	}
	return fifo.Values(dirs)
}

// union adds the elements of a list that are not in the other one, as long as there
// are few.
func union[E comparable](list, more []E) []E {
	for _, e := range more {
		if len(list) < maxUsers && !slices.Contains(list, e) {
			list = append(list, e)
		}
	}
	return list
}
