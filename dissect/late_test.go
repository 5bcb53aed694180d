package dissect

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest"
)

// paired returns descriptions of all messages and their requests, with how often each
// occurs.
func paired(frames []capture.Frame) map[string]int {
	found := map[string]int{}
	d := New(Options{Handle: func(m *Message) {
		request := "alone"
		if m.Req != nil {
			request = fmt.Sprint(m.Req.XID, m.Req.Opcode)
		}
		found[fmt.Sprint(m.Kind, " ", m.RPC.XID, " ", m.RPC.Opcode, " ", m.RPC.Status, " of ", request, " content ", len(m.Content))]++
	}})
	for i := range frames {
		f := frames[i]
		f.Number = int64(i + 1)
		d.Frame(&f)
	}
	d.Close()
	return found
}

// differ returns how many entries of a are not in b, and one of them.
func differ(a, b map[string]int) (n int, example string) {
	for k, v := range a {
		if b[k] < v {
			n += v - b[k]
			example = k
		}
	}
	return n, example
}

// TestLateRequest: replies and bulk data find their requests when frames are up to 64
// places late.
func TestLateRequest(t *testing.T) {
	for _, path := range []string{"../pcaps/mount.pcap", "../pcaps/metadata.pcap.zst"} {
		frames := wiretest.ReadSample(t, path)
		want := paired(frames)
		for seed := range uint64(8) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			place := make([]float64, len(frames))
			order := make([]int, len(frames))
			for i := range order {
				order[i], place[i] = i, float64(i)+64*rnd.Float64()
			}
			slices.SortStableFunc(order, func(a, b int) int {
				if place[a] < place[b] {
					return -1
				}
				return 1
			})
			mixed := make([]capture.Frame, len(frames))
			for i, k := range order {
				mixed[i] = frames[k]
				mixed[i].Time = frames[i].Time
			}
			n, example := differ(want, paired(mixed))
			assert.That(t, n <= 0, "%s, mixed with seed %d: %d messages differ, such as %s", path, seed, n, example)
		}
	}
}

// TestLateBehindGap: while a gap is held open, messages of other connections find their
// requests.
func TestLateBehindGap(t *testing.T) {
	frames := wiretest.ReadSample(t, "../pcaps/mount.pcap")
	want := paired(frames)
	carried := map[int64]int{}
	eachMessage(t, "../pcaps/mount.pcap", func(m *Message) { carried[m.Frame]++ })
	for i := 0; i < len(frames); i += 4 / wiretest.Rounds(4) {
		less := slices.Delete(slices.Clone(frames), i, i+1)
		n, example := differ(want, paired(less))
		// Without a request its replies are unpaired; a message may have
		// ended in a later frame.
		if replies := 4; n > (carried[int64(i+1)]+1)*replies {
			t.Errorf("without frame %d, which carried %d messages, %d differ, such as %s",
				i+1, carried[int64(i+1)], n, example)
		}
	}
}

// TestLateSources: messages of a capture point do not overtake those of another one
// where segments are queued until a SYN comes.
func TestLateSources(t *testing.T) {
	one, w := wiretest.NewConn(), wiretest.Socklnd{Version: 3}
	one.Send(false, w.Put(64, 10)).Send(false, w.Put(128, 10)).OtherFrames(2 * lnet.ReorderFrames)
	two := wiretest.NewConn().Open().Send(false, w.Connreq()).Send(false, w.Hello(false))
	for i := range uint64(2 * lnet.ReorderFrames) {
		two.Send(false, w.Noop(0, i+1))
	}
	var mixed []capture.Frame
	for i := range one.Frames {
		f, g := one.Frames[i], two.Frames[i]
		g.Source = 1
		mixed = append(mixed, f, g)
	}
	var got []int64
	d := New(Options{Handle: func(m *Message) { got = append(got, m.Frame) }})
	for _, f := range wiretest.Renumber(mixed) {
		if d.Frame(&f); f.Number == 6*lnet.ReorderFrames/2 && len(got) < lnet.ReorderFrames {
			t.Errorf("%d messages after %d frames", len(got), f.Number)
		}
	}
	d.Close()
	assert.That(t, slices.IsSorted(got) && got[0] == 1, "frames %v", got)
}

// TestLateBound: holes and frame numbers of late messages count, too.
func TestLateBound(t *testing.T) {
	m := Message{Message: lnet.Message{Holes: make([]lnet.Hole, 3000), Frames: make([]int64, 3000)}}
	var l lateMessages
	for !l.full() {
		l.put(&m, true, 0)
	}
	if most := maxLateBytes/(3000*(holeSize+frameSize)) + 1; l.len() > most {
		t.Errorf("%d messages wait, want no more than %d", l.len(), most)
	}
	for l.len() > 0 {
		l.pop()
	}
	assert.Equal(t, l.bytes, 0, "bytes are left")
}
