package render

import (
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

// JSON renders a message as one JSON object on a line.
type JSON struct {
	BulkData bool // show bulk data that are complete, as hex digits

	msg  records.Message
	json recordJSON[*records.Message]

	lines *RecordJSON[*records.LogLine] // nil: there was none yet

	// The keys before the sections of the transport, between those and the
	// sections of the RPC, and behind all sections.
	head, middle, tail []member[*records.Message]
	transport          []string // names of sections
}

// NewJSON makes a JSON renderer.
func NewJSON() *JSON {
	all := members(records.Messages.Keys())
	isSection := func(m member[*records.Message]) bool { return m.Type == records.Section }
	cut := func(sections []*schema.Field) (before []member[*records.Message]) {
		n := slices.IndexFunc(all, isSection)
		before, all = all[:n], all[n+len(sections):]
		return before
	}
	j := &JSON{head: cut(dissect.TransportSections()), middle: cut(dissect.MessageSections())}
	j.tail = all
	for _, f := range dissect.TransportSections() {
		j.transport = append(j.transport, f.Name)
	}
	return j
}

// Append appends the object and a newline.
func (j *JSON) Append(dst []byte, m *dissect.Message, at Moment) []byte {
	j.msg.Set(m, at.First)
	t, start := j.msg.Tree(), len(dst)
	dst = j.json.appendKeys(dst, j.head, &j.msg, 0)
	nodes := t.Nodes
	i := 0
	for i < len(nodes) && slices.Contains(j.transport, nodes[i].Name()) {
		i = int(nodes[i].End)
	}
	dst = appendMembers(dst, t, 0, i)
	dst = j.json.appendKeys(dst, j.middle, &j.msg, 0)
	for ; i < len(nodes); i = int(nodes[i].End) {
		if nodes[i].Name() != "data" || j.BulkData && len(m.Data) == m.Size && len(m.Holes) == 0 {
			dst = appendMembers(dst, t, i, int(nodes[i].End))
		}
	}
	dst = j.json.appendKeys(dst, j.tail, &j.msg, 0)
	dst = j.log(dst, at.Log)
	dst[start] = '{'
	return append(dst, '}', '\n')
}

// log appends the lines of logs about the RPC.
func (j *JSON) log(dst []byte, lines []*track.LogLine) []byte {
	if len(lines) == 0 {
		return dst
	}
	if j.lines == nil {
		j.lines = NewRecordJSON(&records.LogLines)
	}
	return append(appendJoined(append(dst, `,"log":[`...), lines, ",", func(dst []byte, l *track.LogLine) []byte {
		return j.lines.Append(dst, &records.LogLine{LogLine: l, Text: string(AppendLogLine(nil, &l.Event))})
	}), ']')
}
