package files

import (
	"slices"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/fifo"
)

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
		dirs.GetOrMake(path, func() *Directory { return &Directory{Path: path} }).add(f)
	}
	return dirs.Values()
}

func (d *Directory) add(f *File) {
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
