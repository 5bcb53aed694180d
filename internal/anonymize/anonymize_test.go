package anonymize

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/lnet/ib"
	"github.com/lshark/lshark/dissect/lnet/link"
	"github.com/lshark/lshark/internal/anonymize/values"
	"github.com/lshark/lshark/internal/assert"
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
		got := payloads(rewriteAll(t, c.Frames, "key"))
		assert.That(t, bytes.Equal(got, whole), "segments of %d: %d bytes, other than the %d of one segment", n, len(got), len(whole))
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
	want := append(append(make([]byte, 10), b...), make([]byte, 10)...)
	assert.That(t, bytes.Equal(got, want), "% x", got)
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
		c.readTCP(got, &k.flow, 100, order)
		assert.Equal(t, string(got), want, "frame", order)
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
	pieces := 0
	for _, chunk := range c.chunks {
		pieces += len(chunk.pieces)
	}
	if pieces > maxChunks*chunkSize/blockSize || len(c.blocks) > maxChunks*chunkSize/blockSize {
		t.Errorf("%d chunks, %d pieces, %d blocks", len(c.chunks), pieces, len(c.blocks))
	}
	got := make([]byte, 2*blockSize)
	for i := range int64(messages) {
		clear(got)
		c.readTCP(got[:blockSize], &k.flow, uint32(i*blockSize), i+1)
		must.Equal(t, bytes.Equal(got[:blockSize], b), i+1 > released, "message kept released up", released)
	}
}

// TestSamples checks that in all samples the same messages are found before and after, with
// the same sizes and kinds, that a key determines the result (in a quarter of the samples
// without the tag all), and that times and lengths stay.
func TestSamples(t *testing.T) {
	for n, path := range wiretest.Samples(t) {
		frames := wiretest.ReadSample(t, path)
		result := rewriteAll(t, frames, "key")
		for i := range frames {
			f, g := &frames[i], &result[i]
			if f.Number != g.Number || f.Time != g.Time || f.Len != g.Len || len(f.Data) != len(g.Data) || f.Link != g.Link {
				t.Fatalf("%s: frame %+v became %+v", path, f, g)
			}
		}
		if wiretest.All || n%4 == 0 {
			checkKey(t, path, frames, result)
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

// checkKey checks that the result of rewriting frames with "key" depends on the key alone.
func checkKey(t *testing.T, path string, frames, result []capture.Frame) {
	t.Helper()
	again, other := rewriteAll(t, frames, "key"), rewriteAll(t, frames, "another key")
	same := true
	for i := range result {
		must.That(t, bytes.Equal(result[i].Data, again[i].Data), "%s, frame %d: the same key gives another result", path, i+1)
		same = same && bytes.Equal(result[i].Data, other[i].Data)
	}
	assert.That(t, !same, "%s: another key gives the same result", path)
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
	n := len(bytes.Trim(body[len(body)-100:], "\x00"))
	assert.That(t, a.Report().Late == 1 && n == 0, "%d late messages, %d bytes are left", a.Report().Late, n)
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
// that the memory does not grow with their number. Messages are in frames of their own with
// the tag all, else in several ones.
func TestMemoryIsFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	c := wiretest.NewConn().Open().Send(false, stream(0))
	w := wiretest.Socklnd{Version: 3}
	a := New(Options{Key: []byte("key"), Write: func(*capture.Frame) error { return nil }})
	parts := 4
	if wiretest.All {
		parts = 1
	}
	i, frames := 0, int64(0)
	message := func() {
		c.Frames = c.Frames[:0]
		b := w.LNet(false, wiretest.Put, 12, uint64(i+1), wiretest.Msg(wiretest.Body(4711, 400)))
		if i%2 > 0 {
			b = w.LNet(true, wiretest.Put, 10, uint64(i), wiretest.Msg(wiretest.Body(4713, 400)))
		}
		for part := range slices.Chunk(b, (len(b)+parts-1)/parts) {
			c.Send(i%2 > 0, part)
		}
		for k := range c.Frames {
			c.Frames[k].Number = frames + 10
			a.Frame(&c.Frames[k])
			frames++
		}
		i++
	}
	wiretest.Flat(t, func(times int) {
		for range times / parts {
			message()
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
			got := data[len(data)-n:]
			assert.That(t, bytes.Equal(got, want), "%d bytes, big-endian %v: % x, want % x", n, big, got, want)
		}
	}
}

// FuzzHeaders compares the payloads that are rewritten with those that package link finds,
// and checks that no other byte of a frame is beyond what was written.
func FuzzHeaders(f *testing.F) {
	links := []capture.LinkType{capture.LinkEthernet, capture.LinkRaw, capture.LinkLinuxSLL, capture.LinkLinuxSLL2,
		capture.LinkNull, capture.LinkERF, capture.LinkInfiniBand}
	for _, path := range wiretest.Samples(f) {
		for i, frame := range wiretest.ReadSample(f, path) {
			if i < 8 {
				f.Add(uint8(frame.Link), uint16(frame.Len-len(frame.Data)), frame.Data)
			}
		}
	}
	for _, frame := range append(testFrames(), infiniBandFrames()...) {
		f.Add(uint8(frame.link), uint16(0), frame.data)
		f.Add(uint8(frame.link), uint16(7), frame.data[:len(frame.data)-min(7, len(frame.data))])
	}
	f.Fuzz(func(t *testing.T, typ uint8, cut uint16, data []byte) {
		for _, l := range links {
			if uint8(l) == typ {
				checkHeaders(t, &capture.Frame{Number: 1, Link: l, Data: data, Len: len(data) + int(cut)})
			}
		}
	})
}

// checkHeaders rewrites the headers of a frame and compares its payload with that of package
// link.
func checkHeaders(t *testing.T, f *capture.Frame) {
	h := newHeaders(values.New([]byte("key")), []uint16{lnet.DefaultPort})
	out := make([]byte, len(f.Data))
	h.rewrite(f, out)
	must.That(t, h.kept <= len(out) && len(bytes.Trim(out[h.kept:], "\x00")) <= 0, "%d bytes are kept of % x", h.kept, out)
	for i := len(h.sums) - 1; i >= 0; i-- {
		h.sums[i].set(out)
	}
	p := &h.payload
	var payload []byte
	if p.size > 0 {
		payload = f.Data[p.off : p.off+p.size]
	}
	var d link.Decoder
	switch d.Decode(f) {
	case link.TCP:
		g := &d.Segment
		isLNet := g.Flow.SrcPort == lnet.DefaultPort || g.Flow.DstPort == lnet.DefaultPort
		switch {
		case !isLNet || len(g.Data) == 0 || g.Flags&tcpRST != 0:
		case !p.tcp || !bytes.Equal(payload, g.Data) || p.key.flow != g.Flow:
			t.Fatalf("payload % x of %v, want % x of %v", payload, p.key.flow, g.Data, g.Flow)
		}
	case link.InfiniBand:
		g := &d.Packet
		operation := g.BTH.Opcode.Operation()
		if operation != ib.Send && operation != ib.Write || g.BTH.Opcode.Service() == ib.UD || len(g.Data) == 0 {
			return
		}
		if p.tcp || !bytes.Equal(payload, g.Data) || p.key.flow.Dst != g.Dst || p.key.number != infiniBandBlock(g.BTH.DestQP, g.BTH.PSN) {
			t.Fatalf("payload % x of %v, want % x", payload, p.key, g.Data)
		}
	case link.None:
	}
}

// sample returns the path of a sample.
func sample(name string) string { return wiretest.Repo("pcaps/" + name) }

// open returns a reader of a file.
func open(t *testing.T, path string) *capture.Reader {
	t.Helper()
	r := must.Value(capture.Open([]string{path}, capture.Options{}))(t)
	t.Cleanup(func() { r.Close() })
	return r
}

// rewriteFile rewrites a file with a key, and returns the path of the result.
func rewriteFile(t *testing.T, path, key string) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := Rewrite(t.Context(), &b, open(t, path), Options{Key: []byte(key)}); err != nil {
		t.Fatal(err)
	}
	result := filepath.Join(t.TempDir(), "result")
	must.NoError(t, os.WriteFile(result, b.Bytes(), 0o600))
	return result
}

// check searches a result for the originals of a file.
func check(t *testing.T, original, result string) *CheckResult {
	t.Helper()
	return must.Value(Check(t.Context(), func() (*capture.Reader, error) {
		return capture.Open([]string{original}, capture.Options{})
	}, open(t, result), Options{}))(t)
}

// TestNothingIsLeft checks that no original is found in the results of all samples.
func TestNothingIsLeft(t *testing.T) {
	for _, path := range wiretest.Samples(t) {
		r := check(t, path, rewriteFile(t, path, "key"))
		if !r.Clean() || r.Originals < 3 || r.Frames == 0 {
			t.Errorf("%s: %s", path, r.AppendText(nil))
		}
	}
}

// TestCheckFinds checks that an original which is left is found, wherever it is.
func TestCheckFinds(t *testing.T) {
	original := sample("mount.pcap")
	result := rewriteFile(t, original, "key")
	before := must.ReadFile(t, original)
	after := must.ReadFile(t, result)
	for _, left := range []string{"lustre-OST0000", "192.0.2.2@tcp", "\xc0\x00\x02\x02", "\x02\x02\x00\xc0", "f4cdc90b-79e1"} {
		at := bytes.Index(before, []byte(left))
		must.That(t, at >= 0, "%q is not in the sample", left)
		leak := bytes.Clone(after)
		copy(leak[at:], before[at:at+max(len(left), 36)])
		path := filepath.Join(t.TempDir(), "leak")
		must.NoError(t, os.WriteFile(path, leak, 0o600))
		if r := check(t, original, path); r.Clean() || r.Found[0].Count != 1 || r.Found[0].Frame == 0 {
			t.Errorf("%q: %s", left, r.AppendText(nil))
		}
	}
	if r := check(t, original, original); len(r.Found) < 20 {
		t.Errorf("only %d originals are found in the original", len(r.Found))
	}
}

// TestCheckCoincidence checks that a short original in another place is no leak, a long one
// is.
func TestCheckCoincidence(t *testing.T) {
	original := sample("mount.pcap")
	after := must.ReadFile(t, rewriteFile(t, original, "key"))
	for text, clean := range map[string]bool{"\xc0\x00\x02\x02": true, "lustre-OST0000": false} {
		b := bytes.Clone(after)
		copy(b[len(b)-20:], text)
		path := filepath.Join(t.TempDir(), "other")
		must.NoError(t, os.WriteFile(path, b, 0o600))
		if r := check(t, original, path); r.Clean() != clean || clean != (r.Coincidences == 1) {
			t.Errorf("%q: %s", text, r.AppendText(nil))
		}
	}
}

// TestInvalidCount checks that nothing is left of records whose count of lengths is invalid, so
// that texts take the place of the lengths.
func TestInvalidCount(t *testing.T) {
	data := must.ReadFile(t, sample("mount.pcap"))
	const count = 24 // offset of lcfg_bufcount behind lcfg_command
	setup := []byte{0x03, 0xf0, 0x0c, 0x00}
	changed := 0
	for at := 0; ; changed++ {
		i := bytes.Index(data[at:], setup)
		if i < 0 {
			break
		}
		at += i + count
		data[at+3] = 0x38
	}
	path := filepath.Join(t.TempDir(), "changed.pcap")
	must.NoError(t, os.WriteFile(path, data, 0o600))
	if r := check(t, path, rewriteFile(t, path, "key")); !r.Clean() || changed < 5 {
		t.Errorf("%d records: %s", changed, r.AppendText(nil))
	}
}

// TestIsText checks which names are searched.
func TestIsText(t *testing.T) {
	for name, want := range map[string]bool{"name": true, "größe": true, "caf\xe9": true, "\xff\xff\xff\xff": false, "a\x01bc": false} {
		assert.Equal(t, isText(name), want, name, !want)
	}
}

// TestCheckCompares checks that captures of other frames are recognized.
func TestCheckCompares(t *testing.T) {
	original := sample("mount.pcap")
	for _, c := range []struct{ original, result, want string }{
		{original, sample("idle.pcap"), "differs in its time or length"},
		{cutAfter(t, original, 100), rewriteFile(t, original, "key"), "more than the 100 frames"},
		{original, rewriteFile(t, cutAfter(t, original, 100), "key"), "only 100 frames"},
	} {
		r := check(t, c.original, c.result)
		assert.That(t, !r.Clean() && strings.Contains(r.Different, c.want), "%q, want %q", r.Different, c.want)
	}
}

// cutAfter returns the path of a file with the first n frames of another one.
func cutAfter(t *testing.T, path string, n int) string {
	t.Helper()
	r := open(t, path)
	var b bytes.Buffer
	var w *capture.PcapWriter
	for f := (capture.Frame{}); n > 0; n-- {
		must.NoError(t, r.Next(&f))
		if w == nil {
			format, _ := r.Format()
			w = capture.NewPcapWriter(&b, format)
		}
		must.NoError(t, w.Write(&f))
	}
	must.NoError(t, w.Flush())
	short := filepath.Join(t.TempDir(), "short.pcap")
	must.NoError(t, os.WriteFile(short, b.Bytes(), 0o600))
	return short
}

// TestRewriteDamaged checks that a damaged file gives the frames before the damage, and its
// error.
func TestRewriteDamaged(t *testing.T) {
	data := must.ReadFile(t, sample("mount.pcap"))
	path := filepath.Join(t.TempDir(), "cut")
	must.NoError(t, os.WriteFile(path, data[:100000], 0o600))
	var b bytes.Buffer
	a, err := Rewrite(t.Context(), &b, open(t, path), Options{Key: []byte("key")})
	if !errors.As(err, new(*capture.DamageError)) || a.Report().Frames < 100 || b.Len() < 90000 {
		t.Errorf("%d frames, %d bytes, %v", a.Report().Frames, b.Len(), err)
	}
}

// TestRewriteStops checks that Rewrite ends with its context.
func TestRewriteStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Rewrite(ctx, new(bytes.Buffer), open(t, sample("mount.pcap")), Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestInterfaces checks that frames of pcapng keep their interfaces and link types, and that
// comments are gone.
func TestInterfaces(t *testing.T) {
	var b bytes.Buffer
	w := capture.NewWriter(&b)
	frames := wiretest.NewConn().Open().Send(false, stream(1)).Frames
	for _, link := range []capture.LinkType{capture.LinkLinuxSLL, capture.LinkEthernet, capture.LinkRaw} {
		must.NoError(t, w.AddInterface(link, 0, int(link), ""))
	}
	for i := range frames {
		f := frames[i]
		if f.Iface = int(capture.LinkEthernet); i%2 == 1 {
			f.Iface, f.Link, f.Data = int(capture.LinkRaw), capture.LinkRaw, f.Data[14:]
		}
		must.NoError(t, w.Write(&f, "secret comment"))
	}
	must.NoError(t, w.Flush())
	path := filepath.Join(t.TempDir(), "in.pcapng")
	must.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
	result := rewriteFile(t, path, "key")
	if data, err := os.ReadFile(result); err != nil || bytes.Contains(data, []byte("secret")) || !bytes.Contains(b.Bytes(), []byte("secret")) {
		t.Errorf("a comment is left, %v", err)
	}
	before, after := open(t, path), open(t, result)
	var f, g capture.Frame
	for i := range frames {
		must.NoError(t, errors.Join(before.Next(&f), after.Next(&g)))
		if f.Iface != g.Iface || f.Iface != 1+i%2 || f.Link != g.Link || f.Time != g.Time {
			t.Errorf("frame %d of interface %d became one of %d", i, f.Iface, g.Iface)
		}
	}
	format, _ := after.Format()
	assert.That(t, format.PCAPNG && len(format.Links) == 3 && format.Links[0] == capture.LinkLinuxSLL, "%+v", format)
}
