package otlp

import (
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lshark/lshark/internal/must"
)

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
		e, err := New(Config{Endpoint: endpoint, TLS: TLSFiles{CA: test.ca}})
		must.NoError(t, err)
		e.Span(numbered(1))
		err = e.Shutdown(t.Context())
		if s := e.Stats().Spans; s.Sent != test.sent || s.Sent+s.Dropped != 1 || (err == nil) != (test.sent == 1) {
			t.Errorf("CA %q: %v, %+v", test.ca, err, s)
		}
		if err != nil && (!strings.Contains(err.Error(), "certificate") || strings.Contains(err.Error(), "secret")) {
			t.Error(err)
		}
	}
	if n := requests.Load(); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// A receiver may respond before it has read the request. The exporter then uses
// the memory of the body again, though net/http may not be done with it; the
// race detector would see that.
func TestEarlyResponse(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	}))
	defer server.Close()
	e, err := New(Config{Endpoint: server.URL})
	must.NoError(t, err)
	const spans = 30_000
	for i := range spans {
		e.Span(numbered(i))
	}
	e.Start()
	_ = e.Shutdown(t.Context())
	// What the receiver has not read may also look like a broken connection.
	if s := e.Stats().Spans; s.Refused+s.Dropped != spans || s.Requests < 3 {
		t.Errorf("%+v", s)
	}
}
