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

// LayerType returns LayerTypeLRH.
func (h *LRH) LayerType() gopacket.LayerType { return LayerTypeLRH }

// CanDecode returns LayerTypeLRH.
func (h *LRH) CanDecode() gopacket.LayerClass { return LayerTypeLRH }

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
