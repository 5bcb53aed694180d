package tui

import (
	"encoding/base64"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/internal/tui/model"
	"github.com/lshark/lshark/internal/tui/store"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/filter"
)

// about returns what the messages are about of the row that is shown, without those that were dropped.
func (s *Screen) about() *model.Subject {
	rows, about := s.opt.Capture.Rows.NewReader(), &model.Subject{}
	for _, id := range s.details.list {
		if m, err := rows.Read(store.Messages, id); err == nil {
			about.Add(m.Message)
		}
	}
	about.Handles.List = about.Handles.List[:min(len(about.Handles.List), maxSubjects)]
	about.FIDs.List = about.FIDs.List[:min(len(about.FIDs.List), maxSubjects)]
	return about
}

// maxSubjects is the number of handles and of FIDs that menus have.
const maxSubjects = 32

// subject is what a row is about: the kind of it, its text, and the filter for rows about it, empty for none.
type subject struct{ what, text, filter string }

// subjects returns what the row that is shown is about: xid, FIDs, handles of locks, nodes.
func (s *Screen) subjects() (list []subject) {
	if xid := xidOf(s.details.row); xid != 0 {
		list = append(list, subject{"xid", fmt.Sprint(xid), fmt.Sprintf("xid == %d", xid)})
	}
	about := s.about()
	for _, fid := range about.FIDs.List {
		text := string(schema.AppendFID(nil, fid.Seq, fid.OID, fid.Ver))
		list = append(list, subject{"FID", text, "fid == " + text})
	}
	for _, h := range about.Handles.List {
		list = append(list, subject{"handle", fmt.Sprintf("%#x", h), fmt.Sprintf("lock_handle == %#x", h)})
	}
	for _, nid := range about.Nodes.List {
		x := subject{"NID", nid.String(), ""}
		if s.details.row.RPC == nil {
			x.filter = fmt.Sprintf("lnet.src_nid == %v or lnet.dest_nid == %v", nid, nid)
		}
		if nid.Len > 0 {
			list = append(list, x)
		}
	}
	return list
}

// follow shows a menu of filters for what the row has in common with others.
func follow(s *Screen) {
	row := s.details.row
	if row == nil {
		return
	}
	var list []item
	add := func(format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		if text != "" && s.filter.compile(text) == nil {
			list = append(list, entry(text, func() { s.filterRows(s.grid.view.Kind, text) }))
		}
	}
	if s.details.tree.HasFocus() {
		add("%s", fieldFilter(s.details))
	}
	list = append(list, entry("all rows", func() { clearFilter(s) }))
	for _, x := range s.subjects() {
		add("%s", x.filter)
	}
	if r := row.RPC; r != nil {
		add("rpc.client == %v", r.Client)
		add("rpc.server == %v", r.Server)
		if t := r.Target(); t != "" {
			add("rpc.target == %q", t)
		}
		if job := r.Job(); len(job) > 0 {
			add("rpc.job == %q", job)
		}
		if r.PID != 0 {
			add("rpc.client == %v and rpc.pid == %d", r.Client, r.PID)
		}
		if name := r.Name(); len(name) > 0 {
			add("rpc.name == %q", name)
		}
	} else {
		add("conn == %d", row.Message.Conn)
	}
	s.choose("follow", list)
}

// xidOf returns the number of the RPC of a row, 0 for none.
func xidOf(row *store.Row) uint64 {
	if row.RPC != nil {
		return row.RPC.XID
	}
	if row.Message.RPC.HasXID {
		return row.Message.RPC.XID
	}
	return 0
}

// fieldFilter returns the filter for the field with the cursor and its value, empty for a
// line without one.
func fieldFilter(d *details) string {
	x := d.current()
	if x == nil || x.node < 0 || d.message == nil {
		return ""
	}
	n := &d.nodes.Nodes[x.node]
	name := n.Name()
	switch {
	case name == "" || n.Is(dissect.Missing):
		return ""
	case n.Field.Kind == schema.Int && int(n.End) == x.node+1:
		return fmt.Sprintf("%s == %d", name, n.Val)
	}
	column, ok := store.NewColumn(store.Messages, name)
	if !ok {
		return name
	}
	value := column.Append(nil, &store.Row{Message: d.message})
	if len(value) == 0 || strings.ContainsAny(string(value), ",\n") {
		return name
	}
	return name + " == " + filter.Literal(string(value))
}

// openMessages shows the messages of the RPC with the cursor, or the RPC of the message.
func openMessages(s *Screen) {
	row := s.details.row
	switch {
	case row == nil:
	case row.RPC != nil:
		s.filterRows(store.Messages, fmt.Sprintf("xid == %d", row.RPC.XID))
	case row.Of < 0:
		s.say("the message belongs to no RPC that has ended")
	default:
		q := s.queries[store.RPCs]
		q.Filter, q.Sort = "", ""
		s.visit(q, &row.Of)
	}
}

// open shows a menu of what the row leads to: its messages or RPC, its locks, files and
// connection.
func open(s *Screen) {
	row := s.details.row
	if row == nil {
		return
	}
	rpc := row.RPC
	if rpc == nil && row.Of >= 0 {
		if r, err := s.opt.Capture.Rows.Row(store.RPCs, row.Of); err == nil {
			rpc = r.RPC
		}
	}
	about := s.about()
	view := s.opt.View
	s.later("looking …", func() func() {
		links := s.opt.Capture.Links(about, rpc, view)
		return func() {
			if s.details.row != row || len(s.overlays) > 0 {
				return // the user has moved on
			}
			title := "messages of the RPC"
			if row.Message != nil {
				title = "RPC of the message"
			}
			list := []item{entry(title, func() { openMessages(s) })}
			for _, l := range links {
				list = append(list, item{plain(l.Title), func() { s.showLines(l.Title+", Enter goes to a frame, Esc closes", l.Lines) }, true})
			}
			s.choose("open", list)
		}
	})
}

// showFindings shows the findings about the rows that are shown.
func showFindings(s *Screen) {
	x, o := s.selection(), s.view()
	s.later("looking …", func() func() {
		lines := model.FindingLines(s.opt.Capture.Findings(x), o, s.opt.Capture.Rows.First())
		return func() {
			title := "findings, Enter goes to a frame, Esc closes"
			if r := s.reading.Load(); r == nil || !r.ended {
				title = "findings so far, more at the end of the capture"
			}
			if len(lines) == 0 {
				s.say("%s", withFilter("no findings", x))
				return
			}
			s.showLines(withFilter(title, x), lines)
		}
	})
}

// showLadder draws the messages of the row with the cursor, or of all rows, as a sequence
// diagram.
func showLadder(s *Screen, all bool) {
	id, ok := s.grid.selected()
	if !ok || s.details.row == nil {
		return
	}
	title, x := "", model.Selection{Kind: s.grid.view.Kind, Rows: []int64{id}}
	if xid := xidOf(s.details.row); xid != 0 {
		title = fmt.Sprintf("xid %d", xid)
	}
	if all {
		title, x.Rows = s.grid.view.Filter, s.grid.ids
	}
	o := s.view()
	s.later("drawing …", func() func() {
		lines := s.opt.Capture.Ladder(title, x, o)
		return func() { s.showLines("ladder, Enter goes to a frame, Esc closes", lines) }
	})
}

// copyMenu shows a menu of what can be copied of the row: its xid, FIDs, lock handles and nodes;
// in the tree also the line with the cursor.
func copyMenu(s *Screen) {
	if s.details.row == nil {
		return
	}
	list := s.subjects()
	if x := s.details.current(); x != nil && s.details.tree.HasFocus() {
		list = slices.Insert(list, 0, subject{"line", strings.TrimSpace(string(x.Text)), ""})
	}
	var menu []item
	for _, x := range list {
		menu = append(menu, entry(x.what+" "+x.text, func() { s.copy(x.text) }))
	}
	s.choose("copy", menu)
}

// copy asks the terminal to put a text into the clipboard (OSC 52). It is written as base64,
// and not by tcell, which does so only for terminals that are like xterm.
func (s *Screen) copy(text string) {
	text = printable(text)
	if tty, ok := s.screen.Tty(); ok {
		if _, err := fmt.Fprintf(tty, "\x1b]52;c;%s\a", base64.StdEncoding.EncodeToString([]byte(text))); err != nil {
			s.fail(err)
			return
		}
	} else {
		s.screen.SetClipboard([]byte(text))
	}
	s.say("copied, where the terminal allows it (OSC 52): %s", text)
}

// askSave asks for the name of a file, and saves the frames of the row with the cursor to
// it, or those of all rows of the view.
func askSave(s *Screen, all bool) {
	id, ok := s.grid.selected()
	if !ok {
		return
	}
	ids, label := []int64{id}, "save the frames of this row to: "
	if all {
		ids, label = s.grid.ids, fmt.Sprintf("save the frames of %d rows to: ", len(s.grid.ids))
	}
	kind := s.grid.view.Kind
	s.ask(label, "", func(path string) {
		if _, err := os.Stat(path); err == nil {
			s.choose(printable(path)+" exists", []item{
				entry("keep it", func() {}),
				entry("overwrite it", func() { save(s, kind, ids, path) }),
			})
			return
		}
		save(s, kind, ids, path)
	})
}

// save saves the frames of rows to a file.
func save(s *Screen, kind store.Kind, ids []int64, path string) {
	s.later("saving …", func() func() {
		frames := framesOf(s.opt.Capture.Rows.NewReader(), kind, ids)
		missing, err := s.opt.Save(path, frames)
		numbers := make(map[int64]bool)
		for _, f := range frames {
			numbers[f.Number] = true
		}
		return func() {
			switch {
			case err != nil:
				s.fail(err)
			case missing > 0:
				s.say("%s: %d frames; %d are no longer available", path, len(numbers)-missing, missing)
			default:
				s.say("%s: %d frames", path, len(numbers))
			}
		}
	})
}

// framesOf returns the frames of rows in their order, each once, with the comments that -w
// writes.
func framesOf(rows *store.Reader, kind store.Kind, ids []int64) (list []Frame) {
	lines := render.NewSummary(render.SummaryOptions{})
	for _, id := range ids {
		row, err := rows.Read(kind, id)
		if err != nil {
			continue
		}
		for _, id := range row.Messages {
			m, err := rows.Read(store.Messages, id)
			if err != nil {
				continue
			}
			var comment []byte
			if row.RPC != nil {
				comment = render.AppendRPCComment(nil, row.RPC, m.Message.Kind)
			} else {
				comment = lines.AppendComment(nil, m.Message)
			}
			for _, n := range m.Message.Frames {
				list = append(list, Frame{n, comment})
			}
		}
	}
	return list
}
