package link

import "encoding/binary"

// Timestamps are those in the options of a TCP segment.
type Timestamps struct {
	Value, Echo uint32
	Known       bool
}

// Range is a range of sequence numbers. To is behind its last one.
type Range struct{ From, To uint32 }

// Overlaps reports whether the range has numbers between from and to.
func (r Range) Overlaps(from, to uint32) bool {
	return int32(r.To-from) > 0 && int32(to-r.From) > 0
}

// Kinds of TCP options, and lengths in bytes.
const (
	optEnd       = 0
	optPad       = 1
	optSACK      = 5
	optTimestamp = 8

	timestampSize = 10
	sackBlockSize = 8
)

// options reads the timestamps and the first SACK block, which is a range that was
// received twice (RFC 2883) if it is below the ACK or inside the second block.
// gopacket has no values of options, only their bytes.
func (s *Segment) options(b []byte) {
	s.Stamps, s.Twice = Timestamps{}, Range{}
	// The usual form: two bytes of padding, then the timestamps.
	if len(b) == timestampSize+2 && b[2] == optTimestamp && b[3] == timestampSize {
		s.Stamps = Timestamps{binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:]), true}
		return
	}
	for len(b) >= 2 && b[0] != optEnd {
		if b[0] == optPad {
			b = b[1:]
			continue
		}
		n := int(b[1])
		if n < 2 || n > len(b) {
			return
		}
		switch body := b[2:n]; {
		case b[0] == optTimestamp && n == timestampSize:
			s.Stamps = Timestamps{binary.BigEndian.Uint32(body), binary.BigEndian.Uint32(body[4:]), true}
		case b[0] == optSACK && len(body) >= sackBlockSize:
			first := sackBlock(body)
			twice := int32(s.Ack-first.To) >= 0
			if !twice && len(body) >= 2*sackBlockSize {
				second := sackBlock(body[sackBlockSize:])
				twice = int32(first.From-second.From) >= 0 && int32(second.To-first.To) >= 0
			}
			if twice {
				s.Twice = first
			}
		}
		b = b[n:]
	}
}

// sackBlock returns the range in a block of a SACK option.
func sackBlock(b []byte) Range {
	return Range{binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])}
}
