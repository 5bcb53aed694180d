package tables

import (
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// StatsTSV renders statistics as lines of values, separated by tabs. Times are in
// seconds, unknown values are empty.
type StatsTSV struct {
	opt     StatsOptions
	columns []column[*records.Row]
	fields  []*render.RecordField[*records.Row] // of the columns that show a key as it is
}

// NewStatsTSV makes a renderer.
func NewStatsTSV(o StatsOptions) *StatsTSV {
	t := &StatsTSV{opt: o}
	if o.Step > 0 {
		t.add("time", "interval")
	}
	for _, d := range o.By {
		t.add(d.String())
	}
	t.columns = append(t.columns, tsvKind.columns...)
	if o.Rates {
		t.add(rateKeys...)
	}
	for _, c := range t.columns {
		var f *render.RecordField[*records.Row]
		if c.append == nil {
			f = render.NewRecordField(c.path(&records.Rows), true)
		}
		t.fields = append(t.fields, f)
	}
	return t
}

func (t *StatsTSV) add(keys ...string) {
	for _, key := range keys {
		t.columns = append(t.columns, column[*records.Row]{title: key})
	}
}

// Header appends a line with the names.
func (t *StatsTSV) Header(dst []byte) []byte {
	for k := range t.columns {
		if k > 0 {
			dst = append(dst, '\t')
		}
		dst = append(dst, t.columns[k].title...)
	}
	return append(dst, '\n')
}

// AppendInterval appends the rows of an interval.
func (t *StatsTSV) AppendInterval(dst []byte, i *track.Interval) []byte {
	for _, r := range SortRows(i, t.opt.By, t.opt.Sort) {
		row := records.Row{Row: r, Interval: i}
		for k, f := range t.fields {
			if k > 0 {
				dst = append(dst, '\t')
			}
			if f == nil {
				dst = t.columns[k].append(nil, dst, &row)
			} else {
				dst = f.Append(dst, &row)
			}
		}
		dst = append(dst, '\n')
	}
	return dst
}
