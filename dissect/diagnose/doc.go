// Package diagnose finds out what is wrong: rules read RPCs, connections, locks and
// what the capture itself lacks, and report findings.
//
// A [Rule] is data: a code, a severity, what it means, its thresholds, and a func
// that starts it. The func gets a [Reporter] and returns [Hooks], which an [Engine]
// calls with what happens in the capture. The rules are in package dissect/diagnose/rules.
//
//	e := diagnose.New(diagnose.Options{Rules: rules.All(), Capture: func() diagnose.Capture { … }})
//	d := dissect.New(dissect.Options{Handle: e.Message, TransferUpdate: e.TransferUpdate, Lost: e.Lost, TCPEvent: e.TCPEvent,
//		Active: e.Active(), IBEvent: e.IBEvent})
//	… // frames for d, then d.Close()
//	e.Close()
//	for _, f := range e.Findings() { … }
//
// A finding says only what messages prove. Each has its evidence: the frames of
// these messages. What a rule cannot know because of the capture is left out, and
// the rules with codes that begin with "capture" report what the capture lacks.
//
// Findings are linked: [Finding.Cause] is the one from which another follows, where node,
// target, client or lock and the times prove it (links.go). [Engine.Findings] puts those that
// follow from no other first, and [Stories] tells what an expert would say of each.
//
// The state is bounded: a Reporter keeps maxSubjects findings of a rule, a finding
// maxEvidence pieces of evidence, and rules bound what they remember with
// [internal/fifo].
package diagnose
