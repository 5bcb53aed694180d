package nested

import (
	"bytes"
	"encoding/binary"
	"slices"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// Link is how it is known that an RPC is nested in another one.
type Link uint8

// The links.
const (
	Unlinked Link = iota
	ByTime        // nothing else explains a wait; no proof
	ByThread      // the service thread that works for the other RPC sent it
	ByFID         // both name the same FID, sequence of FIDs, or owner of quota
	ByLock        // it is about a lock on what the other RPC names, or gives back
)

var linkNames = [...]string{"", "time", "thread", "fid", "lock"}

// String returns the word in JSON.
func (l Link) String() string { return linkNames[l] }

// Call is an RPC that a server sent, maybe because of one that it served.
type Call struct {
	Number uint64 // see Tracker.Number
	Link   Link

	span   track.Span // To is 0 while there is no reply
	thread *thread
	opcode uint32
	to     lnet.NID

	guess    *operation // it was linked to without a proof
	logged   bool       // the log of the server proves the link
	only     bool       // the server served one operation only when it was sent
	lock     bool       // it names the resource of a lock
	mode     uint64
	extent   bool // it is about a lock on bytes of an object, from begin on
	begin    uint64
	changes  bool // an OUT_UPDATE with changes, which threads for that purpose send
	objects  [][]byte
	fids     []track.FID // of objects, where they are FIDs
	quota    opcodes.QuotaID
	hasQuota bool

	start, end uint64 // sequences in the reply to a SEQ_QUERY
}

const (
	maxObjects = 16      // of a call
	maxCalled  = 1 << 12 // resources of a server whose locks were called back
)

// resource is the name of a lock's resource without its other two words.
type resource [2]uint64

// calledBack has the server's handles of the last locks on a resource that it asked to have
// back.
type calledBack struct {
	handles [8][8]byte
	count   int
}

// thread is a thread of a server, by its process id.
type thread struct {
	serves *operation // not answered yet; nil: unknown
	portal uint32     // of the operations that it served
	served int        // operations
	alone  int        // calls while the server served nothing
	daemon int64      // when it last sent an RPC that service threads do not send; 0: never
}

// daemonTime is how long a thread that sent such an RPC is taken for one that does so: the node
// may have been started again since, with other process ids.
const daemonTime = int64(10 * time.Minute)

func (th *thread) isDaemon(now int64) bool { return th.daemon != 0 && now-th.daemon < daemonTime }

// isShared reports whether the thread of a call is none that serves RPCs.
func (c *Call) isShared() bool {
	return c.thread.isDaemon(c.span.From) || c.thread.alone > c.thread.served
}

// nestedOpcodes are those of RPCs that service threads send for those that they serve.
var nestedOpcodes = []uint32{opcodes.LDLM_BL_CALLBACK, opcodes.LDLM_CP_CALLBACK, opcodes.LDLM_GL_CALLBACK, opcodes.LDLM_ENQUEUE,
	opcodes.OUT_UPDATE, opcodes.OBD_IDX_READ, opcodes.SEQ_QUERY, opcodes.FLD_QUERY, opcodes.QUOTA_DQACQ}

// newCall reads what a request is about.
func (t *Tracker) newCall(s *server, th *thread, r *track.RPC, m *dissect.Message) *Call {
	c := &Call{Number: t.entry(r).number, thread: th, opcode: r.Opcode, to: r.Server, span: track.Span{From: m.Time}}
	if m.Msg == nil {
		return c
	}
	c.quota, c.hasQuota = opcodes.QuotaIDOf(m.Msg)
	switch c.opcode {
	case opcodes.OUT_UPDATE:
		c.changes = opcodes.UpdatedObjects(m.Msg, func(b []byte) {
			var fid track.FID
			if fid.Read(b, m.Msg.Big) {
				c.addFID(fid, byteOrder(m.Msg.Big))
			}
		}) != 1
	case opcodes.FLD_QUERY:
		// Many operations are about a sequence: the one that asks must be among those seen.
		if seq := opcodes.QueriedSequence(m.Msg); seq != nil && s.isCovered {
			c.add(seq)
		}
	case opcodes.OBD_IDX_READ:
		if r.HasFID {
			c.addFID(r.FID, byteOrder(m.Msg.Big))
		}
	case opcodes.LDLM_ENQUEUE, opcodes.LDLM_BL_CALLBACK, opcodes.LDLM_CP_CALLBACK, opcodes.LDLM_GL_CALLBACK:
		c.readLock(s, m)
	}
	return c
}

func (c *Call) readLock(s *server, m *dissect.Message) {
	d, ok := opcodes.LockDescOf(m.Msg)
	if c.lock = true; !ok {
		return
	}
	c.mode, c.extent, c.begin = d.Requested, d.Kind == opcodes.ExtentLock, d.Start
	c.addFID(track.FID{Seq: d.Name[0], OID: uint32(d.Name[1]), Ver: uint32(d.Name[1] >> 32)}, byteOrder(m.Msg.Big))
	name := resource{d.Name[0], d.Name[1]}
	if c.opcode == opcodes.LDLM_CP_CALLBACK {
		if back, ok := fifo.Get(s.called, name); ok {
			for i := range min(back.count, len(back.handles)) {
				c.add(back.handles[i][:])
			}
		}
	}
	if c.opcode == opcodes.LDLM_BL_CALLBACK || c.opcode == opcodes.LDLM_CP_CALLBACK && opcodes.IsCompletionWithBlocking(m.Msg) {
		back := fifo.GetOrNew(s.called, name)
		binary.LittleEndian.PutUint64(back.handles[back.count%len(back.handles)][:], opcodes.LockHandle(m.Msg, 1))
		back.count++
	}
}

func byteOrder(big bool) binary.AppendByteOrder {
	if big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// add adds something that the call names, as it is on the wire.
func (c *Call) add(object []byte) {
	if len(c.objects) < maxObjects && len(bytes.Trim(object, "\x00")) > 0 {
		c.objects = append(c.objects, bytes.Clone(object))
	}
}

func (c *Call) addFID(fid track.FID, order binary.AppendByteOrder) {
	if len(c.fids) < maxObjects {
		c.fids = append(c.fids, fid)
		c.add(fid.Append(nil, order))
	}
}

// allocatedFor reports whether a reply to a SEQ_QUERY passes on sequences that the call got.
func (c *Call) allocatedFor(m *dissect.Message) bool {
	if c.end == 0 || m.Msg == nil || m.RPC.Opcode != opcodes.SEQ_QUERY {
		return false
	}
	start, end, ok := opcodes.AllocatedSequences(m.Msg)
	return ok && start >= c.start && end <= c.end
}

// isNamedIn reports whether bytes of a message name something that the call names.
func (c *Call) isNamedIn(b []byte) bool {
	return slices.ContainsFunc(c.objects, func(object []byte) bool { return bytes.Contains(b, object) })
}

// nameLink is the link to an operation that names what the call names.
func (c *Call) nameLink() Link {
	if c.lock {
		return ByLock
	}
	return ByFID
}
