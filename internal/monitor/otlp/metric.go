package otlp

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/lshark/lshark/internal/monitor/metrics"
	"github.com/lshark/lshark/internal/monitor/protobuf"
)

// Field numbers of opentelemetry/proto/metrics/v1/metrics.proto.
const (
	metricNameField   = 1
	metricDescription = 2
	metricUnit        = 3
	metricGauge       = 5
	metricSum         = 7
	metricHistogram   = 9
	metricExponential = 10

	dataPoints      = 1 // of Gauge, Sum, Histogram, ExponentialHistogram
	dataTemporality = 2
	dataMonotonic   = 3

	pointStart = 2 // of all data points
	pointTime  = 3

	numberDouble     = 4
	numberInt        = 6
	numberAttributes = 7

	histogramCount      = 4
	histogramSum        = 5
	histogramBuckets    = 6
	histogramBounds     = 7
	histogramAttributes = 9

	exponentialAttributes    = 1
	exponentialCount         = 4
	exponentialSum           = 5
	exponentialScale         = 6
	exponentialZeroCount     = 7
	exponentialPositive      = 8
	exponentialZeroThreshold = 14
	bucketsOffset            = 1
	bucketsCounts            = 2

	temporalityCumulative = 2
)

// encode returns the metrics of a snapshot, with histograms by their classic buckets if
// explicit is true. They are much less than the 20 MiB that collectors accept in a
// request, as the series are bounded.
func (n *Names) encode(s *metrics.Snapshot, explicit bool) (b batch) {
	for i := range s.Families {
		f := &s.Families[i]
		for points := f.Points; len(points) > 0; { // a metric for each run of points with one name
			m := metric{FamilySnapshot: f, Family: n.family(f, &points[0]), names: n, time: nanoseconds(s.Time)}
			end := 1
			for end < len(points) && n.family(f, &points[end]).To == m.To {
				end++
			}
			m.setField(explicit)
			b.data = m.append(b.data, points[:end])
			b.items += uint64(end)
			points = points[end:]
		}
	}
	return b
}

// metric is points of a family that have the same name.
type metric struct {
	*metrics.FamilySnapshot
	Family
	names *Names
	time  uint64          // of the snapshot
	field protobuf.Number // of the data
}

func (m *metric) setField(explicit bool) {
	switch {
	case m.Type == metrics.GaugeType && !m.Sum:
		m.field = metricGauge
	case m.Type != metrics.HistogramType:
		m.field = metricSum
	case explicit && len(m.Bounds) > 0:
		m.field = metricHistogram
	default:
		m.field = metricExponential
	}
}

func (m *metric) append(b []byte, points []metrics.Point) []byte {
	b, start := protobuf.Begin(b, scopeItems)
	b = protobuf.AppendString(b, metricNameField, m.To)
	b = protobuf.AppendString(b, metricDescription, m.Help)
	if m.Family.Unit != "" {
		b = protobuf.AppendString(b, metricUnit, m.Family.Unit)
	}
	b, data := protobuf.Begin(b, m.field)
	for i := range points {
		b = m.appendPoint(b, &points[i])
	}
	if m.field != metricGauge {
		b = protobuf.AppendUint(b, dataTemporality, temporalityCumulative)
	}
	if m.field == metricSum && m.Type != metrics.GaugeType {
		b = protobuf.AppendUint(b, dataMonotonic, 1)
	}
	return protobuf.End(protobuf.End(b, data), start)
}

func (m *metric) appendPoint(b []byte, p *metrics.Point) []byte {
	b, point := protobuf.Begin(b, dataPoints)
	if m.field != metricGauge {
		b = appendCount(b, pointStart, nanoseconds(p.Created))
	}
	b = protobuf.AppendFixed64(b, pointTime, m.time)
	attributes := protobuf.Number(numberAttributes)
	switch {
	case m.field == metricHistogram:
		attributes = histogramAttributes
		b = appendHistogram(b, m.Bounds, p)
	case m.field == metricExponential:
		attributes = exponentialAttributes
		b = appendExponential(b, p)
	case m.Type == metrics.CounterType:
		b = protobuf.AppendFixed64(b, numberInt, uint64(p.Value))
	default:
		b = protobuf.AppendDouble(b, numberDouble, p.Value)
	}
	for i, label := range m.Labels {
		if label != m.Label {
			a := m.names.attribute(label, p.Values[i])
			b = appendAttributes(b, attributes, []Attribute{a})
		}
	}
	return protobuf.End(appendAttributes(b, attributes, m.Constant), point)
}

func appendHistogram(b []byte, bounds []float64, p *metrics.Point) []byte {
	b = appendCount(b, histogramCount, p.Count)
	b = protobuf.AppendDouble(b, histogramSum, p.Value)
	b, start := protobuf.Begin(b, histogramBuckets)
	for _, n := range p.Classic {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	b, start = protobuf.Begin(protobuf.End(b, start), histogramBounds)
	for _, bound := range bounds {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(bound))
	}
	return protobuf.End(b, start)
}

// appendExponential appends the native buckets of a histogram. OpenTelemetry
// numbers a bucket by its lower bound, Prometheus by its upper.
func appendExponential(b []byte, p *metrics.Point) []byte {
	n := &p.Native
	b = appendCount(b, exponentialCount, p.Count)
	b = protobuf.AppendDouble(b, exponentialSum, p.Value)
	b = protobuf.AppendSint(b, exponentialScale, int64(n.Schema))
	b = appendCount(b, exponentialZeroCount, n.ZeroCount)
	if len(n.Counts) > 0 {
		var positive, counts int
		b, positive = protobuf.Begin(b, exponentialPositive)
		b = protobuf.AppendSint(b, bucketsOffset, int64(n.Offset)-1)
		b, counts = protobuf.Begin(b, bucketsCounts)
		for _, count := range n.Counts {
			b = binary.AppendUvarint(b, count)
		}
		b = protobuf.End(protobuf.End(b, counts), positive)
	}
	return protobuf.AppendDouble(b, exponentialZeroThreshold, n.ZeroThreshold)
}

// appendCount appends a number, unless it is 0, which a receiver assumes.
func appendCount(b []byte, field protobuf.Number, n uint64) []byte {
	if n == 0 {
		return b
	}
	return protobuf.AppendFixed64(b, field, n)
}

// nanoseconds returns a time as nanoseconds since 1970, and 0 for times before.
func nanoseconds(t time.Time) uint64 {
	return uint64(max(t.UnixNano(), 0))
}
