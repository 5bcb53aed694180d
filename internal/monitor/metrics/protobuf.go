package metrics

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/lshark/lshark/internal/monitor/protobuf"
)

// AppendProtobuf appends a snapshot as messages io.prometheus.client.MetricFamily,
// each with its length in front. Only this format has native buckets. There is no JSON
// of it: the names of fields are for the reader.
func AppendProtobuf(b []byte, s *Snapshot) []byte {
	e := protobuf.Encoder{Buf: b}
	for i := range s.Families {
		if f := &s.Families[i]; len(f.Points) > 0 {
			e.Prefixed(func() { encodeFamily(&e, f) })
		}
	}
	return e.Buf
}

func encodeFamily(e *protobuf.Encoder, f *FamilySnapshot) {
	name, kind := f.Name, uint64(1)
	switch f.Type {
	case CounterType, FloatCounterType:
		name, kind = name+"_total", 0
	case HistogramType:
		kind = 4
	}
	e.String(1, "name", name)
	e.String(2, "help", f.Help)
	e.Uint(3, "type", kind)
	for i := range f.Points {
		e.Message(4, "metric", func() { encodeMetric(e, f, &f.Points[i]) })
	}
	if f.Unit != "" {
		e.String(5, "unit", f.Unit)
	}
}

func encodeMetric(e *protobuf.Encoder, f *FamilySnapshot, p *Series) {
	for i, label := range f.Labels {
		e.Message(1, "label", func() {
			e.String(1, "name", label.Name)
			e.String(2, "value", p.Values[i])
		})
	}
	created := func() {
		e.Uint(1, "seconds", uint64(p.Created.Unix()))
		e.Uint(2, "nanos", uint64(p.Created.Nanosecond()))
	}
	switch f.Type {
	case GaugeType:
		e.Message(2, "gauge", func() { e.Double(1, "value", p.Value) })
	case HistogramType:
		e.Message(7, "histogram", func() {
			encodeHistogram(e, f, p)
			e.Message(15, "createdTimestamp", created)
		})
	default:
		e.Message(3, "counter", func() {
			e.Double(1, "value", p.Value)
			e.Message(3, "createdTimestamp", created)
		})
	}
}

func encodeHistogram(e *protobuf.Encoder, f *FamilySnapshot, p *Series) {
	e.Uint(1, "sampleCount", p.Count)
	e.Double(2, "sampleSum", p.Value)
	var n uint64
	for i, count := range p.Classic {
		n += count
		bound := math.Inf(1)
		if i < len(f.Bounds) {
			bound = f.Bounds[i]
		}
		e.Message(3, "bucket", func() {
			e.Uint(1, "cumulativeCount", n)
			e.Double(2, "upperBound", bound)
		})
	}
	e.Sint(5, int64(p.Native.Schema))
	e.Double(6, "zeroThreshold", p.Native.ZeroThreshold)
	e.Uint(7, "zeroCount", p.Native.ZeroCount)
	if len(p.Native.Counts) == 0 {
		// A span without buckets marks a histogram with native buckets that has
		// no observations above the zero bucket.
		e.Message(12, "positiveSpan", func() { e.Uint(1, "offset", 0) })
		return
	}
	next := 0 // number of the bucket behind the last span
	p.Native.Spans(func(first int, counts []uint64) {
		e.Message(12, "positiveSpan", func() {
			e.Sint(1, int64(first-next))
			e.Uint(2, "length", uint64(len(counts)))
		})
		next = first + len(counts)
	})
	e.Message(13, "positiveDelta", func() {
		var before uint64
		p.Native.Spans(func(_ int, counts []uint64) {
			for _, c := range counts {
				e.Buf = protowire.AppendVarint(e.Buf, protowire.EncodeZigZag(int64(c-before)))
				before = c
			}
		})
	})
}
