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
// is complete: until Commit it has a temporary name, unless it is written in place. One that
// replaces another has its permissions.
type File struct {
	file      *os.File
	path      string // with links resolved
	temporary bool   // the file has a temporary name
	isNew     bool   // nothing had the name before
	stale     bool   // it still has its old content, which the first Write removes
	ended     bool   // by Commit or Discard
}

// CreateFile creates a file. Commit or Discard must be called. Pipes and devices are
// opened under their own names. So is a regular file with inPlace, for processes that will
// have lost the right to rename it: it keeps its old content until the first Write.
func CreateFile(path string, inPlace bool) (f *File, err error) {
	f = &File{path: path, temporary: !inPlace, stale: inPlace}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.isNew = true
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		f.temporary, f.stale = false, false
		f.file, err = os.OpenFile(path, os.O_WRONLY, 0)
		return f, err
	default:
		if f.path, err = filepath.EvalSymlinks(path); err != nil {
			return nil, err
		}
	}
	if inPlace {
		f.file, err = os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE, NewFileMode)
		return f, err
	}
	// Not os.CreateTemp: the umask says who may read a new file.
	name := fmt.Sprintf(".%s-%08x.part", filepath.Base(f.path), rand.Uint32())
	f.file, err = os.OpenFile(filepath.Join(filepath.Dir(f.path), name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, NewFileMode)
	if err == nil && !f.isNew {
		_ = f.file.Chmod(info.Mode().Perm()) // a file system without permissions may refuse it
	}
	return f, err
}

func (f *File) Write(b []byte) (int, error) {
	if f.stale {
		if err := f.file.Truncate(0); err != nil {
			return 0, err
		}
		f.stale = false
	}
	return f.file.Write(b)
}

// Commit closes the file and gives it its name. It replaces a file that had the name before.
func (f *File) Commit() (err error) {
	f.ended = true
	if f.stale {
		err = f.file.Truncate(0)
	}
	err = errors.Join(err, f.file.Close())
	if !f.temporary {
		return err
	}
	if err == nil {
		err = os.Rename(f.file.Name(), f.path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.file.Name()))
	}
	return err
}

// Discard closes the file and removes it, unless it existed before and was written in
// place. After Commit it does nothing.
func (f *File) Discard() error {
	if f.ended {
		return nil
	}
	f.ended = true
	err := f.file.Close()
	if f.temporary || f.isNew {
		err = errors.Join(err, os.Remove(f.file.Name()))
	}
	return err
}
