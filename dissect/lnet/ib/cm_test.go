package ib

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/gopacket"

	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// udpHeaders are the bytes of Ethernet, IPv4 and UDP before a packet of RoCEv2.
const udpHeaders = 14 + 20 + 8

// decodeCM decodes a frame of RoCEv2 that has a message of the connection manager.
func decodeCM(t testing.TB, frame []byte) (MAD, CM) {
	t.Helper()
	var tr Transport
	var m MAD
	var c CM
	must.NoError(t, tr.DecodeFromBytes(frame[udpHeaders:], gopacket.NilDecodeFeedback))
	if tr.NextLayerType() != LayerTypeMAD || !tr.Extensions.Has(HasDETH) || tr.DETH.QKey != 0x80010000 {
		t.Fatalf("no datagram of the management: %+v", tr)
	}
	must.NoError(t, m.DecodeFromBytes(tr.Payload, gopacket.NilDecodeFeedback))
	must.NoError(t, c.Decode(&m, gopacket.NilDecodeFeedback))
	return m, c
}

func TestCM(t *testing.T) {
	req, rep, refusal := []byte("private data of the request"), []byte("private data of the reply"), []byte("why")
	q := wiretest.NewQueuePairs().Connect(req, rep).Disconnect(true).Reject(28, refusal)
	q.CM(true, wiretest.CMMra, []byte{0, 0, 0, 1, 0, 0, 0, 2, 1 << 6, 0})
	var got []string
	for i := range q.Frames {
		m, c := decodeCM(t, q.Frames[i].Data)
		got = append(got, fmt.Sprintf("%d %s %x>%x", m.TransactionID, c.Type, c.LocalID, c.RemoteID))
		private := bytes.TrimRight(c.Payload, "\x00")
		switch c.Type {
		case CMReq:
			r := &c.Req
			if r.QP != q.A.Number || r.StartPSN != wiretest.ISNOfB || r.PathMTU != 1024 || r.Service != RC || r.PKey != 0xffff || r.RetryCount != 7 || r.RNRRetryCount != 7 ||
				r.CAGUID != 0x020000fffe000001 || !r.ServiceID.IsIP() || r.ServiceID.Protocol() != 6 || r.ServiceID.Port() != 987 {
				t.Errorf("%+v", r)
			}
			if p := r.Primary; p.LocalLID != 0xffff || p.RemoteLID != 0xffff || p.LocalGID != q.A.Addr.As16() || p.RemoteGID != q.B.Addr.As16() {
				t.Errorf("%+v", p)
			}
			if c.IP != (IPAddresses{4, 40000, q.A.Addr.As16(), q.B.Addr.As16()}) || !bytes.Equal(private, req) {
				t.Errorf("%+v, %q", c.IP, private)
			}
		case CMRep:
			if r := &c.Rep; r.QP != q.B.Number || r.StartPSN != wiretest.ISNOfA || r.CAGUID != 0x020000fffe000002 || r.RNRRetryCount != 7 || !bytes.Equal(private, rep) {
				t.Errorf("%+v, %q", r, private)
			}
		case CMDreq:
			if c.Remote != q.A.Number {
				t.Errorf("DREQ for queue pair %#x", c.Remote)
			}
		case CMRej:
			if c.Answered != CMReq || c.Reject.Reason != ConsumerReject || len(c.Reject.Info) != 0 || !bytes.Equal(private, refusal) {
				t.Errorf("%+v, %q", c, private)
			}
		case CMMra:
			if c.Answered != CMRep {
				t.Errorf("MRA of %s", c.Answered)
			}
		}
	}
	want := "1 REQ a1a2a3a4>0, 1 REP b1b2b3b4>a1a2a3a4, 1 RTU a1a2a3a4>b1b2b3b4, 2 DREQ b1b2b3b4>a1a2a3a4, 2 DREP a1a2a3a4>b1b2b3b4, 2 REJ 0>a1a2a3a4, 2 MRA 1>2"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("%s", text)
	}
}

func TestCMIPv6(t *testing.T) {
	q := wiretest.NewQueuePairs()
	data := q.Req([]byte("private"))
	q.A.Addr, q.B.Addr = netip.MustParseAddr("fd00::1"), netip.MustParseAddr("fd00::2")
	six := q.Req([]byte("private"))
	other := bytes.Clone(data)
	other[11] = 2 // a service id of another kind: no IP header
	for name, tt := range map[string]struct {
		data    []byte
		version uint8
		private string
	}{
		"IPv4":          {data, 4, "private"},
		"IPv6":          {six, 6, "private"},
		"other service": {other, 0, string(other[140:])},
		"cut header":    {data[:170], 0, string(data[140:170])},
	} {
		m := MAD{Class: ClassCM, Attribute: uint16(CMReq)}
		m.Payload = tt.data
		var c CM
		if err := c.Decode(&m, gopacket.NilDecodeFeedback); err != nil || c.IP.Version != tt.version || string(c.Payload) != tt.private {
			t.Errorf("%s: %+v, %q, %v", name, c.IP, c.Payload, err)
		}
	}
}

// TestCMCut decodes messages of which not all was captured.
func TestCMCut(t *testing.T) {
	q := wiretest.NewQueuePairs().Connect([]byte("private"), nil)
	m, _ := decodeCM(t, q.Frames[0].Data)
	whole := m.Payload
	for n := range whole {
		m.Payload = whole[:n]
		var c CM
		if err := c.Decode(&m, gopacket.NilDecodeFeedback); (err == nil) != (n >= 140) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	m.Payload = whole
	for _, other := range []MAD{{BaseLayer: m.BaseLayer, Class: 3, Attribute: uint16(CMReq)}, {BaseLayer: m.BaseLayer, Class: ClassCM, Attribute: 0x0f}, {BaseLayer: m.BaseLayer, Class: ClassCM, Attribute: 0x1b}} {
		var c CM
		if err := c.Decode(&other, gopacket.NilDecodeFeedback); err != errNotCM {
			t.Errorf("class %d, %s: %v", other.Class, c.Type, err)
		}
	}
}

func TestCMNames(t *testing.T) {
	for name, want := range map[fmt.Stringer]string{
		CMReq: "REQ", CMMra: "MRA", CMRej: "REJ", CMRep: "REP", CMRtu: "RTU", CMDreq: "DREQ", CMDrep: "DREP",
		CMSidrReq: "SIDR_REQ", CMSidrRep: "SIDR_REP", CMLap: "LAP", CMApr: "APR", CMType(1): "attribute 0x0001",
		CMReason(8): "invalid service id", CMReason(10): "stale connection", ConsumerReject: "rejected by the listening program",
		CMReason(34): "reason 34", CMReason(35): "vendor option not supported", CMReason(999): "reason 999",
		Syndrome(0x1f): "ACK", Syndrome(0x20): "receiver not ready", Syndrome(0x60): "PSN sequence error",
		Syndrome(0x62): "remote access error", Syndrome(0x7f): "NAK code 31", Syndrome(0x40): "syndrome 0x40",
		RC: "RC", XRC: "XRC", Service(7): "service 7",
	} {
		if name.String() != want {
			t.Errorf("%q, want %q", name, want)
		}
	}
}

func TestCMAllocations(t *testing.T) {
	q := wiretest.NewQueuePairs().Connect([]byte("private"), nil)
	var tr Transport
	var m MAD
	var c CM
	wiretest.NoAllocations(t, 100, func() {
		for i := range q.Frames {
			if tr.DecodeFromBytes(q.Frames[i].Data[udpHeaders:], gopacket.NilDecodeFeedback) != nil ||
				m.DecodeFromBytes(tr.Payload, gopacket.NilDecodeFeedback) != nil || c.Decode(&m, gopacket.NilDecodeFeedback) != nil {
				t.Fatal("not decoded")
			}
		}
	})
}
