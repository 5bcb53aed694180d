package simulator

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/lshark/lshark/dissect/lnet"
)

// cluster is the nodes, what connects them, and what they do.
type cluster struct {
	clock
	random        *rand.Rand
	begin         int64
	hosts         []*host
	clients       []*host
	servers       []*host
	targets       []*target
	paths         [][]*path
	processes     []*process
	transmissions []transmission
	requests      []*rpc // all that were sent
	sentAgain     int    // segments, and probes of connections
	arena         []byte

	mss          int
	pingInterval int64
	atMax        int64
	cpuTime      int64 // of a request
	patience     int64 // for how long a client may be silent until it is evicted
}

// bytes returns n bytes that are zero.
func (c *cluster) bytes(n int) []byte {
	if len(c.arena) < n {
		c.arena = make([]byte, max(n, 256<<10))
	}
	b := c.arena[:n:n]
	c.arena = c.arena[n:]
	return b
}

// path returns the path from a host to another one.
func (h *host) path(other *host) *path { return h.paths[h.index][other.index] }

// between returns a random number of a range.
func (c *cluster) between(low, high int64) int64 { return low + c.random.Int64N(high-low+1) }

// pick returns one of a list at random.
func pick[T any](c *cluster, list []T) T { return list[c.random.IntN(len(list))] }

// build makes a cluster with its jobs.
func build(seed uint64) *cluster {
	c := &cluster{random: rand.New(rand.NewPCG(seed, 0x6c736861726b))}
	c.begin = 1795248401*second + int64(seed%1000)*second
	c.now = c.begin
	c.planned = make([]event, 0, 512)
	c.transmissions = make([]transmission, 0, 4096)
	c.mss = pick(c, []int{1448, 1448, 8948})
	c.pingInterval = pick(c, []int64{5, 5, 5, 10, 25}) * second
	c.atMax = pick(c, []int64{30, 600}) * second
	c.patience = pick(c, []int64{8, 20}) * c.pingInterval
	c.cpuTime = pick(c, []int64{50, 200, 800}) * microsecond

	servers := 1 + c.random.IntN(3)
	names := []string{"mds", "oss", "oss2"}[:servers]
	for k := range 2 + c.random.IntN(3) {
		names = append(names, fmt.Sprintf("client%d", k+1))
	}
	for k, name := range names {
		c.addHost(name, k, k < servers)
	}
	c.connectHosts()
	if c.random.IntN(4) == 0 { // some frames are lost everywhere and always
		c.eachPath(func(p *path) { p.loss = 0.0005 })
	}
	if c.random.IntN(6) == 0 { // a client far away
		far := pick(c, c.clients)
		delay := c.between(5, 40) * millisecond
		c.eachPath(func(p *path) {
			if p.from == far || p.to == far {
				p.delay += delay
			}
		})
	}
	c.addTargets(servers)
	c.addClients()
	c.addJobs()
	return c
}

func (c *cluster) addHost(name string, k int, server bool) {
	h := &host{cluster: c, name: name, index: k, up: true, nextPort: 1023}
	h.nid = lnet.NID{Addr: [16]byte{192, 0, 2, byte(k + 1)}, Len: 4, Type: 2}
	h.hardware = [6]byte{0x52, 0x54, 0, 0x12, 0, byte(k + 1)}
	h.lastXID = uint64(c.begin/second-int64(k)*100000)<<20 + uint64(k)<<30
	h.handles = 0x915b5684cc3c0000 + uint64(k)<<40
	c.hosts = append(c.hosts, h)
	if server {
		c.servers = append(c.servers, h)
	} else {
		c.clients = append(c.clients, h)
	}
}

// connectHosts makes the paths between all hosts.
func (c *cluster) connectHosts() {
	delay := pick(c, []int64{30, 100, 300, 1500}) * microsecond
	for _, from := range c.hosts {
		var list []*path
		for _, to := range c.hosts {
			from.pairs = append(from.pairs, &pair{host: from, other: to})
			list = append(list, &path{cluster: c, from: from, to: to, delay: delay * c.between(80, 160) / 100})
		}
		c.paths = append(c.paths, list)
	}
}

func (c *cluster) eachPath(change func(*path)) {
	for _, list := range c.paths {
		for _, p := range list {
			change(p)
		}
	}
}

func (c *cluster) addTarget(h *host, kind targetKind, index uint32) {
	t := &target{kind: kind, index: index, host: h, up: true, instance: uint32(c.between(2, 9)), exports: make([]*export, len(c.hosts))}
	t.name = [...]string{"MGS", fmt.Sprintf("lustre-MDT%04x", index), fmt.Sprintf("lustre-OST%04x", index)}[kind]
	t.transno = uint64(t.instance)<<32 + uint64(c.between(100, 100000))
	t.committed = t.transno
	t.device.speed = float64(c.between(50, 300)) / 100
	t.device.pauses = c.random.IntN(3) == 0
	h.targets = append(h.targets, t)
	c.targets = append(c.targets, t)
}

func (c *cluster) addTargets(servers int) {
	mds := c.servers[0]
	c.addTarget(mds, mgs, 0)
	c.addTarget(mds, mdt, 0)
	n := uint32(0)
	for _, h := range c.servers[min(1, servers-1):] {
		for range 1 + c.random.IntN(2) {
			c.addTarget(h, ost, n)
			n++
		}
	}
}

// addClients connects clients, and the MDT to the OSTs.
func (c *cluster) addClients() {
	for _, h := range c.clients {
		h.newMount()
		h.after(c.between(0, 300*millisecond), h.mount)
	}
	mds := c.servers[0]
	for _, t := range c.targets {
		if t.kind == ost && t.host != mds {
			i := mds.connectTo(t)
			i.uuid = "lustre-MDT0000-mdtlov_UUID"
			i.objects = precreated
		}
	}
	mds.after(c.between(0, 100*millisecond), mds.mount)
	c.at(c.now+2*second, func() { c.watchSpace(mds) })
	for _, t := range c.targets {
		c.commit(t)
		t.evictSilent()
	}
}

// watchSpace lets the MDT ask OSTs for their free space.
func (c *cluster) watchSpace(mds *host) {
	for _, i := range mds.imports {
		r := i.request(opStatfsOST, nil, nil)
		r.answerer = func() *answer { return &answer{buffers: [][]byte{statfs(i.target.full)}} }
		if i.state == full {
			i.send(r)
		}
	}
	mds.after(c.between(5*second, 11*second), func() { c.watchSpace(mds) })
}

// commit lets a target commit its transactions from time to time.
func (c *cluster) commit(t *target) {
	c.at(c.now+5*second, func() {
		t.committed = t.transno
		c.commit(t)
	})
}

func (c *cluster) addResource(t *target, typ uint32, f fid) *resource {
	x := &resource{target: t, typ: typ, fid: f}
	t.resources = append(t.resources, x)
	return x
}

// newFID returns the identifier of a new file.
func (h *host) newFID() fid {
	h.filesMade++
	return fid{0x200000401 + uint64(h.index), h.filesMade}
}

// newFile makes a file whose object lies on one of the OSTs.
func (h *host) newFile(p *process) *file {
	index := uint32(h.random.IntN(len(p.osts)))
	return &file{fid: h.newFID(), index: index, object: h.addObject(p.osts[index].target)}
}

// addObject adds an object to an OST.
func (c *cluster) addObject(t *target) *resource {
	t.objects++
	return c.addResource(t, typeExtent, fid{0x240000400 + uint64(t.index)<<30, t.objects})
}

// addJobs lets processes of jobs run on clients.
func (c *cluster) addJobs() {
	var dirs []*directory
	meta := c.targets[1]
	for k := range 3 {
		dirs = append(dirs, &directory{resource: c.addResource(meta, typeIbits, fid{0x200000007, uint32(k + 1)})})
	}
	flocks := []*resource{c.addResource(meta, typeFlock, fid{0x200000400, 1}), c.addResource(meta, typeFlock, fid{0x200000400, 2})}
	var shared []*file
	flocking := c.random.IntN(6) == 0
	contended := c.random.IntN(2) == 0 // several clients use the same files
	pace := c.between(500, 2000)
	for _, h := range c.clients {
		for range 1 + c.random.IntN(2) {
			k := pick(c, kinds)
			if flocking && len(c.processes) < 4 && c.random.IntN(2) == 0 {
				k = kinds[slices.IndexFunc(kinds, func(k jobKind) bool { return k.name == "flock" })]
			}
			if contended && k.name != "cat" && len(c.processes) < 3 {
				k = kinds[len(kinds)-1]
			}
			p := &process{client: h, job: fmt.Sprintf("%s.%d", k.name, 1000+c.random.IntN(4)), steps: k.steps, dir: pick(c, dirs)}
			if c.random.IntN(3) > 0 { // a directory of its own
				p.dir = &directory{resource: c.addResource(meta, typeIbits, fid{0x200000400, uint32(len(c.processes) + 10)})}
			}
			p.use(h.imports)
			p.pause = pace * c.between(50, 250) / 100 * millisecond
			if shared == nil {
				shared = []*file{h.newFile(p), h.newFile(p)}
			}
			p.shared, p.flocks = shared, flocks
			p.bursts = c.random.IntN(4) == 0
			c.processes = append(c.processes, p)
			h.jobs = append(h.jobs, p)
			h.after(2*second+c.between(0, 3*second), p.run)
		}
	}
}
