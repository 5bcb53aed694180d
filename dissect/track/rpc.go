package track

import (
	"encoding/binary"
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// RPC is one remote procedure call: the request, however often it was sent,
// and all that belongs to it. A Pairing reuses its records: one is valid until
// the Done hook returns.
type RPC struct {
	Identity
	Request
	Reply

	HasRequest bool
	HasReply   bool
	OneWay     bool    // has no reply
	Expired    bool    // waited longer than the timeout
	Missing    Missing // why there is no reply; set when the RPC has ended
	reopened   bool    // the request was sent again after the reply
	Sends      int     // how often the request was sent
	Early      int     // number of early replies

	// Seen has when each capture point saw the RPC.
	Seen []Sighting

	Nested Nested // zero unless package nested follows the RPCs

	Log *debuglog.RPC // what the logs of its nodes have about it; nil: nothing

	created int64    // time of its first message
	lock    lockWait // of an LDLM_ENQUEUE

	record `codec:"-"`
}

// Identity is what all messages of an RPC have in common.
type Identity struct {
	XID        uint64
	Opcode     uint32
	HasOpcode  bool
	Inferred   uint32          // the opcode by the buffers of the request, where no message has it; 0: not known
	Encrypted  bool            // GSS privacy: neither opcode nor body can be read
	Variant    *schema.Variant `codec:"shared"`
	Client     lnet.NID        // the node that sent the request, also when it is a server
	Server     lnet.NID
	Connection *Connection // nil: its connect was not seen
	Handle     uint64      // pb_handle of the request: the server's handle of the connection
}

// Request has the fields of the request.
type Request struct {
	Portal      uint32
	UID, GID    uint32
	HasUser     bool  // UID and GID were sent; clients before 2.16 do not
	PID         int32 // pb_status of the request: of the process or kernel thread that sent it; 0: unknown
	FID         FID
	HasFID      bool
	Flags       uint32 // pb_flags of all sends
	HasFlags    bool   // those of the first were captured
	hasJob      bool
	jobLen      uint8
	ConnCnt     uint32
	RequestSize int // bytes of the lustre_msg

	job  [32]byte
	name []byte
}

// Reply has the fields of the reply.
type Reply struct {
	Status      int32
	OtherErrors []int32 // errors that are not in Status, negative
	Type        uint32  // pb_type
	Transno     uint64
	Service     uint32 // pb_service_time, see ServiceLimit
	Estimate    uint32 // seconds, as expected by the server
	ReplySize   int    // bytes of the lustre_msg

	IntentDone bool // Status is LOCK_ABORTED, which says only that no lock came with the result of an intent

	body     int  // bytes of the ptlrpc_body that were captured
	notThere bool // of an OUT_UPDATE: what it asks for is not there
}

// record is what a Pairing needs to find an RPC and to end it.
type record struct {
	state    state
	place    fifo.Element[RPC] // in the queue of its state
	byXID    fifo.Entry[RPC]
	slot     int32  // index of attached values
	use      uint32 // how often the record was used
	deadline int64  // when the client gives up at the latest; 0 when unknown

	byClientLock, byServerLock fifo.Entry[RPC] // in lockWaits
}

// state is how far an RPC has come.
type state uint8

const (
	waiting   state = iota // for its reply
	blocked                // has its reply, but its lock is not granted yet
	lingering              // complete; late messages may still come
	refused                // complete, but the reply is an error after which the client may send the request again
	ended                  // was given to Done; absorbs late duplicates
)

// Nested sums up the RPCs that the server sent to others because of an RPC, between its
// request and its reply.
type Nested struct {
	Count int
	Time  int64 // nanoseconds in which at least one of them had no reply
	All   bool  // a capture point sees what the server sends to all others
}

// NestedCount returns how many nested RPCs are known; ok is false when there may be some that
// were not captured, and none was.
func (r *RPC) NestedCount() (n int, ok bool) {
	return r.Nested.Count, r.Nested.Count > 0 || r.Nested.All
}

// NestedTime returns the part of the latency in nanoseconds in which nested RPCs that are
// known had no reply.
func (r *RPC) NestedTime() (ns int64, ok bool) {
	_, ok = r.NestedCount()
	return r.Nested.Time, ok
}

// OwnTime returns the rest of the latency in nanoseconds, where all nested RPCs are known.
func (r *RPC) OwnTime() (ns int64, ok bool) {
	latency, ok := r.Latency()
	return max(0, latency-r.Nested.Time), ok && r.Nested.All
}

// FID is a Lustre file identifier.
type FID struct {
	Seq      uint64
	OID, Ver uint32
}

// Read reads a struct lu_fid; it returns false when there is no FID.
func (f *FID) Read(b []byte, big bool) bool {
	if len(b) < 16 {
		return false
	}
	f.Seq = schema.ReadUint(b[:8], big)
	f.OID, f.Ver = uint32(schema.ReadUint(b[8:12], big)), uint32(schema.ReadUint(b[12:16], big))
	return *f != FID{}
}

// Append appends the FID as a struct lu_fid.
func (f FID) Append(b []byte, order binary.AppendByteOrder) []byte {
	return order.AppendUint32(order.AppendUint32(order.AppendUint64(b, f.Seq), f.OID), f.Ver)
}

// Job returns the job id, empty when the request had none.
func (r *Request) Job() []byte { return r.job[:r.jobLen] }

// HasJob reports whether the request has a field for a job id, and it was
// captured.
func (r *Request) HasJob() bool { return r.hasJob }

// Name returns the file name that the request is about, empty when it has
// none.
func (r *Request) Name() []byte { return r.name }

// Replay reports whether the request was replayed after a recovery.
func (r *Request) Replay() bool { return r.Flags&dissect.FlagReplay != 0 }

// maxOtherErrors errors are kept of an RPC.
const maxOtherErrors = 8

func (r *Reply) addOtherError(errno int32) {
	if errno < 0 && len(r.OtherErrors) < maxOtherErrors {
		r.OtherErrors = append(r.OtherErrors, errno)
	}
}

// Has reports whether a field of the reply's ptlrpc_body was captured. It was
// not when the reply is truncated or encrypted.
func (r *RPC) Has(f *schema.Field) bool { return r.HasReply && r.body >= f.Off+f.Size }

// ServiceLimit returns a number of seconds that the server worked less than.
// The server subtracts clock readings in whole seconds and sends 1 at least, so
// 3 stands for any time between 2 and 4 seconds, 1 for any below 2; 0 is not
// set.
func (r *RPC) ServiceLimit() (seconds int64, ok bool) {
	return int64(r.Service) + 1, r.Has(opcodes.PbServiceTime) && r.Service > 0
}

// Target returns the name of the target without "_UUID", empty when it is
// unknown.
func (r *RPC) Target() string {
	if r.Connection == nil {
		return ""
	}
	return r.Connection.Target
}

// TargetIndex returns the index of the target, as in OST0001, where it is known
// without the name of the file system; else it is empty.
func (r *RPC) TargetIndex() string {
	if r.Connection == nil {
		return ""
	}
	return r.Connection.TargetIndex
}

// TargetFrom returns how the target is known.
func (r *RPC) TargetFrom() TargetSource {
	if r.Connection == nil {
		return TargetUnknown
	}
	return r.Connection.TargetFrom
}

// Unanswered reports whether the server did not answer, though the reply was due
// and everything that the server sent was captured. It is known when the RPC has
// ended.
func (r *RPC) Unanswered() bool { return r.Missing == Unanswered }

// Does reports whether the operation does one of some actions.
func (r *RPC) Does(any schema.Actions) bool { return opcodes.ActionsOf(r.Opcode, r.Variant)&any != 0 }

// IsWaiting reports whether the RPC waits for its reply: it is in flight.
func (r *RPC) IsWaiting() bool { return r.state == waiting && !r.OneWay }

// Failed reports whether the status of the reply is an error. OtherErrors may
// have more: of replies after which the request was sent again, and of parts of
// the operation.
func (r *RPC) Failed() bool { return r.HasReply && r.Status < 0 }

// contextError returns the error of a failed GSS call, as a number among errnos,
// 0 for none.
func (r *RPC) contextError() int32 {
	for _, e := range r.OtherErrors {
		if opcodes.GSSErrorName(e) != "" {
			return e
		}
	}
	return 0
}

// IsExpectedError reports whether the status of the reply is an error that is
// part of normal operation: a configuration log that need not exist, or an
// object or a name that an OUT_UPDATE looks up.
func (r *RPC) IsExpectedError() bool {
	if !r.HasReply || r.Status != opcodes.ENOENT || !r.HasOpcode {
		return false
	}
	return r.notThere || r.Opcode == opcodes.LLOG_ORIGIN_HANDLE_CREATE && opcodes.IsOptionalLog(r.name)
}

// IsSentAgain reports whether the request was sent again after its reply, which is an
// error, and was not answered since.
func (r *RPC) IsSentAgain() bool { return r.reopened }

// isRetried reports whether the reply is an error after which a client sends the
// request again, with the same xid: when it has connected again, or after a while. Pings
// are not sent again, and EAGAIN says of a lock that somebody holds it.
func (r *RPC) isRetried() bool {
	switch {
	case !r.HasRequest || !r.HasReply || !r.HasOpcode, r.Opcode == opcodes.OBD_PING,
		opcodes.IsConnect(r.Opcode), opcodes.IsDisconnect(r.Opcode), opcodes.IsCallback(r.Opcode):
		return false
	case r.Status == opcodes.EAGAIN:
		return r.Opcode != opcodes.LDLM_ENQUEUE
	}
	return r.Status == opcodes.ENOTCONN || r.Status == opcodes.ENODEV || r.Status == opcodes.ESHUTDOWN || r.Status == opcodes.EINPROGRESS
}

// showsConnected reports whether the reply shows that the connection is up: a client
// sends normal requests only over a full connection.
func (r *RPC) showsConnected() bool {
	const recovery = dissect.FlagReqReplayDone | dissect.FlagLockReplayDone
	return r.HasRequest && r.Type == dissect.TypeReply && !r.Replay() && r.Flags&recovery == 0 &&
		!opcodes.IsConnect(r.Opcode) && !opcodes.SetsContext(r.Opcode)
}

// Clone copies an RPC, to be kept after the Done hook has returned.
func (r *RPC) Clone() *RPC {
	c := *r
	c.Seen, c.name = slices.Clone(r.Seen), slices.Clone(r.name)
	for i := range c.Seen {
		if t := c.Seen[i].transfers; t != nil {
			own := *t
			c.Seen[i].transfers = &own
		}
	}
	c.OtherErrors = slices.Clone(r.OtherErrors)
	if r.Log != nil {
		own := *r.Log
		c.Log = &own
	}
	c.record = record{slot: -1}
	return &c
}

// Attached holds a value for each RPC, for the use of a package that follows
// RPCs. A value is found by a small number that the RPC has until it ends, so it
// costs neither a lookup nor an allocation. The zero Attached is ready for use.
type Attached[T any] struct{ blocks []*[attachedBlock]T }

// attachedBlock is the number of values in a block: growth copies none.
const attachedBlock = 256

// Of returns the value of an RPC. Reset it in the Done hook, because the next RPC with
// the same number starts with it. A Clone has no value.
func (a *Attached[T]) Of(r *RPC) *T {
	block, at := uint(r.slot)/attachedBlock, uint(r.slot)%attachedBlock
	for uint(len(a.blocks)) <= block {
		a.blocks = append(a.blocks, new([attachedBlock]T))
	}
	return &a.blocks[block][at]
}
