package simulator

// targetKind is what a target stores.
type targetKind uint8

const (
	mgs targetKind = iota
	mdt
	ost
)

// target is an MDT, an OST or the MGS.
type target struct {
	name     string
	kind     targetKind
	index    uint32
	host     *host
	primary  *host // of a target that moves: where it was first,
	backup   *host // and the other server that may have it; nil: none
	up       bool
	instance uint32
	exports  []*export // by the index of the client
	waiting  []func()  // until recovery ends
	inWindow bool      // of recovery

	transno, committed uint64

	device   device
	full     bool
	barrier  bool
	refusals []*refusal // of its faults
	objects  uint32

	resources []*resource
}

// refusal is an error with which a target answers some requests.
type refusal struct {
	status int32
	of     func(r *rpc) bool
}

// export is what a target knows of a client.
type export struct {
	handle uint64
	uuid   string
	heard  int64
	fresh  bool // it came in this recovery for the first time
	done   bool // its part of recovery
}

// device is the storage of a target.
type device struct {
	hung    bool
	slow    int64    // for each access
	share   float64  // of accesses that are slow
	waiting []func() // for a device that hangs
	speed   float64  // how long its accesses take, 1 is usual
	pauses  bool     // a few take much longer, as on busy disks
}

// access takes the time of the storage, and goes on.
func (t *target) access(a access, then func()) {
	h := t.host
	ms := [...]float64{cachedRead: 0.15, diskRead: 0, change: 0.8, writeData: 2, syncData: 6}[a]
	if a == diskRead {
		ms = pick(h.cluster, []float64{0.3, 2, 4})
	}
	d := int64(0)
	if a != noAccess {
		x := ms * (0.6 + h.random.ExpFloat64()*0.6) * t.device.speed
		d = int64(x * float64(millisecond))
	}
	storage := a > cachedRead // else the memory of the server has it
	if storage && t.device.slow > 0 && h.random.Float64() < t.device.share {
		d += t.device.slow/2 + h.random.Int64N(t.device.slow)
	}
	if storage && t.device.pauses && h.random.IntN(150) == 0 {
		d += h.between(50, 900) * millisecond
	}
	if storage && t.device.hung {
		t.device.waiting = append(t.device.waiting, func() { h.after(d, then) })
		return
	}
	h.after(d, then)
}

// service is the threads of a node that serve the requests of a portal.
type service struct {
	host     *host
	portal   uint32
	threads  int
	busy     int
	queue    []*rpc
	estimate int64 // how long its RPCs took at most lately, at least 5 s

	job      string // whose requests are limited; empty: none
	interval int64  // between two requests of that job
	next     int64  // when it may be served again
}

// serviceFor returns the service of a portal.
func (h *host) serviceFor(portal uint32) *service {
	for _, s := range h.services {
		if s.portal == portal {
			return s
		}
	}
	s := &service{host: h, portal: portal, threads: 16, estimate: 5 * second}
	h.services = append(h.services, s)
	return s
}

// serve takes a request at a server, or a callback at a client.
func (h *host) serve(r *rpc) {
	if r.life != h.life || r.target != nil && r.instance != r.target.instance {
		r.life, r.serving, r.served = h.life, false, nil
	}
	if r.target != nil {
		r.instance = r.target.instance
	}
	r.due = h.now + r.timeout
	switch {
	case r.serving: // it was sent again, and is still in progress
		return
	case r.served != nil && r.served.status != enotconn && !r.connect:
		r.arrival = h.now
		h.after(100*microsecond, func() { r.reply(r.served) })
		return
	}
	r.serving, r.arrival = true, h.now
	if r.imp == nil {
		h.serveCallback(r)
		return
	}
	r.service = h.serviceFor(r.op.portal)
	r.service.arrive(r)
}

// arrive queues a request.
func (s *service) arrive(r *rpc) {
	s.watch(r)
	if s.job != "" && r.job == s.job {
		at := max(s.host.now, s.next)
		s.next = at + s.interval
		s.host.after(at-s.host.now, func() { s.enqueue(r) })
		return
	}
	s.enqueue(r)
}

func (s *service) enqueue(r *rpc) {
	s.queue = append(s.queue, r)
	s.pump()
}

// watch sends early replies while a request is not answered.
func (s *service) watch(r *rpc) {
	h := s.host
	h.after(max(r.due-5*second-h.now, 0), func() {
		switch {
		case !r.serving:
			return
		case h.now < r.due-5*second:
		case h.now-r.arrival >= h.atMax || r.connect || r.flags != 0:
			return
		default:
			s.estimate = max(s.estimate, 30*second)
			r.earlyReply()
			r.due = h.now + timeoutFor(30*second)
		}
		s.watch(r)
	})
}

// pump lets idle threads take requests.
func (s *service) pump() {
	for s.busy < s.threads && len(s.queue) > 0 {
		r := s.queue[0]
		s.queue = s.queue[1:]
		s.busy++
		life := s.host.life
		s.host.after(s.host.cpu(), func() {
			s.host.process(r, func(a *answer) {
				if s.host.life != life {
					return
				}
				s.busy--
				r.reply(a)
				s.pump()
			})
		})
	}
}

// cpu is the time that a node needs for a request.
func (h *host) cpu() int64 {
	return int64((0.4 + h.random.ExpFloat64()) * float64(h.cpuTime))
}

// process serves a request in a thread.
func (h *host) process(r *rpc, finish func(*answer)) {
	t := r.target
	if r.connect {
		h.serveConnect(r, finish)
		return
	}
	x := t.exports[r.from.index]
	if !t.up || t.host != h || x == nil || x.handle != r.imp.handle {
		finish(&answer{status: enotconn})
		return
	}
	x.heard = h.now
	if t.inWindow {
		switch {
		case r.flags&replayDone != 0:
			x.done = true
			t.waiting = append(t.waiting, func() { finish(&answer{}) })
			t.endRecovery(false)
			return
		case r.flags&replayFlag == 0: // of a client that came after the restart
			finish(&answer{status: ebusy})
			return
		}
	}
	if h.holds != nil && h.holds(r) {
		h.released = append(h.released, func() { h.execute(r, finish) })
		return
	}
	h.execute(r, finish)
}

// errorFor returns the error with which the target answers a request, or ok.
func (t *target) errorFor(r *rpc) int32 {
	for _, x := range t.refusals {
		if x.of(r) {
			return x.status
		}
	}
	return ok
}

// execute does what a request asks for.
func (h *host) execute(r *rpc, finish func(*answer)) {
	t := r.target
	a := r.op.access
	var status int32
	switch {
	case t.barrier && a == change:
		finish(&answer{status: einprogress})
		return
	case t.full && a.changes():
		status = enospc
	default:
		status = t.errorFor(r)
	}
	if status != ok {
		t.access(cachedRead, func() { finish(&answer{status: status}) })
		return
	}
	end := func() {
		result := &answer{}
		if r.answerer != nil {
			result = r.answerer()
		}
		finish(result)
	}
	switch {
	case r.before != nil:
		r.before(func() { t.access(a, end) })
	case r.fetch > 0:
		r.fetchData(func() { t.access(a, end) })
	case r.give > 0:
		t.access(a, func() { r.giveData(end) })
	case r.lock != nil && r.op != opCancel:
		t.access(a, func() { r.lock.enqueue(r, finish) })
	default:
		t.access(a, end)
	}
}

// fetchData gets the data of a write from the client.
func (r *rpc) fetchData(then func()) {
	server, client := r.to, r.from
	handle, arrived := server.handle(), server.within(r.timeout, then, r.drop)
	server.sendLNet(&message{from: server, to: client, kind: bulkMessage, data: server.get(client, r.op.blk, r.mbits, handle, r.fetch),
		arrived: func() {
			client.sendLNet(&message{from: client, to: server, kind: bulkMessage, data: client.getReply(server, handle, data[:r.fetch]), arrived: arrived})
		}})
}

// giveData sends the data of a read to the client.
func (r *rpc) giveData(then func()) {
	server, client := r.to, r.from
	handle, match, arrived := server.handle(), r.mbits, server.within(r.timeout, then, r.drop)
	server.sendLNet(&message{from: server, to: client, kind: bulkMessage, data: server.put(client, r.op.blk, match, handle, 0, data[:r.give]),
		arrived: func() {
			client.sendLNet(&message{from: client, to: server, data: client.ackOf(server, match, handle, r.give), arrived: arrived})
		}})
}

// drop gives up a request whose data did not come in time. The client will send it again.
func (r *rpc) drop() {
	r.serving = false
	r.service.busy--
	r.service.pump()
}

// serveConnect answers a connect.
func (h *host) serveConnect(r *rpc, finish func(*answer)) {
	t := r.target
	if !t.up || t.host != h {
		finish(&answer{status: enodev})
		return
	}
	x := t.exports[r.from.index]
	a := &answer{instance: t.instance, connectFlags: connectReplayable}
	switch {
	case x == nil || r.connectFlags&connectInitial != 0 && x.uuid != r.imp.uuid:
		t.evict(r.from) // the node was started again
		x = &export{handle: h.handle(), uuid: r.imp.uuid, fresh: t.inWindow}
		t.exports[r.from.index] = x
	case t.inWindow:
		a.connectFlags |= connectRecovering
	default:
		a.connectFlags |= connectReconnect
	}
	x.heard = h.now
	a.handle = x.handle
	a.buffers = [][]byte{connectData(t.instance)}
	finish(a)
	r.served = nil
	r.serving = false
}

// stop unmounts a target.
func (t *target) stop() {
	t.up = false
	t.inWindow = false
	t.waiting = nil
	for _, x := range t.resources {
		x.granted, x.waiting = nil, nil
	}
}

// start mounts it again: it waits for the clients that it knew.
func (t *target) start(window int64) {
	t.up = true
	t.instance++
	if t.kind == mgs { // it has no recovery
		clear(t.exports)
	}
	for _, x := range t.exports {
		if x != nil {
			x.done, x.fresh = false, false
			x.handle = t.host.handle()
			x.heard = t.host.now
			t.inWindow = true
		}
	}
	instance := t.instance
	t.host.after(window, func() {
		if t.inWindow && t.instance == instance {
			t.endRecovery(true)
		}
	})
}

// evictSilent evicts clients that were not heard of for long.
func (t *target) evictSilent() {
	h := t.host
	h.at(h.now+h.pingInterval, func() {
		for k, x := range t.exports {
			if t.up && h.up && !h.frozen && !t.inWindow && x != nil && h.now-x.heard > h.patience {
				t.evict(h.hosts[k])
			}
		}
		t.evictSilent()
	})
}

// endRecovery ends recovery when all clients have come back, or by the clock.
func (t *target) endRecovery(late bool) {
	for k, x := range t.exports {
		if x == nil || x.done || x.fresh {
			continue
		}
		if !late {
			return
		}
		t.exports[k] = nil
	}
	t.inWindow = false
	callAll(&t.waiting)
}

// serveCallback answers a callback for a lock.
func (h *host) serveCallback(r *rpc) {
	if h.mutedCallbacks {
		r.serving = false
		return
	}
	h.after(h.cpu(), func() {
		result := &answer{}
		if r.answerer != nil {
			result = r.answerer()
		}
		if r.op == opBlocking && !r.lock.has() {
			result.status = einval
		}
		r.reply(result)
		switch r.op {
		case opBlocking:
			r.lock.giveBack(h)
		case opGranted:
			r.lock.taken()
		}
	})
}
