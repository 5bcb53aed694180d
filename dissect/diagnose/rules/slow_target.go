package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
)

var _ = add(diagnose.Rule{
	Code:     "slow.target",
	Severity: diagnose.Warning,
	Noun:     "slow RPC",
	Summary:  "One target takes far longer than the others of its kind.",
	Meaning: "The times that a target takes in the server are compared with those of the other targets of the file system, OSTs with OSTs " +
		"and MDTs with MDTs: only the same operations, with about the same number of bytes, of the same clients and jobs. " +
		"A target is reported if nearly all of its RPCs, or those of one operation, take longer than those of the others (a rank test), by a " +
		"factor and by a time that matter.",
	Limits: "Only OST_READ, OST_WRITE, OST_SYNC, OST_STATFS, MDS_STATFS and MDS_READPAGE are compared, as others wait for locks or differ " +
		"in what they do. " +
		"Where half of the targets are slow, none of them is far from the others.",
	Next: "Compare the storage of this target with that of the others: iostat -x 1, state of the pool or RAID (rebuild, a disk with " +
		"errors), lctl get_param obdfilter.*.brw_stats.",

	Thresholds: []*diagnose.Threshold{comparedRPCs, comparedDeviations, comparedSuperiority, comparedRatio, comparedExcess},
	Samples:    []string{"slow_target.pcap.zst", "two_faults.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		t := newWorkTimes()
		far := func() []*compared {
			list := t.far(targetGroup, false)
			found := len(list)
			for _, c := range t.far(targetGroup, true) { // reads may come from memory, and hide slow writes
				if c.own >= float64(jobMedian.Nanoseconds()) &&
					!slices.ContainsFunc(list[:found], func(o *compared) bool { return o.member == c.member }) {
					list = append(list, c)
				}
			}
			return list
		}
		return t.hooks(r, t.done, far, func(c *compared) diagnose.Finding {
			f := diagnose.Finding{Subject: namedTarget(c.conn.Target, c.conn.TargetIndex, c.conn.Server).subjectAt(c.conn.Server),
				Text: fmt.Sprintf("%s takes %.3g times as long in the server as %s for the same operations (%s).", c.member, c.ratio(),
					peersText(c.peers, "targets"), c.text())}
			f.Brief = f.Text + " Look at the disks of this target first, not at the network or the clients."
			return f
		})
	},
})

// far returns members that are far from the others.
func (t *workTimes) far(of groupOf, byOperation bool) []*compared {
	return slices.DeleteFunc(t.compare(of, byOperation), func(c *compared) bool { return !c.isFar() })
}

// hooks returns the hooks of a rule that reports members which are far from the others.
func (t *workTimes) hooks(r *diagnose.Reporter, done func(*track.RPC), far func() []*compared,
	finding func(*compared) diagnose.Finding) diagnose.Hooks {
	report := func() {
		for _, c := range far() {
			f := finding(c)
			f.First, f.Last, f.Count = c.first, c.last, c.n
			c.slowest.prove(&f)
			r.Report(f)
		}
	}
	return diagnose.Hooks{Opcodes: comparableOperations, Done: done, Tick: func(int64) { report() }, End: report}
}

// done adds an RPC that says something about its server.
func (t *workTimes) done(r *track.RPC) {
	if r.Connection == nil || r.Failed() {
		return
	}
	if p, ok := partsOf(r); ok {
		t.add(r, p.server)
	}
}

// targetGroup compares targets by what the same client asks of them.
func targetGroup(c *track.Connection) (member string, group comparisonGroup, ok bool) {
	system, index, found := cutTarget(c.Target)
	member = c.Target
	if !found {
		index, member = c.TargetIndex, targetAt(c)
	}
	if len(index) <= len("OST") {
		return "", comparisonGroup{}, false
	}
	return member, comparisonGroup{kind: system + "-" + index[:len("OST")], client: c.Client}, true
}

// targetAt returns the name of a target, else its index and server.
func targetAt(c *track.Connection) string {
	return namedTarget(c.Target, c.TargetIndex, c.Server).String()
}

// cutTarget cuts the name of a target into that of the file system and the rest.
func cutTarget(name string) (system, rest string, found bool) {
	i := strings.LastIndexByte(name, '-')
	if i < 0 || len(name)-i <= len("-OST") {
		return "", "", false
	}
	return name[:i], name[i+1:], true
}

// peersText names the only one of a list, or counts them.
func peersText(list []string, noun string) string {
	if len(list) == 1 {
		return list[0]
	}
	return fmt.Sprintf("%d other %s", len(list), noun)
}

var _ = add(diagnose.Rule{
	Code:     "slow.client",
	Severity: diagnose.Warning,
	Noun:     "slow RPC",
	Summary:  "The RPCs of one client take far longer than those of the others.",
	Meaning: "The latencies of a client's RPCs are compared with those of the other clients: only the same operations, with about the same " +
		"number of bytes, of the same jobs, at the same targets. " +
		"Transfer of bulk data and network are included, as they may be what is slow. A client is reported if nearly all of its RPCs take " +
		"longer than those of the others (a rank test), by a factor and by a time that matter.",
	Limits: "Only OST_READ, OST_WRITE, OST_SYNC, OST_STATFS, MDS_STATFS and MDS_READPAGE are compared, as others wait for locks or differ " +
		"in what they do. In a capture on a server, the way from the client to the server is not part of the latency; see tcp.round_trip and " +
		"tcp.retransmission. " +
		"A client that sends far more at a time than others waits for its own RPCs.",
	Next: "Look at the network of this client (tcp.*), its memory and CPU load, and whether its RPCs go through a router that others do not use.",

	Thresholds: []*diagnose.Threshold{comparedRPCs, comparedDeviations, comparedSuperiority, comparedRatio, comparedExcess},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		t := newWorkTimes()
		far := func() []*compared { return t.far(clientGroup, false) }
		return t.hooks(r, t.latency, far, func(c *compared) diagnose.Finding {
			return diagnose.Finding{Subject: diagnose.Subject{Client: c.conn.Client},
				Text: fmt.Sprintf("The RPCs of %s take %.3g times as long as those of %s for the same operations at the same targets (%s).", c.member,
					c.ratio(), peersText(c.peers, "clients"), c.text())}
		})
	},
})

// latency adds the latency of an RPC.
func (t *workTimes) latency(r *track.RPC) {
	if ns, ok := r.Latency(); ok && r.Connection != nil && !r.Failed() && r.Sends == 1 {
		t.add(r, ns)
	}
}

// clientGroup compares clients by what they ask of the same target.
func clientGroup(c *track.Connection) (member string, group comparisonGroup, ok bool) {
	return c.Client.String(), comparisonGroup{target: c.Target}, c.Target != "" && c.Client.Len > 0
}

var (
	slowNetworkShare = &diagnose.Threshold{Name: "share", Value: 0.5, Unit: "of the time of the RPCs",
		Reason: "below that, the server is the first place to look at"}
	slowNetworkTime = &diagnose.Threshold{Name: "time", Value: 0.01, Unit: "s for each RPC",
		Reason: "a local network takes less than a millisecond"}
	slowNetworkRPCs = &diagnose.Threshold{Name: "RPCs", Value: 20, Unit: "RPCs",
		Reason: "with fewer, a single loss decides"}
)

var _ = add(diagnose.Rule{
	Code:     "slow.network",
	Severity: diagnose.Warning,
	Noun:     "RPC that the network delayed",
	Summary:  "RPCs pass more time in the network than in the server.",
	Meaning: "The part of the network in the latency of an RPC is one round trip of its connection, and what retransmission cost. " +
		"Where captures of both sides are merged, it is the difference between the latencies that both saw. The rule sums up the parts of all " +
		"RPCs between a client and a server.",
	Limits: "A capture on the server does not see the time from the client to the server; one on the client does. " +
		"The time in which bulk data is transferred is a part of its own: it depends on the network, and on how fast both hosts are. RPCs " +
		"that lost an unknown time by retransmission are left out.",
	Next: "See tcp.round_trip and tcp.retransmission for the hosts and links; ping and iperf3 between both nodes.",

	Thresholds: []*diagnose.Threshold{slowNetworkShare, slowNetworkTime, slowNetworkRPCs},
	Start: func(reporter *diagnose.Reporter) diagnose.Hooks {
		pairs := fifo.NewMap[nodePair, *networkTimes](maxPairs)
		var of nodePair
		var last *networkTimes // of these
		report := func() {
			for pair, t := range fifo.All(pairs) {
				perRPC := float64(t.parts.network) / float64(max(t.n, 1))
				if float64(t.n) >= slowNetworkRPCs.Value && perRPC >= float64(slowNetworkTime.Nanoseconds()) &&
					float64(t.parts.network) >= slowNetworkShare.Value*float64(t.parts.sum()) {
					f := diagnose.Finding{Subject: diagnose.Subject{Client: pair.client, Server: pair.server}, First: t.first, Last: t.last, Count: t.n,
						Text: fmt.Sprintf("The RPCs of %s to %s wait for the network more than for the server: %s took %s, %s. That is %s in the network "+
							"for each RPC.",
							pair.client, pair.server, plural(t.n, "RPC"), duration(t.parts.sum()), t.parts.text(), duration(int64(perRPC)))}
					t.slowest.prove(&f)
					reporter.Report(f)
				}
			}
		}
		return diagnose.Hooks{Done: func(r *track.RPC) {
			if pair := (nodePair{r.Client, r.Server}); last == nil || of != pair {
				of, last = pair, fifo.GetOrNew(pairs, pair)
			}
			p, ok := partsOf(r)
			if !ok {
				return
			}
			t := last
			if t.n == 0 {
				t.first = r.Begin()
			}
			t.n++
			t.last = r.Begin()
			t.parts.add(&p)
			if p.network >= slowNetworkTime.Nanoseconds() {
				t.slowest.add(r, p.network)
			}
		}, Tick: func(int64) { report() }, End: report}
	},
})

// networkTimes are the RPCs between two nodes.
type networkTimes struct {
	n           int64
	parts       parts
	first, last int64
	slowest     slowest
}

var (
	jobMedian = &diagnose.Threshold{Name: "median", Value: 0.1, Unit: "s", Reason: "less than that is hardly noticed"}
	jobRatio  = &diagnose.Threshold{Name: "ratio", Value: 20, Unit: "times the median of other jobs",
		Reason: "RPCs of different sizes, and on different parts of a disk, differ by less"}
)

var _ = add(diagnose.Rule{
	Code:     "slow.job",
	Severity: diagnose.Warning,
	Noun:     "slow job",
	Summary:  "The reads or writes of one job wait in a server that serves those of other jobs at once.",
	Meaning: "Jobs of the same client that read or write on the same server share network and storage. Where nearly all RPCs of one of " +
		"them wait far longer than the same operations of the others, the server keeps them waiting: " +
		"a rule of its request scheduler (NRS TBF) limits the job, its user or group, or they need something that others do not. A rank test decides.",
	Limits: "Only jobs with a name, of the same client, are compared. RPCs of very different sizes are not told apart.",
	Next: "On the server: lctl get_param ost.OSS.ost_io.nrs_policies ost.OSS.ost_io.nrs_tbf_rule. If no rule limits the job, lshark " +
		"files --by job shows whether its files lie elsewhere.",

	Thresholds: []*diagnose.Threshold{comparedRPCs, comparedDeviations, comparedSuperiority, jobRatio, jobMedian},
	Samples:    []string{"limited_job.pcap.zst"},
	Start: func(reporter *diagnose.Reporter) diagnose.Hooks {
		jobs := newWorkMap[jobWork]()
		return diagnose.Hooks{Opcodes: comparableOperations, Done: func(r *track.RPC) {
			k := jobWork{nodePair: nodePair{r.Client, r.Server}, opcode: r.Opcode}
			p, ok := partsOf(r)
			if copy(k.job[:], r.Job()) == 0 || !ok || r.Failed() {
				return
			}
			jobs.add(k, r, p.server).last = r.Replied().Time
		}, End: func() {
			type jobAt struct {
				server lnet.NID
				job    [32]byte
			}
			ofAll := func(k jobWork) jobWork { return jobWork{nodePair: k.nodePair, opcode: k.opcode} }
			all := fifo.NewMap[jobWork, *histogram](maxWork)
			for k, w := range fifo.All(jobs.times) {
				fifo.GetOrNew(all, ofAll(k)).join(&w.histogram)
			}
			clients := make(map[jobAt][]lnet.NID)
			for k, w := range fifo.All(jobs.times) {
				others := *fifo.GetOrNew(all, ofAll(k))
				others.remove(&w.histogram)
				var c comparison
				c.add(workClass{opcode: k.opcode}, &w.histogram, &others)
				if !c.isFar() || c.own < float64(jobMedian.Nanoseconds()) || c.own < jobRatio.Value*c.rest {
					continue
				}
				at := jobAt{k.server, k.job}
				clients[at] = append(clients[at], k.client)
				job := jobName(k.job)
				f := diagnose.Finding{Subject: diagnose.Subject{Server: k.server, Job: job}, First: w.first, Last: w.last, Count: c.n}
				f.Client = only(clients[at])
				f.Key = job + k.server.String()
				f.Text = fmt.Sprintf("Job %s waits in %s, which serves other jobs at once: its %s on %s took %s (median), those of other jobs of the "+
					"same client %s.",
					job, k.server, operationText(k.opcode), nodes(clients[at]), duration(int64(c.own)), duration(int64(c.rest)))
				f.Brief = f.Text + " Look for a limit on this job in the server (NRS TBF rules), not at its disks or the network."
				w.slowest.prove(&f)
				reporter.Report(f)
			}
		}}
	},
})

// jobWork are the RPCs of an operation of a job.
type jobWork struct {
	nodePair
	opcode uint32
	job    [32]byte
}
