package anonymize

import (
	"bytes"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/anonymize/values"
	"github.com/lshark/lshark/internal/wiretest"
)

// infiniBandFrames returns frames of each kind with a packet of InfiniBand, whose payload is
// rewritten with that of its stream.
func infiniBandFrames() []testFrame {
	write := wiretest.InfiniBand(wiretest.Join(wiretest.BTH(wiretest.RCWriteOnly, 0x22, 77, false), wiretest.RETH(1, 2, uint32(len(text)))), text)
	a, b := wiretest.QueuePair{Addr: endA.Addr, Port: 0xc011}, wiretest.QueuePair{Addr: endB.Addr}
	c, d := wiretest.QueuePair{Addr: six1, Port: 0xc011}, wiretest.QueuePair{Addr: six2}
	grh := wiretest.GRH(six1.As16(), six2.As16(), len(write))
	return []testFrame{
		{"RoCEv2", capture.LinkEthernet, wiretest.RoCEv2(&a, &b, write), true},
		{"RoCEv2, IPv6", capture.LinkEthernet, wiretest.RoCEv2(&c, &d, write), true},
		{"RoCEv1", capture.LinkEthernet, ethernet(etherRoCE, wiretest.Join(grh, write)), true},
		{"InfiniBand", capture.LinkInfiniBand, wiretest.Join(wiretest.LRH(7, 9, false, len(write)), write), true},
		{"InfiniBand, VCRC", capture.LinkInfiniBand, wiretest.Join(wiretest.LRH(7, 9, false, len(write)), write, []byte{1, 2}), true},
		{"InfiniBand, GRH", capture.LinkInfiniBand, wiretest.Join(wiretest.LRH(7, 9, true, len(grh)+len(write)), grh, write), true},
		{"ERF", capture.LinkERF, wiretest.ERF(wiretest.ERFInfiniBand, 1, wiretest.Join(wiretest.LRH(7, 9, false, len(write)), write)), true},
		{"mirrored", capture.LinkInfiniBand, wiretest.Join([]byte{0, 0, 0, 1, 0, byte((16+len(grh)+len(write)+8)/4 + 1), 0, 2, 0, 0, 0x11, 0x23, 0, 0, 0, 0},
			wiretest.LRH(7, 9, true, len(grh)+len(write)), grh, write, []byte{1, 2, 3, 4}), true},
	}
}

// TestInfiniBandHeaders checks that no address and no payload is left, and that an ICRC
// which was right is right in the result.
func TestInfiniBandHeaders(t *testing.T) {
	for _, c := range infiniBandFrames() {
		f := capture.Frame{Number: 1, Link: c.link, Data: c.data, Len: len(c.data)}
		checkHeaders(t, &f)
		rewrite := func(data []byte) (*headers, []byte) {
			h := newHeaders(values.New([]byte("key")), []uint16{lnet.DefaultPort})
			out := make([]byte, len(data))
			g := f
			g.Data = data
			h.rewrite(&g, out)
			return h, out
		}
		h, _ := rewrite(c.data)
		last := len(h.sums) - 1
		if h.payload.size != len(text) || last < 0 || h.sums[last].kind != sumICRC || h.sums[last].state != sumWrong {
			t.Errorf("%s: payload %v, checksums %+v", c.name, h.payload, h.sums)
			continue
		}
		right := bytes.Clone(c.data)
		h.sums[last].state = sumRight
		h.sums[last].set(right)
		h, out := rewrite(right)
		for name, original := range map[string][]byte{"address": endA.Addr.AsSlice(), "GID": six1.AsSlice()[8:], "text": text[:8]} {
			if name != "GID" && bytes.Contains(out, original) {
				t.Errorf("%s: the %s is left in % x", c.name, name, out)
			}
		}
		if h.sums[last].state != sumRight {
			t.Errorf("%s: state %d", c.name, h.sums[last].state)
		}
		h.sums[last].set(out)
		if h, _ = rewrite(out); h.sums[last].state != sumRight {
			t.Errorf("%s: state %d in the result", c.name, h.sums[last].state)
		}
	}
}

// TestO2iblnd checks that all messages of a connection over RoCE can be read in the result,
// with other NIDs, and that checksums are right.
func TestO2iblnd(t *testing.T) {
	for _, w := range []wiretest.O2iblnd{{}, {Big: true}, {Sum: true}} {
		body := bytes.Repeat([]byte("payload "), 300) // several packets
		q := wiretest.NewQueuePairs().Connect(w.Connreq(), w.Connack())
		q.Send(false, w.Immediate(false, wiretest.Put, 12, 1, 0, body)).Ack(true)
		memory := wiretest.Fragment{Address: 0x1000, Size: uint32(len(body))}
		q.Send(false, w.PutReq(false, wiretest.Put, 12, 2, 0, len(body), 3)).Send(true, w.PutAck(true, 3, 4, 9, memory))
		q.Write(false, 0x1000, 9, body).Send(false, w.Done(false, wiretest.O2PutDone, 4, 0)).Ack(true)
		q.Send(false, w.Noop(false)).Reject(28, w.Refusal(3)).Disconnect(false)

		result := rewriteAll(t, q.Frames, "key")
		before, after := messagesOf(q.Frames), messagesOf(result)
		if len(before) < 5 || len(after) != len(before) {
			t.Fatalf("%+v: %d messages, were %d", w, len(after), len(before))
		}
		for i, m := range after {
			was := before[i]
			if m.Kind != was.Kind || m.Size != was.Size || m.LNet.MatchBits != was.LNet.MatchBits || len(m.Notes) != len(was.Notes) {
				t.Errorf("%+v: message %d is %v of %d bytes with %v, was %v of %d with %v", w, i, m.Kind, m.Size, m.Notes, was.Kind, was.Size, was.Notes)
			}
			if was.LNet.Src.Len > 0 && (m.LNet.Src == was.LNet.Src || m.LNet.Dst == was.LNet.Dst) {
				t.Errorf("%+v: message %d has the NIDs %v and %v", w, i, m.LNet.Src, m.LNet.Dst)
			}
		}
	}
}

// messagesOf returns copies of the LNet messages in frames.
func messagesOf(frames []capture.Frame) (list []*lnet.Message) {
	d := lnet.NewDecoder(lnet.Options{Handle: func(m *lnet.Message) { list = append(list, m.Clone()) }})
	wiretest.Play(d, frames)
	return list
}
