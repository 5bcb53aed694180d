package simulator

import "fmt"

// step is something that a process does. It calls next when it is done, with false when it has failed.
type step = func(next func(ok bool))

// directory is a directory of an MDT.
type directory struct {
	resource *resource
	names    int
}

// file is a file with one object.
type file struct {
	fid    fid
	index  uint32 // of its OST
	object *resource
	size   uint64
}

// process is what runs on a client: it does one thing after another.
type process struct {
	client *host
	job    string
	dir    *directory
	files  []*file
	pause  int64 // between two rounds
	steps  func(*process) []step
	mdt    *imp
	osts   []*imp
	shared []*file
	flocks []*resource
	bursts bool
	left   int  // rounds of a burst
	paused bool // it does nothing more,
	waits  bool // and has ended its last round
	lastIO uint64
	made   fid // the latest directory
}

// use lets the process use connections.
func (p *process) use(imports []*imp) {
	p.osts = nil
	for _, i := range imports {
		switch i.target.kind {
		case mdt:
			p.mdt = i
		case ost:
			p.osts = append(p.osts, i)
		}
	}
}

// run repeats the rounds of a process until the end. Some work in bursts.
func (p *process) run() {
	h := p.client
	pause := int64(h.random.ExpFloat64() * float64(p.pause))
	if p.bursts {
		if p.left--; p.left > 0 {
			pause /= 10
		} else {
			p.left = 5 + h.random.IntN(20)
			pause = h.between(3*second, 15*second)
		}
	}
	if p.waits = p.paused; p.waits {
		h.after(second, p.run)
		return
	}
	p.do(p.steps(p), func() { h.after(pause, p.run) })
}

// do takes one step after another, until one fails.
func (p *process) do(list []step, end func()) {
	if len(list) == 0 {
		end()
		return
	}
	think := int64((0.2 + p.client.random.ExpFloat64()) * float64(p.client.cpuTime) * 2)
	list[0](func(ok bool) {
		if !ok {
			p.client.after(second, end)
			return
		}
		p.client.after(think, func() { p.do(list[1:], end) })
	})
}

// call sends a request of the job, and goes on with its result. A server that is not ready for
// changes is asked again.
func (p *process) call(i *imp, r *rpc, next func(a *answer)) {
	r.job = p.job
	r.done = func(a *answer) {
		if a.status == einprogress {
			p.client.after(second+p.client.random.Int64N(2*second), func() {
				again := *r
				again.sends, again.finished, again.served, again.serving = 0, false, nil, false
				p.call(i, &again, next)
			})
			return
		}
		next(a)
	}
	i.send(r)
}

// ask is call for requests whose reply has nothing that the process needs.
func (p *process) ask(i *imp, r *rpc, reply func() [][]byte, next func(bool)) {
	r.answerer = func() *answer { return &answer{buffers: reply()} }
	p.call(i, r, func(a *answer) { next(a.status == ok) })
}

// newName returns the next name in the directory, lastName the one before.
func (p *process) newName() string {
	p.dir.names++
	return p.lastName()
}

func (p *process) lastName() string { return fmt.Sprintf("f%d", p.dir.names) }

// stat asks for the attributes of the directory.
func (p *process) stat(next func(bool)) {
	x := p.dir.resource
	if l := p.mdt.cached(x, modePR); l != nil && p.client.random.IntN(3) > 0 {
		next(true)
		return
	}
	l := &lock{resource: x, client: p.client, imp: p.mdt, mode: modePR, bits: 0x13, handle: p.client.handle()}
	parent := mdtBody(x.fid, 0x1140008491036fdf, 0, 0, 0).fid(16, x.fid).u32(148, 128)
	r := p.mdt.request(opIbits, [][]byte{lockRequest(hasIntent, 1, typeIbits, x.fid, modeCR, 2, l.handle, 0), make(record, 8).u64(0, 8), parent, nil, text("")}, nil)
	t := x.target
	r.answerer = func() *answer {
		old := false
		for _, g := range x.granted {
			old = old || g.client == p.client
		}
		if !old && len(x.waiting) == 0 {
			l.granted, l.server = true, t.host.handle()
			x.granted = append(x.granted, l)
		}
		reply := lockReply(lockChanged|hasIntent, typeIbits, x.fid, modePR, modePR, l.bits, l.server, 0xb)
		return &answer{buffers: [][]byte{reply, mdtBody(x.fid, validGetattr, 040755, 4096, t.host.now).u32(148, 48).u32(156, 128), make([]byte, 48), nil, nil, nil, nil, nil}}
	}
	p.call(p.mdt, r, func(a *answer) {
		if a.status == ok && l.granted {
			l.held = true
			p.mdt.locks = append(p.mdt.locks, l)
		}
		next(a.status == ok)
	})
}

// release gives back, with the next request, the lock on the directory that the request would
// conflict with. It returns the number of locks and the handle for the request.
func (p *process) release() (count uint32, handle uint64, released *lock) {
	if l := p.mdt.cached(p.dir.resource, modePR); l != nil {
		l.drop()
		return 2, l.server, l
	}
	return 1, 0, nil
}

// alone waits until nobody else has a lock on the directory.
func (p *process) alone(released *lock, then func()) {
	x := p.dir.resource
	if released != nil {
		x.remove(released)
	}
	x.request(&waiter{client: p.client, mode: modePW, then: then})
}

// create creates a file and opens it.
func (p *process) create(next func(bool)) {
	name := p.newName()
	f := p.client.newFile(p)
	count, handle, released := p.release()
	l := lockRequest(hasIntent, count, typeIbits, p.dir.resource.fid, modeCW, 2, p.client.handle(), handle)
	rec := p.reint(6, f.fid, 80).u32(112, 0100644).u32(120, 0x42)
	r := p.openRequest(opCreate, 3, l, rec, name, f, 0x37)
	r.before = func(then func()) { p.alone(released, func() { p.mdt.target.takeObject(f, then) }) }
	p.call(p.mdt, r, func(a *answer) {
		if a.status == ok {
			p.files = append(p.files, f)
			if len(p.files) > 8 {
				p.files = p.files[1:]
			}
		}
		next(a.status == ok)
	})
}

// open opens a file that exists.
func (p *process) open(f *file, next func(bool)) {
	l := lockRequest(hasIntent, 1, typeIbits, f.fid, modeCR, 1, p.client.handle(), 0)
	r := p.openRequest(opIbits, 1, l, p.reint(6, f.fid, 80).u32(120, 1), "f1", f, 0x2b)
	p.call(p.mdt, r, func(a *answer) { next(a.status == ok) })
}

// openRequest makes the request to open a file, whose reply has its layout.
func (p *process) openRequest(op *operation, intent uint64, l, rec record, name string, f *file, disposition uint64) *rpc {
	r := p.mdt.request(op, [][]byte{l, make(record, 8).u64(0, intent), rec, nil, nil, text(name), make([]byte, 128), nil, nil, nil, nil}, nil)
	h := p.mdt.target.host
	r.answerer = func() *answer {
		body := mdtBody(f.fid, validNew, 0100644, 0, h.now).u64(32, h.handle()).u32(148, 56).u32(156, 128)
		reply := lockReply(lockChanged|hasIntent, typeIbits, f.fid, modePR, modePR, 0x1b, h.handle(), disposition)
		return &answer{buffers: [][]byte{reply, body, layout(f.fid, f.object.fid, f.index), nil, nil, nil, make([]byte, 16), nil, nil, nil}}
	}
	return r
}

// reint begins a struct mdt_rec_reint for something in the directory; the time is at an offset.
func (p *process) reint(op uint32, f fid, time int) record {
	return make(record, 136).u32(0, op).fid(40, p.dir.resource.fid).fid(56, f).u64(time, uint64(p.client.now/second))
}

func (p *process) close(f *file, next func(bool)) {
	rec := make(record, 136).u32(0, 1).fid(40, f.fid).u64(56, 0x621f1).u32(116, 0100644)
	r := p.mdt.request(opClose, [][]byte{make(record, 24).u64(0, 0x932a18cb2dd86836), rec, nil}, nil)
	p.ask(p.mdt, r, func() [][]byte { return [][]byte{make([]byte, 216), nil, nil, nil, nil} }, next)
}

// mkdir creates a directory.
func (p *process) mkdir(next func(bool)) {
	name := p.newName()
	p.made = p.client.newFID()
	rec := p.reint(2, p.made, 80).u32(112, 040755).u32(128, 022)
	p.change(opMkdir, rec, name, p.made, 040755, nil, next)
}

// unlink removes the latest directory.
func (p *process) unlink(next func(bool)) {
	p.change(opUnlink, p.reint(4, p.made, 72).u32(116, 040000), p.lastName(), p.made, 040755, nil, next)
}

// remove removes a file. The MDT then destroys its object, for which nobody may keep a lock.
func (p *process) remove(next func(bool)) {
	if len(p.files) == 0 {
		next(true)
		return
	}
	f, t := p.files[0], p.mdt.target
	p.files = p.files[1:]
	p.change(opUnlink, p.reint(4, f.fid, 72).u32(116, 0100000), "f1", f.fid, 0100644, func() {
		t.host.after(t.host.between(10*millisecond, second), func() { t.destroy(f) })
	}, next)
}

// change changes a name in the directory. then is what the MDT does besides; nil: nothing.
func (p *process) change(op *operation, rec record, name string, f fid, mode uint32, then func(), next func(bool)) {
	count, handle, released := p.release()
	l := lockRequest(0, count-1, 0, fid{}, 0, 0, handle, 0)
	buffers, reply := [][]byte{rec, nil, text(name), l, nil}, [][]byte{nil, nil, nil, nil}
	if op == opMkdir {
		buffers, reply = [][]byte{rec, nil, text(name), nil, l, nil, nil, nil, nil}, reply[:3]
	}
	r := p.mdt.request(op, buffers, nil)
	r.before = func(then func()) { p.alone(released, then) }
	p.ask(p.mdt, r, func() [][]byte {
		if then != nil {
			then()
		}
		reply[0] = mdtBody(f, validChanged, mode, 4096, p.mdt.target.host.now)
		return reply
	}, next)
}

// Objects that an MDT lets an OST create in advance, and how many are left when it asks for more.
const (
	precreated  = 12
	fewPrepared = 5
)

// takeObject gives a new file an object that its OST has created in advance. Where no OST has one,
// the MDT waits.
func (t *target) takeObject(f *file, then func()) {
	var from, other *imp
	for _, i := range t.host.imports {
		switch {
		case i.target == f.object.target:
			from = i
		case i.objects > 0:
			other = i
		}
	}
	if from == nil { // on the same node
		then()
		return
	}
	if from.objects == 0 && other != nil {
		from = other
		f.index, f.object = from.target.index, t.host.addObject(from.target)
	}
	if from.objects > 0 {
		from.objects--
		then()
	} else {
		from.wanted = append(from.wanted, then)
	}
	from.precreate()
}

// precreate lets an OST create objects when few are left.
func (i *imp) precreate() {
	if i.creating || i.objects > fewPrepared {
		return
	}
	i.creating = true
	r := i.request(opPrecreate, [][]byte{obdo(0x1000081, fid{0x240000400 + uint64(i.target.index)<<30, i.target.objects}, fid{}, 0, 0)}, nil)
	r.answerer = func() *answer {
		return &answer{buffers: [][]byte{obdo(0x1000081, fid{0x240000400 + uint64(i.target.index)<<30, i.target.objects + precreated}, fid{}, 0, 0)}}
	}
	r.done = func(a *answer) {
		i.creating = false
		if a.status == ok {
			i.objects += precreated
		}
		for i.objects > 0 && len(i.wanted) > 0 {
			then := i.wanted[0]
			i.wanted = i.wanted[1:]
			i.objects--
			then()
		}
		if a.status == ok || len(i.wanted) > 0 {
			i.client.after(second, i.precreate)
		}
	}
	i.send(r)
}

// destroy lets an OST destroy the object of a file.
func (t *target) destroy(f *file) {
	for _, i := range t.host.imports {
		if i.target != f.object.target {
			continue
		}
		r := i.request(opDestroy, [][]byte{obdo(0x8000081, f.object.fid, f.fid, 0, 0).u32(108, 1), lockRequest(0, 0, 0, fid{}, 0, 0, 0, 0), nil}, nil)
		r.before = func(then func()) {
			f.object.request(&waiter{client: t.host, mode: modePW, then: then})
		}
		r.answerer = func() *answer { return &answer{buffers: [][]byte{obdo(0x81, f.object.fid, f.fid, 0, 0)}} }
		i.send(r)
	}
}

// syncMDT makes the MDT write what changed.
func (p *process) syncMDT(f *file, next func(bool)) {
	r := p.mdt.request(opSyncMDT, [][]byte{mdtBody(f.fid, 1, 0, 0, 0), nil}, nil)
	p.ask(p.mdt, r, func() [][]byte { return [][]byte{mdtBody(f.fid, validChanged, 0100644, 0, p.mdt.target.host.now)} }, next)
}

// readdir reads a page of the directory.
func (p *process) readdir(next func(bool)) {
	f := p.dir.resource.fid
	r := p.mdt.request(opReaddir, [][]byte{mdtBody(f, 0, 0, 0, 0).u32(136, 4096), nil}, nil)
	r.give = 4096
	p.ask(p.mdt, r, func() [][]byte { return [][]byte{mdtBody(f, 1<<5, 0, 4096, 0)} }, next)
}

// statfs asks a target for its free space.
func (p *process) statfs(i *imp, next func(bool)) {
	r := i.request(opStatfsMDT, [][]byte{mdtBody(fid{}, 0, 0, 0, 0)}, nil)
	if i.target.kind == ost {
		r = i.request(opStatfsOST, nil, nil)
	}
	p.ask(i, r, func() [][]byte { return [][]byte{statfs(i.target.full)} }, next)
}

// lock gets a lock on an object, unless the client has one.
func (p *process) lock(f *file, mode uint32, next func(bool)) {
	i := p.osts[f.index]
	if i.cached(f.object, mode) != nil {
		next(true)
		return
	}
	l := &lock{resource: f.object, client: p.client, imp: i, mode: mode, handle: p.client.handle()}
	r := i.request(opExtent, [][]byte{lockRequest(0, 1, typeExtent, f.object.fid, mode, 0, l.handle, 0)}, nil)
	p.enqueue(r, l, next)
}

// flock gets a lock of the application on a file, keeps it for a while, and gives it back.
func (p *process) flock(next func(bool)) {
	h, i := p.client, p.mdt
	l := &lock{resource: pick(h.cluster, p.flocks), client: h, imp: i, mode: modePW, bits: h.handle(), handle: h.handle()}
	r := i.request(opFlock, [][]byte{lockRequest(0, 1, typeFlock, l.resource.fid, modePW, l.bits, l.handle, 0)}, nil)
	p.enqueue(r, l, func(ok bool) {
		if !ok {
			next(false)
			return
		}
		h.after(h.between(100*millisecond, 6*second), func() { p.unflock(l, next) })
	})
}

// enqueue asks for a lock. It is granted with the reply, or by a callback later.
func (p *process) enqueue(r *rpc, l *lock, granted func(bool)) {
	r.lock = l
	l.onGranted = func(ok bool) {
		r.ended = p.client.now
		granted(ok)
	}
	p.call(l.imp, r, func(a *answer) {
		if a.status != ok {
			l.onGranted = nil
			granted(false)
			return
		}
		l.imp.locks = append(l.imp.locks, l)
		if r.ended = 0; !a.blocked {
			l.taken()
		}
	})
}

// unflock gives a lock of the application back.
func (p *process) unflock(l *lock, next func(bool)) {
	x := l.resource
	l.drop()
	r := p.mdt.request(opFlock, [][]byte{lockRequest(0, 1, typeFlock, x.fid, modeNL, l.bits, p.client.handle(), 0)}, nil)
	p.ask(p.mdt, r, func() [][]byte {
		x.remove(l)
		return [][]byte{lockReply(0, typeFlock, x.fid, modeNL, modeNL, l.bits, p.mdt.target.host.handle(), 0), nil}
	}, next)
}

// glimpse asks for the size of an object. The server asks those who may be writing.
func (p *process) glimpse(f *file, next func(bool)) {
	i := p.osts[f.index]
	x := f.object
	r := i.request(opExtent, [][]byte{lockRequest(hasIntent, 1, typeExtent, x.fid, modePR, 0, p.client.handle(), 0)}, nil)
	r.before = func(then func()) {
		for _, l := range x.granted {
			if l.client != p.client && l.mode == modePW {
				l.glimpse(then)
				return
			}
		}
		then()
	}
	p.ask(i, r, func() [][]byte {
		return [][]byte{lockReply(lockChanged, typeExtent, x.fid, modePR, modePR, 0, 0, 0), make([]byte, 56)}
	}, next)
}

// brw makes the request for a read or a write of an object, under the lock that the client has on it.
func (i *imp) brw(op *operation, x *resource, mode uint32, job string, offset uint64, size int, short bool, done func(*answer)) *rpc {
	handle, most := uint64(0), uint32(0x30000)
	if l := i.cached(x, mode); l != nil {
		handle = l.server
	}
	oa := obdo(0x8000000b184f2f, x.fid, fid{0x200000400, x.fid.oid}, 0, 0).u64(72, 170<<20).u32(84, 170<<20).u64(128, handle)
	if short {
		oa.u32(96, 0x400000)
		most = 0xffff0000
	}
	ioobj := make(record, 24).fid(0, x.fid).u32(16, most).u32(20, 1)
	niobuf := make(record, 16).u64(0, offset).u32(8, uint32(size)).u32(12, 0x420)
	r := i.request(op, [][]byte{oa, ioobj, niobuf, nil, nil}, done)
	r.job = job
	return r
}

// write writes to an object.
func (i *imp) write(x *resource, job string, offset uint64, size int, next func(bool)) {
	short := size <= 8192
	r := i.brw(opWrite, x, modePW, job, offset, size, short, func(a *answer) { next(a.status == ok) })
	if short {
		r.buffers[4] = data[:size]
	} else {
		r.fetch = size
	}
	r.answerer = func() *answer {
		return &answer{buffers: [][]byte{obdo(0x8000000b184f2f, x.fid, fid{}, offset+uint64(size), 512).u64(72, 32768), make([]byte, 4)}}
	}
	i.send(r)
}

// read reads from an object.
func (i *imp) read(x *resource, job string, offset uint64, size int, next func(bool)) {
	short := size <= 4096
	r := i.brw(opRead, x, modePR, job, offset, size, short, func(a *answer) { next(a.status >= 0) })
	b := [][]byte{obdo(0x8100800, x.fid, fid{}, 0, 0)}
	if short {
		b = append(b, data[:size])
	} else {
		r.give = size
	}
	r.answerer = func() *answer { return &answer{status: int32(size), buffers: b} }
	i.send(r)
}

func (i *imp) sync(x *resource, job string, next func(bool)) {
	r := i.request(opSyncOST, [][]byte{obdo(0x3004031, x.fid, fid{}, 0, 1<<63-1), nil}, func(a *answer) { next(a.status == ok) })
	r.job = job
	r.answerer = func() *answer { return &answer{buffers: [][]byte{obdo(0x10001bf, x.fid, fid{}, 4096, 8)}} }
	i.send(r)
}

// append writes at the end of a file, under a lock.
func (p *process) append(f *file, size int, next func(bool)) {
	p.locked(f, modePW, next, func(i *imp) {
		if l := i.cached(f.object, modePW); l != nil && p.client.random.IntN(3) == 0 {
			l.dirty = true
		}
		at := f.size
		f.size += uint64(size)
		i.write(f.object, p.job, at, size, next)
	})
}

// fetch reads from a file, under a lock.
func (p *process) fetch(f *file, size int, next func(bool)) {
	p.locked(f, modePR, next, func(i *imp) {
		i.read(f.object, p.job, p.lastIO%(1<<20), size, next)
		p.lastIO += uint64(size)
	})
}

// locked calls then with a lock on a file, and next without one.
func (p *process) locked(f *file, mode uint32, next func(bool), then func(i *imp)) {
	p.lock(f, mode, func(ok bool) {
		if !ok {
			next(false)
			return
		}
		then(p.osts[f.index])
	})
}

// jobKind is what a job does again and again.
type jobKind struct {
	name  string
	steps func(p *process) []step
}

var kinds = []jobKind{
	{"tar", func(p *process) []step {
		size := 4096 << p.client.random.IntN(3)
		last := func() *file { return p.files[len(p.files)-1] }
		return []step{p.create,
			func(next func(bool)) { p.append(last(), size, next) },
			func(next func(bool)) { p.close(last(), next) }}
	}},
	{"dd", withFile(func(p *process, f *file) []step {
		write := func(next func(bool)) { p.append(f, 16384, next) }
		return []step{write, write, write}
	})},
	{"dbwriter", withFile(func(p *process, f *file) []step {
		return []step{
			func(next func(bool)) { p.append(f, 8192, next) },
			func(next func(bool)) { p.osts[f.index].sync(f.object, p.job, next) },
			func(next func(bool)) { p.syncMDT(f, next) }}
	})},
	{"ls", func(p *process) []step {
		list := []step{p.stat, p.readdir}
		for _, f := range p.files[:min(len(p.files), 3)] {
			list = append(list, func(next func(bool)) { p.glimpse(f, next) })
		}
		list = append(list, func(next func(bool)) { p.glimpse(pick(p.client.cluster, p.shared), next) })
		if len(p.files) < 3 {
			list = append(list, p.create)
		}
		return list
	}},
	{"rm", func(p *process) []step {
		return []step{p.create, func(next func(bool)) { p.append(p.files[len(p.files)-1], 4096, next) }, p.remove}
	}},
	{"find", func(p *process) []step { return []step{p.stat, p.readdir, p.stat} }},
	{"mkdir", func(p *process) []step { return []step{p.stat, p.mkdir, p.unlink} }},
	{"cat", withFile(func(p *process, f *file) []step {
		read := func(next func(bool)) { p.fetch(f, 16384, next) }
		return []step{func(next func(bool)) { p.open(f, next) }, read, read, func(next func(bool)) { p.close(f, next) }}
	})},
	{"flock", func(p *process) []step { return []step{p.flock} }},
	{"df", func(p *process) (list []step) {
		for _, i := range append([]*imp{p.mdt}, p.osts...) {
			list = append(list, func(next func(bool)) { p.statfs(i, next) })
		}
		return list
	}},
	{"shared", func(p *process) []step {
		f, access := pick(p.client.cluster, p.shared), p.fetch
		if p.client.random.IntN(2) == 0 {
			access = p.append
		}
		return []step{func(next func(bool)) { access(f, 4096, next) }}
	}},
}

// withFile returns the steps for one of the files of a process, which creates one if it has none.
func withFile(steps func(p *process, f *file) []step) func(p *process) []step {
	return func(p *process) []step {
		if len(p.files) == 0 {
			return []step{p.create}
		}
		return steps(p, pick(p.client.cluster, p.files))
	}
}
