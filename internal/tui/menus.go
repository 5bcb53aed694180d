package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/internal/tui/model"
	"github.com/lshark/lshark/internal/tui/store"
	"github.com/lshark/lshark/opcodes/schema"
)

// messagesOf returns the messages of the row that is shown, without those that were
// dropped.
func messagesOf(s *Screen) (list []*dissect.Message) {
	rows := s.opt.Capture.Rows.NewReader()
	for _, id := range s.details.list {
		if m, err := rows.Message(id); err == nil {
			list = append(list, m.Clone().Message)
		}
	}
	return list
}

// filterBy shows the rows that match a filter, of the kind that is shown.
func filterBy(s *Screen, text string) choice {
	return choice{text: text, do: func() {
		q := s.queries[s.grid.view.Kind]
		q.Filter = text
		s.visit(q)
	}}
}

// follow shows a menu of filters for what the row has in common with others.
func follow(s *Screen) {
	row := s.details.row
	if row == nil {
		return
	}
	var list []choice
	if text := fieldFilter(s.details); text != "" && s.details.tree.HasFocus() {
		list = append(list, filterBy(s, text))
	}
	messages := messagesOf(s)
	about := model.SubjectOf(messages)
	list = append(list, filterBy(s, ""))
	list[len(list)-1].text = "all rows"
	add := func(format string, args ...any) { list = append(list, filterBy(s, fmt.Sprintf(format, args...))) }
	if xid := xidOf(row); xid != 0 {
		add("xid == %d", xid)
	}
	for _, fid := range about.FIDs {
		add("fid == %s", schema.AppendFID(nil, fid.Seq, fid.OID, fid.Ver))
	}
	for _, h := range about.Handles {
		add("lock_handle == %#x", h)
	}
	if r := row.RPC; r != nil {
		add("rpc.client == %v", r.Client)
		add("rpc.server == %v", r.Server)
		if t := r.Target(); t != "" {
			add("rpc.target == %s", quote(t))
		}
		if job := r.Job(); len(job) > 0 {
			add("rpc.job == %s", quote(string(job)))
		}
		if r.PID != 0 {
			add("rpc.client == %v and rpc.pid == %d", r.Client, r.PID)
		}
		if name := r.Name(); len(name) > 0 {
			add("rpc.name == %s", quote(string(name)))
		}
	} else {
		for _, nid := range about.Nodes {
			if nid.Len > 0 {
				add("lnet.src_nid == %v or lnet.dest_nid == %v", nid, nid)
			}
		}
		add("conn == %d", row.Message.Conn)
	}
	choose(s, "follow", slices.DeleteFunc(list, func(c choice) bool {
		return c.text != "all rows" && s.filter.compile(c.text) != nil
	}))
}

func quote(text string) string { return strconv.Quote(text) }

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
	if v := string(value); v[0] == '[' || v[0] >= '0' && v[0] <= '9' {
		return name + " == " + v
	}
	return name + " == " + quote(string(value))
}

// openMessages shows the messages of the RPC with the cursor, or the RPC of the message.
func openMessages(s *Screen) {
	row := s.details.row
	switch {
	case row == nil:
	case row.RPC != nil:
		q := s.queries[store.Messages]
		q.Filter = fmt.Sprintf("xid == %d", row.RPC.XID)
		s.visit(q)
	case row.Of < 0:
		s.status.say("the message belongs to no RPC that has ended")
	default:
		q := s.queries[store.RPCs]
		q.Filter, q.Sort = "", ""
		s.visit(q)
		of := row.Of
		s.grid.wanted = &of
		s.grid.version = -1
		s.refresh()
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
		if r, err := s.opt.Capture.Rows.NewReader().RPC(row.Of); err == nil {
			rpc = r.Clone().RPC
		}
	}
	about := model.SubjectOf(messagesOf(s))
	view := s.opt.View
	s.status.say("looking …")
	s.spawn(func() {
		links := s.opt.Capture.Links(about, rpc, view)
		s.post(func() { chooseLink(s, row, links) })
	})
}

// chooseLink shows the menu of open.
func chooseLink(s *Screen, row *store.Row, links []model.Link) {
	if s.details.row != row || len(s.overlays) > 0 {
		return // the user has moved on
	}
	s.status.left = ""
	list := []choice{{text: "messages of the RPC", do: func() { openMessages(s) }}}
	if row.Message != nil {
		list[0].text = "RPC of the message"
	}
	for _, l := range links {
		list = append(list, choice{l.Title, func() { showLines(s, l.Title+", Enter goes to a frame, Esc closes", l.Lines) }, true})
	}
	choose(s, "open", list)
}

// showFindings shows the findings about the rows that are shown.
func showFindings(s *Screen) {
	s.status.say("looking …")
	x := s.selection()
	s.spawn(func() {
		findings := s.opt.Capture.Findings(x)
		s.post(func() {
			s.status.left = ""
			o := s.opt.View
			_, _, o.Width, _ = s.pages.GetInnerRect()
			lines := model.FindingLines(findings, o, s.opt.Capture.Rows.First())
			title := "findings, Enter goes to a frame, Esc closes"
			if s.finished.Load() == nil {
				title = "findings so far, more at the end of the capture"
			}
			if len(lines) == 0 {
				s.status.say("%s", withFilter("no findings", x))
				return
			}
			showLines(s, withFilter(title, x), lines)
		})
	})
}

// showLadder draws the messages of the row with the cursor, or of all rows, as a sequence
// diagram.
func showLadder(s *Screen, all bool) {
	id, ok := s.grid.selected()
	if !ok || s.details.row == nil {
		return
	}
	title := ""
	if xid := xidOf(s.details.row); xid != 0 {
		title = fmt.Sprintf("xid %d", xid)
	}
	x := &model.LadderOf{Title: title, Kind: s.grid.view.Kind, Rows: []int64{id}, Files: s.opt.View.Files}
	if all {
		x.Title, x.Rows = s.grid.view.Filter, s.grid.ids
	}
	o := s.opt.View
	_, _, o.Width, _ = s.pages.GetInnerRect()
	s.status.say("drawing …")
	s.spawn(func() {
		lines := s.opt.Capture.Ladder(x, o)
		s.post(func() {
			s.status.left = ""
			showLines(s, "ladder, Enter goes to a frame, Esc closes", lines)
		})
	})
}
