package iostreams

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Modes of the files that commands make.
const (
	NewFileMode    = 0o666 // results, for whom the umask lets read them
	SecretFileMode = 0o600 // keys, and what tells what was replaced by them
)

// File is a file that a command writes. A regular file appears under its name only when it
// is complete: until Commit it has a temporary name, unless it is written in place. One that
// replaces another has its permissions.
type File struct {
	file  *os.File
	lock  *os.File // the temporary file once more, locked for this process; or nil
	path  string   // with links resolved
	mode  fs.FileMode
	isNew bool // nothing had the name before
	stale bool // it still has its old content, which the first Write removes
	ended bool // by Commit or Discard
}

// CreateFile creates a file. Commit or Discard must be called. Pipes and devices are
// opened under their own names. So is a regular file with inPlace, for processes that will
// have lost the right to rename it: it keeps its old content until the first Write.
func CreateFile(path string, inPlace bool) (*File, error) {
	f := &File{path: path, mode: NewFileMode}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.isNew = true
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		f.file, err = os.OpenFile(path, os.O_WRONLY, 0)
		return f, err
	default:
		f.mode = info.Mode().Perm()
		if f.path, err = filepath.EvalSymlinks(path); err != nil {
			return nil, err
		}
	}
	if !inPlace {
		return f, f.createPartial()
	}
	f.stale = true
	f.file, err = os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE, f.mode)
	return f, err
}

// createPartial creates the temporary file. It is an error if another process has it.
func (f *File) createPartial() (err error) {
	name := partial(f.path)
	for {
		if f.lock, err = lockFile(name); err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
		if f.file, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|noLink, NewFileMode); err != nil {
			return errors.Join(err, f.unlock())
		}
		if f.lock == nil {
			break
		}
		locked, err := f.lock.Stat()
		file, failed := f.file.Stat()
		if err := errors.Join(err, failed); err != nil {
			return errors.Join(err, f.file.Close(), f.unlock())
		}
		if os.SameFile(locked, file) {
			break
		}
		// The process that had it has renamed it since.
		if err := errors.Join(f.file.Close(), f.unlock()); err != nil {
			return err
		}
	}
	return errors.Join(f.file.Truncate(0), f.setMode())
}

// setMode gives the temporary file, which a killed process may have left, the mode of the
// file. A file system without permissions may refuse it.
func (f *File) setMode() error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	mode := f.mode
	if f.isNew {
		mode &= info.Mode().Perm() // the umask may be stricter
	}
	if mode != info.Mode().Perm() {
		_ = f.file.Chmod(mode)
	}
	return nil
}

// unlock lets other processes create the temporary file.
func (f *File) unlock() error {
	if f.lock == nil {
		return nil
	}
	return f.lock.Close()
}

// partial returns the temporary name of a file that is not complete. It depends on the path
// alone, so that the next process overwrites what a killed one has left.
func partial(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".part")
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
func (f *File) Commit() error {
	f.ended = true
	var err error
	if f.stale {
		err = f.file.Truncate(0)
	}
	err = errors.Join(err, f.file.Close())
	if f.file.Name() != partial(f.path) {
		return err
	}
	if err == nil {
		err = os.Rename(f.file.Name(), f.path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.file.Name()))
	}
	return errors.Join(err, f.unlock())
}

// Discard closes the file and removes it, unless it existed before and was written in
// place. After Commit it does nothing.
func (f *File) Discard() error {
	if f.ended {
		return nil
	}
	f.ended = true
	err := f.file.Close()
	if name := f.file.Name(); name == partial(f.path) || f.isNew {
		err = errors.Join(err, os.Remove(name))
	}
	return errors.Join(err, f.unlock())
}
