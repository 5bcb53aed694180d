package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

// tally counts RPCs that have something in common, and who sent them.
type tally struct {
	count       int64
	first, last int64 // times of the first and the last
	clients     []lnet.NID
	jobs        []string
	operations  []operationCount
	proofs      []diagnose.Evidence
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
	if t.count == 0 {
		t.first = at.Time
	}
	t.count++
	t.first, t.last = min(t.first, at.Time), max(t.last, at.Time)
	if len(t.clients) < maxTallied && !slices.Contains(t.clients, r.Client) {
		t.clients = append(t.clients, r.Client)
	}
	if job := r.Job(); len(job) > 0 {
		t.addJob(string(job))
	}
	word := operationWord(r)
	for i := range t.operations {
		if t.operations[i].word == word {
			t.operations[i].count++
			return
		}
	}
	if len(t.operations) < maxTallied {
		t.operations = append(t.operations, operationCount{word, 1})
	}
}

func (t *tally) addJob(job string) {
	if len(t.jobs) < maxTallied && !slices.Contains(t.jobs, job) {
		t.jobs = append(t.jobs, job)
	}
}

// prove keeps the first messages that prove what is counted.
func (t *tally) prove(p track.Point, format string, args ...any) {
	if len(t.proofs) < maxProofs && p.Frame != 0 {
		t.proofs = append(t.proofs, diagnose.Evidence{Point: p, Text: fmt.Sprintf(format, args...)})
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
	switch len(jobs) {
	case 0:
		return ""
	case 1:
		return " (job " + jobs[0] + ")"
	}
	return " (jobs " + list(jobs) + ")"
}

// list returns words as in "A, B and C", or "A, B, C and 2 others".
func list(words []string) string {
	const shown = 3
	if n := len(words); n > shown+1 {
		words = append(slices.Clone(words[:shown]), fmt.Sprintf("%d others", n-shown))
	}
	if last := len(words) - 1; last > 0 {
		return strings.Join(words[:last], ", ") + " and " + words[last]
	}
	return strings.Join(words, "")
}

// operationWord returns a noun for the operation of an RPC: that of an application
// where there is one, else its name.
func operationWord(r *track.RPC) string {
	variant := ""
	if r.Variant != nil {
		variant = r.Variant.Name
	}
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
		case strings.HasPrefix(variant, "OPEN"):
			return "open"
		case variant == "glimpse":
			return "size request"
		case variant == "extent":
			return "lock request"
		}
	}
	op := opcodes.ByOpcode(r.Opcode)
	if op == nil {
		return "request"
	}
	return strings.TrimSpace(op.Name+" "+variant) + " request"
}

// hasError returns the first of some errors that the reply to an RPC has, as its
// status or inside; 0 when it has none of them.
func hasError(r *track.RPC, errors ...int32) int32 {
	if r.Status < 0 && slices.Contains(errors, r.Status) {
		return r.Status
	}
	for _, e := range r.OtherErrors {
		if slices.Contains(errors, e) {
			return e
		}
	}
	return 0
}

// Errors that rules look for, as in replies.
const (
	eNoEntry    = -2
	eIO         = -5
	eNoSpace    = -28
	eReadOnly   = -30
	eDeadlock   = -35
	eUnclean    = -117
	eRemoteIO   = -121
	eQuota      = -122
	eBadMessage = -74
)
