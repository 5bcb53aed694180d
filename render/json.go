package render

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/render/records"
)

// JSON renders a message as one JSON object on a line.
type JSON struct {
	BulkData bool // show bulk data that are complete, as hex digits

	msg   records.Message
	json  *RecordJSON[*records.Message]
	lines *RecordJSON[*records.LogLine]
}

// NewJSON makes a JSON renderer.
func NewJSON() *JSON {
	return &JSON{json: NewRecordJSON(&records.Messages), lines: NewRecordJSON(&records.LogLines)}
}

// wrapping is the first section of RPC messages.
var wrapping = dissect.MessageSections()[0].Name

// Append appends the object and a newline.
func (j *JSON) Append(dst []byte, m *dissect.Message, at Moment) []byte {
	j.msg.Set(m, at.First)
	t, start := j.msg.Tree(), len(dst)
	i := 0 // next section of the tree: they have the order of their keys
	for k := range j.json.members {
		key := &j.json.members[k]
		if key.Type != records.Section {
			dst = j.json.appendKeys(dst, j.json.members[k:k+1], &j.msg, 0)
			continue
		}
		rest := key.Name == wrapping // of messages inside others, sections come twice
		for ; i < len(t.Nodes) && (rest || t.Nodes[i].Name() == key.Name); i = int(t.Nodes[i].End) {
			if t.Nodes[i].Name() != "data" || j.BulkData && len(m.Data) == m.Size && len(m.Holes) == 0 {
				dst = appendMembers(dst, t, i, int(t.Nodes[i].End))
			}
		}
	}
	dst = j.log(dst, at.Log)
	dst[start] = '{'
	return append(dst, '}', '\n')
}

// log appends the lines of logs about the RPC.
func (j *JSON) log(dst []byte, lines []*track.LogLine) []byte {
	if len(lines) == 0 {
		return dst
	}
	return append(appendJoined(append(dst, `,"log":[`...), lines, ",", func(dst []byte, l *track.LogLine) []byte {
		return j.lines.Append(dst, &records.LogLine{LogLine: l, Text: string(AppendLogLine(nil, &l.Event))})
	}), ']')
}
