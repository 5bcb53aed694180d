package otlp

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/lshark/lshark/internal/monitor/metrics"
	"github.com/lshark/lshark/internal/monitor/protobuf"
)

// dataField is the number of the field of Metric that has the points.
type dataField = protobuf.Number

const (
	gaugeData       dataField = 5
	sumData         dataField = 7
	histogramData   dataField = 9
	exponentialData dataField = 10
)

// Encode returns the metrics of a snapshot, with histograms by their classic buckets if
// explicit is true, and the number of their points. They are much less than the 20 MiB
// that collectors accept in a request, as the series are bounded. There is no JSON of
// metrics: the names of fields are for the reader.
func (n *Names) Encode(s *metrics.Snapshot, explicit bool) (data []byte, items uint64) {
	var e protobuf.Encoder
	for i := range s.Families {
		f := &s.Families[i]
		for points := f.Points; len(points) > 0; { // a metric for each run of points with one name
			m := metric{FamilySnapshot: f, Family: n.family(f, &points[0]), names: n, time: nanoseconds(s.Time)}
			end := 1
			for end < len(points) && n.family(f, &points[end]).To == m.To {
				end++
			}
			m.setData(explicit)
			m.encode(&e, points[:end])
			items += uint64(end)
			points = points[end:]
		}
	}
	return e.Buf, items
}

// metric is points of a family that have the same name.
type metric struct {
	*metrics.FamilySnapshot
	Family
	names *Names
	time  uint64 // of the snapshot
	data  dataField
}

func (m *metric) setData(explicit bool) {
	switch {
	case m.Type == metrics.GaugeType && !m.Sum:
		m.data = gaugeData
	case m.Type != metrics.HistogramType:
		m.data = sumData
	case explicit && len(m.Bounds) > 0:
		m.data = histogramData
	default:
		m.data = exponentialData
	}
}

// encode appends the metric, as a field of ScopeMetrics.
func (m *metric) encode(e *protobuf.Encoder, points []metrics.Series) {
	const cumulative = 2
	e.Message(scopeItems, "", func() {
		e.String(1, "name", m.To)
		e.String(2, "description", m.Help)
		if m.Family.Unit != "" {
			e.String(3, "unit", m.Family.Unit)
		}
		e.Message(m.data, "", func() {
			for i := range points {
				e.Message(1, "dataPoints", func() { m.encodePoint(e, &points[i]) })
			}
			if m.data != gaugeData {
				e.Uint(2, "aggregationTemporality", cumulative)
			}
			if m.data == sumData && m.Type != metrics.GaugeType {
				e.Uint(3, "isMonotonic", 1) // it is true
			}
		})
	})
}

func (m *metric) encodePoint(e *protobuf.Encoder, p *metrics.Series) {
	if m.data != gaugeData {
		encodeCount(e, 2, "startTimeUnixNano", nanoseconds(p.Created))
	}
	e.Fixed64(3, "timeUnixNano", m.time)
	attributes := protobuf.Number(7)
	switch {
	case m.data == histogramData:
		attributes = 9
		encodeHistogram(e, m.Bounds, p)
	case m.data == exponentialData:
		attributes = 1
		encodeExponential(e, p)
	case m.Type == metrics.CounterType:
		e.Fixed64(6, "asInt", uint64(p.Value))
	default:
		e.Double(4, "asDouble", p.Value)
	}
	for i, label := range m.Labels {
		if label.Name != m.Label {
			encodeAttributes(e, attributes, []Attribute{m.names.attribute(label.Name, p.Values[i])})
		}
	}
	encodeAttributes(e, attributes, m.Constant)
}

func encodeHistogram(e *protobuf.Encoder, bounds []float64, p *metrics.Series) {
	encodeCount(e, 4, "count", p.Count)
	e.Double(5, "sum", p.Value)
	e.Message(6, "bucketCounts", func() {
		for _, n := range p.Classic {
			e.Buf = binary.LittleEndian.AppendUint64(e.Buf, n)
		}
	})
	e.Message(7, "explicitBounds", func() {
		for _, bound := range bounds {
			e.Buf = binary.LittleEndian.AppendUint64(e.Buf, math.Float64bits(bound))
		}
	})
}

// encodeExponential appends the native buckets of a histogram. OpenTelemetry
// numbers a bucket by its lower bound, Prometheus by its upper.
func encodeExponential(e *protobuf.Encoder, p *metrics.Series) {
	n := &p.Native
	encodeCount(e, 4, "count", p.Count)
	e.Double(5, "sum", p.Value)
	e.Sint(6, int64(n.Schema))
	encodeCount(e, 7, "zeroCount", n.ZeroCount)
	if len(n.Counts) > 0 {
		e.Message(8, "positive", func() {
			e.Sint(1, int64(n.Offset)-1)
			e.Message(2, "bucketCounts", func() {
				for _, count := range n.Counts {
					e.Buf = binary.AppendUvarint(e.Buf, count)
				}
			})
		})
	}
	e.Double(14, "zeroThreshold", n.ZeroThreshold)
}

// encodeCount appends a number, unless it is 0, which a receiver assumes.
func encodeCount(e *protobuf.Encoder, field protobuf.Number, name string, n uint64) {
	if n != 0 {
		e.Fixed64(field, name, n)
	}
}

// nanoseconds returns a time as nanoseconds since 1970, and 0 for times before.
func nanoseconds(t time.Time) uint64 {
	return uint64(max(t.UnixNano(), 0))
}
