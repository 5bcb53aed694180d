package diagnose

import (
	"fmt"
	"slices"
	"time"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

// Severity is how bad a finding is.
type Severity uint8

// The severities. A capture of ordinary work has no warning and no error.
const (
	ofRule  Severity = iota // that of the rule
	Note                    // worth knowing
	Warning                 // something is slow, or may become an error
	Error                   // an application or an administrator got an error, or data are wrong
)

var severityNames = [...]string{Note: "note", Warning: "warning", Error: "error"}

// String returns the word in records and on the command line.
func (s Severity) String() string { return severityNames[s] }

// Severities returns all severities, the worst first.
func Severities() []Severity { return []Severity{Error, Warning, Note} }

// Subject is what a finding is about. What is unknown, or does not matter, is zero.
type Subject struct {
	Target string // name of the target without "_UUID"
	// TargetIndex is kind and index of the target, as in OST0001, where they are known
	// without the name of the file system. Server is set beside it.
	TargetIndex string
	Client      lnet.NID // node of the client
	Server      lnet.NID
	Job         string

	// Detail tells findings of a rule apart that are the same in the rest, such as
	// the FID of a file.
	Detail string
}

// SentBefore is the Detail of a finding about a request that was sent before the capture began.
const SentBefore = "sent before the capture"

// Finding is something that a rule has found.
type Finding struct {
	Subject
	Targets     []string // names of the targets, where it is about several
	Noun        string   // in place of that of the rule
	Key         string   // if it is set, findings with the same key are the same, whatever their subjects
	Follows     string   // key of the one that it follows from, where the rule knows that
	Rule        *Rule
	Severity    Severity
	First, Last int64 // when it began and ended, in nanoseconds since the epoch; 0: it has no time
	Count       int64 // how often it happened
	Text        string
	Unexplained string // ends Text where the finding follows from no other
	Evidence    Proofs
	Next        string // what to look at next

	// What the opening says of it, if nothing caused it: up to three sentences about what
	// happened, who suffered, and where to look. Empty: the first sentences of Text and Next.
	Brief string

	// ID names the finding among those of one input. Cause is the one that it follows from,
	// nil where none is known; Engine.Findings sets it, by what follows.
	ID    string
	Cause *Finding
	Node  lnet.NID // the node that did not answer, refused connections, or came back
	Wait  int64    // for how many nanoseconds applications waited at most; 0: unknown
	Locks []uint64 // handles at the server of the locks that somebody kept or waited for

	Requests []Request // those that waited

	// Suspects are the places where its cause may be: those that nothing in the input excludes.
	// Cleared are those that are excluded. WouldTell names captures and logs that would decide
	// between several suspects.
	Suspects  []Place
	Cleared   []Clearance
	WouldTell []string

	// Compared are the thresholds that decided on it or on its severity, with what was measured.
	Compared []Comparison

	known string   // Text without Unexplained
	alone Severity // that of the finding if it follows from no other
	rank  int      // in causeOrder

	excluded []Clearance // Cleared if it follows from no other
	written  bool        // was passed to Options.Found as it is
	counted  Severity    // the highest with which it was passed to Options.Counted, ofRule: it was not
}

// Request is a request that waited at a server: its XID, or of a thread that worked for it from when to when.
type Request struct {
	Server   lnet.NID
	XID      uint64
	From, To int64
}

// Evidence is a message, or a line of a log, that proves a part of a finding.
type Evidence struct {
	track.Point
	Text string
}

// maxEvidence is how many pieces of evidence a finding has at most.
const maxEvidence = 8

// Proofs are the evidence of a finding.
type Proofs []Evidence

// Add adds a piece of evidence, unless there is enough, it is there already, or the point is
// unknown.
func (l *Proofs) Add(p track.Point, format string, args ...any) {
	if len(*l) >= maxEvidence || p.Frame == 0 {
		return
	}
	if e := (Evidence{Point: p, Text: fmt.Sprintf(format, args...)}); !slices.Contains(*l, e) {
		*l = append(*l, e)
	}
}

// Prove adds a piece of evidence.
func (f *Finding) Prove(p track.Point, format string, args ...any) {
	f.Evidence.Add(p, format, args...)
}

// ProveLine adds a line of a log as evidence.
func (f *Finding) ProveLine(l *track.LogLine) {
	if l == nil || len(f.Evidence) >= maxEvidence {
		return
	}
	text := l.Text
	if l.Kind == debuglog.Note {
		text = fmt.Sprintf("%s x%d: %s", opcodes.Opcodes.Name(uint64(l.Opcode)), l.XID, l.Text)
	}
	f.Evidence = append(f.Evidence, Evidence{l.Point(), text})
}

// Comparison is what was compared with a threshold of the rule, in the unit of the threshold.
type Comparison struct {
	*Threshold
	Measured float64
}

// Compare notes that a threshold decided on the finding or on its severity.
func (f *Finding) Compare(t *Threshold, measured float64) {
	f.Compared = append(f.Compared, Comparison{t, measured})
}

// CompareTime is Compare of nanoseconds with a threshold in seconds.
func (f *Finding) CompareTime(t *Threshold, ns int64) { f.Compare(t, float64(ns)/1e9) }

// Capture is what is known about a capture itself.
type Capture struct {
	lnet.Stats
	Dropped          int64       // frames that the kernel dropped in a live capture
	InterfaceDropped int64       // frames that the interfaces dropped then, before the kernel saw them
	Truncated        []Truncated // files of which some frames were captured in part
	Damaged          string      // why reading ended before the end of the input; empty when it did not
	Files            int         // number of files that are read
	FirstFrame       int64       // time of the first frame
	Estimated        []ClockOffset
}

// Truncated is a file with frames that were captured in part.
type Truncated struct {
	File    string // empty when only one is read
	Snaplen int    // most bytes that it has of a frame
	Frames  int64  // number of such frames
}

// ClockOffset is what was added to the times of a file that is merged with others, by
// an estimate.
type ClockOffset struct {
	File   string
	Offset time.Duration
}
