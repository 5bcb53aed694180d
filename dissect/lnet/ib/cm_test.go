package ib

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// madOf returns the MAD in a frame of RoCEv2.
func madOf(t testing.TB, frame []byte) []byte {
	t.Helper()
	const udpHeaders = 14 + 20 + 8 // Ethernet, IPv4 and UDP
	var tr Transport
	packet := frame[udpHeaders:]
	must.That(t, tr.DecodeHeaders(packet) && tr.BTH.Opcode.Service() == UD && tr.BTH.DestQP == QP1, "no datagram of the management: %+v", tr)
	return packet[len(tr.Contents) : len(packet)-int(tr.BTH.Pad)-ICRCSize]
}

func TestCM(t *testing.T) {
	req, rep, refusal := []byte("private data of the request"), []byte("private data of the reply"), []byte("why")
	q := wiretest.NewQueuePairs().Connect(req, rep).Disconnect(true).Reject(28, refusal)
	q.CM(true, wiretest.CMMra, []byte{0, 0, 0, 1, 0, 0, 0, 2, 1 << 6, 0})
	var got []string
	for i := range q.Frames {
		var c CM
		must.That(t, c.DecodeMAD(madOf(t, q.Frames[i].Data)), "frame %d is not decoded", i)
		got = append(got, fmt.Sprintf("%#x %x>%x", uint16(c.Type), c.LocalID, c.RemoteID))
		private := bytes.TrimRight(c.Payload, "\x00")
		switch c.Type {
		case CMReq:
			r := &c.Req
			if r.QP != q.A.Number || r.StartPSN != wiretest.ISNOfB || r.PathMTU != 1024 || !r.ServiceID.IsIP() || r.ServiceID.Port() != 987 {
				t.Errorf("%+v", r)
			}
			assert.That(t, c.IPVersion == 4 && bytes.Equal(private, req), "version %d, %q", c.IPVersion, private)
		case CMRep:
			assert.That(t, c.Rep == (CMReply{q.B.Number, wiretest.ISNOfA}) && bytes.Equal(private, rep), "%+v, %q", c.Rep, private)
		case CMDreq:
			assert.Equal(t, c.Remote, q.A.Number)
		case CMRej:
			assert.That(t, c.Reason == 28 && bytes.Equal(private, refusal), "%d, %q", c.Reason, private)
		}
	}
	assert.Equal(t, strings.Join(got, ", "), "0x10 a1a2a3a4>0, 0x13 b1b2b3b4>a1a2a3a4, 0x14 a1a2a3a4>b1b2b3b4, 0x15 b1b2b3b4>a1a2a3a4, "+
		"0x16 a1a2a3a4>b1b2b3b4, 0x12 0>a1a2a3a4, 0x11 1>2")
}

func TestCMIPVersion(t *testing.T) {
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
		var c CM
		if !c.DecodeMAD(mad(CMReq, tt.data)) || c.IPVersion != tt.version || string(c.Payload) != tt.private {
			t.Errorf("%s: version %d, %q", name, c.IPVersion, c.Payload)
		}
	}
}

// mad returns a MAD of the connection manager.
func mad(message CMType, data []byte) []byte {
	b := make([]byte, MADHeaderSize)
	b[1], b[17] = classCM, byte(message)
	return append(b, data...)
}

// TestCMCut decodes messages of which not all was captured, and others.
func TestCMCut(t *testing.T) {
	q := wiretest.NewQueuePairs().Connect([]byte("private"), nil)
	whole := madOf(t, q.Frames[0].Data)
	var c CM
	for n := range whole {
		assert.Equal(t, c.DecodeMAD(whole[:n]), n >= MADHeaderSize+140, n, "bytes")
	}
	data := whole[MADHeaderSize:]
	assert.That(t, !c.DecodeMAD(mad(0x0f, data)) && !c.DecodeMAD(mad(0x1b, data)), "other attributes")
	whole[1] = 3
	assert.That(t, !c.DecodeMAD(whole), "another class")
}

func TestCMAllocations(t *testing.T) {
	q := wiretest.NewQueuePairs().Connect([]byte("private"), nil)
	var list [][]byte
	for i := range q.Frames {
		list = append(list, madOf(t, q.Frames[i].Data))
	}
	var c CM
	wiretest.NoAllocations(t, 100, func() {
		for _, data := range list {
			c.DecodeMAD(data)
		}
	})
}

// FuzzCM decodes the payload of a datagram to queue pair 1.
func FuzzCM(f *testing.F) {
	q := wiretest.NewQueuePairs().Connect([]byte("private"), []byte("private")).Disconnect(false).Reject(28, []byte("private"))
	for i := range q.Frames {
		whole := madOf(f, q.Frames[i].Data)
		for attribute := range CMType(16) {
			f.Add(mad(CMReq+attribute, whole[MADHeaderSize:]))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var c CM
		if !c.DecodeMAD(data) {
			return
		}
		size := len(c.Contents) + len(c.Payload)
		if c.IPVersion != 0 {
			size += ipAddressesSize
		}
		if MADHeaderSize+size != len(data) {
			t.Fatalf("%d bytes of %d: %+v", size, len(data), c)
		}
		if c.Req.QP > 1<<24-1 || c.Req.StartPSN > 1<<24-1 || c.Rep.QP > 1<<24-1 || c.Rep.StartPSN > 1<<24-1 || c.Remote > 1<<24-1 {
			t.Fatalf("more than 24 bits: %+v", c)
		}
	})
}
