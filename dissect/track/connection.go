package track

import (
	"bytes"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// Connection is a connection between a client and a target. UUIDs and target
// are empty where no message names or proves them.
type Connection struct {
	ClientUUID, TargetUUID string
	Target                 string // TargetUUID without "_UUID"
	TargetIndex            string // as in OST0001, where the name of the file system is not known
	Client, Server         lnet.NID
	TargetFrom             TargetSource
	Handle                 uint64 // the server's handle of it, the last one seen

	connectionState `codec:"-"`
}

// connectionState is what connections needs to follow a Connection.
type connectionState struct {
	ahead   bool // the target was found by a look ahead
	imp     *Import
	clients nidSet // of the client, by the requests and replies
	servers nidSet
	handles int    // number of handles that find it
	connCnt uint32 // highest of a request of the client
	upCnt   uint32 // highest of a request that shows the connection up
	up      int64  // time of the reply to the first such request

	callbacks bool // one of the handles is that of callbacks
}

// TargetSource is how the target of a connection is known.
type TargetSource uint8

// The sources. Those from TargetFromNames on are evidence that package targets
// collects.
const (
	TargetUnknown      TargetSource = iota
	TargetFromConnect               // the connect request names it
	TargetFromContext               // the request for the security context names it
	TargetFromNames                 // a list of imports has it
	TargetFromConfig                // a configuration log has it
	TargetFromPortal                // the requests go to the portal of the MGS
	TargetFromService               // only MDT0000 serves such requests
	TargetFromLock                  // the MDT writes its index into the locks that it grants
	TargetFromFLD                   // a server was asked which target has a sequence of FIDs
	TargetFromLayout                // the layout of a file has an object on it
	TargetFromSequence              // it has objects of a sequence that another connection proves to be the target's
	TargetFromLog                   // the log of the client has the name of the import
)

var targetSourceNames = [...]string{"", "connect", "context", "names", "config", "portal", "service", "lock", "fld", "layout", "sequence",
	"log"}

// String returns the name that records have, empty for TargetUnknown.
func (s TargetSource) String() string { return targetSourceNames[s] }

// connections finds connections by handle: the server's export cookie, which
// requests carry, and the client's own, which callbacks carry.
type connections struct {
	handles *fifo.Map[uint64, *Connection]
	names   map[connectionName]*Connection

	contexts *fifo.Map[uint64, *Connection]       // by the handle of a security context
	setups   *fifo.Map[contextSetup, *Connection] // that security contexts were set up for
	closed   *fifo.Map[closedName, *Connection]   // with a disconnect, of unknown clients; nil: there are several

	known      Known
	learnKnown func() Known // called once, nil: was called, or nothing can be known
}

// Known are the connections of a capture by handle, as a first reading has found
// them.
type Known struct {
	byHandle map[uint64]*Connection
	used     map[*Connection]*Connection // those of the second reading
}

// Known returns the connections whose target, or at least its index, is known.
func (t *Pairing) Known() Known {
	k := Known{byHandle: make(map[uint64]*Connection), used: make(map[*Connection]*Connection)}
	for handle, c := range fifo.All(t.connections.handles) {
		if c.Target != "" || c.TargetIndex != "" {
			k.byHandle[handle] = c
		}
	}
	return k
}

type connectionName struct{ client, target string }

// closedName is what is known of a connection from before the capture that was
// closed.
type closedName struct {
	client lnet.NID
	target string // UUID
}

const maxHandles = 1 << 16

func newConnections() connections {
	return connections{handles: fifo.NewMap[uint64, *Connection](maxHandles), names: make(map[connectionName]*Connection),
		contexts: fifo.NewMap[uint64, *Connection](maxHandles), setups: fifo.NewMap[contextSetup, *Connection](maxHandles),
		closed: fifo.NewMap[closedName, *Connection](maxHandles)}
}

// byHandle returns the connection of a handle, nil when it is unknown.
func (t *connections) byHandle(handle uint64) *Connection {
	c, _ := fifo.Get(t.handles, handle)
	return c
}

// learn lets a handle find a connection. Where there are too many, the oldest handle is removed; with the last
// handle of a connection, its name is.
func (t *connections) learn(handle uint64, c *Connection) {
	if handle == 0 || c == nil {
		return
	}
	if before, ok := fifo.Get(t.handles, handle); ok {
		before.handles--
	}
	c.handles++
	_, oldest, evicted := fifo.Put(t.handles, handle, c)
	if !evicted {
		return
	}
	name := connectionName{oldest.ClientUUID, oldest.TargetUUID}
	oldest.callbacks = false // it may have been the handle of callbacks
	if oldest.handles--; oldest.handles == 0 && t.names[name] == oldest {
		delete(t.names, name)
	}
}

// SetTarget sets the target by its UUID.
func (c *Connection) SetTarget(uuid string, from TargetSource) {
	c.TargetUUID, c.Target, c.TargetFrom, c.TargetIndex = uuid, strings.TrimSuffix(uuid, "_UUID"), from, ""
}

// request finds the connection of a request; a connect has its names.
func (t *connections) request(r *RPC, m *dissect.Message) {
	t.find(r, m)
	if c := r.Connection; c != nil {
		c.learnNIDs(r, m.LNet.Src, m.LNet.Dst)
		if !opcodes.IsCallback(r.Opcode) {
			c.connCnt = max(c.connCnt, r.ConnCnt)
		}
		// The client may connect again when it was idle only: if its UUID is not known, that connect is found by its count.
		if opcodes.IsDisconnect(r.Opcode) && c.ClientUUID == "" && c.TargetUUID != "" {
			name := closedName{c.Client, c.TargetUUID}
			if before, ok := fifo.Get(t.closed, name); ok && before != c {
				c = nil // the file system is mounted more than once
			}
			fifo.Put(t.closed, name, c)
		}
	}
}

// learnNIDs adds the NIDs of an RPC, from its client to its server: nodes with
// several rails have more than one.
func (c *Connection) learnNIDs(r *RPC, from, to lnet.NID) {
	if opcodes.IsCallback(r.Opcode) {
		from, to = to, from
	}
	if c.clients.isFirst(from) && c.servers.isFirst(to) {
		return
	}
	c.clients.add(from)
	c.servers.add(to)
}

func (t *connections) find(r *RPC, m *dissect.Message) {
	if len(m.RPC.GSS.Setup.Target) > 0 {
		r.Connection = t.setup(r, m)
		return
	}
	if !opcodes.IsConnect(r.Opcode) || m.Msg == nil {
		r.Connection = t.ofContext(m.RPC.GSS.Handle, t.ofRequest(r))
		return
	}
	target, wholeTarget := connectUUID(m, connectTarget)
	client, wholeClient := connectUUID(m, connectClient)
	if target == "" || !wholeTarget || !wholeClient || len(target) > maxUUID || len(client) > maxUUID {
		if r.Connection = t.ofRequest(r); r.Connection != nil { // of a reconnect: the old handle
			r.Connection.Client, r.Connection.Server = r.Client, r.Server
		}
		return
	}
	name, cookie := connectionName{client, target}, uint64(0)
	if b := m.Msg.Buf(connectCookie); len(b) >= 8 {
		cookie = schema.ReadUint(b[:8], false)
	}
	c := t.names[name]
	if c == nil {
		c = t.byHandle(r.Handle)
		if c == nil || c.IsNamed() {
			c = t.byHandle(cookie)
		}
		if c == nil || c.IsNamed() {
			c, _ = fifo.Get(t.contexts, m.RPC.GSS.Handle)
		}
		if c == nil {
			c, _ = fifo.Get(t.closed, closedName{r.Client, target})
			if c != nil && c.connCnt+1 != r.ConnCnt {
				c = nil
			}
		}
		if c == nil || c.ClientUUID != "" || c.IsNamed() && c.TargetUUID != target {
			c = &Connection{}
		}
		c.ClientUUID = client
		c.SetTarget(target, TargetFromConnect)
		if len(t.names) >= maxHandles {
			clear(t.names)
		}
		t.names[name] = c
	}
	c.Client, c.Server = r.Client, r.Server
	r.Connection = c
	t.learnContext(m.RPC.GSS.Handle, c)
	t.learn(r.Handle, c) // of a reconnect: the old one
	t.learnCallbacks(cookie, c)
}

// learnCallbacks learns the handle of the client, which callbacks carry.
func (t *connections) learnCallbacks(handle uint64, c *Connection) {
	t.learn(handle, c)
	c.callbacks = c.callbacks || handle != 0
}

// FindsCallbacks reports whether callbacks on the connection are known by their handle.
func (c *Connection) FindsCallbacks() bool { return c.callbacks }

// IsFoundAhead reports whether messages that are still to come have proven the target.
func (c *Connection) IsFoundAhead() bool { return c.ahead }

// IsNamed reports whether a message names the target.
func (c *Connection) IsNamed() bool {
	return c.TargetFrom == TargetFromConnect || c.TargetFrom == TargetFromContext
}

// ofRequest returns the connection of a request by its handle. It makes one for a
// connection that was made before the capture began, without names if nothing is
// known about it.
func (t *connections) ofRequest(r *RPC) *Connection {
	c := t.byHandle(r.Handle)
	if c != nil || r.Handle == 0 || !r.HasOpcode {
		return c
	}
	if t.learnKnown != nil {
		learn := t.learnKnown
		t.learnKnown = nil
		t.known = learn()
	}
	switch known := t.known.byHandle[r.Handle]; {
	case known != nil:
		c = t.ofKnown(known, r)
	case !opcodes.IsCallback(r.Opcode):
		c = &Connection{Client: r.Client, Server: r.Server, Handle: r.Handle}
	}
	t.learn(r.Handle, c)
	return c
}

// ofKnown returns the connection for one that a first reading has found.
func (t *connections) ofKnown(known *Connection, r *RPC) *Connection {
	name := connectionName{known.ClientUUID, known.TargetUUID}
	c := t.known.used[known]
	if c == nil && known.ClientUUID != "" {
		c = t.names[name]
	}
	if c == nil {
		c = &Connection{ClientUUID: known.ClientUUID, Client: r.Client, Server: r.Server}
		if opcodes.IsCallback(r.Opcode) {
			c.Client, c.Server = c.Server, c.Client
		} else {
			c.Handle = r.Handle
		}
		c.SetTarget(known.TargetUUID, known.TargetFrom)
		c.TargetIndex, c.ahead, c.callbacks = known.TargetIndex, true, known.callbacks
		if known.ClientUUID != "" && len(t.names) < maxHandles {
			t.names[name] = c
		}
	}
	t.known.used[known] = c
	return c
}

// reply learns the export cookie from the reply to a connect.
func (t *connections) reply(r *RPC, m *dissect.Message) {
	if r.Connection != nil && (m.LNet.Dst != r.Client || m.LNet.Src != r.Server) {
		r.Connection.learnNIDs(r, m.LNet.Dst, m.LNet.Src)
	}
	if c := r.Connection; c != nil && r.ConnCnt > c.upCnt && r.showsConnected() {
		c.upCnt, c.up = r.ConnCnt, m.Time
	}
	if r.Opcode == opcodes.SEC_CTX_INIT && r.HasRequest && m.RPC.GSS.Errno() == 0 {
		t.learnContext(m.RPC.GSS.Handle, r.Connection)
	}
	if opcodes.IsConnect(r.Opcode) && r.Connection != nil && r.Status == 0 && r.Has(opcodes.PbStatus) {
		r.Connection.Handle = m.RPC.Handle
		t.learn(m.RPC.Handle, r.Connection)
	}
}

// contextSetup is for what a client sets up security contexts.
type contextSetup struct {
	client lnet.NID
	target string
}

// setup returns the connection that a client sets up a security context for. It
// makes one without a client UUID where the connect was not seen: it comes
// after the context, or is encrypted.
func (t *connections) setup(r *RPC, m *dissect.Message) *Connection {
	s := &m.RPC.GSS.Setup
	if len(s.Target) > maxUUID {
		return nil
	}
	key := contextSetup{r.Client, string(s.Target)}
	c, ok := fifo.Get(t.setups, key)
	if !ok {
		c = &Connection{Client: r.Client, Server: r.Server}
		c.SetTarget(key.target, TargetFromContext)
		fifo.Put(t.setups, key, c)
	}
	t.learnContext(s.Reverse, c)
	return c
}

// learnContext adds the security context of a connection.
func (t *connections) learnContext(handle uint64, c *Connection) {
	if handle != 0 && c != nil {
		fifo.Put(t.contexts, handle, c)
	}
}

// ofContext returns the connection of a request by its security context, where
// its handle leads to none, or to one whose target is unknown.
func (t *connections) ofContext(context uint64, byHandle *Connection) *Connection {
	if context == 0 {
		return byHandle
	}
	c, ok := fifo.Get(t.contexts, context)
	switch {
	case !ok:
		return byHandle
	case byHandle == nil:
		return c
	case byHandle.TargetUUID == "":
		byHandle.SetTarget(c.TargetUUID, TargetFromContext)
	}
	return byHandle
}

// Buffers of a connect request.
const (
	connectTarget = 1
	connectClient = 2
	connectCookie = 3
	connectData   = 4

	maxUUID = 40
)

// connectUUID returns the UUID in a buffer of a connect request, and whether it is
// complete: if the message is truncated, the NUL must have been captured.
func connectUUID(m *dissect.Message, buffer int) (uuid string, whole bool) {
	b, _, terminated := bytes.Cut(m.Msg.Buf(buffer), []byte{0})
	return string(b), terminated || !m.RPC.Cut
}

// ConnectPair is a connect request and its reply.
type ConnectPair struct {
	Request *dissect.Message // nil: not captured
	Reply   *dissect.Message // nil: not captured
	Before  int64            // time of the message before the first of the two
}

// Connects pairs connect requests with their replies, by xid and client.
type Connects struct {
	done    func(*ConnectPair)
	pending *fifo.Map[connectKey, *ConnectPair]
}

type connectKey struct {
	xid    uint64
	client lnet.NID
}

// What is kept of requests until their replies come.
const (
	maxPendingConnects = 4096
	maxConnectBytes    = 8 << 10 // of one; a real one has less than 1 KiB
)

// NewConnects makes a Connects. Each pair is given to done, which must not keep
// it: with the reply, or without one when too many requests are pending and at
// the end.
func NewConnects(done func(*ConnectPair)) *Connects {
	return &Connects{done: done, pending: fifo.NewMap[connectKey, *ConnectPair](maxPendingConnects)}
}

// Message takes the next message and the time of the one before it. It reports
// whether the message belongs to a connect, so that it is part of a pair. A
// request that is sent again while the first is pending is ignored.
func (c *Connects) Message(m *dissect.Message, before int64) bool {
	if !m.RPC.HasOpcode || !opcodes.IsConnect(m.RPC.Opcode) {
		return false
	}
	switch m.Kind {
	case lnet.Request:
		c.request(m, before)
	case lnet.Reply:
		p, ok := fifo.Delete(c.pending, connectKey{m.RPC.XID, m.LNet.Dst})
		if !ok {
			p = &ConnectPair{Before: before}
		}
		p.Reply = m
		c.done(p)
	default:
		return false
	}
	return true
}

func (c *Connects) request(m *dissect.Message, before int64) {
	key := connectKey{m.RPC.XID, m.LNet.Src}
	if _, ok := fifo.Get(c.pending, key); ok {
		return
	}
	if len(m.Data) > maxConnectBytes {
		c.done(&ConnectPair{Request: m, Before: before})
		return
	}
	if _, oldest, evicted := fifo.Put(c.pending, key, &ConnectPair{Request: m.Clone(), Before: before}); evicted {
		c.done(oldest)
	}
}

// Close gives the requests without a reply to done, oldest first.
func (c *Connects) Close() {
	for _, p := range fifo.All(c.pending) {
		c.done(p)
	}
	c.pending = fifo.NewMap[connectKey, *ConnectPair](maxPendingConnects)
}
