package ib

import (
	"encoding/binary"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

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

// LayerType returns LayerTypeGRH.
func (h *GRH) LayerType() gopacket.LayerType { return LayerTypeGRH }

// CanDecode returns LayerTypeGRH.
func (h *GRH) CanDecode() gopacket.LayerClass { return LayerTypeGRH }

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
