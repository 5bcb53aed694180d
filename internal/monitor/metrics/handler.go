package metrics

import (
	"bytes"
	"net/http"
	"strconv"

	"github.com/klauspost/compress/gzip"
)

// maxResponses is the maximum number of responses in memory at a time.
const maxResponses = 4

// Handler serves the values of a registry over HTTP: as OpenMetrics, the older
// text format or protobuf, whatever the client prefers, compressed if it accepts
// that.
type Handler struct {
	registry *Registry
	pages    chan *page
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
	h := &Handler{registry: r, pages: make(chan *page, maxResponses)}
	for range maxResponses {
		h.pages <- new(page)
	}
	return h
}

// ServeHTTP answers GET and HEAD.
func (h *Handler) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	var p *page
	select {
	case p = <-h.pages:
	default: // clients that read slowly hold all of them
		w.Header().Set("Retry-After", "5")
		http.Error(w, "too many requests at a time", http.StatusServiceUnavailable)
		return
	}
	defer func() { h.pages <- p }()

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

// compress returns the text compressed.
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
