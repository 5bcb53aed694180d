package ib

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

// CMType is the type of a message of the connection manager: the attribute of its
// MAD.
type CMType uint16

// The messages of the connection manager.
const (
	CMReq     CMType = 0x10 + iota // a request for a connection
	CMMra                          // the answer will take a while
	CMRej                          // no connection, or no more
	CMRep                          // the request is accepted
	CMRtu                          // the connection is ready to use
	CMDreq                         // a request to disconnect
	CMDrep                         // disconnected
	CMSidrReq                      // a request for the queue pair of a service of datagrams
	CMSidrRep                      // this queue pair
	CMLap                          // a request for an alternate path
	CMApr                          // the answer to it
)

// cmFacts are the properties of a type: its name, and the length of the fields
// before the private data, in bytes.
type cmFacts struct {
	name   string
	fields int
}

var cmTypes = [...]cmFacts{
	0:                 {"REQ", 140}, // CMReq
	CMMra - CMReq:     {"MRA", 10},
	CMRej - CMReq:     {"REJ", 84},
	CMRep - CMReq:     {"REP", 36},
	CMRtu - CMReq:     {"RTU", 8},
	CMDreq - CMReq:    {"DREQ", 12},
	CMDrep - CMReq:    {"DREP", 8},
	CMSidrReq - CMReq: {"SIDR_REQ", 16},
	CMSidrRep - CMReq: {"SIDR_REP", 96},
	CMLap - CMReq:     {"LAP", 64},
	CMApr - CMReq:     {"APR", 84},
}

// facts returns the properties of a type, and reports whether it is known.
func (t CMType) facts() (cmFacts, bool) {
	if t < CMReq || t > CMApr {
		return cmFacts{}, false
	}
	return cmTypes[t-CMReq], true
}

// String returns the name of the type, such as REQ.
func (t CMType) String() string {
	if f, known := t.facts(); known {
		return f.name
	}
	return fmt.Sprintf("attribute 0x%04x", uint16(t))
}

var errNotCM = errors.New("not a message of the connection manager")

// CM is a message of the connection manager, by which two nodes agree on their
// queue pairs. Local values are those of the sender of the message, remote values
// those of its receiver.
type CM struct {
	layers.BaseLayer // Contents are the fields, Payload is the private data, with its padding

	Type     CMType
	LocalID  uint32 // of the sender for this connection
	RemoteID uint32 // of the receiver; not in REQ, SIDR_REQ and SIDR_REP

	// Answered is the message that MRA and REJ answer: CMReq, CMRep, or CMType(0)
	// for another one.
	Answered CMType

	Req    CMRequest   // of REQ
	Rep    CMReply     // of REP
	Reject CMReject    // of REJ
	Remote uint32      // of DREQ: queue pair of the receiver
	IP     IPAddresses // of REQ: of the RDMA connection manager
}

// CMRequest are the fields of a REQ.
type CMRequest struct {
	ServiceID          ServiceID
	CAGUID             uint64 // adapter of the sender
	QKey               uint32
	QP                 uint32 // queue pair of the sender
	ResponderResources uint8  // RDMA READs that the sender accepts at once
	InitiatorDepth     uint8  // RDMA READs that the sender wants to send at once
	Service            Service
	StartPSN           uint32 // of the first request to the sender
	PKey               uint16
	PathMTU            int // bytes, 0 if its code is invalid
	RetryCount         uint8
	RNRRetryCount      uint8
	Primary, Alternate CMPath
}

// CMPath is a path between two ports. LIDs are 0xffff on RoCE.
type CMPath struct {
	LocalLID, RemoteLID uint16
	LocalGID, RemoteGID [16]byte // on RoCEv2 IP addresses, those of IPv4 in the mapped form
}

// CMReply are the fields of a REP.
type CMReply struct {
	QKey               uint32
	QP                 uint32 // queue pair of the sender
	StartPSN           uint32 // of the first request to the sender
	ResponderResources uint8
	InitiatorDepth     uint8
	RNRRetryCount      uint8
	CAGUID             uint64
}

// CMReject are the fields of a REJ.
type CMReject struct {
	Reason CMReason
	Info   []byte // additional information on the reason
}

// Decode decodes the data of a MAD. If not all fields were captured it returns an
// error, and only Type is valid.
func (c *CM) Decode(m *MAD, df gopacket.DecodeFeedback) error {
	c.Type = CMType(m.Attribute)
	facts, known := c.Type.facts()
	if m.Class != ClassCM || !known {
		return errNotCM
	}
	b, err := cut(&c.BaseLayer, m.Payload, facts.fields, df)
	if err != nil {
		return err
	}
	c.LocalID, c.RemoteID, c.Answered, c.Remote = binary.BigEndian.Uint32(b), 0, 0, 0
	c.IP = IPAddresses{}
	if c.Type != CMReq && c.Type != CMSidrReq && c.Type != CMSidrRep {
		c.RemoteID = binary.BigEndian.Uint32(b[4:])
	}
	switch c.Type {
	case CMReq:
		c.Req.decode(b)
		if c.Req.ServiceID.IsIP() && c.IP.decode(c.Payload) {
			c.Payload = c.Payload[ipAddressesSize:]
		}
	case CMRep:
		c.Rep.decode(b)
	case CMMra:
		c.Answered = answered(b[8])
	case CMRej:
		c.Answered = answered(b[8])
		c.Reject = CMReject{CMReason(binary.BigEndian.Uint16(b[10:])), b[12 : 12+min(int(b[9]>>1), 72)]}
	case CMDreq:
		c.Remote = binary.BigEndian.Uint32(b[8:]) >> 8
	}
	return nil
}

// DecodeMAD decodes the payload of a packet to queue pair 1. It reports whether that is a
// message of the connection manager of which all fields were captured.
func (c *CM) DecodeMAD(data []byte) bool {
	var m MAD
	return m.DecodeFromBytes(data, gopacket.NilDecodeFeedback) == nil && c.Decode(&m, gopacket.NilDecodeFeedback) == nil
}

// answered returns the message that a MRA or REJ answers, from the two highest
// bits of a byte.
func answered(b byte) CMType {
	switch b >> 6 {
	case 0:
		return CMReq
	case 1:
		return CMRep
	}
	return 0
}

// decode sets the fields of a REQ.
func (r *CMRequest) decode(b []byte) {
	be := binary.BigEndian
	r.ServiceID, r.CAGUID, r.QKey = ServiceID(be.Uint64(b[8:])), be.Uint64(b[16:]), be.Uint32(b[28:])
	r.QP, r.ResponderResources = be.Uint32(b[32:])>>8, b[35]
	r.InitiatorDepth = b[39]
	const other = 3 // in bits 1 and 2 of a byte; the lower ones of byte 51 have it
	if r.Service = Service(b[43] >> 1 & 3); r.Service == other {
		r.Service = XRC // the only other one so far
	}
	r.StartPSN, r.RetryCount = be.Uint32(b[44:])>>8, b[47]&7
	r.PKey = be.Uint16(b[48:])
	r.PathMTU, r.RNRRetryCount = mtu(b[50]>>4), b[50]&7
	r.Primary.decode(b[52:])
	r.Alternate.decode(b[96:])
}

// decode sets the fields of a path.
func (p *CMPath) decode(b []byte) {
	p.LocalLID, p.RemoteLID = binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
	copy(p.LocalGID[:], b[4:20])
	copy(p.RemoteGID[:], b[20:36])
}

// decode sets the fields of a REP.
func (r *CMReply) decode(b []byte) {
	be := binary.BigEndian
	r.QKey, r.QP, r.StartPSN = be.Uint32(b[8:]), be.Uint32(b[12:])>>8, be.Uint32(b[20:])>>8
	r.ResponderResources, r.InitiatorDepth, r.RNRRetryCount = b[24], b[25], b[27]>>5
	r.CAGUID = be.Uint64(b[28:])
}

// mtu returns the bytes for the code of a MTU: 256 for 1 to 4096 for 5.
func mtu(code uint8) int {
	if code < 1 || code > 5 {
		return 0
	}
	return 128 << code
}

// ServiceID is the id of a service, to which a REQ is addressed.
type ServiceID uint64

// ipServices are the service ids of the RDMA connection manager: the number of an
// IP protocol and a port are in the lower 24 bits.
const ipServices ServiceID = 0x0000_0000_0100_0000

// IsIP reports whether the id is one of the RDMA connection manager.
func (s ServiceID) IsIP() bool { return s&^0xff_ffff == ipServices }

// Protocol returns the IP protocol of an id of the RDMA connection manager.
func (s ServiceID) Protocol() uint8 { return uint8(s >> 16) }

// Port returns the port of an id of the RDMA connection manager.
func (s ServiceID) Port() uint16 { return uint16(s) }

// ipAddressesSize is the length of the header of IPAddresses.
const ipAddressesSize = 36

// IPAddresses is the header that the RDMA connection manager puts before the
// private data of a REQ.
type IPAddresses struct {
	Version  uint8    // of IP: 4 or 6; 0 if there is no header
	SrcPort  uint16   // of the sender
	Src, Dst [16]byte // IP addresses, those of IPv4 in the mapped form
}

// decode sets the fields, and reports whether the header is there.
func (a *IPAddresses) decode(b []byte) bool {
	if len(b) < ipAddressesSize || b[0] != 0 || b[1]>>4 != 4 && b[1]>>4 != 6 {
		return false
	}
	a.Version, a.SrcPort = b[1]>>4, binary.BigEndian.Uint16(b[2:])
	copy(a.Src[:], b[4:20])
	copy(a.Dst[:], b[20:36])
	if a.Version == 4 {
		a.Src[10], a.Src[11], a.Dst[10], a.Dst[11] = 0xff, 0xff, 0xff, 0xff
	}
	return true
}

// CMReason is why the connection manager rejected a connection.
type CMReason uint16

// ConsumerReject is the reason of a REJ that the listening program sent, with a
// reason of its own in the private data.
const ConsumerReject CMReason = 28

var cmReasons = [...]string{
	1:              "no queue pair available",
	2:              "no end-to-end context available",
	3:              "no resources available",
	4:              "timeout",
	5:              "unsupported request",
	6:              "invalid communication id",
	7:              "invalid communication instance",
	8:              "invalid service id",
	9:              "invalid transport service type",
	10:             "stale connection",
	11:             "no such reliable datagram channel",
	12:             "primary remote GID rejected",
	13:             "primary remote LID rejected",
	14:             "invalid primary service level",
	15:             "invalid primary traffic class",
	16:             "invalid primary hop limit",
	17:             "invalid primary packet rate",
	18:             "alternate remote GID rejected",
	19:             "alternate remote LID rejected",
	20:             "invalid alternate service level",
	21:             "invalid alternate traffic class",
	22:             "invalid alternate hop limit",
	23:             "invalid alternate packet rate",
	24:             "redirected to another port and connection manager",
	25:             "redirected to another port",
	26:             "invalid path MTU",
	27:             "insufficient responder resources",
	ConsumerReject: "rejected by the listening program",
	29:             "RNR retry count rejected",
	30:             "duplicate local communication id",
	31:             "invalid class version",
	32:             "invalid primary flow label",
	33:             "invalid alternate flow label",
	35:             "vendor option not supported",
}

// String returns the reason in words.
func (r CMReason) String() string {
	if int(r) < len(cmReasons) && cmReasons[r] != "" {
		return cmReasons[r]
	}
	return fmt.Sprintf("reason %d", uint16(r))
}

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
