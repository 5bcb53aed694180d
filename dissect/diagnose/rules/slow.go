package rules

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/facts"
	"github.com/lshark/lshark/dissect/diagnose/suspects"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// addSlow registers a rule about the groups of slow requests that belongs takes; nil: those that no other rule takes.
func addSlow(rule diagnose.Rule, belongs func(*suspects.Group) bool, look string) bool {
	return addGroups(rule, troubleRule{true, belongs}, func(t *troubles, g *suspects.Group) diagnose.Finding {
		f, cause := slowFinding(g)
		tell(&f, t.facts)
		if f.Brief = f.Text + cause; cause == "" {
			f.Brief += eitherText(g.Suspects, f.WouldTell)
		}
		if belongs != nil || len(g.Suspects) <= 2 && slices.ContainsFunc(g.Suspects, func(p diagnose.Place) bool { return p.Kind == diagnose.AtQueue }) {
			f.Brief += " " + look
		}
		return f
	})
}

// slowFinding describes requests that were slow. cause is a sentence about it, with a space before it, where the suspects do not say all.
func slowFinding(s *suspects.Group) (f diagnose.Finding, cause string) {
	f = diagnose.Finding{First: s.From, Last: s.To, Suspects: s.Suspects, Cleared: s.Cleared}
	var clients, servers []lnet.NID
	var targets []string
	var jobs jobList
	var all facts.Sums
	worst, n, late, operations, names := s.Troubles[0].Slow, 0, 0, make(operationCounts), make(map[uint32]string)
	first, unnamed := worst.Target(), false
	for _, t := range s.Troubles {
		x := t.Slow
		clients, servers = withNew(clients, x.Client, maxNames), withNew(servers, x.Server, maxNames)
		targets, unnamed = withNew(targets, x.Target().Label(), maxNames), unnamed || !x.Target().IsKnown()
		if x.Target() != first {
			first = facts.Target{}
		}
		jobs.add(x.Job)
		all.Add(&x.Sums)
		n, late = n+x.N, late+x.Late
		operations[x.Opcode] += int64(x.Late)
		if name, known := names[x.Opcode]; !known {
			names[x.Opcode] = x.Operation.String()
		} else if name != x.Operation.String() {
			names[x.Opcode] = operationText(x.Opcode)
		}
		if x.LateTime > worst.LateTime {
			worst = x
		}
	}
	f.Client, f.Server, f.Job, f.Count = only(clients), only(servers), only(jobs), int64(late)
	f.Target, f.TargetIndex = first.Name, first.Index
	nameTarget(&f)
	slowest, took := worst, int64(0)
	for _, t := range s.Troubles {
		x := t.Slow
		if x.Opcode == worst.Opcode {
			took += x.LateTime
		}
		if (x.Opcode == worst.Opcode || worst.Waited()) && x.Slowest.Slowest > slowest.Slowest.Slowest {
			slowest = x
		}
	}
	f.Wait = slowest.Slowest.Slowest
	to, these := words(targets), "they"
	if unnamed {
		to = nodes(servers)
	}
	if len(operations) > 1 {
		these = "those of " + names[worst.Opcode]
	}
	average := took / operations[worst.Opcode]
	var than string
	switch {
	case worst.Waited(): // the log has no times of the slow ones alone
		average, these = all.Sum/int64(n), "all"
		which := fmt.Sprintf("%d of them", all.Logged)
		if all.Logged == int64(n) {
			which = "they"
		}
		inServer := (all.Queued + all.Worked) / all.Logged
		than = fmt.Sprintf("; by the log of the server, %s waited %s on average for a thread, and were worked on for %s", which,
			duration(all.Queued/all.Logged), duration(all.Worked/all.Logged))
		if inServer < average/2 {
			cause = " The queue of " + nodes(servers) + " is one cause; where most of the time was spent, this input does not show."
		} else if len(s.Suspects) == 1 {
			cause = " By this, the cause is the " + s.Suspects[0].String() + "."
		}
	case worst.Target() == (facts.Target{Server: worst.Server}): // logs do not say which one
		than = ", where many take less than " + duration(worst.Usual) + " at other times, or at other targets"
	case worst.Before:
		than = ", where many take less than " + duration(worst.Usual) + " at other times"
	default:
		than = ", where many take less than " + duration(worst.Usual) + " at the fastest target of its kind"
	}
	f.Text = fmt.Sprintf("%d of %d requests (%s) of %s%s to %s were slow within %s: %s took %s on average and %s at most%s.", late, n,
		operations.text(func(opcode uint32) string { return names[opcode] }), nodes(clients), jobsText(jobs), to, duration(s.Length()), these,
		duration(average), duration(f.Wait), than)
	if p := slowest.Slowest.Request(); p.Frame != 0 {
		f.Prove(p, "the slowest request")
	}
	f.Prove(slowest.Slowest.Reply(), "the reply to the slowest request, after %s", duration(f.Wait))
	f.Key = fmt.Sprint(s.Suspects, s.From)
	f.Severity = diagnose.Warning
	return f, cause
}

var _ = addSlow(diagnose.Rule{
	Code:     "slow.target",
	Logs:     true,
	Severity: diagnose.Warning,
	Noun:     "slow RPC",
	Summary:  "The storage of a target was slow for a while.",
	Meaning: "Most requests for an operation took several times as long as the same operation at other times, or at other targets. The rule looks at what was in " +
		"time meanwhile: other requests of the same clients to the same server, so that it is not the network, the node or its threads.",
	Limits: "An operation that is always slow everywhere is not found.",
	Next: "Compare the storage of this target with that of the others: iostat -x 1, state of the pool or RAID (rebuild, a disk with " +
		"errors), lctl get_param obdfilter.*.brw_stats osd-*.*.brw_stats.",
	Samples: []string{"slow_mdt.pcap.zst", "slow_target.pcap.zst"},
}, onlySuspect(diagnose.AtStorage), "Look at the disks of this target first, not at the network or the clients.")

var _ = addSlow(diagnose.Rule{
	Code:     "slow.network",
	Logs:     true,
	Severity: diagnose.Warning,
	Noun:     "RPC that the network delayed",
	Summary:  "The network between two nodes was slow for a while.",
	Meaning:  "Most requests between two nodes took several times as long as usual, whatever they were for, while the server served others in time.",
	Limits:   "Requests that the network delays by less than a tenth of a second are not found by this; see tcp.round_trip.",
	Next:     "See tcp.round_trip and tcp.retransmission for the hosts and links; ping and iperf3 between both nodes.",
}, func(g *suspects.Group) bool { return suspectsAre(g, diagnose.AtPath, diagnose.AtLNet) }, "Look at the network of these nodes first.")

var _ = addSlow(diagnose.Rule{
	Code:     "slow.changed",
	Logs:     true,
	Severity: diagnose.Warning,
	Noun:     "slow RPC",
	Summary:  "Requests took far longer than before for a while; several places may be the cause.",
	Meaning: "Most requests for an operation took several times as long as at other times, or at other targets, for some seconds or longer; or they " +
		"waited far longer for a thread than threads worked on them, by the log of the server.",
	Limits:  "What the input does not exclude remains as a suspect.",
	Next:    "lshark stats --by op,target,client and lshark rpcs --slowest for this time; the captures and logs that the finding names would tell.",
	Samples: []string{"limited_job.pcap.zst", "two_faults.pcap.zst"},
}, nil, "Look at the load and the service threads of the server, and for a limit (NRS TBF).")

var _ = addTrouble(diagnose.Rule{
	Code:     "slow.stuck",
	Severity: diagnose.Warning,
	Noun:     "request that a thread held",
	Summary:  "A service thread worked on one request for long, while others of its kind were served.",
	Meaning: "The server had the request, and served other requests of the same operation to the same target at the usual speed meanwhile: neither its " +
		"storage nor its queue is to blame, but what the thread did for this one.",
	Limits: "What the thread waited for is in the server's log.",
	Next:   "On the server: the console log (\"service thread pid … was inactive\", with the stack of the thread), lctl get_param *.*.req_history.",
}, onlySuspect(diagnose.AtThread), func(t *troubles, g *suspects.Group, f *diagnose.Finding) {
	f.Text += " The target served others meanwhile: it was held in a service thread." + excluded(g, diagnose.AtStorage)
	f.Brief = diagnose.Sentences(f.Text, 2) + " Look for what the thread waited for (its stack in the server's console log), not at the storage or the network."
})

var _ = addTrouble(diagnose.Rule{
	Code:     "slow.queue",
	Severity: diagnose.Warning,
	Noun:     "request that waited in a queue",
	Summary:  "Requests waited in the queue of a server for a thread.",
	Meaning:  "The server had the requests, and others that need no thread of this service, or are of other jobs, were served at the usual speed.",
	Limits:   "Whether there are too few threads, too much work, or a limit (NRS TBF) is in the server's parameters.",
	Next:     "On the server: lctl get_param *.*.nrs_policies *.*.nrs_tbf_rule, req_waittime and req_qdepth in *.*.stats, threads_started and threads_max.",
}, onlySuspect(diagnose.AtQueue), func(t *troubles, g *suspects.Group, f *diagnose.Finding) {
	f.Text += " They waited in the queue of the server." + excluded(g, diagnose.AtStorage, diagnose.AtPath)
	f.Brief = diagnose.Sentences(f.Text, 2) + " Look for a limit on this job (NRS TBF) and at the number of service threads."
})

var _ = addTrouble(diagnose.Rule{
	Code:     "slow.wait",
	Severity: diagnose.Error,
	Noun:     "RPC that waited",
	Summary:  "RPCs waited for seconds; several places may be the cause.",
	Meaning: "The rule reports RPCs that waited three seconds or longer, and the places where the cause may be: all on the way of a request that nothing in " +
		"the input excludes.",
	Limits:  "Which of these it is, the input cannot tell.",
	Next:    "The captures and logs that the finding names would tell.",
	Samples: []string{"hung_target.pcap.zst", "lock_contention.pcap.zst", "lost_in_lnet.pcap.zst", "overload.pcap.zst", "rdma_loss.pcap.zst"},
}, nil, func(t *troubles, g *suspects.Group, f *diagnose.Finding) {
	if f.Text == "" {
		s := sumOf(g)
		f.Text = notAcknowledged(&s, s.silences[0].Span)
	}
	f.Brief = f.Text + eitherText(g.Suspects, f.WouldTell)
})

// maxPlacesShown is how many places an opening names.
const maxPlacesShown = 6

// eitherText returns a sentence about where the cause may be, with a space before it. tell has what would decide between several places.
func eitherText(list []diagnose.Place, tell []string) string {
	switch len(list) {
	case 0:
		return " Where the cause is, this input does not show."
	case 1:
		return " The cause is the " + list[0].String() + ", as all else is excluded."
	}
	if len(list) <= maxPlacesShown {
		return " The cause is one of these: " + diagnose.PlacesText(list, ", or ") + "."
	}
	text := " Where the cause is, on the way to the server or in it, this input does not show"
	if n := len(tell); n > 1 {
		text += ": a " + tell[0] + " and a " + tell[n-1] + " would tell more"
	} else if n > 0 {
		text += ": a " + tell[0] + " would tell more"
	}
	return text + "."
}

var (
	longEstimate = &diagnose.Threshold{Name: "estimate", Value: 30, Unit: "s",
		Reason: "a server begins with 5 s (at_min) and raises it only when RPCs took longer"}
	raisedEstimate = &diagnose.Threshold{Name: "ratio", Value: 2, Unit: "times the least estimate of the connection",
		Reason: "at_min may be set to a high value, and then nothing was raised"}
)

var _ = add(diagnose.Rule{
	Code:       "slow.timeouts",
	Severity:   diagnose.Note,
	Background: true,
	Summary:    "Adaptive timeouts have grown: some RPCs of the last minutes took very long.",
	Meaning: "With each reply a server tells how long its RPCs take at most, as seen in the last minutes (adaptive timeouts). Clients wait " +
		"that long, and a quarter more, before they give up. " +
		"A high estimate shows that RPCs were slow before, perhaps before the capture began, and it makes clients slow to notice that a " +
		"server is gone.",
	Limits: "The estimate is of a service of the server, and not of a single target. Which RPCs were slow does not show in it. The " +
		"estimates in replies to connects and to requests for security contexts do not count.",
	Next: "lctl get_param *.*.timeouts on client and server shows the history of the estimates; slow.changed and slow.wait " +
		"whether RPCs are slow now.",

	Thresholds: []*diagnose.Threshold{longEstimate, raisedEstimate},
	Samples:    []string{"black_hole.pcap.zst", "checksum.pcap.zst", "eio.pcap.zst", "enospc.pcap.zst", "evicted.pcap.zst", "evicted_ping.pcap.zst", "failback.pcap.zst", "failover.pcap.zst", "hung_target.pcap.zst", "late_recovery.pcap.zst", "late_recovery_client.pcap.zst", "lost_in_lnet.pcap.zst", "lost_replies.pcap.zst", "no_recovery.pcap.zst", "partition.pcap.zst", "rdma_loss.pcap.zst", "slow_client.pcap.zst", "slow_mdt.pcap.zst", "slow_network.pcap.zst", "slow_target.pcap.zst", "two_faults.pcap.zst", "vanished_client.pcap.zst"},
	Start: func(reporter *diagnose.Reporter) diagnose.Hooks {
		connections := fifo.NewMap[*track.Connection, *estimateRange](maxTargets)
		return diagnose.Hooks{Done: func(r *track.RPC) {
			if r.Connection == nil || r.Estimate == 0 || opcodes.IsCallback(r.Opcode) || opcodes.IsConnect(r.Opcode) || !r.HasOpcode ||
				opcodes.SetsContext(r.Opcode) {
				return
			}
			t := fifo.GetOrNew(connections, r.Connection)
			if t.least == 0 || r.Estimate < t.least {
				t.least = r.Estimate
			}
			if float64(r.Estimate) < longEstimate.Value {
				return
			}
			if t.long == 0 {
				t.first = r.Replied().Time
			}
			t.long++
			t.last = r.Replied().Time
			if r.Estimate > t.most {
				t.most, t.at, t.opcode = r.Estimate, r.Replied(), r.Opcode
			}
		}, End: func() {
			servers := fifo.NewMap[lnet.NID, *estimateRange](maxTargets) // as an estimate is not of a single target
			for c, t := range fifo.All(connections) {
				fifo.GetOrNew(servers, c.Server).join(t)
			}
			for server, t := range fifo.All(servers) {
				if t.long > 0 && float64(t.most) >= raisedEstimate.Value*float64(t.least) {
					f := t.finding(server)
					f.Compare(longEstimate, float64(t.most))
					f.Compare(raisedEstimate, float64(t.most)/float64(t.least))
					reporter.Report(f)
				}
			}
		}}
	},
})

// estimateRange are the estimates of a connection in seconds.
type estimateRange struct {
	least, most uint32
	long        int64 // RPCs with a long one
	first, last int64
	at          track.Point // reply with the highest
	opcode      uint32      // of this RPC
}

// join adds the estimates of another connection.
func (t *estimateRange) join(o *estimateRange) {
	if o.least != 0 && (t.least == 0 || o.least < t.least) {
		t.least = o.least
	}
	if o.long > 0 && (t.long == 0 || o.first < t.first) {
		t.first = o.first
	}
	t.last, t.long = max(t.last, o.last), t.long+o.long
	if o.most > t.most {
		t.most, t.at, t.opcode = o.most, o.at, o.opcode
	}
}

func (t *estimateRange) finding(server lnet.NID) diagnose.Finding {
	f := diagnose.Finding{Subject: diagnose.Subject{Server: server}, First: t.first, Last: t.last, Count: t.long,
		Text: fmt.Sprintf("%s expects some of its RPCs to take up to %d s, while %d s is the least that it says: in the minutes before, some "+
			"took that long. Clients wait for %d s or longer before they give up.",
			server, t.most, t.least, t.most+t.most/4)}
	f.Prove(t.at, "a reply (%s) with an estimate of %d s", operationText(t.opcode), t.most)
	return f
}

// ofThem refers to n of all RPCs.
func ofThem(n, all int) string {
	if all == 1 {
		return "it"
	}
	return strconv.Itoa(n) + " of them"
}
