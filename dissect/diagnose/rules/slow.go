package rules

import (
	"fmt"
	"slices"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/facts"
	"github.com/lshark/lshark/dissect/diagnose/suspects"
	"github.com/lshark/lshark/dissect/lnet"
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
