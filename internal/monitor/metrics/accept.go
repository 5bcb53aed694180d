package metrics

import (
	"strconv"
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

// chooseFormat returns the format with the highest quality in an Accept header,
// the first one if several have it. Without a known format it returns the older text
// format.
func chooseFormat(accept string) format {
	best, bestQuality := textFormat, 0.0
	for media := range strings.SplitSeq(accept, ",") {
		f, quality := parseMedia(media)
		if quality > bestQuality {
			best, bestQuality = f, quality
		}
	}
	return best
}

// parseMedia returns the format that a media range of an Accept header stands
// for, and its quality; 0 if there is no such format.
func parseMedia(media string) (f format, quality float64) {
	name, parameters, _ := strings.Cut(media, ";")
	version, proto, encoding := "", "", ""
	quality = 1
	for p := range strings.SplitSeq(parameters, ";") {
		key, value, _ := strings.Cut(p, "=")
		value = strings.Trim(strings.TrimSpace(value), `"`)
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "q":
			quality = parseQuality(value)
		case "version":
			version = value
		case "proto":
			proto = value
		case "encoding":
			encoding = value
		}
	}
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "application/openmetrics-text":
		if version == "" || version == "1.0.0" {
			return openMetricsFormat, quality
		}
	case "application/vnd.google.protobuf":
		if proto == "io.prometheus.client.MetricFamily" && encoding == "delimited" {
			return protobufFormat, quality
		}
	case "text/plain":
		if version == "" || version == "0.0.4" {
			return textFormat, quality
		}
	case "text/*", "*/*":
		return textFormat, quality
	}
	return textFormat, 0
}

func acceptsGzip(header string) bool {
	var anything bool
	for coding := range strings.SplitSeq(header, ",") {
		name, parameters, _ := strings.Cut(coding, ";")
		allowed := true
		if key, value, _ := strings.Cut(parameters, "="); strings.EqualFold(strings.TrimSpace(key), "q") {
			allowed = parseQuality(value) > 0
		}
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "gzip", "x-gzip":
			return allowed
		case "*":
			anything = allowed
		}
	}
	return anything
}

// parseQuality parses a quality value; an invalid one is 0.
func parseQuality(s string) float64 {
	q, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || !(q >= 0 && q <= 1) {
		return 0
	}
	return q
}
