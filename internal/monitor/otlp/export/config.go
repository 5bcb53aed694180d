package export

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lshark/lshark/internal/monitor/otlp"
)

// Config has the settings of an Exporter. All others are those of the variables of OpenTelemetry,
// such as OTEL_EXPORTER_OTLP_CERTIFICATE.
type Config struct {
	// Endpoint is the base URL of the receiver, such as http://localhost:4318. v1/metrics and
	// v1/traces are appended to its path.
	Endpoint string

	// Headers, of the form NAME=VALUE, are sent with all requests. Values are secret: they do not
	// appear in errors and logs.
	Headers []string

	Service, Release, Host string // that sends
	Names                  otlp.Names

	Getenv func(string) string // returns variables of the environment

	// Log gets a line when the receiver is unavailable, when it is back, and when it
	// refuses something for the first time. The exporter's goroutines call it.
	Log func(message string)

	transport http.RoundTripper // of tests
}

const (
	defaultEndpoint = "http://localhost:4318"
	defaultTimeout  = 10 * time.Second
)

// variablePrefix is that of the names of variables.
const variablePrefix = "OTEL_EXPORTER_OTLP_"

func (c *Config) env(name string) string { return strings.TrimSpace(c.Getenv(variablePrefix + name)) }

// Configured reports whether a variable of OpenTelemetry has an endpoint for
// metrics or spans.
func Configured(getenv func(string) string) bool {
	c := Config{Getenv: getenv}
	return c.env("ENDPOINT")+c.env("METRICS_ENDPOINT")+c.env("TRACES_ENDPOINT") != ""
}

// choose returns the value of a variable with one of a few words, empty when it is not set.
func (c *Config) choose(name string, words ...string) (string, error) {
	switch text := strings.ToLower(c.env(name)); {
	case text == "", slices.Contains(words, text):
		return text, nil
	case len(words) == 1:
		return "", fmt.Errorf("%s%s: %q is not supported, only %s is", variablePrefix, name, text, words[0])
	default:
		return "", fmt.Errorf("%s%s: %q is neither %s", variablePrefix, name, text, strings.Join(words, " nor "))
	}
}

// timeout returns how long to wait for a response.
func (c *Config) timeout() (time.Duration, error) {
	text := c.env("TIMEOUT")
	if text == "" {
		return defaultTimeout, nil
	}
	ms, err := strconv.ParseUint(text, 10, 31)
	if err != nil || ms == 0 {
		return 0, fmt.Errorf("%sTIMEOUT: %q is not a number of milliseconds above 0", variablePrefix, text)
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// parsePairs parses a variable of the form name=value,name=value with values in
// percent-encoding. Its errors show no values.
func (c *Config) parsePairs(variable string) (list []header, err error) {
	for i, part := range strings.Split(c.Getenv(variable), ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		if !ok || name == "" {
			return nil, fmt.Errorf("%s: pair %d is not of the form name=value", variable, i+1)
		}
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if err != nil {
			return nil, fmt.Errorf("%s: the value of %q is not in percent-encoding", variable, name)
		}
		list = append(list, header{name, value})
	}
	return list, nil
}

// resource returns the resource of the program. The variables OTEL_RESOURCE_ATTRIBUTES and
// OTEL_SERVICE_NAME take precedence. The host is the service.instance.id, too, which becomes
// the label instance in Prometheus.
func (c *Config) resource() (*otlp.Resource, error) {
	r := &otlp.Resource{Scope: c.Service, ScopeVersion: c.Release}
	r.Set(otlp.String("service.name", c.Service))
	r.Set(otlp.String("service.version", c.Release))
	r.Set(otlp.String("service.instance.id", c.Host))
	r.Set(otlp.String("host.name", c.Host))
	pairs, err := c.parsePairs("OTEL_RESOURCE_ATTRIBUTES")
	for _, p := range pairs {
		r.Set(otlp.String(p.name, p.value))
	}
	if name := c.Getenv("OTEL_SERVICE_NAME"); name != "" {
		r.Set(otlp.String("service.name", name))
	}
	return r, err
}

// header is a header of a request.
type header struct {
	name, value string
}

// parseHeader parses name=value. Its errors do not show the value.
func parseHeader(text string) (header, error) {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return header{}, errors.New("a header must have the form name=value")
	}
	h := header{strings.TrimSpace(name), strings.TrimSpace(value)}
	return h, h.check()
}

// check returns an error for what HTTP does not allow in a header.
func (h *header) check() error {
	const separators = "()<>@,;:\\\"/[]?={} \t"
	if h.name == "" {
		return errors.New("a header has no name")
	}
	if strings.ContainsFunc(h.name, func(c rune) bool { return c <= ' ' || c >= 0x7f || strings.ContainsRune(separators, c) }) {
		return fmt.Errorf("%q is not the name of a header", h.name)
	}
	switch strings.ToLower(h.name) {
	case "content-type", "content-length", "content-encoding", "transfer-encoding", "connection", "host":
		return fmt.Errorf("the header %s is set by the exporter", h.name)
	}
	if strings.ContainsFunc(h.value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
		return fmt.Errorf("the value of the header %s has a control character", h.name)
	}
	return nil
}

// headers returns the headers of the requests of a signal.
func (c *Config) headers(signal string, gzip bool) (http.Header, error) {
	var list []header
	for _, text := range c.Headers {
		h, err := parseHeader(text)
		if err != nil {
			return nil, err
		}
		list = append(list, h)
	}
	variables := []string{"HEADERS", strings.ToUpper(signal) + "_HEADERS"}
	if len(list) > 0 {
		variables = variables[1:]
	}
	for _, v := range variables {
		more, err := c.parsePairs(variablePrefix + v)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	all := http.Header{}
	all.Set("User-Agent", c.Service+"/"+c.Release)
	for _, h := range list {
		if err := h.check(); err != nil {
			return nil, err
		}
		all.Set(h.name, h.value)
	}
	all.Set("Content-Type", "application/x-protobuf")
	if gzip {
		all.Set("Content-Encoding", "gzip")
	}
	return all, nil
}

// url returns the URL of a signal: a complete one, or else the path below the endpoint.
func (c *Config) url(signal string) (*url.URL, error) {
	complete := ""
	if c.Endpoint == "" {
		complete = c.env(strings.ToUpper(signal) + "_ENDPOINT")
	}
	// The errors of url.Parse show the URL, which may have a password.
	u, err := url.Parse(cmp.Or(complete, c.Endpoint, c.env("ENDPOINT"), defaultEndpoint))
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
		u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/")+"/v1/"+signal, ""
	} else if u.Path == "" {
		u.Path = "/"
	}
	u.Fragment = ""
	return u, nil
}

func (c *Config) client() (*http.Client, error) {
	transport := c.transport
	if transport == nil {
		config, err := c.tls()
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

// tls returns the settings of https. Without names of PEM files they are the certificate authorities
// of the system, and no certificate of the client.
func (c *Config) tls() (*tls.Config, error) {
	config := &tls.Config{}
	if ca := c.env("CERTIFICATE"); ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s has no certificate in PEM format", ca)
		}
	}
	if certificate, key := c.env("CLIENT_CERTIFICATE"), c.env("CLIENT_KEY"); certificate != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			return nil, fmt.Errorf("certificate of the client: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
