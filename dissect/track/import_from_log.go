package track

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes"
)

// LogLine is a line about a connection in the log of a node, by the clock that all logs
// and the capture share.
type LogLine struct {
	debuglog.Event
	Log  int      // number of the log
	File string   // its name
	Node lnet.NID // whose log it is; the zero NID: unknown
}

// Point returns when the line was written.
func (l *LogLine) Point() Point { return Point{-l.Line, l.File, l.Time} }

// PeerNode returns the other node of a line; a node reaches itself by the loopback.
func (l *LogLine) PeerNode() lnet.NID {
	if l.Peer.IsLoopback() && l.Node.Len > 0 {
		return l.Node
	}
	return l.Peer
}

// logged finds the connections that lines of logs are about.
type logged struct {
	byAddress map[loggedKey]*Import
	byName    map[loggedKey]*Import
	byThread  map[loggedKey]*Import // of its last change of a state
	served    map[connectionName]*Import
	nodes     map[string]lnet.NID // of clients, by uuid
	mounts    map[loggedMount]*Span
}

// loggedKey is what a log of a client has of a connection: a name, an address or the number of a thread.
type loggedKey struct {
	log    int
	name   string
	number uint64
}

// loggedMount is a mount that a server serves, by its log.
type loggedMount struct {
	client, server lnet.NID
	uuid           string
}

func newLogged() logged {
	return logged{map[loggedKey]*Import{}, map[loggedKey]*Import{}, map[loggedKey]*Import{}, map[connectionName]*Import{},
		map[string]lnet.NID{}, map[loggedMount]*Span{}}
}

// Logged takes a line of a log, without a capture, and returns the connection that it is
// about, nil for none.
func (t *Imports) Logged(l *LogLine) *Import {
	t.NoteLine(l)
	if l.Kind == debuglog.Note || l.Kind > debuglog.RecoveryEnd {
		return nil
	}
	i := t.ofLine(l)
	if i == nil {
		return nil
	}
	p := l.Point()
	i.Last, i.Before = p, i.State
	changes := i.changes
	switch l.Kind {
	case debuglog.ImportState:
		i.hasLoggedStates = true
		t.setLogged(i, loggedState(l.Before), loggedState(l.State), p)
	case debuglog.Connecting:
		i.Server = l.PeerNode()
	case debuglog.ConnectFailed:
		count(&i.Failures, l.Status)
		kind := EventRefused
		if l.Status == opcodes.ETIMEDOUT { // there was no reply
			kind = EventLog
		}
		i.log(l, kind)
	case debuglog.Instance:
		i.Granted.Instance = l.Number
	case debuglog.Evicting:
		kind := EventLog
		if !i.evicting {
			i.evicting = true
			if i.logEviction(1); !i.hasClientLog { // else the client finds out
				kind = EventEvicted
			}
		}
		i.log(l, kind)
	case debuglog.Connected, debuglog.Reconnected:
		i.evicting = false
		i.log(l, EventLog)
	case debuglog.WasEvicted:
		if l.XID != 0 && i.hasLoggedStates { // the next line is about the state
			break
		}
		fallthrough
	default:
		i.log(l, EventLog)
		if s := consoleStates[l.Kind]; s != 0 && !i.hasLoggedStates {
			t.setLogged(i, i.State, s, p)
		}
	}
	t.notify(i, changes, p)
	return i
}

// consoleStates are the states of an import after other lines, where the log has none about states, as those of the console.
var consoleStates = map[debuglog.Kind]ImportState{debuglog.Lost: StateDiscon, debuglog.Restored: StateFull, debuglog.WasEvicted: StateEvicted}

// log notes an event with the words of the line.
func (i *Import) log(l *LogLine, kind EventKind) *Event {
	return i.add(Event{Point: l.Point(), Kind: kind, Status: l.Status, Node: l.PeerNode(), Text: l.Text})
}

// HasClientLog reports whether the log of the client has lines about the connection.
func (i *Import) HasClientLog() bool { return i.hasClientLog }

// logEviction counts an eviction, of which the logs of client and server each have a line.
func (i *Import) logEviction(side int) {
	i.logEvictions[side]++
	i.Evictions = max(i.logEvictions[0], i.logEvictions[1])
}

// setLogged takes a change of the state.
func (t *Imports) setLogged(i *Import, before, s ImportState, p Point) {
	if i.Before = before; before == StateUnknown && s == StateDiscon {
		i.Before = StateFull // of the console, which tells the loss of a connection only
	}
	switch s {
	case StateConnecting:
		i.Attempts++
	case StateEvicted:
		i.logEviction(0)
		i.add(Event{Point: p, Kind: EventEvicted})
	}
	i.setState(s, p)
	if s == StateDiscon && i.Before == StateFull {
		t.lose(i, p)
	}
}

// IsUp reports whether the server has accepted the client, which may have to recover.
func (i *Import) IsUp() bool {
	switch i.State {
	case StateReplay, StateReplayLocks, StateReplayWait, StateRecover, StateFull, StateEvicted:
		return true
	}
	return false
}

// loggedState returns the state with a name.
func loggedState(name string) ImportState {
	for s := StateClosed; s <= StateIdle; s++ {
		if s.String() == name {
			return s
		}
	}
	return StateUnknown
}

// evictingLine is what the log of a server says about an eviction.
type evictingLine struct {
	LogLine
	used bool
}

const maxEvicting = 1 << 12

// NoteLine takes a line of a log, beside a capture, too: the log of a server says why it evicted
// a client, and that of a client why it gave up a connection.
func (t *Imports) NoteLine(l *LogLine) {
	switch {
	case l.Kind == debuglog.Evicting && len(t.evicting) < maxEvicting:
		t.evicting = append(t.evicting, &evictingLine{LogLine: *l})
	case l.Kind == debuglog.Note:
		if t.gaveUp == nil {
			t.gaveUp = map[int]LogLine{}
		}
		t.gaveUp[l.Log] = *l
	case l.Kind == debuglog.ImportState && loggedState(l.Before) == StateFull && loggedState(l.State) == StateDiscon && len(t.gone) < maxEvicting:
		if g, ok := t.gaveUp[l.Log]; ok && g.PID == l.PID && g.Target == l.Target && l.Time-g.Time < gaveUpWithin {
			t.gone = append(t.gone, g)
		}
	}
}

// gaveUpWithin is how many nanoseconds after a request the thread gives up its connection at most.
const gaveUpWithin = int64(1e9)

// WhyLost returns the line of a client's log about the timeout because of which the client gave up a
// connection at a time. It returns nil if no line, or more than one, fits.
func (t *Imports) WhyLost(c *Connection, at int64) (found *LogLine) {
	for i := range t.gone {
		l := &t.gone[i]
		if c.mayBeTo(l.Target) && l.Node == c.Client && max(l.Time-at, at-l.Time) <= gaveUpWithin+evictingSlack {
			if found != nil {
				return nil
			}
			found = l
		}
	}
	return found
}

// Evicting returns the line of the server's log about the last eviction of a client up to a
// time, nil: there is none. Each is returned once.
func (t *Imports) Evicting(c *Connection, until int64) (last *LogLine) {
	t.logged.findNode(c)
	for _, l := range t.evicting {
		same := l.UUID == c.ClientUUID
		if l.UUID == "" || c.ClientUUID == "" {
			same = l.PeerNode() != (lnet.NID{}) && l.PeerNode() == c.Client
		}
		if c.mayBeTo(l.Target) && same && !l.used && l.Time <= until+evictingSlack {
			l.used, last = true, &l.LogLine
		}
	}
	return last
}

// EvictingAlone returns the first line about an eviction that Evicting has not returned. Only the log of the
// server shows these evictions: the client was not captured. It returns nil if there is none.
func (t *Imports) EvictingAlone() *LogLine {
	for _, l := range t.evicting {
		if !l.used && l.Target != "" {
			return &l.LogLine
		}
	}
	return nil
}

// IsEarlierMount reports whether a node is served by a target, or by the server under another uuid, after a client of it was
// evicted, and was never evicted itself: that was an earlier mount of the node.
func (t *Imports) IsEarlierMount(c *Connection, at int64) bool {
	for m, s := range t.logged.mounts {
		if m.client == c.Client && m.server == c.Server && m.uuid != c.ClientUUID && s.From < at && s.To > at &&
			!slices.ContainsFunc(t.evicting, func(l *evictingLine) bool { return l.UUID == m.uuid }) {
			return true
		}
	}
	return slices.ContainsFunc(t.list, func(i *Import) bool {
		return i.mayBeTo(c.Target) && i.Client == c.Client && i.Evictions == 0 && i.LastServed.Time > at
	})
}

// evictingSlack is by how much the clocks of nodes may differ although they were compared,
// in nanoseconds.
const evictingSlack = int64(1e9)

// ofLine returns the connection that a line is about, a new one if need be.
func (t *Imports) ofLine(l *LogLine) *Import {
	if t.logged.byName == nil {
		t.logged = newLogged()
	}
	x, thread := &t.logged, loggedKey{log: l.Log, number: uint64(l.PID)}
	switch {
	case l.Target == "":
		return nil
	case l.Kind >= debuglog.Connected:
		if l.UUID == "" && l.Kind != debuglog.Evicting {
			return nil // about a target and all of its clients
		}
		return t.ofServed(l)
	case l.Kind == debuglog.ConnectFailed:
		if i := x.byThread[thread]; i != nil && i.Target == l.Target {
			return i
		}
		return nil
	}
	name, address := loggedKey{log: l.Log, name: l.Name}, loggedKey{log: l.Log, number: l.Import}
	i := x.byName[name]
	if i == nil && l.Import != 0 {
		i = x.byAddress[address]
	} else if i == nil { // as in the change of state before
		i = x.byThread[thread]
	}
	if i == nil || i.Target != l.Target {
		if i = t.sameClient(l.Target, uuidByName(l.Name), l.Node, true); i == nil {
			i = t.newLogged(l, l.Node, lnet.NID{})
		}
		i.hasClientLog = true
	}
	i.Client = cmp.Or(i.Client, l.Node)
	if l.Name != "" {
		x.byName[name], i.kindByName = i, kindByName(l.Name)
		i.ClientUUID = cmp.Or(i.ClientUUID, uuidByName(l.Name))
	}
	if l.Import != 0 {
		x.byAddress[address] = i
	}
	if l.Kind == debuglog.ImportState {
		if len(x.byThread) > maxImports {
			clear(x.byThread)
		}
		x.byThread[thread] = i
	}
	return i
}

// ofServed returns the connection of a client that a line of its server's log names.
func (t *Imports) ofServed(l *LogLine) *Import {
	key := connectionName{l.UUID, l.Target}
	i := t.logged.served[key]
	if i == nil || l.UUID == "" {
		if i = t.sameClient(l.Target, l.UUID, l.PeerNode(), false); i == nil {
			i = t.newLogged(l, l.PeerNode(), l.Node)
		}
		t.logged.served[key] = i
	}
	i.ClientUUID, i.kindByName = cmp.Or(i.ClientUUID, l.UUID), cmp.Or(i.kindByName, kindByName(l.UUID))
	i.Client = cmp.Or(i.Client, l.PeerNode())
	if l.UUID != "" && l.PeerNode() != (lnet.NID{}) {
		t.logged.nodes[l.UUID] = l.PeerNode()
	}
	i.Server = cmp.Or(i.Server, l.Node)
	return i
}

// sameClient returns the connection of a client to a target, by its uuid, or by its node if
// there is only one of them; nil: there is none, or only such as have a log of the client.
func (t *Imports) sameClient(target, uuid string, node lnet.NID, withoutLog bool) (found *Import) {
	several := false
	for _, i := range t.list {
		switch {
		case !i.FromLog || i.Target != target || withoutLog && i.hasClientLog:
		case uuid != "" && i.ClientUUID == uuid:
			return i
		case node != (lnet.NID{}) && i.Client == node && (uuid == "" || i.ClientUUID == ""):
			several, found = several || found != nil, i
		}
	}
	if several {
		return nil
	}
	return found
}

// kindByName returns the kind of a connection by the name of its import.
func kindByName(name string) string {
	for _, k := range [...]struct{ in, kind string }{
		{"-lwp-", "lwp"}, {"-osc-MDT", "mdt-ost"}, {"-osp-MDT", "mdt-mdt"}, {"-mdc-", "client"}, {"-osc-", "client"}, {"MGC", "mgc"},
	} {
		if strings.Contains(name, k.in) {
			return k.kind
		}
	}
	return ""
}

// uuidByName returns the uuid with which an import of a server connects, by its name; empty
// for other clients, whose uuids are random.
func uuidByName(name string) string {
	fs, _, _ := strings.Cut(name, "-")
	switch kindByName(name) {
	case "lwp":
		return name + "_UUID"
	case "mdt-ost", "mdt-mdt":
		return fs + name[strings.LastIndexByte(name, '-'):] + "-mdtlov_UUID"
	}
	return ""
}

// findNode sets the node of a client of which the logs have only the uuid.
func (x *logged) findNode(c *Connection) {
	if c.Client == (lnet.NID{}) && c.TargetFrom == TargetFromLog {
		c.Client = x.nodes[c.ClientUUID]
	}
}

// joinLogged makes one connection of what the log of a client and that of its server have,
// where the uuid of the client was found late.
func (t *Imports) joinLogged() {
	for _, i := range t.list {
		served := t.logged.served[connectionName{i.ClientUUID, i.Target}]
		t.logged.findNode(i.Connection)
		if !i.hasClientLog || served == nil || served == i || served.hasClientLog {
			continue
		}
		for _, e := range served.Events {
			i.add(e)
		}
		if i.logEvictions[1] = served.logEvictions[1]; i.Server == (lnet.NID{}) {
			i.Server = served.Server
		}
		i.Evictions = max(i.logEvictions[0], i.logEvictions[1])
		t.list = slices.DeleteFunc(slices.Clone(t.list), func(o *Import) bool { return o == served })
	}
}

// newLogged returns a new connection.
func (t *Imports) newLogged(l *LogLine, client, server lnet.NID) *Import {
	if len(t.logged.byName)+len(t.logged.byAddress)+len(t.logged.served) > 4*maxImports {
		t.logged = newLogged()
	}
	c := &Connection{Client: client, Server: server}
	c.Target, c.TargetFrom = l.Target, TargetFromLog
	t.begin = cmp.Or(t.begin, l.Time)
	if len(t.list) >= maxImports {
		t.forgetSilent()
	}
	c.imp = &Import{Connection: c, First: l.Point(), FromLog: true, ImportLog: ImportLog{total: &t.logEntries}}
	t.list = append(t.list, c.imp)
	return c.imp
}

// LoggedRPC takes an RPC of logs, which has the uuid of the client with which an import
// connects.
func (t *Imports) LoggedRPC(r *RPC) {
	if s := &r.Log.Server; r.Log.HasServer && s.Handled != 0 && r.Opcode < opcodes.LDLM_ENQUEUE && !opcodes.IsConnect(r.Opcode) {
		m := loggedMount{r.Client, r.Server, s.UUID}
		if served := t.logged.mounts[m]; served != nil {
			served.From, served.To = min(served.From, s.Handled), max(served.To, s.Handled)
		} else if t.logged.mounts != nil && len(t.logged.mounts) < maxEvicting {
			t.logged.mounts[m] = &Span{s.Handled, s.Handled}
		}
	}
	c := &r.Log.Client
	if c.Import == "" || c.UUID == "" {
		return
	}
	if i := t.logged.byName[loggedKey{log: c.Log, name: c.Import}]; i != nil && i.ClientUUID == "" {
		i.ClientUUID = c.UUID
	}
}
