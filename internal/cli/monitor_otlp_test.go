package cli

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/monitor/otlp"
	"github.com/lshark/lshark/internal/must"
)

// protoMessage has the fields of a protobuf message by number: numbers as 8 bytes.
type protoMessage map[uint64][][]byte

func parseProto(t *testing.T, b []byte) protoMessage {
	t.Helper()
	m := protoMessage{}
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		b = b[n:]
		size := uint64(8)
		switch tag & 7 {
		case 0:
			v, n := binary.Uvarint(b)
			b = b[n:]
			m[tag>>3] = append(m[tag>>3], binary.LittleEndian.AppendUint64(nil, v))
			continue
		case 1:
		case 5:
			size = 4
		case 2:
			size, n = binary.Uvarint(b)
			b = b[n:]
		default:
			t.Fatalf("wire type %d", tag&7)
		}
		m[tag>>3] = append(m[tag>>3], b[:size])
		b = b[size:]
	}
	return m
}

// all returns the messages at a path of field numbers.
func (m protoMessage) all(t *testing.T, path ...uint64) []protoMessage {
	t.Helper()
	messages := []protoMessage{m}
	for _, number := range path {
		var next []protoMessage
		for _, x := range messages {
			for _, b := range x[number] {
				next = append(next, parseProto(t, b))
			}
		}
		messages = next
	}
	return messages
}

func (m protoMessage) text(number uint64) string {
	if len(m[number]) == 0 {
		return ""
	}
	return string(m[number][0])
}

func (m protoMessage) uint(number uint64) uint64 {
	if len(m[number]) == 0 {
		return 0
	}
	return binary.LittleEndian.Uint64(m[number][0])
}

// attributes returns the attributes in a field, integers in decimal.
func (m protoMessage) attributes(t *testing.T, number uint64) map[string]string {
	t.Helper()
	list := map[string]string{}
	for _, a := range m.all(t, number) {
		value := a.all(t, 2)[0]
		text := value.text(1)
		if len(value[3]) > 0 {
			text = strconv.FormatInt(int64(value.uint(3)), 10)
		}
		list[a.text(1)] = text
	}
	return list
}

// otlpReceiver has the requests that it got.
type otlpReceiver struct {
	*httptest.Server
	mu              sync.Mutex
	traces, metrics []protoMessage
}

func newOTLPReceiver(t *testing.T) *otlpReceiver {
	r := &otlpReceiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		z, err := gzip.NewReader(q.Body)
		if err != nil {
			t.Error(err)
			return
		}
		body, err := io.ReadAll(z)
		if err != nil {
			t.Error(err)
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		switch q.URL.Path {
		case "/v1/traces":
			r.traces = append(r.traces, parseProto(t, body))
		case "/v1/metrics":
			r.metrics = append(r.metrics, parseProto(t, body))
		default:
			t.Errorf("path %s", q.URL.Path)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *otlpReceiver) spans(t *testing.T) (spans []protoMessage) {
	t.Helper()
	for _, q := range r.traces {
		spans = append(spans, q.all(t, 1, 2, 2)...)
	}
	return spans
}

// monitorTo runs monitor over a capture file, with an OTLP receiver.
func monitorTo(t *testing.T, r *otlpReceiver, file string, args ...string) (page string) {
	t.Helper()
	page, errs, status := run(t, append([]string{"monitor", "--otlp", r.URL, "--sample", "1/1", file}, args...)...)
	must.That(t, status == 0 && errs == "", "status %d, %s", status, errs)
	return page
}

// sentRPC is what `lshark rpcs -T json` prints of an RPC.
type sentRPC struct {
	XID, Opcode, Client, Server, Target string
	Request                             struct{ Time time.Time }
	Reply                               *struct{ Time time.Time }
	Error                               string
	Missing                             string `json:"reply_missing"`
	Flags                               []string
}

// TestMonitorSpans compares the spans of all RPCs of captures with what `lshark rpcs` prints.
func TestMonitorSpans(t *testing.T) {
	for _, file := range []string{"../../pcaps/mount.pcap", "../../pcaps/recovery.pcap.zst", "../../pcaps/io.pcap.zst", "../../dissect/diagnose/rules/testdata/evicted.pcap.zst"} {
		r := newOTLPReceiver(t)
		monitorTo(t, r, file)
		spans := map[string]protoMessage{}
		for _, s := range r.spans(t) {
			spans[hex.EncodeToString([]byte(s.text(2)))] = s
		}
		out, _, _ := run(t, "rpcs", "-n", "-T", "json", file)
		want, unanswered, replays := 0, 0, 0
		for line := range strings.Lines(out) {
			var x sentRPC
			must.NoError(t, json.Unmarshal([]byte(line), &x))
			if x.Request.Time.IsZero() || x.Reply == nil && x.Missing != "unanswered" {
				continue
			}
			want++
			if strings.Contains(fmt.Sprint(x.Flags), "REPLAY") {
				replays++ // its attempt is not in the record
				continue
			}
			xid := must.Value(strconv.ParseUint(x.XID, 10, 64))(t)
			s, ok := spans[otlp.SpanOf(x.Client, xid, otlp.Client, 0).String()]
			if !ok {
				t.Errorf("%s: no span of xid %s", file, x.XID)
				continue
			}
			a := s.attributes(t, 9)
			trace := otlp.TraceOf(x.Client, xid)
			if s.text(1) != string(trace[:]) || len(s[4]) != 0 || s.uint(6) != 3 || s.text(5) != x.Opcode ||
				a["rpc.method"] != x.Opcode || a["rpc.system.name"] != "lustre" || a["lustre.xid"] != x.XID ||
				a["lustre.client"] != x.Client || a["lustre.server"] != x.Server || a["lustre.target"] != x.Target ||
				x.Server != a["server.address"]+"@tcp" || int64(s.uint(7)) != x.Request.Time.UnixNano() {
				t.Errorf("%s: xid %s: %v, %v", file, x.XID, s, a)
			}
			status := s.all(t, 15)
			reason, kind := x.Error, x.Error
			if x.Reply == nil {
				unanswered++
				reason, kind = "no reply", "timeout"
			} else if int64(s.uint(8)) != x.Reply.Time.UnixNano() {
				t.Errorf("%s: xid %s ends at %d", file, x.XID, s.uint(8))
			}
			got := a["error.type"]
			assert.That(t, got == kind && s.uint(8) >= s.uint(7), "%s: xid %s: error.type is %q, want %q", file, x.XID, got, kind)
			if reason == "" && len(status) != 0 || reason != "" && (len(status) != 1 || status[0].text(2) != reason || status[0].uint(3) != 2) {
				t.Errorf("%s: xid %s: status %v, want %q", file, x.XID, status, reason)
			}
		}
		assert.That(t, len(spans) == want && want != 0, "%s: %d spans, want %d", file, len(spans), want)
		t.Logf("%s: %d spans, %d of them without a reply, %d replays", file, want, unanswered, replays)
	}
}

// TestMonitorBothSides runs a monitor for each end of the same RPCs.
func TestMonitorBothSides(t *testing.T) {
	const file = "../../pcaps/recovery.pcap.zst"
	client, server := newOTLPReceiver(t), newOTLPReceiver(t)
	monitorTo(t, client, file, "--side", "client")
	monitorTo(t, server, file, "--side", "server")
	byID := map[string]protoMessage{}
	for _, s := range client.spans(t) {
		if byID[s.text(2)] != nil {
			t.Errorf("two spans have the id %x", s.text(2))
		}
		byID[s.text(2)] = s
	}
	spans := server.spans(t)
	must.That(t, len(spans) != 0 && len(spans) == len(byID), "%d spans of the client, %d of the server", len(byID), len(spans))
	for _, s := range spans {
		parent := byID[s.text(4)]
		if parent == nil || parent.text(1) != s.text(1) || s.uint(6) != 2 || parent.uint(6) != 3 || s.text(2) == s.text(4) {
			t.Fatalf("%v has the parent %v", s, parent)
		}
	}
}

// TestMonitorMetrics compares the counts that a receiver gets with those on the page.
func TestMonitorMetrics(t *testing.T) {
	r := newOTLPReceiver(t)
	page := monitorTo(t, r, "../../pcaps/recovery.pcap.zst", "--side", "client")
	total := func(pattern string) (sum uint64) {
		for _, m := range regexp.MustCompile(`(?m)^`+pattern+` (\d+)( |$)`).FindAllStringSubmatch(page, -1) {
			n := must.Value(strconv.ParseUint(m[1], 10, 64))(t)
			sum += n
		}
		return sum
	}
	got := map[string]uint64{}
	errors := map[string]bool{}
	for _, q := range r.metrics {
		for _, m := range q.all(t, 1, 2, 2) {
			for _, p := range m.all(t, 7, 1) {
				got[m.text(1)] += p.uint(6)
			}
			for _, p := range m.all(t, 10, 1) {
				a := p.attributes(t, 1)
				if m.text(1) == "rpc.client.call.duration" {
					errors[a["error.type"]] = true
					assert.That(t, a["rpc.system.name"] == "lustre" && a["rpc.method"] != "" && m.text(3) == "s", "%v", a)
				}
				got[m.text(1)] += p.uint(4)
			}
		}
	}
	for name, want := range map[string]uint64{
		"lshark.rpcs":              total(`lshark_rpcs_total\{.*\}`),
		"rpc.client.call.duration": total(`lshark_rpc_latency_seconds_count\{.*\}`),
		"lshark.capture.frames":    total(`lshark_capture_frames_total`),
	} {
		if got[name] != want || want == 0 {
			t.Errorf("%s is %d, want %d", name, got[name], want)
		}
	}
	assert.That(t, errors[""] && len(errors) >= 2, "errors are %v", errors)
}

// TestMonitorReceiverAway: the command ends all the same, and says what is lost.
func TestMonitorReceiverAway(t *testing.T) {
	r := newOTLPReceiver(t)
	r.Close()
	want, _, _ := run(t, "monitor", "../../pcaps/mount.pcap")
	out, errs, status := run(t, "monitor", "--otlp", r.URL, "--sample", "1/1", "../../pcaps/mount.pcap")
	if status != 0 || !strings.Contains(errs, "spans and") || !strings.Contains(errs, "connection refused") {
		t.Errorf("status %d, %s", status, errs)
	}
	for line := range strings.Lines(want) {
		assert.That(t, strings.HasPrefix(line, "lshark_otlp") || strings.Contains(out, line), "missing: %s", line)
	}
}

// TestOTLPPage checks that docs/otlp.md has all attributes and names that are sent.
func TestOTLPPage(t *testing.T) {
	page := must.ReadFile(t, "../../docs/otlp.md")
	has := func(name string) {
		assert.That(t, bytes.Contains(page, []byte("`"+name+"`")), "docs/otlp.md does not have %s", name)
	}
	seen := map[string]bool{}
	r := newOTLPReceiver(t)
	for _, file := range []string{"../../pcaps/recovery.pcap.zst", "../../pcaps/locks.pcap.zst", "../../pcaps/io.pcap.zst"} {
		monitorTo(t, r, file)
	}
	for _, s := range r.spans(t) {
		for name := range s.attributes(t, 9) {
			seen[name] = true
		}
		for _, e := range s.all(t, 11) {
			seen[e.text(2)] = true
		}
	}
	for name := range seen {
		has(name)
	}
	assert.That(t, len(seen) >= 10, "only %v", seen)
}
