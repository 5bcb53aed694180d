package track

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
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
func (l *LogLine) Point() Point { return Point{Time: l.Time} }

// logged finds the connections that lines of logs are about.
type logged struct {
	byAddress map[loggedAddress]*Import
	byName    map[loggedName]*Import
	byThread  map[loggedThread]*Import // of its last change of a state
	served    []*Import                // by the logs of servers
}

type (
	loggedAddress struct {
		log     int
		address uint64
	}
	loggedName struct {
		log  int
		name string
	}
	loggedThread struct {
		log int
		pid uint32
	}
)

func newLogged() logged {
	return logged{map[loggedAddress]*Import{}, map[loggedName]*Import{}, map[loggedThread]*Import{}, nil}
}

// Logged takes a line of a log, without a capture, and returns the connection that it is
// about, nil for none.
func (t *Imports) Logged(l *LogLine) *Import {
	i := t.ofLine(l)
	if i == nil {
		return nil
	}
	p := l.Point()
	i.Last, i.Before = p, i.State
	changes := i.changes
	switch l.Kind {
	case debuglog.ImportState:
		i.logState(l, p)
	case debuglog.Connecting:
		i.Server = l.Peer
	case debuglog.ConnectFailed:
		count(&i.Failures, l.Status)
		i.log(l, EventRefused)
	case debuglog.Instance:
		i.Granted.Instance = l.Number
	case debuglog.Evicting:
		i.Evictions++
		i.log(l, EventLog)
	case debuglog.WasEvicted:
		i.log(l, EventEvicted)
	default:
		i.log(l, EventLog)
	}
	t.notify(i, changes, p)
	return i
}

// log notes an event with the words of the line.
func (i *Import) log(l *LogLine, kind EventKind) *Event {
	return i.add(Event{Point: l.Point(), Kind: kind, Status: l.Status, Node: l.Peer, Text: l.Text})
}

// logState takes a change of the state.
func (i *Import) logState(l *LogLine, p Point) {
	for s := StateClosed; s <= StateIdle; s++ {
		if s.String() != l.State && !(s == StateDiscon && l.State == "DISCONN") {
			continue
		}
		switch s {
		case StateConnecting:
			i.Attempts++
		case StateEvicted:
			i.Evictions++
		}
		i.setState(s, p)
	}
}

// ofLine returns the connection that a line is about, a new one if need be.
func (t *Imports) ofLine(l *LogLine) *Import {
	x := &t.logged
	if x.byName == nil {
		*x = newLogged()
	}
	name, address, thread := loggedName{l.Log, l.Name}, loggedAddress{l.Log, l.Import}, loggedThread{l.Log, l.PID}
	var i *Import
	switch {
	case l.Target == "":
		return nil
	case l.Kind >= debuglog.Connected && (l.UUID != "" || l.Kind == debuglog.Evicting):
		return t.ofClient(l)
	case l.Kind == debuglog.ConnectFailed:
		if i = x.byThread[thread]; i == nil || i.Target != l.Target {
			return nil
		}
	case l.Name != "" && x.byName[name] != nil:
		i = x.byName[name]
	case l.Import != 0:
		i = x.byAddress[address]
	case l.Name != "": // as in the change of state before
		i = x.byThread[thread]
	default:
		return nil // about a target and all of its clients
	}
	if i == nil || i.Target != l.Target {
		i = t.newLogged(l, l.Node, lnet.NID{})
	}
	if i.Client == (lnet.NID{}) {
		i.Client = l.Node
	}
	if l.Name != "" {
		x.byName[name], i.kindByName = i, kindByName(l.Name)
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

// ofClient returns the connection of a client that a line of its server's log names.
func (t *Imports) ofClient(l *LogLine) *Import {
	at := slices.IndexFunc(t.logged.served, func(i *Import) bool {
		same := l.Peer != (lnet.NID{}) && i.Client == l.Peer
		return i.Target == l.Target && (i.ClientUUID == l.UUID && l.UUID != "" || same && (i.ClientUUID == "" || l.UUID == ""))
	})
	var i *Import
	if at < 0 {
		i = t.newLogged(l, l.Peer, l.Node)
		if len(t.logged.served) < maxServed {
			t.logged.served = append(t.logged.served, i)
		}
	} else {
		i = t.logged.served[at]
	}
	if i.ClientUUID == "" {
		i.ClientUUID = l.UUID
	}
	if i.Client == (lnet.NID{}) {
		i.Client = l.Peer
	}
	return i
}

// maxServed connections of clients are told apart, in the logs of servers.
const maxServed = 1 << 14

// newLogged returns a new connection.
func (t *Imports) newLogged(l *LogLine, client, server lnet.NID) *Import {
	if len(t.logged.byName)+len(t.logged.byAddress) > 4*maxImports {
		t.logged = newLogged()
	}
	c := &Connection{Client: client, Server: server}
	c.Target, c.TargetFrom = l.Target, TargetFromLog
	if t.begin == 0 {
		t.begin = l.Time
	}
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
	c := &r.Log.Client
	if c.Import == "" || c.UUID == "" {
		return
	}
	if i := t.logged.byName[loggedName{c.Log, c.Import}]; i != nil {
		i.ClientUUID = c.UUID
	}
}

// joinLogged makes one connection of what the logs of its client and its server have.
func (t *Imports) joinLogged() {
	for _, served := range t.logged.served {
		at := slices.IndexFunc(t.list, func(i *Import) bool {
			return i != served && i.FromLog && i.Target == served.Target &&
				(i.ClientUUID == served.ClientUUID && i.ClientUUID != "" || i.Client == served.Client && (i.ClientUUID == "" || served.ClientUUID == ""))
		})
		if at < 0 || served.Client == (lnet.NID{}) && served.ClientUUID == "" {
			continue
		}
		i := t.list[at]
		i.First = slices.MinFunc([]Point{i.First, served.First}, func(a, b Point) int { return cmp.Compare(a.Time, b.Time) })
		for _, e := range served.Events {
			i.add(e)
		}
		if i.Server == (lnet.NID{}) {
			i.Server = served.Server
		}
		if i.Client == (lnet.NID{}) {
			i.Client = served.Client
		}
		served.Connection.imp = i
		t.list = slices.DeleteFunc(t.list, func(other *Import) bool { return other == served })
	}
}
