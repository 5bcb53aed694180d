package records

import (
	"sync"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

// Arrow is a row of a sequence diagram: a message, bytes that were not captured, or a line
// of a log.
type Arrow struct {
	At        track.Point
	Line      int64  // of the log
	From, To  string // NIDs, or addresses where no NID is known
	Kind      string
	Opcode    uint32
	HasOpcode bool
	Variant   string
	XID       uint64
	Text      string
	Marks     []string
	Note      string
}

// Kinds of what is no message.
const (
	Loss   = "loss"
	Logged = "log"
)

// Arrows are the keys of arrows.
var Arrows = Table[*Arrow]{Record: "arrow", Command: "ladder", Keys: sync.OnceValue(func() []*Key[*Arrow] {
	return append(placeKeys(func(a *Arrow) track.Point { return a.At }, func(a *Arrow) string { return a.At.File }),
		NumberKey("line", "of a line of a log: its number in the log, which is file", func(a *Arrow) int64 { return a.Line }).nonzero(),
		TextKey("from", "node that sent the message, or wrote the line: its NID, or its address", func(a *Arrow) string { return a.From }),
		TextKey("to", "node that it is for", func(a *Arrow) string { return a.To }),
		TextKey("kind", "what the message is, as in messages; "+Loss+": bytes that were not captured; "+Logged+": a line of a log",
			func(a *Arrow) string { return a.Kind }),
		enum("opcode", opcodes.Opcodes, "operation, also of bulk messages", func(a *Arrow) uint32 { return a.Opcode }).omit().
			when(func(a *Arrow) bool { return a.HasOpcode }),
		TextKey("variant", variantDoc, func(a *Arrow) string { return a.Variant }).omit(),
		NumberKey("xid", "number of the RPC", func(a *Arrow) uint64 { return a.XID }).as(Decimal).nonzero(),
		TextKey("text", "what matters of it, as in the line of the message; what a line of a log says", func(a *Arrow) string { return a.Text }).omit(),
		textsIf("marks", "what is unusual: retransmitted (by TCP or InfiniBand), incomplete, resent, no_reply, no_request (of a reply), failed",
			func(a *Arrow) []string { return a.Marks }),
		TextKey("note", "the same in words, with how long a lock was waited for and what shows an eviction",
			func(a *Arrow) string { return a.Note }).omit())
})}
