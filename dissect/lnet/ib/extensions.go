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

// LayerType returns LayerTypeRDETH.
func (h *RDETH) LayerType() gopacket.LayerType { return LayerTypeRDETH }

// DecodeFromBytes decodes the header at the begin of data.
func (h *RDETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	b, err := cut(&h.BaseLayer, data, 4, df)
	if err != nil {
		return err
	}
	h.EEContext = uint24(b)
	return nil
}

// DETH is the extension header of a datagram.
type DETH struct {
	layers.BaseLayer
	QKey  uint32 // which the receiver compares with its own
	SrcQP uint32 // queue pair of the sender
}

// LayerType returns LayerTypeDETH.
func (h *DETH) LayerType() gopacket.LayerType { return LayerTypeDETH }

// DecodeFromBytes decodes the header at the begin of data.
func (h *DETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	b, err := cut(&h.BaseLayer, data, 8, df)
	if err != nil {
		return err
	}
	h.QKey, h.SrcQP = binary.BigEndian.Uint32(b), uint24(b[4:])
	return nil
}

// XRCETH is the extension header of the requests of an extended reliable
// connection.
type XRCETH struct {
	layers.BaseLayer
	SRQ uint32 // shared receive queue, of 24 bits
}

// LayerType returns LayerTypeXRCETH.
func (h *XRCETH) LayerType() gopacket.LayerType { return LayerTypeXRCETH }

// DecodeFromBytes decodes the header at the begin of data.
func (h *XRCETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	b, err := cut(&h.BaseLayer, data, 4, df)
	if err != nil {
		return err
	}
	h.SRQ = uint24(b)
	return nil
}

// FETH is the extension header of a FLUSH.
type FETH struct {
	layers.BaseLayer
	Placement   uint8 // where the data have to be: bit 0 visible to others, bit 1 persistent
	Selectivity uint8 // 0 the range of the RETH, 1 the whole region of memory
}

// LayerType returns LayerTypeFETH.
func (h *FETH) LayerType() gopacket.LayerType { return LayerTypeFETH }

// DecodeFromBytes decodes the header at the begin of data.
func (h *FETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	b, err := cut(&h.BaseLayer, data, 4, df)
	if err != nil {
		return err
	}
	h.Placement, h.Selectivity = b[3]&0xf, b[3]>>4&3
	return nil
}

// RETH is the extension header with the memory that an RDMA operation accesses.
type RETH struct {
	layers.BaseLayer
	VA     uint64 // virtual address
	RKey   uint32 // key of the memory, from its owner
	Length uint32 // bytes, of all packets of the message
}

// LayerType returns LayerTypeRETH.
func (h *RETH) LayerType() gopacket.LayerType { return LayerTypeRETH }

// DecodeFromBytes decodes the header at the begin of data.
func (h *RETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	b, err := cut(&h.BaseLayer, data, 16, df)
	if err != nil {
		return err
	}
	h.VA, h.RKey, h.Length = binary.BigEndian.Uint64(b), binary.BigEndian.Uint32(b[8:]), binary.BigEndian.Uint32(b[12:])
	return nil
}

// AtomicETH is the extension header of an atomic operation on eight bytes.
type AtomicETH struct {
	layers.BaseLayer
	VA      uint64 // virtual address
	RKey    uint32 // key of the memory, from its owner
	Swap    uint64 // new value, or what is added
	Compare uint64 // expected value
}

// LayerType returns LayerTypeAtomicETH.
func (h *AtomicETH) LayerType() gopacket.LayerType { return LayerTypeAtomicETH }

// DecodeFromBytes decodes the header at the begin of data.
func (h *AtomicETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	b, err := cut(&h.BaseLayer, data, 28, df)
	if err != nil {
		return err
	}
	h.VA, h.RKey = binary.BigEndian.Uint64(b), binary.BigEndian.Uint32(b[8:])
	h.Swap, h.Compare = binary.BigEndian.Uint64(b[12:]), binary.BigEndian.Uint64(b[20:])
	return nil
}

// AETH is the extension header of an acknowledgement.
type AETH struct {
	layers.BaseLayer
	Syndrome Syndrome
	MSN      uint32 // messages completed so far, of 24 bits
}

// LayerType returns LayerTypeAETH.
func (h *AETH) LayerType() gopacket.LayerType { return LayerTypeAETH }

// DecodeFromBytes decodes the header at the begin of data.
func (h *AETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	b, err := cut(&h.BaseLayer, data, 4, df)
	if err != nil {
		return err
	}
	h.Syndrome, h.MSN = Syndrome(b[0]), uint24(b)
	return nil
}

// AtomicAckETH is the extension header of the answer to an atomic operation.
type AtomicAckETH struct {
	layers.BaseLayer
	Original uint64 // value before the operation
}

// LayerType returns LayerTypeAtomicAckETH.
func (h *AtomicAckETH) LayerType() gopacket.LayerType { return LayerTypeAtomicAckETH }

// DecodeFromBytes decodes the header at the begin of data.
func (h *AtomicAckETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	b, err := cut(&h.BaseLayer, data, 8, df)
	if err != nil {
		return err
	}
	h.Original = binary.BigEndian.Uint64(b)
	return nil
}

// ImmDt is the extension header with four bytes for the receiving program.
type ImmDt struct {
	layers.BaseLayer
	Immediate uint32
}

// LayerType returns LayerTypeImmDt.
func (h *ImmDt) LayerType() gopacket.LayerType { return LayerTypeImmDt }

// DecodeFromBytes decodes the header at the begin of data.
func (h *ImmDt) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	b, err := cut(&h.BaseLayer, data, 4, df)
	if err != nil {
		return err
	}
	h.Immediate = binary.BigEndian.Uint32(b)
	return nil
}

// IETH is the extension header with the key that the receiver invalidates.
type IETH struct {
	layers.BaseLayer
	RKey uint32
}

// LayerType returns LayerTypeIETH.
func (h *IETH) LayerType() gopacket.LayerType { return LayerTypeIETH }

// DecodeFromBytes decodes the header at the begin of data.
func (h *IETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	b, err := cut(&h.BaseLayer, data, 4, df)
	if err != nil {
		return err
	}
	h.RKey = binary.BigEndian.Uint32(b)
	return nil
}
