package monitor

import "github.com/lshark/lshark/dissect/track"

// Count counts an RPC as if it had ended.
func (m *Monitor) Count(r *track.RPC) {
	m.registry.Begin(m.now)
	m.counter.done(r)
	m.registry.End()
}
