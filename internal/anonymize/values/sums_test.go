package values

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// messages passes frames to a dissector and f each message.
func messages(frames []capture.Frame, f func(*dissect.Message)) {
	wiretest.Play(dissect.New(dissect.Options{Handle: f}), frames)
}

// replacedBytes returns the replacement of a message of that kind in the frames.
func replacedBytes(t *testing.T, p *Mapper, frames []capture.Frame, kind lnet.Kind) (dst []byte) {
	t.Helper()
	messages(frames, func(m *dissect.Message) {
		b := make([]byte, m.Size)
		p.Message(b, m)
		if m.Kind == kind {
			dst = b
		}
	})
	if dst == nil {
		t.Fatalf("no %s", kind)
	}
	return dst
}

// hasNote reports whether a message of that kind has a note.
func hasNote(frames []capture.Frame, kind lnet.Kind, code string) (has bool) {
	messages(frames, func(m *dissect.Message) {
		for _, n := range m.Notes {
			has = has || m.Kind == kind && n.Code == code
		}
	})
	return has
}

// requestOf returns a request of a user whose job has a name.
func requestOf(opcode uint32) []byte {
	body := wiretest.Body(wiretest.TypeRequest, opcode)
	copy(body[len(body)-32:], "cp.500")
	return wiretest.Msg(body)
}

// TestTransportSums replaces messages of socklnd and o2iblnd with checksums. The right ones
// are right again, the wrong ones wrong.
func TestTransportSums(t *testing.T) {
	socklnd, o2iblnd := wiretest.Socklnd{Version: 2, Sum: true}, wiretest.O2iblnd{Sum: true}
	tcp := func(message []byte) []capture.Frame {
		return wiretest.NewConn().Open().Send(false, socklnd.Connreq()).Send(false, socklnd.Hello(false)).Send(false, message).Frames
	}
	ib := func(message []byte) []capture.Frame {
		return wiretest.NewQueuePairs().Connect(o2iblnd.Connreq(), o2iblnd.Connack()).Send(false, message).Frames
	}
	for name, tt := range map[string]struct {
		frames  func([]byte) []capture.Frame
		message []byte
	}{
		"socklnd": {tcp, socklnd.LNet(false, wiretest.Put, wiretest.RequestPortal, 64, requestOf(400))},
		"o2iblnd": {ib, o2iblnd.Immediate(false, wiretest.Put, wiretest.RequestPortal, 64, 0, requestOf(400))},
	} {
		p := New([]byte("key"))
		right := replacedBytes(t, p, tt.frames(tt.message), lnet.Request)
		if string(right) == string(tt.message) || hasNote(tt.frames(right), lnet.Request, "checksum") {
			t.Errorf("%s: the checksum is wrong after replacing", name)
		}
		tt.message[len(tt.message)-25] ^= 1 // in the name of the job
		wrong := replacedBytes(t, p, tt.frames(tt.message), lnet.Request)
		if !hasNote(tt.frames(wrong), lnet.Request, "checksum") {
			t.Errorf("%s: a wrong checksum is right after replacing", name)
		}
	}
}

// TestEarlyReplySum replaces an early reply, whose checksum is over the ptlrpc_body or the
// part of it that release 1.8 had.
func TestEarlyReplySum(t *testing.T) {
	for _, n := range []int{wiretest.BodySize, 88, 0} {
		body := wiretest.Body(wiretest.TypeReply, opcodes.OST_READ)
		copy(body[len(body)-32:], "cp.500")
		binary.LittleEndian.PutUint32(body[80:], 77)
		reply := wiretest.Msg(body)
		sum := uint32(12345)
		if n > 0 {
			sum = ^crc32.ChecksumIEEE(body[:n])
		}
		binary.LittleEndian.PutUint32(reply[16:], sum)
		dst := replacedBytes(t, New([]byte("key")), wiretest.Dialog(wiretest.ByEarlyReply, requestOf(opcodes.OST_READ), reply), lnet.EarlyReply)
		after := dst[len(dst)-len(reply):]
		header := len(reply) - len(body)
		got := binary.LittleEndian.Uint32(after[16:])
		switch {
		case string(after[header:]) == string(body):
			t.Error("nothing was replaced")
		case n == 0 && got == ^crc32.ChecksumIEEE(after[header:]):
			t.Error("a wrong checksum is right after replacing")
		case n > 0 && got != ^crc32.ChecksumIEEE(after[header:header+n]):
			t.Errorf("the checksum over %d bytes is wrong after replacing", n)
		}
	}
}

// TestDataSums replaces the reads and writes of real captures. Their checksums are those
// of zeros, except where a reply had another one than its request.
func TestDataSums(t *testing.T) {
	for _, name := range []string{"../../../dissect/diagnose/rules/testdata/jobs.pcap.zst", "../../../pcaps/rdma_data.pcap.zst"} {
		for _, serverIsWrong := range []bool{false, true} {
			writes, reads := 0, 0
			requested := map[uint64]opcodes.DataChecksum{}
			ranges := map[uint64][]opcodes.DataRange{}
			p := New([]byte("key"))
			var tree dissect.Tree
			messages(wiretest.ReadSample(t, name), func(m *dissect.Message) {
				op := m.RPC.Opcode
				if m.Kind != lnet.Request && m.Kind != lnet.Reply || op != opcodes.OST_READ && op != opcodes.OST_WRITE || m.RPC.Status < 0 {
					return
				}
				if m.Kind == lnet.Request {
					ranges[m.RPC.XID] = opcodes.DataRanges(m.Msg, nil)
				}
				if serverIsWrong && m.Kind == lnet.Reply {
					changeSum(m.Msg)
				}
				dst := make([]byte, len(m.Data))
				p.Message(dst, m)
				r := *m
				r.Data, r.Msg = dst, nil
				msg, _ := tree.ParseRPC(&r)
				sum, ok := opcodes.DataChecksumOf(msg)
				switch {
				case !ok:
				case m.Kind == lnet.Request && op == opcodes.OST_WRITE:
					requested[m.RPC.XID] = sum
					checkZeroSum(t, sum, ranges[m.RPC.XID], totalSize(ranges[m.RPC.XID]))
				case m.Kind == lnet.Reply && op == opcodes.OST_WRITE:
					if writes++; sum == requested[m.RPC.XID] == serverIsWrong {
						t.Errorf("%s: the request has %v, the reply %v", name, requested[m.RPC.XID], sum)
					}
				case m.Kind == lnet.Reply && len(opcodes.ShortData(m.Msg)) > 0:
					if reads++; serverIsWrong == (zeroSumOf(sum, ranges[m.RPC.XID], uint64(m.RPC.Status)) == sum) {
						t.Errorf("%s: the reply with data has %v", name, sum)
					}
				case m.Kind == lnet.Reply:
					reads++
					checkZeroSum(t, sum, ranges[m.RPC.XID], uint64(m.RPC.Status))
				}
			})
			if writes+reads == 0 {
				t.Errorf("%s: no checksums", name)
			}
		}
	}
}

// changeSum changes the checksum in a message.
func changeSum(m *schema.Msg) {
	at := opcodes.StructNamed("obdo").Field("o_cksum").Off
	if b := m.Buf(1); len(b) > at {
		b[at] ^= 1
	}
}

func zeroSumOf(sum opcodes.DataChecksum, ranges []opcodes.DataRange, n uint64) opcodes.DataChecksum {
	c, _ := opcodes.SumData(sum.Kind, make([]byte, n), ranges)
	return c
}

func checkZeroSum(t *testing.T, sum opcodes.DataChecksum, ranges []opcodes.DataRange, n uint64) {
	t.Helper()
	if want := zeroSumOf(sum, ranges, n); sum != want {
		t.Errorf("checksum %v of %d zeros, want %v", sum, n, want)
	}
}
