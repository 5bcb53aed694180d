package logs

import (
	"cmp"
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
	evicted      bool // the client was evicted, else it connects again
}

const maxTold = 1 << 11

// sameMoment is how far the lines of both nodes about a connection are apart at most.
const sameMoment = int64(2 * time.Second)

// nameHosts reads all logs of the console, and finds the NIDs of their hosts: by what LNet logs when it starts; by the NID at which
// others lose a target that the host serves; and by the clients that a server logs as connected again in the moment in which the host logs
// that it is, or as evicted before the host finds out.
func (t *table) nameHosts() {
	votes, at := hostVotes{}, make(map[string]map[lnet.NID]bool) // NIDs of the servers of each target
	serves := make(map[string]map[string]bool)
	var servers, clients []told
	var e debuglog.Event
	for _, l := range t.logs {
		r, err := debuglog.Open(l.Path)
		if err != nil {
			continue // it will be reported when the log is read
		}
		for err = r.Next(&e); err == nil; err = r.Next(&e) {
			if e.Host == "" || l.given {
				break // of one node only
			}
			switch e.Kind {
			case debuglog.NetStarted:
				votes.add(e.Host, e.Peer, 1000)
			case debuglog.Lost, debuglog.RequestFailed:
				if e.Peer.Len > 0 && e.Target != "" {
					addTo(at, e.Target, e.Peer)
				}
			case debuglog.Restored, debuglog.WasEvicted:
				if len(clients) < maxTold {
					clients = append(clients, told{e.Target, e.Host, e.Peer, e.Time, e.Kind == debuglog.WasEvicted})
				}
			case debuglog.Reconnected, debuglog.Connected, debuglog.Evicting, debuglog.RecoveryBegin, debuglog.Stopped, debuglog.FailingOver:
				addTo(serves, e.Host, e.Target)
				if (e.Kind == debuglog.Reconnected || e.Kind == debuglog.Evicting) && len(servers) < maxTold {
					servers = append(servers, told{e.Target, e.Host, e.Peer, e.Time, e.Kind == debuglog.Evicting})
				}
			}
		}
		r.Close()
	}
	for name, targets := range serves {
		for target := range targets {
			for nid := range at[target] {
				votes.add(name, nid, 1)
			}
		}
	}
	for _, c := range clients {
		if c.evicted {
			if nid := evictedBefore(servers, c); nid.Len > 0 {
				votes.add(c.host, nid, 1)
			}
			continue
		}
		nearest := sameMoment
		for _, s := range servers {
			if s.target == c.target && !s.evicted {
				nearest = min(nearest, absolute(s.at-c.at))
			}
		}
		for _, s := range servers {
			if s.target == c.target && !s.evicted && absolute(s.at-c.at) == nearest {
				votes.add(c.host, s.peer, 1)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(votes)) {
		t.ofHost(&track.LogLine{}, name)
		if h := t.hosts[name]; h != nil && h.node.Len == 0 {
			h.node = votes.most(name)
		}
	}
}

// evictedBefore returns the last client that a target has evicted before another one found out that it was.
func evictedBefore(servers []told, c told) (nid lnet.NID) {
	const findsOut = int64(10 * time.Minute)
	last := c.at - findsOut
	for _, s := range servers {
		if s.evicted && s.target == c.target && s.at >= last && s.at <= c.at+sameMoment {
			nid, last = s.peer, s.at
		}
	}
	return nid
}

func addTo[K, V comparable](m map[K]map[V]bool, k K, v V) {
	if m[k] == nil {
		m[k] = make(map[V]bool)
	}
	m[k][v] = true
}

// most returns the NID of a host with the most votes, the zero NID if another has as many.
func (v hostVotes) most(name string) lnet.NID {
	list := slices.SortedFunc(maps.Keys(v[name]), func(a, b lnet.NID) int { return cmp.Compare(v[name][b], v[name][a]) })
	if len(list) > 1 && v[name][list[0]] == v[name][list[1]] {
		return lnet.NID{}
	}
	return list[0]
}
