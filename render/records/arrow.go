package records

import (
	"sync"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

// Arrow is an arrow of a sequence diagram: a message, or bytes that were not captured.
type Arrow struct {
	At        track.Point
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

// Loss is the kind of an arrow for bytes that were not captured.
const Loss = "loss"

// Arrows are the keys of arrows.
var Arrows = Table[*Arrow]{Record: "arrow", Keys: sync.OnceValue(func() []Key[*Arrow] {
	return append(pointKeys(func(a *Arrow) track.Point { return a.At }),
		text("from", "node that sent the message: its NID, or its address", func(a *Arrow) string { return a.From }),
		text("to", "node that it is for", func(a *Arrow) string { return a.To }),
		text("kind", "what the message is, as in messages; "+Loss+": bytes that were not captured", func(a *Arrow) string { return a.Kind }),
		enum("opcode", opcodes.Opcodes, "operation, also of bulk messages", func(a *Arrow) uint32 { return a.Opcode }).omit().
			when(func(a *Arrow) bool { return a.HasOpcode }),
		text("variant", variantDoc, func(a *Arrow) string { return a.Variant }).omit(),
		number("xid", "number of the RPC", func(a *Arrow) uint64 { return a.XID }).as(Decimal).nonzero(),
		text("text", "what matters of it, as in the line of the message", func(a *Arrow) string { return a.Text }).omit(),
		textsIf("marks", "what is unusual: retransmitted (by TCP or InfiniBand), incomplete, resent, no_reply, no_request (of a reply), failed",
			func(a *Arrow) []string { return a.Marks }),
		text("note", "the same in words, with how long a lock was waited for and what shows an eviction",
			func(a *Arrow) string { return a.Note }).omit())
})}
