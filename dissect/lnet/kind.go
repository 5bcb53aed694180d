package lnet

import "github.com/lshark/lshark/internal/fifo"

// Kind is the kind of a message, by the uppermost layer that it belongs to.
type Kind uint8

// The kinds of messages, by layer from the lowest.
const (
	Unknown    Kind = iota
	Connreq         // request of the connecting side: to the acceptor, or o2iblnd CONNREQ
	Connack         // o2iblnd CONNACK, the connection is accepted
	Connrej         // an InfiniBand connection is refused
	Dreq            // one end of an InfiniBand connection asks to end it
	Drep            // the answer to a Dreq
	Hello           // socklnd hello
	Noop            // socklnd keep-alive or zero-copy acknowledgement, or o2iblnd NOOP
	Ack             // LNet ACK
	Get             // LNet GET of a bulk
	GetReply        // LNet REPLY, the data of a GET
	Bulk            // LNet PUT to a bulk portal
	Ping            // LNet GET of a peer's interfaces
	PingReply       // reply to a ping
	Push            // LNet PUT of the sender's interfaces
	Selftest        // LNet selftest
	Request         // ptlrpc request
	Reply           // ptlrpc reply
	EarlyReply      // ptlrpc early reply: the server needs more time
)

var kindNames = [...]string{"unknown", "connreq", "connack", "connrej", "dreq", "drep", "hello", "noop", "ack", "get", "getreply", "bulk", "ping",
	"ping_reply", "push", "selftest", "request", "reply", "early_reply"}

func (k Kind) String() string { return kindNames[k] }

// KindNames returns the names of all kinds, in their order.
func KindNames() []string { return kindNames[:] }

// Role is what the messages to an LNet portal are for.
type Role uint8

// The roles.
const (
	RoleUnknown  Role = iota
	RolePing          // LNet ping and discovery
	RoleRequest       // ptlrpc requests
	RoleReply         // ptlrpc replies
	RoleBulk          // ptlrpc bulk
	RoleSelftest      // LNet selftest
)

var portalRoles = [64]Role{
	0: RolePing,
	4: RoleReply, 10: RoleReply, 16: RoleReply, 18: RoleReply, 25: RoleReply, 27: RoleReply,
	6: RoleRequest, 7: RoleRequest, 12: RoleRequest, 13: RoleRequest, 15: RoleRequest, 17: RoleRequest,
	22: RoleRequest, // setattr queue, until 2.13
	23: RoleRequest, 24: RoleRequest, 26: RoleRequest, 28: RoleRequest, 29: RoleRequest,
	30: RoleRequest, 31: RoleRequest, 32: RoleRequest,
	8: RoleBulk, 14: RoleBulk, 33: RoleBulk,
	50: RoleSelftest, 51: RoleSelftest, 52: RoleSelftest,
}

// PortalRole returns what a portal is for.
func PortalRole(portal uint32) Role {
	if portal >= uint32(len(portalRoles)) {
		return RoleUnknown
	}
	return portalRoles[portal]
}

const pingBits = 0x8000000000000000

// Kind returns the kind of a message by its header alone: every REPLY is a
// GetReply, whatever its GET was for.
func (h *Header) Kind() Kind {
	switch h.Type {
	case TypeAck:
		return Ack
	case TypeReply:
		return GetReply
	case TypeHello:
		return Hello
	}
	get := h.Type == TypeGet
	switch PortalRole(h.Portal) {
	case RolePing:
		if h.MatchBits != pingBits {
			return Unknown
		}
		if get {
			return Ping
		}
		return Push
	case RoleSelftest:
		return Selftest
	case RoleBulk:
		if get {
			return Get
		}
		return Bulk
	case RoleRequest:
		if !get {
			return Request
		}
	case RoleReply:
		if !get {
			return Reply
		}
	}
	return Unknown
}

// maxPendingGets bounds the GETs whose REPLY is awaited.
const maxPendingGets = 1024

// pendingGets holds the GETs whose REPLY is not bulk data. A
// REPLY has no portal, only the handle of its GET, and may come on another
// connection.
type pendingGets struct {
	replies *fifo.Map[getKey, Kind]
}

type getKey struct {
	handle [16]byte
	sender NID
}

func newPendingGets() pendingGets {
	return pendingGets{fifo.NewMap[getKey, Kind](maxPendingGets)}
}

// kind returns the kind of a message that is complete.
func (g pendingGets) kind(h *Header) Kind {
	k := h.Kind()
	switch {
	case h.Type == TypeGet && k == Ping:
		fifo.Put(g.replies, getKey{h.Handle, h.Src}, PingReply)
	case h.Type == TypeGet && k == Selftest:
		fifo.Put(g.replies, getKey{h.Handle, h.Src}, Selftest)
	case h.Type == TypeReply && fifo.Len(g.replies) > 0:
		if reply, ok := fifo.Get(g.replies, getKey{h.Handle, h.Dst}); ok {
			return reply
		}
	}
	return k
}

const magicPing = 0x70696e67

// isPingInfo reports whether the payload of a REPLY is that of a ping rather than
// bulk data, for pings that were not captured: by the magic, the process id of
// kernel Lustre and the length of the list.
func isPingInfo(b []byte) bool {
	if len(b) < 16 {
		return false
	}
	o := orderLittle
	if o.u32(b) != magicPing {
		o = orderBig
	}
	return o.u32(b) == magicPing && o.u32(b[8:]) == kernelPid && o.u32(b[12:]) <= uint32(len(b)/16)
}
