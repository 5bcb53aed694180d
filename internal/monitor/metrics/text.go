package metrics

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// AppendOpenMetrics appends a snapshot in the text format of OpenMetrics 1.0.
func AppendOpenMetrics(b []byte, s *Snapshot) []byte {
	for i := range s.Families {
		b = appendFamily(b, &s.Families[i], true)
	}
	return append(b, "# EOF\n"...)
}

// AppendText appends a snapshot in the older text format of Prometheus, 0.0.4.
func AppendText(b []byte, s *Snapshot) []byte {
	for i := range s.Families {
		b = appendFamily(b, &s.Families[i], false)
	}
	return b
}

// appendFamily appends a family, unless it has no series.
func appendFamily(b []byte, f *FamilySnapshot, open bool) []byte {
	if len(f.Points) == 0 {
		return b
	}
	name, suffix, help := f.Name, "", escapedHelp
	if f.Type == CounterType || f.Type == FloatCounterType {
		suffix = "_total"
	}
	if open {
		help = escaped
	} else {
		name += suffix
	}
	b = fmt.Appendf(b, "# TYPE %s %s\n", name, f.Type)
	if open && f.Unit != "" {
		b = fmt.Appendf(b, "# UNIT %s %s\n", name, f.Unit)
	}
	b = fmt.Appendf(b, "# HELP %s %s\n", name, help.Replace(f.Help))
	var bounds []string
	for _, x := range append(slices.Clip(f.Bounds), math.Inf(1)) {
		bounds = append(bounds, `le="`+string(appendBound(nil, x, open))+`"`)
	}
	for i := range f.Points {
		p := &f.Points[i]
		if f.Type == HistogramType {
			var n uint64
			for k, count := range p.Classic {
				n += count
				b = appendSample(b, f.Name, "_bucket", float64(n), p.labels, bounds[k])
			}
			b = appendSample(b, f.Name, "_count", float64(p.Count), p.labels)
			b = appendSample(b, f.Name, "_sum", p.Value, p.labels)
		} else {
			b = appendSample(b, f.Name, suffix, p.Value, p.labels)
		}
		if open && f.hasTop() && f.Type != GaugeType {
			ms := p.Created.UnixMilli()
			b = fmt.Appendf(b, "%s_created{%s} %d.%03d\n", f.Name, p.labels, ms/1000, ms%1000)
		}
	}
	return b
}

// appendSample appends a line with a value. Labels may be empty.
func appendSample(b []byte, name, suffix string, value float64, labels ...string) []byte {
	b = append(append(b, name...), suffix...)
	between := byte('{')
	for _, l := range labels {
		if l != "" {
			b = append(append(b, between), l...)
			between = ','
		}
	}
	if between == ',' {
		b = append(b, '}')
	}
	return append(appendFloat(append(b, ' '), value), '\n')
}

// appendBound appends the bound of a bucket. OpenMetrics has 1.0 where the older
// format has 1.
func appendBound(b []byte, x float64, open bool) []byte {
	if open && x == math.Trunc(x) && x < 1e6 {
		return strconv.AppendFloat(b, x, 'f', 1, 64)
	}
	return appendFloat(b, x)
}

func appendFloat(b []byte, x float64) []byte {
	switch {
	case math.IsInf(x, 1):
		return append(b, "+Inf"...)
	case x == math.Trunc(x) && math.Abs(x) < 1e15:
		return strconv.AppendInt(b, int64(x), 10)
	}
	return strconv.AppendFloat(b, x, 'g', -1, 64)
}
