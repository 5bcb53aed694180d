package track

import (
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/opcodes"
)

// Imports follows connections. Its methods Sent, Answered and Done are those
// of Options.
type Imports struct {
	list    []*Import
	changed func(*Import)
	told    int // entries of all histories and lists of events
}

// The bounds of what is kept.
const (
	maxImports = 1 << 16
	maxTold    = 1 << 18
)

// NewImports makes an Imports. After each step in a connection's life changed
// is called, if it is not nil.
func NewImports(changed func(*Import)) *Imports { return &Imports{changed: changed} }

// List returns the connections in the order in which they appeared.
func (t *Imports) List() []*Import { return t.list }

// of finds or makes the record of an RPC's connection.
func (t *Imports) of(r *RPC, p Point) *Import {
	l := r.Link
	if l == nil {
		return nil
	}
	if l.imp == nil {
		if len(t.list) >= maxImports {
			t.evict()
		}
		l.imp = &Import{Link: l, First: p, told: &t.told}
		t.list = append(t.list, l.imp)
	}
	l.imp.Last = p
	return l.imp
}

// evict forgets the half of the connections that was silent longest.
func (t *Imports) evict() {
	times := make([]int64, len(t.list))
	for k, i := range t.list {
		times[k] = i.Last.Time
	}
	slices.Sort(times)
	limit := times[len(times)/2]
	t.list = slices.DeleteFunc(t.list, func(i *Import) bool {
		old := i.Last.Time <= limit
		if old {
			i.Link.imp = nil
			t.told -= len(i.History) + len(i.Events)
		}
		return old
	})
}

// Sent looks at a request.
func (t *Imports) Sent(r *RPC, m *dissect.Message) {
	p := Point{m.Frame, m.Time}
	i := t.of(r, p)
	if i == nil {
		return
	}
	if IsCallback(r.Opcode) {
		i.called(r, m, p)
		return
	}
	if r.Sends > 1 && IsConnect(r.Opcode) {
		return
	}
	n := len(i.History) + len(i.Events)
	i.Requests++
	switch {
	case IsConnect(r.Opcode):
		i.connect(r, m, p)
	case IsDisconnect(r.Opcode):
		i.ost = r.Opcode == opcodes.OST_DISCONNECT
		i.event(Event{Point: p, Kind: EvDisconnect})
	default:
		i.request(r, m, p)
	}
	t.tell(i, n)
}

// Answered looks at a reply.
func (t *Imports) Answered(r *RPC, m *dissect.Message) {
	p := Point{m.Frame, m.Time}
	i := t.of(r, p)
	if i == nil {
		return
	}
	if IsCallback(r.Opcode) {
		i.obeyed(r)
		return
	}
	n := len(i.History) + len(i.Events)
	i.Replies++
	i.LastCommitted = max(i.LastCommitted, m.RPC.LastCommitted)
	i.LastTransno = max(i.LastTransno, r.Transno)
	switch {
	case IsConnect(r.Opcode):
		i.connected(r, m, p)
	case IsDisconnect(r.Opcode):
		i.to(Closed, p)
	default:
		i.reply(r, m, p)
	}
	t.tell(i, n)
}

// Done notes pings that were not answered.
func (t *Imports) Done(r *RPC) {
	if r.Opcode != opcodes.OBD_PING || !r.Unanswered() || r.Link == nil || r.Link.imp == nil {
		return
	}
	r.Link.imp.event(Event{Point: r.Requested(), Kind: EvPingLost})
}

func (t *Imports) tell(i *Import, before int) {
	if t.changed != nil && len(i.History)+len(i.Events) != before {
		t.changed(i)
	}
}

// Close settles which connections are idle rather than closed: those to OSTs
// of clients that kept others. An idle one that was used again is known by
// that.
func (t *Imports) Close() {
	type client struct {
		uuid string
		nid  lnet.NID // where the uuid is not known
	}
	of := func(i *Import) client {
		if i.ClientUUID == "" {
			return client{nid: i.Client}
		}
		return client{uuid: i.ClientUUID}
	}
	busy := make(map[client]bool)
	for _, i := range t.list {
		if i.State != Closed && i.State != StateUnknown && i.Kind() != "mgc" && !i.toOST() {
			busy[of(i)] = true
		}
	}
	for _, i := range t.list {
		if kind := i.Kind(); i.State == Closed && i.ost && (kind == "" || kind == "client") && busy[of(i)] {
			i.idle()
		}
	}
}

// idle corrects what looked like the end of a connection.
func (i *Import) idle() {
	i.State = Idle
	if n := len(i.History); n > 0 {
		i.History[n-1].State = Idle
	}
}
