package explain

import (
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/opcodes/schema"
)

// Rule explains a rule of lshark diagnose.
func Rule(r *diagnose.Rule) *Explanation {
	x := &Explanation{more: []string{r.Severity.String()},
		topicJSON: topicJSON{Kind: "finding", Name: r.Code, Severity: r.Severity.String(), Summary: r.Summary, Meaning: r.Meaning,
			Limits: r.Limits, Next: r.Next}}
	for _, t := range r.Thresholds {
		x.Thresholds = append(x.Thresholds, thresholdJSON(*t))
	}
	x.body = func(p *page) {
		for _, part := range []struct{ label, text string }{{"Rule: ", r.Meaning}, {"Limits: ", r.Limits}, {"Next: ", r.Next}} {
			if part.text != "" {
				p.end()
				p.words(textIndent, schema.Heading, part.label)
				p.words(textIndent, schema.NoRole, part.text)
				p.end()
			}
		}
		if len(r.Thresholds) > 0 {
			p.end()
			p.words(textIndent, schema.Heading, "Thresholds:")
			p.end()
		}
		for _, t := range r.Thresholds {
			p.words(2*textIndent, schema.Label, t.Name+":")
			p.words(2*textIndent, schema.Number, ThresholdText(t))
			p.words(2*textIndent, schema.NoRole, "("+t.Reason+")")
			p.end()
		}
	}
	return x
}

// Rules lists rules whose codes begin with a name. It is text only.
func Rules(name string, list []*diagnose.Rule) *Explanation {
	return &Explanation{kind: "findings", name: name, more: []string{strconv.Itoa(len(list)) + " rules"}, body: func(p *page) {
		for _, r := range list {
			p.words(textIndent, schema.Label, r.Code)
			p.words(2*textIndent, schema.NoRole, strings.TrimSuffix(r.Summary, "."))
			p.end()
		}
	}}
}

// ThresholdText returns the value of a threshold with its unit.
func ThresholdText(t *diagnose.Threshold) string {
	return strconv.FormatFloat(t.Value, 'g', -1, 64) + " " + t.Unit
}
