package tables

import (
	"fmt"
	"strings"

	"github.com/lshark/lshark/dissect/track/files"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// Files is the table of files.
var Files = Kind[*files.File]{name: "table of files", keys: &records.Files, columns: append([]column[*files.File]{
	{title: "path", left: true, mark: func(f *files.File) schema.Role {
		if !f.Removed.IsZero() {
			return schema.Dim
		}
		return schema.Name
	}},
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
		{title: "errors", left: true, rank: useful, role: schema.Bad, show: func(_ *printer, r R) string {
			errors, _ := of(r)
			var list []string
			for _, e := range errors {
				list = append(list, fmt.Sprintf("%s:%d", records.AppendErrno(nil, e.Errno), e.Count))
			}
			return strings.Join(list, " ")
		}},
		{title: "clients", left: true, rank: useful, role: schema.Node},
		{title: "jobs", left: true, rank: useful, optional: true, role: schema.Dim},
		{title: "waited", key: "lock_waited", dimZero: true, rank: extra, role: schema.Number,
			show: func(_ *printer, r R) string {
				_, waited := of(r)
				if waited == 0 {
					return "0"
				}
				return waitText(waited)
			}},
	}
}

// waitText returns a time span, rounded.
func waitText(ns int64) string { return string(render.AppendLockWait(nil, ns)) }
