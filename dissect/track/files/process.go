package files

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
)

// Process is a process as RPCs show it: those of one node with one job id, or where they have
// none, with one process id.
type Process struct {
	Node lnet.NID
	Job  []byte
	PIDs []int32      // of the threads that sent the requests, those of the kernel included
	RPCs []*track.RPC // in the order of their requests
	Span track.Span   // from the first request to the last end
	Busy int64        // nanoseconds in which at least one RPC was under way, or waited for its lock
}

// Processes groups RPCs by the processes that caused them, in the order of their first
// requests.
func Processes(list []*track.RPC) (all []*Process) {
	slices.SortStableFunc(list, func(a, b *track.RPC) int { return cmp.Compare(a.Begin(), b.Begin()) })
	for _, r := range list {
		i := slices.IndexFunc(all, func(p *Process) bool { return p.has(r) })
		if i < 0 {
			i = len(all)
			all = append(all, &Process{Node: r.Client, Job: r.Job(), Span: track.Span{From: r.Begin(), To: r.Begin()}})
		}
		all[i].add(r)
	}
	return all
}

func (p *Process) has(r *track.RPC) bool {
	return p.Node == r.Client && bytes.Equal(p.Job, r.Job()) && (len(p.Job) > 0 || len(p.PIDs) == 0 && r.PID == 0 ||
		slices.Contains(p.PIDs, r.PID))
}

func (p *Process) add(r *track.RPC) {
	if r.PID != 0 && !slices.Contains(p.PIDs, r.PID) {
		p.PIDs = append(p.PIDs, r.PID)
	}
	p.RPCs = append(p.RPCs, r)
	ns, _ := r.Waited()
	end := r.Begin() + ns
	p.Busy += max(0, end-max(p.Span.To, r.Begin()))
	p.Span.To = max(p.Span.To, end)
}
