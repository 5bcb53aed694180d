package ib

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Lengths in bytes.
const (
	BTHSize  = 12
	ICRCSize = 4 // of the checksum at the end of each packet
)

// QP1 is the number of the queue pair for management, to which the messages of
// the connection manager go.
const QP1 = 1

// uint24 returns the lower 24 bits of four bytes.
func uint24(b []byte) uint32 { return binary.BigEndian.Uint32(b) & 0xffffff }

// BTH is a base transport header.
type BTH struct {
	Opcode     Opcode
	Pad        uint8  // bytes of padding behind the payload
	Version    uint8  // of the transport header, 0
	DestQP     uint32 // queue pair of the receiver
	AckRequest bool
	PSN        uint32 // packet sequence number, of 24 bits
}

// RETH is the extension header with the memory that an RDMA operation accesses.
type RETH struct {
	VA     uint64 // virtual address
	RKey   uint32 // key of the memory, from its owner
	Length uint32 // bytes, of all packets of the message
}

// Transport is the BTH and the extension headers of a packet.
type Transport struct {
	BTH        BTH
	Extensions Extensions // those that follow by the opcode and are not cut off

	RETH     RETH
	Syndrome Syndrome // of an AETH, the extension header of an acknowledgement

	Contents []byte // these headers
}

// DecodeHeaders decodes the headers at the begin of data. What follows may be the payload or a part
// of it. It reports whether all of the BTH is there.
func (t *Transport) DecodeHeaders(data []byte) bool {
	if len(data) < BTHSize {
		return false
	}
	t.BTH = BTH{Opcode: Opcode(data[0]), Pad: data[1] >> 4 & 3, Version: data[1] & 0xf, DestQP: uint24(data[4:]),
		AckRequest: data[8]&0x80 != 0, PSN: uint24(data[8:])}
	n := BTHSize
	t.Extensions = t.BTH.Opcode.Extensions()
	for set := t.Extensions; set != 0; set &= set - 1 {
		lowest := set & -set
		size := lowest.Size()
		if len(data)-n < size {
			t.Extensions &^= set // this one and those behind it
			n = len(data)
			break
		}
		switch b := data[n:]; lowest {
		case HasRETH:
			t.RETH = RETH{binary.BigEndian.Uint64(b), binary.BigEndian.Uint32(b[8:]), binary.BigEndian.Uint32(b[12:])}
		case HasAETH:
			t.Syndrome = Syndrome(b[0])
		}
		n += size
	}
	t.Contents = data[:n]
	return true
}

// Extensions is a set of extension headers.
type Extensions uint16

// The extension headers, in their order in a packet.
const (
	HasDETH         Extensions = 1 << iota // of a datagram
	HasRETH                                // of an RDMA operation
	HasAtomicETH                           // of an atomic operation on eight bytes
	HasAETH                                // of an acknowledgement
	HasAtomicAckETH                        // of the answer to an atomic operation
	HasImmDt                               // four bytes for the receiving program
	HasIETH                                // the key that the receiver invalidates
)

// extensionSizes are in the order of the constants.
var extensionSizes = [...]uint8{8, 16, 28, 4, 8, 4, 4}

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

// Syndrome is the kind of an acknowledgement, with a value in the lower five
// bits.
type Syndrome uint8

// NAK is why a packet was not accepted.
type NAK uint8

// SequenceError is the NAK for packets before this one that are missing.
const SequenceError NAK = 0

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
