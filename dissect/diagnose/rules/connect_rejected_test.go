package rules

import (
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
)

// answer sends the answer of the server to a request for an InfiniBand connection:
// reason 0 accepts it.
func (s *scene) answer(after float64, reason uint16) {
	s.pass(after)
	s.frame++
	m := &dissect.Message{Message: lnet.Message{Frame: s.frame, Time: s.now, Kind: lnet.Connrej, Transport: lnet.O2IB, Src: sceneAddr(oss), Dst: sceneAddr(node3), IB: &lnet.IB{Reject: reason}}}
	if reason == 0 {
		m.Kind = lnet.Connack
	}
	s.e.Message(m)
}

func TestRejectedConnections(t *testing.T) {
	const invalidService, stale = 8, 10
	for name, tt := range map[string]struct {
		reasons []uint16
		want    []string
	}{
		"accepted":  {[]uint16{0}, nil},
		"never":     {[]uint16{invalidService, invalidService}, []string{"error connect.rejected: 192.0.2.2 refused 2 InfiniBand connections of 192.0.2.3: INVALID_SERVICE_ID"}},
		"at once":   {[]uint16{invalidService, 0}, nil},
		"late":      {[]uint16{invalidService, invalidService, invalidService, 0}, []string{"warning connect.rejected: 192.0.2.2 refused 3 InfiniBand connections of 192.0.2.3: INVALID_SERVICE_ID"}},
		"restarted": {[]uint16{stale, stale, stale}, nil},
	} {
		s := newScene(t)
		for _, reason := range tt.reasons {
			s.answer(3, reason)
		}
		t.Run(name, func(t *testing.T) { s.t = t; s.expect(tt.want...) })
	}
}
