package rules

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// accesses follows how clients read and write objects.
type accesses struct {
	objects *fifo.Map[accessKey, *access]

	// changed gets an object after each RPC about it.
	changed func(k accessKey, a *access, r *track.RPC)
}

// accessKey is an object that a client reads or writes.
type accessKey struct {
	client, server lnet.NID
	object         [2]uint64
	write          bool
}

// access is how a client reads or writes an object.
type access struct {
	run
	target      targetKey
	file        track.FID
	jobs        []string
	bytes       uint64
	adjacent    int64 // that continue where one of the last ones ended, or end where it began
	strided     int64 // at the same distance from the one before as that one from its own
	unaligned   int64 // that begin inside a page, and not at the end of what was written so far
	synchronous int64 // to disk before the reply
	smallest    uint64
	largest     uint64
	starts      [maxNeighbours]uint64 // of the last ones
	ends        [maxNeighbours]uint64
	distance    uint64 // from the one before
	end         uint64 // of what was read or written so far
}

// maxNeighbours is more than the RPCs that a client has in flight to a target, which
// may be sent in any order.
const maxNeighbours = 16

const pageBytes = 4096

func newAccesses(changed func(accessKey, *access, *track.RPC)) *accesses {
	return &accesses{objects: fifo.NewMap[accessKey, *access](maxResources), changed: changed}
}

var transferOpcodes = []uint32{opcodes.OST_READ, opcodes.OST_WRITE}

func (s *accesses) sent(r *track.RPC, m *dissect.Message) {
	if m.Msg == nil || r.Sends != 1 || r.Replay() || r.Opcode != opcodes.OST_READ && r.Opcode != opcodes.OST_WRITE {
		return
	}
	t, ok := opcodes.TransferOf(m.Msg)
	if !ok || t.IsAgain {
		return
	}
	key := accessKey{r.Client, r.Server, t.Object, r.Opcode == opcodes.OST_WRITE}
	a := s.objects.GetOrMake(key, func() *access { return &access{smallest: t.Bytes, file: r.FID} })
	if a.target.name == "" {
		a.target = targetOf(r)
	}
	a.add(&t, r.Requested())
	if len(a.jobs) == 0 && len(r.Job()) > 0 {
		a.jobs = []string{string(r.Job())}
	}
	s.changed(key, a, r)
}

func (a *access) add(t *opcodes.Transfer, at track.Point) {
	if a.count > 0 {
		for i := range min(int(a.count), maxNeighbours) {
			if a.ends[i] == t.Start || a.starts[i] == t.End {
				a.adjacent++
				break
			}
		}
		distance := t.Start - a.starts[(a.count-1)%maxNeighbours]
		if a.count > 1 && distance == a.distance {
			a.strided++
		}
		a.distance = distance
	}
	if t.Start%pageBytes != 0 && t.Start != a.end {
		a.unaligned++
	}
	if t.AllFlags&opcodes.BrwSync != 0 {
		a.synchronous++
	}
	a.starts[a.count%maxNeighbours], a.ends[a.count%maxNeighbours] = t.Start, t.End
	a.run.add(at)
	a.bytes += t.Bytes
	a.smallest, a.largest = min(a.smallest, t.Bytes), max(a.largest, t.Bytes)
	a.end = max(a.end, t.End)
}

// share returns the part of the RPCs that a count is.
func (a *access) share(count int64) float64 { return float64(count) / float64(a.count) }

// mean returns how many bytes an RPC has on average.
func (a *access) mean() uint64 { return a.bytes / uint64(a.count) }

// verb returns what the client does.
func (k accessKey) verb() string {
	if k.write {
		return "wrote"
	}
	return "read"
}

// fileText names the file, or the object when the file is unknown.
func (a *access) fileText() string {
	if a.file == (track.FID{}) {
		return "an object"
	}
	return fidText(a.file)
}
