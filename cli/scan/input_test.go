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
		if got := c.in.liveFilter(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%q", got)
		}
	}
}
