package follow

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/evictions"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/dissect/track/recovery"
)

// Hooks are funcs that a Follower calls; those that are nil are not called. What they
// get is valid during the call, unless it says otherwise.
type Hooks struct {
	// Opcodes are the operations of the RPCs that Sent, Answered and Done get; nil:
	// all. RPCs whose opcode is unknown are passed to Hooks without Opcodes only.
	Opcodes []uint32

	Sent     func(*track.RPC, *dissect.Message) // each request, also when it is sent again
	Answered func(*track.RPC, *dissect.Message) // each first final reply
	Done     func(*track.RPC)                   // each RPC when it has ended

	// Unseen gets each RPC that the log of a node has as sent, and the capture of that node
	// has not.
	Unseen func(*track.RPC)

	// Line gets each line of a log that is about a connection.
	Line func(*track.LogLine)

	// Lock gets each lock when it has ended, or at the end of the capture. It may be
	// kept.
	Lock func(*locks.Lock)

	// Eviction gets each eviction when its cause has been decided.
	Eviction func(*evictions.Eviction)

	// Recovery gets what happened to a target that clients had lost, when the target
	// is lost again, or at the end of the capture.
	Recovery func(*recovery.Recovery)

	// LockGranted gets each lock that had to wait for others, when it is granted: for
	// those that report it before the lock has ended. Times may still change.
	LockGranted func(*locks.Lock)

	// Import gets a connection after each message that added to its log.
	Import func(*track.Import, track.Point)

	// Message gets each message with its RPC, which is nil for those that belong to
	// none: LNet's own, and those of connections.
	Message func(*track.RPC, *dissect.Message)

	// TransferUpdate gets what TCP did for a message after it was handed out: its segments
	// were sent again, or acknowledged late. number is its Message.Number.
	TransferUpdate func(number int64, t *lnet.Transfer)

	// Lost gets each run of bytes that was not captured and in which messages may
	// have begun.
	Lost func(*lnet.Loss)

	// TCPEvent gets each TCP segment that was sent again, came out of order, closes or
	// opens a receive window, or aborts a connection.
	TCPEvent func(*lnet.TCPEvent)

	// Active gets, for each direction of a connection, the first segment or packet of each second,
	// and each segment that opens, closes or aborts a TCP connection.
	Active func(*lnet.Activity)

	// IBEvent gets each negative acknowledgement of an InfiniBand packet, and each packet from
	// which on packets were sent again.
	IBEvent func(*lnet.IBEvent)

	// Tick is called about once a minute of capture time, with the time: for those
	// that compare what happened so far.
	Tick func(now int64)

	// End is called at the end of the capture, after everything else.
	End func()

	// What only parts have: last gets each RPC when it has ended, after Done of all;
	// advance gets the time, and close is called at the end of the capture.
	last    func(*track.RPC)
	advance func(now int64)
	close   func()
}

// operationHooks are the hooks that get the RPCs of an operation.
type operationHooks struct {
	sent, answered []func(*track.RPC, *dissect.Message)
	done           []func(*track.RPC)
}

func (o *operationHooks) add(h *Hooks) {
	if h.Sent != nil {
		o.sent = append(o.sent, h.Sent)
	}
	if h.Answered != nil {
		o.answered = append(o.answered, h.Answered)
	}
	if h.Done != nil {
		o.done = append(o.done, h.Done)
	}
}

// hookLists are the hooks by what they get.
type hookLists struct {
	all        []Hooks
	operations []*operationHooks // by opcode; nil and those beyond the end: other
	other      operationHooks
	message    []func(*track.RPC, *dissect.Message)
}

func newHookLists(all []Hooks) hookLists {
	l := hookLists{all: all}
	for i := range all {
		for _, opc := range all[i].Opcodes {
			if n := int(opc) + 1 - len(l.operations); n > 0 {
				l.operations = append(l.operations, make([]*operationHooks, n)...)
			}
			l.operations[opc] = &operationHooks{}
		}
		if message := all[i].Message; message != nil {
			l.message = append(l.message, message)
		}
	}
	for i := range all {
		h := &all[i]
		for _, opc := range h.Opcodes {
			l.operations[opc].add(h)
		}
		if h.Opcodes == nil {
			l.other.add(h)
			for _, o := range l.operations {
				if o != nil {
					o.add(h)
				}
			}
		}
	}
	return l
}

// of returns the hooks that get an RPC.
func (l *hookLists) of(r *track.RPC) *operationHooks {
	if r.HasOpcode && int64(r.Opcode) < int64(len(l.operations)) {
		if o := l.operations[r.Opcode]; o != nil {
			return o
		}
	}
	return &l.other
}
