package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lshark/lshark/opcodes/schema"
)

// AboutCapture reports whether a finding is about what the capture lacks.
func (f *Finding) AboutCapture() bool { return strings.HasPrefix(f.Rule.Code, "capture.") }

// IsBackground reports whether a finding only says how things are.
func (f *Finding) IsBackground() bool {
	return f.AboutCapture() || f.Rule.Background && f.Severity == Note
}

// Opens reports whether an expert would begin with a finding: one that follows from no other
// and is more than a note, or has consequences that are. Of what the capture lacks, only what changes
// the answer is said.
func (s *Story) Opens() bool {
	if s.Root.IsBackground() {
		return s.Root.AboutCapture() && s.Root.Brief != ""
	}
	return s.Root.Severity > Note || slices.ContainsFunc(s.Followed, func(f *Finding) bool { return f.Severity > Note })
}

// Root returns the finding from which all follows that led to this one: itself, if it
// has no cause.
func (f *Finding) Root() *Finding {
	for f.Cause != nil {
		f = f.Cause
	}
	return f
}

// inOrder sorts findings: roots by the worst that followed from them, each with its
// consequences behind it, in the order of time.
func inOrder(list []*Finding) []*Finding {
	worst := make(map[*Finding]Severity)
	for _, f := range list {
		worst[f.Root()] = max(worst[f.Root()], f.Severity)
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *Finding) int {
		x, y := a.Root(), b.Root()
		if x == y {
			return cmp.Or(behind(a != x)-behind(b != y), cmp.Compare(a.First, b.First), -cmp.Compare(a.Severity, b.Severity))
		}
		return cmp.Or(behind(x.IsBackground())-behind(y.IsBackground()), -cmp.Compare(worst[x], worst[y]), -cmp.Compare(x.Severity, y.Severity),
			cmp.Compare(x.First, y.First), cmp.Compare(x.ID, y.ID))
	})
	return list
}

// behind is a sort key: what it is true for comes behind the rest.
func behind(is bool) int {
	if is {
		return 1
	}
	return 0
}

// Story is a finding that follows from no other, and what followed from it.
type Story struct {
	Root     *Finding
	Followed []*Finding
}

// Stories divides findings that are in the order of Engine.Findings.
func Stories(list []*Finding) (stories []Story) {
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].Root() == list[0] {
			n++
		}
		stories = append(stories, Story{list[0], list[1:n]})
		list = list[n:]
	}
	return stories
}

// Opening returns what an expert would say first, in up to three sentences: what happened,
// what followed from it, and where to look.
func (s *Story) Opening() string {
	f := s.Root
	text := f.Brief
	if text == "" {
		text = Sentences(f.Text, 2)
	}
	var unsaid, besides []*Finding
	for _, o := range s.Followed {
		switch {
		case o.isSaidByCause():
		case hasCode("io.error tcp.retransmission", o.Rule.Code) && o.isAnotherSightOf(f):
			besides = append(besides, o)
		default:
			unsaid = append(unsaid, o)
		}
	}
	isWorse := slices.ContainsFunc(unsaid, func(o *Finding) bool { return o.Severity > f.Severity })
	followed, more, isShort := Followed(unsaid), "", strings.Count(text, ". ") < 2
	if followed != "" && (isWorse || isShort) {
		cause := "It"
		if f.Rule.Code == "evicted.silence" { // the eviction ended what waited for the client
			cause = "Its silence"
		}
		more = " " + cause + " led to " + followed + longestWait(f, unsaid) + "."
	}
	if len(besides) > 0 {
		more = " With it came " + Followed(besides) + "." + more
	}
	if before, look, found := strings.Cut(text, " Look "); found { // where to look comes last
		text = before + more + " Look " + look
	} else {
		text += more
	}
	if f.Brief == "" && f.Next != "" && (isShort && more == "" || strings.Count(text, ". ") < 2) {
		text += " " + Sentences(f.Next, 1)
	}
	return text
}

// longestWait returns how long consequences lasted, in parentheses after a space, empty where
// that is unknown.
func longestWait(root *Finding, list []*Finding) string {
	longest, of := int64(0), "wait"
	for _, f := range list {
		if f.Rule.Code == "recovery.reconnect" {
			lost := root.First // at the earliest; when the client finds out, its log says
			if slices.ContainsFunc(f.Evidence, func(e Evidence) bool { return e.IsLog() && e.Time == f.First }) {
				lost = f.First
			}
			if f.Last-lost > longest {
				longest, of = f.Last-lost, "outage"
			}
		}
		if f.Wait > longest {
			longest, of = f.Wait, "wait"
		}
	}
	if longest < waitShown {
		return ""
	}
	return fmt.Sprintf(" (the longest %s %.3g s)", of, float64(longest)/1e9)
}

// waitShown is the shortest wait in nanoseconds that is worth a word.
const waitShown = int64(1e9)

// Sentences returns the first sentences of a text.
func Sentences(text string, n int) string {
	at := 0
	for n > 0 {
		next := strings.Index(text[at:], ". ")
		if next < 0 {
			return text
		}
		at += next + 2
		if strings.Count(text[:at], `"`)%2 == 0 { // not within what a log says
			n--
		}
	}
	return strings.TrimRight(text[:at], " ")
}

// Followed sums up findings that followed from another one, as in "4 evictions and 8
// refused connects".
func Followed(list []*Finding) string {
	var order []string
	counts := make(map[string]int64)
	for _, f := range list {
		noun := cmp.Or(f.Noun, f.Rule.Noun)
		if counts[noun] == 0 {
			order = append(order, noun)
		}
		if f.Rule.CountsLines {
			counts[noun]++
		} else {
			counts[noun] += f.Count
		}
	}
	var words []string
	for _, noun := range order {
		words = append(words, countNoun(counts[noun], noun))
	}
	return schema.WordList(words, " and ")
}

// isSaidByCause reports whether a finding says the same as its cause, with other times.
func (f *Finding) isSaidByCause() bool {
	switch c := f.Cause; f.Rule.Code {
	case "node.silent", "restart.together", "tcp.round_trip":
		return true
	case "tcp.retransmission":
		return f.Root().Rule.Code == "tcp.round_trip" // which has their number
	case "slow.wait", "slow.queue", "lock.wait", "target.hung":
		return f.isLongestOf(c)
	case "slow.changed", "slow.target", "slow.network":
		return hasCode("slow target.hung", c.Rule.Code) // these are among the same requests
	case "evicted.unknown", "evicted.silence", "evicted.lock_callback":
		return f.Severity == Note // the client lost nothing
	case "target.stopped", "connect.not_up", "connect.starting", "connect.recovering": // restarts count the connects that were refused
		return strings.HasPrefix(c.Rule.Code, "restart.")
	case "io.device":
		return c.Rule.Code == "io.error"
	case "evicted.recovery":
		return strings.HasPrefix(c.Rule.Code, "restart.") && c.Target == f.Target
	case "restart.target":
		return c.Rule.Code == "node.restarted" || strings.HasPrefix(c.Rule.Code, "restart.")
	case "restart.no_recovery", "restart.rolled_back":
		return c.Rule.Code == "restart.together" && c.Severity == Error
	}
	return false
}

// countNoun returns a number and a noun; the plural of "RPC that waited" is "RPCs that waited".
func countNoun(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	rest := ""
	for _, end := range []string{" that ", " of ", " for ", " with ", " without "} {
		if at := strings.Index(noun, end); at > 0 {
			noun, rest = noun[:at], noun[at:]
			break
		}
	}
	if stem, ok := strings.CutSuffix(noun, "ply"); ok { // reply
		noun = stem + "plie"
	}
	return fmt.Sprintf("%d %ss%s", n, noun, rest)
}

// Clones returns copies of findings, whose causes are the copies.
func Clones(list []*Finding) []*Finding {
	copies := make(map[*Finding]*Finding)
	var all []*Finding
	for _, f := range list {
		c := *f
		c.Evidence, c.Cleared = slices.Clone(f.Evidence), slices.Clone(f.Cleared)
		copies[f] = &c
		all = append(all, &c)
	}
	for _, c := range all {
		c.Cause = copies[c.Cause]
	}
	return all
}
