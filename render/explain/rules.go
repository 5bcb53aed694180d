package explain

import (
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/opcodes/schema"
)

// AppendRule appends the text about a rule of lshark diagnose.
func (e *Topics) AppendRule(dst *schema.Marked, r *diagnose.Rule) {
	p := newPage(dst, e.width)
	p.heading("finding", r.Code, r.Severity.String())
	p.paragraph(r.Summary)
	for _, part := range []struct{ label, text string }{{"Rule: ", r.Meaning}, {"Limits: ", r.Limits}, {"Next: ", r.Next}} {
		if part.text == "" {
			continue
		}
		p.end()
		p.words(textIndent, schema.Heading, part.label)
		p.words(textIndent, schema.NoRole, part.text)
		p.end()
	}
	if len(r.Thresholds) == 0 {
		return
	}
	p.end()
	p.words(textIndent, schema.Heading, "Thresholds:")
	p.end()
	for _, t := range r.Thresholds {
		p.words(2*textIndent, schema.Label, t.Name+":")
		p.words(2*textIndent, schema.Number, ThresholdText(t))
		p.words(2*textIndent, schema.NoRole, "("+t.Reason+")")
		p.end()
	}
}

// AppendRules appends a line for each of several rules.
func (e *Topics) AppendRules(dst *schema.Marked, name string, list []*diagnose.Rule) {
	p := newPage(dst, e.width)
	p.heading("findings", name, strconv.Itoa(len(list))+" rules")
	for _, r := range list {
		p.words(textIndent, schema.Label, r.Code)
		p.words(2*textIndent, schema.NoRole, strings.TrimSuffix(r.Summary, "."))
		p.end()
	}
}

// ThresholdText returns the value of a threshold with its unit.
func ThresholdText(t *diagnose.Threshold) string {
	return strconv.FormatFloat(t.Value, 'g', -1, 64) + " " + t.Unit
}

type ruleJSON struct {
	Kind       string          `json:"kind"`
	Name       string          `json:"name"`
	Severity   string          `json:"severity"`
	Summary    string          `json:"summary"`
	Meaning    string          `json:"meaning"`
	Limits     string          `json:"limits,omitempty"`
	Next       string          `json:"next"`
	Thresholds []thresholdJSON `json:"thresholds,omitempty"`
}

type thresholdJSON struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Reason string  `json:"reason"`
}

// AppendRuleJSON appends a rule as an object on a line.
func (e *Topics) AppendRuleJSON(dst []byte, r *diagnose.Rule) []byte {
	o := ruleJSON{Kind: "finding", Name: r.Code, Severity: r.Severity.String(), Summary: r.Summary, Meaning: r.Meaning, Limits: r.Limits,
		Next: r.Next}
	for _, t := range r.Thresholds {
		o.Thresholds = append(o.Thresholds, thresholdJSON{t.Name, t.Value, t.Unit, t.Reason})
	}
	return appendObject(dst, o)
}
