// Package messages makes messages as a dissector would, for tests of what follows RPCs.
package messages

import (
	"net/netip"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// Change fills in a message.
type Change = func(m *dissect.Message)

// NID returns 192.0.2.last@tcp.
func NID(last byte) lnet.NID { return lnet.NID{Addr: [16]byte{192, 0, 2, last}, Len: 4, Type: 2} }

// Addr returns the address of a node, with the port of LNet.
func Addr(n lnet.NID) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte(n.Addr[:4])), 988)
}

// New returns a request or reply with an empty ptlrpc_body, which changes fill in.
func New(kind lnet.Kind, src, dst lnet.NID, xid uint64, opcode uint32, changes ...Change) *dissect.Message {
	m := &dissect.Message{Message: lnet.Message{Kind: kind, Src: Addr(src), Dst: Addr(dst)}}
	m.LNet.Src, m.LNet.Dst, m.LNet.MatchBits = src, dst, xid
	m.RPC.XID, m.RPC.HasXID, m.RPC.Opcode, m.RPC.HasOpcode, m.RPC.Type = xid, true, opcode, true, dissect.TypeRequest
	if kind == lnet.Reply {
		m.RPC.Type = dissect.TypeReply
	}
	m.Msg = &schema.Msg{Opcode: opcode, Reply: kind == lnet.Reply, Bufs: [][]byte{make([]byte, opcodes.PtlrpcBody.Size)}}
	for _, c := range changes {
		c(m)
	}
	return m
}

// Changes of the fields of the ptlrpc_body.

func Status(s int32) Change     { return func(m *dissect.Message) { m.RPC.Status = s } }
func Flags(f uint32) Change     { return func(m *dissect.Message) { m.RPC.Flags = f } }
func OpFlags(f uint32) Change   { return func(m *dissect.Message) { m.RPC.OpFlags = f } }
func Handle(h uint64) Change    { return func(m *dissect.Message) { m.RPC.Handle = h } }
func ConnCnt(n uint32) Change   { return func(m *dissect.Message) { m.RPC.ConnCnt = n } }
func Transno(n uint64) Change   { return func(m *dissect.Message) { m.RPC.Transno = n } }
func Committed(n uint64) Change { return func(m *dissect.Message) { m.RPC.LastCommitted = n } }
