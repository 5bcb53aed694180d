package records

import (
	"math"
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

// placeDocs are the meanings of the kinds of places.
var placeDocs = [...]string{
	diagnose.AtApplication: "what a job does",
	diagnose.AtClient:      "the node that sends the request",
	diagnose.AtHolder:      "a client that keeps a lock",
	diagnose.AtPath:        "the network between two nodes",
	diagnose.AtNode:        "a node that is gone, cut off from all others, frozen, restarted or short of CPU, or whose address another host has",
	diagnose.AtLNet:        "messages are lost or kept above TCP or RDMA, between two nodes",
	diagnose.AtQueue:       "the request is in the server and waits for a thread",
	diagnose.AtThread:      "a service thread works on this request, while others of its kind are served",
	diagnose.AtStorage:     "the device of a target",
	diagnose.AtTarget:      "a target that is stopped, moved, full, read-only or rolled back",
	diagnose.AtOtherServer: "the server waits for another one",
	diagnose.AtAdmin:       "somebody's command",
	diagnose.AtConfig:      "names, nodemaps, versions, flags or keys",
	diagnose.AtLoad:        "more work than the target can do",
	diagnose.AtCapture:     "it cannot be told, because bytes are missing",
}

// places are the kinds of places.
var places = schema.Enum("finding_place", "", "where the cause of a finding may be", placeValues())

func placeValues() (list []schema.Value) {
	for kind, doc := range placeDocs {
		list = append(list, schema.Value{Name: diagnose.PlaceKind(kind).String(), Value: uint64(kind), Doc: doc})
	}
	return list
}

// Findings are the keys of findings.
var Findings = Table[*diagnose.Finding]{Record: "finding", Command: "diagnose", Name: "findings", Prefix: "finding.", InFilters: true, Keys: sync.OnceValue(func() []*Key[*diagnose.Finding] {
	type finding = diagnose.Finding
	return []*Key[*finding]{
		anyText("code", "code of the rule; lshark explain CODE describes it", func(f *finding) string { return f.Rule.Code }),
		enum("severity", severities, "error, warning or note", func(f *finding) diagnose.Severity { return f.Severity }),
		TimeKey("time", "when it began", func(f *finding) int64 { return f.First }).known(),
		TimeKey("until", "when it ended, or happened last", func(f *finding) int64 { return f.Last }).known(),
		TextKey("target", "target that it is about", func(f *finding) string { return f.Target }),
		textsIf("targets", "targets that it is about, where there are several", func(f *finding) []string { return f.Targets }),
		TextKey("target_index", targetIndexDoc, func(f *finding) string { return f.TargetIndex }).omit(),
		NIDKey("client", "client that it is about, also when that is a server", func(f *finding) lnet.NID { return f.Client }).known(),
		NIDKey("server", "server that it is about", func(f *finding) lnet.NID { return f.Server }).known(),
		TextKey("job", "job that it is about", func(f *finding) string { return f.Job }).omit(),
		NumberKey("count", "how often it happened", func(f *finding) int64 { return f.Count }),
		anyText("text", "what was found, in words", func(f *finding) string { return f.Text }),
		list("evidence", "messages, or lines of logs, that prove it", func(f *finding) []diagnose.Evidence { return f.Evidence },
			evidenceKeys()...),
		list("suspects", "places where the cause may be: nothing in the input excludes them", func(f *finding) []diagnose.Place { return f.Suspects },
			suspectKeys()...).omit(),
		list("cleared", "places that are excluded, with the message, or the line of a log, that proves it",
			func(f *finding) []diagnose.Clearance { return f.Cleared },
			append(inside(func(c *diagnose.Clearance) *diagnose.Place { return &c.Place }, suspectKeys()...),
				inside(func(c *diagnose.Clearance) *diagnose.Evidence { return &c.Evidence }, evidenceKeys()...)...)...).omit(),
		textsIf("would_tell", "captures and logs that would decide between several suspects", func(f *finding) []string { return f.WouldTell }),
		list("thresholds", "thresholds of the rule that decided on the finding or on its severity, and what was measured",
			func(f *finding) []diagnose.Comparison { return f.Compared },
			anyText("name", "name of the threshold; lshark explain CODE describes it", func(c *diagnose.Comparison) string { return c.Name }),
			float("value", "the threshold", func(c *diagnose.Comparison) float64 { return c.Value }),
			float("measured", "what was compared with it", func(c *diagnose.Comparison) float64 { return math.Round(c.Measured*1e6) / 1e6 }),
			anyText("unit", "unit of both: s, B, %, or what is counted", func(c *diagnose.Comparison) string { return c.Unit })).omit(),
		anyText("id", "names the finding among those of the same input", func(f *finding) string { return f.ID }),
		TextKey("cause", "id of the finding that it follows from", func(f *finding) string {
			if f.Cause == nil {
				return ""
			}
			return f.Cause.ID
		}),
		TextKey("next", "what to look at next", func(f *finding) string { return f.Next }),
	}
})}

// suspectKeys are the keys of a place.
func suspectKeys() []*Key[*diagnose.Place] {
	type place = diagnose.Place
	return []*Key[*place]{
		enum("place", places, "what kind of place it is", func(p *place) diagnose.PlaceKind { return p.Kind }),
		TextKey("target", "target that the place belongs to", func(p *place) string { return p.Target }).omit(),
		NIDKey("node", "node that the place is, or is on", func(p *place) lnet.NID { return p.Node }).nonzero().
			when(func(p *place) bool { return !p.IsBetween() }),
		textsIf("nodes", "of a place between two nodes: both", func(p *place) []string { return []string{p.Node.String(), p.Peer.String()} }).
			when((*place).IsBetween),
		TextKey("direction", "of a path that is broken in one direction only: from which node to which", (*place).DirectionText).omit(),
	}
}

func evidenceKeys() []*Key[*diagnose.Evidence] {
	type evidence = diagnose.Evidence
	return append(placeKeys(func(e *evidence) track.Point { return e.Point }, func(e *evidence) string { return e.File }),
		NumberKey("line", "number of the line of the log that proves it", (*evidence).Line).nonzero(),
		anyText("text", "what the message shows", func(e *evidence) string { return e.Text }))
}
