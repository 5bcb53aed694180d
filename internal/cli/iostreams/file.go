package iostreams

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Modes of the files that commands make.
const (
	NewFileMode    = 0o666 // results, for whom the umask lets read them
	SecretFileMode = 0o600 // keys, and the map from replaced names to the real ones
)

// File is a file that a command writes. A regular file appears under its name only when it
// is complete: until End it has a temporary name, unless it is written in place. One that
// replaces another has its permissions.
type File struct {
	*os.File
	path  string // it is renamed to this in the end, with links resolved; empty: it has its name
	isNew bool   // it is removed when it is not complete
}

// CreateFile creates a file. End must be called. Pipes and devices are
// opened under their own names. So is a regular file with inPlace, for processes that will
// have lost the right to rename it.
func CreateFile(path string, inPlace bool) (*File, error) {
	info, err := os.Stat(path)
	f := &File{isNew: errors.Is(err, fs.ErrNotExist)}
	switch {
	case f.isNew:
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		f.File, err = os.OpenFile(path, os.O_WRONLY, 0)
		return f, err
	default:
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return nil, err
		}
	}
	if inPlace {
		f.File, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, NewFileMode)
		return f, err
	}
	f.path = path
	// Not os.CreateTemp: the umask says who may read a new file.
	name := fmt.Sprintf(".%s-%08x.part", filepath.Base(path), rand.Uint32())
	f.File, err = os.OpenFile(filepath.Join(filepath.Dir(path), name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, NewFileMode)
	if err == nil && !f.isNew {
		_ = f.Chmod(info.Mode().Perm()) // a file system without permissions may refuse it
	}
	f.isNew = true // by its temporary name
	return f, err
}

// End closes the file. If it is complete, it gets its name, and replaces a file that had the name before. Else
// it is removed, unless it existed before and was written in place.
func (f *File) End(complete bool) error {
	err := f.Close()
	if complete && err == nil && f.path != "" {
		err = os.Rename(f.Name(), f.path)
	}
	if f.isNew && (!complete || err != nil) {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

// MayRenameIn reports whether a process without privileges may make and rename files in a
// folder: its user owns it.
func MayRenameIn(dir string) bool {
	const ownerMayWrite = 0o200
	info, err := os.Stat(dir)
	return err == nil && IsOwn(info) && info.Mode()&ownerMayWrite != 0
}
