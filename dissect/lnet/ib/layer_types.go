package ib

import (
	"errors"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

// The types of the layers. gopacket knows their names after Register.
const (
	LayerTypeTransport gopacket.LayerType = portRoCE + iota
	LayerTypeBTH
	LayerTypeRDETH
	LayerTypeDETH
	LayerTypeXRCETH
	LayerTypeFETH
	LayerTypeRETH
	LayerTypeAtomicETH
	LayerTypeAETH
	LayerTypeAtomicAckETH
	LayerTypeImmDt
	LayerTypeIETH
	LayerTypeGRH
	LayerTypeLRH
	LayerTypeMAD
	LayerTypeCM
)

// LayerType and CanDecode are methods of interfaces of gopacket.
func (c *CM) LayerType() gopacket.LayerType           { return LayerTypeCM }
func (m *MAD) LayerType() gopacket.LayerType          { return LayerTypeMAD }
func (h *LRH) LayerType() gopacket.LayerType          { return LayerTypeLRH }
func (h *GRH) LayerType() gopacket.LayerType          { return LayerTypeGRH }
func (h *BTH) LayerType() gopacket.LayerType          { return LayerTypeBTH }
func (t *Transport) LayerType() gopacket.LayerType    { return LayerTypeTransport }
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

func (m *MAD) CanDecode() gopacket.LayerClass       { return LayerTypeMAD }
func (h *LRH) CanDecode() gopacket.LayerClass       { return LayerTypeLRH }
func (h *GRH) CanDecode() gopacket.LayerClass       { return LayerTypeGRH }
func (t *Transport) CanDecode() gopacket.LayerClass { return LayerTypeTransport }

const (
	portRoCE  = 4791   // UDP port of RoCEv2
	etherRoCE = 0x8915 // EtherType of RoCEv1
)

// Register makes the layers known to gopacket, whose NewPacket then finds them
// behind the EtherType of RoCEv1 and the UDP port of RoCEv2. It changes tables of
// gopacket that all packages of a program share, without a lock: call it before
// packets are decoded. Programs that call the layers themselves, or use them with
// gopacket's DecodingLayerParser, do not need it.
func Register() {
	for _, t := range [...]struct {
		layer  gopacket.LayerType
		name   string
		decode gopacket.DecodeFunc
	}{
		{LayerTypeTransport, "InfiniBandTransport", decodeTransport},
		{LayerTypeBTH, "BTH", decodeTransport},
		{LayerTypeRDETH, "RDETH", nil},
		{LayerTypeDETH, "DETH", nil},
		{LayerTypeXRCETH, "XRCETH", nil},
		{LayerTypeFETH, "FETH", nil},
		{LayerTypeRETH, "RETH", nil},
		{LayerTypeAtomicETH, "AtomicETH", nil},
		{LayerTypeAETH, "AETH", nil},
		{LayerTypeAtomicAckETH, "AtomicAckETH", nil},
		{LayerTypeImmDt, "ImmDt", nil},
		{LayerTypeIETH, "IETH", nil},
		{LayerTypeGRH, "GRH", decodeGRH},
		{LayerTypeLRH, "LRH", decodeLRH},
		{LayerTypeMAD, "MAD", decodeMAD},
		{LayerTypeCM, "InfiniBandCM", nil},
	} {
		meta := gopacket.LayerTypeMetadata{Name: t.name}
		if t.decode != nil {
			meta.Decoder = t.decode
		}
		gopacket.OverrideLayerType(int(t.layer), meta)
	}
	layers.RegisterUDPPortLayerType(portRoCE, LayerTypeTransport)
	layers.EthernetTypeMetadata[etherRoCE] = layers.EnumMetadata{
		DecodeWith: gopacket.DecodeFunc(decodeGRH), Name: "RoCE", LayerType: LayerTypeGRH,
	}
}

// decodeTransport adds the BTH and each extension header to a packet as a layer.
func decodeTransport(data []byte, p gopacket.PacketBuilder) error {
	var t Transport
	if err := t.DecodeFromBytes(data, p); err != nil {
		return err
	}
	p.AddLayer(&t.BTH)
	for set := t.Extensions; set != 0; set &= set - 1 {
		p.AddLayer(t.extension(set & -set))
	}
	return p.NextDecoder(t.NextLayerType())
}

// decodable is a layer of which gopacket can decode the next one.
type decodable interface {
	gopacket.Layer
	gopacket.DecodingLayer
}

// decodeLayer adds a layer to a packet.
func decodeLayer(layer decodable, data []byte, p gopacket.PacketBuilder) error {
	if err := layer.DecodeFromBytes(data, p); err != nil {
		return err
	}
	p.AddLayer(layer)
	return p.NextDecoder(layer.NextLayerType())
}

func decodeGRH(data []byte, p gopacket.PacketBuilder) error { return decodeLayer(&GRH{}, data, p) }

func decodeLRH(data []byte, p gopacket.PacketBuilder) error { return decodeLayer(&LRH{}, data, p) }

// decodeMAD adds the header of a MAD to a packet, and a message of the connection
// manager.
func decodeMAD(data []byte, p gopacket.PacketBuilder) error {
	var m MAD
	if err := m.DecodeFromBytes(data, p); err != nil {
		return err
	}
	p.AddLayer(&m)
	var c CM
	if err := c.Decode(&m, p); errors.Is(err, errNotCM) {
		return p.NextDecoder(m.NextLayerType())
	} else if err != nil {
		return err
	}
	p.AddLayer(&c)
	return p.NextDecoder(gopacket.LayerTypePayload)
}
