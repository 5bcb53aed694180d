package render

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// describe fills the line with the most important facts of a message.
func (s *Summary) describe(m *dissect.Message) {
	if !s.wide {
		s.notes(m)
	}
	s.facts(m)
	if s.wide {
		s.notes(m)
	}
	if m.RPC.Encrypted {
		s.line.Key("encrypted")
	}
}

// facts adds all but the notes.
func (s *Summary) facts(m *dissect.Message) {
	l := &s.line
	switch m.Kind {
	case lnet.Request:
		s.request(m)
	case lnet.Reply:
		s.reply(m)
	case lnet.EarlyReply:
		l.Add(schema.Flag, "early reply")
		l.Key("timeout now ").Num(uint64(m.RPC.Timeout))
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
	case lnet.Selftest:
		s.selftest(m)
	case lnet.Unknown:
		l.Key("portal ").Num(uint64(m.LNet.Portal))
		l.Key("length ").Num(uint64(m.LNet.Length))
	case lnet.Hello, lnet.Connreq, lnet.Connack, lnet.Dreq, lnet.Drep, lnet.PingReply, lnet.Push:
		for _, n := range m.Notes {
			if n.Code == "resent" || n.Code == "unanswered" {
				l.Key("").Add(schema.Dim, n.Text)
			}
		}
		s.showFields(m)
	case lnet.Connrej:
		s.refusal(m)
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
	if g := &m.RPC.GSS; len(g.Setup.Target) > 0 {
		s.line.Label(schema.Node, g.Setup.Target)
		s.line.Key("")
		s.line.Text = g.Setup.AppendService(s.line.Text)
		s.line.Mark(schema.Flag)
	} else if g.EndsContext() {
		s.context(g)
	}
	msg, complete := s.tree.ParseRPC(m)
	if !complete || msg.Variant == nil {
		return
	}
	if msg.Variant.SummarizeRequest != nil {
		msg.Variant.SummarizeRequest(msg, &s.line)
		s.line.DropLabel()
	}
	if len(s.line.Text) == 0 {
		s.line.Label(schema.Node, []byte(s.opt.Names.Target(m.RPC.Handle)))
	}
}

func (s *Summary) reply(m *dissect.Message) {
	l := &s.line
	msg, complete := s.tree.ParseRPC(m)
	status, hasStatus := m.RPC.Status, len(msg.Buf(0)) >= opcodes.PbStatus.Off+opcodes.PbStatus.Size
	lock := opcodes.LockStatus(m.RPC.Opcode, status)
	done := opcodes.IsIntentDone(msg)
	inner := int32(0)
	if done && msg.Variant.InnerError != nil {
		inner = msg.Variant.InnerError(msg)
	}
	g := &m.RPC.GSS
	switch {
	case g.Errno() != 0:
		l.Text = g.AppendError(l.Text)
		l.Mark(schema.Bad)
	case !hasStatus && (m.RPC.HasOpcode || m.RPC.Inferred != 0):
		l.Add(schema.Dim, "reply")
	case !hasStatus: // the column of the operation has "reply"
	case status < 0:
		l.Errno(status)
	case lock != "" && !done:
		l.Add(schema.Flag, lock)
	case inner != 0:
		l.Errno(inner)
	default:
		l.Add(schema.Good, "ok")
	}
	if m.Req != nil && m.Req.Frame > 0 {
		l.Key("")
		l.Text = AppendLatency(l.Text, m.Time-m.Req.Time)
		l.Mark(schema.Number)
	}
	if status > 0 && lock == "" {
		l.Key("").Num(uint64(status))
	}
	if m.RPC.Opcode == opcodes.SEC_CTX_INIT || m.RPC.Opcode == opcodes.SEC_CTX_INIT_CONT || g.Errno() != 0 {
		s.context(g)
	}
	if !complete || msg.Variant == nil || msg.Variant.SummarizeReply == nil {
		return
	}
	text := len(l.Text)
	l.Add(schema.Dim, " ")
	msg.Variant.SummarizeReply(msg, l)
	if l.DropLabel(); len(l.Text) == text+1 {
		l.Cut(text)
	}
}

// context adds the handle of the security context that a message is about: the
// new one, or one that ends or was refused.
func (s *Summary) context(g *dissect.GSS) {
	if g.Handle == 0 {
		return
	}
	s.line.Key("context ")
	s.line.Hex(schema.Object, g.Handle)
}

// transfer describes a part of the bulk data.
func (s *Summary) transfer(m *dissect.Message, what string, portal uint32) {
	l := &s.line
	l.Add(schema.Dim, what)
	l.Add(schema.Dim, " ")
	l.Num(uint64(m.RPC.Bytes))
	l.Add(schema.Dim, " bytes")
	if portal != 0 && !m.RPC.HasOpcode {
		l.Key("portal ").Num(uint64(portal))
	}
	if m.Content != nil {
		s.content(m)
	}
}

// refusal describes why an InfiniBand connection was refused.
func (s *Summary) refusal(m *dissect.Message) {
	if m.IB == nil {
		return
	}
	l := &s.line
	name, doc := opcodes.Refusal(m.IB.Reject, m.Data)
	if name == "" {
		l.Add(schema.Bad, "reason ")
		l.Num(uint64(m.IB.Reject))
		return
	}
	l.Add(schema.Bad, name)
	l.Key("").Add(schema.Dim, doc)
}

// content describes the bulk data that the message completes: it counts the
// elements and shows the first.
func (s *Summary) content(m *dissect.Message) {
	s.tree.Build(m)
	n, first := 0, 0
	for i := range s.tree.Nodes {
		node := &s.tree.Nodes[i]
		if node.Src != dissect.InContent || node.Field.Counted == "" {
			continue
		}
		if n == 0 {
			first = i
		}
		if node.Field.Counted == s.tree.Nodes[first].Field.Counted {
			n++
		}
	}
	if n == 0 {
		return
	}
	nodes := s.tree.Nodes[first:]
	s.line.Key("")
	s.line.Count(uint64(n), nodes[0].Field.Counted)
	for i := 0; i < len(nodes) && nodes[i].Depth == nodes[0].Depth; i++ {
		s.showNode(&nodes[i])
	}
}

func (s *Summary) showFields(m *dissect.Message) {
	s.tree.Build(m)
	for i := range s.tree.Nodes {
		s.showNode(&s.tree.Nodes[i])
	}
}

func (s *Summary) showNode(n *dissect.Node) {
	f := n.Field.Shown
	switch {
	case f == nil || n.Is(dissect.Missing) || n.Len == 0 || f.Wide && !s.wide:
	case f.Only != "" && n.Field.Names.Name(n.Val) != f.Only:
	case f.Zero != "" && n.Val == 0:
		s.line.Key("")
		s.line.Add(schema.Good, f.Zero)
	default:
		s.addNode(f.Label, f.Role, n)
	}
}

// addNode adds a label and the value of a node, nothing when that is empty.
func (s *Summary) addNode(label string, role schema.Role, n *dissect.Node) {
	l := &s.line
	text := len(l.Text)
	l.Key(label)
	value := len(l.Text)
	if l.Text = appendNodeValue(l.Text, &s.tree, n); len(l.Text) == value {
		l.Cut(text)
		return
	}
	l.Mark(role)
}

func (s *Summary) selftest(m *dissect.Message) {
	s.showFields(m)
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
