package track

import (
	"bytes"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// Link is a connection between a client and a target as their handles name it.
type Link struct {
	ClientUUID, TargetUUID string
	Target                 string // TargetUUID without "_UUID"
	Client, Server         lnet.NID
	Handle                 uint64 // the server's handle of it, as last learned

	imp   *Import
	known int // handles that find it
}

// links finds connections by handle: the server's export cookie, which
// requests carry, and the client's own, which callbacks carry.
type links struct {
	byHandle *fifo.Map[uint64, *Link]
	byName   map[linkName]*Link
}

type linkName struct{ client, target string }

const maxHandles = 1 << 16

func newLinks() links {
	return links{byHandle: fifo.NewMap[uint64, *Link](maxHandles), byName: make(map[linkName]*Link)}
}

// learn ties a handle to a connection.
func (l *links) learn(handle uint64, link *Link) {
	if handle == 0 || link == nil {
		return
	}
	if before, ok := l.byHandle.Get(handle); ok {
		before.known--
	}
	link.known++
	if _, oldest, evicted := l.byHandle.Put(handle, link); evicted {
		l.unname(oldest)
	}
}

// unname counts a handle that was evicted; with the last one the connection's
// name goes.
func (l *links) unname(link *Link) {
	name := linkName{link.ClientUUID, link.TargetUUID}
	if link.known--; link.known == 0 && l.byName[name] == link {
		delete(l.byName, name)
	}
}

// connectName is a name that a connect has in a buffer, and whether all of it is there:
// its NUL tells, where the message is cut.
func connectName(m *dissect.Message, buffer int) (name string, whole bool) {
	b, _, ended := bytes.Cut(m.Msg.Buf(buffer), []byte{0})
	return string(b), ended || !m.RPC.Cut
}

// handle looks a handle up; nil: unknown.
func (l *links) handle(handle uint64) *Link {
	link, _ := l.byHandle.Get(handle)
	return link
}

// request finds the connection of a request; a connect names it.
func (l *links) request(r *RPC, m *dissect.Message) {
	if !IsConnect(r.Opcode) || m.Msg == nil {
		r.Link = l.find(r)
		return
	}
	target, whole := connectName(m, connTarget)
	client, both := connectName(m, connClient)
	if target == "" || !whole || !both || len(target) > maxUUID || len(client) > maxUUID {
		return
	}
	name := linkName{client, target}
	link := l.byName[name]
	if link == nil {
		link = l.handle(r.Handle)
		if link == nil || link.TargetUUID != "" {
			link = &Link{}
		}
		link.ClientUUID, link.TargetUUID, link.Target = client, target, strings.TrimSuffix(target, "_UUID")
		if len(l.byName) >= maxHandles {
			clear(l.byName)
		}
		l.byName[name] = link
	}
	link.Client, link.Server = r.Client, r.Server
	r.Link = link
	l.learn(r.Handle, link) // of a reconnect: the old one
	if b := m.Msg.Buf(connCookie); len(b) >= 8 {
		l.learn(schema.ReadUint(b[:8], false), link)
	}
}

// find looks a handle up. A connection that was made before the capture began
// has no names until it is made again.
func (l *links) find(r *RPC) *Link {
	link := l.handle(r.Handle)
	if link == nil && r.Handle != 0 && r.HasOpcode && !IsCallback(r.Opcode) {
		link = &Link{Client: r.Client, Server: r.Server, Handle: r.Handle}
		l.learn(r.Handle, link)
	}
	return link
}

// reply learns the export cookie from the reply to a connect.
func (l *links) reply(r *RPC, m *dissect.Message) {
	if IsConnect(r.Opcode) && r.Link != nil && r.Status == 0 {
		r.Link.Handle = m.RPC.Handle
		l.learn(m.RPC.Handle, r.Link)
	}
}

// Buffers of a connect request.
const (
	connTarget = 1
	connClient = 2
	connCookie = 3
	connData   = 4

	maxUUID = 40
)

// IsConnect says whether an operation makes a connection.
func IsConnect(opc uint32) bool {
	return opc == opcodes.OST_CONNECT || opc == opcodes.MDS_CONNECT || opc == opcodes.MGS_CONNECT
}

// IsDisconnect says whether an operation ends a connection.
func IsDisconnect(opc uint32) bool {
	return opc == opcodes.OST_DISCONNECT || opc == opcodes.MDS_DISCONNECT || opc == opcodes.MGS_DISCONNECT
}
