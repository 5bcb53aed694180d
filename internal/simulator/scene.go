package simulator

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet"
)

// Scene is what happened in a cluster.
type Scene struct {
	Seed   uint64
	Faults []*Fault // none: ordinary work
	Nodes  []string // names, servers first; 192.0.2.1 is the first

	*cluster
	named  bool // its faults were
	end    int64
	random *rand.Rand // of views
}

// Play lets a cluster work. Of four seeds, one is ordinary work, and one has two faults. With the
// names of faults it has these.
func Play(seed uint64, faults ...string) *Scene {
	c := build(seed)
	s := &Scene{Seed: seed, cluster: c, named: len(faults) > 0, random: rand.New(rand.NewPCG(seed, 0x76696577))}
	for _, h := range c.hosts {
		s.Nodes = append(s.Nodes, h.name)
	}
	length := c.between(30, 80) * second
	n := [...]int{0, 1, 1, 2}[seed%4]
	if len(faults) > 0 {
		n = len(faults)
	}
	for i := range n {
		k := &faultKinds[c.random.IntN(len(faultKinds))]
		if len(faults) > 0 {
			k = faultNamed(faults[i])
		}
		from := c.begin + 10*second + c.random.Int64N(length/3)
		if k.lasts == throughout {
			from = c.begin
		}
		var d int64
		switch c.random.IntN(4) {
		case 0:
			d = c.between(800, 6000) * millisecond
		case 1, 2:
			d = c.between(6, 30) * second
		default:
			d = c.between(30, 75) * second
		}
		if k.lasts == long {
			d = max(d, 10*second)
		}
		f := &Fault{Name: k.name, From: from, Until: from + d}
		s.Faults = append(s.Faults, f)
		c.at(from, func() {
			places, end := k.begin(c)
			f.Places = places
			if end != nil {
				c.at(f.Until, end)
			}
		})
	}
	s.end = c.begin + length
	c.run(s.end)
	return s
}

// Switch is the capture point in the middle: a mirror of all ports of the switch.
const Switch = "switch"

// View is how a scene is captured.
type View struct {
	Points  []string // names of nodes, or Switch
	After   int64    // nanoseconds from the beginning of the scene to that of the capture
	Loss    float64  // share of frames that the capture lacks
	Snaplen int      // 0: none
	Swaps   float64  // share of frames that are captured after the next one
	Twice   bool     // each frame is captured twice, as by a mirror of two ports
	Gap     [2]int64 // nanoseconds from the beginning of the scene between which frames are missing
}

// View returns one way to capture the scene, chosen at random.
func (s *Scene) View() View {
	v := View{Points: []string{s.point()}}
	if s.random.IntN(2) == 0 {
		if p := s.point(); p != v.Points[0] {
			v.Points = append(v.Points, p)
		}
	}
	if s.random.IntN(4) > 0 { // long after the connects
		v.After = 5*second + s.random.Int64N(2*second)
	}
	switch s.random.IntN(8) {
	case 0:
		v.Loss = 0.001 + s.random.Float64()*0.01
	case 1:
		v.Snaplen = []int{256, 384, 512, 1024}[s.random.IntN(4)]
	case 2:
		v.Swaps = 0.02
	}
	if s.named { // else a seed would give another view than it gave before
		switch s.random.IntN(8) {
		case 0:
			v.Twice = true
		case 1:
			from := s.random.Int64N(s.end - s.begin)
			v.Gap = [2]int64{from, from + second/4 + s.random.Int64N(3*second)}
		case 2: // somewhere in the middle
			v.After = s.random.Int64N((s.end - s.begin) / 2)
		}
	}
	return v
}

func (s *Scene) point() string {
	if k := s.random.IntN(len(s.Nodes) + 1); k < len(s.Nodes) {
		return s.Nodes[k]
	}
	return Switch
}

// at returns when a frame passed a capture point; 0: never.
func (t *transmission) at(point string) int64 {
	switch point {
	case t.from.name:
		return t.sent
	case t.to.name:
		return t.arrive
	case Switch:
		return t.switched
	}
	return 0
}

// Capture returns the frames of a view, those of several points by time.
func (s *Scene) Capture(v View) []capture.Frame {
	var list []capture.Frame
	for k, point := range v.Points {
		list = append(list, s.captureAt(v, point, k)...)
	}
	slices.SortStableFunc(list, func(a, b capture.Frame) int { return cmp.Compare(a.Time, b.Time) })
	for i := range list {
		list[i].Number = int64(i + 1)
	}
	return list
}

func (s *Scene) captureAt(v View, point string, source int) []capture.Frame {
	random := rand.New(rand.NewPCG(s.Seed, uint64(source)))
	var list []capture.Frame
	for i := range s.transmissions {
		t := &s.transmissions[i]
		time := t.at(point)
		if time == 0 || time < s.begin+v.After || time > s.end || v.Loss > 0 && random.Float64() < v.Loss ||
			time-s.begin >= v.Gap[0] && time-s.begin < v.Gap[1] {
			continue
		}
		f := capture.Frame{Time: time, Len: len(t.frame), Data: t.frame, Link: capture.LinkEthernet, Source: source}
		if v.Snaplen > 0 && len(f.Data) > v.Snaplen {
			f.Data = f.Data[:v.Snaplen]
		}
		list = append(list, f)
		if v.Twice {
			f.Time += 2 * microsecond
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(a, b capture.Frame) int { return cmp.Compare(a.Time, b.Time) })
	for i := 1; v.Swaps > 0 && i < len(list); i++ {
		if random.Float64() < v.Swaps && list[i].Time-list[i-1].Time < millisecond {
			list[i], list[i-1] = list[i-1], list[i]
			list[i].Time, list[i-1].Time = list[i-1].Time, list[i].Time
		}
	}
	for i := range list {
		if len(v.Points) > 1 {
			list[i].File, list[i].FileNumber = point+".pcap", int64(i+1)
		}
	}
	return list
}

// Hurt returns how many RPCs that a view has failed during a fault, took at least so long, or had
// no reply. Times are those at which request and reply passed the capture points of the view: a
// reply that passed them and was lost or delayed behind them counts only if the request is sent
// again.
func (s *Scene) Hurt(f *Fault, v View, least int64) (n int) {
	for _, r := range s.requests {
		if r.op == opFlock { // it waits for applications
			continue
		}
		end := r.ended
		if end == 0 {
			end = s.end
		}
		failed := r.served != nil && r.served.status < 0
		if r.first > f.Until || end < f.From || end-r.first < least && !failed || end < s.begin+v.After {
			continue
		}
		from, _ := s.passed(r, r.from, r.to, v)
		if _, answered := s.passed(r, r.to, r.from, v); answered > 0 && r.sends == 1 && (r.served == nil || !r.served.blocked) {
			end = answered
		}
		if from > 0 && (end-from >= least || failed) {
			n++
		}
	}
	return n
}

// passed returns when something of an RPC passed the points of a view for the first and the last time on its way from one host to
// another; 0: never.
func (s *Scene) passed(r *rpc, from, to *host, v View) (first, last int64) {
	xid := binary.LittleEndian.AppendUint64(nil, r.xid)
	for i := range s.transmissions {
		t := &s.transmissions[i]
		if t.from != from || t.to != to || t.sent < r.first || !bytes.Contains(t.frame, xid) {
			continue
		}
		for _, point := range v.Points {
			if at := t.at(point); at > 0 {
				if first == 0 || at < first {
					first = at
				}
				last = max(last, at)
			}
		}
	}
	return first, last
}

// IsServer reports whether a node is a server.
func (s *Scene) IsServer(n lnet.NID) bool {
	return slices.ContainsFunc(s.servers, func(h *host) bool { return h.nid == n })
}

// Seconds returns a time as seconds since the beginning of the scene.
func (s *Scene) Seconds(time int64) float64 { return float64(time-s.begin) / 1e9 }
