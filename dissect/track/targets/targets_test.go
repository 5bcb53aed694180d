package targets_test

import (
	"encoding/binary"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/targets"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/internal/wiretest/messages"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

const (
	mdsPortal    = 12
	ostPortal    = 28
	mgsPortal    = 26
	cancelPortal = 17
	fldPortal    = 29
)

var node = messages.NID

var client, mds, oss = node(3), node(1), node(2)

// wire makes messages of a capture that has begun too late.
type wire struct {
	t        testing.TB
	now      int64
	step     int64 // time between two messages, in nanoseconds
	frame    int64
	xid      uint64
	rpcs     *track.Pairing
	evidence *targets.Evidence
	last     *track.RPC
}

func newWire(t testing.TB) *wire {
	w := &wire{t: t, now: 1e18, step: 1e6, xid: 1 << 50, evidence: targets.New(nil)}
	w.rpcs = track.NewPairing(track.Options{Sent: w.evidence.Sent, Answered: w.evidence.Answered})
	return w
}

// call is a request and its reply.
type call struct {
	opcode         uint32
	from, to       lnet.NID
	handle         uint64
	portal         uint32
	request, reply [][]byte // the buffers behind the ptlrpc_body
	status         int32
	replyHandle    uint64
}

func (w *wire) call(c call) {
	w.xid += 64
	w.message(c, lnet.Request, c.request)
	w.message(c, lnet.Reply, c.reply)
}

func (w *wire) message(c call, kind lnet.Kind, bufs [][]byte) {
	w.frame++
	w.now += w.step
	m := &dissect.Message{Message: lnet.Message{Frame: w.frame, Time: w.now, Kind: kind}}
	m.LNet.Src, m.LNet.Dst, m.LNet.Portal = c.from, c.to, c.portal
	m.Req = &dissect.RequestInfo{XID: w.xid, Opcode: c.opcode, Client: c.from, Server: c.to}
	m.RPC = dissect.RPC{XID: w.xid, HasXID: true, Opcode: c.opcode, HasOpcode: true, Type: dissect.TypeRequest, Handle: c.handle}
	m.Msg = &schema.Msg{Opcode: c.opcode, RPC: opcodes.ByOpcode(c.opcode), Bufs: append([][]byte{make([]byte, opcodes.PtlrpcBody.Size)}, bufs...)}
	if kind == lnet.Reply {
		m.LNet.Src, m.LNet.Dst = c.to, c.from
		m.RPC.Type, m.RPC.Status, m.RPC.Handle = dissect.TypeReply, c.status, c.replyHandle
		m.Msg.Reply, m.Msg.Status = true, c.status
	}
	m.Msg.Variant = m.Msg.RPC.Variants[0]
	if m.Msg.RPC.Pick != nil && kind == lnet.Request {
		m.Msg.Variant = m.Msg.RPC.Pick(m.Msg)
	}
	if kind == lnet.Reply && w.last != nil && w.last.Variant != nil {
		m.Msg.Variant = w.last.Variant
	}
	m.RPC.Variant = m.Msg.Variant
	w.last = w.rpcs.Message(m)
}

// target returns what is known about the connection of a ping.
func (w *wire) target(handle uint64, to lnet.NID, portal uint32) (name, from string) {
	w.evidence.Conclude()
	w.call(call{opcode: opcodes.OBD_PING, from: client, to: to, handle: handle, portal: portal})
	return w.last.Target(), w.last.TargetFrom().String()
}

func (w *wire) want(handle uint64, to lnet.NID, portal uint32, name, from string) {
	w.t.Helper()
	if n, f := w.target(handle, to, portal); n != name || f != from {
		w.t.Errorf("connection %#x is to %q by %q, want %q by %q", handle, n, f, name, from)
	}
}

// connect makes a connection while the capture runs, as an idle client does.
func (w *wire) connect(opcode uint32, to lnet.NID, target string, handle uint64) {
	w.call(call{opcode: opcode, from: client, to: to, portal: ostPortal, replyHandle: handle,
		request: [][]byte{[]byte(target + "_UUID\x00"), []byte("client\x00"), binary.LittleEndian.AppendUint64(nil, handle+1), nil}})
}

// body is a struct with some of its fields set.
func body(name string, fields map[string]uint64) []byte {
	s := opcodes.Protocol.StructNamed(name)
	b := make([]byte, s.Size)
	for field, v := range fields {
		putField(b, s.Field(field), v)
	}
	return b
}

func putField(b []byte, f *schema.Field, v uint64) {
	for i := range f.Size {
		b[f.Off+i] = byte(v >> (8 * i))
	}
}

func fid(seq uint64, oid uint32) []byte {
	b := binary.LittleEndian.AppendUint64(nil, seq)
	return binary.LittleEndian.AppendUint64(b, uint64(oid))
}

// mdtBody is a struct mdt_body of an object, with attributes.
func mdtBody(seq uint64, oid uint32, flags ...string) []byte {
	valid := opcodes.ObdMdValid.Bit("FLID")
	if len(flags) == 0 {
		flags = []string{"FLMODE", "FLTYPE"}
	}
	for _, f := range flags {
		valid |= opcodes.ObdMdValid.Bit(f)
	}
	b := body("mdt_body", map[string]uint64{"mbo_valid": valid})
	copy(b, fid(seq, oid))
	return b
}

func getattr(handle uint64, to lnet.NID, seq uint64, oid uint32, layout []byte) call {
	return call{opcode: opcodes.MDS_GETATTR, from: client, to: to, handle: handle, portal: mdsPortal,
		request: [][]byte{mdtBody(seq, oid)}, reply: [][]byte{mdtBody(seq, oid), layout}}
}

// stat asks an OST for the attributes of an object.
func stat(handle uint64, seq uint64, oid uint32) call {
	b := body("ost_body", nil)
	obdo := opcodes.Protocol.StructNamed("obdo")
	putField(b, obdo.Field("o_valid"), opcodes.ObdMdValid.Bit("FLID"))
	copy(b[obdo.Field("o_oi").Off:], fid(seq, oid))
	return call{opcode: opcodes.OST_GETATTR, from: client, to: oss, handle: handle, portal: ostPortal, request: [][]byte{b}, reply: [][]byte{b}}
}

// layout is a layout of a file with one object.
func layout(seq uint64, oid, ost uint32) []byte {
	b := body("lov_mds_md_v1", map[string]uint64{"lmm_magic": 0x0bd10bd0, "lmm_pattern": 1, "lmm_stripe_size": 1 << 20, "lmm_stripe_count": 1})
	b = append(b, fid(seq, oid)...)
	return binary.LittleEndian.AppendUint64(b, uint64(ost)<<32)
}

// fldQuery asks a server which target has a sequence.
func fldQuery(handle uint64, first, end uint64, kind, index uint64) call {
	reply := body("lu_seq_range", map[string]uint64{"lsr_start": first, "lsr_end": end, "lsr_index": index, "lsr_flags": kind})
	return call{opcode: opcodes.FLD_QUERY, from: client, to: mds, handle: handle, portal: fldPortal,
		request: [][]byte{{2, 0, 0, 0}, body("lu_seq_range", nil)}, reply: [][]byte{reply}}
}

// lookup takes a lock with an intent. In the reply, an MDT writes its index.
func lookup(handle uint64, to lnet.NID, seq uint64, oid uint32, cookie uint64, index byte) call {
	request := body("ldlm_request", map[string]uint64{"lock_flags": opcodes.LdlmFlags.Bit("HAS_INTENT"), "lock_count": 1})
	request = binary.LittleEndian.AppendUint64(request, cookie)
	reply := body("ldlm_reply", map[string]uint64{"lock_flags": opcodes.LdlmFlags.Bit("LOCK_CHANGED")})
	const desc, policy = 8, 8 + 48
	reply[desc] = opcodes.InodeLock
	reply[policy+opcodes.Protocol.StructNamed("ldlm_inodebits").Field("li_initiator_id").Off] = index
	return call{opcode: opcodes.LDLM_ENQUEUE, from: client, to: to, handle: handle, portal: mdsPortal,
		request: [][]byte{request, binary.LittleEndian.AppendUint64(nil, 0x10), mdtBody(seq, oid)},
		reply:   [][]byte{reply, mdtBody(seq, oid)}}
}

const (
	meta1, meta2 = 0x200000401, 0x240000402
	data         = 0x280000400
	root         = 0x200000007
)

// Handles of connections.
const (
	handleMDT, handleMDT2, handleOST, handleOST2, handleMGS = 0x1000, 0x2000, 0x3000, 0x4000, 0x5000
)

func TestPortal(t *testing.T) {
	w := newWire(t)
	w.call(call{opcode: opcodes.OBD_PING, from: client, to: mds, handle: handleMGS, portal: mgsPortal})
	w.want(handleMGS, mds, mgsPortal, "MGS", "portal")
}

func TestRoot(t *testing.T) {
	w := newWire(t)
	w.call(getattr(handleMDT, mds, root, 1, nil))
	w.want(handleMDT, mds, mdsPortal, "", "") // of which file system?
	assert.Equal(t, w.last.TargetIndex(), "MDT0000", "index")
	w.connect(opcodes.MDS_CONNECT, mds, "scratch-MDT0001", handleMDT2)
	w.want(handleMDT, mds, mdsPortal, "scratch-MDT0000", "service")
	w.want(handleMDT2, mds, mdsPortal, "scratch-MDT0001", "connect")
}

// TestFailed: a request that fails proves nothing.
func TestFailed(t *testing.T) {
	w := newWire(t)
	w.connect(opcodes.MDS_CONNECT, mds, "scratch-MDT0001", handleMDT2)
	c := getattr(handleMDT, mds, root, 1, nil)
	c.status = -116
	w.call(c)
	w.want(handleMDT, mds, mdsPortal, "", "")
}

func TestLayout(t *testing.T) {
	w := newWire(t)
	w.connect(opcodes.OST_CONNECT, oss, "scratch-OST0000", handleOST)
	w.call(getattr(handleMDT, mds, meta1, 5, layout(data, 77, 0x12)))
	w.call(stat(handleOST2, data, 99)) // of the same sequence, but is the OST of the same file system?
	w.want(handleOST2, oss, ostPortal, "", "")
	w.call(stat(handleOST2, data, 77))
	w.want(handleOST2, oss, ostPortal, "scratch-OST0012", "layout")
	w.want(handleMDT, mds, mdsPortal, "", "")
}

func TestFLD(t *testing.T) {
	w := newWire(t)
	w.connect(opcodes.MDS_CONNECT, mds, "scratch-MDT0000", handleMDT)
	w.call(fldQuery(handleMDT, meta2-1, meta2+9, 0, 1))
	w.call(getattr(handleMDT2, mds, meta2, 5, nil))
	w.want(handleMDT2, mds, mdsPortal, "scratch-MDT0001", "fld")
}

func TestLockIndex(t *testing.T) {
	w := newWire(t)
	w.connect(opcodes.MDS_CONNECT, mds, "scratch-MDT0005", handleOST)
	w.call(lookup(handleMDT, mds, meta1, 5, 1, 0))
	w.want(handleMDT, mds, mdsPortal, "", "") // MDT0000, or an old release
	w.call(lookup(handleMDT2, mds, meta2, 5, 2, 3))
	w.want(handleMDT2, mds, mdsPortal, "scratch-MDT0003", "lock")
	w.want(handleMDT, mds, mdsPortal, "scratch-MDT0000", "lock")
}

// TestLockOfMDT: MDT0000 asks another MDT for a lock, and the reply repeats the index of the
// one that asks.
func TestLockOfMDT(t *testing.T) {
	w := newWire(t)
	w.connect(opcodes.MDS_CONNECT, mds, "scratch-MDT0005", handleOST)
	w.call(lookup(handleMDT2, mds, meta2, 5, 2, 3))
	c := lookup(handleMDT, mds, meta1, 5, 1, 0)
	clear(c.request[0][:4]) // without an intent
	c.request = c.request[:1]
	w.call(c)
	w.want(handleMDT, mds, mdsPortal, "", "")
}

// TestSequence finds a target by the objects of another client of it.
func TestSequence(t *testing.T) {
	w := newWire(t)
	w.connect(opcodes.MDS_CONNECT, mds, "scratch-MDT0001", handleMDT)
	w.call(getattr(handleMDT, mds, meta2, 5, nil))
	other := getattr(handleMDT2, mds, meta2, 6, nil)
	other.from = node(4)
	w.call(other)
	w.want(handleMDT2, mds, mdsPortal, "scratch-MDT0001", "sequence")
}

// TestCallback finds the connection of a callback by the lock.
func TestCallback(t *testing.T) {
	w := newWire(t)
	w.connect(opcodes.MDS_CONNECT, mds, "scratch-MDT0005", handleMDT)
	w.call(lookup(handleMDT2, mds, meta2, 5, 4711, 3))
	b := binary.LittleEndian.AppendUint64(body("ldlm_request", nil), 4711)
	w.call(call{opcode: opcodes.LDLM_BL_CALLBACK, from: mds, to: client, handle: 0xc11e, portal: 15, request: [][]byte{append(b, make([]byte, 8)...)}})
	w.evidence.Conclude()
	assert.Equal(t, w.last.Target(), "scratch-MDT0003", "the callback")
}

// TestContradiction: a connection that two messages prove to be to different
// targets has none, and one that a connect names keeps its name.
func TestContradiction(t *testing.T) {
	w := newWire(t)
	w.connect(opcodes.MDS_CONNECT, mds, "scratch-MDT0005", handleOST)
	w.call(lookup(handleMDT, mds, meta2, 5, 1, 3))
	w.want(handleMDT, mds, mdsPortal, "scratch-MDT0003", "lock")
	w.call(lookup(handleMDT, mds, meta2, 5, 2, 4))
	w.want(handleMDT, mds, mdsPortal, "", "")
	w.call(lookup(handleOST, mds, meta1, 5, 3, 4))
	w.want(handleOST, mds, mdsPortal, "scratch-MDT0005", "connect")
}

// TestSequenceOnTwoTargets: what a sequence has proved before is taken back.
func TestSequenceOnTwoTargets(t *testing.T) {
	w := newWire(t)
	w.connect(opcodes.MDS_CONNECT, mds, "scratch-MDT0001", handleMDT)
	w.call(getattr(handleMDT, mds, meta2, 5, nil))
	w.call(getattr(handleMDT2, mds, meta2, 6, nil))
	w.want(handleMDT2, mds, mdsPortal, "scratch-MDT0001", "sequence")
	w.connect(opcodes.MDS_CONNECT, mds, "scratch-MDT0002", handleOST)
	w.call(getattr(handleOST, mds, meta2, 7, nil))
	w.want(handleMDT2, mds, mdsPortal, "", "")
}

// TestTwoFileSystems: a server of two file systems, where sequences have the same
// numbers.
func TestTwoFileSystems(t *testing.T) {
	w := newWire(t)
	w.connect(opcodes.MDS_CONNECT, mds, "scratch-MDT0001", handleMDT)
	w.connect(opcodes.MDS_CONNECT, mds, "home-MDT0001", handleOST)
	w.call(getattr(handleMDT2, mds, root, 1, nil))
	w.want(handleMDT2, mds, mdsPortal, "", "")
	w.want(handleOST, mds, mdsPortal, "home-MDT0001", "connect")
}

// TestReconnect: a connection whose target was found is the same when the client
// connects again, by its old handle or by the handle that callbacks have.
func TestReconnect(t *testing.T) {
	w := newWire(t)
	w.connect(opcodes.MDS_CONNECT, mds, "scratch-MDT0001", handleMDT)
	w.call(getattr(handleMDT2, mds, root, 1, nil))
	w.want(handleMDT2, mds, mdsPortal, "scratch-MDT0000", "service")
	before := w.last.Connection
	w.call(call{opcode: opcodes.MDS_CONNECT, from: client, to: mds, handle: handleMDT2, replyHandle: handleMDT2 + 7,
		request: [][]byte{[]byte("scratch-MDT0000_UUID\x00"), []byte("uuid\x00"), make([]byte, 8), nil}})
	w.want(handleMDT2+7, mds, mdsPortal, "scratch-MDT0000", "connect")
	if w.last.Connection != before || before.ClientUUID != "uuid" {
		t.Errorf("%+v after the reconnect, %+v before", w.last.Connection, before)
	}
}

// TestManyConnections: over the bound, connections that are not used any more are
// removed, and new ones still get their targets.
func TestManyConnections(t *testing.T) {
	w := newWire(t)
	w.connect(opcodes.MDS_CONNECT, mds, "scratch-MDT0000", handleMDT)
	const many = 1<<15 + 1<<14
	w.step = 1e3
	for i := range uint64(many) {
		c := getattr(1<<32+i, mds, root, 1, nil)
		c.from = lnet.NID{Len: 4, Type: 2, Num: uint16(i >> 8)}
		c.from.Addr[3] = byte(i)
		w.xid += 64
		w.message(c, lnet.Request, c.request)
		w.message(c, lnet.Reply, c.reply)
		if i%1024 == 0 {
			w.call(getattr(handleMDT, mds, meta1, 5, nil))
		}
	}
	w.call(getattr(handleMDT2, mds, meta1, 6, nil))
	w.want(handleMDT2, mds, mdsPortal, "scratch-MDT0000", "sequence")
}

// TestNoAllocation: RPCs that prove nothing new cost no allocation.
func TestNoAllocation(t *testing.T) {
	w := newWire(t)
	w.connect(opcodes.OST_CONNECT, oss, "scratch-OST0000", handleOST)
	c := getattr(handleMDT, mds, meta1, 5, layout(data, 77, 0x12))
	w.call(c)
	m := &dissect.Message{Message: lnet.Message{Time: w.now}}
	m.Msg = &schema.Msg{Opcode: c.opcode, RPC: opcodes.ByOpcode(c.opcode), Variant: opcodes.ByOpcode(c.opcode).Variants[0], Bufs: append([][]byte{nil}, c.request...)}
	reply := &dissect.Message{Message: m.Message}
	reply.Msg = &schema.Msg{Opcode: c.opcode, RPC: m.Msg.RPC, Variant: m.Msg.Variant, Reply: true, Bufs: append([][]byte{nil}, c.reply...)}
	w.evidence.Conclude()
	r := w.last
	wiretest.NoAllocations(t, 100, func() {
		w.evidence.Sent(r, m)
		w.evidence.Answered(r, reply)
	})
}

// key finds an RPC in two captures.
type key struct {
	client lnet.NID
	xid    uint64
	opcode uint32
	replay bool
}

// readTargets returns the target of each RPC in a file from a frame on, the first
// is 1, and the number of frames.
func readTargets(t *testing.T, path string, from int64) (map[key]string, int64) {
	t.Helper()
	read := func(o track.Options, prepare func(*track.Pairing)) int64 {
		frames := wiretest.ReadSample(t, path)
		rpcs := track.NewPairing(o)
		if prepare != nil {
			prepare(rpcs)
		}
		d := dissect.New(dissect.Options{Handle: func(m *dissect.Message) { rpcs.Message(m) }})
		wiretest.Play(d, frames[min(from-1, int64(len(frames))):])
		rpcs.Close()
		return int64(len(frames))
	}
	known := func() track.Known {
		var first *track.Pairing
		e := targets.New(nil)
		read(track.Options{Sent: e.Sent, Answered: e.Answered}, func(t *track.Pairing) { first = t })
		e.Conclude()
		return first.Known()
	}
	found := make(map[key]string)
	frames := read(track.Options{Known: known, Done: func(r *track.RPC) {
		found[key{r.Client, r.XID, r.Opcode, r.Replay()}] = r.Target()
	}}, nil)
	return found, frames
}

// TestCut leaves out the beginning of each sample: the RPCs in the rest have the
// target that they have in the whole sample, or none.
func TestCut(t *testing.T) {
	// The least shares of RPCs that have their target although a third is
	// missing. In the samples that are not listed nothing names the file
	// system after that.
	least := map[string]float64{
		"mount.pcap": 0.9, "ip6_mount.pcap": 0.9, "rdma_mount.pcap": 0.9, "recovery.pcap.zst": 0.9,
	}
	samples, err := filepath.Glob("../../../pcaps/*.pcap*")
	if err != nil || len(samples) < 10 {
		t.Fatal(samples, err)
	}
	for _, path := range samples {
		whole, frames := readTargets(t, path, 1)
		for _, part := range []struct{ num, of int64 }{{1, 5}, {1, 3}, {1, 2}, {2, 3}} {
			cut, _ := readTargets(t, path, frames*part.num/part.of+1)
			have, all := 0, 0
			for k, target := range cut {
				switch want := whole[k]; {
				case want == "":
					continue
				case target == want:
					have++
				case target != "":
					t.Errorf("%s without %d/%d: x%d (%d) has target %s, in the whole %s", filepath.Base(path), part.num, part.of, k.xid, k.opcode, target, want)
				}
				all++
			}
			t.Logf("%s without %d/%d: %d of %d RPCs have their target", filepath.Base(path), part.num, part.of, have, all)
			if share := least[filepath.Base(path)]; part.of == 3 && part.num == 1 && float64(have) < share*float64(all) {
				t.Errorf("%s without a third: %d of %d RPCs have their target", filepath.Base(path), have, all)
			}
		}
	}
}

// imports is what lctl prints on two nodes, with what a shell adds.
const imports = `+ lctl get_param '*.*.import'
mdc.scratch-MDT0000-mdc-ff11000006cef800.import=
import:
    name: scratch-MDT0000-mdc-ff11000006cef800
    target: scratch-MDT0000_UUID
    state: FULL
    connect_flags: [ write_grant, server_lock ]
    connect_data:
       flags: 0xae7a5e7be344d2b8
       instance: 1
    connection:
       failover_nids: [ "192.0.2.1@tcp" ]
       nids_stats:
          "192.0.2.1@tcp": { connects: 1, replied: 1, uptodate: uptodate, sec_ago: 5 }
       current_connection: "192.0.2.1@tcp"
mgc.MGCfd00:2::1@tcp.import=
import:
    name: MGC192.0.2.1@tcp
    target: MGS
    connection:
       failover_nids: [ "192.0.2.1@tcp" ]
       current_connection: 192.0.2.1@tcp
RC=0
[root@oss ~]# lctl get_param osc.*.import
osc.scratch-OST0000-osc-ff11000006cef800.import=
import:
    target: scratch-OST0000_UUID
    connection:
       failover_nids: [ "192.0.2.2@tcp", "192.0.2.9@tcp" ]
       current_connection: <none>
osc.scratch-OST0001-osc-ff11000006cef800.import=
import:
    target: scratch-OST0001_UUID
    connection:
       failover_nids: [ "192.0.2.9@tcp" ]
`

func readNames(t testing.TB, text string) *targets.Names {
	t.Helper()
	n := targets.NewNames()
	must.NoError(t, n.Read(strings.NewReader(text), "names.txt"))
	return n
}

func TestNodeNames(t *testing.T) {
	n := readNames(t, "# nodes\n192.0.2.1@tcp mds1 # the first\n192.0.2.1@tcp other\n  192.0.2.2\toss1 oss1.example.com\nfd00::1 oss2\n12345-192.0.2.8@tcp x\n192.0.2.7@tcp -\n")
	for nid, want := range map[string]string{
		"192.0.2.1@tcp": "mds1", "192.0.2.1@o2ib": "", "192.0.2.2@tcp": "oss1", "192.0.2.2@o2ib3": "oss1", "fd00::1@tcp": "oss2",
		"192.0.2.8@tcp": "", "192.0.2.7@tcp": "",
	} {
		x, ok := lnet.ParseNID(nid)
		got := n.Node(x)
		assert.That(t, ok && got == want, "%s is %q, want %q", nid, got, want)
	}
}

func TestNamesErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "names.txt: line 0: the file ends without an import, or a NID with a name",
		"root:x:0:0\n":                   "names.txt: line 1: the file ends without an import, or a NID with a name",
		"import:\n    target: scratch\n": `names.txt: line 2: target "scratch": must be a name such as lustre-OST0001_UUID, or MGS`,
		"import:\n  connection:\n     current_connection: \"oss1\"\n": `names.txt: line 3: "oss1": must be a NID such as 192.0.2.1@tcp`,
		"\n" + strings.Repeat("x", 1<<20+1):                           "names.txt: line 2: longer than 1048576 bytes",
	} {
		err := targets.NewNames().Read(strings.NewReader(text), "names.txt")
		wrong := (*targets.NamesError)(nil)
		assert.That(t, errors.As(err, &wrong) && err.Error() == want, "%.20q: %v, want %s", text, err, want)
	}
}

// newNamedWire is newWire with a list of imports.
func newNamedWire(t testing.TB, text string) *wire {
	w := newWire(t)
	w.evidence = targets.New(readNames(t, text))
	w.rpcs = track.NewPairing(track.Options{Sent: w.evidence.Sent, Answered: w.evidence.Answered})
	return w
}

// TestListedSystem takes the name of the file system from the list.
func TestListedSystem(t *testing.T) {
	w := newNamedWire(t, imports)
	w.call(lookup(handleMDT2, mds, meta2, 5, 2, 3))
	w.want(handleMDT2, mds, mdsPortal, "scratch-MDT0003", "names")
}

// TestOnlyTarget: the only target of its kind on a node is that of a connection to
// the node, until the capture shows that the list has not all of them.
func TestOnlyTarget(t *testing.T) {
	w := newNamedWire(t, imports)
	w.call(stat(handleOST, data, 99))
	w.want(handleOST, oss, ostPortal, "scratch-OST0000", "names")
	w.target(handleMDT, mds, mdsPortal)
	w.want(handleMDT, mds, mdsPortal, "scratch-MDT0000", "names")
	w.target(handleOST2, node(9), ostPortal)
	w.want(handleOST2, node(9), ostPortal, "", "") // there may be two
	w.call(stat(handleOST2+1, data, 98))           // another one on the first node
	w.call(stat(handleOST, data, 99))
	w.want(handleOST, oss, ostPortal, "", "")
	w.connect(opcodes.OST_CONNECT, oss, "scratch-OST0007", handleOST2+1)
	w.want(handleOST, oss, ostPortal, "", "")
}

// TestListOutOfDate: what messages prove counts more than the list.
func TestListOutOfDate(t *testing.T) {
	w := newNamedWire(t, imports)
	w.connect(opcodes.MDS_CONNECT, mds, "home-MDT0001", handleMDT)
	w.call(lookup(handleMDT2, mds, meta2, 5, 2, 3))
	w.want(handleMDT2, mds, mdsPortal, "home-MDT0003", "lock")
}

// TestListedTwoSystems: a node with targets of two file systems proves neither.
func TestListedTwoSystems(t *testing.T) {
	w := newNamedWire(t, imports+strings.ReplaceAll(imports, "scratch-MDT0000", "home-MDT0001"))
	w.call(lookup(handleMDT2, mds, meta2, 5, 2, 3))
	w.want(handleMDT2, mds, mdsPortal, "", "")
}

// readConfig passes the log of the clients of a file system, which another client reads:
// an MDT on a node of its own and with a failover partner, and two OSTs on one node. whole
// is whether its header is captured, which lists all records.
func (w *wire) readConfig(fsname string, whole bool) {
	device := func(name, target, node string, add uint32) func(index uint32) []byte {
		return func(index uint32) []byte {
			records := []func(uint32) []byte{
				wiretest.Config(wiretest.ConfigAddUUID, "", node, node),
				wiretest.Config(wiretest.ConfigAttach, fsname+"-"+target+"-"+name, name, "uuid"),
				wiretest.Config(wiretest.ConfigSetup, fsname+"-"+target+"-"+name, fsname+"-"+target+"_UUID", node),
				wiretest.Config(add, fsname+"-cli", fsname+"-"+target+"_UUID", "0", "1"),
			}
			if name == "mdc" {
				records = append(records, wiretest.Config(wiretest.ConfigAddUUID, "", "192.0.2.9@tcp", "192.0.2.9@tcp"),
					wiretest.Config(wiretest.ConfigAddConn, fsname+"-"+target+"-"+name, "192.0.2.9@tcp"))
			}
			return wiretest.ConfigSection(index, index, 0, records...)
		}
	}
	const last = 8 + 2*6
	block := wiretest.Join(device("mdc", "MDT0003", "192.0.2.1@tcp", wiretest.ConfigAddMDC)(1),
		device("osc", "OST0000", "192.0.2.2@tcp", wiretest.ConfigAddOSC)(9), device("osc", "OST0001", "192.0.2.2@tcp", wiretest.ConfigAddOSC)(15))
	read := func(opcode uint32, request, reply [][]byte) {
		w.call(call{opcode: opcode, from: node(4), to: node(8), portal: mgsPortal, handle: 0x777, request: request, reply: reply})
	}
	body := wiretest.LogBody(3)
	read(opcodes.LLOG_ORIGIN_HANDLE_CREATE, [][]byte{wiretest.LogBody(0), []byte(fsname + "-client\x00"), nil}, [][]byte{body})
	if whole {
		var indices []uint32
		for i := range uint32(last + 1) {
			indices = append(indices, i)
		}
		read(opcodes.LLOG_ORIGIN_HANDLE_READ_HEADER, [][]byte{body}, [][]byte{wiretest.LogHeader(1, indices...)})
	}
	read(opcodes.LLOG_ORIGIN_HANDLE_NEXT_BLOCK, [][]byte{body}, [][]byte{body, block})
}

// TestConfigLog: the log that a client reads names the file system of a server node, and a
// target that is the only one of its kind there.
func TestConfigLog(t *testing.T) {
	w := newWire(t)
	w.call(stat(handleOST, data, 99))
	w.target(handleMDT, mds, mdsPortal)
	w.readConfig("scratch", true)
	w.want(handleMDT, mds, mdsPortal, "scratch-MDT0003", "config")
	w.want(handleOST, oss, ostPortal, "", "") // there are two
	w.call(lookup(handleMDT2, node(9), meta2, 5, 2, 3))
	w.want(handleMDT2, node(9), mdsPortal, "scratch-MDT0003", "config") // the failover partner
	w.connect(opcodes.MDS_CONNECT, mds, "scratch-MDT0005", handleMDT+1)
	w.want(handleMDT+1, mds, mdsPortal, "scratch-MDT0005", "connect")
	w.want(handleMDT, mds, mdsPortal, "", "") // the log is out of date
}

// TestPartialConfigLog: a log that is not captured as a whole may lack targets.
func TestPartialConfigLog(t *testing.T) {
	w := newWire(t)
	w.target(handleMDT, mds, mdsPortal)
	w.readConfig("scratch", false)
	w.want(handleMDT, mds, mdsPortal, "", "")
}

// TestConfigLogOfAnother: connects of another file system on the node, or a list of imports
// with one, count more than the log, or make the name unknown.
func TestConfigLogOfAnother(t *testing.T) {
	w := newWire(t)
	w.connect(opcodes.MDS_CONNECT, mds, "home-MDT0001", handleMDT)
	w.call(lookup(handleMDT2, mds, meta2, 5, 2, 3))
	w.readConfig("scratch", true)
	w.want(handleMDT2, mds, mdsPortal, "home-MDT0003", "lock")
	w = newNamedWire(t, strings.ReplaceAll(imports, "scratch", "home"))
	w.call(lookup(handleMDT2, mds, meta2, 5, 2, 3))
	w.readConfig("scratch", true)
	w.want(handleMDT2, mds, mdsPortal, "", "")
}

func FuzzNames(f *testing.F) {
	f.Add([]byte(imports))
	f.Add([]byte("192.0.2.1@tcp mds1\nfd00::1 oss2\n"))
	f.Fuzz(func(_ *testing.T, text []byte) {
		n := targets.NewNames()
		if n.Read(strings.NewReader(string(text)), "f") == nil {
			n.Node(mds)
		}
	})
}

// TestGivenConnections: a list may have the target of a connection by its handle, and names
// the file system of others to the same node with it. What Imports knows can be written so.
func TestGivenConnections(t *testing.T) {
	list := []*track.Import{
		{Connection: &track.Connection{Handle: handleOST, TargetUUID: "scratch-OST0007_UUID"}},
		{Connection: &track.Connection{Handle: 1, TargetUUID: "a name\nwith a line"}},
		{Connection: &track.Connection{TargetUUID: "scratch-OST0001_UUID"}},
	}
	text := string(targets.AppendConnections(nil, list))
	assert.That(t, strings.HasSuffix(text, " scratch-OST0007_UUID\n") && strings.Count(text, "\n") == 1, "%q", text)
	w := newNamedWire(t, text)
	w.call(stat(handleOST, data, 99))
	w.want(handleOST, oss, ostPortal, "scratch-OST0007", "names")
	w.call(stat(handleOST2, data+1, 98))
	w.want(handleOST2, oss, ostPortal, "", "") // only one is given

	w = newWire(t)
	w.call(stat(handleOST, data, 99))
	w.want(handleOST, oss, ostPortal, "", "")
	w.evidence.SetNames(readNames(t, text))
	w.want(handleOST, oss, ostPortal, "scratch-OST0007", "names")
}
