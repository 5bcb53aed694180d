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

// maxMetricsBytes is the size at which a snapshot goes on in another request.
// Collectors refuse requests of more than 20 MiB.
const maxMetricsBytes = 4 << 20

// metricEncoder turns snapshots into the bodies of requests.
type metricEncoder struct {
	names    *Names
	explicit bool // histograms by their classic buckets
	limit    int  // bytes of a body
	envelope *envelope
	take     func() *batch // an empty batch

	full  []*batch // of the snapshot that is being encoded
	batch *batch   // nil: nothing is in it yet
	time  uint64   // of the snapshot
	attrs []string // the attribute of each label
}

// encode returns the bodies for a snapshot. The slice is valid until the next
// call.
func (m *metricEncoder) encode(s *metrics.Snapshot) []*batch {
	m.full, m.time = m.full[:0], nanoseconds(s.Time)
	for i := range s.Families {
		f := &s.Families[i]
		for j := range m.names.Families {
			if entry := &m.names.Families[j]; entry.From == f.Name {
				m.family(f, entry)
			}
		}
		m.family(f, nil)
	}
	m.finish()
	return m.full
}

// finish ends the current body, if anything is in it.
func (m *metricEncoder) finish() {
	if m.batch != nil {
		m.envelope.seal(m.batch)
		m.full = append(m.full, m.batch)
		m.batch = nil
	}
}

// selected reports whether a point of a family is exported by an entry. With entry
// nil, it reports whether no entry matches.
func (m *metricEncoder) selected(f *metrics.FamilySnapshot, p *metrics.Point, entry *Family) bool {
	if entry != nil {
		return entry.match(f, p)
	}
	for i := range m.names.Families {
		if e := &m.names.Families[i]; e.From == f.Name && e.match(f, p) {
			return false
		}
	}
	return true
}

// family appends the points of a family that belong to an entry, as a metric,
// or as several if they do not fit into one body.
func (m *metricEncoder) family(f *metrics.FamilySnapshot, entry *Family) {
	m.attrs = m.names.attributeNames(m.attrs[:0], entry, f.Labels)
	open := false
	var metric, data int
	for i := range f.Points {
		p := &f.Points[i]
		if !m.selected(f, p, entry) {
			continue
		}
		if open && len(m.batch.data) >= m.limit {
			m.endMetric(f, entry, metric, data)
			m.finish()
			open = false
		}
		if !open {
			metric, data = m.beginMetric(f, entry)
			open = true
		}
		m.point(f, p, entry)
		m.batch.items++
	}
	if open {
		m.endMetric(f, entry, metric, data)
	}
}

func (m *metricEncoder) beginMetric(f *metrics.FamilySnapshot, entry *Family) (metric, data int) {
	if m.batch == nil {
		m.batch = m.take()
	}
	name, unit := metricName(f)
	if entry != nil {
		name = entry.To
		if entry.Unit != "" {
			unit = entry.Unit
		}
	}
	b, metric := protobuf.Begin(m.batch.data, scopeItems)
	b = protobuf.AppendString(b, metricNameField, name)
	b = protobuf.AppendString(b, metricDescription, f.Help)
	if unit != "" {
		b = protobuf.AppendString(b, metricUnit, unit)
	}
	m.batch.data, data = protobuf.Begin(b, m.dataField(f, entry))
	return metric, data
}

func (m *metricEncoder) endMetric(f *metrics.FamilySnapshot, entry *Family, metric, data int) {
	b := m.batch.data
	field := m.dataField(f, entry)
	if field != metricGauge {
		b = protobuf.AppendUint(b, dataTemporality, temporalityCumulative)
	}
	if field == metricSum && f.Type != metrics.GaugeType {
		b = protobuf.AppendUint(b, dataMonotonic, 1)
	}
	m.batch.data = protobuf.End(protobuf.End(b, data), metric)
}

func (m *metricEncoder) dataField(f *metrics.FamilySnapshot, entry *Family) protobuf.Number {
	switch {
	case f.Type == metrics.GaugeType && (entry == nil || !entry.Sum):
		return metricGauge
	case f.Type != metrics.HistogramType:
		return metricSum
	case m.explicit && len(f.Bounds) > 0:
		return metricHistogram
	}
	return metricExponential
}

func (m *metricEncoder) point(f *metrics.FamilySnapshot, p *metrics.Point, entry *Family) {
	b, point := protobuf.Begin(m.batch.data, dataPoints)
	field := m.dataField(f, entry)
	if field != metricGauge && !p.Created.IsZero() {
		b = protobuf.AppendFixed64(b, pointStart, nanoseconds(p.Created))
	}
	b = protobuf.AppendFixed64(b, pointTime, m.time)
	attributes := protobuf.Number(numberAttributes)
	switch field {
	case metricHistogram:
		attributes = histogramAttributes
		b = appendHistogram(b, f.Bounds, p)
	case metricExponential:
		attributes = exponentialAttributes
		b = appendExponential(b, p)
	default:
		if f.Type == metrics.CounterType {
			b = protobuf.AppendFixed64(b, numberInt, min(p.Count, math.MaxInt64))
		} else {
			b = protobuf.AppendDouble(b, numberDouble, p.Value)
		}
	}
	for i, name := range m.attrs {
		if name != "" && p.Values[i] != "" {
			b = appendText(b, attributes, name, attributeValue(name, p.Values[i]))
		}
	}
	if entry != nil {
		for i := range entry.Constant {
			if a := &entry.Constant[i]; !a.absent() {
				b = a.append(b, attributes, maxText)
			}
		}
	}
	m.batch.data = protobuf.End(b, point)
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

// appendCount appends a count, unless it is 0, which a receiver assumes.
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
