package ib

import (
	"encoding/binary"
	"fmt"
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

// decode sets an extension header, whose bytes are the contents of base: only the opcode in the
// BTH shows which of them there are.
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

// Syndrome is the kind of an acknowledgement, with a value in the lower five
// bits.
type Syndrome uint8

// NAK is why a packet was not accepted.
type NAK uint8

// The reasons of a NAK.
const (
	SequenceError NAK = iota // packets before this one are missing
	InvalidRequest
	RemoteAccessError // of memory that is not open to the sender
	RemoteOperationalError
	InvalidRDRequest
)

var nakNames = [...]string{"PSN sequence error", "invalid request", "remote access error", "remote operational error", "invalid RD request"}

// String returns the reason in words.
func (n NAK) String() string {
	if int(n) < len(nakNames) {
		return nakNames[n]
	}
	return fmt.Sprintf("NAK code %d", uint8(n))
}

// Kinds of a syndrome, in bits 5 and 6. Bit 7 is reserved.
const (
	syndromeACK = iota
	syndromeRNR
	_
	syndromeNAK
)

func (s Syndrome) kind() uint8 { return uint8(s) >> 5 & 3 }

// ACK reports whether the packet, and all before it, were received.
func (s Syndrome) ACK() bool { return s.kind() == syndromeACK }

// RNR reports whether the receiver was not ready, and the packet is to be sent
// again after a while.
func (s Syndrome) RNR() bool { return s.kind() == syndromeRNR }

// NAK returns why the packet was not accepted, and whether that is so.
func (s Syndrome) NAK() (NAK, bool) { return NAK(s & 0x1f), s.kind() == syndromeNAK }

// String returns the syndrome in words.
func (s Syndrome) String() string {
	switch s.kind() {
	case syndromeACK:
		return "ACK"
	case syndromeRNR:
		return "receiver not ready"
	case syndromeNAK:
		return NAK(s & 0x1f).String()
	}
	return fmt.Sprintf("syndrome 0x%02x", uint8(s))
}
