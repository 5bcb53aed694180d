package otlp

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// Config has the settings of an Exporter.
type Config struct {
	// Endpoint is the base URL of the receiver, such as http://localhost:4318.
	// v1/metrics and v1/traces are appended to its path. MetricsURL and
	// TracesURL are complete URLs, and take precedence.
	Endpoint, MetricsURL, TracesURL string

	// Headers are sent with all requests, in addition to those of the signal.
	// Values are secret: they do not appear in errors and logs.
	Headers, MetricsHeaders, TracesHeaders []Header

	Gzip               bool
	ExplicitHistograms bool // histograms by their classic buckets, if they have any
	Timeout            time.Duration
	TLS                TLSFiles

	Resource  Resource
	Names     Names
	UserAgent string

	// Log gets a line when the receiver is unavailable, when it is back, and when it
	// refuses something for the first time. The exporter's goroutines call it.
	Log func(message string)

	transport http.RoundTripper // of tests
}

// Header is a header of a request.
type Header struct {
	Name, Value string
}

// TLSFiles are names of PEM files for https. Empty names mean the certificate
// authorities of the system, and no certificate of the client.
type TLSFiles struct {
	CA, Certificate, Key string
}

// Defaults of Config.
const (
	DefaultEndpoint = "http://localhost:4318"
	DefaultTimeout  = 10 * time.Second
)

// ParseHeader parses name=value. Its errors do not show the value.
func ParseHeader(text string) (Header, error) {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return Header{}, errors.New("a header must have the form name=value")
	}
	h := Header{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)}
	return h, h.check()
}

// check returns an error for what HTTP does not allow in a header.
func (h *Header) check() error {
	const separators = "()<>@,;:\\\"/[]?={} \t"
	if h.Name == "" {
		return errors.New("a header has no name")
	}
	if strings.ContainsFunc(h.Name, func(c rune) bool { return c <= ' ' || c >= 0x7f || strings.ContainsRune(separators, c) }) {
		return fmt.Errorf("%q is not the name of a header", h.Name)
	}
	switch strings.ToLower(h.Name) {
	case "content-type", "content-length", "content-encoding", "transfer-encoding", "connection", "host":
		return fmt.Errorf("the header %s is set by the exporter", h.Name)
	}
	if strings.ContainsFunc(h.Value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
		return fmt.Errorf("the value of the header %s has a control character", h.Name)
	}
	return nil
}

// Configured reports whether a variable of OpenTelemetry has an endpoint for
// metrics or spans.
func Configured(getenv func(string) string) bool {
	all := getenv(endpointVariable) + getenv(metricsEndpointVariable) + getenv(tracesEndpointVariable)
	return strings.TrimSpace(all) != ""
}

const (
	endpointVariable        = "OTEL_EXPORTER_OTLP_ENDPOINT"
	metricsEndpointVariable = "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"
	tracesEndpointVariable  = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
)

// ApplyEnvironment sets what is not yet set from the variables of OpenTelemetry
// (OTEL_EXPORTER_OTLP_ENDPOINT and others), which getenv returns. Gzip and
// ExplicitHistograms are overridden even if already set.
func (c *Config) ApplyEnvironment(getenv func(string) string) error {
	set := func(to *string, name string) {
		if *to == "" {
			*to = strings.TrimSpace(getenv(name))
		}
	}
	if c.Endpoint == "" {
		set(&c.MetricsURL, metricsEndpointVariable)
		set(&c.TracesURL, tracesEndpointVariable)
	}
	set(&c.Endpoint, endpointVariable)
	set(&c.TLS.CA, "OTEL_EXPORTER_OTLP_CERTIFICATE")
	set(&c.TLS.Certificate, "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE")
	set(&c.TLS.Key, "OTEL_EXPORTER_OTLP_CLIENT_KEY")
	var err error
	for _, h := range []struct {
		to   *[]Header
		name string
	}{
		{&c.Headers, "OTEL_EXPORTER_OTLP_HEADERS"},
		{&c.MetricsHeaders, "OTEL_EXPORTER_OTLP_METRICS_HEADERS"},
		{&c.TracesHeaders, "OTEL_EXPORTER_OTLP_TRACES_HEADERS"},
	} {
		if len(*h.to) == 0 {
			if *h.to, err = parsePairs(getenv, h.name); err != nil {
				return err
			}
		}
	}
	if text := getenv("OTEL_EXPORTER_OTLP_TIMEOUT"); text != "" && c.Timeout == 0 {
		ms, err := strconv.ParseUint(strings.TrimSpace(text), 10, 31)
		if err != nil || ms == 0 {
			return fmt.Errorf("OTEL_EXPORTER_OTLP_TIMEOUT: %q is not a number of milliseconds above 0", text)
		}
		c.Timeout = time.Duration(ms) * time.Millisecond
	}
	for _, v := range []struct {
		name, off, on string
		set           *bool // nil: only off is supported
	}{
		{"OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf", "", nil},
		{"OTEL_EXPORTER_OTLP_COMPRESSION", "none", "gzip", &c.Gzip},
		{"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "cumulative", "", nil},
		{"OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION", "base2_exponential_bucket_histogram", "explicit_bucket_histogram",
			&c.ExplicitHistograms},
	} {
		switch text := strings.ToLower(strings.TrimSpace(getenv(v.name))); {
		case text == "", v.set == nil && text == v.off:
		case v.set == nil:
			return fmt.Errorf("%s: %q is not supported, only %s is", v.name, text, v.off)
		case text != v.off && text != v.on:
			return fmt.Errorf("%s: %q is neither %s nor %s", v.name, text, v.off, v.on)
		default:
			*v.set = text == v.on
		}
	}
	return nil
}

// url returns the URL of a signal: complete, if it is set, or else the path
// below the endpoint.
func (c *Config) url(complete, path string) (*url.URL, error) {
	// The errors of url.Parse show the URL, which may have a password.
	u, err := url.Parse(cmp.Or(complete, c.Endpoint, DefaultEndpoint))
	if err != nil {
		return nil, errors.New("the endpoint is not a URL")
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("endpoint %s: the URL must begin with http:// or https://", u.Redacted())
	}
	if u.Hostname() == "" {
		return nil, fmt.Errorf("endpoint %s: the URL has no host", u.Redacted())
	}
	if complete == "" {
		u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/")+"/"+path, ""
	} else if u.Path == "" {
		u.Path = "/"
	}
	u.Fragment = ""
	return u, nil
}

func (c *Config) header(lists ...[]Header) (http.Header, error) {
	header := http.Header{}
	header.Set("User-Agent", c.UserAgent)
	for _, list := range lists {
		for _, h := range list {
			if err := h.check(); err != nil {
				return nil, err
			}
			header.Set(h.Name, h.Value)
		}
	}
	header.Set("Content-Type", "application/x-protobuf")
	if c.Gzip {
		header.Set("Content-Encoding", "gzip")
	}
	return header, nil
}

func (c *Config) client() (*http.Client, error) {
	transport := c.transport
	if transport == nil {
		config, err := c.TLS.load()
		if err != nil {
			return nil, err
		}
		t := http.DefaultTransport.(*http.Transport).Clone() // with the proxies of the environment
		t.TLSClientConfig, t.DisableCompression = config, true
		transport = t
	}
	return &http.Client{
		Transport: transport,
		// Headers with secrets would follow to another host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

func (f *TLSFiles) load() (*tls.Config, error) {
	config := &tls.Config{}
	if f.CA != "" {
		pem, err := os.ReadFile(f.CA)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s has no certificate in PEM format", f.CA)
		}
	}
	if f.Certificate != "" || f.Key != "" {
		pair, err := tls.LoadX509KeyPair(f.Certificate, f.Key)
		if err != nil {
			return nil, fmt.Errorf("certificate of the client: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
