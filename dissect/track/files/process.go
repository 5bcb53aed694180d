package files

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

// Process is a process as RPCs show it: those of one node with one job id, or where they have
// none, with one process id. The threads of a node that send for all processes count as one process, if there
// are no job ids.
type Process struct {
	Node   lnet.NID
	Job    []byte
	Shared bool         // threads that send for all processes
	PIDs   []int32      // of the threads that sent the requests, those of the kernel included
	RPCs   []*track.RPC // in the order of their requests
	Span   track.Span   // from the first request to the last end
	Busy   int64        // nanoseconds in which at least one RPC was under way, or waited for its lock
}

// SharedThreads are the threads of clients that send RPCs for all processes (ptlrpcd): those that send reads and
// writes, pings or connects.
type SharedThreads map[sender]bool

type sender struct {
	node lnet.NID
	pid  int32
}

const maxSharedThreads = 1 << 14

// Add takes an RPC.
func (s SharedThreads) Add(r *track.RPC) {
	switch {
	case r.PID == 0 || len(s) == maxSharedThreads:
	case r.Opcode == opcodes.OST_READ, r.Opcode == opcodes.OST_WRITE, r.Opcode == opcodes.OBD_PING, opcodes.IsConnect(r.Opcode):
		s[sender{r.Client, r.PID}] = true
	}
}

// Processes groups RPCs by the processes that caused them, in the order of their first
// requests.
func Processes(list []*track.RPC, shared SharedThreads) (all []*Process) {
	slices.SortStableFunc(list, func(a, b *track.RPC) int { return cmp.Compare(a.Begin(), b.Begin()) })
	for _, r := range list {
		isShared := len(r.Job()) == 0 && shared[sender{r.Client, r.PID}]
		i := slices.IndexFunc(all, func(p *Process) bool { return p.Shared == isShared && p.has(r) })
		if i < 0 {
			i = len(all)
			all = append(all, &Process{Node: r.Client, Job: r.Job(), Shared: isShared, Span: track.Span{From: r.Begin(), To: r.Begin()}})
		}
		all[i].add(r)
	}
	return all
}

func (p *Process) has(r *track.RPC) bool {
	return p.Node == r.Client && bytes.Equal(p.Job, r.Job()) && (len(p.Job) > 0 || p.Shared || len(p.PIDs) == 0 && r.PID == 0 ||
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
