package metrics

import (
	"encoding/binary"
	"math"
	"time"
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

// Wire types of protobuf.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
)

// AppendProtobuf appends a snapshot as messages io.prometheus.client.MetricFamily,
// each with its length in front. Only this format has native buckets.
func AppendProtobuf(b []byte, s *Snapshot) []byte {
	for i := range s.Families {
		f := &s.Families[i]
		if len(f.Points) > 0 {
			b = appendLengthPrefixed(b, func(b []byte) []byte { return appendFamilyMessage(b, f) })
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
	b = appendString(b, familyName, name)
	b = appendString(b, familyHelp, f.Help)
	b = appendVarint(b, familyType, kind)
	for i := range f.Points {
		b = appendMessage(b, familyMetric, func(b []byte) []byte { return appendMetric(b, f, &f.Points[i]) })
	}
	if f.Unit != "" {
		b = appendString(b, familyUnit, f.Unit)
	}
	return b
}

func appendMetric(b []byte, f *FamilySnapshot, p *Point) []byte {
	for i, name := range f.Labels {
		b = appendMessage(b, metricLabel, func(b []byte) []byte {
			b = appendString(b, labelName, name)
			return appendString(b, labelValue, p.Values[i])
		})
	}
	switch f.Type {
	case GaugeType:
		return appendMessage(b, metricGauge, func(b []byte) []byte { return appendDouble(b, gaugeValue, p.Value) })
	case HistogramType:
		return appendMessage(b, metricHistogram, func(b []byte) []byte { return appendHistogramMessage(b, f, p) })
	}
	value := p.Value
	if f.Type == CounterType {
		value = float64(p.Count)
	}
	return appendMessage(b, metricCounter, func(b []byte) []byte {
		b = appendDouble(b, counterValue, value)
		return appendTimestamp(b, counterCreated, p.Created)
	})
}

func appendHistogramMessage(b []byte, f *FamilySnapshot, p *Point) []byte {
	b = appendVarint(b, histogramCount, p.Count)
	b = appendDouble(b, histogramSum, p.Value)
	var n uint64
	for i, count := range p.Classic {
		n += count
		bound := math.Inf(1)
		if i < len(f.Bounds) {
			bound = f.Bounds[i]
		}
		b = appendMessage(b, histogramBucket, func(b []byte) []byte {
			b = appendVarint(b, bucketCount, n)
			return appendDouble(b, bucketBound, bound)
		})
	}
	b = appendVarint(b, histogramSchema, zigzag(p.Native.Schema))
	b = appendDouble(b, histogramZeroThreshold, p.Native.ZeroThreshold)
	b = appendVarint(b, histogramZeroCount, p.Native.ZeroCount)

	next := 0 // number of the bucket behind the last span
	p.Native.Spans(func(first int, counts []uint64) {
		b = appendMessage(b, histogramPositiveSpan, func(b []byte) []byte {
			b = appendVarint(b, spanOffset, zigzag(first-next))
			return appendVarint(b, spanLength, uint64(len(counts)))
		})
		next = first + len(counts)
	})
	if next == 0 && len(p.Native.Counts) == 0 {
		// A span without buckets marks a histogram with native buckets that has
		// no observations above the zero bucket.
		b = appendMessage(b, histogramPositiveSpan, func(b []byte) []byte { return appendVarint(b, spanOffset, 0) })
	} else {
		b = appendMessage(b, histogramPositiveDelta, func(b []byte) []byte {
			var before uint64
			p.Native.Spans(func(_ int, counts []uint64) {
				for _, c := range counts {
					b = binary.AppendUvarint(b, zigzag(int(c)-int(before)))
					before = c
				}
			})
			return b
		})
	}
	return appendTimestamp(b, histogramCreated, p.Created)
}

func appendTimestamp(b []byte, field int, t time.Time) []byte {
	return appendMessage(b, field, func(b []byte) []byte {
		b = appendVarint(b, timestampSeconds, uint64(t.Unix()))
		return appendVarint(b, timestampNanos, uint64(t.Nanosecond()))
	})
}

func appendVarint(b []byte, field int, x uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(field<<3|wireVarint)), x)
}

func appendDouble(b []byte, field int, x float64) []byte {
	b = binary.AppendUvarint(b, uint64(field<<3|wireFixed64))
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
}

func appendString(b []byte, field int, s string) []byte {
	b = binary.AppendUvarint(b, uint64(field<<3|wireBytes))
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

func appendMessage(b []byte, field int, body func([]byte) []byte) []byte {
	return appendLengthPrefixed(binary.AppendUvarint(b, uint64(field<<3|wireBytes)), body)
}

// appendLengthPrefixed appends what body appends, with its length in front. It
// leaves a byte for the length, and moves the body where that is not enough.
func appendLengthPrefixed(b []byte, body func([]byte) []byte) []byte {
	at := len(b)
	b = body(append(b, 0))
	n := len(b) - at - 1
	if n < 0x80 {
		b[at] = byte(n)
		return b
	}
	var length [binary.MaxVarintLen64]byte
	size := binary.PutUvarint(length[:], uint64(n))
	b = append(b, length[1:size]...) // makes room
	copy(b[at+size:], b[at+1:at+1+n])
	copy(b[at:], length[:size])
	return b
}

// zigzag encodes a signed number so that small ones are short.
func zigzag(x int) uint64 { return uint64(x)<<1 ^ uint64(x>>63) }
