package logs

import (
	"maps"
	"slices"
	"time"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
)

// host is a node by the name that logs of the console have for it. One log may have several, and one host several logs.
type host struct {
	number int // in place of that of a log
	node   lnet.NID
}

const maxHosts = 1 << 14

// ofHost sets node and number of a line by the host that wrote it.
func (t *table) ofHost(line *track.LogLine, name string) {
	h := t.hosts[name]
	if h == nil {
		if len(t.hosts) >= maxHosts {
			return
		}
		h = &host{number: len(t.logs) + len(t.hosts)}
		if t.hosts == nil {
			t.hosts = make(map[string]*host)
		}
		if t.HostNID != nil {
			h.node, _ = t.HostNID(name)
		}
		t.hosts[name] = h
	}
	if line.Log = h.number; h.node.Len > 0 {
		line.Node = h.node
	}
}

// hostVotes are the NIDs that a host may have, by lines of its own and of others.
type hostVotes map[string]map[lnet.NID]int

func (v hostVotes) add(name string, nid lnet.NID, n int) {
	if name == "" || nid.Len == 0 || nid.IsLoopback() || len(v) >= maxHosts {
		return
	}
	if v[name] == nil {
		v[name] = make(map[lnet.NID]int)
	}
	v[name][nid] += n
}

// told is a line about a target and a client, of one of both.
type told struct {
	target, host string
	peer         lnet.NID
	at           int64
	evicted      bool  // the client was evicted, else it connects again
	leftOut      int64 // time of the last line of the host that is like this one, if the kernel left out others between them; else 0
}

// isAbout reports whether a line of a server may be about what a client tells.
func (s *told) isAbout(c *told) bool { return s.target == c.target && s.host != c.host }

const maxTold = 1 << 11

// sameMoment is how far the lines of both nodes about a connection are apart at most.
const sameMoment = int64(2 * time.Second)

// findsOut is how long after it was evicted a client finds out at most.
const findsOut = int64(10 * time.Minute)

// hostFinder finds the NIDs of hosts: by what LNet logs when it starts; by the NID at which others lose a target that the host serves;
// and by the clients that a server logs as connected again in the moment in which the host logs that it is, or as evicted before the host
// finds out.
type hostFinder struct {
	started hostVotes
	at      map[string]map[lnet.NID]bool // NIDs of the servers of each target
	serves  map[string]map[string]bool   // targets of each host
	peers   map[string]map[lnet.NID]bool // servers of each host, which are other nodes: it reaches itself by the loopback
	servers []told
	clients []told
	changed bool // since the last votes
}

// hostKinds are the kinds of lines that a hostFinder takes.
var hostKinds = []debuglog.Kind{debuglog.NetStarted, debuglog.Lost, debuglog.RequestFailed, debuglog.Restored, debuglog.WasEvicted,
	debuglog.Reconnected, debuglog.Connected, debuglog.Evicting, debuglog.RecoveryBegin, debuglog.Stopped, debuglog.FailingOver, debuglog.Skipped}

func newHostFinder() *hostFinder {
	return &hostFinder{started: hostVotes{}, at: map[string]map[lnet.NID]bool{}, serves: map[string]map[string]bool{}, peers: map[string]map[lnet.NID]bool{}}
}

func (f *hostFinder) take(e *debuglog.Event) {
	if !slices.Contains(hostKinds, e.Kind) {
		return
	}
	f.changed = true
	switch e.Kind {
	case debuglog.NetStarted:
		f.started.add(e.Host, e.Peer, 1000)
	case debuglog.Lost, debuglog.RequestFailed:
		if e.Peer.Len > 0 && e.Target != "" {
			addTo(f.at, e.Target, e.Peer)
			addTo(f.peers, e.Host, e.Peer)
		}
	case debuglog.Restored, debuglog.WasEvicted:
		f.clients = addTold(f.clients, e)
	case debuglog.Skipped:
		f.leaveOut(e)
	case debuglog.Reconnected, debuglog.Evicting:
		f.servers = addTold(f.servers, e)
		addTo(f.serves, e.Host, e.Target)
	default:
		addTo(f.serves, e.Host, e.Target)
	}
}

func addTold(list []told, e *debuglog.Event) []told {
	if len(list) < maxTold {
		evicted := e.Kind == debuglog.WasEvicted || e.Kind == debuglog.Evicting
		list = append(list, told{target: e.Target, host: e.Host, peer: e.Peer, at: e.Time, evicted: evicted})
	}
	return list
}

// leaveOut takes that the kernel left out lines like the one before, which may be about clients.
func (f *hostFinder) leaveOut(e *debuglog.Event) {
	last := (*told)(nil)
	for i := range slices.Backward(f.servers) {
		switch s := &f.servers[i]; {
		case s.host != e.Host || last != nil && s.evicted != last.evicted:
		case last != nil:
			last.leftOut = s.at
			return
		case e.Time-s.at >= int64(time.Millisecond):
			return
		default:
			last, s.leftOut = s, 1
		}
	}
}

// votes returns what speaks for which NID of each host.
func (f *hostFinder) votes() hostVotes {
	f.changed = false
	v := hostVotes{}
	for name, nids := range f.started {
		v[name] = maps.Clone(nids)
	}
	for name, targets := range f.serves {
		for target := range targets {
			for nid := range f.at[target] {
				if !f.peers[name][nid] {
					v.add(name, nid, 1)
				}
			}
		}
	}
	for _, c := range f.clients {
		after := sameMoment
		if c.evicted {
			after = findsOut
		}
		if slices.ContainsFunc(f.servers, func(s told) bool {
			return s.evicted == c.evicted && s.leftOut != 0 && s.leftOut-sameMoment <= c.at && c.at <= s.at+after
		}) {
			continue // the line about it may be left out
		}
		if c.evicted {
			v.add(c.host, evictedBefore(f.servers, c), 1)
			continue
		}
		nearest := sameMoment
		for _, s := range f.servers {
			if s.isAbout(&c) && !s.evicted {
				nearest = min(nearest, absolute(s.at-c.at))
			}
		}
		for _, s := range f.servers {
			if s.isAbout(&c) && !s.evicted && absolute(s.at-c.at) == nearest {
				v.add(c.host, s.peer, 1)
			}
		}
	}
	return v
}

// findHosts finds the NIDs of the hosts of all logs of the console.
func (t *table) findHosts() {
	t.finder = newHostFinder()
	for _, l := range t.logs {
		if !l.given {
			l.readHosts(t.finder)
		}
	}
	t.nameHosts()
}

// nameHosts sets the NIDs of hosts that the lines read so far prove.
func (t *table) nameHosts() {
	votes := t.finder.votes()
	for _, name := range slices.Sorted(maps.Keys(votes)) {
		t.ofHost(&track.LogLine{}, name)
		if h := t.hosts[name]; h != nil && h.node.Len == 0 {
			h.node = votes.most(name)
		}
	}
}

// readHosts reads the lines of a log that tell the NIDs of hosts. Its errors are reported when the log is read again.
func (l *log) readHosts(f *hostFinder) {
	r, err := debuglog.Open(l.Path)
	if err != nil {
		return
	}
	defer r.Close()
	r.Only(hostKinds...)
	var e debuglog.Event
	for r.IsConsole() && r.Next(&e) == nil && e.Host != "" { // without a host, it is of one node only
		f.take(&e)
	}
}

// evictedBefore returns the last client that a target has evicted before another one found out that it was.
func evictedBefore(servers []told, c told) (nid lnet.NID) {
	last := c.at - findsOut
	for _, s := range servers {
		if s.evicted && s.isAbout(&c) && s.at >= last && s.at <= c.at+sameMoment {
			nid, last = s.peer, s.at
		}
	}
	return nid
}

// addTo adds a value to those of a key, unless there are too many.
func addTo[K, V comparable](m map[K]map[V]bool, k K, v V) {
	const most = 1 << 7
	if m[k] == nil {
		if len(m) >= maxHosts {
			return
		}
		m[k] = make(map[V]bool)
	}
	if len(m[k]) < most {
		m[k][v] = true
	}
}

// most returns the NID of a host with the most votes, the zero NID if another has as many.
func (v hostVotes) most(name string) (host lnet.NID) {
	most := 0
	for nid, n := range v[name] {
		switch {
		case n > most:
			host, most = nid, n
		case n == most:
			host = lnet.NID{}
		}
	}
	return host
}
