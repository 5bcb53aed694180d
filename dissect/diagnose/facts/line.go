package facts

import (
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// loggedImport is what the log of a client says about a connection.
type loggedImport struct {
	server   lnet.NID // that was lost, the zero NID: none was
	lost     int64
	restored Point
}

type importName struct {
	log  int
	name string
}

type loggedRequest struct {
	log int
	xid uint64
}

const maxLogged = 1 << 12 // connections, and requests, of which logs have lines

// line takes a line of a log about a connection, or about a request that its node gave up.
func (f *Facts) line(l *track.LogLine) {
	f.now = max(f.now, l.Time)
	if !l.Console {
		f.noteLog(l.Node, l.Time)
	}
	switch {
	case l.Kind == debuglog.Note && !l.Served:
		f.lineOfRequest(l)
	case l.Kind == debuglog.Lost:
		i := f.loggedImport(l)
		i.server, i.lost, i.restored = l.PeerNode(), l.Time, Point{}
		f.eachOf(i, func(w *Wait) { w.sentTo(i.server) })
	case l.Kind == debuglog.Restored, l.Kind == debuglog.WasEvicted:
		i := f.loggedImport(l)
		i.restored = l.Point()
		f.eachOf(i, func(w *Wait) { w.end(i.restored, i) })
	}
}

// eachOf calls do for the waits of an import that are not over.
func (f *Facts) eachOf(i *loggedImport, do func(*Wait)) {
	for _, w := range f.waits {
		if w.of == i {
			do(w)
		}
	}
}

func (f *Facts) loggedImport(l *track.LogLine) *loggedImport {
	return fifo.GetOrNew(f.imports, importName{l.Log, l.Name})
}

// end ends a wait when the connection was made again: the request is sent again then.
func (w *Wait) end(p Point, i *loggedImport) {
	if !w.IsPing() { // which is not sent again
		w.To = max(w.To, p.Time)
	}
	w.Open, w.AtLeast, w.Again, w.of = false, !w.IsPing(), p, nil
	w.AtOnce = i.lost != 0 && p.Time-i.lost < atOnce
}

// atOnce is how long after it was lost a connection is made again at most if nothing hinders that.
const atOnce = int64(2e9)

// lineOfRequest keeps a request that its node gave up. What the line has as the server is the one to which the import connects by then.
func (f *Facts) lineOfRequest(l *track.LogLine) {
	k := loggedRequest{l.Log, l.XID}
	if w, known := fifo.Get(f.requests, k); known && w.Open && l.IsTimeout() { // it was sent again meanwhile
		w.To = max(w.To, l.Time)
		w.Sends = append(w.Sends[:min(len(w.Sends), maxSends)], Send{Point{Frame: -l.Line, File: l.File, Time: l.Time - l.Service}, -1})
		return
	} else if known || !l.IsTimeout() || l.Service == 0 || opcodes.IsConnect(l.Opcode) || opcodes.IsDisconnect(l.Opcode) {
		return
	}
	sent := l.Time - l.Service
	server := l.PeerNode()
	w := &Wait{Span: Span{sent, max(l.Time, sent+1e9)}, XID: l.XID, Operation: Operation{Opcode: l.Opcode}, Client: l.Node, Server: server,
		Connection: &track.Connection{Client: l.Node, Server: server, Target: l.Target, TargetFrom: track.TargetFromLog}, Job: l.Job, HasJob: l.Job != "",
		Request: l.Point(), Service: -1, Open: true, GaveUp: l.GaveUp(), log: l.Log}
	w.Sends = []Send{{w.Request, -1}}
	if !opcodes.IsCallback(l.Opcode) {
		f.ofImport(w, f.loggedImport(l))
	}
	fifo.Put(f.requests, k, w)
	f.addWait(w)
}

// ofImport sets the server of a request by what was logged about its connection, and when that was made again.
func (f *Facts) ofImport(w *Wait, i *loggedImport) {
	wasBefore := i.lost != 0 && w.From <= i.lost
	if wasBefore {
		w.sentTo(i.server)
	}
	if wasBefore && !i.restored.IsZero() {
		w.end(i.restored, i)
	} else {
		w.of = i
	}
}

// sentTo sets the server of a request, if it is known.
func (w *Wait) sentTo(server lnet.NID) {
	if server.Len > 0 {
		w.Server, w.Connection.Server = server, server
	}
}

// loggedWait returns what the line of its client says about an RPC, nil for nothing, and forgets it.
func (f *Facts) loggedWait(r *track.RPC) *Wait {
	if r.Log == nil || !r.Log.HasClient {
		return nil
	}
	k := loggedRequest{r.Log.Client.Log, r.XID}
	w, ok := fifo.Get(f.requests, k)
	if !ok {
		return nil
	}
	fifo.Delete(f.requests, k)
	return w
}

// noteCall takes that a log has the calls of its node, up to the time of one that it has sent.
func (f *Facts) noteCall(r *track.RPC) {
	if l := r.Log; l != nil && l.HasClient {
		c := &l.Client
		f.callsUntil[c.Log] = max(f.callsUntil[c.Log], c.End())
	}
}

// noteLog takes that there is a debug log of a node with something of a time.
func (f *Facts) noteLog(node lnet.NID, at int64) {
	fifo.GetOrMake(f.logs, node, func() *Span { return &Span{at, at} }).add(at)
}

// HasLog reports whether there is a debug log of a node with the time of a span.
func (f *Facts) HasLog(node lnet.NID, s Span) bool {
	has, ok := fifo.Get(f.logs, node)
	return ok && has.Overlaps(s)
}
