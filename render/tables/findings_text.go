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
func (t *FindingsText) Append(dst []byte, f *diagnose.Finding) []byte {
	dst = t.separate(dst)
	t.begun = true
	dst = t.heading(dst, f)
	dst = t.indented(dst, f.Text)
	if f.Cause != nil && t.cause[f.Cause] {
		dst = t.indented(dst, "It follows from "+f.Cause.Rule.Code+aboutText(t.about(f.Cause))+".")
	}
	if t.cause != nil {
		t.cause[f] = true
	}
	dst = t.suspects(t.evidence(dst, f), f)
	if t.next[f.Next] {
		return dst
	}
	t.next[f.Next] = true
	return t.labelled(dst, "next: ", f.Next)
}

// aboutText returns what a finding is about, in parentheses after a space.
func aboutText(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

func (t *FindingsText) indented(dst []byte, text string) []byte {
	dst = render.AppendSpaces(dst, findingIndent)
	return append(t.wrapped(dst, text, findingIndent), '\n')
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
func (t *FindingsText) AppendInput(dst []byte, in *Input, list []*diagnose.Finding, chosen bool) []byte {
	if in.First == 0 { // nothing was captured
		return dst
	}
	dst = t.separate(dst)
	t.begun = true
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
	dst = append(t.wrapped(dst, text, 0), '\n')
	if chosen || t.inFull {
		return dst
	}
	usual, more := make(map[string]*diagnose.Finding), make(map[string]int64)
	for _, f := range list {
		if !IsUsual(f) {
			continue
		}
		if code := f.Rule.Code; usual[code] == nil {
			usual[code] = f
		} else {
			more[code]++
		}
	}
	for _, code := range usualNotes {
		if f := usual[code]; f != nil {
			text, _, _ := strings.Cut(strings.TrimSuffix(diagnose.Sentences(f.Text, 1), "."), ": ")
			if n := more[code]; n > 0 {
				text += " (and " + render.Counted(n, "other") + ")"
			}
			dst = t.indented(dst, text+".")
		}
	}
	return dst
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
func (t *FindingsText) separate(dst []byte) []byte {
	if t.begun {
		return append(dst, '\n')
	}
	return dst
}

// AppendAll appends what an expert would say first of each cause, then the findings: those
// that follow from no other, each with the number of its consequences, and a line for each
// remark about the capture that AppendInput does not have. In full, all findings are paragraphs. The list is in the order
// of diagnose.Engine.Findings.
func (t *FindingsText) AppendAll(dst []byte, list []*diagnose.Finding) []byte {
	stories := diagnose.Stories(list)
	dst = t.AppendOpenings(dst, stories)
	afterLine := false
	for _, s := range stories {
		if s.Root.IsBackground() && !t.inFull {
			if IsUsual(s.Root) {
				continue
			}
			if !afterLine {
				dst = t.separate(dst)
			}
			afterLine = true
			dst = t.indented(t.heading(dst, s.Root), diagnose.Sentences(s.Root.Text, 1))
			continue
		}
		dst = t.Append(dst, s.Root)
		if t.inFull {
			for _, f := range s.Followed {
				dst = t.Append(dst, f)
			}
		} else if followed := diagnose.Followed(s.Followed); followed != "" {
			dst = t.indented(dst, "followed from it: "+followed+"; -v shows them")
		}
	}
	return dst
}

// AppendOpenings appends what an expert would say first of each cause.
func (t *FindingsText) AppendOpenings(dst []byte, stories []diagnose.Story) []byte {
	opened := false
	for _, s := range stories {
		if !s.Opens() {
			continue
		}
		if !opened {
			dst, opened = t.separate(dst), true
		}
		t.begun = true
		times, text := "", s.Opening()
		if s.Root.First != 0 {
			times = string(t.times(nil, s.Root))
			text = times + "  " + text
		}
		text = string(t.wrapped(nil, text, 0))
		if rest, whole := strings.CutPrefix(text, times); whole && times != "" {
			dst, text = t.opt.Colors.Dim.Append(dst, times), rest
		}
		dst = append(append(dst, text...), '\n')
	}
	return dst
}

// AppendIndented appends the paragraph of a finding that starts so many columns to the
// right, below a mark that joins it to what it follows from.
func (t *FindingsText) AppendIndented(dst []byte, f *diagnose.Finding, columns int) []byte {
	if columns == 0 {
		return t.Append(dst, f)
	}
	narrow := *t
	narrow.opt.Width = max(0, t.opt.Width-columns)
	narrow.begun, narrow.cause = false, nil // the place says what it follows from
	mark := "└─"
	for line := range bytes.Lines(narrow.Append(nil, f)) {
		dst = render.AppendSpaces(dst, columns-2)
		dst = append(t.opt.Colors.Dim.Append(dst, mark), line...)
		mark = "  "
	}
	return dst
}

// point tells OnPoint what the line is about that begins at the end of dst.
func (t *FindingsText) point(dst []byte, p track.Point) {
	if t.OnPoint != nil {
		t.OnPoint(bytes.Count(dst, []byte{'\n'}), p)
	}
}

// heading appends severity, code, times and subject.
func (t *FindingsText) heading(dst []byte, f *diagnose.Finding) []byte {
	if len(f.Evidence) > 0 {
		t.point(dst, f.Evidence[0].Point)
	}
	c := t.opt.Colors
	st := &c.Dim
	switch f.Severity {
	case diagnose.Error:
		st = &c.Bad
	case diagnose.Warning:
		st = &c.Warn
	}
	severity, code := severityWidth, codeWidth
	dst = render.AppendLeft(dst, st, []byte(f.Severity.String()), &severity)
	dst = render.AppendLeft(append(dst, ' ', ' '), &c.Key, []byte(f.Rule.Code), &code)
	column := severity + 2 + code
	add := func(st *render.Style, word string) {
		n := 2 + render.Width([]byte(word))
		if column += n; t.opt.Width > 0 && column > t.opt.Width {
			column = severityWidth + n
			dst = render.AppendSpaces(append(dst, '\n'), severityWidth)
		}
		dst = st.Append(append(dst, ' ', ' '), word)
	}
	if f.First != 0 {
		add(&c.Dim, string(t.times(nil, f)))
	}
	for _, word := range t.about(f) {
		add(&c.NID, word)
	}
	if f.Count > 1 {
		add(&c.Num, strconv.FormatInt(f.Count, 10)+" times")
	}
	return append(dst, '\n')
}

// times appends when it happened: one time, or from one to another.
func (t *FindingsText) times(dst []byte, f *diagnose.Finding) []byte {
	n := len(dst)
	dst = t.time(dst, f.First)
	if f.Last <= f.First {
		return dst
	}
	first := string(dst[n:])
	if last := string(t.time(nil, f.Last)); last != first {
		dst = append(append(dst, " – "...), last...)
	}
	return dst
}

func (t *FindingsText) time(dst []byte, ns int64) []byte {
	return []byte(strings.TrimLeft(string(t.opt.Time.Append(dst, ns, t.at, true)), " "))
}

func (t *FindingsText) about(f *diagnose.Finding) (words []string) {
	if target := cmp.Or(f.Target, f.TargetIndex); target != "" {
		words = append(words, string(schema.AppendText(nil, []byte(target))))
	}
	if f.Client.Len > 0 {
		words = append(words, "client "+string(t.opt.NIDs.Append(nil, f.Client)))
	}
	if f.Server.Len > 0 {
		words = append(words, "server "+string(t.opt.NIDs.Append(nil, f.Server)))
	}
	if f.Job != "" {
		words = append(words, "job "+string(schema.AppendText(nil, []byte(f.Job))))
	}
	return words
}

// evidence appends a line for each message that proves the finding.
func (t *FindingsText) evidence(dst []byte, f *diagnose.Finding) []byte {
	c := t.opt.Colors
	frames := make([]string, len(f.Evidence))
	width := 0
	for i := range f.Evidence {
		frames[i] = frameText(f.Evidence[i].Point)
		width = max(width, len(frames[i]))
	}
	for i := range f.Evidence {
		e := &f.Evidence[i]
		t.point(dst, e.Point)
		dst = render.AppendSpaces(dst, proofIndent+width-len(frames[i]))
		dst = c.Num.Append(dst, frames[i])
		dst = append(dst, ' ', ' ')
		at := string(t.time(nil, e.Time))
		dst = c.Dim.Append(dst, at)
		dst = append(dst, ' ', ' ')
		dst = append(t.wrapped(dst, e.Text, proofIndent+width+2+len(at)+2), '\n')
	}
	return dst
}

func frameText(p track.Point) string { return string(render.AppendFrame(nil, p.File, p.Frame)) }

func (t *FindingsText) wrapped(dst []byte, text string, column int) []byte {
	return render.AppendWrapped(dst, string(schema.AppendText(nil, []byte(text))), column, t.opt.Width)
}
