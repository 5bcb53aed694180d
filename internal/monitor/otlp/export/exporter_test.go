package export

import (
	"context"
	"encoding/binary"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/monitor/metrics"
	"github.com/lshark/lshark/internal/monitor/otlp"
	"github.com/lshark/lshark/internal/must"
)

// sleep lets a time pass, and waits until everything that became due is done.
func sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func numbered(n int) *otlp.Span {
	return &otlp.Span{Trace: otlp.TraceOf("192.0.2.3@tcp", uint64(n)), ID: otlp.SpanID{1}, Name: fmt.Sprintf("span-%d.", n), Kind: otlp.Client, Start: 1, End: 2}
}

func TestSpansAreSentTogether(t *testing.T) {
	withExporter(t, nil, func(t *testing.T, e *Exporter, r *receiver, l *logs) {
		e.Span(numbered(1))
		sleep(4 * time.Second)
		e.Span(numbered(2))
		synctest.Wait()
		must.Equal(t, len(r.all()), 0, "requests before the delay is over")
		s := e.Stats().Spans
		assert.That(t, s.Waiting == 2, "while spans wait: %+v", s)
		sleep(time.Second)
		got := r.all()
		must.That(t, len(got) == 1 && got[0].spans == 2 && got[0].path == "/v1/traces", "got %+v", got)
		if s := e.Stats().Spans; s.Sent != 2 || s.Requests != 1 || s.Waiting != 0 || s.LastError != "" {
			t.Errorf("after sending: %+v", s)
		}
		sleep(time.Hour)
		assert.Equal(t, len(r.all()), 1, "requests though there was nothing to send")
		assert.Equal(t, l.all(), "")
	})
}

func TestFullBatchIsSentAtOnce(t *testing.T) {
	withExporter(t, environment{"COMPRESSION": "gzip"}, func(t *testing.T, e *Exporter, r *receiver, _ *logs) {
		n := 0
		for ; len(r.all()) == 0; n++ {
			e.Span(numbered(n))
			if n%100 == 0 {
				synctest.Wait()
			}
		}
		got := r.all()[0]
		assert.That(t, got.header.Get("Content-Encoding") == "gzip" && got.spans >= 1000, "%d spans with %v", got.spans, got.header)
	})
}

// waits returns the times between requests.
func waits(requests []received) (d []time.Duration) {
	for i := 1; i < len(requests); i++ {
		d = append(d, requests[i].at.Sub(requests[i-1].at))
	}
	return d
}

func TestRetry(t *testing.T) {
	for _, status := range []int{429, 502, 503, 504} {
		withExporter(t, nil, func(t *testing.T, e *Exporter, r *receiver, l *logs) {
			r.setRespond(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
			e.Span(numbered(1))
			sleep(5 * time.Minute)
			s := e.Stats().Spans
			if s.Failures < 10 || s.Failures != s.Requests || s.Waiting != 1 || !strings.Contains(s.LastError, fmt.Sprint("status ", status)) {
				t.Errorf("%d: while away: %+v", status, s)
			}
			limit := firstRetry
			for i, d := range waits(r.all()) {
				assert.That(t, d >= limit/2 && d < limit*3/2, "%d: attempt %d came after %v, want about %v", status, i+2, d, limit)
				limit = min(2*limit, maxRetry)
			}
			r.setRespond(nil)
			sleep(time.Minute)
			if s := e.Stats().Spans; s.Sent != 1 || s.Waiting != 0 {
				t.Errorf("%d: after it is back: %+v", status, s)
			}
			// After a success the waits begin anew.
			before := len(r.all())
			r.setRespond(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
			e.Span(numbered(2))
			sleep(spanDelay + 2*time.Second)
			n := len(r.all()) - before
			assert.That(t, n >= 2, "%d: %d attempts in 2 s", status, n)
			if n := strings.Count(l.all(), "\n"); n != 1 && n != 2 || !strings.Contains(l.all(), "collector.example:4318 is back after") {
				t.Errorf("%d: logs:\n%s", status, l.all())
			}
			r.setRespond(nil)
		})
	}
}

func TestRetryAfter(t *testing.T) {
	for _, test := range []struct {
		header func() string
		low    time.Duration
	}{
		{func() string { return "42" }, 42 * time.Second},
		{func() string { return time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat) }, 89 * time.Second},
		{func() string { return "999999" }, maxRetryAfter},
	} {
		withExporter(t, nil, func(t *testing.T, e *Exporter, r *receiver, _ *logs) {
			r.setRespond(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", test.header())
				w.WriteHeader(429)
			})
			e.Span(numbered(1))
			sleep(spanDelay)
			r.setRespond(nil)
			sleep(time.Hour)
			d := waits(r.all())
			assert.That(t, len(d) == 1 && d[0] >= test.low && d[0] <= test.low*111/100+time.Second, "waited %v, want %v", d, test.low)
			assert.Equal(t, e.Stats().Spans.Sent, 1)
		})
	}
}

func TestRefused(t *testing.T) {
	for status, body := range map[int]string{
		400: "\x08\x03\x12\x0dbad \x1b[31mdata", // google.rpc.Status
		401: "", 404: "\xff", 413: "", 500: "", 307: "",
	} {
		withExporter(t, nil, func(t *testing.T, e *Exporter, r *receiver, l *logs) {
			r.setRespond(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "http://elsewhere.example/")
				w.WriteHeader(status)
				io.WriteString(w, body)
			})
			for i := range 3 {
				e.Span(numbered(i))
				sleep(time.Minute)
			}
			s := e.Stats().Spans
			assert.That(t, s.Refused == 3 && s.Requests == 3 && s.Failures == 0 && s.Waiting == 0, "%d: %+v", status, s)
			if strings.Count(l.all(), "\n") != 0 || !strings.Contains(l.all(), "collector.example:4318 refuses spans: status "+fmt.Sprint(status)) {
				t.Errorf("%d: logs:\n%s", status, l.all())
			}
			assert.That(t, status != 400 || strings.HasSuffix(s.LastError, `: "bad \x1b[31mdata"`), "%v", s.LastError)
			r.setRespond(nil)
			e.Span(numbered(4))
			sleep(time.Minute)
			assert.Equal(t, e.Stats().Spans.Sent, 1, status, "after it accepts")
		})
	}
}

func TestPartialSuccess(t *testing.T) {
	withExporter(t, nil, func(t *testing.T, e *Exporter, r *receiver, l *logs) {
		respond := func(body string) {
			r.setRespond(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) })
		}
		send := func() {
			for i := range 3 {
				e.Span(numbered(i))
			}
			sleep(time.Minute)
		}
		respond("\x0a\x0b\x08\x02\x12\x07too old") // rejected_spans: 2, error_message: "too old"
		send()
		send()
		s := e.Stats().Spans
		assert.That(t, s.Sent == 2 && s.Refused == 4 && s.Requests == 2, "%+v", s)
		assert.Equal(t, l.all(), `OTLP traces: collector.example:4318 refuses 2 spans: "too old"`)
		respond("\x0a\x02\x08\x63") // 99 of 3
		send()
		for _, body := range []string{"\x0a", "\x0a\x02\x08", "\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x0a\x00", "\x13\x14", "\x00"} {
			respond(body)
			send()
		}
		if s := e.Stats().Spans; s.Refused != 4+3 || s.Sent != 2+6*3 {
			t.Errorf("%+v", s)
		}
	})
}

// A receiver that does not answer costs the timeout, one that breaks the
// connection an attempt, and one that answers without end is refused.
func TestMisbehavingReceiver(t *testing.T) {
	withExporter(t, environment{"TIMEOUT": "3000"}, func(t *testing.T, e *Exporter, r *receiver, _ *logs) {
		r.setRespond(func(_ http.ResponseWriter, q *http.Request) { <-q.Context().Done() })
		e.Span(numbered(1))
		sleep(spanDelay + 4*time.Second)
		s := e.Stats().Spans
		assert.That(t, s.Failures == 1 && s.LastError == "no response within 3s", "slow: %+v", s)
		r.setRespond(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
		sleep(time.Minute)
		if s := e.Stats().Spans; s.Failures < 3 || !strings.Contains(s.LastError, "EOF") || strings.Contains(s.LastError, "http://") {
			t.Errorf("broken: %+v", s)
		}
		r.setRespond(func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		})
		sleep(time.Minute)
		if s := e.Stats().Spans; s.Refused != 1 || !strings.Contains(s.LastError, "more than 4194304 bytes") {
			t.Errorf("endless: %+v", s)
		}
	})
}

// While the receiver is away, adding spans neither waits nor grows without
// bound; the newest arrive when it is back.
func TestQueueIsBounded(t *testing.T) {
	const spans = 300_000
	withExporter(t, nil, func(t *testing.T, e *Exporter, r *receiver, l *logs) {
		r.setAway(true)
		begin := time.Now()
		for i := range spans {
			e.Span(numbered(i))
			q := e.spans
			q.mu.Lock()
			bytes := len(q.current.data)
			for _, b := range q.waiting {
				bytes += len(b.data)
			}
			q.mu.Unlock()
			must.That(t, bytes <= maxQueue, "%d bytes are held after %d spans", bytes, i)
			if i%1000 == 0 {
				synctest.Wait()
			}
		}
		assert.Equal(t, time.Since(begin), 0, "the caller waited for")
		s := e.Stats().Spans
		assert.That(t, s.Dropped >= spans/10 && s.Waiting >= spans/10, "while away: %+v", s)
		sleep(time.Hour)
		waiting := e.Stats().Spans.Waiting
		r.setAway(false)
		sleep(time.Minute)
		s = e.Stats().Spans
		assert.That(t, s.Sent == waiting && s.Waiting == 0 && s.Dropped == spans-waiting, "%d waited; after it is back: %+v", waiting, s)
		var text strings.Builder
		for _, q := range r.all() {
			text.WriteString(q.message)
		}
		for _, i := range []int{spans - int(waiting), spans - 1} {
			assert.Contains(t, text.String(), fmt.Sprintf("span-%d.", i), "span", i, "has not been sent")
		}
		if !strings.Contains(l.all(), "connection refused; trying again") || !strings.HasSuffix(l.all(), fmt.Sprintf("%d spans were dropped", s.Dropped)) {
			t.Errorf("logs:\n%s", l.all())
		}
	})
}

// asInt is how a data point has the value of a counter.
func asInt(value uint64) string {
	return string(binary.LittleEndian.AppendUint64([]byte{6<<3 | byte(protowire.Fixed64Type)}, value))
}

func counterSnapshot(value uint64) *metrics.Snapshot {
	return &metrics.Snapshot{Time: time.Now(), Families: []metrics.FamilySnapshot{{
		Desc: metrics.Desc{Name: "lshark_rpcs", Type: metrics.CounterType}, Points: []metrics.Series{{Value: float64(value)}},
	}}}
}

// Of metrics, only the newest snapshot waits.
func TestMetricsReceiverAway(t *testing.T) {
	withExporter(t, nil, func(t *testing.T, e *Exporter, r *receiver, l *logs) {
		e.Metrics(counterSnapshot(1))
		synctest.Wait()
		if got := r.all(); len(got) != 1 || got[0].path != "/v1/metrics" || !strings.Contains(got[0].message, asInt(1)) {
			t.Fatalf("got %+v", got)
		}
		r.setRespond(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) })
		for i := range uint64(60) {
			e.Metrics(counterSnapshot(2 + i))
			sleep(time.Minute)
			must.Equal(t, e.Stats().Points.Waiting, 1, "minute", i)
		}
		r.setRespond(nil)
		sleep(time.Minute)
		got := r.all()
		assert.Contains(t, got[len(got)-1].message, asInt(61), "the newest is not sent")
		s := e.Stats().Points
		assert.That(t, s.Sent == 2 && s.Dropped == 59 && s.Accepted == 61, "%+v", s)
		if strings.Contains(l.all(), "dropped") { // nothing is lost by that
			t.Error(l.all())
		}
	})
}

// A snapshot that fails while a newer one is waiting is not sent again.
func TestMetricsReplacedWhileSending(t *testing.T) {
	withExporter(t, nil, func(t *testing.T, e *Exporter, r *receiver, _ *logs) {
		r.setRespond(func(w http.ResponseWriter, q *http.Request) {
			time.Sleep(time.Second)
			w.WriteHeader(503)
		})
		e.Metrics(counterSnapshot(1))
		synctest.Wait()
		e.Metrics(counterSnapshot(2))
		r.setRespond(nil)
		sleep(time.Minute)
		got := r.all()
		assert.That(t, len(got) == 2 && strings.Contains(got[1].message, asInt(2)), "got %+v", got)
	})
}

func TestShutdown(t *testing.T) {
	withExporter(t, nil, func(t *testing.T, e *Exporter, r *receiver, _ *logs) {
		e.Span(numbered(1))
		e.Metrics(counterSnapshot(1))
		begin := time.Now()
		assert.NoError(t, e.Shutdown(t.Context()))
		assert.Equal(t, time.Since(begin), 0, "Shutdown waited for")
		s := e.Stats()
		assert.That(t, s.Spans.Sent == 1 && s.Points.Sent == 1 && len(r.all()) == 2, "%+v", s)
		e.Span(numbered(2))
		e.Metrics(counterSnapshot(2))
		if s := e.Stats(); s.Spans.Dropped != 1 || s.Points.Dropped != 1 {
			t.Errorf("after Shutdown: %+v", s)
		}
	})
}

// The metrics of a registry are sent at each interval and at the end.
func TestStart(t *testing.T) {
	withExporter(t, nil, func(t *testing.T, e *Exporter, r *receiver, _ *logs) {
		registry := metrics.New(time.Now())
		registry.Family(metrics.Desc{Type: metrics.CounterType, Name: "x", Help: "x"}).With()
		e.Start(time.Hour, registry)
		sleep(150 * time.Minute)
		assert.Equal(t, e.Stats().Points.Sent, 2, "after two intervals")
		must.NoError(t, e.Shutdown(t.Context()))
		assert.Equal(t, e.Stats().Points.Sent, 3, "at the end")
	})
}

// Shutdown ends the wait for the next attempt, makes one more, and ends with
// its context.
func TestShutdownReceiverAway(t *testing.T) {
	withExporter(t, nil, func(t *testing.T, e *Exporter, r *receiver, _ *logs) {
		r.setAway(true)
		e.Span(numbered(1))
		sleep(10 * time.Minute)
		before := e.Stats().Spans.Requests
		begin := time.Now()
		err := e.Shutdown(t.Context())
		assert.That(t, err != nil && err.Error() == "OTLP: 1 spans and 0 data points were not sent: connection refused", "%v", err)
		s := e.Stats().Spans
		assert.That(t, s.Dropped == 1 && s.Requests == before+1 && time.Now().Equal(begin), "%+v", s)
	})
	withExporter(t, nil, func(t *testing.T, e *Exporter, r *receiver, _ *logs) {
		r.setRespond(func(_ http.ResponseWriter, q *http.Request) { <-q.Context().Done() })
		for i := range 20_000 { // several batches
			e.Span(numbered(i))
		}
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if err := e.Shutdown(ctx); err == nil {
			t.Error("no error")
		}
		assert.Equal(t, time.Since(begin), 2*time.Second, "Shutdown took")
		if s := e.Stats().Spans; s.Dropped != 20_000 || s.Waiting != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// The two signals do not wait for each other.
func TestSignalsAreIndependent(t *testing.T) {
	withExporter(t, environment{"TRACES_ENDPOINT": "http://other.example/t", "METRICS_ENDPOINT": "http://collector.example:4318/v1/metrics"}, func(t *testing.T, e *Exporter, r *receiver, _ *logs) {
		r.setRespond(func(w http.ResponseWriter, q *http.Request) {
			if q.URL.Path == "/t" {
				<-q.Context().Done()
			}
		})
		e.Span(numbered(1))
		sleep(time.Minute)
		e.Metrics(counterSnapshot(1))
		synctest.Wait()
		s := e.Stats()
		assert.That(t, s.Points.Sent == 1 && s.Spans.Waiting == 1, "%+v", s)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_ = e.Shutdown(ctx)
	})
}

func TestHeaders(t *testing.T) {
	c := environment{
		"HEADERS":        "Authorization=Bearer secret,X-Scope-OrgID=a",
		"TRACES_HEADERS": "X-Scope-OrgID=traces",
		"COMPRESSION":    "none",
	}
	withExporter(t, c, func(t *testing.T, e *Exporter, r *receiver, l *logs) {
		e.Span(numbered(1))
		e.Metrics(counterSnapshot(1))
		sleep(time.Minute)
		for _, got := range r.all() {
			tenant := map[string]string{"/v1/metrics": "a", "/v1/traces": "traces"}[got.path]
			for name, want := range map[string]string{
				"Authorization": "Bearer secret", "X-Scope-OrgID": tenant, "User-Agent": "lshark/1.2.3",
				"Content-Type": "application/x-protobuf", "Content-Encoding": "",
			} {
				assert.Equal(t, got.header.Get(name), want, got.path, name)
			}
		}
		r.setAway(true)
		e.Span(numbered(2))
		sleep(time.Minute)
		if strings.Contains(l.all(), "secret") {
			t.Error(l.all())
		}
	})
}

// Several goroutines may add spans and metrics, and read the counters.
func TestConcurrentUse(t *testing.T) {
	withExporter(t, environment{"COMPRESSION": "gzip"}, func(t *testing.T, e *Exporter, r *receiver, _ *logs) {
		r.setRespond(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader([]int{200, 503, 400, 429}[len(r.all())%4])
		})
		done := make(chan struct{})
		const goroutines, each = 4, 500
		for g := range goroutines {
			go func() {
				for i := range each {
					e.Span(numbered(i))
					if i%10 == g {
						e.Metrics(counterSnapshot(uint64(i)))
						time.Sleep(time.Second)
					}
					e.Stats()
				}
				done <- struct{}{}
			}()
		}
		for range goroutines {
			<-done
		}
		s := e.Stats()
		assert.That(t, s.Spans.Accepted == goroutines*each && s.Points.Accepted == goroutines*each/10, "%+v", s)
	})
}

func TestNewReportsMistakes(t *testing.T) {
	for _, test := range []struct {
		env  environment
		want string
	}{
		{environment{"ENDPOINT": "collector:4318"}, "endpoint collector:4318: the URL must begin with http:// or https://"},
		{environment{"ENDPOINT": "http://"}, "endpoint http:: the URL has no host"},
		{environment{"ENDPOINT": "http://user:pass word@h"}, "the endpoint is not a URL"},
		{environment{"ENDPOINT": "ftp://user:secret@h"}, "endpoint ftp://user:xxxxx@h: the URL must begin with http:// or https://"},
		{environment{"HEADERS": "a b=c"}, `"a b" is not the name of a header`},
		{environment{"TRACES_HEADERS": "a=secret%0a"}, "the value of the header a has a control character"},
		{environment{"HEADERS": "content-encoding=br"}, "the header content-encoding is set by the exporter"},
		{environment{"CERTIFICATE": "/none"}, "open /none: no such file or directory"},
		{environment{"CERTIFICATE": "doc.go"}, "doc.go has no certificate in PEM format"},
		{environment{"CLIENT_KEY": "/none"}, "certificate of the client: open : no such file or directory"},
		{environment{"PROTOCOL": "grpc"}, `OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" is not supported, only http/protobuf is`},
		{environment{"COMPRESSION": "br"}, `OTEL_EXPORTER_OTLP_COMPRESSION: "br" is neither none nor gzip`},
		{environment{"METRICS_TEMPORALITY_PREFERENCE": "delta"},
			`OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: "delta" is not supported, only cumulative is`},
		{environment{"TIMEOUT": "10s"}, `OTEL_EXPORTER_OTLP_TIMEOUT: "10s" is not a number of milliseconds above 0`},
		{environment{"TIMEOUT": "0"}, `OTEL_EXPORTER_OTLP_TIMEOUT: "0" is not a number of milliseconds above 0`},
		{environment{"HEADERS": "a=1,secret"}, `OTEL_EXPORTER_OTLP_HEADERS: pair 2 is not of the form name=value`},
		{environment{"HEADERS": "a=secret%zz"}, `OTEL_EXPORTER_OTLP_HEADERS: the value of "a" is not in percent-encoding`},
		{environment{"OTEL_RESOURCE_ATTRIBUTES": "=1"}, `OTEL_RESOURCE_ATTRIBUTES: pair 1 is not of the form name=value`},
	} {
		if _, err := New(testConfig(test.env)); err == nil || err.Error() != test.want {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
}

func TestURL(t *testing.T) {
	for _, test := range [][4]string{ // a flag, two variables
		{"", "", "", "http://localhost:4318/v1/traces"},
		{"", "http://collector:4318", "", "http://collector:4318/v1/traces"},
		{"http://collector:4318/", "http://other", "http://other", "http://collector:4318/v1/traces"},
		{"https://collector/mycollector/", "", "", "https://collector/mycollector/v1/traces"},
		{"https://collector/a?b=c", "", "", "https://collector/a/v1/traces?b=c"},
		{"", "http://collector:4318", "https://collector.example.com/v1/t/", "https://collector.example.com/v1/t/"},
		{"", "", "http://collector:4318", "http://collector:4318/"},
		{"", "http://[2001:db8::1]:4318", "", "http://[2001:db8::1]:4318/v1/traces"},
	} {
		c := testConfig(environment{"ENDPOINT": test[1], "TRACES_ENDPOINT": test[2]})
		c.Endpoint = test[0]
		u, err := c.url("traces")
		if err != nil || u.String() != test[3] {
			t.Errorf("%q: got %v, %v, want %s", test, u, err, test[3])
		}
	}
}

func TestEnvironment(t *testing.T) {
	env := environment{
		"ENDPOINT":                              "http://collector:4318",
		"TRACES_ENDPOINT":                       "http://traces/x",
		"HEADERS":                               "api-key=a%20b%2Cc, x=1=2,",
		"METRICS_HEADERS":                       "m=1",
		"TIMEOUT":                               "2500",
		"COMPRESSION":                           "gzip",
		"PROTOCOL":                              "http/protobuf",
		"OTEL_RESOURCE_ATTRIBUTES":              "deployment.environment.name=prod,host.name=oss1-admin,text=a%3Db",
		"OTEL_SERVICE_NAME":                     "lustre",
		"METRICS_DEFAULT_HISTOGRAM_AGGREGATION": "explicit_bucket_histogram",
	}
	if !Configured(env.get) || Configured(func(string) string { return " " }) {
		t.Error("Configured is wrong")
	}
	for _, flags := range []bool{false, true} {
		c := testConfig(env)
		headers := http.Header{"User-Agent": {"lshark/1.2.3"}, "Content-Type": {"application/x-protobuf"}, "Content-Encoding": {"gzip"},
			"Api-Key": {"a b,c"}, "X": {"1=2"}}
		urls := []string{"http://traces/x", "http://collector:4318/v1/metrics"}
		if flags { // what they set stays
			c.Endpoint, c.Headers = "http://flag", []string{"f=1"}
			urls = []string{"http://flag/v1/traces", "http://flag/v1/metrics"}
			delete(headers, "Api-Key")
			delete(headers, "X")
			headers.Set("f", "1")
			env["COMPRESSION"] = "none"
			headers.Del("Content-Encoding")
		}
		e := must.Value(New(c))(t)
		defer e.Shutdown(t.Context())
		assert.Equal(t, e.spans.url.String(), urls[0])
		assert.Equal(t, e.points.url.String(), urls[1])
		assert.That(t, reflect.DeepEqual(e.spans.header, headers), "%v, want %v", e.spans.header, headers)
		headers.Set("m", "1")
		assert.That(t, reflect.DeepEqual(e.points.header, headers), "%v, want %v", e.points.header, headers)
		assert.That(t, e.explicit && e.spans.timeout == 2500*time.Millisecond, "%v, %v", e.explicit, e.spans.timeout)
		assert.Slice(t, e.spans.resource.Attributes, []otlp.Attribute{
			otlp.String("service.name", "lustre"), otlp.String("service.version", "1.2.3"), otlp.String("service.instance.id", "oss1"),
			otlp.String("host.name", "oss1-admin"), otlp.String("deployment.environment.name", "prod"), otlp.String("text", "a=b"),
		})
	}
}

func TestParseHeader(t *testing.T) {
	for text, want := range map[string]header{
		"Authorization=Basic YTpi==": {"Authorization", "Basic YTpi=="},
		" a = b ":                    {"a", "b"},
		"a=":                         {"a", ""},
	} {
		if h, err := parseHeader(text); err != nil || h != want {
			t.Errorf("%q: %v, %v", text, h, err)
		}
	}
	for _, text := range []string{"", "secret", "=secret", "a=secret\r\nb: c", "ü=secret"} {
		if _, err := parseHeader(text); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestTLS sends over https, to a receiver with a certificate of its own.
func TestTLS(t *testing.T) {
	var requests atomic.Int32
	server := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		user, password, _ := q.BasicAuth()
		if _, err := io.ReadAll(q.Body); err != nil || user != "lshark" || password != "secret" {
			t.Errorf("%s %s, %v", user, password, err)
		}
		requests.Add(1)
	}))
	defer server.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	block := &pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}
	must.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(block), 0o600))
	endpoint := strings.Replace(server.URL, "https://", "https://lshark:secret@", 1)
	for _, test := range []struct {
		ca   string
		sent uint64
	}{{ca, 1}, {"", 0}} {
		e, err := New(testConfig(environment{"ENDPOINT": endpoint, "CERTIFICATE": test.ca}))
		must.NoError(t, err)
		e.Span(numbered(1))
		err = e.Shutdown(t.Context())
		s := e.Stats().Spans
		assert.That(t, s.Sent == test.sent && s.Sent+s.Dropped == 1 && (err == nil) == (test.sent == 1), "CA %q: %v, %+v", test.ca, err, s)
		assert.That(t, err == nil || strings.Contains(err.Error(), "certificate") && !strings.Contains(err.Error(), "secret"), "%v", err)
	}
	assert.Equal(t, requests.Load(), 1, "requests")
}

// A receiver may respond before it has read the request.
func TestEarlyResponse(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	}))
	defer server.Close()
	e := must.Value(New(testConfig(environment{"ENDPOINT": server.URL})))(t)
	const spans = 30_000
	for i := range spans {
		e.Span(numbered(i))
	}
	_ = e.Shutdown(t.Context())
	// What the receiver has not read may also look like a broken connection.
	s := e.Stats().Spans
	assert.That(t, s.Refused+s.Dropped == spans && s.Requests >= 3, "%+v", s)
}

// FuzzResponse reads what a receiver may send.
func FuzzResponse(f *testing.F) {
	for _, body := range []string{
		"", "\x0a\x0b\x08\x02\x12\x07too old", "\x08\x03\x12\x0dbad \x1b[31mdata", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x0d\x01", "\x09\x01", "not found\n",
	} {
		f.Add([]byte(body), 200, "application/x-protobuf")
		f.Add([]byte(body), 400, "application/x-protobuf")
		f.Add([]byte(body), 404, "text/plain")
	}
	f.Fuzz(func(t *testing.T, body []byte, code int, contentType string) {
		r := &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {contentType}}}
		logged := ""
		s := &stream{name: "traces", items: "spans", url: &url.URL{Host: "h"}, log: func(line string) { logged = line }}
		n := s.partial(r, body)
		assert.That(t, n <= 1<<63-1 && (n <= 0 || logged != ""), "%d refused, logged %q", n, logged)
		for _, text := range []string{logged, refusal(r, body).Error()} {
			assert.That(t, len(text) <= 1000 && utf8.ValidString(text), "%q", text)
			for _, c := range text {
				assert.That(t, c >= ' ' && c != 0x7f, "%q has a control character", text)
			}
		}
	})
}
