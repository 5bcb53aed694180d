// Package paths follows what TCP and InfiniBand do between hosts: how much each sends
// to the others, what it has to send again, and how long acknowledgements take.
//
//	p := paths.New()
//	d := dissect.New(dissect.Options{Handle: p.Message})
//	… // frames for d, then d.Close()
//	for path := range p.All {
//		if ns, ok := path.Typical(); ok {
//			fmt.Println(path.From, path.To, path.Bytes, time.Duration(ns))
//		}
//	}
//
// A Path is one direction between two hosts at one capture point; follow.Follower.Paths has
// them along with other parts. RoundTrips has the seconds in which even the fastest
// acknowledgement was slow ([SlowAck]): then the network or the receiver is, and not single
// segments, which hosts acknowledge late on purpose.
package paths

import (
	"net/netip"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// Paths are the paths between hosts. Their number is bounded.
type Paths struct {
	byHosts *fifo.Map[hosts, *Path]
	conns   *fifo.Map[int, *connection]

	keepTimes bool
}

// hosts are a sender and a receiver at a capture point.
type hosts struct {
	source   int
	from, to netip.Addr
}

type connection struct{ there, back *Path }

const (
	maxPaths = 1 << 14
	maxConns = 1 << 16
)

// New returns Paths without any.
func New() *Paths {
	return &Paths{byHosts: fifo.NewMap[hosts, *Path](maxPaths), conns: fifo.NewMap[int, *connection](maxConns)}
}

// Path is one direction between two hosts at a capture point.
type Path struct {
	Source   int
	File     string // with the first frame of it, empty when only one is read
	From, To netip.Addr

	// The NIDs of the hosts, zero while they are unknown. A host behind a router is not
	// an end of a path.
	FromNID, ToNID lnet.NID

	Messages int64
	Requests int64 // of them, without lock callbacks: the sender is a client
	Bytes    int64 // of the messages

	TCP         lnet.TCPAnomalies // of the segments of the sender
	ResentBytes int64             // in those that were sent again
	Resets      int64             // connections that the sender has aborted
	PacketsLost int64             // how often the sender has sent InfiniBand packets again, from a lost one on

	First track.Point
	Last  track.Point

	RoundTrips

	// Times are the acknowledgements: of those between two messages the fastest. It is nil without
	// Paths.KeepTimes.
	Times *track.Distribution

	hasMessages bool // in this direction or the other
	isRDMA      bool // they came over InfiniBand
}

// KeepTimes has paths keep their Times. It is to be called before the first message.
func (p *Paths) KeepTimes() { p.keepTimes = true }

// All calls f for each path in the order of appearance, until f returns false.
func (p *Paths) All(f func(*Path) bool) {
	for _, path := range fifo.All(p.byHosts) {
		if !f(path) {
			return
		}
	}
}

// Get returns the path from one host to another, nil if no message was captured of it.
func (p *Paths) Get(source int, from, to netip.Addr) *Path {
	path, _ := fifo.Get(p.byHosts, hosts{source, from, to})
	if path == nil || !path.hasMessages {
		return nil
	}
	return path
}

// Message takes a message.
func (p *Paths) Message(m *dissect.Message) {
	c := fifo.GetOrMake(p.conns, m.Conn, func() *connection {
		src, dst := m.Src.Addr(), m.Dst.Addr()
		c := &connection{p.path(hosts{m.Source, src, dst}, m.File), p.path(hosts{m.Source, dst, src}, m.File)}
		c.there.hasMessages, c.back.hasMessages = true, true
		return c
	})
	path, at := c.back, track.PointOf(m)
	if c.there.From == m.Src.Addr() {
		path = c.there
	}
	path.Messages++
	path.isRDMA = m.Transport == lnet.O2IB
	path.Bytes += int64(m.Size)
	if m.Kind == lnet.Request && !opcodes.IsCallback(m.RPC.Opcode) {
		path.Requests++
	}
	if m.Time >= path.Last.Time { // those that lack bytes come late
		path.Last = at
	}
	if path.Messages == 1 {
		path.First = at
	}
	if path.FromNID.Len == 0 && m.LNetOff >= 0 && m.LNet.Src.IsAt(path.From) {
		path.FromNID = m.LNet.Src
	}
	if path.ToNID.Len == 0 && m.LNetOff >= 0 && m.LNet.Dst.IsAt(path.To) {
		path.ToNID = m.LNet.Dst
	}
	path.RoundTrips.message(&m.Message, at)
	if path.Times != nil && m.RoundTrips.N > 0 {
		path.Times.Add(m.RoundTrips.Least)
	}
}

// TCPEvent takes a TCP segment that was sent again, came out of order, and so on.
func (p *Paths) TCPEvent(m *lnet.TCPEvent) {
	path := p.path(hosts{m.Source, m.Src.Addr(), m.Dst.Addr()}, m.File)
	path.TCP.Add(&m.TCPAnomalies)
	if m.Retransmissions > 0 {
		path.ResentBytes += int64(m.Bytes)
	}
	if m.RST {
		path.Resets++
	}
}

// IBEvent takes InfiniBand packets that were sent again.
func (p *Paths) IBEvent(e *lnet.IBEvent) {
	if e.Again {
		p.path(hosts{e.Source, e.Src.Addr(), e.Dst.Addr()}, e.File).PacketsLost++
	}
}

// ResentPercent returns how many percent of the bytes of TCP were sent again; ok is false when there are none.
func (p *Path) ResentPercent() (percent float64, ok bool) {
	all := p.Bytes + p.ResentBytes
	return 100 * float64(p.ResentBytes) / float64(max(all, 1)), all > 0 && !p.isRDMA
}

// path returns the path between hosts, and makes it if it is new.
func (p *Paths) path(h hosts, file string) *Path {
	return fifo.GetOrMake(p.byHosts, h, func() *Path {
		path := &Path{Source: h.source, File: file, From: h.from, To: h.to}
		if p.keepTimes {
			path.Times = &track.Distribution{}
		}
		return path
	})
}
