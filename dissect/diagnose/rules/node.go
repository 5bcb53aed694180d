package rules

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/facts"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/paths"
	"github.com/lshark/lshark/dissect/track/recovery"
)

var _ = add(diagnose.Rule{
	Code:     "node.restarted",
	Severity: diagnose.Warning,
	Noun:     "restart of a node",
	Summary:  "A server was restarted as a whole, with its targets.",
	Meaning: "When a server goes down, nothing comes from it; when it is up again, its kernel resets connections that it does not know, " +
		"LNet accepts new ones, and its targets are started one after the other, with a recovery each. " +
		"The rule looks for restarts of targets on the same server while that was silent for a while, or reset or refused connections.",
	Limits: "Only targets that clients in the capture use are named. A node whose targets were all unmounted and mounted again is not " +
		"restarted: its connections go on.",
	Next: "Look at the console log of the server for the time before its last message, at its BMC or hypervisor, and at the HA " +
		"software: who reset it, and why. The network and the clients are not the cause. lshark recovery -v shows the steps of each client.",
	Samples: []string{"crashed_server.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		known := factsOf(r)
		var list []*recovery.Recovery // restarts of targets
		return diagnose.Hooks{Recovery: func(v *recovery.Recovery) {
			if (v.Kind == recovery.Restart || v.Kind == recovery.Failover) && len(list) < maxRestarts {
				list = append(list, v)
			}
		}, End: func() {
			var servers []lnet.NID
			for _, v := range list {
				servers = withNew(servers, cmp.Or(v.ServerBefore, v.Server), unlimited)
			}
			for _, node := range servers {
				for _, o := range outagesOf(known, facts.HostOf(node)) {
					if targets := o.explains(node, list); len(targets) > 0 {
						r.Report(o.finding(node, targets))
					}
				}
			}
		}}
	},
})

const (
	maxRestarts = 1 << 10
	inFlight    = int64(1e9) // nanoseconds in which a message may still arrive that was sent before
)

// outage is a silence of a host after which it did not know its connections.
type outage struct {
	*facts.Silence
	back track.Point // the host resets a connection
}

// outagesOf returns the outages of a host. Of silences that end with the same reset, the first one counts.
func outagesOf(known *facts.Facts, host netip.Addr) (list []outage) {
	for s := range known.Silences {
		if s.Receiver != host {
			continue
		}
		back, ok := known.ResetAfter(host, s.From+inFlight)
		if !ok {
			continue
		}
		at := slices.IndexFunc(list, func(o outage) bool { return o.back == back })
		switch {
		case at < 0:
			list = append(list, outage{s, back})
		case s.From < list[at].From:
			list[at].Silence = s
		}
	}
	return list
}

// explains returns the restarts of targets that an outage of their server explains.
func (o *outage) explains(node lnet.NID, restarts []*recovery.Recovery) (list []*recovery.Recovery) {
	for _, v := range restarts {
		known := cmp.Or(v.LastReply.Time, v.Begin())
		if cmp.Or(v.ServerBefore, v.Server) == node && v.Back.Time > o.back.Time && known < o.back.Time && v.Begin() >= o.From-inFlight {
			list = append(list, v)
		}
	}
	return list
}

func (o *outage) finding(node lnet.NID, targets []*recovery.Recovery) diagnose.Finding {
	sum := sumRestarts(targets)
	first, last, recovered := sum.first, sum.last, sum.recovered
	f := diagnose.Finding{Subject: diagnose.Subject{Server: node}, Node: node, Key: node.String() + strconv.FormatInt(o.From, 10),
		First: cmp.Or(sum.lastReply.Time, o.From), Last: max(last.Time, recovered.Time), Targets: sum.names}
	suspect(&f, atNode(node))
	from, seen := "its last message", isSet(sum.lastReply)
	if !seen {
		from = "the first bytes that it did not get"
	}
	names := sum.names
	if sum.unnamed {
		names = append(names[:len(names):len(names)], "targets without a name in the capture")
	}
	text := node.String() + " was restarted, and with it " + words(names)
	f.Text = text + ": it sent nothing for " + atLeastTime(!seen, o.back.Time-f.First) + ", then reset connections that it did not know any more" +
		". The first target was back " + duration(first.Time-f.First) + " after " + from
	if len(targets) > 1 {
		f.Text += ", the last one " + duration(last.Time-f.First) + " after it"
	}
	away := atLeastTime(true, first.Time-f.First)
	if seen { // it may have sent more to others
		away = atMostTime(true, first.Time-f.First)
	}
	f.Brief = text + ": it was away for " + away + ", until the first target was back"
	if isSet(recovered) {
		f.Text += "; clients had recovered " + duration(recovered.Time-f.First) + " after it"
		f.Brief += ", and clients had recovered after " + duration(recovered.Time-f.First)
	}
	f.Text += "." + impactOf(sum.impact, false)
	f.Brief += "." + impactOf(sum.impact, false) + " Look at its console, BMC or hypervisor for what happened before its last message, not at " +
		"the network or the clients."
	if sum.moved {
		f.Text += " Targets of it were started on another server."
	}
	f.Prove(sum.lastReply, "the last message of %s before", node)
	what := "bytes to it are"
	if o.Probes {
		what = "a keep-alive probe to it is"
	}
	f.Prove(o.Silence.First, "%s sent again", what)
	f.Prove(o.back, "the first sign of life: it resets a connection")
	f.Prove(first, "the first target accepts a connect again")
	f.Prove(last, "the last target accepts a connect again")
	f.Prove(recovered, "clients of the last target have recovered")
	return f
}

// hostNID returns the NID of a host, one of TCP where messages do not show it.
func hostNID(all *paths.Paths, a netip.Addr) (nid lnet.NID) {
	for p := range all.All {
		switch {
		case p.From == a && p.FromNID.Len > 0:
			return p.FromNID
		case p.To == a && p.ToNID.Len > 0:
			return p.ToNID
		}
	}
	const tcp = 2
	nid.Type, nid.Len = tcp, uint8(copy(nid.Addr[:], a.AsSlice()))
	return nid
}
