package ib

import (
	"encoding/binary"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

// MADHeaderSize is the length of the common header of a MAD, in bytes.
const MADHeaderSize = 24

// ClassCM is the class of the MADs of the connection manager.
const ClassCM = 7

// MAD is the common header of a management datagram, which a UD packet brings to
// queue pair 0 or 1.
type MAD struct {
	layers.BaseLayer // Payload is the data of the class
	Version          uint8
	Class            uint8
	ClassVersion     uint8
	Method           uint8
	Status           uint16
	TransactionID    uint64 // the same in a request and its answers
	Attribute        uint16 // what the data are
	Modifier         uint32 // of the attribute
}

// LayerType returns LayerTypeMAD.
func (m *MAD) LayerType() gopacket.LayerType { return LayerTypeMAD }

// CanDecode returns LayerTypeMAD.
func (m *MAD) CanDecode() gopacket.LayerClass { return LayerTypeMAD }

// NextLayerType returns the type of the data. Those of the connection manager have
// no type of their own here, because only the header has the attribute: CM.Decode
// decodes them.
func (m *MAD) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }

// DecodeFromBytes decodes the header at the begin of data.
func (m *MAD) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	b, err := cut(&m.BaseLayer, data, MADHeaderSize, df)
	if err != nil {
		return err
	}
	m.Version, m.Class, m.ClassVersion, m.Method = b[0], b[1], b[2], b[3]
	m.Status = binary.BigEndian.Uint16(b[4:])
	m.TransactionID = binary.BigEndian.Uint64(b[8:])
	m.Attribute, m.Modifier = binary.BigEndian.Uint16(b[16:]), binary.BigEndian.Uint32(b[20:])
	return nil
}
