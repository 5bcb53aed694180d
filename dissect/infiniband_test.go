package dissect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/lnet/ib"
	"github.com/lshark/lshark/dissect/lnet/link"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// TestInfiniBandHeaders compares the tables of opcodes with those of package ib: which opcodes there
// are, and the headers of their packets.
func TestInfiniBandHeaders(t *testing.T) {
	headers := []struct {
		bit  ib.Extensions
		name string
	}{{ib.HasDETH, "deth"}, {ib.HasRETH, "reth"}, {ib.HasAETH, "aeth"}, {ib.HasImmDt, "immdt"}, {ib.HasIETH, "ieth"}}
	for n := range 256 {
		op := ib.Opcode(n)
		name := opcodes.IBOpcode.Name(uint64(n))
		if op.Operation() == ib.UnknownOperation { // also of services that Lustre does not use
			continue
		}
		assert.That(t, name != "", "opcode 0x%02x has no name", n)
		packet := make([]byte, 64)
		packet[0] = byte(n)
		v := &schema.View{Struct: packet, Rest: packet, Big: true}
		for _, h := range headers {
			assert.Equal(t, opcodes.IBPacket.Field(h.name).If(v), op.Extensions()&h.bit != 0, name, h.name)
		}
	}
}

// TestConnectionManager compares what the tables of opcodes and package ib read in the messages
// of the connection manager.
func TestConnectionManager(t *testing.T) {
	compared := map[ib.CMType]int{}
	tree := Tree{Remarks: true}
	wiretest.Play(New(Options{Handle: func(m *Message) {
		var cm ib.CM
		const bthAndDETH = 20
		if m.IB == nil || len(m.IB.Headers) <= bthAndDETH || !cm.DecodeMAD(m.IB.Headers[bthAndDETH:]) {
			return
		}
		compared[cm.Type]++
		tree.Build(m)
		got := tree.names()
		same := func(name string, want any) {
			assert.Equal(t, got["ib."+name], fmt.Sprint(want), name, "package ib reads")
		}
		switch q, p := &cm.Req, &cm.Rep; cm.Type {
		case ib.CMReq:
			same("mad.mad_attr_id", "REQ")
			same("cm_req.cm_service_id", uint64(q.ServiceID))
			same("cm_req.cm_local_qpn", q.QP)
			same("cm_req.cm_starting_psn", q.StartPSN)
			same("cm_req.cm_path_mtu", fmt.Sprintf("%d(MTU %d, RNR retry count %d)", 0x36, q.PathMTU, 6))
		case ib.CMRep:
			same("mad.mad_attr_id", "REP")
			same("cm_rep.cm_remote_id", cm.RemoteID)
			same("cm_rep.cm_local_qpn", p.QP)
			same("cm_rep.cm_starting_psn", p.StartPSN)
		}
	}}), wiretest.ReadSample(t, wiretest.Repo("pcaps/rdma_mount.pcap")))
	assert.That(t, compared[ib.CMReq] >= 2 && compared[ib.CMRep] >= 2, "compared %v", compared)
}

// names lists the nodes of a tree with their values, by their paths. Remarks are in
// brackets.
func (t *Tree) names() map[string]string {
	list, path := make(map[string]string), []string{}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		path = append(path[:n.Depth], n.Name())
		key := strings.Join(path, ".")
		switch {
		case n.Is(Remark):
			list[key] += fmt.Sprintf("(%s)", t.Bytes(n))
		case n.Is(Missing):
			list[key] = "missing, " + lnet.Why(n.Val).String()
		case n.Field.Names != nil && n.Field.Names.Name(n.Val) != "":
			list[key] = n.Field.Names.Name(n.Val)
		default:
			list[key] = fmt.Sprint(n.Val)
		}
	}
	return list
}

// ibFrame returns a frame with a number, which is also its time in microseconds.
func ibFrame(n int64) link.Frame { return link.Frame{Order: n, Number: n, Time: 1e18 + n*1e3} }

// TestInfiniBandTree builds the trees of messages of o2iblnd.
func TestInfiniBandTree(t *testing.T) {
	const key, address, cookie = 0x1234, 0xffff0000, 7
	piece := wiretest.Fragment{Address: address, Size: 2000}
	send := wiretest.BTH(wiretest.RCSendOnly, 0x22, 100, true)
	for _, big := range []bool{false, true} {
		w := wiretest.O2iblnd{Big: big}
		write := wiretest.Join(wiretest.BTH(wiretest.RCWriteFirst, 0x22, 98, false), wiretest.RETH(address, key, 2000))
		writes := lnet.IBWrites{Packets: 2, Bytes: 2000, First: ibFrame(3), Last: ibFrame(4), VA: address, RKey: key, Headers: write}
		part := func(frame int64, back bool, data []byte) lnet.IBPart {
			return lnet.IBPart{Frame: ibFrame(frame), Back: back, Data: data}
		}
		getReq := w.GetReq(false, 8, 5, cookie, key, piece)
		cut := part(2, true, w.PutAck(true, cookie, 9, key, piece)[:60])
		immediate := w.Immediate(false, wiretest.Put, 6, 5, 0, make([]byte, 100))
		putReq := w.PutReq(false, wiretest.Put, 8, 5, 0, 2000, cookie)
		connrej := w.Refusal(5)
		for _, c := range []struct {
			name string
			m    lnet.Message
			want map[string]string
		}{
			{"immediate", lnet.Message{Kind: lnet.Request, Data: immediate, Size: len(immediate), LNetOff: 48, PayloadOff: 120,
				IB: &lnet.IB{Headers: send, Parts: []lnet.IBPart{part(1, false, immediate)}}},
				map[string]string{"ib.bth.bth_opcode": "RC_SEND_ONLY", "ib.bth.bth_destqp": "34", "ib.bth.bth_psn": "100", "ib.bth.bth_ack": "128",
					"o2iblnd.ibm_type": "IMMEDIATE", "o2iblnd.ibm_nob": "220", "lnet.type": "PUT", "o2iblnd.putreq": "", "ib.rdma_write": "", "o2iblnd": "0"}},
			{"transfer", lnet.Message{Kind: lnet.Bulk, Data: putReq[:120], Size: 2120, LNetOff: 48, PayloadOff: 120, Tail: lnet.Skipped,
				IB: &lnet.IB{Headers: send, Writes: writes, Parts: []lnet.IBPart{part(1, false, putReq), part(2, true, w.PutAck(true, cookie, 9, key, piece)), part(5, false, w.Done(false, wiretest.O2PutDone, 9, 2000))}}},
				map[string]string{"o2iblnd.ibm_type": "PUT_REQ", "o2iblnd.putreq.ibprm_cookie": "7", "o2iblnd.put_ack.ibm_type": "PUT_ACK",
					"o2iblnd.put_ack.putack.ibpam_dst_cookie": "9", "o2iblnd.put_ack.putack.ibpam_rd.rd_frags..rf_nob": "2000", "o2iblnd.put_done.completion.ibcm_status": "2000",
					"o2iblnd.put_done": "0(frame 5)", "o2iblnd": "0(frame 1)", "ib.rdma_write.reth.reth_va": fmt.Sprint(address), "ib.rdma_write.bth.bth_opcode": "RC_RDMA_WRITE_FIRST",
					"ib.rdma_write": "0(2 packets, 2000 bytes, frame 3 to 4 in 1 us)", "lnet.type": "PUT", "ib": "0"}},
			{"cut", lnet.Message{Kind: lnet.Bulk, Data: putReq[:120], Size: 2120, LNetOff: 48, PayloadOff: 120, Tail: lnet.Skipped,
				IB: &lnet.IB{Headers: send, Parts: []lnet.IBPart{part(1, false, putReq), cut}}},
				map[string]string{"o2iblnd.put_ack.putack.ibpam_src_cookie": "7", "o2iblnd.put_ack.putack.ibpam_dst_cookie": "missing, cut by the snaplen"}},
			{"reply", lnet.Message{Kind: lnet.GetReply, LNet: lnet.Header{Type: lnet.TypeReply, Length: 2000}, Data: nil, Size: 2000, LNetOff: -1, Tail: lnet.Skipped,
				IB: &lnet.IB{Headers: send, Writes: writes, Parts: []lnet.IBPart{part(1, true, getReq), part(5, false, w.Done(false, wiretest.O2GetDone, cookie, 0))}}},
				map[string]string{"o2iblnd.ibm_type": "GET_REQ", "o2iblnd.get.ibgm_rd.rd_key": fmt.Sprint(key), "o2iblnd.get_done.ibm_type": "GET_DONE", "lnet": "0(not sent: follows from the GET)",
					"lnet.type": "REPLY", "lnet.payload_length": "2000", "lnet.src_pid": "12345(Lustre)", "lnet.src_nid": fmt.Sprint(uint64(5<<48 | 0x0a000002)), "lnet.dest_nid": fmt.Sprint(uint64(5<<48 | 0x0a000001))}},
			{"get", lnet.Message{Kind: lnet.Get, Data: getReq, Size: len(getReq), LNetOff: 48, PayloadOff: 120, IB: &lnet.IB{Headers: send, Parts: []lnet.IBPart{part(1, false, getReq)}}},
				map[string]string{"o2iblnd.ibm_type": "GET_REQ", "o2iblnd.get.ibgm_cookie": "7", "lnet.type": "GET", "lnet.sink_length": "2000", "o2iblnd": "0"}},
			{"refusal", lnet.Message{Kind: lnet.Connrej, Data: connrej, Size: len(connrej), LNetOff: -1, IB: &lnet.IB{Reject: 28, Headers: wiretest.Join(wiretest.BTH(wiretest.UDSendOnly, 1, 5, false), wiretest.DETH(0x80010000, 1))}},
				map[string]string{"o2iblnd.ibr_why": "CONN_STALE(stale incarnation: the node that refuses has restarted)", "ib.deth.deth_srcqp": "1", "o2iblnd.ibr_cp.ibcp_queue_depth": "8"}},
		} {
			c.m.Transport, c.m.Swapped = lnet.O2IB, big
			tree := Tree{Remarks: true}
			tree.Build(&Message{Message: c.m})
			nodes := tree.names()
			for path, want := range c.want {
				assert.Equal(t, nodes[path], want, c.name, "big-endian", big, path)
			}
			if t.Failed() {
				t.Log(nodes)
			}
		}
	}
}

// TestCloneOfInfiniBand: a clone keeps the parts of a transfer, and does not share them.
func TestCloneOfInfiniBand(t *testing.T) {
	m := &Message{Message: lnet.Message{IB: &lnet.IB{Headers: []byte{1}, Parts: []lnet.IBPart{{Data: []byte{2}}}, Writes: lnet.IBWrites{Headers: []byte{3}}}}}
	c := m.Clone()
	m.IB.Headers[0], m.IB.Parts[0].Data[0], m.IB.Writes.Headers[0] = 0, 0, 0
	m.IB.Parts = m.IB.Parts[:0]
	x := c.IB
	assert.That(t, x.Headers[0] == 1 && len(x.Parts) == 1 && x.Parts[0].Data[0] == 2 && x.Writes.Headers[0] == 3, "%+v", x)
}
