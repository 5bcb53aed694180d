package simulator

import (
	"slices"

	"github.com/lshark/lshark/dissect/lnet"
)

// Place is where a fault is: a word for its kind, as findings use them, and what it concerns.
type Place struct {
	Kind     string     // path, lnet, node, queue, thread, storage, target, holder, admin …
	Nodes    []lnet.NID // one node, or two ends
	Target   string
	Directed bool // of a path: only frames of the first node to the second
	Job      string
}

// Fault is something that is wrong for a while.
type Fault struct {
	Name        string
	Places      []Place // where it is; those behind the first are other names of the same
	From, Until int64   // nanoseconds since the epoch
}

// faultKind is a fault that may be put into a cluster. begin lets it begin, and returns where it
// is and what ends it; nil: nothing does.
type faultKind struct {
	name  string
	begin func(c *cluster) (places []Place, end func())
	lasts lasting
}

// lasting is how long a fault lasts.
type lasting uint8

const (
	short      lasting = iota // any time
	long                      // it needs a while to be noticed
	throughout                // from the beginning on
)

func (h *host) place(kind string) Place { return Place{Kind: kind, Nodes: []lnet.NID{h.nid}} }

func (t *target) place(kind string) Place {
	return Place{Kind: kind, Nodes: []lnet.NID{t.host.nid}, Target: t.name}
}

func between(kind string, a, b *host) Place {
	return Place{Kind: kind, Nodes: []lnet.NID{a.nid, b.nid}}
}

// used returns a process and a target that it uses.
func (c *cluster) used() (*process, *target) {
	p := pick(c, c.processes)
	for _, i := range p.osts {
		if len(i.locks) > 0 && c.random.IntN(3) > 0 {
			return p, i.target
		}
	}
	return p, p.mdt.target
}

// placesOf returns the places of a fault of a whole node. A client may be noticed as the one that
// keeps locks, a server by its targets.
func placesOf(h *host) []Place {
	list := []Place{h.place("node")}
	if len(h.targets) == 0 {
		return append(list, h.place("client"), h.place("holder"))
	}
	return list
}

// ends returns a client and a server that it uses.
func (c *cluster) ends() (client, server *host) {
	p, t := c.used()
	if mds := c.servers[0]; len(c.servers) > 1 && c.random.IntN(6) == 0 {
		return mds, pick(c, c.servers[1:])
	}
	return p.client, t.host
}

// dataTarget returns an MDT or an OST that is used.
func (c *cluster) dataTarget() *target {
	_, t := c.used()
	return t
}

// holder returns a client, rather one with locks that others want.
func (c *cluster) holder() *host {
	var list []*host
	for _, p := range c.processes {
		for _, i := range p.osts {
			for _, l := range i.locks {
				if l.resource == p.shared[0].object || l.resource == p.shared[1].object {
					list = append(list, p.client)
				}
			}
		}
	}
	if len(list) == 0 {
		return pick(c, c.clients)
	}
	return pick(c, list)
}

// alter changes a path, and returns what undoes that.
func (p *path) alter(atSender bool, change func(c *cluster, p *path)) (undo func()) {
	old := *p
	p.atSender = atSender
	change(p.cluster, p)
	return func() {
		old.last = p.last
		*p = old
	}
}

// onPaths changes the paths between a client and a server, one way or both.
func onPaths(change func(c *cluster, p *path)) func(c *cluster) ([]Place, func()) {
	return func(c *cluster) ([]Place, func()) {
		a, b := c.ends()
		list := []*path{a.path(b), b.path(a)}
		place := between("path", a, b)
		switch c.random.IntN(4) {
		case 0:
			list = list[:1]
			place.Directed = true
		case 1:
			list = list[1:]
			place = between("path", b, a)
			place.Directed = true
		}
		var ends []func()
		for _, p := range list {
			ends = append(ends, p.alter(c.random.IntN(2) == 0, change))
		}
		return []Place{place}, func() { callAll(&ends) }
	}
}

// onLink changes all paths to and from a node.
func onLink(change func(c *cluster, p *path)) func(c *cluster) ([]Place, func()) {
	return func(c *cluster) ([]Place, func()) { return c.changeLink(pick(c, c.hosts), change) }
}

func (c *cluster) changeLink(h *host, change func(c *cluster, p *path)) ([]Place, func()) {
	list := placesOf(h)
	var ends []func()
	c.eachPath(func(p *path) {
		if p.from == p.to || p.from != h && p.to != h {
			return
		}
		ends = append(ends, p.alter(p.from == h, change))
		if p.from == h {
			list = append(list, between("path", h, p.to))
		}
	})
	return list, func() { callAll(&ends) }
}

// holds makes a kind of fault of a client that has locks which others want.
func holds(begin func(c *cluster, h *host) (end func())) func(c *cluster) ([]Place, func()) {
	return func(c *cluster) ([]Place, func()) {
		h := c.holder()
		return []Place{h.place("holder"), h.place("client"), h.place("node")}, begin(c, h)
	}
}

// service returns the threads that serve most requests for a target.
func (t *target) service() *service {
	if t.kind == ost {
		return t.host.serviceFor(ostIO)
	}
	return t.host.serviceFor(mdsRequest)
}

// set gives something a value for a while, which is zero before and after it.
func set[T any](v *T, to T) (end func()) {
	*v = to
	return func() {
		var zero T
		*v = zero
	}
}

// faultKinds lists what can go wrong.
var faultKinds = []faultKind{
	{"path cut", onPaths(func(c *cluster, p *path) { p.cut = true }), short},
	{"path lossy", onPaths(func(c *cluster, p *path) { p.loss = float64(c.between(2, 30)) / 100 }), long},
	{"path slow", onPaths(func(c *cluster, p *path) { p.extra = c.between(20, 300) * millisecond }), long},
	{"path jitter", onPaths(func(c *cluster, p *path) {
		p.jitter = c.between(5, 80) * millisecond
		p.reorders = true
	}), long},
	{"large frames lost", onPaths(func(c *cluster, p *path) { p.maxLength = 900 }), short},
	{"link cut", onLink(func(c *cluster, p *path) { p.cut = true }), short},
	{"link lossy", onLink(func(c *cluster, p *path) { p.loss = float64(c.between(2, 20)) / 100 }), long},
	{"LNet discards", func(c *cluster) ([]Place, func()) {
		client, server := c.ends()
		at, from := client, server
		if c.random.IntN(2) == 0 {
			at, from = server, client
		}
		what := c.random.IntN(3)
		at.ignores = func(m *message) bool {
			switch {
			case m.from != from:
				return false
			case what == 0:
				return true
			case what == 1:
				return m.kind == requestMessage
			}
			return m.kind == replyMessage || m.kind == bulkMessage
		}
		return []Place{between("lnet", client, server)}, func() { at.ignores = nil }
	}, short},
	{"replies lost in the server", func(c *cluster) ([]Place, func()) {
		client, server := c.ends()
		left := 1 + c.random.IntN(3)
		server.loses = func(r *rpc) bool {
			if r.from != client || r.connect || r.op.access == noAccess || left == 0 {
				return false
			}
			left--
			return true
		}
		return []Place{between("lnet", client, server), server.place("thread")}, func() { server.loses = nil }
	}, short},
	{"device hung", func(c *cluster) ([]Place, func()) {
		t := c.dataTarget()
		t.device.hung = true
		return []Place{t.place("storage")}, func() {
			t.device.hung = false
			callAll(&t.device.waiting)
		}
	}, short},
	{"device slow", func(c *cluster) ([]Place, func()) {
		t := c.dataTarget()
		end := set(&t.device.slow, c.between(50, 800)*millisecond)
		t.device.share = pick(c, []float64{1, 1, 0.4})
		return []Place{t.place("storage")}, end
	}, long},
	{"job limited", func(c *cluster) ([]Place, func()) {
		p, t := c.used()
		s := t.service()
		s.job, s.interval, s.next = p.job, c.between(1000, 6000)*millisecond, 0
		place := t.host.place("queue")
		place.Job = p.job
		return []Place{place}, func() { s.job = "" }
	}, long},
	{"thread stuck", func(c *cluster) ([]Place, func()) { return c.stickThread(16) }, short},
	{"last thread stuck", func(c *cluster) ([]Place, func()) { return c.stickThread(1) }, short},
	{"node frozen", func(c *cluster) ([]Place, func()) {
		h := pick(c, c.hosts)
		h.frozen = true
		return placesOf(h), func() {
			h.frozen = false
			h.work()
		}
	}, short},
	{"node starved", func(c *cluster) ([]Place, func()) {
		h := pick(c, c.hosts)
		h.interval = c.between(300, 3000) * millisecond
		return placesOf(h), func() {
			h.interval = 0
			h.work()
		}
	}, long},
	{"server restarted", func(c *cluster) ([]Place, func()) { return c.crash(pick(c, c.servers)) }, short},
	{"client dead", func(c *cluster) ([]Place, func()) {
		h := pick(c, c.clients)
		h.die()
		return placesOf(h), nil
	}, short},
	{"client restarted", func(c *cluster) ([]Place, func()) {
		h := pick(c, c.clients)
		h.die()
		return placesOf(h), func() { c.restartClient(h) }
	}, short},
	{"target stopped", func(c *cluster) ([]Place, func()) {
		t := c.dataTarget()
		t.stop()
		return []Place{t.place("target"), t.host.place("admin")}, func() { t.start(c.between(20, 60) * second) }
	}, short},
	{"holder mute", holds(func(c *cluster, h *host) func() { return set(&h.mutedCallbacks, true) }), long},
	{"holder late", holds(func(c *cluster, h *host) func() { return set(&h.lateCancel, c.between(2, 40)*second) }), long},
	{"connections reset", func(c *cluster) ([]Place, func()) {
		a, b := c.ends()
		if e := a.pair(b).ends[control]; e != nil && e.open {
			e.abort()
		}
		return []Place{between("path", a, b), a.place("node"), a.place("client")}, nil
	}, short},
	{"target full", func(c *cluster) ([]Place, func()) {
		var list []*target
		for _, t := range c.targets {
			if t.kind == ost {
				list = append(list, t)
			}
		}
		t := pick(c, list)
		return []Place{t.place("target")}, set(&t.full, true)
	}, long},
	{"device fails", func(c *cluster) ([]Place, func()) {
		t := c.dataTarget()
		return []Place{t.place("storage"), t.place("target")}, t.refuse(eio, func(r *rpc) bool { return r.op.access > cachedRead })
	}, long},
	{"SYNs rejected", func(c *cluster) ([]Place, func()) {
		a, b := c.ends()
		end := set(&b.refusesSYN, a)
		if e := a.pair(b).ends[control]; e != nil && e.open {
			e.abort()
		}
		return []Place{between("path", a, b), b.place("node")}, end
	}, long},
	{"address used twice", func(c *cluster) ([]Place, func()) {
		a, b := c.ends()
		ended := false
		var intrude func()
		intrude = func() {
			if ended {
				return
			}
			if e := b.pair(a).ends[control]; e != nil && e.open {
				e.forge([6]byte{2, 0, 0, 0, 0x66, byte(b.index)})
			}
			c.at(c.now+c.between(second, 6*second), intrude)
		}
		intrude()
		return []Place{b.place("node")}, func() { ended = true }
	}, long},
	{"write barrier", func(c *cluster) ([]Place, func()) {
		t := c.targets[1]
		return []Place{t.host.place("admin"), t.place("target")}, set(&t.barrier, true)
	}, long},
}

// moreFaults lists what Play puts into a cluster by name only: with these in faultKinds, a seed would give another scene.
var moreFaults = []faultKind{
	{"MGS stopped", func(c *cluster) ([]Place, func()) {
		t := c.targets[0]
		t.stop()
		return []Place{t.place("target"), {Kind: "admin"}}, func() { t.start(0) }
	}, long},
	{"target moved", func(c *cluster) ([]Place, func()) {
		t := c.dataTarget()
		t.stop()
		places := []Place{t.place("target"), {Kind: "admin"}}
		start := func(h *host) {
			c.at(c.now+c.between(500*millisecond, 5*second), func() {
				t.host = h
				t.start(c.between(20, 60) * second)
			})
		}
		t.primary = t.host
		if t.kind == ost && len(c.servers) == 3 {
			t.backup = c.servers[1]
			if t.host == t.backup {
				t.backup = c.servers[2]
			}
			places[0].Nodes = append(places[0].Nodes, t.backup.nid)
			start(t.backup)
		} else {
			start(t.primary)
		}
		return places, func() {
			if t.backup != nil {
				t.stop()
				start(t.primary)
			}
		}
	}, short},
	{"link flaps", func(c *cluster) ([]Place, func()) {
		h := pick(c, c.hosts)
		ended := false
		var cut func()
		cut = func() {
			if ended {
				return
			}
			_, end := c.changeLink(h, func(c *cluster, p *path) { p.cut = true })
			c.at(c.now+c.between(2, 5)*second, end)
			c.at(c.now+c.between(8, 14)*second, cut)
		}
		cut()
		places, end := c.changeLink(h, func(*cluster, *path) {})
		end()
		return places, func() { ended = true }
	}, long},
	{"path narrow", onPaths(func(c *cluster, p *path) { p.rate = c.between(10, 200) * 1000 }), long},
	{"link narrow", onLink(func(c *cluster, p *path) { p.rate = c.between(10, 200) * 1000 }), long},
	{"few threads", func(c *cluster) ([]Place, func()) {
		t := c.dataTarget()
		s := t.service()
		s.threads, t.device.slow, t.device.share = 1, c.between(50, 300)*millisecond, 1
		h := t.host
		return []Place{h.place("queue"), h.place("thread"), t.place("storage"), {Kind: "load"}}, func() {
			s.threads, t.device.slow = 16, 0
			s.pump()
		}
	}, long},
	{"quota exceeded", func(c *cluster) ([]Place, func()) {
		p, t := c.used()
		places := []Place{{Kind: "application"}, {Kind: "config"}, {Kind: "admin"}, t.place("target")}
		return places, t.refuse(edquot, func(r *rpc) bool { return r.job == p.job && r.op.access.changes() })
	}, long},
	{"no inodes", func(c *cluster) ([]Place, func()) {
		t := c.targets[1]
		return []Place{t.place("target")}, t.refuse(enospc, func(r *rpc) bool { return r.op == opCreate || r.op == opMkdir })
	}, long},
	{"target read-only", func(c *cluster) ([]Place, func()) {
		t := c.dataTarget()
		places := []Place{t.place("target"), t.place("storage"), {Kind: "admin"}}
		return places, t.refuse(erofs, func(r *rpc) bool { return r.op.access.changes() })
	}, long},
	{"client evicted", func(c *cluster) ([]Place, func()) {
		p, t := c.used()
		t.evict(p.client)
		return []Place{{Kind: "admin"}}, nil
	}, short},
	{"client away in recovery", func(c *cluster) ([]Place, func()) {
		places, up := c.crash(pick(c, c.servers))
		h := pick(c, c.clients)
		more, end := c.changeLink(h, func(c *cluster, p *path) { p.cut = true })
		c.at(c.now+c.between(12, 20)*second, up)
		return append(places, more...), end
	}, long},
	{"client dead in recovery", func(c *cluster) ([]Place, func()) {
		places, up := c.crash(pick(c, c.servers))
		h := pick(c, c.clients)
		c.at(c.now+c.between(1, 10)*second, h.die)
		return append(places, placesOf(h)...), up
	}, long},
	{"mount fails", func(c *cluster) ([]Place, func()) {
		h := pick(c, c.clients)
		h.unmount()
		a, b := h.path(c.servers[0]), c.servers[0].path(h)
		c.at(c.now+5*second, func() {
			a.cut, b.cut = true, true
			h.mountAgain()
		})
		return []Place{between("path", h, c.servers[0]), h.place("node"), h.place("client")}, func() { a.cut, b.cut = false, false }
	}, long},

	{"storm", func(c *cluster) ([]Place, func()) {
		p := pick(c, c.processes)
		old := *p
		p.pause, p.bursts = c.between(0, 5)*millisecond, false
		return []Place{{Kind: "application"}, {Kind: "load"}}, func() { p.pause, p.bursts = old.pause, old.bursts }
	}, long},
	{"jobs start", func(c *cluster) ([]Place, func()) {
		k := pick(c, kinds)
		var list []*process
		for _, h := range c.clients {
			for n := range 2 {
				p := &process{client: h, job: k.name + ".77", steps: k.steps, dir: c.processes[0].dir, pause: 200 * millisecond}
				p.use(h.imports)
				p.shared, p.flocks = c.processes[0].shared, c.processes[0].flocks
				list = append(list, p)
				h.after(int64(n)*millisecond, p.run)
			}
		}
		return []Place{{Kind: "application"}, {Kind: "load"}}, func() {
			for _, p := range list {
				p.paused = true
			}
		}
	}, long},

	// What is ordinary, and concerns no place.
	{"unmounted and mounted", ordinary(func(c *cluster) func() {
		h := pick(c, c.clients)
		h.unmount()
		return h.mountAgain
	}), long},
	{"idle connections", ordinary(func(c *cluster) func() {
		c.at(c.now+c.between(5, 20)*second, func() {
			for _, h := range c.clients {
				for _, i := range h.imports {
					if i.target.kind == ost && i.state == full && c.now-i.used > c.pingInterval && len(i.requests) == 0 && len(i.locks) == 0 {
						i.disconnect()
					}
				}
			}
		})
		return c.pause()
	}), long},
	{"nobody works", ordinary((*cluster).pause), long},
	{"slow disks", ordinary(func(c *cluster) func() {
		slow := c.between(20, 200) * millisecond
		for _, t := range c.targets {
			t.device.slow, t.device.share = slow, 1
		}
		return nil
	}), throughout},
	{"slow client", ordinary(func(c *cluster) func() {
		pick(c, c.clients).interval = c.between(1, 4) * millisecond
		return nil
	}), throughout},
	{"far clients", ordinary(func(c *cluster) func() {
		delay := c.between(20, 60) * millisecond
		for _, h := range c.clients {
			c.changeLink(h, func(c *cluster, p *path) { p.delay += delay })
		}
		return nil
	}), throughout},
	{"late cancels", ordinary(func(c *cluster) func() {
		for _, h := range c.clients {
			h.lateCancel = c.between(5, 50) * millisecond
		}
		return nil
	}), throughout},
}

// ordinary makes a kind of what is no fault.
func ordinary(begin func(c *cluster) (end func())) func(c *cluster) ([]Place, func()) {
	return func(c *cluster) ([]Place, func()) { return nil, begin(c) }
}

// pause lets all jobs do nothing for a while.
func (c *cluster) pause() (end func()) {
	for _, p := range c.processes {
		p.paused = true
	}
	return func() {
		for _, p := range c.processes {
			p.paused = false
		}
	}
}

// refuse lets a target answer some requests with an error.
func (t *target) refuse(status int32, which func(*rpc) bool) (end func()) {
	added := &refusal{status, which}
	t.refusals = append(t.refusals, added)
	return func() { t.refusals = slices.DeleteFunc(t.refusals, func(x *refusal) bool { return x == added }) }
}

// crash ends the life of a server.
func (c *cluster) crash(h *host) ([]Place, func()) {
	for _, t := range h.targets {
		t.stop()
	}
	h.die()
	list := placesOf(h)
	for _, t := range h.targets {
		list = append(list, t.place("target"))
	}
	return list, func() { c.restart(h) }
}

// Faults returns the names of all faults.
func Faults() (names []string) {
	for _, k := range slices.Concat(faultKinds, moreFaults) {
		names = append(names, k.name)
	}
	return names
}

func faultNamed(name string) *faultKind {
	all := slices.Concat(faultKinds, moreFaults)
	i := slices.IndexFunc(all, func(k faultKind) bool { return k.name == name })
	if i < 0 {
		panic("no fault is named " + name)
	}
	return &all[i]
}

// stickThread lets the thread of the next request stand still, of a service with so many threads.
func (c *cluster) stickThread(threads int) ([]Place, func()) {
	t := c.dataTarget()
	h := t.host
	var service *service
	h.holds = func(r *rpc) bool {
		if service != nil || r.op.access == noAccess || r.op == opCancel {
			return false
		}
		service = r.service
		service.threads = threads
		return true
	}
	return []Place{h.place("thread"), h.place("queue")}, func() {
		h.holds = nil
		if service != nil {
			service.threads = 16
			service.pump()
		}
		callAll(&h.released)
	}
}

// restart boots a server, and starts its targets when it is up.
func (c *cluster) restart(h *host) {
	h.up = true
	window := c.between(20, 60) * second
	for _, s := range h.services {
		s.busy, s.queue, s.estimate = 0, nil, 5*second
	}
	h.after(c.between(500*millisecond, 4*second), func() {
		h.noLNet = false
		for _, i := range h.imports { // of an MDT
			i.state, i.requests, i.delayed, i.count, i.handle, i.locks, i.creating, i.wanted = disconnected, nil, nil, 0, 0, nil, false, nil
		}
		h.mount()
		h.after(c.between(second, 5*second), func() {
			for _, t := range h.targets {
				t.start(window)
			}
			if h == c.servers[0] {
				c.watchSpace(h)
			}
		})
	})
}

// restartClient boots a client. It mounts again, and its jobs begin anew.
func (c *cluster) restartClient(h *host) {
	h.up = true
	h.noLNet = false
	h.newMount()
	h.after(c.between(second, 5*second), h.mount)
	for _, p := range h.jobs {
		h.after(c.between(8*second, 12*second), p.run)
	}
}
