package html

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/ladder"
	"github.com/lshark/lshark/render/tables"
)

// maxFindings is how many findings are shown: about the capture, and others.
const maxFindings = 200

// findings appends the findings that are not about the capture itself.
func (r *renderer) findings() {
	var list []*diagnose.Finding
	for _, f := range r.Findings.List {
		if !f.AboutCapture() {
			list = append(list, f)
		}
	}
	if len(list) == 0 {
		r.nothing("Nothing was found to be wrong.")
		return
	}
	r.articles(list)
	if n := r.Findings.Dropped; n > 0 {
		r.raw(element(`p class="remark"`, render.Counted(n, "finding")+" were too many to keep."))
	}
}

// articles appends findings, the worst first, with what followed from each folded.
func (r *renderer) articles(list []*diagnose.Finding) {
	next := make(map[string]bool) // what to look at next is written once
	write := func(f *diagnose.Finding) {
		r.finding(f, f.Next != "" && !next[f.Next])
		next[f.Next] = true
	}
	for i, s := range diagnose.Stories(list[:min(maxFindings, len(list))]) {
		write(s.Root)
		r.ladder(s.Root, i == 0)
		if len(s.Followed) == 0 {
			continue
		}
		r.raw(`<details class="followed"><summary>Followed from it: `,
			text(cmp.Or(diagnose.Followed(s.Followed), render.Counted(int64(len(s.Followed)), "finding"))), "</summary>\n")
		for _, f := range s.Followed {
			write(f)
		}
		r.raw("</details>\n")
	}
	if n := int64(len(list) - maxFindings); n > 0 {
		r.raw(element(`p class="remark"`, render.Counted(n, "more finding")+" not shown; lshark diagnose has all."))
	}
}

// ladder appends the diagram of a finding and what followed from it, if it has one.
func (r *renderer) ladder(f *diagnose.Finding, open bool) {
	d := r.Findings.Ladders[f]
	if d == nil || d.Len() == 0 {
		return
	}
	messages := render.Counted(int64(d.Len()), "message")
	state := markup("")
	if open {
		state = " open"
	}
	r.raw(`<details class="followed"`, state, "><summary>Ladder of ", text(messages+" that prove it"),
		`</summary><div class="scroll" role="region" tabindex="0" aria-label="`, text("Ladder of "+f.Rule.Code), "\">\n")
	const columns = 130
	r.buf = d.AppendSVG(r.buf, ladder.SVGOptions{Width: columns, Embedded: true, Label: "Sequence diagram of " + messages + " that prove: " +
		diagnose.Sentences(f.Text, 1)})
	r.raw("</div></details>\n")
}

// findingID is the anchor of a finding.
func findingID(f *diagnose.Finding) string { return "finding-" + f.ID }

// severityMarks are the symbols of severities, so that these differ in more than
// their colours.
var severityMarks = map[diagnose.Severity]markup{diagnose.Error: "✕", diagnose.Warning: "▲", diagnose.Note: "●"}

// finding appends a finding, with or without what to look at next.
func (r *renderer) finding(f *diagnose.Finding, withNext bool) {
	severity := markup(f.Severity.String())
	r.raw(`<article id="`, text(findingID(f)), `" class="finding `, severity, `" data-code="`, text(f.Rule.Code),
		`"><h3><span class="severity"><span aria-hidden="true">`, severityMarks[f.Severity], "</span> ", severity,
		"</span> <code>", text(f.Rule.Code), "</code></h3>\n<p class=\"about\">", r.when(f))
	about := tables.About(f, r.NIDs)
	if f.Count > 1 {
		about = append(about, render.Counted(f.Count, "time"))
	}
	for i, s := range about {
		if i > 0 || f.First != 0 {
			r.raw(" · ")
		}
		r.raw(text(s))
	}
	r.raw("</p>\n", element(`p class="what"`, f.Text))
	if f.Cause != nil && f.Cause.Cause != nil { // the root itself stands above
		r.raw(`<p>It follows from <a href="#`, text(findingID(f.Cause)), `">`, text(f.Cause.Rule.Code), "</a>.</p>\n")
	}
	if len(f.Evidence) > 0 {
		r.raw(`<ul class="evidence" aria-label="Evidence">`, "\n")
		for i := range f.Evidence {
			e := &f.Evidence[i]
			r.raw("<li>", r.where(e.Point), " ", text(e.Text), "</li>\n")
		}
		r.raw("</ul>\n")
	}
	r.suspects(f)
	if withNext {
		r.raw(`<p class="next"><strong>Next:</strong> `, text(f.Next), "</p>\n")
	}
	r.raw("</article>\n")
}

// suspects appends where the cause of a finding may be, what is excluded, and what would tell.
func (r *renderer) suspects(f *diagnose.Finding) {
	labelled := func(label markup, s string) {
		if s != "" {
			r.raw(`<p class="suspects"><strong>`, label, ":</strong> ", text(s), "</p>\n")
		}
	}
	labelled("Suspects", tables.SuspectsText(f))
	if excluded := tables.Exclusions(f); len(excluded) > 0 {
		r.raw(`<ul class="evidence" aria-label="Excluded">`, "\n")
		for i := range excluded {
			x := &excluded[i]
			r.raw("<li><strong>Excluded:</strong> ", text(x.Places()))
			if x.Frame != 0 {
				r.raw(", by ", r.where(x.Point))
			}
			r.raw(text(": "+x.Text), "</li>\n")
		}
		r.raw("</ul>\n")
	}
	labelled("Would tell", strings.Join(f.WouldTell, "; "))
}

// where returns the frame, for which the script copies a command, or the line of a log, and its time.
func (r *renderer) where(p track.Point) markup {
	at, command := text(frame(p)), markup("")
	if p.Line() == 0 {
		if !r.Capture.IsLive {
			command = ` data-command="` + text(r.command(p)) + `"`
		}
		at = `<span class="frame"` + command + ">frame " + at + "</span>"
	}
	return `<span class="where">` + at + ", " + r.time(p.Time, thin+"s") + "</span>"
}

// command returns the command that shows the messages of a frame.
func (r *renderer) command(p track.Point) string {
	quoted := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	filter := "frame == " + strconv.FormatInt(p.Frame, 10)
	if p.File != "" {
		filter += " && file == " + strconv.Quote(p.File)
	}
	words := []string{"lshark -V -Y", quoted(filter)}
	for _, s := range r.Capture.Sources {
		words = append(words, quoted(s))
	}
	return strings.Join(words, " ")
}

// when returns the time of a finding, if it has one.
func (r *renderer) when(f *diagnose.Finding) markup {
	switch {
	case f.First == 0:
		return ""
	case f.Last > f.First && r.relative(f.Last) != r.relative(f.First):
		return r.time(f.First, thin+"s") + " – " + r.time(f.Last, thin+"s")
	}
	return r.time(f.First, thin+"s")
}
