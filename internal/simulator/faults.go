package simulator

import (
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
// is and what ends it.
type faultKind struct {
	name  string
	begin func(c *cluster) (places []Place, end func())
	long  bool // it needs a while to be noticed
}

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
		var old []path
		for _, p := range list {
			old = append(old, *p)
			p.atSender = c.random.IntN(2) == 0
			change(c, p)
		}
		return []Place{place}, func() {
			for k, p := range list {
				last := p.last
				*p = old[k]
				p.last = last
			}
		}
	}
}

// onLink changes all paths to and from a node.
func onLink(change func(c *cluster, p *path)) func(c *cluster) ([]Place, func()) {
	return func(c *cluster) ([]Place, func()) {
		h := pick(c, c.hosts)
		list := placesOf(h)
		var ends []func()
		c.eachPath(func(p *path) {
			if p.from == p.to || p.from != h && p.to != h {
				return
			}
			old := *p
			p.atSender = p.from == h
			change(c, p)
			ends = append(ends, func() {
				last := p.last
				*p = old
				p.last = last
			})
			if p.from == h {
				list = append(list, between("path", h, p.to))
			}
		})
		return list, func() {
			for _, end := range ends {
				end()
			}
		}
	}
}

// faultKinds lists what can go wrong.
var faultKinds = []faultKind{
	{"path cut", onPaths(func(c *cluster, p *path) { p.cut = true }), false},
	{"path lossy", onPaths(func(c *cluster, p *path) { p.loss = float64(c.between(2, 30)) / 100 }), true},
	{"path slow", onPaths(func(c *cluster, p *path) { p.extra = c.between(20, 300) * millisecond }), true},
	{"path jitter", onPaths(func(c *cluster, p *path) {
		p.jitter = c.between(5, 80) * millisecond
		p.reorders = true
	}), true},
	{"large frames lost", onPaths(func(c *cluster, p *path) { p.maxLength = 900 }), false},
	{"link cut", onLink(func(c *cluster, p *path) { p.cut = true }), false},
	{"link lossy", onLink(func(c *cluster, p *path) { p.loss = float64(c.between(2, 20)) / 100 }), true},
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
	}, false},
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
	}, false},
	{"device hung", func(c *cluster) ([]Place, func()) {
		t := c.dataTarget()
		t.device.hung = true
		return []Place{t.place("storage")}, t.device.repair
	}, false},
	{"device slow", func(c *cluster) ([]Place, func()) {
		t := c.dataTarget()
		t.device.slow = c.between(50, 800) * millisecond
		t.device.share = pick(c, []float64{1, 1, 0.4})
		return []Place{t.place("storage")}, func() { t.device.slow = 0 }
	}, true},
	{"job limited", func(c *cluster) ([]Place, func()) {
		p, t := c.used()
		h, portal := t.host, uint32(mdsRequest)
		if t.kind == ost {
			portal = ostIO
		}
		s := h.serviceFor(portal)
		s.job, s.interval, s.next = p.job, c.between(1000, 6000)*millisecond, 0
		place := h.place("queue")
		place.Job = p.job
		return []Place{place}, func() { s.job = "" }
	}, true},
	{"thread stuck", func(c *cluster) ([]Place, func()) { return c.stickThread(16) }, false},
	{"last thread stuck", func(c *cluster) ([]Place, func()) { return c.stickThread(1) }, false},
	{"node frozen", func(c *cluster) ([]Place, func()) {
		h := pick(c, c.hosts)
		h.freeze()
		return placesOf(h), h.thaw
	}, false},
	{"node starved", func(c *cluster) ([]Place, func()) {
		h := pick(c, c.hosts)
		h.starve(c.between(300, 3000) * millisecond)
		return placesOf(h), h.feed
	}, true},
	{"server restarted", func(c *cluster) ([]Place, func()) {
		h := pick(c, c.servers)
		for _, t := range h.targets {
			t.stop()
		}
		h.die()
		list := placesOf(h)
		for _, t := range h.targets {
			list = append(list, t.place("target"))
		}
		return list, func() { c.restart(h) }
	}, false},
	{"client dead", func(c *cluster) ([]Place, func()) {
		h := pick(c, c.clients)
		h.die()
		return placesOf(h), func() {}
	}, false},
	{"client restarted", func(c *cluster) ([]Place, func()) {
		h := pick(c, c.clients)
		h.die()
		return placesOf(h), func() { c.restartClient(h) }
	}, false},
	{"target stopped", func(c *cluster) ([]Place, func()) {
		t := c.dataTarget()
		t.stop()
		return []Place{t.place("target"), t.host.place("admin")}, func() { t.start(c.between(20, 60) * second) }
	}, false},
	{"holder mute", func(c *cluster) ([]Place, func()) {
		h := c.holder()
		h.mutedCallbacks = true
		return []Place{h.place("holder"), h.place("client"), h.place("node")}, func() { h.mutedCallbacks = false }
	}, true},
	{"holder late", func(c *cluster) ([]Place, func()) {
		h := c.holder()
		h.lateCancel = c.between(2, 40) * second
		return []Place{h.place("holder"), h.place("client"), h.place("node")}, func() { h.lateCancel = 0 }
	}, true},
	{"connections reset", func(c *cluster) ([]Place, func()) {
		a, b := c.ends()
		if e := a.pair(b).ends[control]; e != nil && e.open {
			e.abort()
		}
		return []Place{between("path", a, b), a.place("node"), a.place("client")}, func() {}
	}, false},
	{"target full", func(c *cluster) ([]Place, func()) {
		var list []*target
		for _, t := range c.targets {
			if t.kind == ost {
				list = append(list, t)
			}
		}
		t := pick(c, list)
		t.full = true
		return []Place{t.place("target")}, func() { t.full = false }
	}, true},
	{"device fails", func(c *cluster) ([]Place, func()) {
		t := c.dataTarget()
		t.device.fails = true
		return []Place{t.place("storage"), t.place("target")}, func() { t.device.fails = false }
	}, true},
	{"SYNs rejected", func(c *cluster) ([]Place, func()) {
		a, b := c.ends()
		b.refusesSYN = a
		if e := a.pair(b).ends[control]; e != nil && e.open {
			e.abort()
		}
		return []Place{between("path", a, b), b.place("node")}, func() { b.refusesSYN = nil }
	}, true},
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
	}, true},
	{"write barrier", func(c *cluster) ([]Place, func()) {
		t := c.targets[1]
		t.barrier = true
		return []Place{t.host.place("admin"), t.place("target")}, func() { t.barrier = false }
	}, true},
}

// Faults returns the names of all faults.
func Faults() (names []string) {
	for _, k := range faultKinds {
		names = append(names, k.name)
	}
	return names
}

func faultNamed(name string) *faultKind {
	for i := range faultKinds {
		if faultKinds[i].name == name {
			return &faultKinds[i]
		}
	}
	panic("no fault is named " + name)
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
		list := h.released
		h.released = nil
		for _, goOn := range list {
			goOn()
		}
	}
}

// restart boots a server, and starts its targets when it is up.
func (c *cluster) restart(h *host) {
	h.boot()
	window := c.between(20, 60) * second
	for _, s := range h.services {
		s.busy, s.queue, s.estimate = 0, nil, 5*second
	}
	h.after(c.between(500*millisecond, 4*second), func() {
		h.noLNet = false
		for _, i := range h.imports { // of an MDT
			i.state, i.requests, i.delayed, i.count, i.locks, i.creating, i.wanted = disconnected, nil, nil, 0, nil, false, nil
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
	h.boot()
	h.noLNet = false
	h.imports = nil
	for _, t := range c.targets {
		h.connectTo(t)
	}
	h.after(c.between(second, 5*second), h.mount)
	for _, p := range h.jobs {
		p.use(h.imports)
		p.files = nil
		h.after(c.between(8*second, 12*second), p.run)
	}
}

// putFault plans a fault.
func (c *cluster) putFault(k *faultKind, from, until int64) *Fault {
	f := &Fault{Name: k.name, From: from, Until: until}
	c.at(from, func() {
		places, end := k.begin(c)
		f.Places = places
		c.at(until, end)
	})
	return f
}
