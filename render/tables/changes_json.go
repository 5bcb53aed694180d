package tables

import (
	"slices"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/comparison"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// ChangesJSON renders rows of statistics and connections of two captures as one
// JSON object a line.
type ChangesJSON struct {
	rows        *render.RecordJSON[*comparison.Row]
	totals      *render.RecordJSON[*comparison.Row]
	connections *render.RecordJSON[*comparison.Connection]
}

// NewChangesJSON makes a renderer of rows that are grouped by dimensions.
func NewChangesJSON(by []track.Dimension) *ChangesJSON {
	all := records.Changes.Keys()
	var rows, totals []records.Key[*comparison.Row]
	for _, d := range by {
		i := slices.IndexFunc(all, func(k records.Key[*comparison.Row]) bool { return k.Name == d.String() })
		rows = append(rows, all[i])
	}
	for _, k := range all {
		if !slices.Contains(track.DimensionNames(), k.Name) {
			rows, totals = append(rows, k), append(totals, k)
		}
	}
	return &ChangesJSON{render.NewRecordJSON(rows, true), render.NewRecordJSON(totals, true), render.NewRecordJSON(records.ConnectionChanges.Keys(), false)}
}

// AppendRow appends the object of a row and a newline.
func (j *ChangesJSON) AppendRow(dst []byte, r *comparison.Row) []byte {
	if r.Total {
		return append(j.totals.Append(dst, r), '\n')
	}
	return append(j.rows.Append(dst, r), '\n')
}

// AppendConnection appends the object of what the connects to a target negotiated,
// and a newline.
func (j *ChangesJSON) AppendConnection(dst []byte, c *comparison.Connection) []byte {
	return append(j.connections.Append(dst, c), '\n')
}
