package rules

import (
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/evictions"
)

// The texts that rules about evictions have in common.
const (
	evictionMeaning = "An evicted client loses its locks and what it has cached under them and not yet written; its applications get EIO for what was in progress. "
	evictionLimits  = "An eviction shows when the client connects again: the server evicted it some time before the message that the finding names. "
)

// startEvictions returns a func that starts a rule about evictions with one cause.
// describe adds what is known of it to a finding that has its subject and times.
func startEvictions(cause evictions.Cause, describe func(*evictions.Eviction, *diagnose.Finding)) func(*diagnose.Reporter) diagnose.Hooks {
	return func(r *diagnose.Reporter) diagnose.Hooks {
		return diagnose.Hooks{Eviction: func(e *evictions.Eviction) {
			if e.Cause != cause {
				return
			}
			f := evictionFinding(e)
			describe(e, &f)
			f.Text += lossText(e)
			proveEviction(e, &f)
			r.Report(f)
		}}
	}
}

// evictionFinding returns a finding with the subject and the times of an eviction.
func evictionFinding(e *evictions.Eviction) diagnose.Finding {
	f := diagnose.Finding{
		Subject: evictedFrom(e).subjectAt(e.Server),
		First:   e.Lost.Time, Last: e.At.Time,
	}
	f.Client, f.Detail = e.Client, e.At.File+strconv.FormatInt(e.At.Frame, 10)
	if e.Kind == "mgc" { // which loses nothing but the locks on its configuration
		f.Severity = diagnose.Note
	}
	return f
}

// whoEvicted returns the begin of a sentence: "lustre-OST0000 evicted 192.0.2.4@tcp".
func whoEvicted(e *evictions.Eviction) string {
	return evictedFrom(e).String() + " evicted " + e.Client.String()
}

// evictedFrom returns the target that evicted a client.
func evictedFrom(e *evictions.Eviction) targetKey {
	return namedTarget(e.Target, e.Connection.TargetIndex, e.Server)
}

// lossText returns a sentence about the requests that the server refused, with a space
// before it; empty when there are none.
func lossText(e *evictions.Eviction) string {
	f := &e.Refused
	if f.Count == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(" It refused " + plural(f.Count, "request"))
	switch {
	case f.Writes == f.Count:
		b.WriteString(" to write data")
	case f.Writes > 0:
		b.WriteString(", " + strconv.FormatInt(f.Writes, 10) + " of them to write data")
	case f.Count == 1:
		b.WriteString(" (" + opcodeName(f.FirstCode) + ")")
	default:
		b.WriteString(", first " + opcodeName(f.FirstCode))
	}
	if f.Job != "" {
		b.WriteString(", of job " + f.Job)
	}
	b.WriteString(": applications got an error for them.")
	return b.String()
}

// proveEviction adds the messages that show an eviction.
func proveEviction(e *evictions.Eviction, f *diagnose.Finding) {
	if e.HasLostBy {
		f.Prove(e.Lost, "the server does not know the client any more: it refuses %s", opcodeName(e.LostBy))
	}
	if e.Refused.Count > 0 && e.Refused.First.Frame != e.Lost.Frame {
		f.Prove(e.Refused.First, "it refuses %s", opcodeName(e.Refused.FirstCode))
	}
	if e.Status == 0 {
		f.Prove(e.At, "the reply to the client's connect shows that it was evicted")
	}
}

// instanceText returns how the number of a target's starts has changed, in
// parentheses and with a space before, empty when that is unknown.
func instanceText(before, now uint32) string {
	if before == 0 || now == 0 || before == now {
		return ""
	}
	return " (instance " + strconv.Itoa(int(before)) + ", then " + strconv.Itoa(int(now)) + ")"
}

// isSet reports whether a point is a message.
func isSet(p track.Point) bool { return p.Frame != 0 }
