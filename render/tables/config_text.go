package tables

import (
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

	full  bool // with markers, and records that are not in force
	text  []byte
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
	for _, o := range []*Omitted{&s.targets.Omitted, &s.running.Omitted, &s.registrations.Omitted} {
		if text := o.String(); text != "" && !slices.Contains(titles, text) {
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
		title := ofLog("devices", e) + ", as lctl dl lists them"
		if e.Mount != nil {
			title += " on " + string(s.opt.NIDs.Append(nil, e.Mount.Client))
		}
		s.title(dst, title)
		s.devices(dst, list)
	case config.KindTarget:
		s.title(dst, ofLog("targets", e))
		s.targets.Append(dst, targetNodes(list))
	case config.KindPool:
		s.title(dst, ofLog("pools", e))
		for _, e := range list {
			s.line(dst, schema.Label, 0, "Pool: ", e.Pool.FSName, ".", e.Pool.Name)
			for _, m := range e.Pool.Members {
				s.line(dst, schema.Node, 0, m)
			}
		}
	case config.KindParameter:
		s.title(dst, ofLog("parameters", e))
		s.parameters(dst, list)
	case config.KindNodemapState, config.KindNodemap:
		s.nodemaps(dst, list)
	case config.KindRunningTarget:
		s.title(dst, runningTitle(e))
		s.running.Append(dst, list)
	case config.KindRegistration:
		s.title(dst, "targets that registered with the MGS "+string(s.opt.NIDs.Append(nil, e.MGS)))
		s.registrations.Append(dst, list)
	case config.KindSentParameter:
		s.title(dst, "parameters that were sent to the MGS "+string(s.opt.NIDs.Append(nil, e.MGS)))
		s.sent(dst, list)
	}
}

// ofLog returns the heading of a part of the final picture.
func ofLog(part string, e *config.Entry) string {
	if e.IsPartial() {
		return part + " in the captured records of " + e.Name()
	}
	return part + " of " + e.Name()
}

func runningTitle(e *config.Entry) string {
	title := "where targets run, " + e.Name() + " (imperative recovery)"
	if e.IsPartial() {
		title += ": changes from version " + strconv.FormatUint(e.RunningTarget.From, 10) + " on"
	}
	return title
}

func (s *Configuration) title(dst *schema.Marked, text string) {
	s.line(dst, schema.Heading, 0, text)
}

// line appends a line that is wrapped where the terminal is too narrow. What follows its
// first part is indented; a comment goes on as a comment.
func (s *Configuration) line(dst *schema.Marked, st schema.Role, indent int, parts ...string) {
	s.text = schema.AppendText(s.text[:0], []byte(strings.Join(parts, "")))
	text, begin := s.text, []byte("    ")[:indent]
	if len(text) > 0 && text[0] == '#' && indent > 0 {
		begin = []byte("#   ")[:indent]
	}
	for s.opt.Width > 0 && render.Width(text) > s.opt.Width {
		cut := lastBreak(text, s.opt.Width, indent)
		if cut < 0 {
			break
		}
		dst.Add(st, string(text[:cut])).Plain("\n")
		text = slices.Concat(begin, text[cut+1:])
	}
	dst.Add(st, string(text)).Plain("\n")
}

// lastBreak returns where a text is wrapped: at the last space behind the indentation that
// leaves a line of at most so many columns, else at the first one; -1 for none.
func lastBreak(text []byte, columns, indent int) int {
	cut := -1
	for i := indent + 1; i < len(text)-1; i++ {
		if text[i] != ' ' {
			continue
		}
		if cut >= 0 && render.Width(text[:i]) > columns {
			break
		}
		cut = i
	}
	return cut
}

// log appends what is known of a log as a whole.
func (s *Configuration) log(dst *schema.Marked, e *config.Entry) {
	l := e.Log
	s.block = track.Point{}
	parts := []string{e.Name(), " on the MGS ", string(s.opt.NIDs.Append(nil, l.MGS))}
	if l.Status < 0 {
		parts = append(parts, ": ", string(records.AppendErrno(nil, l.Status)))
	} else {
		switch missing := l.Missing; {
		case l.IsEmpty():
			parts = append(parts, ": empty")
		case l.Last == 0:
			parts = append(parts, ": opened, no record was captured")
		case len(missing) > 0:
			parts = append(parts, ": records ", rangesText(missing), " of ", strconv.Itoa(int(l.Last)), " were not captured")
		case e.IsPartial():
			parts = append(parts, ": ", strconv.Itoa(int(l.Last)), " records or more")
		default:
			parts = append(parts, ": ", strconv.Itoa(int(l.Last)), " records")
		}
		if l.Created != 0 {
			parts = append(parts, ", made ", time.Unix(l.Created, 0).UTC().Format(time.DateTime))
		}
	}
	parts = append(parts, ", asked for by ", s.readers(l))
	if l.Replaced {
		parts = append(parts, "; the MGS made another log of that name later")
	}
	s.line(dst, schema.Heading, 2, parts...)
}

// maxListed is the number of items that a line lists.
const maxListed = 4

func (s *Configuration) readers(l *config.Log) string {
	var list []string
	for i, nid := range l.Readers {
		if i == maxListed {
			list = append(list, strconv.Itoa(len(l.Readers)-i)+" more")
			break
		}
		list = append(list, string(s.opt.NIDs.Append(nil, nid)))
	}
	return strings.Join(list, ", ")
}

// rangesText returns ranges of records, such as 1-49,52.
func rangesText(ranges []config.Range) string {
	var list []string
	for i, r := range ranges {
		if i == maxListed {
			list = append(list, "…")
			break
		}
		text := strconv.Itoa(int(r.First))
		if r.Last > r.First {
			text += "-" + strconv.Itoa(int(r.Last))
		}
		list = append(list, text)
	}
	return strings.Join(list, ",")
}

// step appends a record of a log. What readers of the log do not obey is a comment, in
// the terms of YAML.
func (s *Configuration) step(dst *schema.Marked, e *config.Entry) {
	step := e.Step
	text := string(step.AppendText(nil, step.Index))
	if !s.full {
		if step.State != config.InForce || step.Marker != nil {
			return
		}
		s.line(dst, schema.NoRole, 4, text)
		return
	}
	if s.block != step.At && len(step.Earlier) == 0 {
		s.block = step.At
		s.line(dst, schema.Dim, 2, "# frame ", string(render.AppendFrame(nil, step.At.File, step.At.Frame)), " at ",
			string(s.time(nil, step.At)))
	}
	switch {
	case step.State == config.Unproven:
		s.line(dst, schema.Warning, 4, "# unproven: ", strings.TrimPrefix(text, "# "))
	case step.State == config.Cancelled:
		s.line(dst, schema.Dim, 4, "# cancelled: ", strings.TrimPrefix(text, "# "))
	case step.Marker != nil && step.State == config.InForce:
		s.line(dst, schema.Label, 4, text)
	case step.Marker != nil:
		s.line(dst, schema.Dim, 4, text)
	case step.State == config.Skipped:
		s.line(dst, schema.Dim, 4, "# skipped: ", text)
	default:
		s.line(dst, schema.NoRole, 4, text)
	}
	for i, next := len(step.Earlier)-1, step.At; i >= 0; i-- {
		v := &step.Earlier[i]
		s.line(dst, schema.Dim, 4, "#   changed in frame ", string(render.AppendFrame(nil, next.File, next.Frame)), ", before: ",
			strings.TrimPrefix(string(v.AppendText(nil, step.Index)), "# "))
		next = v.At
	}
}

// devices appends devices as `lctl dl -t` lists them, but without the number of users.
func (s *Configuration) devices(dst *schema.Marked, list []*config.Entry) {
	for i, e := range list {
		number := strconv.Itoa(i)
		parts := []string{strings.Repeat(" ", max(0, 3-len(number))), number}
		for _, text := range []string{e.Device.Status.String(), e.Device.Type, e.Device.Name, e.DeviceUUID()} {
			if text == "" {
				text = "-"
			}
			parts = append(parts, " ", text)
		}
		if nodes := e.Device.Nodes; e.Device.Type != "mgc" && len(nodes) > 0 && len(nodes[0].NIDs) > 0 {
			parts = append(parts, " ", nodes[0].NIDs[0])
		}
		st := schema.NoRole
		if e.Device.Status != config.Up {
			st = schema.Warning
		}
		s.line(dst, st, 4, parts...)
	}
}

const configTables = "tables of config"

type targetNode struct {
	*config.Entry
	node  config.Node
	state string
}

var targetsKind = Kind[targetNode]{name: configTables, of: records.Configuration.Entries, columns: []column[targetNode]{
	{title: "target", left: true, whole: true, role: schema.Node, append: func(_ *printer, b []byte,
		t targetNode) []byte {
		return appendText(b, t.Target.Name())
	}},
	{title: "index", key: "target_index", role: schema.Number, append: func(_ *printer, b []byte,
		t targetNode) []byte {
		return appendText(b, t.Target.Number)
	}},
	{title: "state", key: "inactive", doc: "active, inactive (a parameter or the record that adds the target deactivates it), " +
		"or failover: another node that serves the target", left: true, role: schema.Flag,
		append: func(_ *printer, b []byte, t targetNode) []byte { return append(b, t.state...) }},
	{title: "node", key: "nodes.node", left: true, rank: useful, role: schema.Dim,
		append: func(_ *printer, b []byte, t targetNode) []byte { return appendText(b, t.node.Name) }},
	{title: "NIDs", key: "nids", doc: "NIDs of the node", left: true, role: schema.Node,
		append: func(_ *printer, b []byte, t targetNode) []byte { return appendText(b, strings.Join(t.node.NIDs, " ")) }},
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

// parameters appends parameters as `lctl get_param` shows them, with the device that
// they are for unless the name has it.
func (s *Configuration) parameters(dst *schema.Marked, list []*config.Entry) {
	for _, e := range list {
		p := e.Parameter
		parts := []string{p.Name, "=", p.Value}
		if p.Device != "" && p.Device != "general" {
			parts = append([]string{p.Device, " "}, parts...)
		}
		s.line(dst, schema.NoRole, 4, parts...)
	}
}

// nodemaps appends nodemaps as `lctl get_param nodemap.*` shows them.
func (s *Configuration) nodemaps(dst *schema.Marked, list []*config.Entry) {
	for i, e := range list {
		if e.Kind == config.KindNodemapState {
			active := "0"
			if *e.Active {
				active = "1"
			}
			s.title(dst, "nodemaps of the MGS "+string(s.opt.NIDs.Append(nil, e.MGS)))
			s.line(dst, schema.NoRole, 4, "nodemap.active=", active)
			continue
		}
		n := e.Nodemap
		if i > 0 {
			dst.Plain("\n")
		}
		name := n.Name
		if name == "" {
			name = strconv.FormatUint(uint64(n.ID), 10)
		}
		title := "nodemap " + name
		if !n.Complete {
			title += ", as far as it was captured"
		}
		s.title(dst, title)
		put := func(parts ...string) {
			s.line(dst, schema.NoRole, 4, append([]string{"nodemap.", name, "."}, parts...)...)
		}
		put("id=", strconv.FormatUint(uint64(n.ID), 10))
		for _, p := range n.Properties {
			put(p.Name, "=", p.Value)
		}
		for _, f := range n.Filesets {
			mode := ""
			if f.ReadOnly {
				mode = " (read-only)"
			}
			put("fileset=", f.Path, mode)
		}
		if len(n.IDMaps) > 0 {
			put("idmap=")
			for _, m := range n.IDMaps {
				s.line(dst, schema.NoRole, 4, " { idtype: ", m.Type, ", client_id: ", strconv.FormatUint(uint64(m.Client), 10), ", fs_id: ",
					strconv.FormatUint(uint64(m.File), 10), " }")
			}
		}
		if len(n.Ranges) > 0 {
			put("ranges=")
			for _, r := range n.Ranges {
				parts := []string{" { id: ", strconv.FormatUint(uint64(r.ID), 10), ", start_nid: ", r.Start}
				if r.End != "" {
					parts = append(parts, ", end_nid: ", r.End)
				}
				s.line(dst, schema.NoRole, 4, append(parts, " }")...)
			}
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
		append: func(p *printer, b []byte, e *config.Entry) []byte { return p.time(b, e.RunningTarget.At) }},
	{title: "frame", rank: extra, role: schema.Dim, append: func(p *printer, b []byte,
		e *config.Entry) []byte {
		return p.frame(b, e.RunningTarget.At)
	}},
}}

var registrationsKind = Kind[*config.Entry]{name: configTables, keys: &records.Configuration, columns: []column[*config.Entry]{
	{title: "target", left: true, whole: true, role: schema.Node},
	{title: "result", key: "error", doc: "ok, or the error with which the MGS refused the request", left: true, mark: resultRole,
		append: func(_ *printer, b []byte, e *config.Entry) []byte {
			return append(b, resultText(e.Registration.Answered, e.Registration.Status)...)
		}},
	{title: "NIDs", key: "nids", left: true, role: schema.Node},
	{title: "release", left: true, rank: useful, role: schema.Dim},
	{title: "parameters", left: true, rank: useful, optional: true, role: schema.Label,
		append: func(_ *printer, b []byte, e *config.Entry) []byte { return appendText(b, e.Registration.Parameters) }},
	{title: "flags", left: true, rank: extra, blank: true, role: schema.Flag, append: func(_ *printer, b []byte, e *config.Entry) []byte {
		var names []string
		opcodes.MtiFlags.Set(e.Registration.Flags, func(v *schema.Value) { names = append(names, v.Name) })
		return append(b, strings.Join(names, "|")...)
	}},
	{title: "sent", key: "time", doc: "when the last request was sent", rank: extra, role: schema.Dim,
		append: func(p *printer, b []byte, e *config.Entry) []byte { return p.time(b, e.Registration.Sent) }},
	{title: "frame", rank: extra, role: schema.Dim, append: func(p *printer, b []byte,
		e *config.Entry) []byte {
		return p.frame(b, e.Registration.Sent)
	}},
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

// sent appends parameters that nodes asked the MGS to set.
func (s *Configuration) sent(dst *schema.Marked, list []*config.Entry) {
	for _, e := range list {
		p := e.SentParameter
		s.line(dst, schema.NoRole, 4, p.Parameter, " (", resultText(p.Answered, p.Status), ", from ",
			string(s.opt.NIDs.Append(nil, p.Client)), ")")
	}
}
