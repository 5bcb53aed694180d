package html

import (
	"cmp"
	"slices"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
	"github.com/lshark/lshark/render/tables"
)

// The rows that the tables of connections show at most.
const (
	maxConnections = 40
	maxEvents      = 200
	maxRecoveries  = 40
)

// connections appends the targets that were gone, the connections with their states
// over time, and their events.
func (r *renderer) connections() {
	list := r.Connections.List
	if len(list) == 0 {
		r.nothing("The capture shows no connection.")
		return
	}
	r.recoveries()
	order := slices.Clone(list)
	slices.SortStableFunc(order, func(a, b *track.Import) int { return cmp.Compare(tables.Trouble(b), tables.Trouble(a)) })
	order, omitted := first(order, maxConnections)
	r.stateLegend()
	t := table{id: "imports", caption: "Connections, those with problems first: their states from the first frame to the last",
		rest: "lshark imports", noun: "connection", omitted: omitted}
	r.fill(&t, tables.Imports.Sheet(r.options(), r.Capture.First, tables.ImportRecords(order)))
	const behindState = 3
	t.columns = slices.Insert(t.columns, behindState, column{title: "states from 0 to " + span(r.Capture.Last-r.Capture.First), class: still})
	for k, i := range order {
		t.rows[k] = slices.Insert(t.rows[k], behindState, cell{html: r.lane(i)})
	}
	r.table(&t)
	r.events()
}

// stateForm is how states are drawn. Their upper edges and heights differ so that they can be
// distinguished without colours.
type stateForm struct {
	role      schema.Role // of the state in tables, NoRole: it is not known
	class     markup
	y, height float64
	text      string
}

var stateForms = []stateForm{{schema.Good, "s-full", 3, 12, "in use (FULL)"}, {schema.Warning, "s-busy", 6, 9, "connecting or recovering"},
	{schema.Bad, "s-lost", 10, 5, "evicted or disconnected"}, {schema.Dim, "s-idle", 13, 2, "idle or closed"}, {schema.NoRole, "s-unknown", 8, 2, "not known"}}

// formOf returns the name of a state, and how it is drawn.
func formOf(s track.ImportState) (name string, form *stateForm) {
	name, role := s.String(), tables.StateRole(s)
	if s == track.StateUnknown {
		name, role = "unknown", schema.NoRole
	}
	return name, &stateForms[slices.IndexFunc(stateForms, func(f stateForm) bool { return f.role == role })]
}

// laneWidth and laneHeight are the size of the states of a connection over time.
const (
	laneWidth  = 420.0
	laneHeight = 18.0
)

func (r *renderer) stateLegend() {
	r.raw(`<p class="legend">`)
	for _, f := range stateForms {
		r.raw(`<span class="key"><svg aria-hidden="true" width="20" height="18">`,
			rect(f.class, 0, f.y, 20, f.height, ""), "</svg>", text(f.text), "</span> ")
	}
	r.raw(`<span class="key"><svg aria-hidden="true" width="12" height="18">`, marker(6, ""),
		"</svg>something went wrong</span></p>\n")
}

// lane returns the states of a connection over time.
func (r *renderer) lane(i *track.Import) markup {
	length := float64(max(1, r.Capture.Last-r.Capture.First))
	place := func(ns int64) float64 {
		return laneWidth * min(1, max(0, float64(ns-r.Capture.First)/length))
	}
	width, height := number(laneWidth), number(laneHeight)
	drawing := `<svg class="lane" role="img" aria-label="` + text(r.laneText(i)) + `" width="` + width + `" height="` + height +
		`" viewBox="0 0 ` + width + " " + height + `" preserveAspectRatio="none">`
	state, from := track.StateUnknown, r.Capture.First
	segment := func(to int64) {
		x := place(from)
		if width := place(to) - x; width > 0 {
			name, f := formOf(state)
			drawing += rect(f.class, x, f.y, max(width, 1), f.height, name+", "+r.relative(from)+" to "+r.relative(to)+thin+"s")
		}
	}
	const most = 60 // transitions that are drawn
	for k := range i.History[:min(most, len(i.History))] {
		t := &i.History[k]
		segment(t.Time)
		state, from = t.State, t.Time
	}
	segment(r.Capture.Last)
	drawn := -laneWidth
	for k := range i.Events {
		e := &i.Events[k]
		if x := place(e.Time); tables.IsProblem(e.Kind) && x-drawn >= 6 {
			drawing += marker(min(max(x, 4), laneWidth-4), tables.EventText(e, r.NIDs)+", "+r.relative(e.Time)+thin+"s")
			drawn = x
		}
	}
	return drawing + "</svg>"
}

// laneText describes the states of a connection for those who do not see them.
func (r *renderer) laneText(i *track.Import) string {
	const most = 6
	s := ""
	for k := range i.History {
		if k == most {
			return s + " and " + render.Counted(int64(len(i.History)-most), "more change")
		}
		if k > 0 {
			s += ", "
		}
		name, _ := formOf(i.History[k].State)
		s += name + " at " + r.relative(i.History[k].Time) + " s"
	}
	if s == "" {
		return "no change of state"
	}
	return s
}

// marker returns a cross.
func marker(x float64, title string) markup {
	m := markup(`<g class="marker">`)
	if title != "" {
		m += element("title", title)
	}
	return m + line("", x-3.5, 2, x+3.5, 9) + line("", x-3.5, 9, x+3.5, 2) + "</g>"
}

// events appends the events of all connections in the order of time. Where they are too
// many, ordinary ones are left out first.
func (r *renderer) events() {
	var all []*records.ImportEvent
	spare := maxEvents // places for ordinary events
	tables.NewTimelineRecords(func(x *records.ImportEvent) {
		if x.Event == nil || x.Event.Kind == track.EventPing {
			return
		}
		all = append(all, x)
		if tables.IsProblem(x.Event.Kind) {
			spare--
		}
	}).Append(nil, r.Connections.List)
	if len(all) == 0 {
		r.nothing("No connection was made, lost or closed in the capture.")
		return
	}
	count := len(all)
	all = slices.DeleteFunc(all, func(x *records.ImportEvent) bool {
		if tables.IsProblem(x.Event.Kind) {
			return false
		}
		spare--
		return spare < 0
	})
	all, _ = first(all, maxEvents)
	t := table{id: "events", caption: "Events of connections in the order of time", rest: "lshark imports --timeline", omitted: count - len(all),
		columns: []column{{title: "time", class: num, help: "seconds since the first frame"}, {title: "frame", class: num}, {title: "target"},
			{title: "client"}, {title: "event", class: list}}}
	for _, x := range all {
		event := textCell(tables.EventText(x.Event, r.NIDs))
		if tables.IsProblem(x.Event.Kind) {
			event.class = "bad"
		}
		t.rows = append(t.rows, []cell{r.timeCell(x.Event.Point), textCell(frame(x.Event.Point)),
			textCell(string(tables.AppendTarget(nil, x.Import))), textCell(string(r.NIDs.Append(nil, x.Client))), event})
	}
	r.table(&t)
}
