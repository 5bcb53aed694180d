package tables

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
)

// FindingsText renders findings as paragraphs.
type FindingsText struct {
	opt   render.SummaryOptions
	at    render.Moment
	stamp render.Stamp
	begun bool
	next  map[string]bool // what to look at next, as written before

	cause map[*diagnose.Finding]bool // findings that were written
}

// NewFindingsText makes a renderer. first is the time of the capture's first frame.
func NewFindingsText(o render.SummaryOptions, first int64) *FindingsText {
	return &FindingsText{opt: o, at: render.Moment{First: first}, next: make(map[string]bool), cause: make(map[*diagnose.Finding]bool)}
}

// The columns of a paragraph.
const (
	severityWidth = len("warning")
	codeWidth     = len("evicted.lock_callback")
	findingIndent = 2
	proofIndent   = 4
	nextLabel     = "next: "
)

// Append appends the paragraph of a finding, after an empty line if it is not the
// first. What to look at next is written once.
func (t *FindingsText) Append(dst []byte, f *diagnose.Finding) []byte {
	if t.begun {
		dst = append(dst, '\n')
	}
	t.begun = true
	dst = t.heading(dst, f)
	dst = t.indented(dst, f.Text)
	if f.Cause != nil && t.cause[f.Cause] {
		dst = t.indented(dst, "It follows from "+f.Cause.Rule.Code+aboutText(t.about(f.Cause))+".")
	}
	if t.cause != nil {
		t.cause[f] = true
	}
	dst = t.evidence(dst, f)
	if f.Next == "" || t.next[f.Next] {
		return dst
	}
	t.next[f.Next] = true
	dst = render.AppendSpaces(dst, findingIndent)
	dst = t.opt.Colors.Head.Append(dst, nextLabel)
	return append(t.wrapped(dst, f.Next, findingIndent+len(nextLabel)), '\n')
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

// AppendAll appends what an expert would say first of each cause, then the findings: those
// that follow from no other, each with the number of its consequences, and a line for each
// remark about the capture. With inFull all findings are paragraphs. The list is in the order
// of diagnose.Engine.Findings.
func (t *FindingsText) AppendAll(dst []byte, list []*diagnose.Finding, inFull bool) []byte {
	stories := diagnose.Stories(list)
	dst = t.AppendOpenings(dst, stories)
	afterLine := false
	for _, s := range stories {
		if s.Root.IsBackground() && !inFull {
			if t.begun && !afterLine {
				dst = append(dst, '\n')
			}
			afterLine = true
			dst = t.indented(t.heading(dst, s.Root), diagnose.Sentences(s.Root.Text, 1))
			continue
		}
		dst = t.Append(dst, s.Root)
		if inFull {
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
	for _, s := range stories {
		if !s.Opens() {
			continue
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

// heading appends severity, code, times and subject.
func (t *FindingsText) heading(dst []byte, f *diagnose.Finding) []byte {
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
	return []byte(strings.TrimLeft(string(t.stamp.Append(dst, t.opt.Time, ns, t.at, true)), " "))
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
