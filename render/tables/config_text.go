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
func (s *Configuration) Append(dst []byte, list []*config.Entry) []byte {
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].Kind == list[0].Kind && list[n].Log == list[0].Log && list[n].MGS == list[0].MGS &&
			list[n].Name() == list[0].Name() {
			n++
		}
		dst = s.group(dst, list[:n])
		list = list[n:]
	}
	return dst
}

func (s *Configuration) group(dst []byte, list []*config.Entry) []byte {
	e := list[0]
	if e.Kind != config.KindStep && len(dst) > 0 {
		dst = append(dst, '\n')
	}
	switch e.Kind {
	case config.KindLog:
		for _, e := range list {
			dst = s.log(dst, e)
		}
	case config.KindStep:
		for _, e := range list {
			dst = s.step(dst, e)
		}
	case config.KindDevice:
		title := ofLog("devices", e) + ", as lctl dl lists them"
		if e.Mount != nil {
			title += " on " + string(s.opt.NIDs.Append(nil, e.Mount.Client))
		}
		dst = s.devices(s.title(dst, title), list)
	case config.KindTarget:
		dst = s.targets.Append(s.title(dst, ofLog("targets", e)), targetNodes(list))
	case config.KindPool:
		dst = s.title(dst, ofLog("pools", e))
		for _, e := range list {
			dst = s.line(dst, &s.opt.Colors.Key, 0, "Pool: ", e.Pool.FSName, ".", e.Pool.Name)
			for _, m := range e.Pool.Members {
				dst = s.line(dst, &s.opt.Colors.NID, 0, m)
			}
		}
	case config.KindParameter:
		dst = s.parameters(s.title(dst, ofLog("parameters", e)), list)
	case config.KindNodemapState, config.KindNodemap:
		dst = s.nodemaps(dst, list)
	case config.KindRunningTarget:
		dst = s.running.Append(s.title(dst, runningTitle(e)), list)
	case config.KindRegistration:
		dst = s.registrations.Append(s.title(dst, "targets that registered with the MGS "+string(s.opt.NIDs.Append(nil, e.MGS))), list)
	case config.KindSentParameter:
		dst = s.sent(s.title(dst, "parameters that were sent to the MGS "+string(s.opt.NIDs.Append(nil, e.MGS))), list)
	}
	return dst
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

func (s *Configuration) title(dst []byte, text string) []byte {
	return s.line(dst, &s.opt.Colors.Head, 0, text)
}

// line appends a line that is wrapped where the terminal is too narrow. What follows its
// first part is indented; a comment goes on as a comment.
func (s *Configuration) line(dst []byte, st *render.Style, indent int, parts ...string) []byte {
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
		dst = append(st.Append(dst, string(text[:cut])), '\n')
		text = slices.Concat(begin, text[cut+1:])
	}
	return append(st.Append(dst, string(text)), '\n')
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
func (s *Configuration) log(dst []byte, e *config.Entry) []byte {
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
	return s.line(dst, &s.opt.Colors.Head, 2, parts...)
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
func (s *Configuration) step(dst []byte, e *config.Entry) []byte {
	c, step := s.opt.Colors, e.Step
	text := string(step.AppendText(nil, step.Index))
	if !s.full {
		if step.State != config.InForce || step.Marker != nil {
			return dst
		}
		return s.line(dst, &render.Style{}, 4, text)
	}
	if s.block != step.At && len(step.Earlier) == 0 {
		s.block = step.At
		dst = s.line(dst, &c.Dim, 2, "# frame ", string(render.AppendFrame(nil, step.At.File, step.At.Frame)), " at ",
			string(s.time(nil, step.At)))
	}
	switch {
	case step.State == config.Unproven:
		dst = s.line(dst, &c.Warn, 4, "# unproven: ", strings.TrimPrefix(text, "# "))
	case step.State == config.Cancelled:
		dst = s.line(dst, &c.Dim, 4, "# cancelled: ", strings.TrimPrefix(text, "# "))
	case step.Marker != nil && step.State == config.InForce:
		dst = s.line(dst, &c.Key, 4, text)
	case step.Marker != nil:
		dst = s.line(dst, &c.Dim, 4, text)
	case step.State == config.Skipped:
		dst = s.line(dst, &c.Dim, 4, "# skipped: ", text)
	default:
		dst = s.line(dst, &render.Style{}, 4, text)
	}
	for i, next := len(step.Earlier)-1, step.At; i >= 0; i-- {
		v := &step.Earlier[i]
		dst = s.line(dst, &c.Dim, 4, "#   changed in frame ", string(render.AppendFrame(nil, next.File, next.Frame)), ", before: ",
			strings.TrimPrefix(string(v.AppendText(nil, step.Index)), "# "))
		next = v.At
	}
	return dst
}

// devices appends devices as `lctl dl -t` lists them, but without the number of users.
func (s *Configuration) devices(dst []byte, list []*config.Entry) []byte {
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
		st := &render.Style{}
		if e.Device.Status != config.Up {
			st = &s.opt.Colors.Warn
		}
		dst = s.line(dst, st, 4, parts...)
	}
	return dst
}

const configTables = "tables of config"

type targetNode struct {
	*config.Entry
	node  config.Node
	state string
}

var targetsKind = Kind[targetNode]{name: configTables, of: records.Configuration.Entries, columns: []column[targetNode]{
	{title: "target", left: true, whole: true, style: node, append: func(_ *printer, b []byte,
		t targetNode) []byte {
		return appendText(b, t.Target.Name())
	}},
	{title: "index", key: "target_index", style: num, append: func(_ *printer, b []byte,
		t targetNode) []byte {
		return appendText(b, t.Target.Number)
	}},
	{title: "state", key: "inactive", doc: "active, inactive (a parameter or the record that adds the target deactivates it), " +
		"or failover: another node that serves the target", left: true, style: flagged,
		append: func(_ *printer, b []byte, t targetNode) []byte { return append(b, t.state...) }},
	{title: "node", key: "nodes.node", left: true, rank: useful, style: dim,
		append: func(_ *printer, b []byte, t targetNode) []byte { return appendText(b, t.node.Name) }},
	{title: "NIDs", key: "nids", doc: "NIDs of the node", left: true, style: node,
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
func (s *Configuration) parameters(dst []byte, list []*config.Entry) []byte {
	for _, e := range list {
		p := e.Parameter
		parts := []string{p.Name, "=", p.Value}
		if p.Device != "" && p.Device != "general" {
			parts = append([]string{p.Device, " "}, parts...)
		}
		dst = s.line(dst, &render.Style{}, 4, parts...)
	}
	return dst
}

// nodemaps appends nodemaps as `lctl get_param nodemap.*` shows them.
func (s *Configuration) nodemaps(dst []byte, list []*config.Entry) []byte {
	for i, e := range list {
		if e.Kind == config.KindNodemapState {
			active := "0"
			if *e.Active {
				active = "1"
			}
			dst = s.line(s.title(dst, "nodemaps of the MGS "+string(s.opt.NIDs.Append(nil, e.MGS))), &render.Style{}, 4, "nodemap.active=", active)
			continue
		}
		n := e.Nodemap
		if i > 0 {
			dst = append(dst, '\n')
		}
		name := n.Name
		if name == "" {
			name = strconv.FormatUint(uint64(n.ID), 10)
		}
		title := "nodemap " + name
		if !n.Complete {
			title += ", as far as it was captured"
		}
		dst = s.title(dst, title)
		put := func(parts ...string) {
			dst = s.line(dst, &render.Style{}, 4, append([]string{"nodemap.", name, "."}, parts...)...)
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
				dst = s.line(dst, &render.Style{}, 4, " { idtype: ", m.Type, ", client_id: ", strconv.FormatUint(uint64(m.Client), 10), ", fs_id: ",
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
				dst = s.line(dst, &render.Style{}, 4, append(parts, " }")...)
			}
		}
	}
	return dst
}

var runningKind = Kind[*config.Entry]{name: configTables, keys: &records.Configuration, columns: []column[*config.Entry]{
	{title: "target", left: true, whole: true, style: node},
	{title: "instance", style: num},
	{title: "version", style: dim},
	{title: "NIDs", key: "nids", left: true, style: node},
	{title: "earlier", key: "restarts.instance", doc: "earlier starts of the target that the table had", left: true, rank: useful,
		optional: true, style: dim},
	{title: "seen", key: "time", doc: "when the entry was first seen", rank: extra, style: dim,
		append: func(p *printer, b []byte, e *config.Entry) []byte { return p.time(b, e.RunningTarget.At) }},
	{title: "frame", rank: extra, style: dim, append: func(p *printer, b []byte,
		e *config.Entry) []byte {
		return p.frame(b, e.RunningTarget.At)
	}},
}}

var registrationsKind = Kind[*config.Entry]{name: configTables, keys: &records.Configuration, columns: []column[*config.Entry]{
	{title: "target", left: true, whole: true, style: node},
	{title: "result", key: "error", doc: "ok, or the error with which the MGS refused the request", left: true, mark: resultStyle,
		append: func(_ *printer, b []byte, e *config.Entry) []byte {
			return append(b, resultText(e.Registration.Answered, e.Registration.Status)...)
		}},
	{title: "NIDs", key: "nids", left: true, style: node},
	{title: "release", left: true, rank: useful, style: dim},
	{title: "parameters", left: true, rank: useful, optional: true, style: key,
		append: func(_ *printer, b []byte, e *config.Entry) []byte { return appendText(b, e.Registration.Parameters) }},
	{title: "flags", left: true, rank: extra, blank: true, style: flagged, append: func(_ *printer, b []byte, e *config.Entry) []byte {
		var names []string
		opcodes.MtiFlags.Set(e.Registration.Flags, func(v *schema.Value) { names = append(names, v.Name) })
		return append(b, strings.Join(names, "|")...)
	}},
	{title: "sent", key: "time", doc: "when the last request was sent", rank: extra, style: dim,
		append: func(p *printer, b []byte, e *config.Entry) []byte { return p.time(b, e.Registration.Sent) }},
	{title: "frame", rank: extra, style: dim, append: func(p *printer, b []byte,
		e *config.Entry) []byte {
		return p.frame(b, e.Registration.Sent)
	}},
}}

func resultStyle(c *render.Colors, e *config.Entry) *render.Style {
	if resultText(e.Registration.Answered, e.Registration.Status) == "ok" {
		return &c.Good
	}
	return &c.Bad
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
func (s *Configuration) sent(dst []byte, list []*config.Entry) []byte {
	for _, e := range list {
		p := e.SentParameter
		dst = s.line(dst, &render.Style{}, 4, p.Parameter, " (", resultText(p.Answered, p.Status), ", from ",
			string(s.opt.NIDs.Append(nil, p.Client)), ")")
	}
	return dst
}
