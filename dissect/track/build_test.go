package track

import (
	"encoding/binary"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/internal/wiretest/messages"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// wire makes messages as a dissector would, and keeps the RPCs that end.
type wire struct {
	t     testing.TB
	rpcs  *Pairing
	now   int64
	frame int64
	done  []*RPC
}

const ms = int64(1e6)

var (
	client  = nid(3)
	client2 = nid(4)
	server  = nid(1)
)

var nid, addr = messages.NID, messages.Addr

func newWire(t testing.TB, o Options) *wire {
	w := &wire{t: t, now: 1e18}
	done := o.Done
	o.Done = func(r *RPC) {
		w.done = append(w.done, r.Clone())
		if done != nil {
			done(r)
		}
	}
	w.rpcs = NewPairing(o)
	return w
}

// pass lets time pass.
func (w *wire) pass(ns int64) { w.now += ns }

// send gives a message to the Pairing.
func (w *wire) send(kind lnet.Kind, src, dst lnet.NID, change ...func(m *dissect.Message)) *RPC {
	w.frame++
	m := &dissect.Message{Message: lnet.Message{Frame: w.frame, Time: w.now, Kind: kind}}
	m.Src, m.Dst = addr(src), addr(dst)
	m.LNet.Src, m.LNet.Dst = src, dst
	for _, c := range change {
		c(m)
	}
	if m.LNet.MatchBits == 0 {
		m.LNet.MatchBits = m.RPC.XID
	}
	return w.rpcs.Message(m)
}

func (w *wire) request(xid uint64, opc uint32, change ...func(m *dissect.Message)) *RPC {
	return w.send(lnet.Request, client, server, append([]func(*dissect.Message){rpc(xid, opc), func(m *dissect.Message) {
		m.RPC.Type, m.RPC.Bytes = dissect.TypeRequest, 100
	}}, change...)...)
}

func (w *wire) reply(xid uint64, opc uint32, change ...func(m *dissect.Message)) *RPC {
	return w.send(lnet.Reply, server, client, append([]func(*dissect.Message){rpc(xid, opc), func(m *dissect.Message) {
		m.RPC.Type, m.RPC.Bytes = dissect.TypeReply, 50
		m.Msg = &schema.Msg{Bufs: [][]byte{make([]byte, opcodes.PtlrpcBody.Size)}}
	}}, change...)...)
}

// end closes the capture and returns all RPCs.
func (w *wire) end() []*RPC {
	w.rpcs.Close()
	return w.done
}

// one closes the capture, in which there was a single RPC.
func (w *wire) one() *RPC {
	w.t.Helper()
	if w.end(); len(w.done) != 1 {
		w.t.Fatalf("%d RPCs, want 1", len(w.done))
	}
	return w.done[0]
}

func rpc(xid uint64, opc uint32) func(m *dissect.Message) {
	return func(m *dissect.Message) {
		m.RPC.XID, m.RPC.HasXID, m.RPC.Opcode, m.RPC.HasOpcode = xid, true, opc, true
	}
}

var flags, opFlags, handle, connCnt, transno, status = messages.Flags, messages.OpFlags, messages.Handle, messages.ConnCnt, messages.Transno, messages.Status

func source(s int) func(m *dissect.Message) { return func(m *dissect.Message) { m.Source = s } }
func size(n int) func(m *dissect.Message)   { return func(m *dissect.Message) { m.RPC.Bytes = n } }
func matchBits(b uint64) func(m *dissect.Message) {
	return func(m *dissect.Message) { m.LNet.MatchBits = b }
}
func job(s string) func(m *dissect.Message) {
	return func(m *dissect.Message) { m.RPC.JobID = []byte(s) }
}

func user(uid uint32) func(m *dissect.Message) {
	return func(m *dissect.Message) { m.RPC.UID, m.RPC.HasUser = uid, true }
}

func nodes(src, dst lnet.NID) func(m *dissect.Message) {
	return func(m *dissect.Message) {
		m.LNet.Src, m.LNet.Dst, m.Src, m.Dst = src, dst, addr(src), addr(dst)
	}
}

// leg is the part of the way between two routers' addresses.
func leg(src, dst lnet.NID) func(m *dissect.Message) {
	return func(m *dissect.Message) { m.Src, m.Dst = addr(src), addr(dst) }
}

// connectTo fills in a connect request.
func connectTo(target, uuid string, cookie uint64) func(m *dissect.Message) {
	return func(m *dissect.Message) {
		data := wiretest.ConnectData(flagVersion|flagMDS, 0x02110000)
		m.Msg = &schema.Msg{Bufs: [][]byte{nil, []byte(target + "\x00"), []byte(uuid + "\x00"),
			binary.LittleEndian.AppendUint64(nil, cookie), data}}
	}
}
