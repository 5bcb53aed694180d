package track_test

import (
	"slices"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest"
)

// TestLinksOfCopies checks that replies and bulk data refer to the copies of requests and replies that are kept, where two
// capture points saw the same connections, and one of them saw some segments late.
func TestLinksOfCopies(t *testing.T) {
	var mixed []capture.Frame
	var late []capture.Frame // of the first capture point
	for i, f := range wiretest.ReadSample(t, "../../pcaps/recovery.pcap.zst") {
		other := f
		other.Source, f.File, other.File, f.FileNumber, other.FileNumber = 1, "a", "b", int64(i+1), int64(i+1)
		if i%5 == 0 {
			late = append(late, f)
			mixed = append(mixed, other)
			continue
		}
		mixed = append(append(append(mixed, f), late...), other)
		late = nil
	}
	type place struct {
		file  string
		frame int64
	}
	var kept, requests, replies []place
	var once track.Duplicates
	d := dissect.New(dissect.Options{Handle: func(m *dissect.Message) {
		if once.Seen(m) {
			return
		}
		kept = append(kept, place{m.File, m.Frame})
		if q := m.Req; q != nil && m.Kind != lnet.Request {
			assert.That(t, q.ReplyOrder <= m.Order, "%s %d: knows the reply behind it", m.File, m.Frame)
			requests = append(requests, place{q.File, q.Frame})
			if q.ReplyFrame != 0 {
				replies = append(replies, place{q.ReplyFile, q.ReplyFrame})
			}
		}
	}})
	for i := range mixed {
		f := mixed[i]
		f.Number = int64(i + 1)
		d.Frame(&f)
	}
	d.Close()
	assert.That(t, len(requests) > 100 && len(replies) > 100, "%d requests, %d replies", len(requests), len(replies))
	for _, list := range [][]place{requests, replies} {
		wrong := slices.DeleteFunc(list, func(p place) bool { return slices.Contains(kept, p) })
		assert.That(t, len(wrong) == 0, "%d links to copies that are not kept: %v", len(wrong), wrong[:min(len(wrong), 3)])
	}
}
