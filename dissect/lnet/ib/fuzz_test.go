package ib

import (
	"bytes"
	"testing"

	"github.com/google/gopacket"

	"github.com/lshark/lshark/internal/wiretest"
)

// FuzzTransport decodes a packet from its BTH on.
func FuzzTransport(f *testing.F) {
	for o := range 256 {
		headers := wiretest.Join(wiretest.BTH(byte(o), 5, 6, true), counted(Opcode(o).Extensions().Size()))
		f.Add(wiretest.InfiniBand(headers, []byte("payload")))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var d Transport
		whole := d.DecodeFromBytes(data, gopacket.NilDecodeFeedback) == nil
		if whole != (len(data) >= BTHSize) {
			t.Fatalf("%d bytes decoded: %v", len(data), whole)
		}
		if !whole {
			return
		}
		if n := len(d.Contents); n < BTHSize || n+len(d.Payload) > len(data) || n < BTHSize+d.Extensions.Size() {
			t.Fatalf("headers %d bytes, payload %d bytes of %d, extension headers %#x", n, len(d.Payload), len(data), d.Extensions)
		}
		headers, opcode := bytes.Clone(d.Contents), d.BTH.Opcode
		if !d.DecodeHeaders(data) || !bytes.HasPrefix(d.Contents, headers) || d.BTH.Opcode != opcode {
			t.Fatalf("%s: headers %x, alone %x", opcode, headers, d.Contents)
		}
	})
}

// FuzzCM decodes the payload of a datagram to queue pair 1.
func FuzzCM(f *testing.F) {
	q := wiretest.NewQueuePairs().Connect([]byte("private"), []byte("private")).Disconnect(false).Reject(28, []byte("private"))
	for i := range q.Frames {
		mad := q.Frames[i].Data[udpHeaders+BTHSize+HasDETH.Size():]
		for attribute := range uint8(16) {
			mad = bytes.Clone(mad)
			mad[17] = 0x10 + attribute
			f.Add(mad[:MADHeaderSize+cmDataSize])
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var m MAD
		var c CM
		if m.DecodeFromBytes(data, gopacket.NilDecodeFeedback) != nil || c.Decode(&m, gopacket.NilDecodeFeedback) != nil {
			return
		}
		size := len(c.Contents) + len(c.Payload)
		if c.IP.Version != 0 {
			size += ipAddressesSize
		}
		if MADHeaderSize+size != len(data) || len(c.Reject.Info) > 72 || c.Type.String() == "" || c.Reject.Reason.String() == "" {
			t.Fatalf("%d bytes of %d: %+v", size, len(data), c)
		}
		if c.Req.QP > 1<<24-1 || c.Req.StartPSN > 1<<24-1 || c.Rep.QP > 1<<24-1 || c.Rep.StartPSN > 1<<24-1 || c.Remote > 1<<24-1 {
			t.Fatalf("more than 24 bits: %+v", c)
		}
	})
}

// cmDataSize is the length of the data of a message of the connection manager.
const cmDataSize = 232
