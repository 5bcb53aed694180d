package logs

import (
	"cmp"
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

// wire is what a capture covers: of which node, and when.
type wire struct {
	views       track.Viewpoints
	pairs       map[[2]lnet.NID]bool // that exchange messages
	clients     map[lnet.NID]bool    // of pairs, but for servers that only ask for locks
	first, last int64
	lost        map[int]*track.Spans // by capture point
}

// maxLost is how many losses are kept; further ones are joined with the last.
const maxLost = 1 << 10

func (w *wire) add(source int, opcode uint32, client, server lnet.NID, now int64) {
	w.first = cmp.Or(w.first, now)
	w.last = max(w.last, now)
	w.views.See(source, client, server)
	if pair := [2]lnet.NID{client, server}; !w.pairs[pair] && len(w.pairs) < maxPairs {
		w.pairs[pair] = true
		if !opcodes.IsCallback(opcode) {
			w.clients[client] = true
		}
	}
}

// maxPairs is how many pairs of nodes are kept; where there are more, logs tell nothing of others.
const maxPairs = 1 << 16

// isElsewhere reports whether an RPC of a log was within the time of the capture and between nodes of which it
// has no RPC at all.
func (w *wire) isElsewhere(client, server lnet.NID, at int64) bool {
	return client.Len > 0 && server.Len > 0 && !server.IsLoopback() && !w.pairs[[2]lnet.NID{client, server}] && len(w.pairs) < maxPairs &&
		at >= w.first && at <= w.last
}

// IsElsewhere reports whether a line of a log is about a connection of which the capture has no message.
func (x *Logs) IsElsewhere(l *track.LogLine) bool {
	if !x.Elsewhere {
		return false
	}
	switch peer := l.PeerNode(); {
	case l.Kind >= debuglog.Connected: // by the log of the server
		return x.wire.isElsewhere(peer, l.Node, l.Time)
	case peer.Len > 0:
		return x.wire.isElsewhere(l.Node, peer, l.Time)
	}
	return l.Node.Len > 0 && l.Time >= x.wire.first && l.Time <= x.wire.last && !x.wire.clients[l.Node] && len(x.wire.pairs) < maxPairs
}

// covers reports whether the capture was taken at a node, and must have a request that the
// node has sent, by its log, if that came onto the wire.
func (w *wire) covers(l *log, c *debuglog.Call) bool {
	slack := l.delay + clockError
	at := track.Span{From: c.Sent - slack, To: c.Sent + slack}
	if !l.compared || c.Peer == (lnet.NID{}) || c.Peer.IsLoopback() || at.From < w.first || at.To > w.last {
		return false
	}
	point := w.views.At(l.self.first())
	lost := w.lost[point]
	return point >= 0 && (lost == nil || !lost.Overlap(at))
}

// clockError is how far times of a log and a capture of one node may be apart, in
// nanoseconds.
const clockError = int64(1e6)
