package sizes_test

import (
	"encoding/binary"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/sizes"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// TestSamples compares the sums with those of package track.
func TestSamples(t *testing.T) {
	ranges := int64(0)
	for _, path := range wiretest.Samples(t) {
		var s sizes.Sizes
		stats := track.NewStats(track.StatsOptions{By: []track.Dimension{track.ByOp}})
		requests := int64(0)
		pairing := track.NewPairing(track.Options{
			Sent: func(r *track.RPC, m *dissect.Message) {
				s.Sent(r, m)
				stats.Sent(r, m)
			},
			Answered: stats.Answered,
			Done: func(r *track.RPC) {
				if r.HasRequest {
					requests++
				}
				s.Done(r)
				stats.Done(r)
			},
		})
		wiretest.Play(dissect.New(dissect.Options{Handle: func(m *dissect.Message) { pairing.Message(m) }}), wiretest.ReadSample(t, path))
		pairing.Close()
		var replies int64
		for _, i := range stats.Intervals() {
			replies += i.Total.Replies
		}
		if total(&s.Requests) != requests || total(&s.Replies) != replies {
			t.Errorf("%s: %d requests and %d replies, want %d and %d", path, total(&s.Requests), total(&s.Replies), requests, replies)
		}
		if total(&s.Reads.Offsets) != total(&s.Reads.Lengths) || total(&s.Writes.Offsets) != total(&s.Writes.Lengths) {
			t.Errorf("%s: offsets and lengths differ in number", path)
		}
		ranges += total(&s.Reads.Offsets) + total(&s.Writes.Offsets)
	}
	assert.That(t, ranges != 0, "the samples have no reads and writes")
}

// niobuf makes a range of a read or write.
func niobuf(off uint64, size uint32) []byte {
	s := opcodes.StructNamed("niobuf_remote")
	b := make([]byte, s.Size)
	binary.LittleEndian.PutUint64(b[s.Field("rnb_offset").Off:], off)
	binary.LittleEndian.PutUint32(b[s.Field("rnb_len").Off:], size)
	return b
}

// TestRanges checks into which buckets ranges come, and that a resent request counts
// once, without an allocation.
func TestRanges(t *testing.T) {
	var s sizes.Sizes
	r := &track.RPC{Identity: track.Identity{Opcode: opcodes.OST_WRITE, HasOpcode: true}, Sends: 1}
	m := &dissect.Message{Msg: &schema.Msg{Bufs: [][]byte{nil, nil, nil, append(niobuf(0, 4096), niobuf(1<<20, 1<<20-1)...)}}}
	s.Sent(r, m)
	r.Sends = 2
	s.Sent(r, m)
	s.Done(r)
	s.Sent(&track.RPC{Identity: r.Identity, Sends: 1}, m)
	s.Drop(r)
	s.Done(r)
	w := &s.Writes
	if total(&w.Offsets) != 2 || w.Offsets[0] != 1 || w.Offsets[21] != 1 || w.Lengths[13] != 1 || w.Lengths[20] != 1 || total(&s.Reads.Offsets) != 0 {
		t.Errorf("%+v", s)
	}
	r.Sends = 1
	wiretest.NoAllocations(t, 1000, func() {
		s.Sent(r, m)
		s.Done(r)
	})
}

// total returns how many numbers were counted.
func total(h *sizes.Histogram) (n int64) {
	for _, c := range h {
		n += c
	}
	return n
}
