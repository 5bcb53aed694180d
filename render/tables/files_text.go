package tables

import (
	"strconv"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track/files"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// FilesTable renders files as a table, one row each.
type FilesTable struct {
	Omitted Omitted

	opt render.SummaryOptions
}

// NewFilesTable makes a renderer.
func NewFilesTable(o render.SummaryOptions) *FilesTable { return &FilesTable{opt: o} }

// Append appends the table of files.
func (s *FilesTable) Append(dst []byte, list []*files.File) []byte {
	c := s.opt.Colors
	t := newTable(c, []tableColumn{{title: "path", left: true}, {title: "kind", left: true, rank: useful}, {title: "opens", dimZero: true, rank: useful},
		{title: "read", dimZero: true}, {title: "written", dimZero: true}, {title: "reads", dimZero: true, rank: extra}, {title: "writes", dimZero: true, rank: extra},
		{title: "pattern", left: true, rank: useful}, {title: "rpcs"}, {title: "errors", left: true, rank: useful},
		{title: "clients", left: true, rank: useful}, {title: "jobs", left: true, rank: useful, optional: true}, {title: "waited", dimZero: true, rank: extra}, {title: "size", rank: extra},
		{title: "layout", left: true, rank: extra}, {title: "fid", left: true, rank: extra}})
	for _, f := range list {
		t.put(pathStyle(c, f), func(b []byte) []byte { return textOrDash(b, f.Path()) })
		t.put(&c.Dim, func(b []byte) []byte { return textOrDash(b, f.Kind()) })
		s.putActions(t, &f.Actions)
		s.putUsers(t, f.Clients(), f.Jobs(), f.Errors)
		t.put(&c.Num, func(b []byte) []byte { return appendTotal(b, f.LockWaited) })
		t.put(&c.Num, func(b []byte) []byte {
			if size, ok := f.Size(); ok {
				return render.AppendSize(b, int64(size))
			}
			return append(b, '-')
		})
		t.put(&c.Dim, func(b []byte) []byte { return textOrDash(b, f.Layout) })
		t.put(&c.FID, func(b []byte) []byte { return appendFID(b, f.FID) })
	}
	dst = t.render(dst, s.opt.Width)
	s.Omitted.add(t)
	return dst
}

// AppendDirectories appends the table of directories.
func (s *FilesTable) AppendDirectories(dst []byte, list []*files.Directory) []byte {
	c := s.opt.Colors
	t := newTable(c, []tableColumn{{title: "directory", left: true}, {title: "files"}, {title: "opens", dimZero: true, rank: useful},
		{title: "read", dimZero: true}, {title: "written", dimZero: true}, {title: "reads", dimZero: true, rank: extra}, {title: "writes", dimZero: true, rank: extra},
		{title: "pattern", left: true, rank: useful}, {title: "rpcs"}, {title: "errors", left: true, rank: useful},
		{title: "clients", left: true, rank: useful}, {title: "jobs", left: true, rank: useful, optional: true}, {title: "waited", dimZero: true, rank: extra}, {title: "stats", dimZero: true, rank: extra},
		{title: "creates", dimZero: true, rank: extra}, {title: "removes", dimZero: true, rank: extra}})
	count := func(n int64) { t.put(&c.Num, func(b []byte) []byte { return strconv.AppendInt(b, n, 10) }) }
	for _, d := range list {
		t.put(&c.Name, func(b []byte) []byte { return schema.AppendText(b, []byte(d.Path)) })
		count(d.Files)
		s.putActions(t, &d.Actions)
		s.putUsers(t, d.Clients, d.Jobs, d.Errors)
		t.put(&c.Num, func(b []byte) []byte { return appendTotal(b, d.LockWaited) })
		count(d.Count[files.Stat])
		count(d.Count[files.Create])
		count(d.Count[files.Remove])
	}
	dst = t.render(dst, s.opt.Width)
	s.Omitted.add(t)
	return dst
}

// putActions adds the cells of opens, bytes, RPCs and offsets.
func (s *FilesTable) putActions(t *table, a *files.Actions) {
	c := s.opt.Colors
	count := func(n int64) { t.put(&c.Num, func(b []byte) []byte { return strconv.AppendInt(b, n, 10) }) }
	count(a.Count[files.Open])
	t.put(&c.Num, func(b []byte) []byte { return render.AppendSize(b, a.Read.Bytes) })
	t.put(&c.Num, func(b []byte) []byte { return render.AppendSize(b, a.Write.Bytes) })
	count(a.Read.RPCs)
	count(a.Write.RPCs)
	t.put(&c.Dim, func(b []byte) []byte { return textOrDash(b, a.Pattern().String()) })
	count(a.RPCs)
}

// putUsers adds the cells of errors, clients and jobs.
func (s *FilesTable) putUsers(t *table, clients []lnet.NID, jobs []string, errors []files.Error) {
	c := s.opt.Colors
	t.put(&c.Bad, func(b []byte) []byte { return orDash(b, func(b []byte) []byte { return appendFileErrors(b, errors) }) })
	t.put(&c.NID, func(b []byte) []byte {
		return orDash(b, func(b []byte) []byte { return appendNodes(b, clients, s.opt.NIDs) })
	})
	t.put(&c.Dim, func(b []byte) []byte { return orDash(b, func(b []byte) []byte { return appendJobs(b, jobs) }) })
}

// appendFileErrors appends how often each error occurred.
func appendFileErrors(dst []byte, list []files.Error) []byte {
	for i, e := range list {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = strconv.AppendInt(append(records.AppendErrno(dst, e.Errno), ':'), e.Count, 10)
	}
	return dst
}

func appendJobs(dst []byte, list []string) []byte {
	for i, j := range list {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = schema.AppendText(dst, []byte(j))
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

// pathStyle is the style of a path, dim for a removed file.
func pathStyle(c *render.Colors, f *files.File) *render.Style {
	if f.Removed.Frame != 0 {
		return &c.Dim
	}
	return &c.Name
}

func appendNodes(dst []byte, list []lnet.NID, nids render.NIDs) []byte {
	for i, n := range list {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = nids.Append(dst, n)
	}
	return dst
}
