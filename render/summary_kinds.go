package render

import (
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// describe fills the line with the most important facts of a message.
func (s *Summary) describe(m *dissect.Message) {
	l := &s.line
	if !s.wide {
		s.notes(m)
	}
	switch m.Kind {
	case lnet.Request:
		s.request(m)
	case lnet.Reply:
		s.reply(m)
	case lnet.EarlyReply:
		l.Add(schema.Flag, "early reply")
		l.Key("timeout now ")
		l.Num(uint64(m.RPC.Timeout))
		l.Add(schema.Dim, " s")
	case lnet.Bulk:
		s.transfer(m, "data", m.LNet.Portal)
	case lnet.Get:
		s.transfer(m, "get", m.LNet.Portal)
	case lnet.GetReply:
		s.transfer(m, "data", 0)
	case lnet.Ack:
		if m.RPC.HasOpcode {
			l.Add(schema.Dim, "ack")
		}
	case lnet.PingReply, lnet.Push:
		s.interfaces(m)
	case lnet.Selftest:
		s.selftest(m)
	case lnet.Unknown:
		l.Key("portal ")
		l.Num(uint64(m.LNet.Portal))
		l.Key("length ")
		l.Num(uint64(m.LNet.Length))
	case lnet.Hello, lnet.Connreq:
		s.hello(m)
	}
	if s.wide {
		s.notes(m)
	}
	if m.RPC.Encrypted {
		l.Key("encrypted")
	}
}

// notes adds the codes of a message's notes: in narrow lines first, else last.
func (s *Summary) notes(m *dissect.Message) {
	for i := range m.Notes {
		s.line.Key("")
		s.line.Add(schema.Bad, m.Notes[i].Code)
	}
	if !s.wide && len(m.Notes) > 0 {
		s.line.Add(schema.Dim, " ")
	}
}

func (s *Summary) request(m *dissect.Message) {
	msg, whole := s.tree.Open(m)
	if !whole || msg.Variant == nil {
		return
	}
	if msg.Variant.Ask != nil {
		msg.Variant.Ask(msg, &s.line)
	}
	if len(s.line.Text) == 0 {
		s.line.Label(schema.Node, []byte(s.opt.Names.Target(m.RPC.Handle)))
	}
}

func (s *Summary) reply(m *dissect.Message) {
	l := &s.line
	msg, whole := s.tree.Open(m)
	status, hasStatus := m.RPC.Status, len(msg.Buf(0)) >= opcodes.PbStatus.Off+opcodes.PbStatus.Size
	lock := opcodes.LockStatus(m.RPC.Opcode, status)
	switch {
	case !hasStatus && m.RPC.HasOpcode:
		l.Add(schema.Dim, "reply")
	case !hasStatus: // the column of the operation has "reply"
	case status < 0:
		l.Errno(status)
	case lock != "":
		l.Add(schema.Flag, lock)
	default:
		l.Add(schema.Good, "ok")
	}
	if m.Req != nil && m.Req.Frame > 0 {
		l.Key("")
		l.Text = appendLatency(l.Text, m.Time-m.Req.Time)
		l.Mark(schema.Number)
	}
	if status > 0 && lock == "" {
		l.Key("")
		l.Num(uint64(status))
	}
	if !whole || msg.Variant == nil || msg.Variant.Answer == nil {
		return
	}
	text, parts := len(l.Text), len(l.Parts)
	l.Add(schema.Dim, " ")
	if msg.Variant.Answer(msg, l); len(l.Text) == text+1 {
		l.Text, l.Parts = l.Text[:text], l.Parts[:parts]
	}
}

// transfer describes a part of the bulk data.
func (s *Summary) transfer(m *dissect.Message, what string, portal uint32) {
	l := &s.line
	l.Add(schema.Dim, what)
	l.Add(schema.Dim, " ")
	l.Num(uint64(m.RPC.Bytes))
	l.Add(schema.Dim, " bytes")
	if portal != 0 && !m.RPC.HasOpcode {
		l.Key("portal ")
		l.Num(uint64(portal))
	}
	if m.Content != nil {
		s.content(m)
	}
}

// contentCounts are the elements of bulk data, by a field that each of them has.
var contentCounts = []struct{ field, what string }{{"lde_name", "name"}, {"ou_type", "update"}, {"lm_magic", "request"}}

// content describes the bulk data that the message completes.
func (s *Summary) content(m *dissect.Message) {
	s.tree.Build(m)
	for _, c := range contentCounts {
		n, first := 0, 0
		for i := range s.tree.Nodes {
			if node := &s.tree.Nodes[i]; node.Src == dissect.InContent && node.Name() == c.field {
				if n++; n == 1 {
					first = i
				}
			}
		}
		if n == 0 {
			continue
		}
		s.line.Key("")
		s.line.Count(uint64(n), c.what)
		if c.field == "ou_type" {
			s.update(first)
		}
		return
	}
}

// update describes an update whose type is node i.
func (s *Summary) update(i int) {
	s.addNode("", schema.Flag, &s.tree.Nodes[i])
	for k := i + 1; k < len(s.tree.Nodes) && s.tree.Nodes[k].Depth == s.tree.Nodes[i].Depth; k++ {
		if n := &s.tree.Nodes[k]; n.Name() == "ou_fid" {
			s.addNode("", schema.Object, n)
			return
		}
	}
}

// hello describes the messages that open a connection.
func (s *Summary) hello(m *dissect.Message) {
	s.tree.Build(m)
	for i := range s.tree.Nodes {
		n := &s.tree.Nodes[i]
		if n.Depth != 1 || n.Is(dissect.Missing) {
			continue
		}
		switch n.Name() {
		case "acr_nid":
			s.addNode("to ", schema.Node, n)
		case "kshm_dst_nid":
			if s.wide {
				s.addNode("to ", schema.Node, n)
			}
		case "kshm_src_nid", "src_nid":
			if s.wide {
				s.addNode("from ", schema.Node, n)
			}
		case "kshm_version", "acr_version", "version_major":
			s.addNode("version ", schema.Flag, n)
		case "kshm_ctype", "hello.type":
			s.addNode("for ", schema.Flag, n)
		}
	}
}

// addNode adds a label and the value of a node, nothing when that is empty.
func (s *Summary) addNode(label string, role schema.Role, n *dissect.Node) {
	l := &s.line
	text, parts := len(l.Text), len(l.Parts)
	l.Key(label)
	value := len(l.Text)
	if l.Text = appendNodeValue(l.Text, &s.tree, n); len(l.Text) == value {
		l.Text, l.Parts = l.Text[:text], l.Parts[:parts]
		return
	}
	l.Mark(role)
}

// selftestFields are the fields of LNet selftest that a summary shows.
var selftestFields = map[string]struct {
	label string
	role  schema.Role
}{
	"msg_type":     {"", schema.Flag},
	"mksn_name":    {"session ", schema.Name},
	"join_session": {"session ", schema.Name},
	"dbg_name":     {"session ", schema.Name},
	"join_group":   {"group ", schema.Name},
	"bar_opc":      {"", schema.Flag},
	"bar_active":   {"active ", schema.Number},
	"tsr_service":  {"", schema.Flag},
	"tsr_loop":     {"loops ", schema.Number},
	"tsr_concur":   {"at once ", schema.Number},
	"blk_opc":      {"", schema.Flag},
	"blk_len":      {"bytes ", schema.Number},
	"brw_rw":       {"", schema.Flag},
	"brw_len":      {"bytes ", schema.Number},
	"pnr_seq":      {"number ", schema.Number},
	"brw_errors":   {"brw errors ", schema.Number},
	"ping_errors":  {"ping errors ", schema.Number},
}

// selftest describes a message of LNet selftest.
func (s *Summary) selftest(m *dissect.Message) {
	s.tree.Build(m)
	for i := range s.tree.Nodes {
		n := &s.tree.Nodes[i]
		name := n.Name()
		field, shown := selftestFields[name]
		switch {
		case n.Is(dissect.Missing):
		case strings.HasSuffix(name, "status") && n.Val == 0:
			s.line.Key("")
			s.line.Add(schema.Good, "ok")
		case strings.HasSuffix(name, "status"):
			s.addNode("", schema.Bad, n)
		case shown && n.Len > 0:
			s.addNode(field.label, field.role, n)
		}
	}
	switch l := &s.line; {
	case len(l.Text) > 0:
	case m.LNet.Type == lnet.TypeGet:
		l.Add(schema.Dim, "get ")
		l.Num(uint64(m.LNet.Sink))
		l.Add(schema.Dim, " bytes")
	default:
		l.Add(schema.Dim, "data ")
		l.Num(uint64(m.LNet.Length))
		l.Add(schema.Dim, " bytes")
	}
}

// interfaces lists the NIDs of a node and which of them are down.
func (s *Summary) interfaces(m *dissect.Message) {
	s.tree.Build(m)
	for i := range s.tree.Nodes {
		n := &s.tree.Nodes[i]
		switch name := n.Name(); {
		case n.Is(dissect.Missing):
		case name == "ns_nid" || name == "nid":
			s.addNode("", schema.Node, n)
		case name == "ns_status" && n.Field.Names != nil && n.Field.Names.Name(n.Val) == "DOWN":
			s.addNode("", schema.Bad, n)
		}
	}
}
