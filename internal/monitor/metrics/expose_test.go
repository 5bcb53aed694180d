package metrics

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/lshark/lshark/internal/must"
)

// smallRegistry returns a registry with a few known values of each type.
func smallRegistry() *Registry {
	r := New(testStart)
	clients := r.Top(2, time.Minute)
	c := r.Counter(Desc{Name: "test_rpcs", Help: "RPCs, \"all\" of\nthem \\o/.", Labels: []Label{{Name: "op"}, {Name: "client", Top: clients}}})
	f := r.FloatCounter(Desc{Name: "test_wait_seconds", Help: "Time.", Unit: "seconds"})
	g := r.Gauge(Desc{Name: "test_queue_bytes", Help: "Bytes.", Unit: "bytes"})
	h := r.Histogram(Desc{Name: "test_latency_seconds", Help: "Latency.", Unit: "seconds", Labels: []Label{{Name: "op"}}},
		Buckets{Bounds: []float64{0.001, 1, 2.5}, Schema: 3})
	r.Counter(Desc{Name: "test_never", Help: "Has no series.", Labels: []Label{{Name: "op"}}})
	r.Begin(testStart.Add(1500 * time.Millisecond))
	for i, name := range []string{`a"b\c`, "d\x1b[31m\xff", "e", "e"} {
		clients.Count(name, 1)
		c.With("READ", name).Add(uint64(i + 1))
	}
	f.With().Add(1.25)
	g.With().Set(-3e9)
	for _, x := range []float64{0, 0.0005, 0.5, 1, 2, 2, 100} {
		h.With("READ").Observe(x)
	}
	r.End()
	return r
}

const wantOpenMetrics = `# TYPE test_rpcs counter
# HELP test_rpcs RPCs, \"all\" of\nthem \\o/.
test_rpcs_total{op="READ",client="a\"b\\c"} 1
test_rpcs_created{op="READ",client="a\"b\\c"} 1795334401.500
test_rpcs_total{op="READ",client="d\\x1b[31m\\xff"} 2
test_rpcs_created{op="READ",client="d\\x1b[31m\\xff"} 1795334401.500
test_rpcs_total{op="READ",client="other"} 7
test_rpcs_created{op="READ",client="other"} 1795334401.500
# TYPE test_wait_seconds counter
# UNIT test_wait_seconds seconds
# HELP test_wait_seconds Time.
test_wait_seconds_total 1.25
# TYPE test_queue_bytes gauge
# UNIT test_queue_bytes bytes
# HELP test_queue_bytes Bytes.
test_queue_bytes -3000000000
# TYPE test_latency_seconds histogram
# UNIT test_latency_seconds seconds
# HELP test_latency_seconds Latency.
test_latency_seconds_bucket{op="READ",le="0.001"} 2
test_latency_seconds_bucket{op="READ",le="1.0"} 4
test_latency_seconds_bucket{op="READ",le="2.5"} 6
test_latency_seconds_bucket{op="READ",le="+Inf"} 7
test_latency_seconds_count{op="READ"} 7
test_latency_seconds_sum{op="READ"} 105.5005
# EOF
`

const wantText = `# TYPE test_rpcs_total counter
# HELP test_rpcs_total RPCs, "all" of\nthem \\o/.
test_rpcs_total{op="READ",client="a\"b\\c"} 1
test_rpcs_total{op="READ",client="d\\x1b[31m\\xff"} 2
test_rpcs_total{op="READ",client="other"} 7
# TYPE test_wait_seconds_total counter
# HELP test_wait_seconds_total Time.
test_wait_seconds_total 1.25
# TYPE test_queue_bytes gauge
# HELP test_queue_bytes Bytes.
test_queue_bytes -3000000000
# TYPE test_latency_seconds histogram
# HELP test_latency_seconds Latency.
test_latency_seconds_bucket{op="READ",le="0.001"} 2
test_latency_seconds_bucket{op="READ",le="1"} 4
test_latency_seconds_bucket{op="READ",le="2.5"} 6
test_latency_seconds_bucket{op="READ",le="+Inf"} 7
test_latency_seconds_count{op="READ"} 7
test_latency_seconds_sum{op="READ"} 105.5005
`

func TestTextFormats(t *testing.T) {
	r := smallRegistry()
	var s Snapshot
	for range 2 { // the second time in the memory of the first
		r.Snapshot(&s)
		if got := string(AppendOpenMetrics(nil, &s)); got != wantOpenMetrics {
			t.Errorf("OpenMetrics:\n%s\nwant:\n%s", got, wantOpenMetrics)
		}
		if got := string(AppendText(nil, &s)); got != wantText {
			t.Errorf("text:\n%s\nwant:\n%s", got, wantText)
		}
	}
	empty := New(testStart)
	empty.Snapshot(&s)
	if got := string(AppendOpenMetrics(nil, &s)); got != "# EOF\n" {
		t.Errorf("page without families: %q", got)
	}
}

// TestPagesParse parses the pages of a registry with many series, and compares
// the formats with each other and with the snapshot.
func TestPagesParse(t *testing.T) {
	r, _ := testRegistry(t)
	var s Snapshot
	r.Snapshot(&s)
	open, err := parseText(string(AppendOpenMetrics(nil, &s)), true)
	must.NoError(t, err)
	text, err := parseText(string(AppendText(nil, &s)), false)
	must.NoError(t, err)
	if len(open) != len(s.Families) || len(text) != len(s.Families) {
		t.Fatalf("%d and %d families, want %d", len(open), len(text), len(s.Families))
	}
	for i, f := range s.Families {
		want := len(f.Points)
		if f.Type == HistogramType {
			want *= len(f.Bounds) + 3
		}
		if len(text[i].samples) != want {
			t.Errorf("%s: %d samples, want %d", f.Name, len(text[i].samples), want)
		}
		if open[i].help != f.Help || text[i].help != f.Help {
			t.Errorf("%s: help %q, %q, want %q", f.Name, open[i].help, text[i].help, f.Help)
		}
		if open[i].unit != f.Unit || open[i].kind != f.Type.String() {
			t.Errorf("%s: unit %q, type %s", f.Name, open[i].unit, open[i].kind)
		}
		withoutCreated := slices.DeleteFunc(open[i].samples, func(s sample) bool { return strings.HasSuffix(s.name, "_created") })
		for k, s := range text[i].samples {
			o := withoutCreated[k]
			for l := range o.labels {
				o.labels[l][1] = strings.TrimSuffix(o.labels[l][1], ".0") // of bounds
			}
			if !reflect.DeepEqual(s, o) {
				t.Errorf("%s: the formats differ: %v, %v", f.Name, s, o)
			}
		}
	}
}

// TestProtobuf decodes the protobuf format and compares it with the snapshot.
func TestProtobuf(t *testing.T) {
	for _, r := range []*Registry{smallRegistry(), func() *Registry { r, _ := testRegistry(t); return r }()} {
		var s Snapshot
		r.Snapshot(&s)
		b := AppendProtobuf(nil, &s)
		for _, f := range s.Families {
			if len(f.Points) == 0 {
				continue
			}
			var body []byte
			var err error
			if body, b, err = cutLengthPrefixed(b); err != nil {
				t.Fatal(err)
			}
			if err := compareFamily(body, &f); err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
		}
		if len(b) > 0 {
			t.Errorf("%d more bytes", len(b))
		}
	}
}

func compareFamily(body []byte, f *FamilySnapshot) error {
	m, err := parseMessage(body)
	if err != nil {
		return err
	}
	name := f.Name
	kind := map[Type]uint64{CounterType: 0, FloatCounterType: 0, GaugeType: 1, HistogramType: 4}[f.Type]
	if kind == 0 {
		name += "_total"
	}
	unit := []any(nil)
	if f.Unit != "" {
		unit = []any{[]byte(f.Unit)}
	}
	want := message{1: {[]byte(name)}, 2: {[]byte(f.Help)}, 3: {kind}, 4: m[4], 5: unit}
	if unit == nil {
		delete(want, 5)
	}
	if !reflect.DeepEqual(m, want) {
		return fmt.Errorf("message %v, want %v", m, want)
	}
	metrics, err := m.sub(4)
	if err != nil || len(metrics) != len(f.Points) {
		return fmt.Errorf("%d metrics, want %d, %v", len(metrics), len(f.Points), err)
	}
	for i, metric := range metrics {
		p := &f.Points[i]
		labels, err := metric.sub(1)
		if err != nil {
			return err
		}
		var wantLabels []message
		for k, v := range p.Values {
			wantLabels = append(wantLabels, message{1: {[]byte(f.Labels[k])}, 2: {[]byte(v)}})
		}
		if !reflect.DeepEqual(labels, wantLabels) {
			return fmt.Errorf("labels %v, want %v", labels, wantLabels)
		}
		value, err := metric.sub(map[Type]int{CounterType: 3, FloatCounterType: 3, GaugeType: 2, HistogramType: 7}[f.Type])
		if err != nil || len(value) != 1 {
			return fmt.Errorf("value %v, %v", value, err)
		}
		created := []any{binary.AppendUvarint(append(binary.AppendUvarint([]byte{8}, uint64(p.Created.Unix())), 16), uint64(p.Created.Nanosecond()))}
		switch f.Type {
		case CounterType:
			want = message{1: {float64(p.Count)}, 3: created}
		case FloatCounterType:
			want = message{1: {p.Value}, 3: created}
		case GaugeType:
			want = message{1: {p.Value}}
		case HistogramType:
			if err := compareHistogram(value[0], p, f.Bounds); err != nil {
				return err
			}
			want = message{1: {p.Count}, 2: {p.Value}, 3: value[0][3], 5: value[0][5], 6: {p.Native.ZeroThreshold},
				7: {p.Native.ZeroCount}, 12: value[0][12], 13: value[0][13], 15: created}
		}
		if !reflect.DeepEqual(value[0], want) {
			return fmt.Errorf("value %v, want %v", value[0], want)
		}
	}
	return nil
}

func compareHistogram(h message, p *Point, bounds []float64) error {
	buckets, err := h.sub(3)
	if err != nil || len(buckets) != len(p.Classic) {
		return fmt.Errorf("%d classic buckets, %v", len(buckets), err)
	}
	var n uint64
	for i, b := range buckets {
		n += p.Classic[i]
		if b[1][0].(uint64) != n || i < len(bounds) && b[2][0].(float64) != bounds[i] {
			return fmt.Errorf("classic bucket %d: %v", i, b)
		}
	}
	if schema := unzigzag(h[5][0].(uint64)); schema != p.Native.Schema {
		return fmt.Errorf("schema %d", schema)
	}
	spans, err := h.sub(12)
	if err != nil {
		return err
	}
	var deltas []byte
	for _, b := range h[13] {
		deltas = append(deltas, b.([]byte)...)
	}
	got := make(map[int]uint64)
	at, count := 0, 0
	for _, span := range spans {
		at += unzigzag(span[1][0].(uint64))
		for range span[2][0].(uint64) {
			delta, size := binary.Uvarint(deltas)
			deltas = deltas[size:]
			count += unzigzag(delta)
			got[at] = uint64(count)
			at++
		}
	}
	want := make(map[int]uint64)
	for i, n := range p.Native.Counts {
		if n > 0 {
			want[p.Native.Offset+i] = n
		}
	}
	if !reflect.DeepEqual(got, want) || len(deltas) > 0 {
		return fmt.Errorf("native buckets %v, want %v", got, want)
	}
	return nil
}

// TestNativeBucketsAreMarked checks that a histogram without observations has a
// span, by which Prometheus recognizes native buckets.
func TestNativeBucketsAreMarked(t *testing.T) {
	r := New(testStart)
	h := r.Histogram(Desc{Name: "x", Help: "X."}, Buckets{})
	r.Begin(testStart)
	h.With()
	r.End()
	var s Snapshot
	r.Snapshot(&s)
	if b := AppendProtobuf(nil, &s); !bytes.Contains(b, []byte{histogramPositiveSpan<<3 | byte(protowire.BytesType), 2, spanOffset << 3, 0}) {
		t.Errorf("no empty span in % x", b)
	}
}

func TestAccept(t *testing.T) {
	for _, tt := range []struct {
		accept string
		want   format
	}{
		{"", textFormat},
		{"*/*", textFormat},
		{"text/html, application/xhtml+xml, */*;q=0.8", textFormat},
		{"application/openmetrics-text", openMetricsFormat},
		{"application/openmetrics-text; version=1.0.0; charset=utf-8", openMetricsFormat},
		{`application/openmetrics-text; version="1.0.0"`, openMetricsFormat},
		{"Application/OpenMetrics-Text;Version=1.0.0", openMetricsFormat},
		{"application/openmetrics-text; version=0.0.1", textFormat},
		{"application/openmetrics-text; version=1.0.0;q=0.2, text/plain;version=0.0.4;q=0.3", textFormat},
		{"application/openmetrics-text; version=1.0.0;q=0", textFormat},
		{"application/openmetrics-text; version=1.0.0;q=x", textFormat},
		{"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text", textFormat},
		// Prometheus 2.42 without and with native histograms, and 3.0.
		{"application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", openMetricsFormat},
		{"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,application/openmetrics-text;version=1.0.0;q=0.8,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", protobufFormat},
		{"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,/;q=0.1", openMetricsFormat},
	} {
		if got := chooseFormat(tt.accept); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.accept, got.contentType(), tt.want.contentType())
		}
	}
	for header, want := range map[string]bool{
		"": false, "gzip": true, "deflate, gzip;q=0.5": true, "gzip;q=0": false, "gzip; q=0.0, *": false, "*": true, "*;q=0": false, "br": false, "x-gzip": true,
	} {
		if got := acceptsGzip(header); got != want {
			t.Errorf("gzip by %q: %v", header, got)
		}
	}
}

func TestHandler(t *testing.T) {
	h := NewHandler(smallRegistry())
	get := func(method, accept, encoding string) *http.Response {
		req := httptest.NewRequest(method, "/metrics", nil)
		req.Header.Set("Accept", accept)
		req.Header.Set("Accept-Encoding", encoding)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		return w.Result()
	}
	body := func(r io.Reader) string {
		t.Helper()
		b, err := io.ReadAll(r)
		must.NoError(t, err)
		return string(b)
	}
	for range 2 {
		resp := get("GET", "application/openmetrics-text", "gzip")
		if ct := resp.Header.Get("Content-Type"); ct != openMetricsFormat.contentType() || resp.Header.Get("Content-Encoding") != "gzip" {
			t.Errorf("headers %v", resp.Header)
		}
		z, err := gzip.NewReader(resp.Body)
		must.NoError(t, err)
		if got := body(z); got != wantOpenMetrics {
			t.Errorf("page %s", got)
		}
	}
	resp := get("GET", "", "")
	if got := body(resp.Body); got != wantText || resp.Header.Get("Content-Encoding") != "" || resp.ContentLength != int64(len(wantText)) {
		t.Errorf("headers %v, page %s", resp.Header, got)
	}
	if resp = get("HEAD", "", ""); body(resp.Body) != "" || resp.StatusCode != 200 {
		t.Errorf("HEAD: %s", resp.Status)
	}
	if resp = get("POST", "", ""); resp.StatusCode != 405 || resp.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %s", resp.Status)
	}
	resp = get("GET", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited", "")
	if b := body(resp.Body); resp.Header.Get("Content-Type") != protobufFormat.contentType() || !strings.Contains(b, "test_rpcs_total") {
		t.Errorf("protobuf: %v", resp.Header)
	}
	for range maxResponses {
		h.take()
	}
	if resp = get("GET", "", ""); resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" {
		t.Errorf("too many clients: %s", resp.Status)
	}
}

// TestOnePage checks that requests one after the other use the memory of one response.
func TestOnePage(t *testing.T) {
	h := NewHandler(smallRegistry())
	for range 2 * maxResponses {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/metrics", nil))
	}
	used := slices.DeleteFunc(slices.Clone(h.free), func(p *page) bool { return p.text == nil })
	if len(used) != 1 || len(h.free) != maxResponses {
		t.Errorf("%d of %d pages hold memory, want 1", len(used), len(h.free))
	}
}

// TestPromtool lints the older text format with Prometheus' own tool.
func TestPromtool(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed")
	}
	r, _ := testRegistry(t)
	var s Snapshot
	r.Snapshot(&s)
	cmd := exec.Command(promtool, "check", "metrics")
	cmd.Stdin = bytes.NewReader(AppendText(nil, &s))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
}

// FuzzLabelValue checks that any label value gives pages that can be parsed, with
// one printable value of bounded length.
func FuzzLabelValue(f *testing.F) {
	for _, s := range []string{"", "a", "other", "a\"b\\c\nd", "\x00\x1b[31m", "\xff\xfe", "é", "\u202e", "\U000e0001", strings.Repeat("ü", 100), strings.Repeat("\x01", 300), `\x1b`} {
		f.Add(s, "b")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		r := New(testStart)
		top := r.Top(1, time.Minute)
		c := r.Counter(Desc{Name: "x", Help: "X.", Labels: []Label{{Name: "a"}, {Name: "b", Top: top}}})
		r.Begin(testStart)
		top.Count(b, 1)
		c.With(a, b).Inc()
		c.With(a, b).Inc()
		r.End()
		var s Snapshot
		r.Snapshot(&s)
		if len(s.Families[0].Points) != 1 || s.Families[0].Points[0].Count != 2 {
			t.Fatalf("points %+v", s.Families[0].Points)
		}
		want := cleanValue(a)
		if len(want) > maxValueLen || !utf8.ValidString(want) || cleanValue(want) != want {
			t.Errorf("%q becomes %q", a, want)
		}
		for _, open := range []bool{false, true} {
			page := AppendText(nil, &s)
			if open {
				page = AppendOpenMetrics(nil, &s)
			}
			families, err := parseText(string(page), open)
			if err != nil {
				t.Fatalf("%v in\n%s", err, page)
			}
			labels := families[0].samples[0].labels
			if got := labels[0][1]; got != want {
				t.Errorf("%q: label %q, want %q", a, got, want)
			}
			if got := labels[1][1]; got != cleanValue(b) {
				t.Errorf("%q: label %q, want %q", b, got, cleanValue(b))
			}
		}
	})
}
