package tables

import (
	"cmp"
	"fmt"
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

// EventText returns what happened to a connection, in words.
func EventText(e *track.Event, nids render.NIDs) string {
	if e.Text != "" {
		return string(schema.AppendText(nil, []byte(e.Text)))
	}
	errno := records.AppendErrno(nil, e.Status)
	switch e.Kind {
	case track.EventConnect:
		return fmt.Sprintf("connect to %s, conn_cnt %d%s", nids.Append(nil, e.Node), e.ConnCnt, opFlags(e))
	case track.EventConnected:
		return "connected" + opFlags(e)
	case track.EventRefused:
		return fmt.Sprintf("connect refused: %s", errno)
	case track.EventLateReply:
		text := fmt.Sprintf("late reply to conn_cnt %d", e.ConnCnt)
		if e.Status < 0 {
			text += ": " + string(errno)
		}
		return text
	case track.EventNotConnected:
		return fmt.Sprintf("%s in reply to %s", errno, render.AppendOpcode(nil, e.Opcode))
	case track.EventEvicted:
		return "evicted: the server did not know the connection any more"
	case track.EventCallback:
		reply := "no reply"
		if e.Replied {
			reply = "a reply, but the lock was not released"
		}
		return fmt.Sprintf("%s for lock %#x: %s within %s", render.AppendOpcode(nil, e.Opcode), e.From, reply,
			render.AppendLatency(nil, e.Until.Time-e.Time))
	case track.EventReplay:
		return "replay of " + schema.Plural(e.Count, "request") + transnos(e.From, e.To)
	case track.EventNotReplayed:
		return "not replayed: " + schema.Plural(e.Count, "request") + transnos(e.From, e.To)
	case track.EventLockReplay:
		return "replay of " + schema.Plural(e.Count, "lock")
	case track.EventPing:
		return schema.Plural(e.Count, "ping")
	case track.EventPingUnanswered:
		return schema.Plural(e.Count, "ping") + " without a reply"
	case track.EventContextSetup:
		return "sets up a security context"
	case track.EventContextReady:
		return "security context is ready"
	case track.EventContextFailed:
		return fmt.Sprintf("security context failed: %s", errno)
	case track.EventDisconnect:
		if e.Silence >= silenceShown {
			return fmt.Sprintf("disconnect, not used for %s", render.AppendLatency(nil, e.Silence))
		}
	}
	return e.Kind.String()
}

// opFlags returns the flags of a connect behind a space, nothing without flags.
func opFlags(e *track.Event) string {
	if e.OpFlags == 0 {
		return ""
	}
	return " " + string(schema.AppendFlags(nil, opcodes.MsgConnectFlags, uint64(e.OpFlags), "|"))
}

// transnos returns a range of transaction numbers, where it is known.
func transnos(from, to uint64) string {
	switch to {
	case 0:
		return ""
	case from:
		return fmt.Sprintf(", transno %d", from)
	}
	return fmt.Sprintf(", transno %d to %d", from, to)
}

// ImportRecords returns connections as records.
func ImportRecords(list []*track.Import) []*records.Import {
	all := make([]*records.Import, len(list))
	for k, i := range list {
		all[k] = &records.Import{Import: i, EventText: func(e *track.Event) string { return EventText(e, render.NIDs{}) }}
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
func StateRole(s track.ImportState) schema.Role { return cmp.Or(stateRoles[s], schema.Warning) }

var stateRoles = map[track.ImportState]schema.Role{track.StateFull: schema.Good, track.StateEvicted: schema.Bad,
	track.StateDiscon: schema.Bad, track.StateClosed: schema.Dim, track.StateIdle: schema.Dim, track.StateUnknown: schema.Dim}
