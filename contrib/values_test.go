package contrib

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/opcodes/schema"
)

// TestLabelValues checks that the values by which series are selected exist, where
// the label has names of lshark or Lustre.
func TestLabelValues(t *testing.T) {
	known := map[string][]string{"severity": nil, "reason": {"queue", "disk"}, "error": {""}, "state": nil}
	for _, s := range diagnose.Severities() {
		known["severity"] = append(known["severity"], s.String())
	}
	for _, m := range track.MissingReasons() {
		known["reason"] = append(known["reason"], m.String())
	}
	for errno := range uint64(200) {
		known["error"] = append(known["error"], schema.Errnos.Name(errno))
	}
	for s := track.StateUnknown; s <= track.StateDisconnecting; s++ {
		known["state"] = append(known["state"], s.String())
	}
	d := readDashboard(t)
	checked := 0
	for _, q := range slices.Concat(readRules(t), d.queries(t)) {
		refs, err := parsePromQL(q.expr)
		must.NoError(t, err)
		for _, s := range refs.selectors {
			for _, m := range s.matchers {
				values, ok := known[m.label]
				if !ok {
					continue
				}
				for want := range strings.SplitSeq(m.value, "|") {
					checked++
					pattern, err := regexp.Compile("^(?:" + want + ")$")
					if err != nil {
						t.Errorf("%s: %v", q.place, err)
					} else if !slices.ContainsFunc(values, pattern.MatchString) {
						t.Errorf("%s: no %s is called %s", q.place, m.label, want)
					}
				}
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d values were checked", checked)
	}
}
