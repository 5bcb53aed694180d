package metrics

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"sync"
)

const maxResponses = 4

// Handler serves the values of a registry over HTTP: as OpenMetrics, the older
// text format or protobuf, whatever the client prefers, compressed if it accepts
// that.
type Handler struct {
	registry *Registry

	mu   sync.Mutex
	free []*page // the last one is used next, so that one scraper fills one page
}

// page is the memory for one response.
type page struct {
	snapshot   Snapshot
	text       []byte
	compressed bytes.Buffer
	gzip       *gzip.Writer
}

// NewHandler returns a handler for the path of the metrics, usually /metrics.
func NewHandler(r *Registry) *Handler {
	h := &Handler{registry: r}
	for range maxResponses {
		h.free = append(h.free, new(page))
	}
	return h
}

// take returns the memory for a response, nil if responses are using all of it.
func (h *Handler) take() *page {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := len(h.free)
	if n == 0 {
		return nil
	}
	p := h.free[n-1]
	h.free = h.free[:n-1]
	return p
}

func (h *Handler) giveBack(p *page) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.free = append(h.free, p)
}

// ServeHTTP answers GET and HEAD.
func (h *Handler) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	p := h.take()
	if p == nil { // clients that read slowly hold all of them
		w.Header().Set("Retry-After", "5")
		http.Error(w, "too many requests at a time", http.StatusServiceUnavailable)
		return
	}
	defer h.giveBack(p)

	f := chooseFormat(req.Header.Get("Accept"))
	h.registry.Snapshot(&p.snapshot)
	switch p.text = p.text[:0]; f {
	case openMetricsFormat:
		p.text = AppendOpenMetrics(p.text, &p.snapshot)
	case protobufFormat:
		p.text = AppendProtobuf(p.text, &p.snapshot)
	default:
		p.text = AppendText(p.text, &p.snapshot)
	}
	body := p.text
	header := w.Header()
	header.Set("Content-Type", f.contentType())
	header.Add("Vary", "Accept, Accept-Encoding")
	if acceptsGzip(req.Header.Get("Accept-Encoding")) {
		if compressed, err := p.compress(); err == nil {
			body = compressed
			header.Set("Content-Encoding", "gzip")
		}
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	if req.Method == http.MethodGet {
		// The only error is that the client went away.
		_, _ = w.Write(body)
	}
}

func (p *page) compress() ([]byte, error) {
	p.compressed.Reset()
	if p.gzip == nil {
		w, err := gzip.NewWriterLevel(&p.compressed, gzip.BestSpeed)
		if err != nil {
			return nil, err
		}
		p.gzip = w
	} else {
		p.gzip.Reset(&p.compressed)
	}
	if _, err := p.gzip.Write(p.text); err != nil {
		return nil, err
	}
	if err := p.gzip.Close(); err != nil {
		return nil, err
	}
	return p.compressed.Bytes(), nil
}
