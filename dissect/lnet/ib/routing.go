package ib

import "encoding/binary"

// LRHSize is the length of a LRH in bytes.
const LRHSize = 8

// LNH is what follows a LRH.
type LNH uint8

// The headers that may follow a LRH.
const (
	LNHRaw    LNH = iota // a raw header with an EtherType; the packet is not of InfiniBand's transport
	LNHIPv6              // an IPv6 header; the packet is not of InfiniBand's transport
	LNHLocal             // a BTH
	LNHGlobal            // a GRH
)

// LRH is a local route header, with which all packets on a link of InfiniBand
// begin. RoCE has an Ethernet header instead.
type LRH struct {
	Version    uint8 // of the link, 0
	NextHeader LNH
	DLID, SLID uint16 // local ids of the receiver and of the sender
	Length     int    // bytes from the begin of this header to the end of the ICRC
}

// Decode decodes the header at the begin of data. It reports whether all of it is there.
func (h *LRH) Decode(data []byte) bool {
	if len(data) < LRHSize {
		return false
	}
	h.Version, h.NextHeader = data[0]&0xf, LNH(data[1]&3)
	h.DLID, h.SLID = binary.BigEndian.Uint16(data[2:]), binary.BigEndian.Uint16(data[6:])
	h.Length = 4 * int(binary.BigEndian.Uint16(data[4:])&0x7ff)
	return true
}

// GRHSize is the length of a GRH in bytes.
const GRHSize = 40

// NextHeaderTransport is the next header of a GRH before a BTH.
const NextHeaderTransport = 0x1b

// GRH is a global route header, which has the form of an IPv6 header. A packet
// inside of one subnet of InfiniBand need not have one; RoCEv1 always has it.
type GRH struct {
	Version    uint8  // 6
	Length     uint16 // bytes from the end of this header to that of the ICRC
	NextHeader uint8
	SGID, DGID [16]byte // of the sender and of the receiver
}

// Decode decodes the header at the begin of data. It reports whether all of it is there.
func (h *GRH) Decode(data []byte) bool {
	if len(data) < GRHSize {
		return false
	}
	h.Version, h.Length, h.NextHeader = data[0]>>4, binary.BigEndian.Uint16(data[4:]), data[6]
	copy(h.SGID[:], data[8:24])
	copy(h.DGID[:], data[24:40])
	return true
}
