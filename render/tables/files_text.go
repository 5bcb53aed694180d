package tables

import (
	"strconv"

	"github.com/lshark/lshark/dissect/track/files"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// Files is the table of files.
var Files = Kind[*files.File]{name: "table of files", keys: &records.Files, columns: append([]column[*files.File]{
	{title: "path", left: true, mark: pathRole},
	{title: "kind", left: true, rank: extra, role: schema.Dim},
}, append(actionColumns(func(f *files.File) ([]files.Error, int64) { return f.Errors, f.LockWaited }), []column[*files.File]{
	{title: "size", rank: extra, role: schema.Number},
	{title: "layout", left: true, rank: extra, role: schema.Dim},
	{title: "fid", left: true, whole: true, role: schema.Object},
}...)...)}

// Directories is the table of what was done in directories.
var Directories = Kind[*files.Directory]{name: "table of directories", keys: &records.Directories,
	columns: append([]column[*files.Directory]{
		{title: "directory", key: "path", left: true, role: schema.Name},
		{title: "files", role: schema.Number},
	}, append(actionColumns(func(d *files.Directory) ([]files.Error, int64) { return d.Errors, d.LockWaited }), []column[*files.Directory]{
		{title: "stats", dimZero: true, rank: extra, role: schema.Number},
		{title: "creates", dimZero: true, rank: extra, role: schema.Number},
		{title: "removes", dimZero: true, rank: extra, role: schema.Number},
	}...)...)}

// actionColumns are the columns of what was done with a file, or those in a directory.
func actionColumns[R any](of func(r R) (errors []files.Error, lockWaited int64)) []column[R] {
	return []column[R]{
		{title: "opens", dimZero: true, rank: extra, role: schema.Number},
		{title: "read", key: "read_bytes", dimZero: true, role: schema.Number},
		{title: "written", key: "write_bytes", dimZero: true, role: schema.Number},
		{title: "reads", dimZero: true, rank: extra, role: schema.Number},
		{title: "writes", dimZero: true, rank: extra, role: schema.Number},
		{title: "pattern", left: true, rank: extra, role: schema.Dim},
		{title: "rpcs", role: schema.Number},
		{title: "errors", left: true, rank: useful, role: schema.Bad, append: func(_ *printer, b []byte, r R) []byte {
			errors, _ := of(r)
			return appendFileErrors(b, errors)
		}},
		{title: "clients", left: true, rank: useful, role: schema.Node},
		{title: "jobs", left: true, rank: useful, optional: true, role: schema.Dim},
		{title: "waited", key: "lock_waited", dimZero: true, rank: extra, role: schema.Number,
			append: func(_ *printer, b []byte, r R) []byte {
				_, waited := of(r)
				return appendTotal(b, waited)
			}},
	}
}

// appendFileErrors appends how often each error occurred, by name, in the order of the first ones.
func appendFileErrors(dst []byte, list []files.Error) []byte {
	for i, e := range list {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = strconv.AppendInt(append(records.AppendErrno(dst, e.Errno), ':'), e.Count, 10)
	}
	return dst
}

// appendTotal appends a sum of times, 0 for none.
func appendTotal(dst []byte, ns int64) []byte {
	if ns == 0 {
		return append(dst, '0')
	}
	return render.AppendLockWait(dst, ns)
}

// pathRole is the style of a path, dim for a removed file.
func pathRole(f *files.File) schema.Role {
	if !f.Removed.IsZero() {
		return schema.Dim
	}
	return schema.Name
}
