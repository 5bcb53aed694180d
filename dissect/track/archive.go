package track

import (
	"errors"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/codec"
	"github.com/lshark/lshark/opcodes/schema"
)

// Archive writes RPCs that have ended as bytes, a tenth of the size of a Clone, and
// reads them back. One goroutine may write while others read.
type Archive struct {
	variants    codec.Interned[*schema.Variant]
	connections codec.Interned[connectionNames]
	files       codec.Interned[string] // and other texts that repeat
}

// connectionNames is what is kept of a Connection.
type connectionNames struct {
	clientUUID, targetUUID, target, targetIndex string
	client, server                              lnet.NID
	from                                        TargetSource
	handle                                      uint64
}

var errArchive = errors.New("the bytes are not those of an RPC")

// Append appends an RPC to dst.
func (a *Archive) Append(dst []byte, r *RPC) []byte {
	c := codec.Writer(dst)
	a.rpc(&c, r)
	return c.Written()
}

// Read makes r the RPC that Append wrote. It refers to b, and has a Connection of its own
// with what was known of the connection by then. r must be used for nothing else, or be
// zero. Attached values of it are those of r, whichever RPC was read.
func (a *Archive) Read(b []byte, r *RPC) error {
	*r = RPC{Seen: r.Seen, Log: r.Log, Identity: Identity{Connection: r.Connection}, Reply: Reply{OtherErrors: r.OtherErrors}}
	c := codec.Reader(b)
	if a.rpc(&c, r); c.Failed() {
		return errArchive
	}
	return nil
}

// rpc visits the fields of an RPC.
func (a *Archive) rpc(c *codec.Codec, r *RPC) {
	c.Bools(&r.HasOpcode, &r.Encrypted, &r.HasUser, &r.HasFID, &r.HasFlags, &r.hasJob, &r.notThere, &r.IntentDone, &r.HasRequest, &r.HasReply,
		&r.OneWay, &r.Expired, &r.reopened, &r.Nested.All)
	a.identity(c, &r.Identity)
	a.request(c, &r.Request)
	reply(c, &r.Reply)
	codec.Number(c, &r.Missing)
	codec.Number(c, &r.Sends)
	codec.Number(c, &r.Early)
	codec.Number(c, &r.created)
	codec.Number(c, &r.Nested.Count)
	codec.Number(c, &r.Nested.Time)
	if c.Present(r.lock.blocked || r.lock.end != LockWaitNone) {
		a.lockWait(c, &r.lock)
	}
	codec.Slice(c, &r.Seen, a.sighting)
	codec.Pointer(c, &r.Log, a.log)
}

// log visits what logs have about an RPC.
func (a *Archive) log(c *codec.Codec, x *debuglog.RPC) {
	c.Bools(&x.HasClient, &x.HasServer, &x.Client.Served, &x.Server.Served, &x.Cause.Served)
	codec.Number(c, &x.Handled)
	codec.Number(c, &x.NotOnWire)
	for _, call := range []*debuglog.Call{&x.Client, &x.Server, &x.Cause} {
		codec.Number(c, &call.XID)
		codec.Number(c, &call.Opcode)
		codec.NID(c, &call.Peer)
		for _, n := range []*int{&call.Log, &call.Resent} {
			codec.Number(c, n)
		}
		for _, n := range []*int64{&call.Sent, &call.Completed, &call.Arrived, &call.Handling, &call.Handled, &call.Service, &call.Total,
			&call.Failed, &call.FirstLine, &call.LastLine} {
			codec.Number(c, n)
		}
		for _, n := range []*int32{&call.Status, &call.ReplyStatus, &call.Refs, &call.Intent} {
			codec.Number(c, n)
		}
		codec.Number(c, &call.Transno)
		codec.Number(c, &call.PID)
		for _, text := range []*string{&call.File, &call.Process, &call.UUID, &call.Job, &call.Target, &call.Import} {
			a.files.Visit(c, text, (*codec.Codec).Text)
		}
	}
}

func (a *Archive) identity(c *codec.Codec, x *Identity) {
	codec.Number(c, &x.XID)
	codec.Number(c, &x.Opcode)
	codec.Number(c, &x.Inferred)
	codec.NID(c, &x.Client)
	codec.NID(c, &x.Server)
	codec.Number(c, &x.Handle)
	a.variants.Visit(c, &x.Variant, func(*codec.Codec, **schema.Variant) {}) // the protocol has few
	codec.Pointer(c, &x.Connection, a.connection)
}

// connection visits the exported fields of a connection.
func (a *Archive) connection(c *codec.Codec, x *Connection) {
	n := connectionNames{x.ClientUUID, x.TargetUUID, x.Target, x.TargetIndex, x.Client, x.Server, x.TargetFrom, x.Handle}
	a.connections.Visit(c, &n, func(c *codec.Codec, n *connectionNames) {
		c.Text(&n.clientUUID)
		c.Text(&n.targetUUID)
		c.Text(&n.target)
		c.Text(&n.targetIndex)
		codec.NID(c, &n.client)
		codec.NID(c, &n.server)
		codec.Number(c, &n.from)
		codec.Number(c, &n.handle)
	})
	if c.Reading() {
		*x = Connection{ClientUUID: n.clientUUID, TargetUUID: n.targetUUID, Target: n.target, TargetIndex: n.targetIndex,
			Client: n.client, Server: n.server, TargetFrom: n.from, Handle: n.handle}
	}
}

func (a *Archive) request(c *codec.Codec, x *Request) {
	codec.Number(c, &x.Portal)
	codec.Number(c, &x.UID)
	codec.Number(c, &x.GID)
	codec.Number(c, &x.PID)
	codec.Number(c, &x.FID.Seq)
	codec.Number(c, &x.FID.OID)
	codec.Number(c, &x.FID.Ver)
	codec.Number(c, &x.Flags)
	codec.Number(c, &x.ConnCnt)
	codec.Number(c, &x.RequestSize)
	codec.Number(c, &x.jobLen)
	c.Array(x.job[:min(int(x.jobLen), len(x.job))])
	c.Bytes(&x.name)
}

func reply(c *codec.Codec, x *Reply) {
	codec.Number(c, &x.Status)
	codec.Slice(c, &x.OtherErrors, codec.Number[int32])
	codec.Number(c, &x.Type)
	codec.Number(c, &x.Transno)
	codec.Number(c, &x.Service)
	codec.Number(c, &x.Estimate)
	codec.Number(c, &x.ReplySize)
	codec.Number(c, &x.body)
}

// lockWait visits how a lock was waited for.
func (a *Archive) lockWait(c *codec.Codec, x *lockWait) {
	c.Bools(&x.blocked)
	codec.Number(c, &x.end)
	a.point(c, &x.at)
	codec.Number(c, &x.source)
}

func (a *Archive) point(c *codec.Codec, p *Point) {
	codec.Number(c, &p.Frame)
	codec.Number(c, &p.Time)
	a.files.Visit(c, &p.File, (*codec.Codec).Text)
}

func span(c *codec.Codec, s *Span) {
	codec.Number(c, &s.From)
	codec.Number(c, &s.To)
}

func (a *Archive) sighting(c *codec.Codec, s *Sighting) {
	codec.Number(c, &s.Source)
	a.point(c, &s.Request)
	a.point(c, &s.Reply)
	span(c, &s.Bulk)
	codec.Number(c, &s.Bytes)
	codec.Number(c, &s.sends)
	codec.Number(c, &s.early)
	codec.Addr(c, &s.sender)
	codec.Addr(c, &s.receiver)
	codec.Number(c, &s.flags)
	codec.Number(c, &s.mbits)
	codec.Number(c, &s.parts[0])
	codec.Number(c, &s.parts[1])
	codec.Number(c, &s.pendingGets)
	c.Bools(&s.reopened, &s.writes.captured)
	codec.Pointer(c, &s.transfers, func(c *codec.Codec, list *transfers) {
		for i := range list {
			codec.Transfer(c, &list[i])
		}
	})
	codec.Number(c, &s.rtt)
	codec.Number(c, &s.writes.time)
	codec.Number(c, &s.writes.until)
}
