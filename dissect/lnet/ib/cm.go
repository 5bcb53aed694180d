package ib

import "encoding/binary"

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

// cmFields are the lengths of the fields before the private data, in bytes.
var cmFields = [...]int{CMReq: 140, CMMra: 10, CMRej: 84, CMRep: 36, CMRtu: 8, CMDreq: 12, CMDrep: 8, CMSidrReq: 16, CMSidrRep: 96, CMLap: 64, CMApr: 84}

// CM is a message of the connection manager, by which two nodes agree on their
// queue pairs. Local values are those of the sender of the message, remote values
// those of its receiver.
type CM struct {
	Contents []byte // the fields
	Payload  []byte // the private data, with its padding

	Type     CMType
	LocalID  uint32 // of the sender for this connection
	RemoteID uint32 // of the receiver; not in REQ, SIDR_REQ and SIDR_REP

	Req    CMRequest
	Rep    CMReply
	Reason uint16 // of REJ
	Remote uint32 // of DREQ: queue pair of the receiver

	// IPVersion is that of the addresses that the RDMA connection manager puts before the private data of
	// a REQ: 4 or 6; 0 if there are none.
	IPVersion uint8
}

// CMRequest are the fields of a REQ.
type CMRequest struct {
	ServiceID ServiceID
	QP        uint32 // queue pair of the sender
	StartPSN  uint32 // of the first request to the sender
	PathMTU   int    // bytes, 0 if its code is invalid
}

// CMReply are the fields of a REP.
type CMReply struct {
	QP       uint32 // queue pair of the sender
	StartPSN uint32 // of the first request to the sender
}

// MADHeaderSize is the length of the common header of a MAD, in bytes.
const MADHeaderSize = 24

// classCM is the class of the MADs of the connection manager.
const classCM = 7

// DecodeMAD decodes the payload of a packet to queue pair 1. It reports whether that is a
// message of the connection manager of which all fields were captured.
func (c *CM) DecodeMAD(data []byte) bool {
	be := binary.BigEndian
	if len(data) < MADHeaderSize || data[1] != classCM {
		return false
	}
	c.Type, data = CMType(be.Uint16(data[16:])), data[MADHeaderSize:]
	if c.Type < CMReq || c.Type > CMApr || len(data) < cmFields[c.Type] {
		return false
	}
	b := data[:cmFields[c.Type]]
	c.Contents, c.Payload = b, data[len(b):]
	c.LocalID, c.RemoteID, c.Remote, c.IPVersion = be.Uint32(b), 0, 0, 0
	if c.Type != CMReq && c.Type != CMSidrReq && c.Type != CMSidrRep {
		c.RemoteID = be.Uint32(b[4:])
	}
	switch c.Type {
	case CMReq:
		c.Req = CMRequest{ServiceID: ServiceID(be.Uint64(b[8:])), QP: be.Uint32(b[32:]) >> 8, StartPSN: be.Uint32(b[44:]) >> 8, PathMTU: mtu(b[50] >> 4)}
		if c.Req.ServiceID.IsIP() {
			c.decodeIP()
		}
	case CMRep:
		c.Rep = CMReply{QP: be.Uint32(b[12:]) >> 8, StartPSN: be.Uint32(b[20:]) >> 8}
	case CMRej:
		c.Reason = be.Uint16(b[10:])
	case CMDreq:
		c.Remote = be.Uint32(b[8:]) >> 8
	}
	return true
}

// ipAddressesSize is the length of the header with IP addresses: 4 bytes with version and port of the
// sender, and two addresses of 16 bytes.
const ipAddressesSize = 36

// decodeIP removes the header with IP addresses from the private data, if it is there.
func (c *CM) decodeIP() {
	b := c.Payload
	if len(b) < ipAddressesSize || b[0] != 0 || b[1]>>4 != 4 && b[1]>>4 != 6 {
		return
	}
	c.IPVersion, c.Payload = b[1]>>4, b[ipAddressesSize:]
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

// Port returns the port of an id of the RDMA connection manager.
func (s ServiceID) Port() uint16 { return uint16(s) }
