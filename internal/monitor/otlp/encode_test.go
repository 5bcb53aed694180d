package otlp

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/monitor/metrics"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

var testResource = Resource{Scope: "lshark", ScopeVersion: "1.2.3", Attributes: []Attribute{String("service.name", "lshark"),
	String("service.version", "1.2.3"), String("service.instance.id", "oss1"), String("host.name", "oss1")}}

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
			{Time: 1700000000100000000, Name: "early reply"},
			{Time: 1700000000200000000, Name: "bulk"},
		},
	}
}

func spanBody(spans ...*Span) (items []byte) {
	for _, s := range spans {
		items = s.Append(items)
	}
	return testResource.Wrap(items)
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
	golden(t, "spans", "ExportTraceServiceRequest", spanBody(testSpan(), client))
}

// TestSpanTimes checks that times before 1970, and an end before the beginning, are not sent.
func TestSpanTimes(t *testing.T) {
	s := testSpan()
	s.Start, s.End = -5, -10
	text := readFields(t).decode("ExportTraceServiceRequest", spanBody(s), "")
	for _, want := range []string{"start_time_unix_nano: 0\n", "end_time_unix_nano: 0\n",
		fmt.Sprintf("trace_id: \"%s\"\n", escape(s.Trace[:])), fmt.Sprintf("parent_span_id: \"%s\"\n", escape(s.Parent[:]))} {
		assert.Equal(t, strings.Count(text, want), 1, want, "appears times")
	}
}

// testSnapshot has every type of family.
func testSnapshot() *metrics.Snapshot {
	created := time.Unix(1700000000, 0)
	return &metrics.Snapshot{
		Time: time.Unix(1700000060, 5),
		Families: []metrics.FamilySnapshot{
			{
				Desc: metrics.Desc{Name: "lshark_rpc_latency_seconds", Help: "Time from request to reply.", Type: metrics.HistogramType,
					Labels: []metrics.Label{{Name: "side"}, {Name: "op"}, {Name: "target"}, {Name: "error"}}, Bounds: []float64{0.001, 0.1, 1}},
				Unit: "seconds",
				Points: []metrics.Series{
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
				Desc:   metrics.Desc{Name: "lshark_bulk_bytes", Help: "Bulk data.", Type: metrics.CounterType, Labels: []metrics.Label{{Name: "target"}}},
				Unit:   "bytes",
				Points: []metrics.Series{{Values: []string{"lustre-OST0001"}, Created: created, Value: 1 << 50}, {Values: []string{"a\xffb"}, Value: 3}},
			},
			{
				Desc:   metrics.Desc{Name: "lshark_cpu_seconds", Help: "CPU time.", Type: metrics.FloatCounterType},
				Unit:   "seconds",
				Points: []metrics.Series{{Created: created, Value: 1.25}},
			},
			{
				Desc:   metrics.Desc{Name: "lshark_rpcs_in_flight", Help: "RPCs without a reply yet.", Type: metrics.GaugeType},
				Points: []metrics.Series{{Created: created, Value: 7}},
			},
			{
				Desc:   metrics.Desc{Name: "lshark_interface_up", Help: "Whether the interface is there.", Type: metrics.GaugeType},
				Points: []metrics.Series{{Created: created, Value: 1}},
			},
			{Desc: metrics.Desc{Name: "lshark_empty", Help: "No series.", Type: metrics.CounterType, Labels: []metrics.Label{{Name: "op"}}}},
		},
	}
}

func testNames() Names {
	rpc := []Attribute{String("rpc.system.name", "lustre")}
	return Names{
		Families: []Family{
			{From: "lshark_rpc_latency_seconds", Label: "side", Value: "client", To: "rpc.client.call.duration", Unit: "s", Constant: rpc},
			{From: "lshark_rpc_latency_seconds", Label: "side", Value: "server", To: "rpc.server.call.duration", Unit: "s", Constant: rpc},
			{From: "lshark_rpcs_in_flight", To: "lshark.rpc.in_flight", Unit: "{call}", Sum: true},
		},
		Attributes: map[string]string{"op": "rpc.method", "target": "lustre.target", "error": "error.type"},
	}
}

// metricsBody returns the body of a request with a snapshot, and the number of its points.
func metricsBody(s *metrics.Snapshot, names Names, explicit bool) ([]byte, uint64) {
	data, points := names.Encode(s, explicit)
	return testResource.Wrap(data), points
}

func TestMetrics(t *testing.T) {
	for _, test := range []struct {
		file     string
		explicit bool
	}{{"metrics", false}, {"metrics-explicit", true}} {
		body, points := metricsBody(testSnapshot(), testNames(), test.explicit)
		assert.Equal(t, points, 7, "points")
		golden(t, test.file, "ExportMetricsServiceRequest", body)
	}
}

func TestMetricName(t *testing.T) {
	for _, test := range [][4]string{
		{"lshark_bulk_bytes", "bytes", "lshark.bulk", "By"},
		{"lshark_lock_wait_seconds", "seconds", "lshark.lock.wait", "s"},
		{"lshark_rpcs", "", "lshark.rpcs", ""},
		{"lshark_rpcs_in_flight", "", "lshark.rpcs.in_flight", ""},
	} {
		got := (&Names{}).family(&metrics.FamilySnapshot{Desc: metrics.Desc{Name: test[0]}, Unit: test[1]}, nil)
		assert.That(t, got.To == test[2] && got.Unit == test[3], "%s: got %+v", test[0], got)
	}
}

// fields has what testdata/fields.tsv says about protobuf messages.
type fields map[string]map[uint64]fieldType

type fieldType struct {
	name, kind string
	repeated   bool
}

func readFields(t testing.TB) fields {
	t.Helper()
	text := must.ReadFile(t, "testdata/fields.tsv")
	f := fields{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		col := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		number := must.Value(strconv.ParseUint(col[1], 10, 32))(t)
		if f[col[0]] == nil {
			f[col[0]] = map[uint64]fieldType{}
		}
		kind, repeated := strings.CutPrefix(col[3], "repeated ")
		f[col[0]][number] = fieldType{col[2], kind, repeated}
	}
	return f
}

// decode returns a message as `protoc --decode` prints it. It panics where a
// message is not what the published definitions allow.
func (f fields) decode(message string, b []byte, indent string) string {
	type line struct {
		number uint64
		text   string
	}
	var lines []line
	seen := map[uint64]bool{}
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			panic("invalid tag in " + message)
		}
		b = b[n:]
		number := tag >> 3
		typ, ok := f[message][number]
		if !ok {
			panic(fmt.Sprintf("%s has no field %d", message, number))
		}
		if seen[number] && !typ.repeated {
			panic(fmt.Sprintf("%s.%s appears twice", message, typ.name))
		}
		seen[number] = true
		add := func(format string, value any) {
			lines = append(lines, line{number, fmt.Sprintf("%s%s: "+format+"\n", indent, typ.name, value)})
		}
		switch want, got := f.wireType(typ), tag&7; {
		case got != want:
			panic(fmt.Sprintf("%s.%s has wire type %d, want %d", message, typ.name, got, want))
		case got == 0:
			v, n := binary.Uvarint(b)
			if n <= 0 {
				panic("invalid varint in " + message)
			}
			b = b[n:]
			switch typ.kind {
			case "bool":
				add("%t", v == 1)
			case "sint32":
				add("%d", int64(v>>1)^-int64(v&1))
			case "int64":
				add("%d", int64(v))
			case "uint32", "uint64":
				add("%d", v)
			default:
				add("%s", f[typ.kind][v].name)
			}
		case got == 1:
			add("%s", fixed64Text(typ.kind, b))
			b = b[8:]
		case got == 5:
			add("%d", binary.LittleEndian.Uint32(b))
			b = b[4:]
		default:
			length, n := binary.Uvarint(b)
			if n <= 0 || length > uint64(len(b)-n) {
				panic("invalid length in " + message)
			}
			value := b[n : n+int(length)]
			b = b[n+int(length):]
			switch typ.kind {
			case "string", "bytes":
				add("\"%s\"", escape(value))
			case "fixed64", "double":
				for ; len(value) > 0; value = value[8:] {
					add("%s", fixed64Text(typ.kind, value))
				}
			case "uint64":
				for len(value) > 0 {
					v, n := binary.Uvarint(value)
					value = value[n:]
					add("%d", v)
				}
			default:
				text := indent + typ.name + " {\n" + f.decode(typ.kind, value, indent+"  ") + indent + "}\n"
				lines = append(lines, line{number, text})
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return int(a.number) - int(b.number) })
	var text strings.Builder
	for _, l := range lines {
		text.WriteString(l.text)
	}
	return text.String()
}

func (f fields) wireType(t fieldType) uint64 {
	switch t.kind {
	case "bool", "sint32", "int64", "uint32":
		return 0
	case "uint64", "fixed64", "sfixed64", "double":
		if t.repeated {
			return 2
		}
		return 1
	case "fixed32":
		return 5
	case "string", "bytes":
		return 2
	}
	if f[t.kind][0].kind == "value" {
		return 0
	}
	return 2
}

func fixed64Text(kind string, b []byte) string {
	v := binary.LittleEndian.Uint64(b)
	switch kind {
	case "double":
		return fmt.Sprintf("%.15g", math.Float64frombits(v))
	case "sfixed64":
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatUint(v, 10)
}

func escape(b []byte) string {
	var text strings.Builder
	for _, c := range b {
		switch {
		case c == '"' || c == '\\':
			text.WriteByte('\\')
			text.WriteByte(c)
		case c == '\n':
			text.WriteString(`\n`)
		case c == '\t':
			text.WriteString(`\t`)
		case c == '\r':
			text.WriteString(`\r`)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&text, `\%03o`, c)
		default:
			text.WriteByte(c)
		}
	}
	return text.String()
}

// TestJSON compares spans in JSON with the published definitions, by the rules of OTLP.
func TestJSON(t *testing.T) {
	client := testSpan()
	client.Kind, client.ID, client.Parent, client.Error = Client, client.Parent, SpanID{}, ""
	text := AppendJSON(nil, []ResourceSpans{{testResource, []Span{*testSpan(), *client}}})
	var request map[string]any
	must.NoError(t, json.Unmarshal(text, &request))
	checkJSON(t, readFields(t), "ExportTraceServiceRequest", request)
	for _, want := range []string{`"kind":2,`, `"kind":3,`, `"startTimeUnixNano":"1700000000000000001"`, `"intValue":"-28"`, `"doubleValue":0.25`,
		`"status":{"message":"ENOSPC","code":2}`, `"spanId":"73c1c1c6edc41b6e","parentSpanId":"92febb5bfa5df908"`} {
		assert.Contains(t, string(text), want, "is missing")
	}
	if strings.Count(string(text), "parentSpanId") != 1 || strings.Contains(string(text), "lustre.job") {
		t.Errorf("what has no value is there: %s", text)
	}
}

// checkJSON reports values of an object that are not what the JSON mapping of a message has.
func checkJSON(t *testing.T, f fields, message string, object map[string]any) {
	t.Helper()
	for key, value := range object {
		var typ fieldType
		for _, field := range f[message] {
			if lowerCamelCase(field.name) == key {
				typ = field
			}
		}
		list, isList := value.([]any)
		assert.Equal(t, isList, typ.repeated, message, ".", key, "is a list")
		if !isList {
			list = []any{value}
		}
		for _, v := range list {
			ok := false
			switch typ.kind {
			case "string":
				_, ok = v.(string)
			case "bytes":
				_, err := hex.DecodeString(v.(string))
				ok = err == nil
			case "int64", "fixed64":
				_, err := strconv.ParseInt(v.(string), 10, 64)
				ok = err == nil
			case "uint32", "fixed32", "double":
				_, ok = v.(float64)
			default:
				if number, isNumber := v.(float64); isNumber {
					_, ok = f[typ.kind][uint64(number)]
				} else if part, isObject := v.(map[string]any); isObject {
					ok = true
					checkJSON(t, f, typ.kind, part)
				}
			}
			assert.That(t, ok, "%s.%s is %v, want a %s", message, key, v, typ.kind)
		}
	}
}

func lowerCamelCase(name string) string {
	parts := strings.Split(name, "_")
	for i, p := range parts[1:] {
		parts[i+1] = string(unicode.ToUpper(rune(p[0]))) + p[1:]
	}
	return strings.Join(parts, "")
}

// TestIDs checks the ids that the page docs/otlp.md shows, which are those of
//
//	printf '192.0.2.3@tcp 1840123456789 server 0' | sha256sum | cut -c1-16
func TestIDs(t *testing.T) {
	page := must.ReadFile(t, "../../../docs/otlp.md")
	row := regexp.MustCompile(`(?m)^\| (\S+@\S+) \| (\d+) \| (\d+) \| (\S+) \| (\S+) \| (\S+) \|$`)
	rows := row.FindAllStringSubmatch(string(page), -1)
	must.Equal(t, len(rows), 3, "rows")
	for _, r := range rows {
		xid, _ := strconv.ParseUint(r[2], 10, 64)
		n, _ := strconv.ParseUint(r[3], 10, 32)
		attempt := uint32(n)
		got := []string{TraceOf(r[1], xid).String(), SpanOf(r[1], xid, Client, attempt).String(), SpanOf(r[1], xid, Server, attempt).String()}
		if !slices.Equal(got, r[4:]) {
			t.Errorf("%s: got %s", r[0], got)
		}
	}
}

func TestSampled(t *testing.T) {
	const calls = 100_000
	for _, n := range []uint64{0, 1, 2, 10, 1000} {
		kept := 0
		for i := range uint64(calls) {
			id := TraceOf("192.0.2.3@tcp", 1840123456000+i*128)
			if id.Sampled(n) {
				kept++
				must.That(t, n <= 1 || id.Sampled(n/2), "%v is one of %d, but not one of %d", id, n, n/2)
			}
		}
		want := calls / float64(max(n, 1))
		d := math.Abs(float64(kept) - want)
		assert.That(t, d <= 5*math.Sqrt(want) && (n > 1 || d == 0), "1 of %d: %d of %d are kept", n, kept, calls)
	}
	// The first 9 bytes are not random by the rule of OpenTelemetry.
	least := TraceID{0xff, 8: 0xff, 9: 0x80}
	assert.That(t, least.Sampled(2), "the least random value of one half is not kept")
	least[9]--
	assert.That(t, !least.Sampled(2), "a random value below one half is kept")
}

// rpcSpan fills a span as a sensor does for each RPC.
func rpcSpan(s *Span, xid uint64) {
	const nid = "192.0.2.3@tcp"
	*s = Span{
		Trace: TraceOf(nid, xid), ID: SpanOf(nid, xid, Server, 0), Parent: SpanOf(nid, xid, Client, 0),
		Name: "OST_WRITE", Kind: Server, Start: 1700000000000000001, End: 1700000000250000001,
		Attributes: append(s.Attributes[:0],
			String("rpc.system.name", "lustre"), String("rpc.method", "OST_WRITE"), String("server.address", "192.0.2.9@tcp"),
			String("client.address", nid), String("lustre.target", "lustre-OST0000"), String("lustre.job", "slurm.123456"),
			Int("lustre.uid", 1000), Int("lustre.xid", int64(xid)), Int("lustre.bytes", 1<<20)),
		Events: append(s.Events[:0], Event{Time: 1700000000200000000, Name: "bulk"}),
	}
}

func TestSpanAllocatesNothing(t *testing.T) {
	var s Span
	var b []byte
	xid := uint64(0)
	add := func() {
		xid += 128
		rpcSpan(&s, xid)
		b = s.Append(b[:0])
	}
	add()
	wiretest.NoAllocations(t, 10_000, add)
}

// seriesSnapshot returns a snapshot of a histogram and a counter.
func seriesSnapshot(series int) *metrics.Snapshot {
	r := metrics.New(time.Unix(1700000000, 0))
	labels := []metrics.Label{{Name: "side"}, {Name: "op"}, {Name: "target"}, {Name: "error"}}
	latency := r.Family(metrics.Desc{
		Type: metrics.HistogramType, Name: "lshark_rpc_latency_seconds", Help: "Time from request to reply.", Labels: labels, MaxSeries: series, Schema: 3, Bounds: []float64{0.001, 0.01, 0.1, 1, 10},
	})
	rpcs := r.Family(metrics.Desc{Type: metrics.CounterType, Name: "lshark_rpcs", Help: "RPCs.", Labels: labels, MaxSeries: series})
	r.Begin(time.Unix(1700000001, 0))
	for i := range series {
		target := fmt.Sprintf("lustre-OST%04x", i)
		for j := range 1000 {
			latency.With("server", "OST_WRITE", target, "").Observe(float64(i%10+j) * 1e-4)
			rpcs.With("server", "OST_WRITE", target, "").Inc()
		}
	}
	r.End()
	return r.Snapshot()
}

// What the registry of package metrics has counted arrives as it was.
func TestMetricsOfRegistry(t *testing.T) {
	const series = 3
	body, _ := metricsBody(seriesSnapshot(series), Names{}, false)
	text := readFields(t).decode("ExportMetricsServiceRequest", body, "")
	f := 0
	for _, block := range strings.Split(text, "data_points {") {
		var count, sum, zero uint64
		for _, line := range strings.Split(block, "\n") {
			line = strings.TrimSpace(line)
			var v uint64
			if n, _ := fmt.Sscanf(line, "count: %d", &v); n == 1 {
				count = v
			} else if n, _ := fmt.Sscanf(line, "bucket_counts: %d", &v); n == 1 {
				sum += v
			} else if n, _ := fmt.Sscanf(line, "zero_count: %d", &v); n == 1 {
				zero = v
			}
		}
		if count > 0 {
			f++
			assert.That(t, count == 1000 && sum+zero == count, "count %d, zero %d, buckets %d", count, zero, sum)
		}
	}
	assert.Equal(t, f, series, "histograms")
}

// OpenTelemetry defines bucket i as the values above base^i up to base^(i+1).
func TestExponentialBuckets(t *testing.T) {
	for _, schema := range []int{0, 3, 8} {
		for _, v := range []float64{1e-6, 0.001, 0.5, 1, math.Nextafter(1, 2), 2.5, 4, 60, 7e8} {
			r := metrics.New(time.Unix(1700000000, 0))
			h := r.Family(metrics.Desc{Type: metrics.HistogramType, Name: "lshark_seconds", Help: "Time.", Schema: schema})
			r.Begin(time.Unix(1700000001, 0))
			h.With().Observe(v)
			r.End()
			body, _ := metricsBody(r.Snapshot(), Names{}, false)
			text := readFields(t).decode("ExportMetricsServiceRequest", body, "")
			var scale, offset int
			for line := range strings.Lines(text) {
				line = strings.TrimSpace(line)
				_, _ = fmt.Sscanf(line, "scale: %d", &scale)
				_, _ = fmt.Sscanf(line, "offset: %d", &offset)
			}
			low := math.Exp2(math.Ldexp(float64(offset), -scale))
			high := math.Exp2(math.Ldexp(float64(offset+1), -scale))
			if scale != schema || strings.Count(text, "bucket_counts: 1\n") != 1 || v <= low || v > high*(1+1e-15) {
				t.Errorf("schema %d: %v is in bucket %d of scale %d, above %v up to %v", schema, v, offset, scale, low, high)
			}
		}
	}
}
