package rules

import (
	"net/netip"
	"slices"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/paths"
	"github.com/lshark/lshark/internal/fifo"
)

// hostPair is one direction between two hosts at a capture point.
type hostPair struct {
	source   int
	from, to netip.Addr
}

func pairOf(m *lnet.TCPEvent) hostPair {
	return hostPair{m.Source, m.Src.Addr(), m.Dst.Addr()}
}

// subject returns what a finding about a direction is about. The client is the host
// that sends requests, if only one of both does.
func (h hostPair) subject(all *paths.Paths) (s diagnose.Subject) {
	there, back := all.Get(h.source, h.from, h.to), all.Get(h.source, h.to, h.from)
	if there == nil || back == nil {
		return s
	}
	switch from, to := there.FromNID, there.ToNID; {
	case there.Requests > 0 && back.Requests == 0:
		s.Client, s.Server = from, to
	case back.Requests > 0 && there.Requests == 0:
		s.Client, s.Server = to, from
	}
	return s
}

// finding returns a finding about a direction. What several capture points see of it is
// one finding.
func (h hostPair) finding(all *paths.Paths) diagnose.Finding {
	return diagnose.Finding{Subject: h.subject(all), Key: h.from.String() + " > " + h.to.String(), Node: hostNID(all, h.to)}
}

// pointOf returns where a segment is.
func pointOf(m *lnet.TCPEvent) track.Point {
	return track.Point{Frame: m.Number, File: m.File, Time: m.Time}
}

// retransmissions are the segments that hosts sent again, by direction. The same
// segment again and again is a silence of the receiver.
type retransmissions struct {
	pairs   *fifo.Map[hostPair, *resentPair]
	streams *fifo.Map[stream, *repeated]
}

// stream is a direction of a connection.
type stream struct {
	conn int
	from netip.AddrPort
}

// resentPair are the segments of a direction between two hosts.
type resentPair struct {
	segments    int64 // that were sent again, without those of silences and spurious ones
	bytes       int64
	first, last int64
	evidence    []track.Point
	silences    []*silence
	silenced    int64 // number of silences
}

// repeated is the segment that was sent again last in a stream.
type repeated struct {
	seq       uint32
	syn       bool
	again     int64 // how often it was sent again
	fast      int64
	bytes     int64
	firstSent int64
	first     track.Point // of the retransmissions
	last      track.Point
	silence   *silence
}

// silence is a time in which a host did not acknowledge what was sent to it.
type silence struct {
	from  int64 // time of the first transmission, or of the first retransmission
	first track.Point
	last  track.Point
	again int64
	syn   bool
	bytes int // of the smallest of the segments

	passed passedMessages // meanwhile, where they are counted
}

const (
	maxPairs         = 1 << 12
	maxStreams       = 1 << 13
	maxSilences      = 16 // of a pair
	silentRepeats    = 4  // retransmissions of the same bytes
	retransmitProofs = 4
)

func newRetransmissions() retransmissions {
	return retransmissions{fifo.NewMap[hostPair, *resentPair](maxPairs), fifo.NewMap[stream, *repeated](maxStreams)}
}

// marked takes a segment.
func (x *retransmissions) marked(m *lnet.TCPEvent) { x.silence(m) }

// silence takes a segment, and returns the silence of its receiver that it shows, if it does.
func (x *retransmissions) silence(m *lnet.TCPEvent) *silence {
	if m.Retransmissions == 0 || m.Spurious > 0 {
		return nil
	}
	pair := fifo.GetOrNew(x.pairs, pairOf(m))
	key := stream{m.Conn, m.Src}
	r := fifo.GetOrNew(x.streams, key)
	p := pointOf(m)
	if r.again == 0 || r.seq != m.Seq {
		*r = repeated{seq: m.Seq, syn: m.SYN, firstSent: m.FirstSent, first: p}
	}
	r.again++
	r.last = p
	r.fast += m.Fast
	r.bytes += int64(m.Bytes)
	if r.again >= silentRepeats && r.fast == 0 {
		pair.silent(r)
		if r.silence.bytes == 0 || m.Bytes < r.silence.bytes {
			r.silence.bytes = m.Bytes
		}
		return r.silence
	}
	pair.add(m, p)
	return nil
}

// add counts a segment.
func (pair *resentPair) add(m *lnet.TCPEvent, p track.Point) {
	if pair.segments == 0 {
		pair.first = p.Time
	}
	pair.last = p.Time
	pair.segments++
	pair.bytes += int64(m.Bytes)
	if len(pair.evidence) < retransmitProofs {
		pair.evidence = append(pair.evidence, p)
	}
}

// silent takes a segment that was sent again so often that the receiver is silent. Its
// earlier retransmissions no longer count as single ones.
func (pair *resentPair) silent(r *repeated) {
	if r.silence == nil {
		pair.segments -= r.again - 1
		pair.bytes -= min(pair.bytes, r.bytes)
		pair.evidence = slices.DeleteFunc(pair.evidence, func(p track.Point) bool { return p.Time >= r.first.Time })
		r.silence = &silence{from: r.first.Time, first: r.first, syn: r.syn}
		if r.firstSent != 0 {
			r.silence.from = r.firstSent
		}
		if pair.silenced++; len(pair.silences) < maxSilences {
			pair.silences = append(pair.silences, r.silence)
		}
	}
	r.silence.last, r.silence.again = r.last, r.again
}
