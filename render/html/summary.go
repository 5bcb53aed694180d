package html

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/render"
)

// figure is a number of the summary, with the section that has more.
type figure struct {
	label, value, detail string
	section              markup
	bad                  bool
}

// summary appends the title, what matters most, and the list of sections.
func (r *renderer) summary() {
	r.raw("<header><p class=\"kicker\">Lustre traffic report</p>\n")
	sources := r.sources()
	title := strings.Join(sources, ", ")
	if n := len(sources); n > 3 {
		title = strings.Join(sources[:2], ", ") + " and " + render.Counted(int64(n-2), "more file")
	}
	r.element("h1", cmp.Or(r.Title, title))
	r.raw("\n")
	if r.Capture.First != 0 {
		when := utc(r.Capture.First) + " UTC, " + span(r.Capture.Last-r.Capture.First)
		if r.Title != "" {
			when = title + ", " + when
		}
		r.element(`p class="when"`, when)
	}
	r.openings()
	r.element(`p class="lead"`, strings.Join(r.sentences(), " "))
	if r.Filter != "" {
		r.raw(`<p class="lead">Charts, statistics, sizes and the slowest RPCs are of those that match `)
		r.element("code", r.Filter)
		r.raw("; findings, files, connections and locks are of the whole capture.</p>")
	}
	r.raw("\n<dl class=\"figures\">\n")
	for _, f := range r.figures() {
		class := markup("")
		if f.bad {
			class = ` class="alarm"`
		}
		r.raw("<div", class, "><dt>")
		r.text(f.label)
		r.raw(`</dt><dd><a href="#`, f.section, `">`)
		r.text(f.value)
		r.raw("</a>")
		r.element("small", f.detail)
		r.raw("</dd></div>\n")
	}
	r.raw("</dl>\n<nav aria-label=\"Sections\"><ul>")
	for _, s := range sections {
		r.raw(`<li><a href="#`, s.id, `">`)
		r.text(s.title)
		r.raw("</a></li>")
	}
	r.raw("</ul></nav></header>\n")
}

// openings appends what an expert would say first of each cause.
func (r *renderer) openings() {
	r.raw("<div class=\"openings\">\n")
	for _, s := range diagnose.Stories(r.Findings.List) {
		if s.Opens() {
			r.raw(`<p class="opening"><a href="#`)
			r.text(findingID(s.Root))
			r.raw(`">`)
			if r.when(s.Root); s.Root.First == 0 {
				r.text(s.Root.Rule.Code)
			}
			r.raw("</a> ")
			first := diagnose.Sentences(s.Opening(), 1)
			r.element("strong", first)
			r.text(strings.TrimPrefix(s.Opening(), first))
			r.raw("</p>\n")
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

func (r *renderer) evictions() (n int64) {
	for _, i := range r.Connections.List {
		n += int64(i.Evictions)
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

func (r *renderer) figures() (list []figure) {
	total := r.total()
	if total == nil {
		return nil
	}
	errors, warnings, notes := r.severities()
	list = append(list,
		figure{label: "Findings", value: render.Thousands(errors + warnings + notes), detail: render.Counted(errors, "error") + ", " +
			render.Counted(warnings, "warning"), section: "findings", bad: errors > 0},
		figure{label: "RPCs", value: render.Thousands(total.Count), detail: render.Counted(sum(total.Errors), "error") + ", " +
			render.Thousands(total.Missing[track.Unanswered]) + " unanswered", section: "operations"},
		figure{label: "Median latency", value: orDash(total.Latency.N > 0, latency(total.Latency.Quantile(.5))), detail: "p99 " +
			orDash(total.Latency.N > 0, latency(total.Latency.Quantile(.99))), section: "latency"},
		figure{label: "Bulk data", value: size(total.BulkBytes), detail: "in " + render.Counted(sumOf(total.IO[:]), "transfer"), section: "sizes"},
		figure{label: "Evictions", value: render.Thousands(r.evictions()), detail: render.Counted(int64(len(r.Connections.List)), "connection"),
			section: "connections", bad: r.evictions() > 0},
		figure{label: "Lock waits", value: render.Thousands(r.Locks.Waiting), detail: "of " + render.Counted(r.Locks.Count, "lock"), section: "locks"})
	if len(r.Slowest) > 0 {
		s := &r.Slowest[0]
		list = append(list, figure{label: "Longest wait", value: latency(s.Waited), detail: operation(s.Opcode, s.HasOpcode), section: "slowest"})
	}
	return list
}

func orDash(ok bool, s string) string {
	if !ok {
		return "–"
	}
	return s
}

func sum(counts map[int32]int64) (n int64) {
	for _, c := range counts {
		n += c
	}
	return n
}

func sumOf(counts []int64) (n int64) {
	for _, c := range counts {
		n += c
	}
	return n
}
