package render

import (
	"slices"

	"github.com/lshark/lshark/records"
	"github.com/lshark/lshark/track"
)

// StatsJSON renders statistics as one JSON object a row.
type StatsJSON struct {
	opt     StatsOptions
	members []member[*records.Row]
	json    recordJSON[*records.Row]
}

// NewStatsJSON makes a JSON renderer.
func NewStatsJSON(o StatsOptions) *StatsJSON {
	j := &StatsJSON{opt: o, json: recordJSON[*records.Row]{format: recordFormat{trimZeros: true}}}
	all := members(records.Rows.Keys)
	for _, m := range all {
		switch {
		case (m.Name == "time" || m.Name == "interval") && o.Step == 0:
		case !slices.Contains(track.DimensionNames(), m.Name):
			j.members = append(j.members, m)
		case m.Name == track.DimensionNames()[0]: // put those of By here, in their order
			for _, d := range o.By {
				i := slices.IndexFunc(all, func(m member[*records.Row]) bool { return m.Name == d.String() })
				j.members = append(j.members, all[i])
			}
		}
	}
	return j
}

// AppendInterval appends the rows of an interval.
func (j *StatsJSON) AppendInterval(dst []byte, i *track.Interval) []byte {
	for _, r := range sortRows(i, j.opt.By, j.opt.Sort) {
		row := records.Row{Row: r, From: i.From, To: i.To}
		dst = append(j.json.object(dst, j.members, &row, -1), '\n')
	}
	return dst
}
