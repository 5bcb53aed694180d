package ib

import "fmt"

// Syndrome is the kind of an acknowledgement, with a value in the lower five
// bits.
type Syndrome uint8

// NAK is why a packet was not accepted.
type NAK uint8

// The reasons of a NAK.
const (
	SequenceError NAK = iota // packets before this one are missing
	InvalidRequest
	RemoteAccessError // of memory that is not open to the sender
	RemoteOperationalError
	InvalidRDRequest
)

var nakNames = [...]string{"PSN sequence error", "invalid request", "remote access error", "remote operational error", "invalid RD request"}

// String returns the reason in words.
func (n NAK) String() string {
	if int(n) < len(nakNames) {
		return nakNames[n]
	}
	return fmt.Sprintf("NAK code %d", uint8(n))
}

// Kinds of a syndrome, in bits 5 and 6. Bit 7 is reserved.
const (
	syndromeACK = iota
	syndromeRNR
	_
	syndromeNAK
)

func (s Syndrome) kind() uint8 { return uint8(s) >> 5 & 3 }

// ACK reports whether the packet, and all before it, were received.
func (s Syndrome) ACK() bool { return s.kind() == syndromeACK }

// RNR reports whether the receiver was not ready, and the packet is to be sent
// again after a while.
func (s Syndrome) RNR() bool { return s.kind() == syndromeRNR }

// NAK returns why the packet was not accepted, and whether that is so.
func (s Syndrome) NAK() (NAK, bool) { return NAK(s & 0x1f), s.kind() == syndromeNAK }

// String returns the syndrome in words.
func (s Syndrome) String() string {
	switch s.kind() {
	case syndromeACK:
		return "ACK"
	case syndromeRNR:
		return "receiver not ready"
	case syndromeNAK:
		return NAK(s & 0x1f).String()
	}
	return fmt.Sprintf("syndrome 0x%02x", uint8(s))
}
