package logs

import (
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
)

// wire is what a capture covers: of which node, and when.
type wire struct {
	points      []point
	first, last int64
	lost        track.Spans
}

// maxLost is how many losses are kept; further ones are joined with the last.
const maxLost = 1 << 10

// point is the nodes that have taken part in all RPCs of a capture point: the node where
// it is, and in the beginning another one.
type point struct {
	nodes [2]lnet.NID
	n     int
}

// add takes a request.
func (w *wire) add(source int, client, server lnet.NID, now int64) {
	if w.first == 0 {
		w.first = now
	}
	w.last = max(w.last, now)
	for len(w.points) <= source {
		w.points = append(w.points, point{n: -1})
	}
	p := &w.points[source]
	if p.n < 0 {
		p.nodes, p.n = [2]lnet.NID{client, server}, 2
		return
	}
	for i := p.n - 1; i >= 0; i-- {
		if p.nodes[i] != client && p.nodes[i] != server {
			p.n--
			p.nodes[i] = p.nodes[p.n]
		}
	}
}

// isOwner reports whether a capture was taken at a node: all of its RPCs are from or to it.
func (w *wire) isOwner(node lnet.NID) bool {
	for _, p := range w.points {
		if p.n == 1 && p.nodes[0] == node {
			return true
		}
	}
	return false
}

// covers reports whether the capture was taken at a node, and must have a request that the
// node has sent, by its log, if that came onto the wire.
func (w *wire) covers(l *log, c *debuglog.Call) bool {
	node := l.self.first()
	slack := l.delay + clockError
	at := track.Span{From: c.Sent - slack, To: c.Sent + slack}
	if !l.compared || c.Peer == (lnet.NID{}) || c.Peer.Type == loopback || at.From < w.first || at.To > w.last || w.lost.Overlap(at) {
		return false
	}
	return w.isOwner(node)
}

// clockError is how far times of a log and a capture of one node may be apart, in
// nanoseconds.
const clockError = int64(1e6)
