package tables

import (
	"slices"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// StatsJSON renders statistics as one JSON object a row.
type StatsJSON struct {
	opt  StatsOptions
	json *render.RecordJSON[*records.Row]
}

// NewStatsJSON makes a JSON renderer.
func NewStatsJSON(o StatsOptions) *StatsJSON {
	all := records.Rows.Keys()
	var keys []records.Key[*records.Row]
	for _, k := range all {
		switch {
		case (k.Name == "time" || k.Name == "interval") && o.Step == 0:
		case slices.Contains(rateKeys, k.Name) && !o.Rates:
		case !slices.Contains(track.DimensionNames(), k.Name):
			keys = append(keys, k)
		case k.Name == track.DimensionNames()[0]: // put those of By here, in their order
			for _, d := range o.By {
				i := slices.IndexFunc(all, func(k records.Key[*records.Row]) bool { return k.Name == d.String() })
				keys = append(keys, all[i])
			}
		}
	}
	return &StatsJSON{opt: o, json: render.NewRecordJSON(keys, true)}
}

// AppendInterval appends the rows of an interval.
func (j *StatsJSON) AppendInterval(dst []byte, i *track.Interval) []byte {
	for _, r := range SortRows(i, j.opt.By, j.opt.Sort) {
		row := records.Row{Row: r, Interval: i}
		dst = append(j.json.Append(dst, &row), '\n')
	}
	return dst
}
