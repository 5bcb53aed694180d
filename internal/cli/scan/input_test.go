package scan

import (
	"strings"
	"testing"
)

// TestLiveFilter checks that a live capture is filtered by the LNet ports unless
// a filter is given.
func TestLiveFilter(t *testing.T) {
	for _, c := range []struct {
		in   *Input
		want string
	}{{&Input{}, "tcp port 988 or "}, {&Input{ports: []uint16{1988, 1989}}, "tcp port 1988 or tcp port 1989 or "},
		{&Input{filter: "udp", ports: []uint16{1}}, "udp"}} {
		got := c.in.liveFilter()
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%q", got)
		}
		if c.in.filter == "" && (!strings.Contains(got, "udp port 4791") || !strings.Contains(got, "ether proto 0x8915")) {
			t.Errorf("%q: without RoCE", got)
		}
	}
}
