package ib

import (
	"encoding/binary"
	"math/bits"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

// Extensions is a set of extension headers.
type Extensions uint16

// The extension headers, in their order in a packet.
const (
	HasRDETH Extensions = 1 << iota
	HasDETH
	HasXRCETH
	HasFETH
	HasRETH
	HasAtomicETH
	HasAETH
	HasAtomicAckETH
	HasImmDt
	HasIETH
)

// extensionSizes are in the order of the constants.
var extensionSizes = [...]uint8{4, 8, 4, 4, 16, 28, 4, 8, 4, 4}

// Has reports whether all extension headers of other are in the set.
func (e Extensions) Has(other Extensions) bool { return e&other == other }

// Size returns the length of the headers together, in bytes.
func (e Extensions) Size() int {
	n := 0
	for ; e != 0; e &= e - 1 {
		n += int(extensionSizes[bits.TrailingZeros16(uint16(e))])
	}
	return n
}

// cut splits data behind a header of n bytes, or returns an error if that is cut
// off.
func cut(base *layers.BaseLayer, data []byte, n int, df gopacket.DecodeFeedback) ([]byte, error) {
	if len(data) < n {
		df.SetTruncated()
		return nil, errTooShort
	}
	base.Contents, base.Payload = data[:n], data[n:]
	return base.Contents, nil
}

// RDETH is the extension header of a reliable datagram.
type RDETH struct {
	layers.BaseLayer
	EEContext uint32 // end-to-end context, of 24 bits
}

// DETH is the extension header of a datagram.
type DETH struct {
	layers.BaseLayer
	QKey  uint32 // which the receiver compares with its own
	SrcQP uint32 // queue pair of the sender
}

// XRCETH is the extension header of the requests of an extended reliable
// connection.
type XRCETH struct {
	layers.BaseLayer
	SRQ uint32 // shared receive queue, of 24 bits
}

// FETH is the extension header of a FLUSH.
type FETH struct {
	layers.BaseLayer
	Placement   uint8 // where the data have to be: bit 0 visible to others, bit 1 persistent
	Selectivity uint8 // 0 the range of the RETH, 1 the whole region of memory
}

// RETH is the extension header with the memory that an RDMA operation accesses.
type RETH struct {
	layers.BaseLayer
	VA     uint64 // virtual address
	RKey   uint32 // key of the memory, from its owner
	Length uint32 // bytes, of all packets of the message
}

// AtomicETH is the extension header of an atomic operation on eight bytes.
type AtomicETH struct {
	layers.BaseLayer
	VA      uint64 // virtual address
	RKey    uint32 // key of the memory, from its owner
	Swap    uint64 // new value, or what is added
	Compare uint64 // expected value
}

// AETH is the extension header of an acknowledgement.
type AETH struct {
	layers.BaseLayer
	Syndrome Syndrome
	MSN      uint32 // messages completed so far, of 24 bits
}

// AtomicAckETH is the extension header of the answer to an atomic operation.
type AtomicAckETH struct {
	layers.BaseLayer
	Original uint64 // value before the operation
}

// ImmDt is the extension header with four bytes for the receiving program.
type ImmDt struct {
	layers.BaseLayer
	Immediate uint32
}

// IETH is the extension header with the key that the receiver invalidates.
type IETH struct {
	layers.BaseLayer
	RKey uint32
}

// The types of the layers. Transport decodes them, as only it knows which there are.
func (h *RDETH) LayerType() gopacket.LayerType        { return LayerTypeRDETH }
func (h *DETH) LayerType() gopacket.LayerType         { return LayerTypeDETH }
func (h *XRCETH) LayerType() gopacket.LayerType       { return LayerTypeXRCETH }
func (h *FETH) LayerType() gopacket.LayerType         { return LayerTypeFETH }
func (h *RETH) LayerType() gopacket.LayerType         { return LayerTypeRETH }
func (h *AtomicETH) LayerType() gopacket.LayerType    { return LayerTypeAtomicETH }
func (h *AETH) LayerType() gopacket.LayerType         { return LayerTypeAETH }
func (h *AtomicAckETH) LayerType() gopacket.LayerType { return LayerTypeAtomicAckETH }
func (h *ImmDt) LayerType() gopacket.LayerType        { return LayerTypeImmDt }
func (h *IETH) LayerType() gopacket.LayerType         { return LayerTypeIETH }

// decode sets an extension header, whose bytes are the contents of base.
func (t *Transport) decode(e Extensions, base layers.BaseLayer) {
	b, be := base.Contents, binary.BigEndian
	switch e {
	case HasRDETH:
		t.RDETH = RDETH{base, uint24(b)}
	case HasDETH:
		t.DETH = DETH{base, be.Uint32(b), uint24(b[4:])}
	case HasXRCETH:
		t.XRCETH = XRCETH{base, uint24(b)}
	case HasFETH:
		t.FETH = FETH{base, b[3] & 0xf, b[3] >> 4 & 3}
	case HasRETH:
		t.RETH = RETH{base, be.Uint64(b), be.Uint32(b[8:]), be.Uint32(b[12:])}
	case HasAtomicETH:
		t.AtomicETH = AtomicETH{base, be.Uint64(b), be.Uint32(b[8:]), be.Uint64(b[12:]), be.Uint64(b[20:])}
	case HasAETH:
		t.AETH = AETH{base, Syndrome(b[0]), uint24(b)}
	case HasAtomicAckETH:
		t.AtomicAckETH = AtomicAckETH{base, be.Uint64(b)}
	case HasImmDt:
		t.ImmDt = ImmDt{base, be.Uint32(b)}
	case HasIETH:
		t.IETH = IETH{base, be.Uint32(b)}
	}
}
