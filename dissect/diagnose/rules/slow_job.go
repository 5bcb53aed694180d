package rules

import (
	"fmt"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
)

var (
	jobMedian = &diagnose.Threshold{Name: "median", Value: 0.1, Unit: "s", Reason: "less than that is hardly noticed"}
	jobRatio  = &diagnose.Threshold{Name: "ratio", Value: 20, Unit: "times the median of other jobs", Reason: "RPCs of different sizes, and on different parts of a disk, differ by less"}
)

var _ = add(diagnose.Rule{
	Code:     "slow.job",
	Severity: diagnose.Warning,
	Noun:     "slow job",
	Summary:  "The reads or writes of one job wait in a server that serves those of other jobs at once.",
	Meaning: "Jobs of the same client that read or write on the same server share network and storage. Where nearly all RPCs of one of them wait far longer than the same operations of the others, the server keeps them waiting: " +
		"a rule of its request scheduler (NRS TBF) limits the job, its user or group, or they need something that others do not. A rank test decides.",
	Limits: "Only jobs with a name, of the same client, are compared. RPCs of very different sizes are not told apart.",
	Next:   "On the server: lctl get_param ost.OSS.ost_io.nrs_policies ost.OSS.ost_io.nrs_tbf_rule. If no rule limits the job, lshark files --by job shows whether its files lie elsewhere.",

	Thresholds: []*diagnose.Threshold{comparedRPCs, comparedDeviations, comparedSuperiority, jobRatio, jobMedian},
	Samples:    []string{"limited_job.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		s := &slowJobs{r, newWorkMap[jobWork]()}
		return diagnose.Hooks{Opcodes: comparableOperations, Done: s.done, End: s.end}
	},
})

// slowJobs has the times that RPCs of jobs take in servers.
type slowJobs struct {
	report *diagnose.Reporter
	workMap[jobWork]
}

// jobWork are the RPCs of an operation of a job.
type jobWork struct {
	nodePair
	opcode uint32
	job    [32]byte
}

func (s *slowJobs) done(r *track.RPC) {
	k := jobWork{nodePair: nodePair{r.Client, r.Server}, opcode: r.Opcode}
	p, ok := partsOf(r)
	if copy(k.job[:], r.Job()) == 0 || !ok || r.Failed() {
		return
	}
	s.add(k, r, p.server).last = r.Replied().Time
}

func (s *slowJobs) end() {
	type jobAt struct {
		server lnet.NID
		job    [32]byte
	}
	ofAll := func(k jobWork) jobWork { return jobWork{nodePair: k.nodePair, opcode: k.opcode} }
	all := make(map[jobWork]*histogram)
	s.times.All(func(k jobWork, w *work) bool {
		if all[ofAll(k)] == nil {
			all[ofAll(k)] = &histogram{}
		}
		all[ofAll(k)].join(&w.histogram)
		return true
	})
	clients := make(map[jobAt][]lnet.NID)
	s.times.All(func(k jobWork, w *work) bool {
		others := *all[ofAll(k)]
		others.remove(&w.histogram)
		var c comparison
		c.add(workClass{opcode: k.opcode}, &w.histogram, &others)
		if !c.isFar() || c.own < float64(jobMedian.Nanoseconds()) || c.own < jobRatio.Value*c.rest {
			return true
		}
		at := jobAt{k.server, k.job}
		clients[at] = append(clients[at], k.client)
		job := jobName(k.job)
		f := diagnose.Finding{Subject: diagnose.Subject{Server: k.server, Job: job}, First: w.first, Last: w.last, Count: c.n}
		if len(clients[at]) == 1 {
			f.Client = k.client
		}
		f.Key = job + k.server.String()
		f.Text = fmt.Sprintf("Job %s waits in %s, which serves other jobs at once: its %s on %s took %s (median), those of other jobs of the same client %s.",
			job, k.server, operationText(k.opcode), nodes(clients[at]), duration(int64(c.own)), duration(int64(c.rest)))
		f.Brief = f.Text + " Look for a limit on this job in the server (NRS TBF rules), not at its disks or the network."
		w.slowest.prove(&f)
		s.report.Report(f)
		return true
	})
}
