package lnet

import (
	"slices"

	"github.com/lshark/lshark/lnet/link"
)

// IB is how a message came over InfiniBand or RoCE: the o2iblnd messages and the
// RDMA writes that it consists of.
type IB struct {
	SrcQP, DestQP uint32 // queue pairs of sender and receiver; SrcQP is 0 while unknown
	PSN           uint32 // packet sequence number, of 24 bits, of the first packet of the last part
	Headers       []byte // BTH and extension headers of that packet
	Local         bool   // Src and Dst of the message are LIDs

	// The o2iblnd messages in their order: an IMMEDIATE; PUT_REQ, PUT_ACK and
	// PUT_DONE; GET_REQ; or, of the REPLY to it, GET_REQ and GET_DONE. One that was
	// not captured is missing. A message of the connection manager has its private
	// data.
	Parts  []IBPart
	Writes IBWrites

	// Status is that of PUT_NAK, PUT_DONE or GET_DONE: bytes, or a negative errno.
	Status int32

	// Reject is the reason of the connection manager for a Connrej, 28 when the
	// reason is that of o2iblnd in the data; 0 for other messages.
	Reject uint16

	// Credits is how many messages the sender may still send until the receiver
	// returns credits; -1 when that is unknown.
	Credits int
}

// IBPart is an o2iblnd message.
type IBPart struct {
	Frame link.Frame // that completed it
	Back  bool       // it was sent by the receiver of the Message
	Data  []byte     // the kib_msg, or kib_rej
}

// IBWrites are the RDMA writes that carried the payload of a message, as far as they
// were captured.
type IBWrites struct {
	Packets     int
	Bytes       int
	First, Last link.Frame // of these packets

	// Of the first write: the virtual address, the key, and the BTH and RETH. All are
	// zero when its first packet is missing.
	VA      uint64
	RKey    uint32
	Headers []byte
}

// Clone returns a copy that stays valid, nil of nil.
func (b *IB) Clone() *IB {
	if b == nil {
		return nil
	}
	c := *b
	c.Headers, c.Writes.Headers, c.Parts = slices.Clone(b.Headers), slices.Clone(b.Writes.Headers), slices.Clone(b.Parts)
	for i := range c.Parts {
		c.Parts[i].Data = slices.Clone(c.Parts[i].Data)
	}
	return &c
}

// IBStats are the counts of the InfiniBand transport.
type IBStats struct {
	Packets     int64 // of any kind
	Bytes       int64 // of payload in them, as sent
	QueuePairs  int64 // that packets were sent to, so far
	Live        int   // of them, in the table now
	Evicted     int64 // removed from it: idle, closed, or too many
	Conns       int64 // connections with messages
	Writes      int64 // packets of RDMA writes
	Reads       int64 // packets of RDMA reads
	Acks        int64
	Retransmits int64 // packets sent again
	OutOfOrder  int64 // packets that another one has overtaken
	Naks        int64 // negative acknowledgements
	RNR         int64 // of them, because no receive buffer was posted
	Gaps        int64 // runs of missing packets that were given up
	LostPackets int64 // in these gaps
	CutBytes    int64 // not captured because of the snaplen
	Joined      int64 // transfers by PUT_REQ or GET_REQ that were complete
	Unjoined    int64 // bytes of RDMA writes that belong to no known transfer
	Exhausted   int64 // messages with which the sender used its last credit
	Foreign     int64 // messages that are not o2iblnd's
}
