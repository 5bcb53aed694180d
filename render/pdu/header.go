// Package pdu makes packets of link type 252, LINKTYPE_WIRESHARK_UPPER_PDU. Such a
// packet is one reassembled message, behind a header with its addresses and the name
// of the Wireshark dissector that shows it. capture.Writer writes them.
//
//	h := pdu.Header{Dissector: "json", Src: m.Src, Dst: m.Dst, Ports: pdu.TCP}
//	packet := append(h.Append(nil), text...)
//
// Wireshark has limits for packets and for nested JSON. Limiter keeps JSON within
// them.
package pdu

import (
	"encoding/binary"
	"net/netip"

	"github.com/lshark/lshark/dissect/capture"
)

// LinkType is the link type of the packets.
const LinkType capture.LinkType = 252

// MaxPacket is the size in bytes of the largest packet that Wireshark reads, with
// its header. It refuses a file with a larger one.
const MaxPacket = 256 << 10

// PortType is the kind of the ports in a Header.
type PortType uint32

// The port types, with their numbers in the header.
const (
	TCP       PortType = 2
	QueuePair PortType = 14 // of InfiniBand
)

// The tags, each in front of a length and a value.
const (
	tagEnd       = 0
	tagDissector = 12
	tagIPv4Src   = 20
	tagIPv4Dst   = 21
	tagIPv6Src   = 22
	tagIPv6Dst   = 23
	tagPortType  = 24
	tagSrcPort   = 25
	tagDstPort   = 26
	tagFrame     = 30 // "original frame number"
	tagProtocol  = 33 // Wireshark 2.6 and later
	tagInfo      = 36 // Wireshark 4.2 and later
)

// Header is what precedes the message in a packet.
type Header struct {
	Dissector        string     // the name that Wireshark has for it
	Src, Dst         netip.Addr // invalid: unknown, or no IP address
	Ports            PortType
	SrcPort, DstPort uint32
	Frame            int64  // number of the frame that completed the message
	Protocol         string // for the column Protocol
	Info             []byte // for the column Info, of at most 65535 bytes
}

// Append appends the header to dst. The message follows it.
func (h *Header) Append(dst []byte) []byte {
	dst = appendText(dst, tagDissector, h.Dissector)
	dst = appendAddress(dst, tagIPv4Src, tagIPv6Src, h.Src)
	dst = appendAddress(dst, tagIPv4Dst, tagIPv6Dst, h.Dst)
	dst = appendNumber(dst, tagPortType, uint32(h.Ports))
	dst = appendNumber(dst, tagSrcPort, h.SrcPort)
	dst = appendNumber(dst, tagDstPort, h.DstPort)
	dst = appendNumber(dst, tagFrame, uint32(h.Frame))
	dst = appendText(dst, tagProtocol, h.Protocol)
	dst = appendText(dst, tagInfo, h.Info)
	return appendTag(dst, tagEnd, 0)
}

func appendTag(dst []byte, tag uint16, length int) []byte {
	dst = binary.BigEndian.AppendUint16(dst, tag)
	return binary.BigEndian.AppendUint16(dst, uint16(length))
}

func appendNumber(dst []byte, tag uint16, v uint32) []byte {
	return binary.BigEndian.AppendUint32(appendTag(dst, tag, 4), v)
}

// appendText appends a text, padded with zeros to a multiple of four bytes. The
// length includes them.
func appendText[T string | []byte](dst []byte, tag uint16, text T) []byte {
	const align = 4
	padding := -len(text) & (align - 1)
	dst = append(appendTag(dst, tag, len(text)+padding), text...)
	return append(dst, "\x00\x00\x00"[:padding]...)
}

// appendAddress appends an IP address under the tag of its version, nothing for an
// invalid one.
func appendAddress(dst []byte, v4, v6 uint16, a netip.Addr) []byte {
	switch a = a.Unmap(); {
	case a.Is4():
		b := a.As4()
		return append(appendTag(dst, v4, len(b)), b[:]...)
	case a.Is6():
		b := a.As16()
		return append(appendTag(dst, v6, len(b)), b[:]...)
	}
	return dst
}
