package records

import (
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes/schema"
)

// severities are the severities of findings, the least severe first.
var severities = schema.NewEnum("finding_severity", "", "how bad a finding is", []schema.Value{
	{Name: diagnose.Note.String(), Value: uint64(diagnose.Note), Doc: "worth knowing"},
	{Name: diagnose.Warning.String(), Value: uint64(diagnose.Warning), Doc: "something is slow, or may become an error"},
	{Name: diagnose.Error.String(), Value: uint64(diagnose.Error), Doc: "somebody got an error, or data are wrong"},
})

// Findings are the keys of findings.
var Findings = Table[*diagnose.Finding]{Record: "finding", Prefix: "finding.", InFilters: true, Keys: []Key[*diagnose.Finding]{
	{Name: "code", Type: Text, Doc: "code of the rule; lshark explain CODE describes it", Get: func(f *diagnose.Finding, v *Value) bool {
		v.SetString(f.Rule.Code)
		return true
	}},
	{Name: "severity", Type: Enum, Names: severities, Doc: "error, warning or note", Get: func(f *diagnose.Finding, v *Value) bool {
		v.U = uint64(f.Severity)
		return true
	}},
	{Name: "time", Type: Time, Doc: "when it began", Get: func(f *diagnose.Finding, v *Value) bool {
		v.U = uint64(f.First)
		return f.First != 0
	}},
	{Name: "until", Type: Time, Doc: "when it ended, or happened last", Get: func(f *diagnose.Finding, v *Value) bool {
		v.U = uint64(f.Last)
		return f.Last != 0
	}},
	{Name: "target", Type: Text, Doc: "target that it is about", Get: func(f *diagnose.Finding, v *Value) bool {
		v.SetString(f.Target)
		return f.Target != ""
	}},
	{Name: "target_index", Type: Text, JSON: Omit, Doc: "kind and index of the target, such as OST0001, where they are known without the name of the file system", Get: func(f *diagnose.Finding, v *Value) bool {
		v.SetString(f.TargetIndex)
		return f.TargetIndex != ""
	}},
	findingNID("client", "client that it is about, also when that is a server", func(f *diagnose.Finding) lnet.NID { return f.Client }),
	findingNID("server", "server that it is about", func(f *diagnose.Finding) lnet.NID { return f.Server }),
	{Name: "job", Type: Text, JSON: Omit, Doc: "job that it is about", Get: func(f *diagnose.Finding, v *Value) bool {
		v.SetString(f.Job)
		return f.Job != ""
	}},
	{Name: "count", Doc: "how often it happened", Get: func(f *diagnose.Finding, v *Value) bool {
		v.U = uint64(f.Count)
		return true
	}},
	{Name: "text", Type: Text, Doc: "what was found, in words", Get: func(f *diagnose.Finding, v *Value) bool {
		v.SetString(f.Text)
		return true
	}},
	{Name: "evidence", Type: Object, Doc: "messages that prove it", Len: func(f *diagnose.Finding) int { return len(f.Evidence) },
		Parts: append(pointAt(func(f *diagnose.Finding, i int) track.Point { return f.Evidence[i].Point }),
			Key[*diagnose.Finding]{Name: "text", Type: Text, Doc: "what the message shows", At: func(f *diagnose.Finding, i int, v *Value) bool {
				v.SetString(f.Evidence[i].Text)
				return true
			}})},
	{Name: "next", Type: Text, Doc: "what to look at next", Get: func(f *diagnose.Finding, v *Value) bool {
		v.SetString(f.Next)
		return f.Next != ""
	}},
}}

// findingNID makes the key of a node, null when the finding is about none.
func findingNID(name, doc string, of func(*diagnose.Finding) lnet.NID) Key[*diagnose.Finding] {
	return Key[*diagnose.Finding]{Name: name, Type: NID, Doc: doc, Get: func(f *diagnose.Finding, v *Value) bool {
		v.NID = of(f)
		return v.NID != lnet.NID{}
	}}
}
