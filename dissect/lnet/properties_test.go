package lnet

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet/link"
	"github.com/lshark/lshark/internal/wiretest"
)

var streamSamples = []string{"mount", "ip6_mount", "idle"}

// overSamples runs a test on the frames of each sample and the messages in them.
func overSamples(t *testing.T, test func(t *testing.T, frames []capture.Frame, whole []seen)) {
	for _, name := range streamSamples {
		t.Run(name, func(t *testing.T) {
			frames := wiretest.ReadSample(t, wiretest.Sample(name))
			whole, _ := collect(frames, Options{})
			if len(whole) < 90 {
				t.Fatalf("only %d messages", len(whole))
			}
			test(t, frames, whole)
		})
	}
}

// same fails unless both have the same messages in each direction.
func same(t *testing.T, what string, got, want []seen) {
	t.Helper()
	a, b := byFlow(got), byFlow(want)
	for flow := range b {
		if slices.Equal(a[flow], b[flow]) {
			continue
		}
		t.Errorf("%s: %s: %d messages, want %d", what, flow, len(a[flow]), len(b[flow]))
		for i := range min(len(a[flow]), len(b[flow])) {
			if a[flow][i] != b[flow][i] {
				t.Errorf("message %d:\n got %s\nwant %s", i, a[flow][i], b[flow][i])
				return
			}
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d messages, want %d", what, len(got), len(want))
	}
}

// resegment cuts the payload of each frame into segments of n bytes.
func resegment(frames []capture.Frame, n int) []capture.Frame {
	var d link.Decoder
	var out []capture.Frame
	for _, f := range frames {
		if d.Decode(&f) != link.TCP || d.Segment.Size <= n {
			out = append(out, f)
			continue
		}
		for at := 0; at < d.Segment.Size; at += n {
			g := f
			g.Data = patched(f.Data, d.Segment.Data, uint32(at), d.Segment.Data[at:min(at+n, len(d.Segment.Data))])
			g.Len = len(g.Data)
			out = append(out, g)
		}
	}
	return wiretest.Renumber(out)
}

// patched returns an Ethernet frame with another TCP payload, which begins at bytes
// later in the stream.
func patched(frame, old []byte, at uint32, payload []byte) []byte {
	head := len(frame) - len(old)
	b := slices.Concat(frame[:head], payload)
	ip, tcp := 14, 34
	if b[12] == 0x86 {
		tcp = 54
		putBE16(b[ip+4:], uint16(len(b)-tcp))
	} else {
		putBE16(b[ip+2:], uint16(len(b)-ip))
	}
	seq := orderBig.u32(b[tcp+4:]) + at
	b[tcp+4], b[tcp+5], b[tcp+6], b[tcp+7] = byte(seq>>24), byte(seq>>16), byte(seq>>8), byte(seq)
	return b
}

func putBE16(b []byte, v uint16) { b[0], b[1] = byte(v>>8), byte(v) }

func TestResegment(t *testing.T) {
	overSamples(t, func(t *testing.T, frames []capture.Frame, whole []seen) {
		for _, n := range []int{1, 7, 23, 24, 25, 56, 95, 96, 97, 536} {
			got, st := collect(resegment(frames, n), Options{})
			same(t, fmt.Sprintf("segments of %d", n), got, whole)
			if st.TCP.SkippedBytes > 0 {
				t.Errorf("segments of %d: %d bytes skipped", n, st.TCP.SkippedBytes)
			}
		}
	})
}

func TestReorder(t *testing.T) {
	overSamples(t, func(t *testing.T, frames []capture.Frame, whole []seen) {
		for seed := range int64(40) {
			rnd := rand.New(rand.NewSource(seed))
			mixed := slices.Clone(frames)
			if seed%2 == 0 {
				for at := 0; at < len(mixed); at += 64 {
					block := mixed[at:min(at+64, len(mixed))]
					rnd.Shuffle(len(block), func(i, j int) { block[i], block[j] = block[j], block[i] })
				}
			} else {
				late := make(map[int64]int)
				for i := range mixed {
					late[mixed[i].Number] = i + rnd.Intn(64)
				}
				slices.SortStableFunc(mixed, func(a, b capture.Frame) int { return late[a.Number] - late[b.Number] })
			}
			got, _ := collect(wiretest.Renumber(mixed), Options{})
			same(t, fmt.Sprintf("seed %d", seed), got, whole)
		}
	})
}

// repeated returns the frames with each of them again, a number of frames later.
func repeated(frames []capture.Frame, later int) (twice []capture.Frame) {
	for i := range frames {
		twice = append(twice, frames[i])
		if i >= later {
			twice = append(twice, frames[i-later])
		}
	}
	return twice
}

func TestDuplicate(t *testing.T) {
	overSamples(t, func(t *testing.T, frames []capture.Frame, whole []seen) {
		for _, later := range []int{0, 1, 5, 63} {
			got, _ := collect(wiretest.Renumber(repeated(frames, later)), Options{})
			same(t, fmt.Sprintf("again %d frames later", later), got, whole)
		}
	})
}

// TestDrop leaves out each segment in turn.
func TestDrop(t *testing.T) {
	overSamples(t, func(t *testing.T, frames []capture.Frame, whole []seen) {
		for i := 0; i < len(frames); i += stride(frames) {
			dropOne(t, frames, i, whole)
		}
	})
}

// TestDropSmall leaves out some of many small segments, so that a lost one
// hits every part of a message.
func TestDropSmall(t *testing.T) {
	overSamples(t, func(t *testing.T, frames []capture.Frame, whole []seen) {
		for _, size := range []int{24, 60, 100, 536} {
			small := resegment(frames, size)
			for i := size % 7; i < len(small); i += 1 + len(small)/wiretest.Rounds(40) {
				dropOne(t, small, i, whole)
			}
		}
	})
}

// dropOne leaves out one frame: at most the messages with bytes in it and the next one
// are lost.
func dropOne(t *testing.T, frames []capture.Frame, i int, whole []seen) {
	t.Helper()
	var d link.Decoder
	if d.Decode(&frames[i]) != link.TCP || d.Segment.Size == 0 {
		return
	}
	flow := fmt.Sprintf("%v>%v", addrPort(d.Segment.Flow.Src, d.Segment.Flow.SrcPort), addrPort(d.Segment.Flow.Dst, d.Segment.Flow.DstPort))
	seq, size := d.Segment.Seq, d.Segment.Size
	got, _ := collect(slices.Delete(slices.Clone(frames), i, i+1), Options{})
	found := make(map[string]int)
	for _, m := range got {
		found[m.what]++
	}
	behind := 0
	for _, m := range whole {
		if found[m.what]--; found[m.what] >= 0 {
			continue
		}
		if m.flow != flow {
			t.Errorf("frame %d: lost in another direction: %s", i+1, m.what)
		}
		touched := int32(m.seq-seq) < int32(size) && int32(seq-m.seq) < int32(m.size)
		if !touched {
			behind++
		}
	}
	if behind > 1 {
		t.Errorf("frame %d of %d bytes: %d messages lost that were not in it", i+1, size, behind)
	}
	checkPhantoms(t, got, whole)
}

// checkPhantoms fails if there is a message that is not in whole.
func checkPhantoms(t *testing.T, got, whole []seen) {
	t.Helper()
	real := make(map[place]bool)
	for _, m := range whole {
		real[m.place()] = true
	}
	for _, m := range got {
		if !real[m.place()] {
			t.Errorf("no such message: %s", m.what)
		}
	}
}

// TestMidStream starts at each frame: every message that begins there or
// later is found.
func TestMidStream(t *testing.T) {
	overSamples(t, func(t *testing.T, frames []capture.Frame, whole []seen) {
		starts := beginnings(frames, whole)
		for i := 0; i < len(frames); i += stride(frames) {
			got, _ := collect(slices.Clone(frames[i:]), Options{})
			found := make(map[place]bool)
			for _, m := range got {
				found[m.place()] = true
			}
			for k, m := range whole {
				if starts[k] > i && !found[m.place()] {
					t.Errorf("from frame %d: %s of frame %d is lost", i+1, m.what, m.frame)
				}
			}
			checkPhantoms(t, got, whole)
		}
	})
}

// beginnings finds the number of the frame in which each message begins.
func beginnings(frames []capture.Frame, whole []seen) []int {
	starts := make([]int, len(whole))
	var d link.Decoder
	for i := range frames {
		if d.Decode(&frames[i]) != link.TCP || d.Segment.Size == 0 {
			continue
		}
		flow := fmt.Sprintf("%v>%v", addrPort(d.Segment.Flow.Src, d.Segment.Flow.SrcPort), addrPort(d.Segment.Flow.Dst, d.Segment.Flow.DstPort))
		for k := range whole {
			if off := whole[k].seq - d.Segment.Seq; whole[k].flow == flow && off < uint32(d.Segment.Size) && starts[k] == 0 {
				starts[k] = i + 1
			}
		}
	}
	return starts
}

// TestSnaplen cuts the frames: every message whose header begins a segment is
// still there.
func TestSnaplen(t *testing.T) {
	overSamples(t, func(t *testing.T, frames []capture.Frame, whole []seen) {
		short := slices.Clone(frames)
		begins := make(map[string]bool)
		var d link.Decoder
		for i := range short {
			if d.Decode(&short[i]) == link.TCP && d.Segment.Size > 0 {
				begins[fmt.Sprint(addrPort(d.Segment.Flow.Src, d.Segment.Flow.SrcPort), d.Segment.Seq)] = true
			}
			short[i].Data = short[i].Data[:min(256, len(short[i].Data))]
		}
		got, _ := collect(short, Options{})
		found := make(map[place]*Message)
		for _, m := range got {
			found[m.place()] = m.m
		}
		for _, m := range whole {
			cut := found[m.place()]
			switch {
			case cut == nil && begins[fmt.Sprint(m.m.Src, m.seq)]:
				t.Errorf("%s of frame %d is lost", m.what, m.frame)
			case cut == nil:
			case cut.Kind != m.m.Kind || cut.LNet != m.m.LNet:
				t.Errorf("%s of frame %d: %v %+v", m.what, m.frame, cut.Kind, cut.LNet)
			case cut.Missing(0, cut.Size) != Present && cut.Missing(0, cut.Size) != Snaplen:
				t.Errorf("%s of frame %d: %v", m.what, m.frame, cut.Missing(0, cut.Size))
			}
		}
		checkPhantoms(t, got, whole)
	})
}

// TestPrefix ends the capture behind each frame: the messages that are complete by then
// are the same.
func TestPrefix(t *testing.T) {
	overSamples(t, func(t *testing.T, frames []capture.Frame, whole []seen) {
		for n := 0; n < len(frames); n += stride(frames) {
			var want []seen
			for _, m := range whole {
				if m.frame <= int64(n) {
					want = append(want, m)
				}
			}
			got, _ := collect(frames[:n], Options{})
			got = slices.DeleteFunc(got, func(m seen) bool { return m.tail == EndOfFile })
			same(t, fmt.Sprintf("%d frames", n), got, want)
		}
	})
}

// TestWant keeps part of the payloads.
func TestWant(t *testing.T) {
	overSamples(t, func(t *testing.T, frames []capture.Frame, whole []seen) {
		for _, segment := range []int{100, 1 << 20} {
			got, _ := collect(resegment(frames, segment), Options{Want: func(m *Message) int { return 10 }})
			if len(got) != len(whole) {
				t.Fatalf("%d messages, want %d", len(got), len(whole))
			}
			for i := range got {
				m := got[i].m
				if m.LNetOff < 0 {
					continue
				}
				payload := m.Size - m.PayloadOff
				if len(m.Payload()) != min(10, payload) || payload > 10 && m.Tail != Skipped {
					t.Fatalf("%s: %d bytes of payload, tail %v", got[i].what, len(m.Payload()), m.Tail)
				}
			}
		}
	})
}
