package dissect

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
)

func TestMain(m *testing.M) { wiretest.Main(m) }

// pings returns a func that gives a Dissector another ping and its reply.
func pings(t testing.TB, d *Dissector) func() {
	t.Helper()
	var list []*lnet.Message
	frames := wiretest.Dialog(wiretest.ByReply, wiretest.Msg(wiretest.Body(wiretest.TypeRequest, opcodes.OBD_PING)),
		wiretest.Msg(wiretest.Body(wiretest.TypeReply, opcodes.OBD_PING)))
	wiretest.Play(lnet.NewDecoder(lnet.Options{Handle: func(m *lnet.Message) {
		if m.Kind == lnet.Request || m.Kind == lnet.Reply {
			list = append(list, m.Clone())
		}
	}}), frames)
	list = list[:2] // the dialog ends with another reply
	xid := uint64(wiretest.DialogXID)
	return func() {
		xid += 1 << keyShift
		for _, m := range list {
			m.LNet.MatchBits = xid
			m.LNet.Handle = [16]byte{byte(xid >> keyShift), byte(xid >> 8 >> keyShift)}
			m.Time++
			d.message(m)
		}
	}
}

// TestNoAllocation: in steady state an RPC costs no allocation.
func TestNoAllocation(t *testing.T) {
	paired := 0
	d := New(Options{Handle: func(m *Message) {
		if m.Kind == lnet.Reply && m.Req != nil && m.Req.XID == m.LNet.MatchBits {
			paired++
		}
	}})
	d.requests.bounds.answered = 100
	ping := pings(t, d)
	const runs = 200_000
	for range runs {
		ping()
	}
	must.Equal(t, paired, runs, "replies found their requests")
	wiretest.NoAllocations(t, 10_000, ping)
}

// BenchmarkPair pairs replies with their requests; an RPC is one operation.
func BenchmarkPair(b *testing.B) {
	d := New(Options{Handle: func(*Message) {}})
	ping := pings(b, d)
	b.ReportAllocs()
	for b.Loop() {
		ping()
	}
}

// TestConcurrent: the other goroutine gets what the handlers of a Dissector get, in the
// same order.
func TestConcurrent(t *testing.T) {
	for _, sample := range []string{"../pcaps/recovery.pcap.zst", "../pcaps/rdma_data.pcap.zst", "../pcaps/gss.pcap.zst"} {
		want := handouts(t, sample, func(o Options) (Options, func()) { return o, func() {} })
		got := handouts(t, sample, Concurrent)
		assert.Slice(t, got, want, sample, "handouts")
		assert.That(t, len(want) != 0, "%s has no handouts", sample)
	}
}

// handouts describes what a Dissector with the options that change returns hands out.
func handouts(t *testing.T, sample string, change func(Options) (Options, func())) (list []string) {
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	var tree Tree
	o, wait := change(Options{
		Frames: true,
		Handle: func(m *Message) {
			tree.Build(m)
			c := *m
			c.Msg, c.Req, c.IB = nil, nil, nil
			add("message %+v %d nodes", c, len(tree.Nodes))
			if m.Msg != nil {
				add("%+v", *m.Msg)
			}
			if m.Req != nil {
				add("%+v", *m.Req)
			}
			if m.IB != nil {
				add("%+v", *m.IB)
			}
		},
		TransferUpdate: func(number int64, t *lnet.Transfer) { add("transfer %d %+v", number, *t) },
		Lost:           func(l *lnet.Loss) { add("loss %+v", *l) },
		TCPEvent:       func(m *lnet.TCPEvent) { add("segment %+v", *m) },
		Active:         func(m *lnet.Activity) { add("activity %+v", *m) },
		IBEvent:        func(r *lnet.IBEvent) { add("refusal %+v", *r) },
	})
	d := New(o)
	frames := wiretest.ReadSample(t, sample)
	for i := range frames {
		d.Frame(&frames[i])
	}
	d.Close()
	wait()
	return list
}

// TestCloneMsg: a clone refers to nothing that the dissector reuses, and has the
// same Msg as ParseRPC returns.
func TestCloneMsg(t *testing.T) {
	var kept []*Message
	var want []string
	eachMessage(t, "../pcaps/mount.pcap", func(m *Message) {
		if m.Msg != nil {
			kept, want = append(kept, m.Clone()), append(want, fmt.Sprintf("%q", m.Msg.Bufs))
		}
	})
	must.That(t, len(kept) != 0, "the sample shows nothing")
	var tree Tree
	for i, m := range kept {
		must.That(t, m.Frames == nil, "frame %d: the clone refers to the dissector's own", m.Frame)
		assert.Equal(t, fmt.Sprintf("%q", m.Msg.Bufs), want[i], "frame", m.Frame, "the clone")
		if msg, _ := tree.ParseRPC(m); msg == nil || fmt.Sprintf("%q", msg.Bufs) != want[i] {
			t.Errorf("frame %d: %+v, want %s", m.Frame, msg, want[i])
		}
	}
}

// TestArenaSetup overwrites the UUID in the set-up of a security context after the
// message was copied.
func TestArenaSetup(t *testing.T) {
	target := []byte("lustre-OST0000_UUID")
	var m Message
	m.RPC.GSS.Setup.Target = target
	c := m.Clone()
	clear(target)
	assert.Equal(t, string(c.RPC.GSS.Setup.Target), "lustre-OST0000_UUID", "the copy is for")
}

// TestArenaIB overwrites a message that came over InfiniBand after it was copied.
func TestArenaIB(t *testing.T) {
	headers, write, request, done := []byte("BTH"), []byte("RETH"), []byte("PUT_REQ"), []byte("PUT_DONE")
	var m Message
	m.IB = &lnet.IB{SrcQP: 17, Headers: headers, Parts: []lnet.IBPart{{Data: request}, {Data: done}}}
	m.IB.Writes.Headers = write
	var a Arena
	a.Add(&m)
	cloned := m.Message.Clone()
	for _, b := range [][]byte{headers, write, request, done} {
		clear(b)
	}
	m.IB.SrcQP, m.IB.Parts[0] = 18, lnet.IBPart{Back: true}
	for _, c := range []*lnet.IB{a.At(0).IB, cloned.IB} {
		if got := fmt.Sprintf("%d %s %s %s %s", c.SrcQP, c.Headers, c.Writes.Headers, c.Parts[0].Data, c.Parts[1].Data); got != "17 BTH RETH PUT_REQ PUT_DONE" || c.Parts[0].Back {
			t.Errorf("the copy is %s, %+v", got, c.Parts[0])
		}
	}
}

// TestProbeOffsets compares the offsets that the probe has as constants with the tables.
func TestProbeOffsets(t *testing.T) {
	opcodes.Resolve()
	body := opcodes.PtlrpcBody
	for off, name := range map[int]string{offHandle: "pb_handle", offType: "pb_type", offVersion: "pb_version", offOpc: "pb_opc", offStatus: "pb_status",
		offLastCommitted: "pb_last_committed", offTransno: "pb_transno", offFlags: "pb_flags", offOpFlags: "pb_op_flags",
		offConnCnt: "pb_conn_cnt", offTimeout: "pb_timeout", offServiceTime: "pb_service_time", offMbits: "pb_mbits", offUID: "pb_uid",
		offGID: "pb_gid", offJobID: "pb_jobid"} {
		assert.Equal(t, body.Field(name).Off, off, name, "is at")
	}
	assert.Equal(t, opcodes.LustreMsg.Field("lm_flags").Off, offLmFlags, "lm_flags is at")
	assert.Equal(t, body.Field("pb_jobid").Off+body.Field("pb_jobid").Size, bodySize, "the body bytes")
}

// TestBuffersEndAtHoles: each buffer ends at its first hole. It takes long if every hole
// is checked for each buffer.
func TestBuffersEndAtHoles(t *testing.T) {
	const bufs, each = 200, 4096
	data := make([]byte, round8(msgFixed+4*bufs)+bufs*each)
	le := binary.LittleEndian
	le.PutUint32(data, bufs)
	le.PutUint32(data[offMagic:], msgMagic)
	for i := range bufs {
		le.PutUint32(data[msgFixed+4*i:], each)
	}
	m := &Message{Message: lnet.Message{Data: data, Size: len(data)}}
	for off := round8(msgFixed + 4*bufs); off+2 <= len(data); off += 2 {
		m.Holes = append(m.Holes, lnet.Hole{Off: off + 1, Len: 1, Why: lnet.Snaplen})
	}
	var p rpcMsg
	p.openIn(m)
	for i, b := range p.Bufs {
		must.Equal(t, len(b), 1, "buffer", i, "bytes")
	}
}

// TestReplyWithoutOpcode checks that pb_opc 0 has no name in a reply for which
// the server did not unpack the request, and that the operation is that of the
// request.
func TestReplyWithoutOpcode(t *testing.T) {
	var tree Tree
	replies := 0
	eachMessage(t, "../pcaps/gss_failed.pcap.zst", func(m *Message) {
		if m.Kind != lnet.Reply || m.RPC.GSS.Errno() == 0 {
			return
		}
		replies++
		tree.Build(m)
		n := paths(&tree)["ptlrpc_body.pb_opc"]
		if n == nil || n.Val != 0 || !n.Is(NotValid) || !m.RPC.HasOpcode || m.RPC.Opcode != opcodes.SEC_CTX_INIT {
			t.Errorf("frame %d: pb_opc is %+v, opcode %d", m.Frame, n, m.RPC.Opcode)
		}

		alone := New(Options{})
		c := *m
		alone.pair(&c)
		assert.That(t, !c.RPC.HasOpcode && c.Req == nil, "frame %d without its request: opcode %d", m.Frame, c.RPC.Opcode)
	})
	assert.Equal(t, replies, 6, "refused contexts")
}
