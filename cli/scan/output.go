package scan

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/lshark/lshark/cli/exit"
)

// Output is a file that a command writes at the end, as a whole: under a temporary
// name first, which becomes its name when it is complete.
type Output struct {
	path string   // links resolved
	file *os.File // of a live capture, which loses its privileges; nil: opened at the end
	pipe bool     // it is no regular file, so nothing can be renamed

	isNew, written bool // of file
}

// NewOutput checks that a file can be written, and that it is not one of the input;
// flag is the flag that names it. Close must be called.
func (in *Input) NewOutput(flag, path string) (*Output, error) {
	o := &Output{path: path}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		o.isNew = true
	case err != nil:
		return nil, err
	case in.isFile(info):
		return nil, exit.Usagef("%s %s: would overwrite the input", flag, path)
	case info.IsDir():
		return nil, exit.Usagef("%s %s: is a directory", flag, path)
	case !info.Mode().IsRegular():
		o.pipe = true
		return o, nil
	default:
		if o.path, err = filepath.EvalSymlinks(path); err != nil {
			return nil, err
		}
	}
	if in.Live() {
		o.file, err = os.OpenFile(o.path, os.O_WRONLY|os.O_CREATE, 0o666)
		return o, err
	}
	f, err := o.temporary()
	if err != nil {
		return nil, err
	}
	return o, errors.Join(f.Close(), os.Remove(f.Name()))
}

// temporary creates the file under its temporary name.
func (o *Output) temporary() (*os.File, error) {
	name := o.path + "." + strconv.Itoa(os.Getpid()) + ".tmp"
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

// Write writes the file.
func (o *Output) Write(b []byte) (err error) {
	switch {
	case o.file != nil:
		o.written = true
		err = errors.Join(o.file.Truncate(0), writeAndClose(o.file, b))
	case o.pipe:
		var f *os.File
		if f, err = os.OpenFile(o.path, os.O_WRONLY, 0); err == nil {
			err = writeAndClose(f, b)
		}
	default:
		err = o.replace(b)
	}
	if err != nil {
		// Not wrapped: a closed reader of this file is a failure, a closed reader of
		// the standard output is not.
		return fmt.Errorf("cannot write the file: %v", err)
	}
	return nil
}

// Close removes what is left when nothing was written, because the capture failed.
func (o *Output) Close() error {
	if o.file == nil || o.written {
		return nil
	}
	err := o.file.Close()
	if o.isNew {
		err = errors.Join(err, os.Remove(o.path))
	}
	return err
}

// replace writes the file under its temporary name and renames it.
func (o *Output) replace(b []byte) error {
	f, err := o.temporary()
	if err != nil {
		return err
	}
	if err = writeAndClose(f, b); err == nil {
		err = os.Rename(f.Name(), o.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func writeAndClose(f *os.File, b []byte) error {
	_, err := f.Write(b)
	return errors.Join(err, f.Close())
}
