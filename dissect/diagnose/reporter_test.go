package diagnose_test

import (
	"testing"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

// TestReplaced checks which finding replaces an earlier one.
func TestReplaced(t *testing.T) {
	rule := &diagnose.Rule{Code: "slow.test", Severity: diagnose.Warning, Start: func(r *diagnose.Reporter) diagnose.Hooks {
		return diagnose.Hooks{End: func() {
			r.Report(diagnose.Finding{Subject: diagnose.Subject{Target: "a"}, Text: "first of a"})
			r.Report(diagnose.Finding{Subject: diagnose.Subject{Target: "b"}, Text: "of b", Severity: diagnose.Error})
			r.Report(diagnose.Finding{Subject: diagnose.Subject{Target: "a"}, Text: "second of a", Severity: diagnose.Note})
			r.Report(diagnose.Finding{Key: "x", Text: "first of x"})
			r.Report(diagnose.Finding{Key: "x", Subject: diagnose.Subject{Target: "a"}, Text: "second of x"})
		}}
	}}
	e := diagnose.New(diagnose.Options{Rules: []*diagnose.Rule{rule}})
	e.Close()
	var got []string
	for _, f := range e.Findings() {
		got = append(got, f.Severity.String()+" "+f.Target+": "+f.Text)
	}
	want := []string{"warning b: of b", "warning a: second of x", "note a: second of a"}
	must.Equal(t, len(got), len(want), got, want)
	for i := range got {
		assert.Equal(t, got[i], want[i])
	}
}

// TestSentencesBegin checks that a target without a name begins sentences with a capital letter.
func TestSentencesBegin(t *testing.T) {
	rule := &diagnose.Rule{Code: "slow.test", Severity: diagnose.Warning, Start: func(r *diagnose.Reporter) diagnose.Hooks {
		return diagnose.Hooks{End: func() {
			r.Report(diagnose.Finding{Text: "a target of x is slow, for job run. a job."})
		}}
	}}
	e := diagnose.New(diagnose.Options{Rules: []*diagnose.Rule{rule}})
	e.Close()
	assert.Equal(t, e.Findings()[0].Text, "A target of x is slow, for job run. a job.")
}

// TestFollowed checks how findings behind their cause are counted: several lines of a log may be about one thing.
func TestFollowed(t *testing.T) {
	stop, eviction := &diagnose.Rule{Noun: "stopped target", CountsLines: true}, &diagnose.Rule{Noun: "eviction"}
	assert.Equal(t, diagnose.Followed([]*diagnose.Finding{{Rule: stop, Count: 2}, {Rule: eviction, Count: 3}, {Rule: eviction, Count: 1}}), "1 stopped target and 4 evictions")
}

// TestOpeningOfEviction checks that what waited for a silent client did not wait because of its eviction.
func TestOpeningOfEviction(t *testing.T) {
	for code, want := range map[string]string{"evicted.silence": "A evicted B. Its silence led to 2 RPCs that waited.", "evicted.admin": "A evicted B. It led to 2 RPCs that waited."} {
		root := &diagnose.Finding{Rule: &diagnose.Rule{Code: code}, Text: "A evicted B."}
		s := diagnose.Story{Root: root, Followed: []*diagnose.Finding{{Rule: &diagnose.Rule{Code: "slow.wait", Noun: "RPC that waited"}, Count: 2, Cause: root}}}
		assert.Equal(t, s.Opening(), want)
	}
}

// TestSentences checks that the first sentences of a text do not end within what a log says.
func TestSentences(t *testing.T) {
	const text = `The log has "it failed. See syslog", and 1 more. It led to others. More.`
	assert.Equal(t, diagnose.Sentences(text, 1), `The log has "it failed. See syslog", and 1 more.`)
	assert.Equal(t, diagnose.Sentences(text, 2), `The log has "it failed. See syslog", and 1 more. It led to others.`)
	assert.Equal(t, diagnose.Sentences(text, 9), text)
}
