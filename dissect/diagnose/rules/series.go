package rules

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

// series is what happened again and again: how often, the times of the first and the last,
// and messages that prove the first ones.
type series struct {
	count       int64
	first, last int64
	proofs      diagnose.Proofs
}

// add counts what happened at a time.
func (s *series) add(at int64) {
	if s.count == 0 {
		s.first = at
	}
	s.count++
	s.first, s.last = min(s.first, at), max(s.last, at)
}

// prove keeps a message that proves what is counted, if it is one of the first.
func (s *series) prove(p track.Point, format string, args ...any) {
	if len(s.proofs) < maxProofs {
		s.proofs.Add(p, format, args...)
	}
}

// note counts a message that proves itself.
func (s *series) note(p track.Point, format string, args ...any) {
	s.add(p.Time)
	s.prove(p, format, args...)
}

// describe sets number, times and evidence of a finding.
func (s *series) describe(f *diagnose.Finding) {
	f.First, f.Last, f.Count, f.Evidence = s.first, s.last, s.count, slices.Clone(s.proofs)
}

// finding returns a finding without its text.
func (s *series) finding(about diagnose.Subject) diagnose.Finding {
	f := diagnose.Finding{Subject: about}
	s.describe(&f)
	return f
}

// run is what happened again and again, of which the first and the last message are evidence.
type run struct {
	count       int64
	first, last track.Point
}

func (r *run) add(p track.Point) {
	if r.count++; r.count == 1 {
		r.first = p
	}
	r.last = p
}

// finding returns a finding without its text. first and last say what the two messages prove.
func (r *run) finding(about diagnose.Subject, first, last string) diagnose.Finding {
	f := diagnose.Finding{Subject: about, First: r.first.Time, Last: r.last.Time, Count: r.count}
	f.Prove(r.first, "%s", first)
	if r.last != r.first {
		f.Prove(r.last, "%s", last)
	}
	return f
}

// only returns the only element of a list, the zero value if there are others or none.
func only[T any](list []T) (one T) {
	if len(list) == 1 {
		one = list[0]
	}
	return one
}

const unlimited = math.MaxInt

// withNew adds a value to a list of at most so many, unless it is there already.
func withNew[T comparable](list []T, v T, most int) []T {
	if len(list) < most && !slices.Contains(list, v) {
		list = append(list, v)
	}
	return list
}

// jobList are the first of some jobs.
type jobList []string

func (l *jobList) add(job string) {
	if job != "" {
		*l = withNew(*l, job, maxTallied)
	}
}

// tally counts RPCs that have something in common, and who sent them.
type tally struct {
	series
	clients    []lnet.NID
	jobs       jobList
	operations []operationCount
}

// operationCount counts the RPCs of an operation.
type operationCount struct {
	word  string
	count int64
}

// The bounds of the lists of a tally. What is over is not counted.
const (
	maxTallied = 16
	maxProofs  = 4
)

// add counts an RPC at the time of a point.
func (t *tally) add(r *track.RPC, at track.Point) {
	t.series.add(at.Time)
	t.clients = withNew(t.clients, r.Client, maxTallied)
	t.jobs.add(string(r.Job()))
	t.addOperation(operationWord(r), 1)
}

func (t *tally) addOperation(word string, n int64) {
	for i := range t.operations {
		if t.operations[i].word == word {
			t.operations[i].count += n
			return
		}
	}
	if len(t.operations) < maxTallied {
		t.operations = append(t.operations, operationCount{word, n})
	}
}

// join adds what another tally, which is not empty, has counted before.
func (t *tally) join(o *tally) {
	if t.count == 0 {
		t.first, t.last = o.first, o.last
	}
	t.count, t.first, t.last = t.count+o.count, min(t.first, o.first), max(t.last, o.last)
	t.proofs = append(t.proofs, o.proofs[:min(len(o.proofs), maxProofs-len(t.proofs))]...)
	for _, c := range o.clients {
		t.clients = withNew(t.clients, c, maxTallied)
	}
	for _, job := range o.jobs {
		t.jobs.add(job)
	}
	for _, c := range o.operations {
		t.addOperation(c.word, c.count)
	}
}

// operationsText returns what is counted as in "3 writes and 1 open".
func (t *tally) operationsText() string {
	var words []string
	for i := range t.operations {
		words = append(words, plural(t.operations[i].count, t.operations[i].word))
	}
	return list(words)
}

// senders returns who sent the RPCs as in "192.0.2.3@tcp (job dd.500)".
func (t *tally) senders() string { return nodes(t.clients) + jobsText(t.jobs) }

// jobsText returns jobs in parentheses after a space, empty when there are none.
func jobsText(jobs []string) string {
	if len(jobs) > 1 {
		return " (jobs " + list(jobs) + ")"
	}
	return jobText(only(jobs))
}

// jobText returns a job in parentheses after a space, empty without one.
func jobText(job string) string {
	if job == "" {
		return ""
	}
	return " (job " + job + ")"
}

// operationWord returns a noun for the operation of an RPC: that of an application
// where there is one, else its name.
func operationWord(r *track.RPC) string {
	switch r.Opcode {
	case opcodes.OST_WRITE:
		return "write"
	case opcodes.OST_READ:
		return "read"
	case opcodes.OST_SETATTR:
		return "attribute change"
	case opcodes.OST_PUNCH:
		return "truncation"
	case opcodes.OST_SYNC:
		return "sync"
	case opcodes.LDLM_ENQUEUE:
		switch {
		case r.Does(opcodes.Opens):
			return "open"
		case r.Does(opcodes.Glimpses):
			return "size request"
		case r.Does(opcodes.OfObject):
			return "lock request"
		}
	}
	op := opcodes.ByOpcode(r.Opcode)
	if op == nil {
		return "request"
	}
	if r.Variant == nil || r.Variant.Name == "" {
		return op.Name + " request"
	}
	return op.Name + " " + r.Variant.Name + " request"
}

// operationCounts counts RPCs by operation.
type operationCounts map[uint32]int64

// text returns the operations as in "OST_WRITE 8, OST_SYNC 4", the most frequent first, or
// the name of the only one.
func (c operationCounts) text(name func(opcode uint32) string) string {
	const shown = 4
	list := slices.SortedFunc(maps.Keys(c), func(a, b uint32) int { return cmp.Or(cmp.Compare(c[b], c[a]), cmp.Compare(a, b)) })
	if len(list) == 1 {
		return name(list[0])
	}
	var words []string
	for _, op := range list[:min(len(list), shown)] {
		words = append(words, fmt.Sprintf("%s %d", name(op), c[op]))
	}
	if len(list) > shown {
		words = append(words, "…")
	}
	return strings.Join(words, ", ")
}

// operationText returns the name of an operation.
func operationText(opcode uint32) string {
	if op := opcodes.ByOpcode(opcode); op != nil {
		return op.Name
	}
	return fmt.Sprintf("operation %d", opcode)
}
