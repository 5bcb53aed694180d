package html

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/render"
)

// summary appends the title, what matters most, and the list of sections.
func (r *renderer) summary() {
	r.raw("<header><p class=\"kicker\">Lustre traffic report</p>\n")
	sources := r.sources()
	title := strings.Join(sources, ", ")
	if n := len(sources); n > 3 {
		title = strings.Join(sources[:2], ", ") + " and " + render.Counted(int64(n-2), "more file")
	}
	r.raw(element("h1", cmp.Or(r.Title, title)), "\n")
	if r.Capture.First != 0 {
		when := utc(r.Capture.First) + " UTC, " + span(r.Capture.Last-r.Capture.First)
		if r.Title != "" {
			when = title + ", " + when
		}
		r.raw(element(`p class="when"`, when))
	}
	r.openings()
	r.raw(element(`p class="lead"`, strings.Join(r.sentences(), " ")))
	if r.Filter != "" {
		r.raw(`<p class="lead">Charts, statistics, sizes and the slowest RPCs are of those that match `,
			element("code", r.Filter), "; findings, files, connections and locks are of the whole capture.</p>")
	}
	r.raw("\n<dl class=\"figures\">\n")
	r.figures()
	r.raw("</dl>\n<nav aria-label=\"Sections\"><ul>")
	for _, s := range sections {
		r.raw(`<li><a href="#`, s.id, `">`, text(s.title), "</a></li>")
	}
	r.raw("</ul></nav></header>\n")
}

// openings appends what an expert would say first of each cause.
func (r *renderer) openings() {
	r.raw("<div class=\"openings\">\n")
	for _, s := range diagnose.Stories(r.Findings.List) {
		if s.Opens() {
			first := diagnose.Sentences(s.Opening(), 1)
			r.raw(`<p class="opening"><a href="#`, text(findingID(s.Root)), `">`, cmp.Or(r.when(s.Root), text(s.Root.Rule.Code)),
				"</a> ", element("strong", first), text(strings.TrimPrefix(s.Opening(), first)), "</p>\n")
		}
	}
	r.raw("</div>\n")
}

// sentences are the summary in plain language.
func (r *renderer) sentences() (list []string) {
	total := r.total()
	switch {
	case total == nil && r.Capture.OnlyLogs:
		return []string{"Logs of kernels do not show each RPC."}
	case total == nil:
		return []string{"The capture has no RPCs of Lustre."}
	}
	clients, servers := r.peers()
	from := " of " + render.Counted(clients, "client") + " and " + render.Counted(servers, "server")
	if n := r.targets(); n > 0 {
		from += " with " + render.Counted(n, "named target")
	}
	list = append(list, render.Counted(total.Count, "RPC")+from+" in "+span(r.Capture.Last-r.Capture.First)+".")
	errors, warnings, notes := r.severities()
	switch {
	case errors+warnings > 0:
		var parts []string
		for _, p := range []struct {
			n    int64
			noun string
		}{{errors, "error"}, {warnings, "warning"}, {notes, "note"}} {
			if p.n > 0 {
				parts = append(parts, render.Counted(p.n, p.noun))
			}
		}
		list = append(list, render.Counted(errors+warnings+notes, "finding")+": "+strings.Join(parts, ", ")+".")
	case notes > 0:
		list = append(list, "Nothing was found to be wrong; "+render.Counted(notes, "note")+".")
	default:
		list = append(list, "Nothing was found to be wrong.")
	}
	if w, name := r.slowestOperation(); w != nil {
		list = append(list, "Slowest of the operations with ten replies or more: "+name+", of which 99"+thin+"% took at most "+latency(w.Latency.Quantile(.99))+".")
	}
	return list
}

// total returns the row of all RPCs, nil when there are none.
func (r *renderer) total() *track.Row {
	if r.Operations == nil {
		return nil
	}
	return &r.Operations.Total
}

// severities counts the findings that are not about the capture itself.
func (r *renderer) severities() (errors, warnings, notes int64) {
	for _, f := range r.Findings.List {
		switch {
		case f.AboutCapture():
		case f.Severity == diagnose.Error:
			errors++
		case f.Severity == diagnose.Warning:
			warnings++
		default:
			notes++
		}
	}
	return errors, warnings, notes
}

// peers counts the servers, and the other nodes that sent RPCs.
func (r *renderer) peers() (clients, servers int64) {
	_, list := track.Nodes(r.Connections.List)
	for _, row := range r.Clients.List() {
		if !row.Others && !slices.Contains(list, row.Client) {
			clients++
		}
	}
	return clients, int64(len(list))
}

// targets counts the targets whose names are known.
func (r *renderer) targets() (n int64) {
	for _, row := range r.Targets.List() {
		if row.Target != "" && !row.Others {
			n++
		}
	}
	return n
}

// slowestOperation returns the row of the operation with the highest 99th percentile,
// of those with at least ten replies, and its name; nil for none.
func (r *renderer) slowestOperation() (slowest *track.Row, name string) {
	const enough = 10
	for _, row := range r.Operations.List() {
		if row.Others || row.Latency.N < enough {
			continue
		}
		if slowest == nil || row.Latency.Quantile(.99) > slowest.Latency.Quantile(.99) ||
			row.Latency.Quantile(.99) == slowest.Latency.Quantile(.99) && row.Opcode < slowest.Opcode {
			slowest = row
		}
	}
	if slowest == nil {
		return nil, ""
	}
	return slowest, operation(slowest.Opcode, slowest.HasOpcode)
}

func operation(opc uint32, ok bool) string {
	if !ok {
		return "unknown"
	}
	return string(render.AppendOpcode(nil, opc))
}

// figures appends the numbers of the summary, each with a link to the section that has more.
func (r *renderer) figures() {
	total := r.total()
	if total == nil {
		return
	}
	figure := func(section markup, isBad bool, label, value, detail string) {
		class := markup("")
		if isBad {
			class = ` class="alarm"`
		}
		r.raw("<div", class, ">", element("dt", label), `<dd><a href="#`, section, `">`, text(value), "</a>", element("small", detail), "</dd></div>\n")
	}
	quantile := func(q float64) string {
		if total.Latency.N == 0 {
			return "–"
		}
		return latency(total.Latency.Quantile(q))
	}
	errors, warnings, notes := r.severities()
	figure("findings", errors > 0, "Findings", render.Thousands(errors+warnings+notes),
		render.Counted(errors, "error")+", "+render.Counted(warnings, "warning"))
	figure("operations", false, "RPCs", render.Thousands(total.Count),
		render.Counted(sumOf(slices.Collect(maps.Values(total.Errors))), "error")+", "+render.Thousands(total.Missing[track.Unanswered])+" unanswered")
	figure("latency", false, "Median latency", quantile(.5), "p99 "+quantile(.99))
	figure("sizes", false, "Bulk data", size(total.BulkBytes), "in "+render.Counted(sumOf(total.IO[:]), "transfer"))
	var evictions int64
	for _, i := range r.Connections.List {
		evictions += int64(i.Evictions)
	}
	figure("connections", evictions > 0, "Evictions", render.Thousands(evictions),
		render.Counted(int64(len(r.Connections.List)), "connection"))
	figure("locks", false, "Lock waits", render.Thousands(r.Locks.Waiting), "of "+render.Counted(r.Locks.Count, "lock"))
	if len(r.Slowest) > 0 {
		s := &r.Slowest[0]
		figure("slowest", false, "Longest wait", latency(s.Waited), operation(s.Opcode, s.HasOpcode))
	}
}

func sumOf(counts []int64) (n int64) {
	for _, c := range counts {
		n += c
	}
	return n
}
