package ib

import (
	"encoding/binary"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

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
	layers.BaseLayer
	VirtualLane  uint8
	Version      uint8 // of the link, 0
	ServiceLevel uint8
	NextHeader   LNH
	DLID, SLID   uint16 // local ids of the receiver and of the sender
	Length       int    // bytes from the begin of this header to the end of the ICRC
}

// NextLayerType returns the type of the header behind this one.
func (h *LRH) NextLayerType() gopacket.LayerType {
	switch h.NextHeader {
	case LNHIPv6:
		return layers.LayerTypeIPv6
	case LNHLocal:
		return LayerTypeTransport
	case LNHGlobal:
		return LayerTypeGRH
	}
	return gopacket.LayerTypePayload
}

// DecodeFromBytes decodes the header at the begin of data. The payload lacks the
// checksum of the link (VCRC), which changes from link to link.
func (h *LRH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	b, err := cut(&h.BaseLayer, data, LRHSize, df)
	if err != nil {
		return err
	}
	h.VirtualLane, h.Version = b[0]>>4, b[0]&0xf
	h.ServiceLevel, h.NextHeader = b[1]>>4, LNH(b[1]&3)
	h.DLID, h.SLID = binary.BigEndian.Uint16(b[2:]), binary.BigEndian.Uint16(b[6:])
	h.Length = 4 * int(binary.BigEndian.Uint16(b[4:])&0x7ff)
	payload := max(h.Length-LRHSize, 0)
	if payload <= len(h.Payload) {
		h.Payload = h.Payload[:payload]
	} else {
		df.SetTruncated()
	}
	return nil
}

// GRHSize is the length of a GRH in bytes.
const GRHSize = 40

// NextHeaderTransport is the next header of a GRH before a BTH.
const NextHeaderTransport = 0x1b

// GRH is a global route header, which has the form of an IPv6 header. A packet
// inside of one subnet of InfiniBand need not have one; RoCEv1 always has it.
type GRH struct {
	layers.BaseLayer
	Version      uint8 // 6
	TrafficClass uint8
	FlowLabel    uint32 // of 20 bits
	Length       uint16 // bytes from the end of this header to that of the ICRC
	NextHeader   uint8
	HopLimit     uint8
	SGID, DGID   [16]byte // of the sender and of the receiver
}

// NextLayerType returns the type of the header behind this one.
func (h *GRH) NextLayerType() gopacket.LayerType {
	if h.NextHeader == NextHeaderTransport {
		return LayerTypeTransport
	}
	return gopacket.LayerTypePayload
}

// DecodeFromBytes decodes the header at the begin of data.
func (h *GRH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	b, err := cut(&h.BaseLayer, data, GRHSize, df)
	if err != nil {
		return err
	}
	word := binary.BigEndian.Uint32(b)
	h.Version, h.TrafficClass, h.FlowLabel = uint8(word>>28), uint8(word>>20), word&0xfffff
	h.Length, h.NextHeader, h.HopLimit = binary.BigEndian.Uint16(b[4:]), b[6], b[7]
	copy(h.SGID[:], b[8:24])
	copy(h.DGID[:], b[24:40])
	if int(h.Length) <= len(h.Payload) {
		h.Payload = h.Payload[:h.Length]
	} else {
		df.SetTruncated()
	}
	return nil
}
