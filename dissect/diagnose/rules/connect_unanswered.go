package rules

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/facts"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

var _ = add(diagnose.Rule{
	Code:     "connect.unanswered",
	Severity: diagnose.Error,
	Noun:     "unanswered connect",
	Summary:  "A server did not answer connects.",
	Meaning: "A client sends a connect and gets no reply in time, although all that the server sent was captured. The server is down " +
		"behind a network that still takes packets, hangs, or is overloaded, or its replies are lost on the way to the place of the capture. " +
		"The rule reports servers that left connects unanswered and were not connected by the end of the capture, or only after a long time.",
	Limits: "A server that is down altogether does not even take the TCP connection: then nothing of the connect is on the network. " +
		"Connects whose replies may have been lost by the capture do not count, nor those of clients that were connected before: rules about " +
		"restarts and recovery report them.",
	Next: "Is the target on this server (lctl dl), and is it the one that the client should ask (the mount command, failover NIDs)? " +
		"Is the server up (ping, lctl ping NID from the client)? Is it hung: its console log, hung tasks, load? lshark diagnose " +
		"--only tcp shows whether the network loses packets.",
	Thresholds: []*diagnose.Threshold{unansweredFor},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		s := silentServers{factsOf(r), fifo.NewMap[*track.Connection, *silentConnect](maxAttempts)}
		return diagnose.Hooks{Opcodes: opcodes.OpcodesOf(opcodes.Connects), Done: s.done, Import: func(i *track.Import, p track.Point) {
			if i.EventAt(p, track.EventConnected) != nil {
				s.of(i.Connection).connected = p
			}
		}, End: func() { s.report(r) }}
	},
})

var unansweredFor = &diagnose.Threshold{Name: "not connected for", Value: 10, Unit: "s", Reason: "Clients wait five seconds for the " +
	"reply to a connect and then try again: one lost reply is no fault of the server."}

// silentServers are the servers that do not answer connects.
type silentServers struct {
	known       *facts.Facts
	connections *fifo.Map[*track.Connection, *silentConnect]
}

// silentConnect is a connection with connects that were not answered.
type silentConnect struct {
	*track.Connection
	server      lnet.NID
	count       int64
	first, last track.Point // requests
	connected   track.Point // after the last of them
}

func (s *silentServers) of(c *track.Connection) *silentConnect {
	return fifo.GetOrMake(s.connections, c, func() *silentConnect { return &silentConnect{Connection: c} })
}

func (s *silentServers) done(r *track.RPC) {
	if !r.Unanswered() || r.Connection == nil || r.Handle != 0 {
		return // a client that was connected: that is about the target
	}
	k, p := s.of(r.Connection), r.Requested()
	if k.count++; k.count == 1 || p.Time < k.first.Time {
		k.first = p
	}
	if p.Time > k.last.Time {
		k.last, k.server = p, r.Server
	}
}

func (s *silentServers) report(r *diagnose.Reporter) {
	servers := make(map[lnet.NID][]*silentConnect)
	for _, k := range fifo.All(s.connections) {
		if k.waited(r.Now()) >= unansweredFor.Nanoseconds() {
			servers[k.server] = append(servers[k.server], k)
		}
	}
	for server, list := range servers {
		f := unansweredFinding(server, list)
		var longest int64
		for _, k := range list {
			longest = max(longest, k.waited(r.Now()))
		}
		f.CompareTime(unansweredFor, longest)
		s.suspect(&f, list)
		r.Report(f)
	}
}

// suspect sets the places where the cause may be that a server did not answer.
func (s *silentServers) suspect(f *diagnose.Finding, list []*silentConnect) {
	span := facts.Span{From: f.First, To: f.Last}
	f.Suspects = []diagnose.Place{atTarget(f.Target, f.Server), atNode(f.Server), atThread(f.Server)}
	for _, k := range list {
		f.Suspects = withNew(f.Suspects, onPath(k.Client, f.Server), maxNames)
		f.Suspects = withNew(f.Suspects, inLNet(k.Client, f.Server), maxNames)
		if !k.isConnected() && k.first.Time == f.First {
			f.Suspects = withNew(f.Suspects, atConfig(k.Client), maxNames)
		}
	}
	excludeNode(f, s.known, f.Server, span)
	for _, k := range list {
		excludePath(f, s.known, k.Client, f.Server, span)
	}
	tell(f, s.known)
}

// isConnected reports whether the client was connected after the last connect that was
// not answered.
func (k *silentConnect) isConnected() bool { return k.connected.Time > k.last.Time }

// waited returns for how many nanoseconds the client was not connected.
func (k *silentConnect) waited(now int64) int64 {
	switch {
	case k.count == 0:
		return 0
	case k.isConnected():
		return k.connected.Time - k.first.Time
	}
	return now - k.first.Time
}

func unansweredFinding(server lnet.NID, list []*silentConnect) diagnose.Finding {
	slices.SortStableFunc(list, func(a, b *silentConnect) int { return cmp.Compare(a.first.Time, b.first.Time) })
	f := diagnose.Finding{Subject: diagnose.Subject{Server: server}, Key: server.String(), Severity: diagnose.Warning,
		First: list[0].first.Time}
	var clients []lnet.NID
	var targets []string
	var last, connected track.Point
	for _, k := range list {
		f.Count += k.count
		if k.last.Time > last.Time {
			last = k.last
		}
		if !k.isConnected() {
			f.Severity = diagnose.Error
		} else if k.connected.Time > connected.Time {
			connected = k.connected
		}
		clients = withNew(clients, k.Client, unlimited)
		if k.Target != "" {
			targets = withNew(targets, k.Target, unlimited)
		}
	}
	f.Last, f.Client, f.Target = last.Time, only(clients), only(targets)
	f.Text = server.String() + " did not answer " + plural(f.Count, "connect") + " of " + nodes(clients)
	if len(targets) > 0 {
		f.Text += " to " + words(targets)
	}
	if d := last.Time - f.First; d > 0 {
		f.Text += " in " + duration(d)
	}
	if f.Severity == diagnose.Error {
		f.Text += "; " + oneOrMany(len(clients), "it was", "some were") + " not connected when the capture ended."
	} else {
		f.Text += "; it was connected " + duration(connected.Time-f.First) + " after the first."
	}
	f.Prove(list[0].first, "the first connect without a reply")
	if last != list[0].first {
		f.Prove(last, "the last one")
	}
	f.Prove(connected, "a connect is accepted")
	return f
}

var _ = add(diagnose.Rule{
	Code:     "connect.rejected",
	Severity: diagnose.Error,
	Noun:     "refused connect",
	Summary:  "A node refused InfiniBand connections of LNet.",
	Meaning: "Before a node sends anything over o2iblnd, the connection manager of InfiniBand makes a connection. The other node may " +
		"refuse it, with a reason of its own or of the connection manager: nothing listens there, out of memory, parameters that do not match. " +
		"The rule reports pairs of nodes with such refusals and no connection by the end of the capture, or only after several seconds. " +
		"Two nodes that connect to each other at once, and a node that has restarted, are not reported.",
	Limits: "Nodes try other parameters by themselves after a refusal for these.",
	Next: "lnetctl net show -v on both nodes: map_on_demand, peer_credits and concurrent_sends of o2iblnd must fit together. " +
		"INVALID_SERVICE_ID and INVALID_SRV_ID mean that LNet is not up on that interface; the console logs of both nodes have the rest.",
	Thresholds: []*diagnose.Threshold{connectSoon},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		pairs := fifo.NewMap[addressPair, *rejection](maxAttempts)
		return diagnose.Hooks{Message: func(_ *track.RPC, m *dissect.Message) {
			if m.Kind != lnet.Connrej && m.Kind != lnet.Connack {
				return
			}
			k := addressPair{m.Dst.Addr(), m.Src.Addr()}
			v, ok := fifo.Get(pairs, k)
			if m.Kind == lnet.Connack {
				if ok {
					v.connected = track.PointOf(m)
				}
				return
			}
			if m.IB == nil || m.IB.SrcQP != 0 {
				return // the node that has asked for the connection gives up
			}
			reason, doc := opcodes.Refusal(m.IB.Reject, m.Data)
			if reason == "CONN_RACE" || reason == "CONN_STALE" || reason == "STALE_CONN" {
				return
			}
			if !ok {
				v = &rejection{client: m.LNet.Dst, server: m.LNet.Src}
				fifo.Put(pairs, k, v)
			}
			v.add(track.PointOf(m))
			v.connected, v.reason, v.doc = track.Point{}, reason, doc
		}, End: func() {
			for k, v := range fifo.All(pairs) {
				wait := v.connected.Time - v.first.Time
				switch {
				case !isSet(v.connected):
					r.Report(v.finding(k, diagnose.Error, " There was no connection by the end of the capture."))
				case wait >= connectSoon.Nanoseconds():
					f := v.finding(k, diagnose.Warning, " Connected "+duration(wait)+" after the first refusal.")
					f.CompareTime(connectSoon, wait)
					r.Report(f)
				}
			}
		}}
	},
})

// addressPair is two nodes: the one that connects, and the one that refuses.
type addressPair struct{ client, server netip.Addr }

// rejection counts the InfiniBand connects that one node refused to another.
type rejection struct {
	run
	client, server lnet.NID // the zero NID: unknown
	reason, doc    string
	connected      track.Point // after the last
}

func (v *rejection) finding(k addressPair, s diagnose.Severity, outcome string) diagnose.Finding {
	f := v.run.finding(diagnose.Subject{Client: v.client, Server: v.server}, "the first refusal", "the last one")
	f.Key, f.Severity = k.client.String()+" "+k.server.String(), s
	f.Text = nodeName(v.server, k.server) + " refused " + plural(v.count, "InfiniBand connection") + " of " + nodeName(v.client, k.client)
	if v.reason != "" {
		f.Text += ": " + v.reason
		if v.doc != "" {
			f.Text += ", " + v.doc
		}
	}
	f.Text += "." + outcome
	f.Prove(v.connected, "a connection is accepted")
	suspect(&f, atConfig(v.server), atNode(v.server))
	return f
}

// nodeName returns a NID, or the address of a node whose NID is unknown.
func nodeName(n lnet.NID, a netip.Addr) string {
	if n == (lnet.NID{}) {
		return a.String()
	}
	return n.String()
}
