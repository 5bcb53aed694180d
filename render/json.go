package render

import (
	"strconv"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// JSON renders a message as one JSON object on a line.
type JSON struct {
	tree  dissect.Tree
	stamp stamp
}

// NewJSON makes a JSON renderer.
func NewJSON() *JSON { return &JSON{} }

// Append appends the object and a newline.
func (j *JSON) Append(dst []byte, m *dissect.Message, at Moment) []byte {
	t := &j.tree
	t.Build(m)
	dst = j.head(dst, m, at)
	nodes := t.Nodes
	i := 0
	for i < len(nodes) && beforeOpcode(nodes[i].Name()) {
		i = int(nodes[i].End)
	}
	dst = appendMembers(dst, t, 0, i)
	dst = appendRPC(dst, m)
	for ; i < len(nodes); i = int(nodes[i].End) {
		if nodes[i].Name() != "data" {
			dst = appendMembers(dst, t, i, int(nodes[i].End))
		}
	}
	switch m.Kind {
	case lnet.Bulk, lnet.Get, lnet.GetReply, lnet.Ack:
		dst = strconv.AppendInt(append(dst, `,"bytes":`...), int64(m.RPC.Bytes), 10)
	}
	dst = appendNotes(dst, t.Notes)
	return append(dst, '}', '\n')
}

// beforeOpcode says whether a section belongs to the transport or to LNet.
func beforeOpcode(section string) bool {
	switch section {
	case "ksock", "connreq", "hello", "lnet", "ping_info", "selftest":
		return true
	}
	return false
}

func (j *JSON) head(dst []byte, m *dissect.Message, at Moment) []byte {
	dst = strconv.AppendInt(append(dst, `{"frame":`...), m.Frame, 10)
	dst = j.stamp.iso(append(dst, `,"time":"`...), m.Time)
	dst = appendElapsed(append(dst, `","rel":`...), m.Time-at.First, 9)
	dst = strconv.AppendInt(append(dst, `,"conn":`...), int64(m.Conn), 10)
	dst = m.Src.AppendTo(append(dst, `,"src":"`...))
	dst = m.Dst.AppendTo(append(dst, `","dst":"`...))
	dst = append(append(dst, `","kind":"`...), m.Kind.String()...)
	return append(dst, '"')
}

// appendRPC appends what ties a message to its RPC.
func appendRPC(dst []byte, m *dissect.Message) []byte {
	r := &m.RPC
	if r.HasOpcode {
		dst = append(dst, `,"opcode":`...)
		if name := opcodes.Opcodes.Name(uint64(r.Opcode)); name != "" {
			dst = append(append(append(dst, '"'), name...), '"')
		} else {
			dst = strconv.AppendUint(dst, uint64(r.Opcode), 10)
		}
	}
	if r.HasXID {
		dst = strconv.AppendUint(append(dst, `,"xid":"`...), r.XID, 10)
		dst = append(dst, '"')
	}
	if m.Kind == lnet.Reply && r.Status < 0 {
		dst = appendErrno(append(dst, `,"error":"`...), r.Status)
		dst = append(dst, '"')
	}
	return dst
}

// appendErrno appends the name of a negative errno, or the number.
func appendErrno(dst []byte, status int32) []byte {
	if name := schema.Errnos.Name(uint64(-int64(status))); name != "" {
		return append(dst, name...)
	}
	return strconv.AppendInt(dst, int64(status), 10)
}

func appendNotes(dst []byte, notes []lnet.Note) []byte {
	if len(notes) == 0 {
		return dst
	}
	dst = append(dst, `,"notes":[`...)
	for i := range notes {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, `{"code":"`...), notes[i].Code...)
		dst = append(dst, `","text":`...)
		dst = schema.AppendJSONString(dst, []byte(notes[i].Text))
		dst = append(dst, '}')
	}
	return append(dst, ']')
}
