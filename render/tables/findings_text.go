package tables

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
)

// FindingsText renders findings as paragraphs.
type FindingsText struct {
	// OnPoint, if it is set, is called with each line that is about a message, counted from 0 in the text that a
	// finding is appended to: the heading is about the first one that proves the finding.
	OnPoint func(line int, p track.Point)

	opt    render.SummaryOptions
	inFull bool
	at     render.Moment
	begun  bool
	next   map[string]bool // what to look at next, as written before

	cause map[*diagnose.Finding]bool // findings that were written
}

// NewFindingsText makes a renderer. first is the time of the capture's first frame. With inFull
// it leaves out nothing of a list of findings, and nothing of what a finding excludes.
func NewFindingsText(o render.SummaryOptions, first int64, inFull bool) *FindingsText {
	return &FindingsText{opt: o, inFull: inFull, at: render.Moment{First: first}, next: make(map[string]bool),
		cause: make(map[*diagnose.Finding]bool)}
}

// The columns of a paragraph.
const (
	severityWidth = len("warning")
	codeWidth     = len("evicted.lock_callback")
	findingIndent = 2
	proofIndent   = 4
)

// Append appends the paragraph of a finding, after an empty line if it is not the
// first. What to look at next is written once.
func (t *FindingsText) Append(dst *schema.Marked, f *diagnose.Finding) {
	t.separate(dst)
	t.heading(dst, f)
	t.indented(dst, f.Text)
	if f.Cause != nil && t.cause[f.Cause] {
		text := "It follows from " + f.Cause.Rule.Code
		if about := About(f.Cause, t.opt.NIDs); len(about) > 0 {
			text += " (" + strings.Join(about, ", ") + ")"
		}
		t.indented(dst, text+".")
	}
	if t.cause != nil {
		t.cause[f] = true
	}
	t.evidence(dst, f)
	t.suspects(dst, f)
	if t.next[f.Next] {
		return
	}
	t.next[f.Next] = true
	t.labelled(dst, "next: ", f.Next)
}

func (t *FindingsText) indented(dst *schema.Marked, text string) {
	t.wrapped(dst.Spaces(findingIndent), text, findingIndent)
}

// Input is what was read, for the line that findings begin with.
type Input struct {
	First, Last      int64 // times of the first frame and of the last, in nanoseconds since the epoch
	RPCs             int64
	Clients, Servers []lnet.NID
}

// AppendInput appends a line about the input: when it began, how long it lasts, and whose RPCs
// it has. It says where a list has neither errors nor warnings, or is empty though findings were
// chosen. Below it are the notes that nearly every capture has, unless they are paragraphs.
func (t *FindingsText) AppendInput(dst *schema.Marked, in *Input, list []*diagnose.Finding, chosen bool) {
	if in.First == 0 { // nothing was captured
		return
	}
	t.separate(dst)
	loc := time.Local
	if t.opt.Time == render.UTC {
		loc = time.UTC
	}
	ns := in.Last - in.First
	if second := int64(time.Second); ns >= 10*second {
		ns = (ns + second/2) / second * second
	}
	text := time.Unix(0, in.First).In(loc).Format("2006-01-02 15:04:05 -0700") + ", " + render.Span(ns, " ") + ", "
	worst, ofCapture := worstOf(list)
	switch {
	case chosen && len(list) == 0:
		text += "no such findings in "
	case !chosen && worst <= diagnose.Note && in.RPCs > 0:
		text += "no errors or warnings in "
	}
	text += t.rpcsText(in)
	if !chosen && worst <= diagnose.Note && ofCapture > diagnose.Note && in.RPCs > 0 {
		text += ", except about the capture itself"
	}
	t.wrapped(dst, text, 0)
	if chosen || t.inFull {
		return
	}
	for _, code := range usualNotes {
		var usual []*diagnose.Finding
		for _, f := range list {
			if f.Rule.Code == code && IsUsual(f) {
				usual = append(usual, f)
			}
		}
		if len(usual) == 0 {
			continue
		}
		text, _, _ := strings.Cut(strings.TrimSuffix(diagnose.Sentences(usual[0].Text, 1), "."), ": ")
		if n := len(usual) - 1; n > 0 {
			text += " (and " + render.Counted(int64(n), "other") + ")"
		}
		t.indented(dst, text+".")
	}
}

// rpcsText returns the number of RPCs and whose they are. A few nodes are named.
func (t *FindingsText) rpcsText(in *Input) string {
	if in.RPCs == 0 {
		return "no RPCs"
	}
	const named = 3
	var nodes []string
	for _, side := range []struct {
		noun string
		list []lnet.NID
	}{{"client", in.Clients}, {"server", in.Servers}} {
		if len(side.list) == 0 {
			continue
		}
		text := render.Counted(int64(len(side.list)), side.noun)
		if len(side.list) <= named {
			var names []string
			for _, nid := range side.list {
				names = append(names, string(t.opt.NIDs.Append(nil, nid)))
			}
			slices.Sort(names)
			text += " (" + strings.Join(names, ", ") + ")"
		}
		nodes = append(nodes, text)
	}
	return render.Counted(in.RPCs, "RPC") + before(" of ", strings.Join(nodes, " and "))
}

// worstOf returns the highest severity of findings, of those about the capture itself apart.
func worstOf(list []*diagnose.Finding) (worst, ofCapture diagnose.Severity) {
	for _, f := range list {
		if f.AboutCapture() {
			ofCapture = max(ofCapture, f.Severity)
		} else {
			worst = max(worst, f.Severity)
		}
	}
	return worst, ofCapture
}

// usualNotes are the codes of notes that nearly every capture has.
var usualNotes = []string{"capture.no_connect", "slow.timeouts"}

// IsUsual reports whether a finding is a note that nearly every capture has, and that changes
// nothing about the others.
func IsUsual(f *diagnose.Finding) bool {
	return f.Severity == diagnose.Note && f.Cause == nil && f.Brief == "" && slices.Contains(usualNotes, f.Rule.Code)
}

// separate appends an empty line, unless nothing is there yet.
func (t *FindingsText) separate(dst *schema.Marked) {
	if t.begun {
		dst.Plain("\n")
	}
	t.begun = true
}

// AppendAll appends what an expert would say first of each cause, then the findings: those
// that follow from no other, each with the number of its consequences, and a line for each
// remark about the capture that AppendInput does not have. In full, all findings are paragraphs. The list is in the order
// of diagnose.Engine.Findings.
func (t *FindingsText) AppendAll(dst *schema.Marked, list []*diagnose.Finding) {
	stories := diagnose.Stories(list)
	t.AppendOpenings(dst, stories)
	afterLine := false
	for _, s := range stories {
		if s.Root.IsBackground() && !t.inFull {
			if IsUsual(s.Root) {
				continue
			}
			if !afterLine {
				t.separate(dst)
			}
			afterLine = true
			t.heading(dst, s.Root)
			t.indented(dst, diagnose.Sentences(s.Root.Text, 1))
			continue
		}
		t.Append(dst, s.Root)
		if t.inFull {
			for _, f := range s.Followed {
				t.Append(dst, f)
			}
		} else if followed := diagnose.Followed(s.Followed); followed != "" {
			t.indented(dst, "followed from it: "+followed+"; -v shows them")
		}
	}
}

// AppendOpenings appends what an expert would say first of each cause.
func (t *FindingsText) AppendOpenings(dst *schema.Marked, stories []diagnose.Story) {
	opened := false
	for _, s := range stories {
		if !s.Opens() {
			continue
		}
		if !opened {
			t.separate(dst)
			opened = true
		}
		if s.Root.First != 0 {
			dst.Add(schema.Dim, t.times(s.Root)).Plain("  ")
		}
		t.wrapped(dst, s.Opening(), 0)
	}
}

// AppendIndented appends the paragraph of a finding that starts so many columns to the
// right, below a mark that joins it to what it follows from.
func (t *FindingsText) AppendIndented(dst *schema.Marked, f *diagnose.Finding, columns int) {
	if columns == 0 {
		t.Append(dst, f)
		return
	}
	narrow := *t
	narrow.opt.Width = max(0, t.opt.Width-columns)
	narrow.begun, narrow.cause = false, nil // the place says what it follows from
	mark := "└─"
	var text schema.Marked
	narrow.Append(&text, f)
	for _, line := range text.Lines() {
		dst.Spaces(columns-2).Add(schema.Dim, mark)
		dst.Append(&line)
		dst.Plain("\n")
		mark = "  "
	}
}

// point tells OnPoint what the line is about that begins at the end of dst.
func (t *FindingsText) point(dst *schema.Marked, p track.Point) {
	if t.OnPoint != nil {
		t.OnPoint(bytes.Count(dst.Text, []byte{'\n'}), p)
	}
}

// heading appends severity, code, times and subject.
func (t *FindingsText) heading(dst *schema.Marked, f *diagnose.Finding) {
	if len(f.Evidence) > 0 {
		t.point(dst, f.Evidence[0].Point)
	}
	st := schema.Dim
	switch f.Severity {
	case diagnose.Error:
		st = schema.Bad
	case diagnose.Warning:
		st = schema.Warning
	}
	severity, code := severityWidth, codeWidth
	render.AddLeft(dst, st, []byte(f.Severity.String()), &severity)
	render.AddLeft(dst.Plain("  "), schema.Label, []byte(f.Rule.Code), &code)
	column := severity + 2 + code
	add := func(st schema.Role, word string) {
		n := 2 + render.Width([]byte(word))
		if column += n; t.opt.Width > 0 && column > t.opt.Width {
			column = severityWidth + n
			dst.Plain("\n").Spaces(severityWidth)
		}
		dst.Plain("  ").Add(st, word)
	}
	if f.First != 0 {
		add(schema.Dim, t.times(f))
	}
	for _, word := range About(f, t.opt.NIDs) {
		add(schema.Node, string(schema.AppendText(nil, []byte(word))))
	}
	if f.Count > 1 {
		add(schema.Number, strconv.FormatInt(f.Count, 10)+" times")
	}
	dst.Plain("\n")
}

// times returns when it happened: one time, or from one to another.
func (t *FindingsText) times(f *diagnose.Finding) string {
	first := t.time(f.First)
	if last := t.time(f.Last); f.Last > f.First && last != first {
		return first + " – " + last
	}
	return first
}

func (t *FindingsText) time(ns int64) string {
	return strings.TrimLeft(string(t.opt.Time.Append(nil, ns, t.at, true)), " ")
}

// About returns what a finding is about: target, client, server, job.
func About(f *diagnose.Finding, nids render.NIDs) (words []string) {
	if target := cmp.Or(f.Target, f.TargetIndex); target != "" {
		words = append(words, target)
	}
	if f.Client.Len > 0 {
		words = append(words, "client "+string(nids.Append(nil, f.Client)))
	}
	if f.Server.Len > 0 {
		words = append(words, "server "+string(nids.Append(nil, f.Server)))
	}
	if f.Job != "" {
		words = append(words, "job "+f.Job)
	}
	return words
}

// evidence appends a line for each message that proves the finding.
func (t *FindingsText) evidence(dst *schema.Marked, f *diagnose.Finding) {
	frames := make([]string, len(f.Evidence))
	width := 0
	for i := range f.Evidence {
		frames[i] = frameText(f.Evidence[i].Point)
		width = max(width, len(frames[i]))
	}
	for i := range f.Evidence {
		e := &f.Evidence[i]
		t.point(dst, e.Point)
		at := t.time(e.Time)
		dst.Spaces(proofIndent+width-len(frames[i])).Add(schema.Number, frames[i]).Plain("  ").Add(schema.Dim, at).Plain("  ")
		t.wrapped(dst, e.Text, proofIndent+width+2+len(at)+2)
	}
}

func frameText(p track.Point) string { return string(render.AppendFrame(nil, p.File, p.Frame)) }

// wrapped appends text that begins at a column, and ends the line.
func (t *FindingsText) wrapped(dst *schema.Marked, text string, column int) {
	begin := len(dst.Text)
	dst.Text = schema.AppendText(dst.Text, []byte(text))
	render.Wrap(dst, begin, column, t.opt.Width)
	dst.Plain("\n")
}
