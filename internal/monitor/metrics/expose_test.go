package metrics

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

// smallRegistry returns a registry with a few known values of each type.
func smallRegistry() *Registry {
	r := New(testStart)
	clients := r.Top(2, time.Minute)
	c := r.Family(Desc{Type: CounterType, Name: "test_rpcs", Help: "RPCs, \"all\" of\nthem \\o/.", Labels: []Label{{Name: "op"}, {Name: "client", Top: clients}}})
	f := r.Family(Desc{Type: FloatCounterType, Name: "test_wait_seconds", Help: "Time."})
	g := r.Family(Desc{Type: GaugeType, Name: "test_queue_bytes", Help: "Bytes."})
	h := r.Family(Desc{Type: HistogramType, Name: "test_latency_seconds", Help: "Latency.", Labels: []Label{{Name: "op"}}, Bounds: []float64{0.001, 1, 2.5}, Schema: 3})
	r.Family(Desc{Type: CounterType, Name: "test_never", Help: "Has no series.", Labels: []Label{{Name: "op"}}})
	r.Begin(testStart.Add(1500 * time.Millisecond))
	for i, name := range []string{`a"b\c`, "d\x1b[31m\xff", "e", "e"} {
		clients.Count(name)
		c.With("READ", name).Add(float64(i + 1))
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
	s := smallRegistry().Snapshot()
	got := string(AppendOpenMetrics(nil, s))
	assert.That(t, got == wantOpenMetrics, "OpenMetrics:\n%s\nwant:\n%s", got, wantOpenMetrics)
	if got := string(AppendText(nil, s)); got != wantText {
		t.Errorf("text:\n%s\nwant:\n%s", got, wantText)
	}
	assert.Equal(t, string(AppendOpenMetrics(nil, New(testStart).Snapshot())), "# EOF\n", "page without families")
}

// TestPagesParse parses the pages of a registry with many series, and compares
// the formats with each other and with the snapshot.
func TestPagesParse(t *testing.T) {
	r, _ := testRegistry(t, 5000)
	s := r.Snapshot()
	open := must.Value(parseText(string(AppendOpenMetrics(nil, s)), true))(t)
	text := must.Value(parseText(string(AppendText(nil, s)), false))(t)
	if len(open) != len(s.Families) || len(text) != len(s.Families) {
		t.Fatalf("%d and %d families, want %d", len(open), len(text), len(s.Families))
	}
	for i, f := range s.Families {
		want := len(f.Points)
		if f.Type == HistogramType {
			want *= len(f.Bounds) + 3
		}
		assert.Equal(t, len(text[i].samples), want, f.Name, "samples")
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
			assert.That(t, reflect.DeepEqual(s, o), "%s: the formats differ: %v, %v", f.Name, s, o)
		}
	}
}

// TestProtobuf decodes the protobuf format and compares it with the snapshot.
func TestProtobuf(t *testing.T) {
	for _, r := range []*Registry{smallRegistry(), func() *Registry { r, _ := testRegistry(t, 5000); return r }()} {
		s := r.Snapshot()
		b := AppendProtobuf(nil, s)
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
		assert.That(t, len(b) <= 0, "%d more bytes", len(b))
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
			wantLabels = append(wantLabels, message{1: {[]byte(f.Labels[k].Name)}, 2: {[]byte(v)}})
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
			want = message{1: {p.Value}, 3: created}
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

func compareHistogram(h message, p *Series, bounds []float64) error {
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
	h := r.Family(Desc{Type: HistogramType, Name: "x", Help: "X."})
	r.Begin(testStart)
	h.With()
	r.End()
	s := r.Snapshot()
	if b := AppendProtobuf(nil, s); !bytes.Contains(b, []byte{12<<3 | byte(protowire.BytesType), 2, 1 << 3, 0}) {
		t.Errorf("no empty span in % x", b)
	}
}

// TestPromtool lints the older text format with Prometheus' own tool.
func TestPromtool(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed")
	}
	r, _ := testRegistry(t, 5000)
	s := r.Snapshot()
	cmd := exec.Command(promtool, "check", "metrics")
	cmd.Stdin = bytes.NewReader(AppendText(nil, s))
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
		c := r.Family(Desc{Type: CounterType, Name: "x", Help: "X.", Labels: []Label{{Name: "a"}, {Name: "b", Top: top}}})
		r.Begin(testStart)
		top.Count(b)
		c.With(a, b).Inc()
		c.With(a, b).Inc()
		r.End()
		s := r.Snapshot()
		if len(s.Families[0].Points) != 1 || s.Families[0].Points[0].Value != 2 {
			t.Fatalf("points %+v", s.Families[0].Points)
		}
		want := cleanValue(a)
		assert.That(t, len(want) <= maxValueLen && utf8.ValidString(want) && cleanValue(want) == want, "%q becomes %q", a, want)
		for _, open := range []bool{false, true} {
			page := AppendText(nil, s)
			if open {
				page = AppendOpenMetrics(nil, s)
			}
			families, err := parseText(string(page), open)
			if err != nil {
				t.Fatalf("%v in\n%s", err, page)
			}
			labels := families[0].samples[0].labels
			assert.Equal(t, labels[0][1], want, a, "label")
			assert.Equal(t, labels[1][1], cleanValue(b), b, "label")
		}
	})
}

// sample is a line of a page.
type sample struct {
	name   string
	labels [][2]string
	value  string
}

// pageFamily is a family of a page.
type pageFamily struct {
	name, kind, unit, help string
	samples                []sample
}

var (
	metaLine   = regexp.MustCompile(`^# (TYPE|UNIT|HELP) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$`)
	sampleLine = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$`)
	labelStart = regexp.MustCompile(`^([a-zA-Z_][a-zA-Z0-9_]*)="`)
)

// parseText parses a page in one of the text formats, and checks what
// OpenMetrics requires of it.
func parseText(page string, open bool) ([]pageFamily, error) {
	if !strings.HasSuffix(page, "\n") && page != "" {
		return nil, errors.New("no newline at the end")
	}
	lines := strings.Split(strings.TrimSuffix(page, "\n"), "\n")
	if open {
		if lines[len(lines)-1] != "# EOF" {
			return nil, errors.New("no EOF")
		}
		lines = lines[:len(lines)-1]
	}
	var families []pageFamily
	seen := make(map[string]bool)
	for _, line := range lines {
		if m := metaLine.FindStringSubmatch(line); m != nil {
			if m[1] == "TYPE" {
				if seen[m[2]] {
					return nil, fmt.Errorf("family %s stands twice", m[2])
				}
				seen[m[2]] = true
				families = append(families, pageFamily{name: m[2], kind: m[3]})
				continue
			}
			f := &families[len(families)-1]
			if f.name != m[2] || len(f.samples) > 0 {
				return nil, fmt.Errorf("line out of place: %s", line)
			}
			if m[1] == "UNIT" {
				f.unit = m[3]
				if !open || !strings.HasSuffix(f.name, "_"+f.unit) {
					return nil, fmt.Errorf("unit of %s", f.name)
				}
			} else {
				f.help = unescape(m[3])
			}
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		if m == nil || len(families) == 0 {
			return nil, fmt.Errorf("invalid line: %q", line)
		}
		s := sample{name: m[1], value: m[3]}
		if _, err := strconv.ParseFloat(s.value, 64); err != nil {
			return nil, fmt.Errorf("invalid value: %q", line)
		}
		for rest := m[2]; rest != ""; {
			start := labelStart.FindStringSubmatch(rest)
			if start == nil {
				return nil, fmt.Errorf("invalid labels: %q", line)
			}
			rest = rest[len(start[0]):]
			end := 0
			for end < len(rest) && rest[end] != '"' {
				if rest[end] == '\\' {
					end++
				}
				end++
			}
			if end >= len(rest) {
				return nil, fmt.Errorf("label without end: %q", line)
			}
			s.labels = append(s.labels, [2]string{start[1], unescape(rest[:end])})
			if rest = rest[end+1:]; rest != "" {
				if rest[0] != ',' || len(rest) == 1 {
					return nil, fmt.Errorf("invalid labels: %q", line)
				}
				rest = rest[1:]
			}
		}
		f := &families[len(families)-1]
		if !f.allows(s.name, open) {
			return nil, fmt.Errorf("sample %s in family %s of type %s", s.name, f.name, f.kind)
		}
		if key := fmt.Sprint(s.name, s.labels); seen[key] {
			return nil, fmt.Errorf("sample stands twice: %q", line)
		} else {
			seen[key] = true
		}
		f.samples = append(f.samples, s)
	}
	return families, nil
}

func (f *pageFamily) allows(name string, open bool) bool {
	suffix, ok := strings.CutPrefix(name, f.name)
	if !ok {
		return false
	}
	switch f.kind {
	case "gauge":
		return suffix == ""
	case "counter":
		return !open && suffix == "" || open && (suffix == "_total" || suffix == "_created")
	case "histogram":
		return suffix == "_bucket" || suffix == "_count" || suffix == "_sum" || open && suffix == "_created"
	}
	return false
}

func unescape(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\"`, `"`).Replace(s)
}

// message is a decoded protobuf message: the values of each field in order, as
// uint64, float64 or []byte.
type message map[int][]any

func parseMessage(b []byte) (message, error) {
	m := make(message)
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, errors.New("invalid tag")
		}
		b = b[n:]
		field := int(tag >> 3)
		switch tag & 7 {
		case 0:
			v, n := binary.Uvarint(b)
			if n <= 0 {
				return nil, errors.New("invalid varint")
			}
			m[field], b = append(m[field], v), b[n:]
		case 1:
			if len(b) < 8 {
				return nil, errors.New("truncated double")
			}
			m[field], b = append(m[field], math.Float64frombits(binary.LittleEndian.Uint64(b))), b[8:]
		case 2:
			body, rest, err := cutLengthPrefixed(b)
			if err != nil {
				return nil, err
			}
			m[field], b = append(m[field], body), rest
		default:
			return nil, fmt.Errorf("wire type %d", tag&7)
		}
	}
	return m, nil
}

func cutLengthPrefixed(b []byte) (body, rest []byte, err error) {
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return nil, nil, errors.New("truncated message")
	}
	return b[n : n+int(size)], b[n+int(size):], nil
}

// sub returns the messages of a field.
func (m message) sub(field int) ([]message, error) {
	var list []message
	for _, v := range m[field] {
		body, ok := v.([]byte)
		if !ok {
			return nil, fmt.Errorf("field %d is no message", field)
		}
		sub, err := parseMessage(body)
		if err != nil {
			return nil, err
		}
		list = append(list, sub)
	}
	return list, nil
}

func unzigzag(x uint64) int { return int(x>>1) ^ -int(x&1) }
