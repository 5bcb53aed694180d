package ib

import (
	"encoding/binary"
	"errors"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

// Lengths in bytes.
const (
	BTHSize  = 12
	ICRCSize = 4 // of the checksum at the end of each packet
)

// QP1 is the number of the queue pair for management, to which the messages of
// the connection manager go.
const QP1 = 1

var errTooShort = errors.New("InfiniBand header is cut off")

// uint24 returns the lower 24 bits of four bytes.
func uint24(b []byte) uint32 { return binary.BigEndian.Uint32(b) & 0xffffff }

// BTH is a base transport header.
type BTH struct {
	layers.BaseLayer
	Opcode     Opcode
	Solicited  bool   // the receiver is to raise an event
	Migrated   bool   // the queue pair uses its current path, not an alternate one
	Pad        uint8  // bytes of padding behind the payload
	Version    uint8  // of the transport header, 0
	PKey       uint16 // partition
	FECN, BECN bool   // congestion, on the way here and on the way back
	DestQP     uint32 // queue pair of the receiver
	AckRequest bool
	PSN        uint32 // packet sequence number, of 24 bits
}

// DecodeFromBytes decodes the header at the begin of data.
func (h *BTH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	b, err := cut(&h.BaseLayer, data, BTHSize, df)
	if err != nil {
		return err
	}
	h.Opcode = Opcode(b[0])
	h.Solicited, h.Migrated = b[1]&0x80 != 0, b[1]&0x40 != 0
	h.Pad, h.Version = b[1]>>4&3, b[1]&0xf
	h.PKey = binary.BigEndian.Uint16(b[2:])
	h.FECN, h.BECN = b[4]&0x80 != 0, b[4]&0x40 != 0
	h.DestQP = uint24(b[4:])
	h.AckRequest = b[8]&0x80 != 0
	h.PSN = uint24(b[8:])
	return nil
}

// Transport is the BTH and the extension headers of a packet.
type Transport struct {
	layers.BaseLayer // Contents are these headers, Payload lacks padding and ICRC

	BTH        BTH
	Extensions Extensions // those that are set below: they follow by the opcode and are not cut off

	RDETH        RDETH
	DETH         DETH
	XRCETH       XRCETH
	FETH         FETH
	RETH         RETH
	AtomicETH    AtomicETH
	AETH         AETH
	AtomicAckETH AtomicAckETH
	ImmDt        ImmDt
	IETH         IETH
}

// NextLayerType returns LayerTypeMAD for datagrams to the queue pairs of the
// management. The headers do not determine what other packets carry.
func (t *Transport) NextLayerType() gopacket.LayerType {
	if t.BTH.Opcode.Service() == UD && t.BTH.DestQP <= QP1 {
		return LayerTypeMAD
	}
	return gopacket.LayerTypePayload
}

// DecodeFromBytes decodes the headers at the begin of data, which is taken for the
// whole packet, with padding and ICRC. If it ends inside the extension headers,
// those before its end are set, and there is no payload.
func (t *Transport) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := t.BTH.DecodeFromBytes(data, df); err != nil {
		return err
	}
	data = data[:max(BTHSize, len(data)-ICRCSize-int(t.BTH.Pad))]
	t.BTH.Payload = data[BTHSize:]
	n := t.decodeExtensions(data, df)
	t.Contents, t.Payload = data[:n], data[n:]
	return nil
}

// DecodeHeaders decodes the headers only, at the begin of data, and sets Contents
// to them. What follows may be the payload or a part of it. It reports whether all
// of the BTH is there.
func (t *Transport) DecodeHeaders(data []byte) bool {
	if t.BTH.DecodeFromBytes(data, gopacket.NilDecodeFeedback) != nil {
		return false
	}
	n := t.decodeExtensions(data, gopacket.NilDecodeFeedback)
	t.Contents, t.Payload = data[:n], nil
	return true
}

// decodeExtensions sets the extension headers, in their order in the packet, and
// returns the bytes of all headers.
func (t *Transport) decodeExtensions(data []byte, df gopacket.DecodeFeedback) int {
	n := BTHSize
	t.Extensions = t.BTH.Opcode.Extensions()
	for set := t.Extensions; set != 0; set &= set - 1 {
		lowest := set & -set
		size := lowest.Size()
		if len(data)-n < size {
			df.SetTruncated()
			t.Extensions &^= set // this one and those behind it
			return len(data)
		}
		t.decode(lowest, layers.BaseLayer{Contents: data[n : n+size], Payload: data[n+size:]})
		n += size
	}
	return n
}

// extension returns the field of one extension header.
func (t *Transport) extension(e Extensions) gopacket.Layer {
	switch e {
	case HasRDETH:
		return &t.RDETH
	case HasDETH:
		return &t.DETH
	case HasXRCETH:
		return &t.XRCETH
	case HasFETH:
		return &t.FETH
	case HasRETH:
		return &t.RETH
	case HasAtomicETH:
		return &t.AtomicETH
	case HasAETH:
		return &t.AETH
	case HasAtomicAckETH:
		return &t.AtomicAckETH
	case HasImmDt:
		return &t.ImmDt
	}
	return &t.IETH
}
