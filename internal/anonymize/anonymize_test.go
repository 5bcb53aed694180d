package anonymize

import (
	"bytes"
	"errors"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// stream returns bytes of several messages: a hello, PUTs with a readable request, NOOPs.
func stream(requests int) []byte {
	w := wiretest.Socklnd{Version: 3}
	b := w.Hello(false)
	for i := range requests {
		msg := wiretest.Msg(wiretest.Body(4711, 400))
		b = append(b, w.LNet(false, wiretest.Put, 12, uint64(i+1), msg)...)
		b = append(b, w.Noop(0, uint64(i+1))...)
	}
	return b
}

// payloads returns the TCP payload of A in the frames, by sequence number.
func payloads(frames []capture.Frame) []byte {
	var all []byte
	for i := range frames {
		b := frames[i].Data[14+ipv4Size:]
		if port := uint16(b[0])<<8 | uint16(b[1]); port == lnet.DefaultPort {
			continue
		}
		seq := uint32(b[4])<<24 | uint32(b[5])<<16 | uint32(b[6])<<8 | uint32(b[7])
		body := b[int(b[12]>>4)*4:]
		at := int(seq - wiretest.ISNOfA - 1)
		if len(body) == 0 {
			continue
		}
		if n := at + len(body) - len(all); n > 0 {
			all = append(all, make([]byte, n)...)
		}
		copy(all[at:], body)
	}
	return all
}

// TestSegments checks that the result does not depend on how messages are cut into segments,
// on the order of these, and that bytes which are sent again are rewritten like the first
// ones.
func TestSegments(t *testing.T) {
	b := stream(20)
	whole := payloads(rewriteAll(t, wiretest.NewConn().Open().Send(false, b).Frames, "key"))
	if len(whole) != len(b) || bytes.Equal(whole, b) || len(bytes.Trim(whole, "\x00")) < len(b)/4 {
		t.Fatalf("%d bytes became %d", len(b), len(whole))
	}
	for _, n := range []int{1, 7, 100, 1448, 4096} {
		c := wiretest.NewConn().Open().SendSplit(b, n)
		if got := payloads(rewriteAll(t, c.Frames, "key")); !bytes.Equal(got, whole) {
			t.Errorf("segments of %d: %d bytes, other than the %d of one segment", n, len(got), len(whole))
		}
		last := len(c.Frames) - 1
		for i := 3; i+1 <= last; i += 3 {
			c.Swap(i, i+1)
		}
		wiretest.Renumber(c.Frames)
		if got := payloads(rewriteAll(t, c.Frames, "key")); !bytes.Equal(got, whole) {
			t.Errorf("segments of %d in another order: %d bytes, other than the %d of one segment", n, len(got), len(whole))
		}
	}
	c := wiretest.NewConn().Open().SendSplit(b, 100)
	first := len(c.Frames)
	seq := uint32(wiretest.ISNOfA + 1)
	c.Segment(&c.A, &c.B, flagACK, seq+33, b[33:277]) // sent again
	c.Segment(&c.A, &c.B, flagACK, seq, b[:9])
	result := rewriteAll(t, c.Frames, "key")
	for i, want := range [][]byte{whole[33:277], whole[:9]} {
		if got := result[first+i].Data; !bytes.HasSuffix(got, want) {
			t.Errorf("sent again: % x, want % x", got, want)
		}
	}
}

// TestSequenceWrap checks messages around the end of the sequence numbers.
func TestSequenceWrap(t *testing.T) {
	c := newContent(nil)
	var k blockKey
	b := bytes.Repeat([]byte("0123456789"), 1000)
	c.addTCP(&k.flow, 0xfffffff0, b, 1)
	got := make([]byte, len(b)+20)
	c.readTCP(got, &k.flow, 0xfffffff0-10, 1)
	if want := append(append(make([]byte, 10), b...), make([]byte, 10)...); !bytes.Equal(got, want) {
		t.Errorf("% x", got)
	}
}

// TestReusedNumbers checks that of two messages with the same sequence numbers a frame gets
// the one that it is a part of.
func TestReusedNumbers(t *testing.T) {
	c := newContent(nil)
	var k blockKey
	c.addTCP(&k.flow, 100, []byte("first connection"), 10)
	c.addTCP(&k.flow, 104, []byte("second"), 20)
	for order, want := range map[int64]string{9: "first connection", 10: "first connection", 11: "firssecondection", 20: "firssecondection", 30: "firssecondection"} {
		got := make([]byte, 16)
		if c.readTCP(got, &k.flow, 100, order); string(got) != want {
			t.Errorf("frame %d: %q, want %q", order, got, want)
		}
	}
}

// TestContentIsBounded checks that old bytes are removed, after the frames that need them
// were released.
func TestContentIsBounded(t *testing.T) {
	released := int64(0)
	c := newContent(func(order int64) { released = max(released, order) })
	var k blockKey
	b := bytes.Repeat([]byte("x"), blockSize)
	const messages = 2 * maxChunks * chunkSize / blockSize
	for i := range int64(messages) {
		c.addTCP(&k.flow, uint32(i*blockSize), b, i+1)
	}
	if len(c.chunks) > maxChunks || c.next-c.first > maxChunks*chunkSize/blockSize || len(c.blocks) > maxChunks*chunkSize/blockSize {
		t.Errorf("%d chunks, %d pieces, %d blocks", len(c.chunks), c.next-c.first, len(c.blocks))
	}
	got := make([]byte, 2*blockSize)
	for i := range int64(messages) {
		clear(got)
		c.readTCP(got[:blockSize], &k.flow, uint32(i*blockSize), i+1)
		if kept := bytes.Equal(got[:blockSize], b); kept != (i+1 > released) {
			t.Fatalf("message %d: kept is %v, released up to %d", i+1, kept, released)
		}
	}
}

// TestSamples checks that in all samples the same messages are found before and after, with
// the same sizes and kinds, that a key determines the result, and that times and lengths
// stay.
func TestSamples(t *testing.T) {
	for _, path := range wiretest.Samples(t) {
		frames := wiretest.ReadSample(t, path)
		result := rewriteAll(t, frames, "key")
		again, other := rewriteAll(t, frames, "key"), rewriteAll(t, frames, "another key")
		same := true
		for i := range frames {
			f, g := &frames[i], &result[i]
			if f.Number != g.Number || f.Time != g.Time || f.Len != g.Len || len(f.Data) != len(g.Data) || f.Link != g.Link {
				t.Fatalf("%s: frame %+v became %+v", path, f, g)
			}
			if !bytes.Equal(g.Data, again[i].Data) {
				t.Fatalf("%s, frame %d: the same key gives another result", path, i+1)
			}
			same = same && bytes.Equal(g.Data, other[i].Data)
		}
		if same {
			t.Errorf("%s: another key gives the same result", path)
		}
		before, after := messagesOf(frames), messagesOf(result)
		if len(before) != len(after) {
			t.Errorf("%s: %d messages, were %d", path, len(after), len(before))
			continue
		}
		for i, m := range after {
			was := before[i]
			if m.Frame != was.Frame || m.Kind != was.Kind || m.Size != was.Size || m.LNet.MatchBits != was.LNet.MatchBits || m.LNet.Length != was.LNet.Length {
				t.Errorf("%s: message %d is %v of %d bytes in frame %d, was %v of %d in %d", path, i, m.Kind, m.Size, m.Frame, was.Kind, was.Size, was.Frame)
			}
		}
	}
}

// TestLate checks that a message whose first frames had to be written before it was complete
// is counted, and that nothing of it is left.
func TestLate(t *testing.T) {
	w := wiretest.Socklnd{Version: 3}
	msg := w.LNet(false, wiretest.Put, 12, 1, wiretest.Msg(wiretest.Body(4711, 400)))
	c := wiretest.NewConn().Open().Send(false, w.Hello(false)).Send(false, msg[:100])
	part := len(c.Frames)
	c.OtherFrames(maxFrames).Send(false, msg[100:])
	var result []capture.Frame
	a := New(Options{Key: []byte("key"), Write: func(f *capture.Frame) error {
		if f.Number <= int64(part) {
			g := *f
			g.Data = bytes.Clone(f.Data)
			result = append(result, g)
		}
		return nil
	}})
	for i := range c.Frames {
		must.NoError(t, a.Frame(&c.Frames[i]))
	}
	must.NoError(t, a.Close())
	body := result[part-1].Data
	if n := len(bytes.Trim(body[len(body)-100:], "\x00")); a.Stats().Late != 1 || n != 0 {
		t.Errorf("%d late messages, %d bytes are left", a.Stats().Late, n)
	}
}

// TestWriteError checks that an error of Write is returned, and nothing written after it.
func TestWriteError(t *testing.T) {
	broken := errors.New("broken")
	calls := 0
	a := New(Options{Key: []byte("key"), Write: func(*capture.Frame) error {
		calls++
		return broken
	}})
	c := wiretest.NewConn().Open().SendSplit(stream(20), 100)
	for i := range c.Frames {
		if err := a.Frame(&c.Frames[i]); err != nil {
			t.Fatal(err) // all of them are in the window
		}
	}
	if err := a.Close(); err != broken || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

// TestMemoryIsFlat checks that frames are rewritten without an allocation in steady state, and
// that the memory does not grow with their number.
func TestMemoryIsFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	c := wiretest.NewConn().Open().Send(false, stream(0))
	w := wiretest.Socklnd{Version: 3}
	a := New(Options{Key: []byte("key"), Write: func(*capture.Frame) error { return nil }})
	frame := func(i int) {
		from := len(c.Frames)
		if i%2 == 0 {
			c.Send(false, w.LNet(false, wiretest.Put, 12, uint64(i+1), wiretest.Msg(wiretest.Body(4711, 400))))
		} else {
			c.Send(true, w.LNet(true, wiretest.Put, 10, uint64(i), wiretest.Msg(wiretest.Body(4713, 400))))
		}
		for k := from; k < len(c.Frames); k++ {
			c.Frames[k].Number = int64(i + 10)
			a.Frame(&c.Frames[k])
		}
		c.Frames = c.Frames[:0]
	}
	i := 0
	wiretest.Flat(t, func(times int) {
		for range times {
			frame(i)
			i++
		}
	}, maxFrames+maxFrames/4, maxFrames/2)
}

// TestCutHeader checks that the type of a message that is cut off in its header is restored,
// in both byte orders, and nothing else of it.
func TestCutHeader(t *testing.T) {
	for _, big := range []bool{false, true} {
		w := wiretest.Socklnd{Version: 3, Big: big}
		first := w.LNet(false, wiretest.Put, 12, 1, wiretest.Msg(wiretest.Body(4711, 400)))
		second := w.LNet(false, wiretest.Put, 12, 2, wiretest.Msg(wiretest.Body(4711, 400)))
		for _, n := range []int{1, 4, 14, 40} {
			c := wiretest.NewConn().Open().Send(false, w.Hello(false)).Send(false, wiretest.Join(first, second))
			last := &c.Frames[len(c.Frames)-1]
			last.Data = last.Data[:len(last.Data)-len(second)+n]
			result := rewriteAll(t, c.Frames, "key")
			data := result[len(result)-1].Data
			want := make([]byte, n)
			copy(want, second[:4])
			if got := data[len(data)-n:]; !bytes.Equal(got, want) {
				t.Errorf("%d bytes, big-endian %v: % x, want % x", n, big, got, want)
			}
		}
	}
}
