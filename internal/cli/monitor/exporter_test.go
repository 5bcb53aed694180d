package monitor

import (
	"testing"

	"github.com/lshark/lshark/internal/cli/iostreams"
	"github.com/lshark/lshark/internal/cli/scan"
)

// TestHasReceiver: the variables of OpenTelemetry have an effect on live captures only, in
// which they make -Y possible.
func TestHasReceiver(t *testing.T) {
	for _, tt := range []struct {
		url, iface, endpoint string
		want                 bool
	}{
		{"", "lo", "", false},
		{"", "lo", "http://collector:4318", true},
		{"", "", "http://collector:4318", false},
		{"http://collector:4318", "", "", true},
	} {
		env := func(name string) string {
			if name == "OTEL_EXPORTER_OTLP_ENDPOINT" {
				return tt.endpoint
			}
			return ""
		}
		c := newCommand(&scan.System{IO: &iostreams.IO{Env: env}})
		c.cobra()
		c.input.Interface, c.otlp.url, c.display = tt.iface, tt.url, "rpc.error"
		var err error
		if c.in, err = c.input.Check(nil, false); err != nil {
			t.Fatal(err)
		}
		p, err := c.check()
		if got := c.hasReceiver(); got != tt.want || (err == nil) != tt.want || tt.want && p.exporter == nil {
			t.Errorf("%+v: %v, %v", tt, got, err)
		}
	}
}
