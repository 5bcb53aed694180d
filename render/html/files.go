package html

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/files"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/tables"
)

// files appends the files with the most bytes.
func (r *renderer) files() {
	if len(r.Files.List) == 0 {
		r.nothing("No RPC was about a file.")
		return
	}
	type row = *files.File
	table[row]{id: "by-file", caption: "Files with the most bytes", rest: "lshark files", omitted: r.Files.Count - int64(len(r.Files.List)),
		columns: []column[row]{
			{title: "Path", cell: func(f row) cell { return cell{text: cmp.Or(f.Path(), fid(f.FID)), class: "path"} }},
			{title: "Read", class: num, cell: func(f row) cell { return sizeCell(f.Read.Bytes) }},
			{title: "Written", class: num, cell: func(f row) cell { return sizeCell(f.Write.Bytes) }},
			{title: "RPCs", class: num, cell: func(f row) cell { return numberCell(f.RPCs) }},
			{title: "Opens", class: num, cell: func(f row) cell { return numberCell(f.Count[files.Open]) }},
			{title: "Pattern", help: "how the ranges that were read and written follow each other, most of them",
				cell: func(f row) cell { return textCell(f.Pattern().String()) }},
			{title: "I/O size", class: num, help: "size of most reads and writes", cell: typicalSize},
			{title: "Errors", cell: func(f row) cell { return badCell(string(tables.AppendFileErrors(nil, f.Errors))) }},
			{title: "Lock wait", class: num, help: "how long its locks waited, in total",
				cell: func(f row) cell { return latencyCell(f.LockWaited, f.LockWaited > 0) }},
			{title: "Clients", cell: func(f row) cell { return textCell(r.nodes(f.Clients())) }},
			{title: "Jobs", cell: func(f row) cell { return textCell(shortList(f.Jobs())) }},
			{title: "FID", cell: func(f row) cell { return cell{text: fid(f.FID), class: "fid"} }},
		}}.append(&r.writer, r.Files.List)
}

// typicalSize returns the size of most reads, and of most writes where it differs.
func typicalSize(f *files.File) cell {
	read, reads := f.Read.TypicalSize()
	write, writes := f.Write.TypicalSize()
	switch {
	case reads && writes && read != write:
		return cell{text: size(read) + " / " + size(write), value: strconv.FormatInt(read, 10)}
	case reads:
		return sizeCell(read)
	case writes:
		return sizeCell(write)
	}
	return cell{text: "–"}
}

func fid(f track.FID) string { return string(schema.AppendFID(nil, f.Seq, f.OID, f.Ver)) }

func (r *renderer) nodes(list []lnet.NID) string {
	names := make([]string, len(list))
	for i, n := range list {
		names[i] = string(r.NIDs.Append(nil, n))
	}
	return shortList(names)
}

func shortList(names []string) string {
	const most = 4
	if len(names) <= most {
		return strings.Join(names, " ")
	}
	return strings.Join(names[:most], " ") + " and " + strconv.Itoa(len(names)-most) + " more"
}
