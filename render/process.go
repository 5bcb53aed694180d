package render

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/files"
	"github.com/lshark/lshark/opcodes/schema"
)

// AppendProcess appends a line about a process and a line for each of its RPCs, by s.
func AppendProcess(dst *schema.Marked, p *files.Process, s *RPCSummary, at Moment) {
	b := schema.AppendText(nil, p.Job)
	if len(b) > 0 {
		b = append(b, " on "...)
	}
	b = s.opt.NIDs.Append(b, p.Node)
	if p.Shared {
		b = append(b, ", threads that send for all processes"...)
	}
	switch len(p.PIDs) {
	case 0:
	case 1:
		b = append(b, ", pid "...)
	default:
		b = append(b, ", pids "...)
	}
	b = appendJoined(b, p.PIDs, ", ", func(dst []byte, pid int32) []byte { return strconv.AppendInt(dst, int64(pid), 10) })
	b = AppendLatency(append(b, ": "...), roundLatency(p.Span.To-p.Span.From))
	b = AppendLatency(append(b, ", RPCs under way for "...), roundLatency(p.Busy))
	dst.Add(schema.Heading, string(b))
	dst.Text = append(dst.Text, '\n')
	for i, w := range waitsByOperation(p.RPCs) {
		sep := "  "
		if i > 0 {
			sep = ", "
		}
		dst.Text = AppendOpcode(append(dst.Text, sep...), w.opcode)
		dst.Plain(" ").Add(schema.Number, string(AppendLatency(nil, roundLatency(w.ns))))
		if w.count > 1 {
			dst.Add(schema.Dim, " in "+strconv.Itoa(w.count))
		}
	}
	dst.Text = append(dst.Text, '\n')
	for _, r := range p.RPCs {
		s.AppendRPC(dst, r, at)
		at.Before = r.Begin()
	}
}

// operationWait is how long RPCs of one operation took.
type operationWait struct {
	opcode uint32
	ns     int64
	count  int
}

// waitsByOperation sums up RPCs by operation, the longest first.
func waitsByOperation(list []*track.RPC) (sums []*operationWait) {
	for _, r := range list {
		i := slices.IndexFunc(sums, func(w *operationWait) bool { return w.opcode == r.Opcode })
		if i < 0 {
			i = len(sums)
			sums = append(sums, &operationWait{opcode: r.Opcode})
		}
		ns, _ := r.Waited()
		sums[i].ns += ns
		sums[i].count++
	}
	slices.SortStableFunc(sums, func(a, b *operationWait) int { return cmp.Compare(b.ns, a.ns) })
	return sums
}
