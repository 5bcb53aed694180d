package simulator

import (
	"fmt"
	"slices"

	"github.com/lshark/lshark/opcodes"
)

// imp is the connection of a client to a target.
type imp struct {
	client *host
	target *target
	server *host // that it asks: it has the target, or had it
	uuid   string
	cookie uint64
	handle uint64 // the server's
	count  uint32 // of connects
	state  state

	requests []*rpc // without a reply, in the order of their first sends
	delayed  []*rpc // until it is connected
	estimate int64  // how long RPCs are expected to take
	used     int64  // when something was last sent
	instance uint32
	locks    []*lock // that the client has

	// Of an MDT: objects that the OST has created in advance, and who waits for one.
	objects  int
	creating bool
	wanted   []func()
}

type state uint8

const (
	disconnected state = iota
	connecting
	recovering
	full
	idle // it was given up, as nobody used it
)

const connectTimeout = 10 * second

// connectTo makes the connection of a client to a target.
func (h *host) connectTo(t *target) *imp {
	i := &imp{client: h, target: t, server: t.host, cookie: h.handle(), estimate: 5 * second, instance: t.instance}
	i.uuid = fmt.Sprintf("%08x-5cfd-49c4-8853-%012x", 0xa161a024+h.index*65537+h.life*77+h.mounts*7, 0x4210427f0feb+h.index)
	h.imports = append(h.imports, i)
	return i
}

// mount connects a client to all targets.
func (h *host) mount() {
	for _, i := range h.imports {
		i.connect()
	}
	h.ping()
}

// ping keeps connections alive that are not used, and tries to connect those that are lost.
func (h *host) ping() {
	h.after(h.pingInterval, func() {
		for _, i := range h.imports {
			switch {
			case i.state == full && h.now-i.used > h.pingInterval/2:
				i.ping(0, nil)
			case i.state == disconnected:
				i.connect()
			}
		}
		h.ping()
	})
}

func (i *imp) ping(flags uint32, done func(*answer)) {
	r := i.request(i.target.operation(opcodes.OBD_PING), nil, done)
	r.flags = flags
	i.send(r)
}

// disconnect tells the target that the client does not need it any more.
func (i *imp) disconnect() {
	r := i.request(i.target.operation(portals[i.target.kind].connect+1), nil, nil)
	r.answerer = func() *answer {
		i.target.evict(i.client)
		return &answer{}
	}
	i.send(r)
	i.state, i.locks = idle, nil
}

// unmount lets the jobs of a client end, and then the client disconnect from all targets.
func (h *host) unmount() {
	for _, p := range h.jobs {
		p.paused = true
	}
	mounts := h.mounts
	var wait func()
	wait = func() {
		if h.mounts != mounts {
			return
		}
		if slices.ContainsFunc(h.jobs, func(p *process) bool { return !p.waits }) {
			h.after(second, wait)
			return
		}
		for _, i := range h.imports {
			if i.state == full {
				i.disconnect()
			}
			i.state = idle
		}
	}
	wait()
}

// mountAgain mounts a client that was unmounted. Its jobs begin anew.
func (h *host) mountAgain() {
	h.mounts++
	h.newMount()
	for _, i := range h.imports {
		i.connect()
	}
	for _, p := range h.jobs {
		p.paused = false
	}
}

// newMount gives a client new connections, which are not open, and its jobs no files.
func (h *host) newMount() {
	h.imports = nil
	for _, t := range h.cluster.targets {
		h.connectTo(t)
	}
	for _, p := range h.jobs {
		p.use(h.imports)
		p.files = nil
	}
}

// request makes a request for the target.
func (i *imp) request(op *operation, buffers [][]byte, done func(*answer)) *rpc {
	return &rpc{op: op, from: i.client, to: i.server, imp: i, target: i.target, buffers: buffers, done: done}
}

// send sends a request, now or when the client is connected. Those with flags take part in recovery.
func (i *imp) send(r *rpc) {
	if i.state == idle {
		i.count, i.handle = 0, 0
		i.connect()
	}
	switch {
	case r.flags != 0:
		r.timeout = 40 * second
	case i.state != full:
		i.delayed = append(i.delayed, r)
		return
	default:
		r.timeout = timeoutFor(i.estimate)
		i.used = i.client.now
	}
	i.requests = append(i.requests, r)
	r.transmit()
}

// heard is called with each reply.
func (i *imp) heard(r *rpc) {
	i.requests = without(i.requests, r)
	if r.service != nil && !r.connect {
		i.estimate = max(i.estimate, r.service.estimate)
	}
}

// expired is called when no reply came in time.
func (i *imp) expired(r *rpc) {
	if r.connect {
		r.finished = true
		if i.state == connecting {
			i.state = disconnected
		}
		return
	}
	i.lose()
}

// lose finds that the connection is lost.
func (i *imp) lose() {
	if i.state == full || i.state == recovering {
		i.state = disconnected
		i.connect()
	}
}

// unreachable is called when LNet has given up connections to another node.
func (h *host) unreachable(other *host) {
	for _, i := range h.imports {
		if i.server == other && i.state == full && len(i.requests) > 0 {
			i.state = disconnected
			h.after(second+h.random.Int64N(h.pingInterval), func() {
				if i.state == disconnected {
					i.connect()
				}
			})
		} else if i.server == other && i.state == connecting {
			i.state = disconnected
		}
	}
}

// connect sends a connect.
func (i *imp) connect() {
	if t := i.target; i.state == disconnected && t.backup != nil { // it tries both servers in turn
		if i.server == t.primary {
			i.server = t.backup
		} else {
			i.server = t.primary
		}
	}
	i.state = connecting
	i.count++
	r := i.request(i.target.operation(portals[i.target.kind].connect), i.connectBuffers(), nil)
	r.connect, r.timeout = true, connectTimeout
	if i.handle == 0 {
		r.connectFlags = connectInitial
	}
	r.done = func(a *answer) { i.connected(r, a) }
	r.transmit()
}

const (
	connectRecovering = 0x1
	connectReconnect  = 0x2
	connectReplayable = 0x4
	connectInitial    = 0x20
)

// connected takes the reply to a connect.
func (i *imp) connected(r *rpc, a *answer) {
	if i.state != connecting {
		return
	}
	if a.status != ok {
		i.state = disconnected
		return
	}
	i.handle = a.handle
	i.instance = a.instance
	switch {
	case a.connectFlags&connectRecovering != 0:
		i.state = recovering
		i.recover()
	case a.connectFlags&connectReconnect == 0 && r.connectFlags&connectInitial == 0:
		i.evicted()
	default:
		i.resume()
	}
}

// evicted fails all that was sent, and begins anew.
func (i *imp) evicted() {
	for _, l := range i.locks {
		if then := l.onGranted; then != nil {
			l.onGranted = nil
			i.client.after(0, func() { then(false) })
		}
		l.held = false
	}
	i.locks = nil
	list := i.requests
	i.requests = nil
	i.state = full
	for _, r := range list {
		r.finish(&answer{status: eio})
	}
	i.resume()
}

// recover takes part in the recovery of the target.
func (i *imp) recover() {
	left := 1
	next := func(*answer) {
		if left--; left > 0 || i.state != recovering {
			return
		}
		i.ping(replayDone|lockReplayDone, func(a *answer) {
			if i.state == recovering && a.status == ok {
				i.resume()
			}
		})
	}
	for _, l := range i.locks {
		if l.held {
			left++
			l.replay(i, next)
		}
	}
	next(nil)
}

// resume sends again what had no reply, and what waited.
func (i *imp) resume() {
	i.state = full
	i.requests = slices.DeleteFunc(i.requests, func(r *rpc) bool {
		r.finished = r.finished || r.op.opcode == opcodes.OBD_PING || r.flags != 0 // these are not sent again
		return r.finished
	})
	for _, r := range slices.Clone(i.requests) {
		r.timeout = timeoutFor(i.estimate)
		r.transmit()
	}
	list := i.delayed
	i.delayed = nil
	for _, r := range list {
		i.send(r)
	}
}
