// Package sizes counts the sizes of requests, replies and bulk data, and where the
// ranges lie that are read and written.
//
// A Sizes receives RPCs from a track.Pairing: pass its methods Sent and Done as hooks
// in track.Options. Its memory is constant, and an RPC costs no allocation.
package sizes

import (
	"math/bits"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

// Buckets is the number of buckets of a Histogram.
const Buckets = 65

// Histogram counts numbers by their size: bucket 0 those that are 0, bucket n those
// from 1<<(n-1) to 1<<n - 1.
type Histogram [Buckets]int64

func (h *Histogram) add(v uint64) { h[bits.Len64(v)]++ }

// Accesses are the ranges that reads, or writes, ask for: their offsets in the OST
// object, and their lengths, in bytes.
type Accesses struct {
	Offsets, Lengths Histogram
}

// Sizes counts sizes and offsets.
type Sizes struct {
	Requests, Replies Histogram // bytes of the lustre_msg, of messages that were captured
	Reads, Writes     Accesses  // of OST_READ and OST_WRITE, each RPC once

	ranges track.Attached[[]byteRange] // of RPCs that have not ended
}

type byteRange struct {
	off  uint64
	size uint32
}

// Sent takes a request.
func (s *Sizes) Sent(r *track.RPC, m *dissect.Message) {
	if r.Sends > 1 || m.Msg == nil || !r.HasOpcode || r.Opcode != opcodes.OST_READ && r.Opcode != opcodes.OST_WRITE {
		return
	}
	list := s.ranges.Of(r)
	opcodes.Ranges(m.Msg, func(off uint64, size uint32) { *list = append(*list, byteRange{off, size}) })
}

// Drop forgets an RPC, in place of Done where that is not to be counted.
func (s *Sizes) Drop(r *track.RPC) {
	list := s.ranges.Of(r)
	*list = (*list)[:0]
}

// Done counts an RPC that has ended.
func (s *Sizes) Done(r *track.RPC) {
	if r.HasRequest {
		s.Requests.add(uint64(r.RequestSize))
	}
	if r.HasReply {
		s.Replies.add(uint64(r.ReplySize))
	}
	a := &s.Reads
	if r.Opcode == opcodes.OST_WRITE {
		a = &s.Writes
	}
	for _, x := range *s.ranges.Of(r) {
		a.Offsets.add(x.off)
		a.Lengths.add(uint64(x.size))
	}
	s.Drop(r)
}
