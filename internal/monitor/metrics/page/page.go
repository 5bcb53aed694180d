// Package page serves the values of a registry of metrics.
package page

import (
	"compress/gzip"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/lshark/lshark/internal/monitor/metrics"
)

// format is a form of the page of metrics.
type format struct {
	contentType string
	append      func([]byte, *metrics.Snapshot) []byte
}

// formats are the known ones. The first is for clients that name none.
var formats = []format{
	{"text/plain; version=0.0.4; charset=utf-8", metrics.AppendText},
	{"application/openmetrics-text; version=1.0.0; charset=utf-8", metrics.AppendOpenMetrics},
	{"application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited", metrics.AppendProtobuf},
}

// chooseFormat returns the first known format in an Accept header: scrapers name the one that they
// like best first.
func chooseFormat(accept string) format {
	for media := range strings.SplitSeq(accept, ",") {
		for _, f := range formats {
			if f.matches(media) {
				return f
			}
		}
	}
	return formats[0]
}

// matches reports whether a client that accepts a media type accepts the format. A version that
// it does not name may be any.
func (f format) matches(media string) bool {
	name, given, err := mime.ParseMediaType(media)
	want, parameters, _ := mime.ParseMediaType(f.contentType)
	for key, value := range parameters {
		if key != "charset" && given[key] != value && (key != "version" || given[key] != "") {
			return false
		}
	}
	return err == nil && name == want
}

// Handler serves the values of a registry over HTTP: as OpenMetrics, the older
// text format or protobuf, whatever the client prefers, compressed if it accepts
// that.
func Handler(r *metrics.Registry) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		f := chooseFormat(req.Header.Get("Accept"))
		text := f.append(nil, r.Snapshot())
		header := w.Header()
		header.Set("Content-Type", f.contentType)
		header.Set("Vary", "Accept, Accept-Encoding")
		// The only error of a write is that the client went away.
		if !strings.Contains(strings.ToLower(req.Header.Get("Accept-Encoding")), "gzip") {
			header.Set("Content-Length", strconv.Itoa(len(text)))
			_, _ = w.Write(text)
			return
		}
		header.Set("Content-Encoding", "gzip")
		z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is valid
		_, _ = z.Write(text)
		_ = z.Close()
	})
}
