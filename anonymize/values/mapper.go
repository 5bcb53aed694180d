package values

import "github.com/lshark/lshark/dissect"

// Mapper replaces values, the same original by the same value each time. It is not for
// concurrent use.
type Mapper struct{}

// New returns a Mapper whose replacements depend on key alone: Mappers with the same key
// replace a value by the same one.
func New(key []byte) *Mapper { return &Mapper{} }

// Message writes into dst, which has m.Size zero bytes, those bytes of a message that may
// stay and the replaced ones. What it does not write is to be zero. Offsets in dst are
// those of m.Data.
//
// Bulk data that consist of known structs, such as directory pages, are kept where all of
// m.Content is the payload of m, and removed where several messages carry it.
func (p *Mapper) Message(dst []byte, m *dissect.Message) {}

// Part writes message k of o2iblnd (m.IB.Parts[k]) into dst, as Message does. dst is as
// long as the Data of the part. The payload of an IMMEDIATE, from the LNet header on, is
// part of the message and left to Message.
func (p *Mapper) Part(dst []byte, m *dissect.Message, k int) {}

// IPv4 returns the replacement of an address. Addresses that share a prefix have
// replacements which share a prefix of the same length. Loopback, unspecified, multicast
// and broadcast addresses stay as they are, and no other address gets one of them.
func (p *Mapper) IPv4(a [4]byte) [4]byte { return a }

// IPv6 returns the replacement of an address, with the properties of IPv4. An address that
// contains one of version 4 gets the replacement of that.
func (p *Mapper) IPv6(a [16]byte) [16]byte { return a }

// MAC returns the replacement of an Ethernet address: locally administered, of no vendor. A
// group address stays as it is if it is one that standards fix, and stays a group address
// otherwise.
func (p *Mapper) MAC(a [6]byte) [6]byte { return a }

// GUID returns the replacement of an InfiniBand GUID.
func (p *Mapper) GUID(a [8]byte) [8]byte { return a }

// GID returns the replacement of an InfiniBand GID: that of an IPv6 address if it is one,
// else the same prefix and the replacement of its GUID.
func (p *Mapper) GID(a [16]byte) [16]byte { return a }

// LID returns the replacement of an InfiniBand LID. Multicast LIDs, 0 and the permissive
// LID stay as they are.
func (p *Mapper) LID(lid uint16) uint16 { return lid }

// Mapping is a value and its replacement, as text.
type Mapping struct {
	Class       Class
	Original    string
	Replacement string
	Count       int64 // how often it was replaced
}

// Each calls f for each replaced value, sorted by class and original.
func (p *Mapper) Each(f func(Mapping)) {}

// Removed are counts of bytes that were removed, by reason.
type Removed struct {
	Data      int64 // of files, keys and tokens
	Undecoded int64 // covered by no declaration
	Encrypted int64
	Truncated int64 // of fields that were not captured in full
}

// Removed returns the counts so far.
func (p *Mapper) Removed() Removed { return Removed{} }
