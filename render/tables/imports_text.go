package tables

import (
	"cmp"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// silenceShown is from when on the time without use before a disconnect is
// shown, in nanoseconds.
const silenceShown = 4 * int64(time.Second)

// EventText puts the events of connections into words.
type EventText struct{ NIDs render.NIDs }

// Append appends what happened.
func (t *EventText) Append(dst []byte, e *track.Event) []byte {
	if e.Text != "" {
		return schema.AppendText(dst, []byte(e.Text))
	}
	switch e.Kind {
	case track.EventConnect:
		dst = t.NIDs.Append(append(dst, "connect to "...), e.Node)
		dst = strconv.AppendUint(append(dst, ", conn_cnt "...), uint64(e.ConnCnt), 10)
		return appendOpFlags(dst, e.OpFlags)
	case track.EventConnected:
		return appendOpFlags(append(dst, "connected"...), e.OpFlags)
	case track.EventRefused:
		return records.AppendErrno(append(dst, "connect refused: "...), e.Status)
	case track.EventLateReply:
		dst = strconv.AppendUint(append(dst, "late reply to conn_cnt "...), uint64(e.ConnCnt), 10)
		if e.Status < 0 {
			return records.AppendErrno(append(dst, ": "...), e.Status)
		}
		return dst
	case track.EventNotConnected:
		dst = records.AppendErrno(dst, e.Status)
		return render.AppendOpcode(append(dst, " in reply to "...), e.Opcode)
	case track.EventEvicted:
		return append(dst, "evicted: the server did not know the connection any more"...)
	case track.EventCallback:
		return callbackText(dst, e)
	case track.EventReplay:
		return transnos(append(dst, "replay of "...), e.Count, "request", e.From, e.To)
	case track.EventNotReplayed:
		return transnos(append(dst, "not replayed: "...), e.Count, "request", e.From, e.To)
	case track.EventLockReplay:
		return plural(append(dst, "replay of "...), e.Count, "lock")
	case track.EventPing:
		return plural(dst, e.Count, "ping")
	case track.EventPingUnanswered:
		return append(plural(dst, e.Count, "ping"), " without a reply"...)
	case track.EventContextSetup:
		return append(dst, "sets up a security context"...)
	case track.EventContextReady:
		return append(dst, "security context is ready"...)
	case track.EventContextFailed:
		return records.AppendErrno(append(dst, "security context failed: "...), e.Status)
	case track.EventDisconnect:
		if dst = append(dst, "disconnect"...); e.Silence >= silenceShown {
			dst = render.AppendLatency(append(dst, ", not used for "...), e.Silence)
		}
		return dst
	}
	return append(dst, e.Kind.String()...)
}

func appendOpFlags(dst []byte, flags uint32) []byte {
	if flags == 0 {
		return dst
	}
	return schema.AppendFlags(append(dst, ' '), opcodes.MsgConnectFlags, uint64(flags), "|")
}

func callbackText(dst []byte, e *track.Event) []byte {
	dst = render.AppendOpcode(dst, e.Opcode)
	dst = schema.AppendHex(append(dst, " for lock "...), e.From)
	if e.Replied {
		dst = append(dst, ": a reply, but the lock was not released within "...)
	} else {
		dst = append(dst, ": no reply within "...)
	}
	return render.AppendLatency(dst, e.Until.Time-e.Time)
}

// transnos appends how many requests there are, and the range of their transaction
// numbers where it is known.
func transnos(dst []byte, n int, what string, from, to uint64) []byte {
	if dst = plural(dst, n, what); to == 0 {
		return dst
	}
	dst = strconv.AppendUint(append(dst, ", transno "...), from, 10)
	if to != from {
		dst = strconv.AppendUint(append(dst, " to "...), to, 10)
	}
	return dst
}

func plural(dst []byte, n int, what string) []byte {
	dst = append(append(strconv.AppendInt(dst, int64(n), 10), ' '), what...)
	if n != 1 {
		dst = append(dst, 's')
	}
	return dst
}

// ImportRecords returns connections as records.
func ImportRecords(list []*track.Import) []*records.Import {
	text := &EventText{}
	all := make([]*records.Import, len(list))
	for k, i := range list {
		all[k] = &records.Import{Import: i, AppendEvent: text.Append}
	}
	return all
}

// Imports is the table of connections, with their states at the end of the capture.
var Imports = Kind[*records.Import]{name: "table of imports", keys: &records.Imports, columns: []column[*records.Import]{
	{title: "target", left: true, role: schema.Node, show: func(_ *printer, i *records.Import) string { return targetOf(i.Import) }},
	{title: "client", left: true, role: schema.Node},
	{title: "state", left: true, mark: func(i *records.Import) schema.Role { return StateRole(i.State) }},
	{title: "cnt", key: "conn_cnt", dimZero: true, dimNone: true, role: schema.Number},
	{title: "fails", doc: "errors with which the server refused connects and security contexts, and how often each occurred",
		left: true, dimZero: true, rank: useful, role: schema.Bad, show: func(_ *printer, i *records.Import) string {
			return cmp.Or(errorsText(i.Failures), "0")
		}},
	{title: "evict", key: "evictions", dimZero: true, role: schema.Bad},
	{title: "pings", dimZero: true, role: schema.Number},
	{title: "version", left: true, role: schema.Dim, show: versions},
	{title: "kind", left: true, rank: extra, role: schema.Dim},
	{title: "server", left: true, rank: extra, role: schema.Node},
	{title: "committed", key: "last_committed", rank: extra, dimNone: true, role: schema.Object},
	{title: "ungranted", key: "flags.refused", doc: "number of flags that were asked for and not granted",
		dimZero: true, dimNone: true, rank: extra, role: schema.Warning, show: func(_ *printer, i *records.Import) string {
			if !i.HasAsked || !i.HasGranted {
				return ""
			}
			f, f2 := i.Refused()
			return strconv.Itoa(bits.OnesCount64(f) + bits.OnesCount64(f2))
		}},
	{title: "uuid", key: "client_uuid", left: true, rank: extra, role: schema.Dim},
	{title: "since", rank: extra, role: schema.Dim, show: func(p *printer, i *records.Import) string {
		if i.State == track.StateUnknown {
			return ""
		}
		return p.timeOf(i.Since(), true)
	}},
	{title: "rtx", key: "retransmits", dimZero: true, rank: extra, role: schema.Warning},
	{title: "rtt", rank: extra, role: schema.Number},
}}

// Trouble returns how bad a connection is, 0 for one that is as it should be: those with more
// stand first.
func Trouble(i *track.Import) int {
	switch role := StateRole(i.State); {
	case role == schema.Bad:
		return 3
	case role == schema.Warning:
		return 2
	case i.Evictions > 0 || len(i.Failures) > 0:
		return 1
	}
	return 0
}

// AppendTarget appends the target of a connection, or its index where the name of
// the file system is not known, or the handle.
func AppendTarget(dst []byte, i *track.Import) []byte {
	return schema.AppendText(dst, []byte(targetOf(i)))
}

func targetOf(i *track.Import) string {
	return cmp.Or(i.Target, i.TargetIndex, string(schema.AppendHex(nil, i.Handle)))
}

// versions returns the version, or those of both sides when they differ.
func versions(_ *printer, i *records.Import) string {
	var list []string
	for _, v := range []uint32{i.Asked.Version, i.Granted.Version} {
		if v != 0 {
			list = append(list, string(schema.AppendVersion(nil, v)))
		}
	}
	return strings.Join(slices.Compact(list), "/")
}

// StateRole returns how good a state of a connection is.
func StateRole(s track.ImportState) schema.Role {
	switch s {
	case track.StateFull:
		return schema.Good
	case track.StateEvicted, track.StateDiscon:
		return schema.Bad
	case track.StateClosed, track.StateIdle, track.StateUnknown:
		return schema.Dim
	}
	return schema.Warning
}
