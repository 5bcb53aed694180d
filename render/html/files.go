package html

import (
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/files"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

// files appends the files with the most bytes.
func (r *renderer) files() {
	if len(r.Files.List) == 0 {
		r.nothing("No RPC was about a file.")
		return
	}
	t := &table{id: "by-file", caption: "Files with the most bytes", rest: "lshark files", omitted: r.Files.Count - int64(len(r.Files.List)), columns: []column{
		{title: "Path"}, {title: "Read", num: true}, {title: "Written", num: true}, {title: "RPCs", num: true}, {title: "Opens", num: true},
		{title: "Pattern", help: "how the ranges that were read and written follow each other, most of them"}, {title: "I/O size", num: true, help: "size of most reads and writes"},
		{title: "Errors"}, {title: "Lock wait", num: true, help: "how long its locks waited, in total"}, {title: "Clients"}, {title: "Jobs"}, {title: "FID"},
	}}
	for _, f := range r.Files.List {
		path := f.Path()
		if path == "" {
			path = fid(f.FID)
		}
		errors := cell{text: "–"}
		if text := fileErrors(f.Errors); text != "" {
			errors = cell{text: text, class: "bad"}
		}
		t.add(cell{text: path, class: "path"}, sizeCell(f.Read.Bytes), sizeCell(f.Write.Bytes), numberCell(f.RPCs), numberCell(f.Count[files.Open]),
			textCell(f.Pattern().String()), typicalSize(f), errors, latencyCell(f.LockWaited, f.LockWaited > 0),
			textCell(r.nodes(f.Clients())), textCell(shortList(f.Jobs())), cell{text: fid(f.FID), class: "fid"})
	}
	r.table(t)
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

func fileErrors(list []files.Error) string {
	var b []byte
	for i, e := range list {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(append(records.AppendErrno(b, e.Errno), ':'), e.Count, 10)
	}
	return string(b)
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
