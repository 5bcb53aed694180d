package metrics

import (
	"math"
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
	isCounter := f.Type == CounterType || f.Type == FloatCounterType
	name := f.Name
	if isCounter && !open {
		name += "_total"
	}
	b = appendMeta(b, "TYPE", name, f.Type.String(), false)
	if open && f.Unit != "" {
		b = appendMeta(b, "UNIT", name, f.Unit, false)
	}
	b = appendMeta(b, "HELP", name, f.Help, open)

	if f.Type == HistogramType {
		bounds := make([]string, len(f.Bounds)+1)
		for i, x := range f.Bounds {
			bounds[i] = string(appendBound(nil, x, open))
		}
		bounds[len(f.Bounds)] = "+Inf"
		for i := range f.Points {
			b = appendHistogram(b, f, &f.Points[i], bounds)
			b = appendCreated(b, f, &f.Points[i], open)
		}
		return b
	}
	suffix := ""
	if isCounter {
		suffix = "_total"
	}
	for i := range f.Points {
		p := &f.Points[i]
		b = appendSample(b, f, suffix, p)
		if f.Type == CounterType {
			b = strconv.AppendUint(b, p.Count, 10)
		} else {
			b = appendFloat(b, p.Value)
		}
		b = append(b, '\n')
		b = appendCreated(b, f, p, open)
	}
	return b
}

// appendMeta appends a line about a family. OpenMetrics escapes double quotes
// too.
func appendMeta(b []byte, keyword, name, text string, quotes bool) []byte {
	b = append(b, "# "...)
	b = append(b, keyword...)
	b = append(b, ' ')
	b = append(b, name...)
	b = append(b, ' ')
	b = appendEscaped(b, text, quotes)
	return append(b, '\n')
}

func appendSample(b []byte, f *FamilySnapshot, suffix string, p *Point) []byte {
	b = append(b, f.Name...)
	b = append(b, suffix...)
	if p.labels != "" {
		b = append(b, '{')
		b = append(b, p.labels...)
		b = append(b, '}')
	}
	return append(b, ' ')
}

func appendHistogram(b []byte, f *FamilySnapshot, p *Point, bounds []string) []byte {
	var n uint64
	for i, count := range p.Classic {
		n += count
		b = append(b, f.Name...)
		b = append(b, "_bucket{"...)
		if p.labels != "" {
			b = append(b, p.labels...)
			b = append(b, ',')
		}
		b = append(b, `le="`...)
		b = append(b, bounds[i]...)
		b = append(b, `"} `...)
		b = strconv.AppendUint(b, n, 10)
		b = append(b, '\n')
	}
	b = appendSample(b, f, "_count", p)
	b = strconv.AppendUint(b, p.Count, 10)
	b = append(b, '\n')
	b = appendSample(b, f, "_sum", p)
	b = appendFloat(b, p.Value)
	return append(b, '\n')
}

func appendCreated(b []byte, f *FamilySnapshot, p *Point, open bool) []byte {
	if !open || !f.exposeCreated {
		return b
	}
	b = appendSample(b, f, "_created", p)
	ms := p.Created.UnixMilli()
	b = strconv.AppendInt(b, ms/1000, 10)
	b = append(b, '.', byte('0'+ms/100%10), byte('0'+ms/10%10), byte('0'+ms%10))
	return append(b, '\n')
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
