package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// parts is where the time of RPCs passed, in nanoseconds.
type parts struct {
	server   int64 // what is not in the others
	transfer int64 // between the first and the last message of bulk data
	network  int64 // one round trip, and retransmission
	lock     int64 // until a lock was granted, after the reply
}

// partsOf returns where the time of an RPC passed; ok is false if it has no reply, was
// sent more than once, or lost an unknown time by retransmission.
func partsOf(r *track.RPC) (p parts, ok bool) {
	latency, ok := r.Latency()
	if r.IsLog() {
		s := &r.Log.Server
		p.server = s.Total
		p.network = max(0, latency-s.Total)
		return p, ok && r.Log.HasServer && s.Handled != 0 && r.Sends == 1 && r.Log.Handled == 1
	}
	if !ok || r.Sends > 1 || r.Replay() || r.LossNotCaptured() {
		return parts{}, false
	}
	if r.Retransmits() > 0 {
		lost, known := r.RetransmitTime()
		if !known {
			return parts{}, false
		}
		p.network = lost
	}
	if wait, waited := r.LockWait(); waited {
		p.lock = max(0, wait-latency)
	}
	p.transfer, _ = r.BulkTime()
	p.transfer = min(p.transfer, latency)
	if node, known := r.NodeTime(); known {
		p.network = latency - min(node, latency)
		p.server = max(0, latency-p.network-p.transfer)
		return p, true
	}
	rtt, _ := r.RTT()
	p.network = min(p.network+rtt, latency-p.transfer)
	p.server = latency - p.transfer - p.network
	return p, true
}

func (p *parts) add(other *parts) {
	p.server += other.server
	p.transfer += other.transfer
	p.network += other.network
	p.lock += other.lock
}

func (p *parts) sum() int64 { return p.server + p.transfer + p.network + p.lock }

// text returns the shares as in "96 % in the server, 3 % with the transfer of bulk data,
// and 1 % in the network", without those below one percent.
func (p *parts) text() string {
	var words []string
	add := func(ns int64, where string) {
		if share := 100 * float64(ns) / float64(max(p.sum(), 1)); share >= 1 {
			words = append(words, fmt.Sprintf("%.0f %% %s", share, where))
		}
	}
	add(p.server, "in the server")
	add(p.transfer, "with the transfer of bulk data")
	add(p.network, "in the network")
	add(p.lock, "in waiting for locks")
	return firstOf(words, len(words))
}

// storageOperations are those that read or write the storage of a target, and wait for
// no lock in the server.
var storageOperations = []uint32{
	opcodes.OST_READ, opcodes.OST_WRITE, opcodes.OST_SYNC, opcodes.OST_CREATE, opcodes.OST_STATFS,
	opcodes.MDS_SYNC, opcodes.MDS_STATFS, opcodes.MDS_READPAGE, opcodes.OUT_UPDATE,
}

// comparableOperations are those of them that should take the same time at equal
// targets.
var comparableOperations = []uint32{
	opcodes.OST_READ, opcodes.OST_WRITE, opcodes.OST_SYNC, opcodes.OST_STATFS, opcodes.MDS_STATFS, opcodes.MDS_READPAGE,
}

// perConnection has a value for each connection.
type perConnection[T any] struct {
	values *fifo.Map[*track.Connection, *T]
	last   *track.Connection
	value  *T // of last
}

const maxConnections = 1 << 13

func newPerConnection[T any]() perConnection[T] {
	return perConnection[T]{values: fifo.NewMap[*track.Connection, *T](maxConnections)}
}

func (p *perConnection[T]) of(c *track.Connection) *T {
	if c == p.last && p.value != nil {
		return p.value
	}
	v := fifo.GetOrNew(p.values, c)
	p.last, p.value = c, v
	return v
}

func connectionTarget(c *track.Connection) targetKey {
	k := namedTarget(c.Target, c.TargetIndex, c.Server)
	if !k.isKnown() {
		k.handle = c.Handle
	}
	return k
}

// subjectAt returns the target, and its server, as what a finding is about.
func (k targetKey) subjectAt(server lnet.NID) diagnose.Subject {
	s := k.subject()
	s.Server = server
	return s
}

// byTarget groups connections by their targets, in the order of appearance. Those of which only
// the server is known are one group: how many targets they are is unknown.
func byTarget[T any](p *perConnection[T]) *fifo.Map[targetKey, []*T] {
	groups := fifo.NewMap[targetKey, []*T](maxConnections)
	for c, v := range fifo.All(p.values) {
		k := connectionTarget(c)
		k.handle = 0
		list, _ := fifo.Get(groups, k)
		fifo.Put(groups, k, append(list, v))
	}
	return groups
}

// operationCounts counts RPCs by operation.
type operationCounts map[uint32]int64

// rpcSum sums up RPCs that have something in common.
type rpcSum struct {
	n           int64
	first, last int64 // times
	operations  operationCounts
	slowest     slowest
}

// count counts an RPC between two times.
func (s *rpcSum) count(opcode uint32, from, to int64) {
	if s.n == 0 {
		s.first, s.operations = from, make(operationCounts)
	}
	s.n++
	s.operations[opcode]++
	s.last = max(s.last, to)
}

// join adds what another one counts.
func (s *rpcSum) join(other *rpcSum) {
	if other.n == 0 {
		return
	}
	if s.n == 0 {
		s.first, s.operations = other.first, make(operationCounts)
	}
	s.n += other.n
	s.first, s.last = min(s.first, other.first), max(s.last, other.last)
	for op, n := range other.operations {
		s.operations[op] += n
	}
	s.slowest.join(&other.slowest)
}

// finding returns a finding without its text. The slowest RPCs are evidence.
func (s *rpcSum) finding(about diagnose.Subject) diagnose.Finding {
	f := diagnose.Finding{Subject: about, First: s.first, Last: s.last, Count: s.n}
	s.slowest.prove(&f)
	return f
}

// text returns the operations as in "OST_WRITE 8, OST_SYNC 4", the most frequent first, or
// the name of the only one.
func (c operationCounts) text() string {
	const shown = 4
	var list []uint32
	for op := range c {
		list = append(list, op)
	}
	slices.SortFunc(list, func(a, b uint32) int {
		if c[a] != c[b] {
			return int(c[b] - c[a])
		}
		return int(int64(a) - int64(b))
	})
	if len(list) == 1 {
		return operationText(list[0])
	}
	var words []string
	for _, op := range list[:min(len(list), shown)] {
		words = append(words, fmt.Sprintf("%s %d", operationText(op), c[op]))
	}
	if len(list) > shown {
		words = append(words, "…")
	}
	return strings.Join(words, ", ")
}

// operationText returns the name of an operation.
func operationText(opcode uint32) string {
	if op := opcodes.ByOpcode(opcode); op != nil {
		return op.Name
	}
	return fmt.Sprintf("operation %d", opcode)
}

// slowRPC is an RPC that is evidence.
type slowRPC struct {
	opcode         uint32
	request, reply track.Point
	ns             int64
}

// slowest are a few RPCs that took longest, the longest first.
type slowest struct{ list []slowRPC }

const maxSlowest = 3

// add adds an RPC that took ns nanoseconds if it is one of the slowest.
func (s *slowest) add(r *track.RPC, ns int64) {
	if len(s.list) == maxSlowest && s.list[maxSlowest-1].ns >= ns {
		return
	}
	s.insert(slowRPC{r.Opcode, r.Requested(), r.Replied(), ns})
}

func (s *slowest) insert(one slowRPC) {
	at := 0
	for at < len(s.list) && s.list[at].ns >= one.ns {
		at++
	}
	s.list = slices.Insert(s.list, at, one)
	s.list = s.list[:min(len(s.list), maxSlowest)]
}

func (s *slowest) join(other *slowest) {
	for _, one := range other.list {
		s.insert(one)
	}
}

// prove adds the RPCs to a finding.
func (s *slowest) prove(f *diagnose.Finding) {
	for _, one := range s.list {
		f.Prove(one.request, "request of %s", operationText(one.opcode))
		f.Prove(one.reply, "its reply, %s later", duration(one.reply.Time-one.request.Time))
	}
}
