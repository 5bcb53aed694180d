package simulator

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
)

// Error numbers.
const (
	ok          = 0
	eio         = -5
	ebusy       = -16
	enodev      = -19
	einval      = -22
	enospc      = -28
	erofs       = -30
	enotconn    = -107
	einprogress = -115
	edquot      = -122
)

// rpc is a request, from its first send to its end.
type rpc struct {
	op           *operation
	xid, mbits   uint64
	from, to     *host
	imp          *imp // nil: a callback
	job          string
	buffers      [][]byte
	flags        uint32
	connectFlags uint32
	connect      bool
	fetch        int // bytes that the server fetches
	give         int // bytes that the server gives

	sends    int
	first    int64 // when it was sent first
	timeout  int64 // what it tells the server
	deadline int64
	finished bool
	ended    int64 // 0: not yet; of a lock, when it was granted

	done func(a *answer) // called once, at the client

	// What the server does with it.
	life     int    // of the server when it took it
	instance uint32 // of the target then
	serving  bool
	due      int64 // when the client will not wait any longer, as the server knows it
	arrival  int64
	served   *answer // that was sent
	answerer func() *answer
	target   *target
	lock     *lock             // that it asks for, or gives back
	before   func(then func()) // what it waits for before it touches the storage; nil: nothing
	service  *service
}

// answer is the result of an RPC.
type answer struct {
	status       int32
	connectFlags uint32
	buffers      [][]byte
	handle       uint64
	instance     uint32
	blocked      bool // of a lock: it is not granted yet
}

// transmit sends the request, again if it was sent before.
func (r *rpc) transmit() {
	h := r.from
	if r.imp != nil {
		r.to = r.imp.server
	}
	r.sends++
	switch {
	case r.sends == 1:
		r.first = h.now
		r.xid = h.xid()
		if !r.connect {
			r.mbits = r.xid
		}
		h.requests = append(h.requests, r)
	case r.fetch+r.give > 0:
		r.mbits = h.xid()
	}
	payload := wiretest.Msg(append([][]byte{r.body()}, r.buffers...)...)
	if !r.connect {
		binary.LittleEndian.PutUint32(payload[20:], 3) // early replies are understood
	}
	h.sendLNet(&message{from: h, to: r.to, kind: requestMessage, data: h.put(r.to, r.op.portal, r.xid, 0, 0, payload),
		arrived: func() { r.to.serve(r) }})
	r.deadline = h.now + r.timeout + second
	r.expire()
}

// expire plans what happens when no reply comes.
func (r *rpc) expire() {
	r.from.after(r.deadline-r.from.now, func() {
		switch {
		case r.finished || r.from.now < r.deadline: // or there is a later deadline
		case r.imp != nil:
			r.imp.expired(r)
		case r.lock.granted && r.sends < 8: // a callback
			r.transmit()
		}
	})
}

// finish ends the request at the client.
func (r *rpc) finish(a *answer) {
	if r.finished {
		return
	}
	r.finished, r.ended = true, r.from.now
	if r.done != nil {
		r.done(a)
	}
}

// reply sends the reply.
func (r *rpc) reply(a *answer) {
	server := r.to
	r.serving, r.served = false, a
	if server.loses != nil && server.loses(r) {
		return
	}
	estimate := 5 * second // that RPCs may take
	if r.service != nil {
		estimate = r.service.estimate
	}
	b := record(wiretest.Body(wiretest.TypeReply, r.op.opcode))
	b.u32(12, 3).u32(20, uint32(a.status)).u32(60, a.connectFlags).u32(68, uint32(estimate/second)).u32(72, r.serviceTime()).u32(76, 33175).u64(80, 1194300000)
	if a.status == enodev || a.status == enotconn {
		b.u32(8, 4712)
	}
	if r.target != nil {
		b.u64(40, r.target.committed)
		if r.op.transno && a.status == ok {
			r.target.transno++
			b.u64(48, r.target.transno)
		}
	}
	if r.connect {
		b.u64(0, a.handle)
	}
	payload := wiretest.Msg(append([][]byte{b}, a.buffers...)...)
	offset := uint32(224)
	if r.connect {
		offset = 0
	}
	ack := uint64(0)
	if r.op.ack && a.status == ok {
		ack = server.handle()
	}
	client := r.from
	r.sendReply(ack, offset, payload, func() {
		if ack != 0 {
			client.sendLNet(&message{from: client, to: server, data: client.ackOf(server, r.xid, ack, len(payload))})
		}
		switch {
		case r.finished:
		case a.status == enotconn && !r.connect && r.op.opcode != opcodes.OBD_PING:
			r.imp.lose() // the request is sent again when the client is connected
		default:
			if r.imp != nil {
				r.imp.heard(r)
			}
			r.finish(a)
			if a.status == enotconn && !r.connect {
				r.imp.lose()
			}
		}
	})
}

// sendReply sends a reply to an offset of the client's buffer.
func (r *rpc) sendReply(ack uint64, offset uint32, payload []byte, arrived func()) {
	data := r.to.put(r.from, r.op.reply, r.xid, ack, offset, payload)
	r.to.sendLNet(&message{from: r.to, to: r.from, kind: replyMessage, data: data, arrived: arrived})
}

// serviceTime is for how many seconds the server has had the request, at least one.
func (r *rpc) serviceTime() uint32 { return uint32(max(1, (r.to.now-r.arrival)/second)) }

// earlyReply asks the client to wait longer.
func (r *rpc) earlyReply() {
	const more = 30
	b := record(wiretest.Body(wiretest.TypeReply, r.op.opcode)).u32(12, 3).u32(68, more).u32(72, r.serviceTime()).u32(76, 33175)
	payload := wiretest.Msg(b)
	binary.LittleEndian.PutUint32(payload[16:], ^crc32.ChecksumIEEE(b)) // of early replies only
	r.sendReply(0, 0, payload, func() {
		if !r.finished {
			r.deadline = r.from.now + timeoutFor(more*second) + second
			r.expire()
		}
	})
}

// timeoutFor is how long a client waits, by the time that its RPCs are expected to take.
func timeoutFor(estimate int64) int64 { return estimate + estimate/4 + 5*second }

// callback sends a request of a server to a client. It is sent again until it is answered or
// the client is gone. Done is called with the answer, or with nil after a time.
func (h *host) callback(l *lock, op *operation, timeout int64, done func(*answer)) {
	if !h.up {
		return
	}
	var answered *answer
	end := h.within(timeout, func() { done(answered) }, func() { done(nil) })
	r := &rpc{op: op, from: h, to: l.client, buffers: l.callbackBuffers(op), lock: l, timeout: 11 * second}
	r.done = func(a *answer) {
		answered = a
		end()
	}
	if op == opSize {
		r.answerer = func() *answer { return &answer{buffers: [][]byte{make([]byte, 56)}} }
	}
	r.transmit()
}

// connectBuffers are those of a connect request.
func (i *imp) connectBuffers() [][]byte {
	instance := i.instance
	if i.handle == 0 {
		instance = 0
	}
	return [][]byte{text(i.target.name + "_UUID"), text(i.uuid), binary.LittleEndian.AppendUint64(nil, i.cookie), connectData(instance), nil}
}

// connectData returns a struct obd_connect_data, in a request and its reply.
func connectData(instance uint32) record {
	const flags = 0xa0425af2e3440038 // grants, adaptive timeouts, recovery and more
	return record(wiretest.ConnectData(flags, 0x02110000)).u32(20, 4<<20).u32(60, instance)
}
