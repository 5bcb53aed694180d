package html

import (
	"github.com/lshark/lshark/render/tables"
)

// files appends the files with the most bytes.
func (r *renderer) files() {
	list := r.Files.List
	if len(list) == 0 {
		r.nothing("No RPC was about a file.")
		return
	}
	r.records(table{id: "by-file", caption: "Files with the most bytes", rest: "lshark files", omitted: int(r.Files.Count) - len(list)},
		tables.Files.Sheet(r.options(), r.Capture.First, list))
}
