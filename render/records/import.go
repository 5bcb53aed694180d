package records

import (
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// Import is a connection as a record.
type Import struct {
	*track.Import

	// AppendEvent appends the sentence that describes an event.
	AppendEvent func(dst []byte, e *track.Event) []byte
}

// Imports are the keys of connections.
var Imports = Table[*Import]{Record: "import", Keys: []Key[*Import]{
	importText("client_uuid", "uuid that the client connects with, one for each mount", func(i *Import) string { return i.ClientUUID }),
	importText("target", "target, when a message names it or several together prove it", func(i *Import) string { return i.Target }),
	{Name: "target_index", Type: Text, JSON: Omit, Doc: "kind and index of the target, such as OST0001, where they are known without the name of the file system", Get: func(i *Import, v *Value) bool {
		v.SetString(i.TargetIndex)
		return len(v.Text) > 0
	}},
	importText("target_from", "how the target is known, as in RPCs", func(i *Import) string { return i.TargetFrom.String() }),
	importText("target_uuid", "uuid of the target", func(i *Import) string { return i.TargetUUID }),
	{Name: "client", Type: NID, Doc: "node of the client", Get: func(i *Import, v *Value) bool {
		v.NID = i.Client
		return true
	}},
	{Name: "server", Type: NID, Doc: "node of the server", Get: func(i *Import, v *Value) bool {
		v.NID = i.Server
		return true
	}},
	importText("kind", "kind of connection: client, mgc (to the MGS), lwp (light-weight proxy), mdt-mdt or mdt-ost", func(i *Import) string { return i.Kind() }),
	{Name: "handle", Type: Hex, JSON: Omit, Doc: "handle of the connection at the server", Get: func(i *Import, v *Value) bool {
		v.U = i.Handle
		return i.Handle != 0
	}},
	importText("state", "state at the end of the capture, as far as messages prove it: of the import on the client", func(i *Import) string { return i.State.String() }),
	{Name: "since", Type: Object, Doc: "where the import entered that state", Parts: point(func(i *Import) track.Point { return i.Since() }),
		Get: func(i *Import, _ *Value) bool { return i.State != track.StateUnknown }},
	{Name: "conn_cnt", Doc: "number of the last connect attempt, as counted by the client", Get: func(i *Import, v *Value) bool {
		v.U = uint64(i.ConnCnt)
		return i.ConnCnt != 0
	}},
	importCount("attempts", "number of connect requests", func(i *Import) int64 { return int64(i.Attempts) }),
	{Name: "version", Type: Object, Doc: "releases of both sides, as sent with the connect", Parts: []Key[*Import]{
		importVersion("client", "release of the client", func(i *Import) (uint32, bool) { return i.Asked.Version, i.HasAsked }),
		importVersion("server", "release of the server", func(i *Import) (uint32, bool) { return i.Granted.Version, i.HasGranted }),
	}},
	{Name: "flags", Type: Object, Doc: "connect flags of the last connect that has them", Parts: []Key[*Import]{
		importFlags("asked", "flags that the client asked for", func(i *Import) (flags, flags2 uint64, ok bool) {
			return i.Asked.Flags, i.Asked.Flags2, i.HasAsked
		}),
		importFlags("granted", "flags that the server granted", func(i *Import) (flags, flags2 uint64, ok bool) {
			return i.Granted.Flags, i.Granted.Flags2, i.HasGranted
		}),
		importFlags("refused", "flags that were asked for and not granted", func(i *Import) (flags, flags2 uint64, ok bool) {
			flags, flags2 = i.Refused()
			return flags, flags2, i.HasAsked && i.HasGranted
		}),
	}},
	{Name: "instance", Doc: "number of the target's start: it grows with each restart", Get: func(i *Import, v *Value) bool {
		v.U = uint64(i.Granted.Instance)
		return i.HasGranted
	}},
	{Name: "last_committed", Type: Decimal, Doc: "last transaction that the server reported as written to disk", Get: func(i *Import, v *Value) bool {
		v.U = i.LastCommitted
		return i.HasCommitted
	}},
	{Name: "last_transno", Type: Decimal, Doc: "last transaction that a reply had", Get: func(i *Import, v *Value) bool {
		v.U = i.LastTransno
		return i.HasCommitted
	}},
	importCount("requests", "number of requests", func(i *Import) int64 { return i.Requests }),
	importCount("replies", "number of replies", func(i *Import) int64 { return i.Replies }),
	importCount("pings", "number of pings", func(i *Import) int64 { return i.Pings }),
	importCount("evictions", "how often the server evicted the client", func(i *Import) int64 { return int64(i.Evictions) }),
	importCount("retransmits", "number of TCP segments of its connections that were sent again, as in tcp; or of InfiniBand packets with bytes of its RPCs", func(i *Import) int64 { return i.Retransmits() }),
	{Name: "tcp", Type: Object, Doc: "number of TCP segments of the connections that carry its messages, by what TCP did, as tshark marks them; a segment counts for one import, that of the last message", Parts: []Key[*Import]{
		importCount("retransmission", "sent again, with the fast and the spurious ones", func(i *Import) int64 { return i.TCP().Retransmissions }),
		importCount("fast_retransmission", "sent again after duplicate ACKs", func(i *Import) int64 { return i.TCP().Fast }),
		importCount("spurious_retransmission", "sent again, though all of their bytes were acknowledged", func(i *Import) int64 { return i.TCP().Spurious }),
		importCount("out_of_order", "overtaken by another segment", func(i *Import) int64 { return i.TCP().OutOfOrder }),
		importCount("zero_window", "that announce a full receive buffer", func(i *Import) int64 { return i.TCP().ZeroWindows }),
	}},
	{Name: "rtt", Type: Duration, JSON: Omit, Doc: "round trip from the capture point to the server, by the ACKs on the connection of its last request", Get: func(i *Import, v *Value) bool {
		return v.setDuration(i.RTT, i.RTT != 0)
	}},
	{Name: "first", Type: Object, Doc: "the first message of the connection", Parts: point(func(i *Import) track.Point { return i.First })},
	{Name: "last", Type: Object, Doc: "the last message of the connection", Parts: point(func(i *Import) track.Point { return i.Last })},
	{Name: "dropped", JSON: Omit, Doc: "number of entries of history and events that were too many to keep", Get: func(i *Import, v *Value) bool {
		v.U = uint64(i.Dropped)
		return i.Dropped > 0
	}},
	{Name: "history", Type: Object, Doc: "changes of the state, each with the frame that proves it",
		Len: func(i *Import) int { return len(i.History) },
		Parts: append(pointAt(func(i *Import, n int) track.Point { return i.History[n].Point }),
			Key[*Import]{Name: "state", Type: Text, Doc: "the new state", At: func(i *Import, n int, v *Value) bool {
				v.SetString(i.History[n].State.String())
				return true
			}})},
	{Name: "events", Type: Object, Doc: "what happened to the connection, by time", Len: func(i *Import) int { return len(i.Events) },
		Parts: append(pointAt(func(i *Import, n int) track.Point { return i.Events[n].Point }), events...)},
}}

var events = []Key[*Import]{
	{Name: "event", Type: Text, Doc: "code of what happened, such as connect or evicted", At: func(i *Import, n int, v *Value) bool {
		v.SetString(i.Events[n].Kind.String())
		return true
	}},
	{Name: "count", JSON: Omit, Doc: "number of successive events that are one entry", At: func(i *Import, n int, v *Value) bool {
		v.U = uint64(i.Events[n].Count)
		return v.U > 1
	}},
	{Name: "until", Type: Object, JSON: Omit, Doc: "the last of several events", Parts: pointAt(func(i *Import, n int) track.Point { return i.Events[n].Until }),
		At: func(i *Import, n int, _ *Value) bool { return i.Events[n].Count > 1 }},
	{Name: "text", Type: Text, Doc: "a sentence for people", At: func(i *Import, n int, v *Value) bool {
		v.Text = i.AppendEvent(v.Text[:0:0], &i.Events[n])
		return true
	}},
}

// importText makes a key of a text, null when it is empty.
func importText(name, doc string, get func(i *Import) string) Key[*Import] {
	return Key[*Import]{Name: name, Type: Text, Doc: doc, Get: func(i *Import, v *Value) bool {
		v.SetString(get(i))
		return len(v.Text) > 0
	}}
}

// importCount makes a key of a number.
func importCount(name, doc string, get func(i *Import) int64) Key[*Import] {
	return Key[*Import]{Name: name, Doc: doc, Get: func(i *Import, v *Value) bool {
		v.U = uint64(get(i))
		return true
	}}
}

// importVersion makes a key of a release, null when it is unknown.
func importVersion(name, doc string, get func(i *Import) (version uint32, ok bool)) Key[*Import] {
	return Key[*Import]{Name: name, Type: Text, Doc: doc, Get: func(i *Import, v *Value) bool {
		version, ok := get(i)
		v.Text = schema.AppendVersion(v.Text[:0:0], version)
		return ok && version != 0
	}}
}

// importFlags makes a key of the two words of connect flags.
func importFlags(name, doc string, get func(i *Import) (flags, flags2 uint64, ok bool)) Key[*Import] {
	return Key[*Import]{Name: name, Type: Strings, Doc: doc, Get: func(i *Import, v *Value) bool {
		flags, flags2, ok := get(i)
		v.Strings = appendFlagNames(v.Strings[:0:0], opcodes.ObdConnectFlags, flags)
		v.Strings = appendFlagNames(v.Strings, opcodes.ObdConnectFlags2, flags2)
		return ok
	}}
}

// appendFlagNames appends the names of the set bits, the others as one number.
func appendFlagNames(list []string, names *schema.Names, word uint64) []string {
	rest := names.Set(word, func(v *schema.Value) { list = append(list, v.Name) })
	if rest != 0 {
		list = append(list, string(schema.AppendHex(nil, rest)))
	}
	return list
}
