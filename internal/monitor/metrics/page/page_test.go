package page

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/monitor/metrics"
	"github.com/lshark/lshark/internal/must"
)

func TestAccept(t *testing.T) {
	for _, tt := range []struct {
		accept string
		want   string // of the content type
	}{
		{"", "text/plain"},
		{"*/*", "text/plain"},
		{"text/html, application/xhtml+xml, */*;q=0.8", "text/plain"},
		{"application/openmetrics-text", "application/openmetrics-text"},
		{"application/openmetrics-text; version=1.0.0; charset=utf-8", "application/openmetrics-text"},
		{`application/openmetrics-text; version="1.0.0"`, "application/openmetrics-text"},
		{"Application/OpenMetrics-Text;Version=1.0.0", "application/openmetrics-text"},
		{"application/openmetrics-text; version=0.0.1", "text/plain"},
		{"text/plain;version=0.0.4, application/openmetrics-text; version=1.0.0", "text/plain"},
		{"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text", "text/plain"},
		// Prometheus 2.42 without and with native histograms, and 3.0.
		{"application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", "application/openmetrics-text"},
		{"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,application/openmetrics-text;version=1.0.0;q=0.8,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", "application/vnd.google.protobuf"},
		{"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,/;q=0.1", "application/openmetrics-text"},
	} {
		got, _, _ := strings.Cut(chooseFormat(tt.accept).contentType, ";")
		assert.Equal(t, got, tt.want, tt.accept)
	}
}

func TestHandler(t *testing.T) {
	registry := metrics.New(time.Unix(1795334400, 0))
	registry.Family(metrics.Desc{Type: metrics.CounterType, Name: "test_rpcs", Help: "RPCs."}).With().Inc()
	s := registry.Snapshot()
	wantText, wantOpenMetrics := string(metrics.AppendText(nil, s)), string(metrics.AppendOpenMetrics(nil, s))
	h := Handler(registry)
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
		b := must.Value(io.ReadAll(r))(t)
		return string(b)
	}
	for _, encoding := range []string{"gzip", "deflate, GZIP;q=0.5"} {
		resp := get("GET", "application/openmetrics-text", encoding)
		ct := resp.Header.Get("Content-Type")
		assert.That(t, ct == formats[1].contentType && resp.Header.Get("Content-Encoding") == "gzip", "headers %v", resp.Header)
		z := must.Value(gzip.NewReader(resp.Body))(t)
		assert.Equal(t, body(z), wantOpenMetrics, "page")
	}
	resp := get("GET", "", "")
	if got := body(resp.Body); got != wantText || resp.Header.Get("Content-Encoding") != "" || resp.ContentLength != int64(len(wantText)) {
		t.Errorf("headers %v, page %s", resp.Header, got)
	}
	resp = get("GET", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited", "")
	if b := body(resp.Body); resp.Header.Get("Content-Type") != formats[2].contentType || !strings.Contains(b, "test_rpcs_total") {
		t.Errorf("protobuf: %v", resp.Header)
	}
}
