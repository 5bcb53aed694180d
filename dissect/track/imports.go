package track

import (
	"cmp"
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// Imports follows connections. Its methods Sent, Answered and Done have the types
// of the hooks in Options. A Pairing can have one Imports only: trackers that need
// connections share it.
type Imports struct {
	changed    []func(*Import, Point)
	list       []*Import
	carriers   *fifo.Map[int, *carrier] // TCP connections, by their numbers
	logEntries int                      // of all connections
	begin      int64                    // time of the first message
	logged     logged
	evicting   []*evictingLine
	gaveUp     map[int]LogLine // the last line of each log about a request that was given up
	gone       []LogLine       // such lines after which the connection was
	losses     lossTable
	before     lossTable // of what may have been sent before the capture began
}

const maxImports = 1 << 16

// NewImports returns an Imports without connections.
func NewImports() *Imports {
	return &Imports{carriers: fifo.NewMap[int, *carrier](maxCarriers), losses: newLossTable(), before: newLossTable()}
}

// OnChange adds a func that is called after each message that added to the log of a
// connection, with the point of the message.
func (t *Imports) OnChange(changed func(*Import, Point)) { t.changed = append(t.changed, changed) }

// List returns the connections in the order in which they appeared.
func (t *Imports) List() []*Import { return t.list }

// Nodes returns the nodes of connections, in the order in which these are listed. Servers are
// those with targets, also where they are seen as clients of other targets only.
func Nodes(list []*Import) (clients, servers []lnet.NID) {
	isServer := make(map[lnet.NID]bool)
	seen := map[lnet.NID]bool{{}: true} // of some, a log does not know the server
	for _, i := range list {
		isServer[i.Server] = true
		if i.OfServer() {
			isServer[i.Client] = true
		}
	}
	for _, i := range list {
		for _, node := range []lnet.NID{i.Client, i.Server} {
			switch {
			case seen[node]:
			case isServer[node]:
				servers = append(servers, node)
			default:
				clients = append(clients, node)
			}
			seen[node] = true
		}
	}
	return clients, servers
}

// Lost takes a run of bytes that were not captured.
func (t *Imports) Lost(l *lnet.Loss) {
	if l.Why == lnet.BeforeFile {
		t.before.add(l)
		return
	}
	t.losses.add(l)
}

// unread takes a message of an unknown connection. Where bytes of it were not captured, it may
// belong to any between these nodes, as a message that was not captured at all.
func (t *Imports) unread(m *dissect.Message) {
	if m.Missing(0, m.Size) != lnet.Present {
		t.losses.add(&lnet.Loss{Source: m.Source, Src: m.Src, Dst: m.Dst, From: m.Time, To: m.Time, NIDs: []lnet.NID{m.LNet.Src, m.LNet.Dst}})
	}
}

// Begin returns the time of the first message.
func (t *Imports) Begin() int64 { return t.begin }

// IsLossy reports whether bytes between the nodes of a connection were not captured in a
// stretch of time.
func (t *Imports) IsLossy(c *Connection, s Span) bool {
	return t.HasLost(c, s) || t.before.touches(c, s)
}

// HasLost does so without those that may have been sent before the capture began.
func (t *Imports) HasLost(c *Connection, s Span) bool { return t.losses.touches(c, s) }

// Of returns the connection of an RPC, nil when it is unknown.
func (t *Imports) Of(r *RPC) *Import {
	if r.Connection == nil {
		return nil
	}
	return r.Connection.imp
}

// Select selects the connection of an RPC, if it is known.
func (t *Imports) Select(r *RPC) {
	if i := t.Of(r); i != nil {
		i.Selected = true
	}
}

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
		c.imp = &Import{Connection: c, First: p, ImportLog: ImportLog{total: &t.logEntries}, use: use{fromBefore: r.Handle != 0}}
		t.list = append(t.list, c.imp)
	}
	c.imp.Last, c.imp.Before = p, c.imp.State
	return c.imp
}

// forgetSilent removes the half of the connections without messages for the longest
// time.
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
			t.logEntries -= len(i.History) + len(i.Events) + len(i.PingLog)
		}
		return silent
	})
}

// Sent takes a request.
func (t *Imports) Sent(r *RPC, m *dissect.Message) {
	p := PointOf(m)
	t.begin = cmp.Or(t.begin, p.Time)
	i := t.importOf(r, p)
	if i == nil {
		t.unread(m)
		return
	}
	if opcodes.IsCallback(r.Opcode) {
		i.callbackSent(r, m, p)
		return
	}
	if r.Sends > 1 && opcodes.IsConnect(r.Opcode) {
		return
	}
	changes := i.changes
	i.Requests++
	switch {
	case opcodes.IsConnect(r.Opcode):
		i.connect(r, m, p)
	case opcodes.IsDisconnect(r.Opcode):
		if r.Sends == 1 {
			i.disconnect(r.Opcode, p, t.begin)
		}
	case len(m.RPC.GSS.Setup.Target) > 0:
		i.add(Event{Point: p, Kind: EventContextSetup})
		switch i.State { // a connection that is not up waits for a context before its connect is sent
		case StateUnknown, StateClosed, StateDiscon, StateIdle:
			i.setState(StateConnecting, p)
		}
	default:
		if i.Attempts == 0 { // connected before the capture
			i.ConnCnt = max(i.ConnCnt, r.ConnCnt)
		}
		i.use.note(r, p)
		i.request(r, m, p)
		if r.Replay() && i.Attempts == 0 && i.outage == nil { // it has connected to a target in recovery before the capture
			t.lose(i, p).Recovering = p
		}
	}
	t.notify(i, changes, p)
}

// Answered takes a reply.
func (t *Imports) Answered(r *RPC, m *dissect.Message) {
	p := PointOf(m)
	i := t.importOf(r, p)
	if i == nil {
		t.unread(m)
		return
	}
	if opcodes.IsCallback(r.Opcode) {
		i.callbackReplied(r)
		return
	}
	if r.Has(opcodes.PbStatus) && r.Status != opcodes.ENOTCONN && r.Type != dissect.TypeError && (!opcodes.IsConnect(r.Opcode) || r.Status == 0) {
		i.LastServed = p
	}
	changes := i.changes
	i.Replies++
	i.LastReply = p.Time
	i.LastCommitted = max(i.LastCommitted, m.RPC.LastCommitted)
	i.HasCommitted = i.HasCommitted || r.HasOpcode && !opcodes.SetsContext(r.Opcode)
	i.LastTransno = max(i.LastTransno, r.Transno)
	switch {
	case opcodes.IsConnect(r.Opcode):
		i.connectReply(r, m, p)
	case opcodes.IsDisconnect(r.Opcode):
		i.setState(StateClosed, p)
	case r.Opcode == opcodes.SEC_CTX_INIT && r.HasOpcode:
		i.contextReply(m, p)
	default:
		i.use.note(r, p)
		i.reply(r, m, p)
	}
	t.notify(i, changes, p)
	if i.outage != nil {
		i.outage.refuse(r, m)
	}
}

// Done counts retransmissions, and notes a ping that was not answered.
func (t *Imports) Done(r *RPC) {
	i, p := t.Of(r), r.Requested()
	if i == nil {
		return
	}
	if !i.overTCP {
		i.resent += int64(r.Retransmits())
	}
	if rtt, ok := r.RTT(); ok && !opcodes.IsCallback(r.Opcode) {
		i.RTT = rtt
	}
	if r.Opcode != opcodes.OBD_PING || !r.Unanswered() {
		return
	}
	changes := i.changes
	i.add(Event{Point: p, Kind: EventPingUnanswered})
	t.notify(i, changes, p)
}

// notify calls the funcs of OnChange when there were fewer changes before.
func (t *Imports) notify(i *Import, changesBefore int, p Point) {
	if i.changes == changesBefore {
		return
	}
	i.Changed = p
	t.followOutage(i, p)
	for _, changed := range t.changed {
		changed(i, p)
	}
}
