package otlp

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lshark/lshark/internal/wiretest"

	"github.com/lshark/lshark/internal/monitor/metrics"
	"github.com/lshark/lshark/internal/must"
)

func testResource(t testing.TB) Resource {
	t.Helper()
	r, err := NewResource("lshark", "1.2.3", "oss1", func(string) string { return "" })
	must.NoError(t, err)
	return r
}

// testSpan returns a span with every field.
func testSpan() *Span {
	const nid, xid = "192.0.2.3@tcp", 1840123456789
	return &Span{
		Trace: TraceOf(nid, xid), ID: SpanOf(nid, xid, Server, 0), Parent: SpanOf(nid, xid, Client, 0),
		Name: "OST_WRITE", Kind: Server, Start: 1700000000000000001, End: 1700000000250000001,
		Error: "ENOSPC",
		Attributes: []Attribute{
			String("rpc.system.name", "lustre"),
			String("rpc.method", "OST_WRITE"),
			String("lustre.target", "lustre-OST0000"),
			String("lustre.job", ""), // absent
			String("lustre.name", "tab\tumlaut ü invalid \xff\x00 end"),
			Int("lustre.bytes", 1<<40),
			Int("lustre.status", -28),
			Float("lustre.share", 0.25),
		},
		Events: []Event{
			{Time: 1700000000100000000, Name: "early reply", Attributes: []Attribute{Int("lustre.timeout", 30)}},
			{Time: 1700000000200000000, Name: "bulk"},
		},
	}
}

func spanBody(t testing.TB, spans ...*Span) []byte {
	t.Helper()
	r := testResource(t)
	e := newEnvelope(&r)
	var b batch
	e.reset(&b)
	for _, s := range spans {
		b.data = s.append(b.data, scopeItems)
	}
	e.seal(&b)
	return b.body()
}

// golden compares a decoded request with a file of the output of
//
//	protoc --decode opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest
//
// and of the same for metrics.
func golden(t *testing.T, file, message string, body []byte) {
	t.Helper()
	got := readFields(t).decode(message, body, "")
	if dir := os.Getenv("OTLP_BODIES"); dir != "" {
		must.NoError(t, os.WriteFile(dir+"/"+file, body, 0o644))
	}
	wiretest.Golden(t, "testdata/"+file+".txt", got)
}

func TestSpans(t *testing.T) {
	client := testSpan()
	client.Kind, client.ID, client.Parent, client.Error = Client, client.Parent, SpanID{}, ""
	golden(t, "spans", "ExportTraceServiceRequest", spanBody(t, testSpan(), client))
}

func TestSpanBounds(t *testing.T) {
	s := testSpan()
	s.Start, s.End = -5, -10
	s.Attributes, s.Events = nil, nil
	for i := range 100 {
		s.Attributes = append(s.Attributes, String(fmt.Sprint("k", i), strings.Repeat("ü", 1000)))
		e := Event{Name: "resend"}
		for j := range 10 {
			e.Attributes = append(e.Attributes, Int(fmt.Sprint("n", j), int64(i)))
		}
		s.Events = append(s.Events, e)
	}
	s.Attributes[0] = String("odd", "x"+strings.Repeat("ü", 1000)) // the cut is inside a rune
	text := readFields(t).decode("ExportTraceServiceRequest", spanBody(t, s), "")
	for want, n := range map[string]int{
		"dropped_attributes_count: 36\n":                             1,
		"dropped_attributes_count: 2\n":                              32,
		"dropped_events_count: 68\n":                                 1,
		"name: \"resend\"\n":                                         32,
		"start_time_unix_nano: 0\n":                                  1,
		"end_time_unix_nano: 0\n":                                    1,
		"\"" + strings.Repeat(`\303\274`, 512) + "\"\n":              63,
		"\"x" + strings.Repeat(`\303\274`, 511) + "\"\n":             1,
		"string_value: \"k":                                          0,
		fmt.Sprintf("trace_id: \"%s\"\n", escape(s.Trace[:])):        1,
		fmt.Sprintf("parent_span_id: \"%s\"\n", escape(s.Parent[:])): 1,
	} {
		if got := strings.Count(text, want); got != n {
			t.Errorf("%.60q appears %d times, want %d", want, got, n)
		}
	}
}

// testSnapshot has every type of family.
func testSnapshot() *metrics.Snapshot {
	created := time.Unix(1700000000, 0)
	return &metrics.Snapshot{
		Start: created, Time: time.Unix(1700000060, 5),
		Families: []metrics.FamilySnapshot{
			{
				Name: "lshark_rpc_latency_seconds", Help: "Time from request to reply.", Unit: "seconds",
				Type: metrics.HistogramType, Labels: []string{"side", "op", "target", "error"}, Bounds: []float64{0.001, 0.1, 1},
				Points: []metrics.Point{
					{
						Values: []string{"client", "OST_READ", "lustre-OST0001", ""}, Created: created, Count: 10, Value: 12.5,
						Classic: []uint64{4, 0, 5, 1},
						Native:  metrics.Native{Schema: 3, ZeroThreshold: 1e-9, ZeroCount: 2, Offset: -10, Counts: []uint64{1, 0, 300, 4}},
					},
					{
						Values: []string{"server", "other", "other", "EIO"}, Created: created.Add(time.Second), Count: 0,
						Classic: []uint64{0, 0, 0, 0},
						Native:  metrics.Native{Schema: -4, ZeroThreshold: 1e-9},
					},
				},
			},
			{
				Name: "lshark_bulk_bytes", Help: "Bulk data.", Unit: "bytes", Type: metrics.CounterType, Labels: []string{"target"},
				Points: []metrics.Point{{Values: []string{"lustre-OST0001"}, Created: created, Count: 1 << 50}, {Values: []string{"a\xffb"}, Count: 3}},
			},
			{
				Name: "lshark_cpu_seconds", Help: "CPU time.", Unit: "seconds", Type: metrics.FloatCounterType,
				Points: []metrics.Point{{Created: created, Value: 1.25}},
			},
			{
				Name: "lshark_rpcs_in_flight", Help: "RPCs without a reply yet.", Type: metrics.GaugeType,
				Points: []metrics.Point{{Created: created, Value: 7}},
			},
			{
				Name: "lshark_interface_up", Help: "Whether the interface is there.", Type: metrics.GaugeType,
				Points: []metrics.Point{{Created: created, Value: 1}},
			},
			{Name: "lshark_empty", Help: "No series.", Type: metrics.CounterType, Labels: []string{"op"}},
		},
	}
}

func testNames() Names {
	rpc := []Attribute{String("rpc.system.name", "lustre")}
	return Names{
		Families: []Family{
			{From: "lshark_rpc_latency_seconds", Label: "side", Value: "client", To: "rpc.client.call.duration", Constant: rpc},
			{From: "lshark_rpc_latency_seconds", Label: "side", Value: "server", To: "rpc.server.call.duration", Constant: rpc},
			{From: "lshark_rpcs_in_flight", To: "lshark.rpc.in_flight", Unit: "{call}", Sum: true},
		},
		Attributes: []Pair{{"op", "rpc.method"}, {"target", "lustre.target"}, {"error", "error.type"}},
	}
}

func testEncoder(t testing.TB, names *Names) *metricEncoder {
	t.Helper()
	r := testResource(t)
	e := newEnvelope(&r)
	return &metricEncoder{names: names, limit: maxMetricsBytes, envelope: &e, take: func() *batch {
		b := &batch{}
		e.reset(b)
		return b
	}}
}

func TestMetrics(t *testing.T) {
	names := testNames()
	for _, test := range []struct {
		file     string
		explicit bool
	}{{"metrics", false}, {"metrics-explicit", true}} {
		m := testEncoder(t, &names)
		m.explicit = test.explicit
		bodies := m.encode(testSnapshot())
		if len(bodies) != 1 || bodies[0].items != 7 {
			t.Fatalf("%d bodies, the first with %d points", len(bodies), bodies[0].items)
		}
		golden(t, test.file, "ExportMetricsServiceRequest", bodies[0].body())
	}
}

// A snapshot that is too large for one request is distributed over several,
// each with complete metrics.
func TestMetricsAreSplit(t *testing.T) {
	const points, limit = 1000, 2000
	f := metrics.FamilySnapshot{Name: "lshark_rpcs", Type: metrics.CounterType, Labels: []string{"op"}}
	for i := range points {
		f.Points = append(f.Points, metrics.Point{Values: []string{fmt.Sprint("op", i)}, Count: uint64(i)})
	}
	s := &metrics.Snapshot{Time: time.Unix(1700000000, 0), Families: []metrics.FamilySnapshot{f}}
	m := testEncoder(t, &Names{})
	m.limit = limit
	var text strings.Builder
	var items uint64
	bodies := m.encode(s)
	for _, b := range bodies {
		if len(b.body()) > limit+200 {
			t.Errorf("a body has %d bytes", len(b.body()))
		}
		items += b.items
		one := readFields(t).decode("ExportMetricsServiceRequest", b.body(), "")
		for _, want := range []string{"aggregation_temporality: AGGREGATION_TEMPORALITY_CUMULATIVE", "is_monotonic: true", `name: "lshark.rpcs"`, `"host.name"`} {
			if strings.Count(one, want) != 1 {
				t.Errorf("%s is not in\n%s", want, one)
			}
		}
		text.WriteString(one)
	}
	if items != points || len(bodies) < 10 {
		t.Errorf("%d points in %d bodies", items, len(bodies))
	}
	for i := range points {
		if strings.Count(text.String(), fmt.Sprintf(`"op%d"`, i)) != 1 {
			t.Fatalf("op%d is not there once", i)
		}
	}
	if got := m.encode(&metrics.Snapshot{}); len(got) != 0 {
		t.Errorf("an empty snapshot has %d bodies", len(got))
	}
}

func TestMetricName(t *testing.T) {
	for _, test := range [][4]string{
		{"lshark_bulk_bytes", "bytes", "lshark.bulk", "By"},
		{"lshark_lock_wait_seconds", "seconds", "lshark.lock.wait", "s"},
		{"lshark_rpcs", "", "lshark.rpcs", ""},
		{"lshark_rpcs_in_flight", "", "lshark.rpcs.in_flight", ""},
		{"lshark_load_ratio", "ratio", "lshark.load", "1"},
	} {
		name, unit := metricName(&metrics.FamilySnapshot{Name: test[0], Unit: test[1]})
		if name != test[2] || unit != test[3] {
			t.Errorf("%s: got %s in %q", test[0], name, unit)
		}
	}
}
