package records

import (
	"sync"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes/schema"
)

// severities are the severities of findings, the least severe first.
var severities = schema.Enum("finding_severity", "", "how bad a finding is", []schema.Value{
	{Name: diagnose.Note.String(), Value: uint64(diagnose.Note), Doc: "worth knowing"},
	{Name: diagnose.Warning.String(), Value: uint64(diagnose.Warning), Doc: "something is slow, or may become an error"},
	{Name: diagnose.Error.String(), Value: uint64(diagnose.Error), Doc: "somebody got an error, or data are wrong"},
})

// Findings are the keys of findings.
var Findings = Table[*diagnose.Finding]{Record: "finding", Prefix: "finding.", InFilters: true, Keys: sync.OnceValue(findingKeys)}

func findingKeys() []Key[*diagnose.Finding] {
	type finding = diagnose.Finding
	return []Key[*finding]{
		anyText("code", "code of the rule; lshark explain CODE describes it", func(f *finding) string { return f.Rule.Code }),
		enum("severity", severities, "error, warning or note", func(f *finding) diagnose.Severity { return f.Severity }),
		moment("time", "when it began", func(f *finding) int64 { return f.First }).known(),
		moment("until", "when it ended, or happened last", func(f *finding) int64 { return f.Last }).known(),
		text("target", "target that it is about", func(f *finding) string { return f.Target }),
		textsIf("targets", "targets that it is about, where there are several", func(f *finding) []string { return f.Targets }),
		text("target_index", targetIndexDoc, func(f *finding) string { return f.TargetIndex }).omit(),
		nid("client", "client that it is about, also when that is a server", func(f *finding) lnet.NID { return f.Client }).known(),
		nid("server", "server that it is about", func(f *finding) lnet.NID { return f.Server }).known(),
		text("job", "job that it is about", func(f *finding) string { return f.Job }).omit(),
		number("count", "how often it happened", func(f *finding) int64 { return f.Count }),
		anyText("text", "what was found, in words", func(f *finding) string { return f.Text }),
		list("evidence", "messages, or lines of logs, that prove it", func(f *finding) []diagnose.Evidence { return f.Evidence },
			append(placeKeys(func(e *diagnose.Evidence) track.Point { return e.Point }, func(e *diagnose.Evidence) string { return e.File }),
				number("line", "number of the line of the log that proves it", func(e *diagnose.Evidence) int64 { return e.Line() }).nonzero(),
				anyText("text", "what the message shows", func(e *diagnose.Evidence) string { return e.Text }))...),
		anyText("id", "names the finding among those of the same input", func(f *finding) string { return f.ID }),
		text("cause", "id of the finding that it follows from", func(f *finding) string {
			if f.Cause == nil {
				return ""
			}
			return f.Cause.ID
		}),
		text("next", "what to look at next", func(f *finding) string { return f.Next }),
	}
}
