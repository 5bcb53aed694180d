package diagnose

import (
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/evictions"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/dissect/track/recovery"
)

// Rule describes what to look for, and starts looking for it.
type Rule struct {
	Code       string   // stable, with the subject before the dot: evicted.lock_callback
	Severity   Severity // the highest that it reports
	Summary    string   // what a finding says, in a sentence without names
	Meaning    string   // what is compared with what, and what that proves
	Limits     string   // what the rule cannot know, and when it reports nothing
	Next       string   // what to look at next; a finding may say more
	Thresholds []*Threshold

	// Noun is what is counted where findings are summed up behind their cause, such as
	// "eviction"; empty: the code.
	Noun string

	// Background findings say how things are, and not that something happened: they come last.
	Background bool

	// Samples are the captures of the tests in which it has findings; it has none
	// in all others, unless it is common.
	Samples []string
	Common  bool // it has findings in many ordinary captures, and Samples are some of them

	// Start makes the hooks of the rule for one capture.
	Start func(*Reporter) Hooks
}

// Threshold is a number that a rule compares with.
type Threshold struct {
	Name   string
	Value  float64
	Unit   string // "s" for seconds, "B" for bytes, else the noun that is counted
	Reason string // why it is not more or less
}

// Nanoseconds returns a threshold in seconds as nanoseconds.
func (t *Threshold) Nanoseconds() int64 { return int64(t.Value * 1e9) }

// Hooks are the funcs of a rule that an Engine calls; those that are nil are not
// called. What they get is valid during the call, unless it says otherwise.
type Hooks struct {
	// Opcodes are the operations of the RPCs that Sent, Answered and Done get; nil:
	// all. RPCs whose opcode is unknown are passed to rules without Opcodes only.
	Opcodes []uint32

	Sent     func(*track.RPC, *dissect.Message) // each request, also when it is sent again
	Answered func(*track.RPC, *dissect.Message) // each first final reply
	Done     func(*track.RPC)                   // each RPC when it has ended

	// Lock gets each lock when it has ended, or at the end of the capture. It may be
	// kept.
	Lock func(*locks.Lock)

	// Eviction gets each eviction when its cause has been decided.
	Eviction func(*evictions.Eviction)

	// Recovery gets what happened to a target that clients had lost, when the target
	// is lost again, or at the end of the capture.
	Recovery func(*recovery.Recovery)

	// LockGranted gets each lock that had to wait for others, when it is granted: for
	// rules that report it before the lock has ended. Times may still change.
	LockGranted func(*locks.Lock)

	// Import gets a connection after each message that added to its log.
	Import func(*track.Import, track.Point)

	// Message gets each message with its RPC, which is nil for those that belong to
	// none: LNet's own, and those of connections.
	Message func(*track.RPC, *dissect.Message)

	// Lost gets each run of bytes that was not captured and in which messages may
	// have begun.
	Lost func(*lnet.Loss)

	// Marked gets each TCP segment that was sent again, came out of order, closes or
	// opens a receive window, or aborts a connection.
	Marked func(*lnet.MarkedSegment)

	// Refused gets each negative acknowledgement of an InfiniBand packet.
	Refused func(*lnet.RefusedPacket)

	// Tick is called about once a minute of capture time, with the time: for rules
	// that compare what happened so far.
	Tick func(now int64)

	// End is called at the end of the capture, after everything else.
	End func()
}

// Choose returns the rules whose codes are given, or begin with what is given and a
// dot; all without a code. unknown is the first code that no rule has.
func Choose(all []*Rule, codes []string) (chosen []*Rule, unknown string) {
	if len(codes) == 0 {
		return all, ""
	}
	wanted := make(map[*Rule]bool)
	for _, code := range codes {
		known := false
		for _, r := range all {
			if r.Code == code || strings.HasPrefix(r.Code, code+".") {
				wanted[r], known = true, true
			}
		}
		if !known {
			return nil, code
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(r *Rule) bool { return !wanted[r] }), ""
}

// Codes lists the codes of rules, and what is before their dots.
func Codes(list []*Rule) (codes []string) {
	for _, r := range list {
		subject, _, _ := strings.Cut(r.Code, ".")
		codes = append(codes, subject, r.Code)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}
