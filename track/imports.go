package track

import (
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/opcodes"
)

// Imports follows the lives of connections. Its methods Sent, Answered and
// Done fit the hooks of Options.
type Imports struct {
	list       []*Import
	logEntries int // of all connections
}

const maxImports = 1 << 16

// NewImports returns an Imports without connections.
func NewImports() *Imports { return &Imports{} }

// List returns the connections in the order in which they appeared.
func (t *Imports) List() []*Import { return t.list }

// importOf returns the connection of an RPC, with the point of its last
// message; nil when it is unknown.
func (t *Imports) importOf(r *RPC, p Point) *Import {
	c := r.Connection
	if c == nil {
		return nil
	}
	if c.imp == nil {
		if len(t.list) >= maxImports {
			t.forgetSilent()
		}
		c.imp = &Import{Connection: c, First: p, ImportLog: ImportLog{total: &t.logEntries}}
		t.list = append(t.list, c.imp)
	}
	c.imp.Last = p
	return c.imp
}

// forgetSilent forgets the half of the connections that was silent longest.
func (t *Imports) forgetSilent() {
	times := make([]int64, len(t.list))
	for k, i := range t.list {
		times[k] = i.Last.Time
	}
	slices.Sort(times)
	limit := times[len(times)/2]
	t.list = slices.DeleteFunc(t.list, func(i *Import) bool {
		silent := i.Last.Time <= limit
		if silent {
			i.Connection.imp = nil
			t.logEntries -= len(i.History) + len(i.Events)
		}
		return silent
	})
}

// Sent takes a request.
func (t *Imports) Sent(r *RPC, m *dissect.Message) {
	p := Point{m.Frame, m.Time}
	i := t.importOf(r, p)
	if i == nil {
		return
	}
	if IsCallback(r.Opcode) {
		i.callbackSent(r, m, p)
		return
	}
	if r.Sends > 1 && IsConnect(r.Opcode) {
		return
	}
	i.Requests++
	switch {
	case IsConnect(r.Opcode):
		i.connect(r, m, p)
	case IsDisconnect(r.Opcode):
		i.disconnectIsOST = r.Opcode == opcodes.OST_DISCONNECT
		i.add(Event{Point: p, Kind: EventDisconnect})
	default:
		i.request(r, m, p)
	}
}

// Answered takes a reply.
func (t *Imports) Answered(r *RPC, m *dissect.Message) {
	p := Point{m.Frame, m.Time}
	i := t.importOf(r, p)
	if i == nil {
		return
	}
	if IsCallback(r.Opcode) {
		i.callbackReplied(r)
		return
	}
	i.Replies++
	i.LastCommitted = max(i.LastCommitted, m.RPC.LastCommitted)
	i.LastTransno = max(i.LastTransno, r.Transno)
	switch {
	case IsConnect(r.Opcode):
		i.connectReply(r, m, p)
	case IsDisconnect(r.Opcode):
		i.setState(StateClosed, p)
	default:
		i.reply(r, m, p)
	}
}

// Done notes a ping that was not answered.
func (t *Imports) Done(r *RPC) {
	if r.Opcode != opcodes.OBD_PING || !r.Unanswered() || r.Connection == nil || r.Connection.imp == nil {
		return
	}
	r.Connection.imp.add(Event{Point: r.Requested(), Kind: EventPingUnanswered})
}

// Close decides which closed connections are idle: those to OSTs, of clients
// that kept others. One that was used again is known to be idle already.
func (t *Imports) Close() {
	type client struct {
		uuid string
		nid  lnet.NID // where the UUID is unknown
	}
	clientOf := func(i *Import) client {
		if i.ClientUUID == "" {
			return client{nid: i.Client}
		}
		return client{uuid: i.ClientUUID}
	}
	connected := make(map[client]bool)
	for _, i := range t.list {
		if i.State != StateClosed && i.State != StateUnknown && i.Kind() != "mgc" && !i.isOST() {
			connected[clientOf(i)] = true
		}
	}
	for _, i := range t.list {
		kind := i.Kind()
		if i.State == StateClosed && i.disconnectIsOST && (kind == "" || kind == "client") && connected[clientOf(i)] {
			i.correctToIdle()
		}
	}
}
