package records

import (
	"slices"
	"sync"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// Import is a connection as a record.
type Import struct {
	*track.Import

	EventText func(e *track.Event) string // the sentence that describes an event
}

// Imports are the keys of connections.
var Imports = Table[*Import]{Record: "import", Command: "imports", Name: "imports", Keys: sync.OnceValue(func() []*Key[*Import] {
	return []*Key[*Import]{
		TextKey("client_uuid", "uuid that the client connects with, one for each mount", func(i *Import) string { return i.ClientUUID }),
		TextKey("target", targetDoc, func(i *Import) string { return i.Target }),
		TextKey("target_index", targetIndexDoc, func(i *Import) string { return i.TargetIndex }).omit(),
		TextKey("target_from", "how the target is known, as in RPCs", func(i *Import) string { return i.TargetFrom.String() }),
		TextKey("target_uuid", "uuid of the target", func(i *Import) string { return i.TargetUUID }),
		NIDKey("client", "node of the client", func(i *Import) lnet.NID { return i.Client }),
		NIDKey("server", "node of the server", func(i *Import) lnet.NID { return i.Server }),
		TextKey("kind", kindDoc, func(i *Import) string { return i.Kind() }),
		NumberKey("handle", "handle of the connection at the server", func(i *Import) uint64 { return i.Handle }).as(Hex).nonzero(),
		TextKey("state", "state at the end of the capture, as far as messages prove it: of the import on the client",
			func(i *Import) string { return i.State.String() }),
		object("since", "where the import entered that state", pointKeys(func(i *Import) track.Point { return i.Since() })...).
			when(func(i *Import) bool { return i.State != track.StateUnknown }),
		NumberKey("conn_cnt", "number of the last connect attempt, as counted by the client", func(i *Import) uint32 { return i.ConnCnt }).known(),
		NumberKey("attempts", "number of connect requests", func(i *Import) int { return i.Attempts }),
		object("version", "releases of both sides, as sent with the connect",
			release("client", "release of the client", func(i *Import) uint32 { return i.Asked.Version }).when(hasAsked),
			release("server", "release of the server", func(i *Import) uint32 { return i.Granted.Version }).when(hasGranted)),
		object("flags", "connect flags of the last connect that has them",
			connectFlags("asked", "flags that the client asked for", func(i *Import) (_, _ uint64) { return i.Asked.Flags, i.Asked.Flags2 }).
				when(hasAsked),
			connectFlags("granted", "flags that the server granted", func(i *Import) (_, _ uint64) { return i.Granted.Flags, i.Granted.Flags2 }).
				when(hasGranted),
			connectFlags("refused", "flags that were asked for and not granted", func(i *Import) (_, _ uint64) { return i.Refused() }).
				when(func(i *Import) bool { return i.HasAsked && i.HasGranted })),
		NumberKey("instance", "number of the target's start: it grows with each restart", func(i *Import) uint32 { return i.Granted.Instance }).
			when(func(i *Import) bool { return i.HasGranted || i.Granted.Instance != 0 }),
		NumberKey("last_committed", "last transaction that the server reported as written to disk",
			func(i *Import) uint64 { return i.LastCommitted }).as(Decimal).when(hasCommitted),
		NumberKey("last_transno", "last transaction that a reply had", func(i *Import) uint64 { return i.LastTransno }).as(Decimal).when(hasCommitted),
		NumberKey("requests", "number of requests", func(i *Import) int64 { return i.Requests }).when(hasMessages),
		NumberKey("replies", "number of replies", func(i *Import) int64 { return i.Replies }).when(hasMessages),
		NumberKey("pings", "number of pings", func(i *Import) int64 { return i.Pings }).when(hasMessages),
		NumberKey("evictions", "how often the server evicted the client", func(i *Import) int { return i.Evictions }),
		NumberKey("retransmits", "number of TCP segments of its connections that were sent again, as in tcp; or of InfiniBand packets with bytes of its RPCs",
			func(i *Import) int64 { return i.Retransmits() }).when(hasMessages),
		object("tcp", "number of TCP segments of the connections that carry its messages, by what TCP did, as tshark marks them; "+
			"a segment counts for one import, that of the last message",
			NumberKey("retransmission", "sent again, with the fast and the spurious ones", func(i *Import) int64 { return i.TCP().Retransmissions }),
			NumberKey("fast_retransmission", "sent again after duplicate ACKs", func(i *Import) int64 { return i.TCP().Fast }),
			NumberKey("spurious_retransmission", "sent again, though all of their bytes were acknowledged",
				func(i *Import) int64 { return i.TCP().Spurious }),
			NumberKey("out_of_order", "overtaken by another segment", func(i *Import) int64 { return i.TCP().OutOfOrder }),
			NumberKey("zero_window", "that announce a full receive buffer", func(i *Import) int64 { return i.TCP().ZeroWindows })).when(hasMessages),
		NumberKey("rtt", "round trip from the capture point to the server, by the ACKs on the connection of its last request",
			func(i *Import) int64 { return i.RTT }).as(Duration).nonzero(),
		object("first", "the first message of the connection", pointKeys(func(i *Import) track.Point { return i.First })...),
		object("last", "the last message of the connection", pointKeys(func(i *Import) track.Point { return i.Last })...),
		NumberKey("dropped", "number of entries of history and events that were too many to keep",
			func(i *Import) int { return i.Dropped }).nonzero(),
		list("history", "changes of the state, each with the frame that proves it", func(i *Import) []track.Transition { return i.History },
			append(pointKeys(func(t *track.Transition) track.Point { return t.Point }),
				anyText("state", "the new state", func(t *track.Transition) string { return t.State.String() }))...),
		listOf("events", "what happened to the connection, by time", func(i *Import) int { return len(i.Events) },
			func(i *Import, n int) importEvent { return importEvent{&i.Events[n], i} }, eventKeys()...),
	}
})}

// ImportEvent is what a message did to a connection: an event, or only a change of its state.
type ImportEvent struct {
	*track.Import
	At      track.Point
	Event   *track.Event      // nil when only the state has changed
	State   track.ImportState // that the message led to, StateUnknown when it stayed
	Text    string
	Dropped int // number of older entries of the connection that were not kept
}

// ImportEvents are the keys of what happened to connections, by time.
var ImportEvents = Table[*ImportEvent]{Record: "import event", Command: "imports", Keys: sync.OnceValue(func() []*Key[*ImportEvent] {
	return slices.Concat(pointKeys(func(e *ImportEvent) track.Point { return e.At }), []*Key[*ImportEvent]{
		NIDKey("client", "node of the client", func(e *ImportEvent) lnet.NID { return e.Client }),
		TextKey("client_uuid", "uuid that the client connects with, one for each mount", func(e *ImportEvent) string { return e.ClientUUID }),
		TextKey("target", targetDoc, func(e *ImportEvent) string { return e.Target }),
		TextKey("target_index", targetIndexDoc, func(e *ImportEvent) string { return e.TargetIndex }).omit(),
		TextKey("kind", kindDoc, func(e *ImportEvent) string { return e.Kind() }),
		TextKey("event", "code of what happened, such as connect or evicted", func(e *ImportEvent) string { return e.Event.Kind.String() }).
			when(func(e *ImportEvent) bool { return e.Event != nil }),
		TextKey("state", "state that the message led to", func(e *ImportEvent) string { return e.State.String() }).
			when(func(e *ImportEvent) bool { return e.State != track.StateUnknown }),
		NumberKey("count", "number of successive events that are one entry", func(e *ImportEvent) int { return e.Event.Count }).omit().when(isRun),
		object("until", "the last of several events", pointKeys(func(e *ImportEvent) track.Point { return e.Event.Until })...).omit().when(isRun),
		anyText("text", "a sentence for people", func(e *ImportEvent) string { return e.Text }),
		NumberKey("dropped", "number of earlier entries of the connection that were too many to keep",
			func(e *ImportEvent) int { return e.Dropped }).nonzero(),
	})
})}

func isRun(e *ImportEvent) bool { return e.Event != nil && e.Event.Count > 1 }

const (
	targetDoc      = "target, when a message names it or several together prove it"
	targetIndexDoc = "kind and index of the target, such as OST0001, where they are known without the name of the file system"
	kindDoc        = "kind of connection: client, mgc (to the MGS), lwp (light-weight proxy), mdt-mdt or mdt-ost"
)

func hasMessages(i *Import) bool  { return !i.FromLog }
func hasAsked(i *Import) bool     { return i.HasAsked }
func hasGranted(i *Import) bool   { return i.HasGranted }
func hasCommitted(i *Import) bool { return i.HasCommitted }

type importEvent struct {
	*track.Event
	of *Import
}

func eventKeys() []*Key[importEvent] {
	isRun := func(e importEvent) bool { return e.Count > 1 }
	return append(pointKeys(func(e importEvent) track.Point { return e.Point }),
		anyText("event", "code of what happened, such as connect or evicted", func(e importEvent) string { return e.Kind.String() }),
		NumberKey("count", "number of successive events that are one entry", func(e importEvent) int { return e.Count }).omit().when(isRun),
		object("until", "the last of several events", pointKeys(func(e importEvent) track.Point { return e.Until })...).omit().when(isRun),
		anyText("text", "a sentence for people", func(e importEvent) string { return e.of.EventText(e.Event) }))
}

func connectFlags(name, doc string, get func(i *Import) (flags, flags2 uint64)) *Key[*Import] {
	return texts(name, doc, func(i *Import) []string {
		flags, flags2 := get(i)
		return connectFlagNames(flags, flags2)
	})
}

// connectFlagNames returns the names of the set bits of connect flags, those without a
// name as one number for each of the two words.
func connectFlagNames(flags, flags2 uint64) []string {
	return slices.Concat(flagNames(opcodes.ObdConnectFlags, flags), flagNames(opcodes.ObdConnectFlags2, flags2))
}

func flagNames(names *schema.Names, word uint64) (list []string) {
	rest := names.Set(word, func(v *schema.Value) { list = append(list, v.Name) })
	if rest != 0 {
		list = append(list, string(schema.AppendHex(nil, rest)))
	}
	return list
}
