package render

import (
	"strconv"

	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/track"
)

// ImportsJSON renders connections as one JSON object a line.
type ImportsJSON struct {
	stamp stamp
	text  EventText
}

// NewImportsJSON makes a JSON renderer.
func NewImportsJSON() *ImportsJSON { return &ImportsJSON{} }

// AppendImport appends the object and a newline.
func (j *ImportsJSON) AppendImport(dst []byte, i *track.Import) []byte {
	dst = append(dst, '{')
	dst = appendStringOrNull(append(dst, `"client_uuid":`...), i.ClientUUID)
	dst = appendStringOrNull(append(dst, `,"target":`...), i.Target)
	dst = appendStringOrNull(append(dst, `,"target_uuid":`...), i.TargetUUID)
	dst = i.Client.Append(append(dst, `,"client":"`...))
	dst = i.Server.Append(append(dst, `","server":"`...))
	dst = appendStringOrNull(append(dst, `","kind":`...), i.Kind())
	if i.Handle != 0 {
		dst = append(schema.AppendHex(append(dst, `,"handle":"`...), i.Handle), '"')
	}
	dst = append(append(append(dst, `,"state":"`...), i.State.String()...), '"')
	dst = strconv.AppendUint(append(dst, `,"conn_cnt":`...), uint64(i.ConnCnt), 10)
	dst = strconv.AppendInt(append(dst, `,"attempts":`...), int64(i.Attempts), 10)
	dst = appendVersion(append(dst, `,"version":{"client":`...), i.HasAsked, i.Asked.Version)
	dst = appendVersion(append(dst, `,"server":`...), i.HasGranted, i.Granted.Version)
	dst = appendConnectFlags(append(dst, `},"flags":{"asked":`...), i.HasAsked, i.Asked.Flags, i.Asked.Flags2)
	dst = appendConnectFlags(append(dst, `,"granted":`...), i.HasGranted, i.Granted.Flags, i.Granted.Flags2)
	f, f2 := i.Refused()
	dst = appendConnectFlags(append(dst, `,"refused":`...), i.HasGranted && i.HasAsked, f, f2)
	dst = append(dst, `},"instance":`...)
	if i.HasGranted {
		dst = strconv.AppendUint(dst, uint64(i.Granted.Instance), 10)
	} else {
		dst = append(dst, null...)
	}
	dst = strconv.AppendUint(append(dst, `,"last_committed":"`...), i.LastCommitted, 10)
	dst = strconv.AppendUint(append(dst, `","last_transno":"`...), i.LastTransno, 10)
	dst = strconv.AppendInt(append(dst, `","requests":`...), i.Requests, 10)
	dst = strconv.AppendInt(append(dst, `,"replies":`...), i.Replies, 10)
	dst = strconv.AppendInt(append(dst, `,"pings":`...), i.Pings, 10)
	dst = strconv.AppendInt(append(dst, `,"evictions":`...), int64(i.Evictions), 10)
	dst = j.point(append(dst, `,"first":`...), i.First)
	dst = j.point(append(dst, `,"last":`...), i.Last)
	if i.Dropped > 0 {
		dst = strconv.AppendInt(append(dst, `,"dropped":`...), int64(i.Dropped), 10)
	}
	dst = j.history(append(dst, `,"history":[`...), i)
	dst = j.events(append(dst, `],"events":[`...), i)
	return append(dst, "]}\n"...)
}

func (j *ImportsJSON) point(dst []byte, p track.Point) []byte {
	return append(j.at(append(dst, '{'), p), '}')
}

func (j *ImportsJSON) at(dst []byte, p track.Point) []byte {
	dst = strconv.AppendInt(append(dst, `"frame":`...), p.Frame, 10)
	return append(j.stamp.iso(append(dst, `,"time":"`...), p.Time), '"')
}

func (j *ImportsJSON) history(dst []byte, i *track.Import) []byte {
	for k, h := range i.History {
		if k > 0 {
			dst = append(dst, ',')
		}
		dst = j.at(append(dst, '{'), h.Point)
		dst = append(append(append(dst, `,"state":"`...), h.State.String()...), '"', '}')
	}
	return dst
}

func (j *ImportsJSON) events(dst []byte, i *track.Import) []byte {
	for k := range i.Events {
		e := &i.Events[k]
		if k > 0 {
			dst = append(dst, ',')
		}
		dst = j.at(append(dst, '{'), e.Point)
		dst = append(append(append(dst, `,"event":"`...), e.Kind.String()...), '"')
		if e.Count > 1 {
			dst = strconv.AppendInt(append(dst, `,"count":`...), int64(e.Count), 10)
			dst = j.point(append(dst, `,"until":`...), e.Until)
		}
		dst = schema.AppendJSONString(append(dst, `,"text":`...), j.text.Append(nil, e))
		dst = append(dst, '}')
	}
	return dst
}

func appendStringOrNull(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, null...)
	}
	return schema.AppendJSONString(dst, []byte(s))
}

func appendVersion(dst []byte, known bool, v uint32) []byte {
	if !known || v == 0 {
		return append(dst, null...)
	}
	return append(schema.AppendVersion(append(dst, '"'), v), '"')
}

// appendConnectFlags appends both words of connect flags as one list.
func appendConnectFlags(dst []byte, known bool, flags, flags2 uint64) []byte {
	if !known {
		return append(dst, null...)
	}
	dst = appendFlagList(append(dst, '['), opcodes.ObdConnectFlags, flags)
	return append(appendFlagList(dst, opcodes.ObdConnectFlags2, flags2), ']')
}

func appendFlagList(dst []byte, names *schema.Names, word uint64) []byte {
	rest := names.Set(word, func(v *schema.Value) {
		if dst[len(dst)-1] == '"' {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), v.Name...), '"')
	})
	if rest != 0 {
		if dst[len(dst)-1] == '"' {
			dst = append(dst, ',')
		}
		dst = append(schema.AppendHex(append(dst, '"'), rest), '"')
	}
	return dst
}
