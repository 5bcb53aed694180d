package tables

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/config"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// Configuration renders the configuration of file systems as text: logs with their
// records as `lctl llog_print` shows them, then what they make as `lctl dl`, `lctl
// pool_list` and `lctl get_param` do.
type Configuration struct {
	*printer
	targets       *Table[targetNode]
	running       *Table[*config.Entry]
	registrations *Table[*config.Entry]

	full  bool        // with markers, and records that are not in force
	block track.Point // in which the last record was seen
}

// NewConfiguration makes a renderer. first is the time of the capture's first frame;
// full shows all records, not only those that are in force.
func NewConfiguration(o render.SummaryOptions, first int64, full bool) *Configuration {
	p := &printer{opt: o, at: render.Moment{First: first}}
	return &Configuration{printer: p, full: full, targets: targetsKind.newOf(p), running: runningKind.newOf(p),
		registrations: registrationsKind.newOf(p)}
}

// Omitted lists the columns for which the terminal has no room.
func (s *Configuration) Omitted() string {
	var titles []string
	for _, text := range []string{s.targets.Omitted(), s.running.Omitted(), s.registrations.Omitted()} {
		if text != "" && !slices.Contains(titles, text) {
			titles = append(titles, text)
		}
	}
	return strings.Join(titles, " ")
}

// Append appends entries in their order.
func (s *Configuration) Append(dst *schema.Marked, list []*config.Entry) {
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].Kind == list[0].Kind && list[n].Log == list[0].Log && list[n].MGS == list[0].MGS &&
			list[n].Name() == list[0].Name() {
			n++
		}
		s.group(dst, list[:n])
		list = list[n:]
	}
}

func (s *Configuration) group(dst *schema.Marked, list []*config.Entry) {
	e := list[0]
	if e.Kind != config.KindStep && len(dst.Text) > 0 {
		dst.Plain("\n")
	}
	of := " of " + e.Name()
	if e.IsPartial() {
		of = " in the captured records of " + e.Name()
	}
	switch e.Kind {
	case config.KindLog:
		for _, e := range list {
			s.log(dst, e)
		}
	case config.KindStep:
		for _, e := range list {
			s.step(dst, e)
		}
	case config.KindDevice:
		title := "devices" + of + ", as lctl dl lists them"
		if e.Mount != nil {
			title += " on " + s.nid(e.Mount.Client)
		}
		s.title(dst, title)
		s.devices(dst, list)
	case config.KindTarget:
		s.title(dst, "targets"+of)
		s.targets.Append(dst, targetNodes(list))
	case config.KindPool:
		s.title(dst, "pools"+of)
		for _, e := range list {
			s.line(dst, schema.Label, 0, "Pool: "+e.Pool.FSName+"."+e.Pool.Name)
			for _, m := range e.Pool.Members {
				s.line(dst, schema.Node, 0, m)
			}
		}
	case config.KindParameter: // as `lctl get_param` shows them, with the device that they are for unless the name has it
		s.title(dst, "parameters"+of)
		for _, e := range list {
			p := e.Parameter
			text := p.Name + "=" + p.Value
			if p.Device != "" && p.Device != "general" {
				text = p.Device + " " + text
			}
			s.line(dst, schema.NoRole, 4, text)
		}
	case config.KindNodemapState, config.KindNodemap:
		s.nodemaps(dst, list)
	case config.KindRunningTarget:
		title := "where targets run, " + e.Name() + " (imperative recovery)"
		if e.IsPartial() {
			title += fmt.Sprintf(": changes from version %d on", e.RunningTarget.From)
		}
		s.title(dst, title)
		s.running.Append(dst, list)
	case config.KindRegistration:
		s.title(dst, "targets that registered with the MGS "+s.nid(e.MGS))
		s.registrations.Append(dst, list)
	case config.KindSentParameter:
		s.title(dst, "parameters that were sent to the MGS "+s.nid(e.MGS))
		for _, e := range list {
			p := e.SentParameter
			s.line(dst, schema.NoRole, 4, p.Parameter+" ("+resultText(p.Answered, p.Status)+", from "+s.nid(p.Client)+")")
		}
	}
}

func (s *Configuration) title(dst *schema.Marked, text string) { s.line(dst, schema.Heading, 0, text) }

// line appends a line that is wrapped where the terminal is too narrow. What follows its
// first part is indented; a comment goes on as a comment.
func (s *Configuration) line(dst *schema.Marked, st schema.Role, indent int, line string) {
	var text schema.Marked
	text.Text = schema.AppendText(nil, []byte(line))
	render.Wrap(&text, 0, indent, s.opt.Width)
	for i, l := range text.Lines() {
		if i > 0 && indent > 0 && line[0] == '#' {
			l.Text[0] = '#'
		}
		dst.AddBytes(st, l.Text).Plain("\n")
	}
}

// log appends what is known of a log as a whole.
func (s *Configuration) log(dst *schema.Marked, e *config.Entry) {
	l := e.Log
	s.block = track.Point{}
	text := e.Name() + " on the MGS " + s.nid(l.MGS)
	switch {
	case l.Status < 0:
		text += ": " + string(records.AppendErrno(nil, l.Status))
	case l.IsEmpty():
		text += ": empty"
	case l.Last == 0:
		text += ": opened, no record was captured"
	case len(l.Missing) > 0:
		var ranges []string
		for _, r := range l.Missing {
			part := strconv.Itoa(int(r.First))
			if r.Last > r.First {
				part += "-" + strconv.Itoa(int(r.Last))
			}
			ranges = append(ranges, part)
		}
		if len(ranges) > maxListed {
			ranges = append(ranges[:maxListed], "…")
		}
		text += fmt.Sprintf(": records %s of %d were not captured", strings.Join(ranges, ","), l.Last)
	case e.IsPartial():
		text += fmt.Sprintf(": %d records or more", l.Last)
	default:
		text += fmt.Sprintf(": %d records", l.Last)
	}
	if l.Status >= 0 && l.Created != 0 {
		text += ", made " + time.Unix(l.Created, 0).UTC().Format(time.DateTime)
	}
	var readers []string
	for _, n := range l.Readers {
		readers = append(readers, s.nid(n))
	}
	if more := len(readers) - maxListed; more > 0 {
		readers = append(readers[:maxListed], fmt.Sprint(more, " more"))
	}
	text += ", asked for by " + strings.Join(readers, ", ")
	if l.Replaced {
		text += "; the MGS made another log of that name later"
	}
	s.line(dst, schema.Heading, 2, text)
}

// maxListed is the number of items that a line lists.
const maxListed = 4

// step appends a record of a log. What readers of the log do not obey is a comment, in
// the terms of YAML.
func (s *Configuration) step(dst *schema.Marked, e *config.Entry) {
	step := e.Step
	text := string(step.AppendText(nil, step.Index))
	if !s.full {
		if step.State == config.InForce && step.Marker == nil {
			s.line(dst, schema.NoRole, 4, text)
		}
		return
	}
	if s.block != step.At && len(step.Earlier) == 0 {
		s.block = step.At
		s.line(dst, schema.Dim, 2, "# frame "+frameText(step.At)+" at "+s.time(step.At))
	}
	role, state := schema.NoRole, ""
	switch {
	case step.State == config.Unproven:
		role, state = schema.Warning, "# unproven: "
	case step.State == config.Cancelled:
		role, state = schema.Dim, "# cancelled: "
	case step.Marker != nil && step.State == config.InForce:
		role = schema.Label
	case step.Marker != nil:
		role = schema.Dim
	case step.State == config.Skipped:
		role, state = schema.Dim, "# skipped: "
	}
	if state != "" {
		text = state + strings.TrimPrefix(text, "# ")
	}
	s.line(dst, role, 4, text)
	next := step.At
	for _, v := range slices.Backward(step.Earlier) {
		s.line(dst, schema.Dim, 4, "#   changed in frame "+frameText(next)+", before: "+
			strings.TrimPrefix(string(v.AppendText(nil, step.Index)), "# "))
		next = v.At
	}
}

// devices appends devices as `lctl dl -t` lists them, but without the number of users.
func (s *Configuration) devices(dst *schema.Marked, list []*config.Entry) {
	for i, e := range list {
		d := e.Device
		text := fmt.Sprintf("%3d %v %s %s %s", i, d.Status, cmp.Or(d.Type, "-"), cmp.Or(d.Name, "-"), cmp.Or(e.DeviceUUID(), "-"))
		if d.Type != "mgc" && len(d.Nodes) > 0 && len(d.Nodes[0].NIDs) > 0 {
			text += " " + d.Nodes[0].NIDs[0]
		}
		st := schema.NoRole
		if d.Status != config.Up {
			st = schema.Warning
		}
		s.line(dst, st, 4, text)
	}
}

const configTables = "tables of config"

type targetNode struct {
	*config.Entry
	node  config.Node
	state string
}

var targetsKind = Kind[targetNode]{name: configTables, of: records.Configuration.Entries, columns: []column[targetNode]{
	{title: "target", left: true, whole: true, role: schema.Node,
		show: func(_ *printer, t targetNode) string { return t.Target.Name() }},
	{title: "index", key: "target_index", role: schema.Number,
		show: func(_ *printer, t targetNode) string { return t.Target.Number }},
	{title: "state", key: "inactive", doc: "active, inactive (a parameter or the record that adds the target deactivates it), " +
		"or failover: another node that serves the target", left: true, role: schema.Flag,
		show: func(_ *printer, t targetNode) string { return t.state }},
	{title: "node", key: "nodes.node", left: true, rank: useful, role: schema.Dim,
		show: func(_ *printer, t targetNode) string { return t.node.Name }},
	{title: "NIDs", key: "nids", doc: "NIDs of the node", left: true, role: schema.Node,
		show: func(_ *printer, t targetNode) string { return strings.Join(t.node.NIDs, " ") }},
}}

func targetNodes(list []*config.Entry) (rows []targetNode) {
	for _, e := range list {
		nodes := []config.Node{{}}
		if e.Target.Device != nil && len(e.Target.Device.Nodes) > 0 {
			nodes = e.Target.Device.Nodes
		}
		state := "inactive"
		if e.Target.Active {
			state = "active"
		}
		for _, n := range nodes {
			rows = append(rows, targetNode{e, n, state})
			state = "failover"
		}
	}
	return rows
}

// nodemaps appends nodemaps as `lctl get_param nodemap.*` shows them.
func (s *Configuration) nodemaps(dst *schema.Marked, list []*config.Entry) {
	put := func(format string, args ...any) { s.line(dst, schema.NoRole, 4, fmt.Sprintf(format, args...)) }
	for i, e := range list {
		if e.Kind == config.KindNodemapState {
			s.title(dst, "nodemaps of the MGS "+s.nid(e.MGS))
			active := 0
			if *e.Active {
				active = 1
			}
			put("nodemap.active=%d", active)
			continue
		}
		n := e.Nodemap
		if i > 0 {
			dst.Plain("\n")
		}
		name := cmp.Or(n.Name, fmt.Sprint(n.ID))
		title := "nodemap " + name
		if !n.Complete {
			title += ", as far as it was captured"
		}
		s.title(dst, title)
		put("nodemap.%s.id=%d", name, n.ID)
		for _, p := range n.Properties {
			put("nodemap.%s.%s=%s", name, p.Name, p.Value)
		}
		for _, f := range n.Filesets {
			mode := ""
			if f.ReadOnly {
				mode = " (read-only)"
			}
			put("nodemap.%s.fileset=%s%s", name, f.Path, mode)
		}
		if len(n.IDMaps) > 0 {
			put("nodemap.%s.idmap=", name)
		}
		for _, m := range n.IDMaps {
			put(" { idtype: %s, client_id: %d, fs_id: %d }", m.Type, m.Client, m.File)
		}
		if len(n.Ranges) > 0 {
			put("nodemap.%s.ranges=", name)
		}
		for _, r := range n.Ranges {
			put(" { id: %d, start_nid: %s%s }", r.ID, r.Start, before(", end_nid: ", r.End))
		}
	}
}

var runningKind = Kind[*config.Entry]{name: configTables, keys: &records.Configuration, columns: []column[*config.Entry]{
	{title: "target", left: true, whole: true, role: schema.Node},
	{title: "instance", role: schema.Number},
	{title: "version", role: schema.Dim},
	{title: "NIDs", key: "nids", left: true, role: schema.Node},
	{title: "earlier", key: "restarts.instance", doc: "earlier starts of the target that the table had", left: true, rank: useful,
		optional: true, role: schema.Dim},
	{title: "seen", key: "time", doc: "when the entry was first seen", rank: extra, role: schema.Dim,
		show: func(p *printer, e *config.Entry) string { return p.time(e.RunningTarget.At) }},
	{title: "frame", rank: extra, role: schema.Dim,
		show: func(_ *printer, e *config.Entry) string { return frame(e.RunningTarget.At) }},
}}

var registrationsKind = Kind[*config.Entry]{name: configTables, keys: &records.Configuration, columns: []column[*config.Entry]{
	{title: "target", left: true, whole: true, role: schema.Node},
	{title: "result", key: "error", doc: "ok, or the error with which the MGS refused the request", left: true, mark: resultRole,
		show: func(_ *printer, e *config.Entry) string {
			return resultText(e.Registration.Answered, e.Registration.Status)
		}},
	{title: "NIDs", key: "nids", left: true, role: schema.Node},
	{title: "release", left: true, rank: useful, role: schema.Dim},
	{title: "parameters", left: true, rank: useful, optional: true, role: schema.Label,
		show: func(_ *printer, e *config.Entry) string { return e.Registration.Parameters }},
	{title: "flags", left: true, rank: extra, blank: true, role: schema.Flag, show: func(_ *printer, e *config.Entry) string {
		var names []string
		opcodes.MtiFlags.Set(e.Registration.Flags, func(v *schema.Value) { names = append(names, v.Name) })
		return strings.Join(names, "|")
	}},
	{title: "sent", key: "time", doc: "when the last request was sent", rank: extra, role: schema.Dim,
		show: func(p *printer, e *config.Entry) string { return p.time(e.Registration.Sent) }},
	{title: "frame", rank: extra, role: schema.Dim,
		show: func(_ *printer, e *config.Entry) string { return frame(e.Registration.Sent) }},
}}

func resultRole(e *config.Entry) schema.Role {
	if resultText(e.Registration.Answered, e.Registration.Status) == "ok" {
		return schema.Good
	}
	return schema.Bad
}

func resultText(answered track.Point, status int32) string {
	switch {
	case answered.IsZero():
		return "no reply"
	case status < 0:
		return string(records.AppendErrno(nil, status))
	}
	return "ok"
}
