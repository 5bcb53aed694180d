package diagnose

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/paths"
)

// Reporter collects the findings of a rule. It also has what the rule may want to
// know about the capture.
type Reporter struct {
	engine   *Engine
	rule     *Rule
	findings map[Subject]*Finding
	dropped  int64 // findings that were too many to keep
}

// maxSubjects is how many findings of a rule are kept.
const maxSubjects = 1 << 10

// Report takes a finding. A later one with the same subject or key replaces it. Severity
// and Next, when they are zero, are those of the rule, and Count is 1. A finding
// cannot be more severe than its rule.
func (r *Reporter) Report(f Finding) {
	f.Rule = r.rule
	if f.Severity == ofRule || f.Severity > r.rule.Severity {
		f.Severity = r.rule.Severity
	}
	if f.Next == "" {
		f.Next = r.rule.Next
	}
	for _, text := range []*string{&f.Text, &f.Brief} {
		if strings.HasPrefix(*text, "a ") || strings.HasPrefix(*text, "one ") { // targets without a name
			*text = strings.ToUpper((*text)[:1]) + (*text)[1:]
		}
		if r.engine.opt.OnlyLogs {
			*text = strings.ReplaceAll(*text, "the capture", "the log")
		}
	}
	f.known, f.alone, f.excluded = f.Text, f.Severity, f.Cleared
	f.Text += f.Unexplained
	f.Count = max(f.Count, 1)
	f.Last = max(f.First, f.Last)
	id := f.Subject
	if f.Key != "" {
		id = Subject{Detail: f.Key}
	}
	old, known := r.findings[id]
	switch {
	case known && f.Text == old.Text && f.Count == old.Count && f.Last == old.Last && f.Subject == old.Subject && slices.Equal(f.Suspects, old.Suspects) &&
		slices.Equal(f.WouldTell, old.WouldTell):
		return
	case known:
		isWorse := f.Severity > old.Severity
		f.counted, f.ID = old.counted, old.ID
		*old = f
		r.count(old)
		if isWorse { // others are passed on at the end
			r.found(old)
		}
		return
	case len(r.findings) >= maxSubjects:
		r.dropped++
		return
	}
	r.engine.numbers[r.rule.Code]++
	f.ID = r.rule.Code + "-" + strconv.Itoa(r.engine.numbers[r.rule.Code])
	r.findings[id] = &f
	r.engine.order = append(r.engine.order, &f)
	r.count(&f)
	r.found(&f)
}

// found passes a finding to Options.Found, but for those of the end, which are passed on together.
func (r *Reporter) found(f *Finding) {
	if r.engine.opt.Found != nil && !r.engine.ending {
		f.written = true
		r.engine.opt.Found(f)
	}
}

// count passes a finding to Options.Counted when it is more severe than the last time.
func (r *Reporter) count(f *Finding) {
	if r.engine.opt.Counted != nil && f.Severity > f.counted {
		f.counted = f.Severity
		r.engine.opt.Counted(f)
	}
}

// First returns the time of the first message, Now that of the last.
func (r *Reporter) First() int64 { return max(r.engine.Follower.First(), r.engine.restarted) }

// Now returns the time of the last message.
func (r *Reporter) Now() int64 { return r.engine.Follower.Now() }

// OnlyLogs reports whether the input is debug logs without a capture.
func (r *Reporter) OnlyLogs() bool { return r.engine.opt.OnlyLogs }

// HasData reports whether messages have bulk data in full.
func (r *Reporter) HasData() bool { return r.engine.opt.Data }

// Imports returns the connections.
func (r *Reporter) Imports() []*track.Import { return r.engine.Imports().List() }

// WhyLost returns the line of a client's log that says why it gave up a connection, nil: none.
func (r *Reporter) WhyLost(c *track.Connection, at int64) *track.LogLine {
	return r.engine.Imports().WhyLost(c, at)
}

// Paths returns what TCP and InfiniBand did between hosts.
func (r *Reporter) Paths() *paths.Paths { return r.engine.Paths() }

// Capture returns what is known about the capture itself. It is complete in the
// End hook only.
func (r *Reporter) Capture() *Capture { return &r.engine.capture }
