package metrics

import (
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/lshark/lshark/internal/monitor/protobuf"
)

// Numbers of the fields of io.prometheus.client.MetricFamily and what is in it.
const (
	familyName   = 1
	familyHelp   = 2
	familyType   = 3
	familyMetric = 4
	familyUnit   = 5

	metricLabel     = 1
	metricGauge     = 2
	metricCounter   = 3
	metricHistogram = 7

	labelName  = 1
	labelValue = 2

	gaugeValue     = 1
	counterValue   = 1
	counterCreated = 3

	histogramCount         = 1
	histogramSum           = 2
	histogramBucket        = 3
	histogramSchema        = 5
	histogramZeroThreshold = 6
	histogramZeroCount     = 7
	histogramPositiveSpan  = 12
	histogramPositiveDelta = 13
	histogramCreated       = 15

	bucketCount = 1
	bucketBound = 2

	spanOffset = 1
	spanLength = 2

	timestampSeconds = 1
	timestampNanos   = 2
)

// AppendProtobuf appends a snapshot as messages io.prometheus.client.MetricFamily,
// each with its length in front. Only this format has native buckets.
func AppendProtobuf(b []byte, s *Snapshot) []byte {
	for i := range s.Families {
		f := &s.Families[i]
		if len(f.Points) > 0 {
			message, start := protobuf.BeginPrefixed(b)
			b = protobuf.End(appendFamilyMessage(message, f), start)
		}
	}
	return b
}

func appendFamilyMessage(b []byte, f *FamilySnapshot) []byte {
	name, kind := f.Name, uint64(1)
	switch f.Type {
	case CounterType, FloatCounterType:
		name, kind = name+"_total", 0
	case HistogramType:
		kind = 4
	}
	b = protobuf.AppendString(b, familyName, name)
	b = protobuf.AppendString(b, familyHelp, f.Help)
	b = protobuf.AppendUint(b, familyType, kind)
	for i := range f.Points {
		b = appendMessage(b, familyMetric, func(b []byte) []byte { return appendMetric(b, f, &f.Points[i]) })
	}
	if f.Unit != "" {
		b = protobuf.AppendString(b, familyUnit, f.Unit)
	}
	return b
}

func appendMetric(b []byte, f *FamilySnapshot, p *Point) []byte {
	for i, name := range f.Labels {
		b = appendMessage(b, metricLabel, func(b []byte) []byte {
			b = protobuf.AppendString(b, labelName, name)
			return protobuf.AppendString(b, labelValue, p.Values[i])
		})
	}
	switch f.Type {
	case GaugeType:
		return appendMessage(b, metricGauge, func(b []byte) []byte { return protobuf.AppendDouble(b, gaugeValue, p.Value) })
	case HistogramType:
		return appendMessage(b, metricHistogram, func(b []byte) []byte { return appendHistogramMessage(b, f, p) })
	}
	return appendMessage(b, metricCounter, func(b []byte) []byte {
		b = protobuf.AppendDouble(b, counterValue, p.Value)
		return appendTimestamp(b, counterCreated, p.Created)
	})
}

func appendHistogramMessage(b []byte, f *FamilySnapshot, p *Point) []byte {
	b = protobuf.AppendUint(b, histogramCount, p.Count)
	b = protobuf.AppendDouble(b, histogramSum, p.Value)
	var n uint64
	for i, count := range p.Classic {
		n += count
		bound := math.Inf(1)
		if i < len(f.Bounds) {
			bound = f.Bounds[i]
		}
		b = appendMessage(b, histogramBucket, func(b []byte) []byte {
			b = protobuf.AppendUint(b, bucketCount, n)
			return protobuf.AppendDouble(b, bucketBound, bound)
		})
	}
	b = protobuf.AppendSint(b, histogramSchema, int64(p.Native.Schema))
	b = protobuf.AppendDouble(b, histogramZeroThreshold, p.Native.ZeroThreshold)
	b = protobuf.AppendUint(b, histogramZeroCount, p.Native.ZeroCount)

	next := 0 // number of the bucket behind the last span
	p.Native.Spans(func(first int, counts []uint64) {
		b = appendMessage(b, histogramPositiveSpan, func(b []byte) []byte {
			b = protobuf.AppendSint(b, spanOffset, int64(first-next))
			return protobuf.AppendUint(b, spanLength, uint64(len(counts)))
		})
		next = first + len(counts)
	})
	if next == 0 && len(p.Native.Counts) == 0 {
		// A span without buckets marks a histogram with native buckets that has
		// no observations above the zero bucket.
		b = appendMessage(b, histogramPositiveSpan, func(b []byte) []byte { return protobuf.AppendUint(b, spanOffset, 0) })
	} else {
		b = appendMessage(b, histogramPositiveDelta, func(b []byte) []byte {
			var before uint64
			p.Native.Spans(func(_ int, counts []uint64) {
				for _, c := range counts {
					b = protowire.AppendVarint(b, protowire.EncodeZigZag(int64(c-before)))
					before = c
				}
			})
			return b
		})
	}
	return appendTimestamp(b, histogramCreated, p.Created)
}

func appendTimestamp(b []byte, field protobuf.Number, t time.Time) []byte {
	return appendMessage(b, field, func(b []byte) []byte {
		b = protobuf.AppendUint(b, timestampSeconds, uint64(t.Unix()))
		return protobuf.AppendUint(b, timestampNanos, uint64(t.Nanosecond()))
	})
}

func appendMessage(b []byte, field protobuf.Number, body func([]byte) []byte) []byte {
	b, start := protobuf.Begin(b, field)
	return protobuf.End(body(b), start)
}
