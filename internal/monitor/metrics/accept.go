package metrics

import (
	"mime"
	"strings"
)

type format int

const (
	textFormat format = iota
	openMetricsFormat
	protobufFormat
)

func (f format) contentType() string {
	switch f {
	case openMetricsFormat:
		return "application/openmetrics-text; version=1.0.0; charset=utf-8"
	case protobufFormat:
		return "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
	default:
		return "text/plain; version=0.0.4; charset=utf-8"
	}
}

// chooseFormat returns the first known format in an Accept header: scrapers name the one that they
// like best first. Without a known format it returns the older text format.
func chooseFormat(accept string) format {
	for media := range strings.SplitSeq(accept, ",") {
		name, parameters, err := mime.ParseMediaType(media)
		version := parameters["version"]
		switch {
		case err != nil:
		case name == "application/openmetrics-text" && (version == "" || version == "1.0.0"):
			return openMetricsFormat
		case name == "application/vnd.google.protobuf" && parameters["proto"] == "io.prometheus.client.MetricFamily" &&
			parameters["encoding"] == "delimited":
			return protobufFormat
		case name == "text/plain" && (version == "" || version == "0.0.4"):
			return textFormat
		}
	}
	return textFormat
}

func acceptsGzip(header string) bool {
	for coding := range strings.SplitSeq(header, ",") {
		name, _, _ := strings.Cut(coding, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			return true
		}
	}
	return false
}
