package link

import "encoding/binary"

// Types of ERF records, of which the highest bit is set if an extension header
// follows.
const (
	erfETH          = 2
	erfColorETH     = 11
	erfDSMColorETH  = 16
	erfColorHashETH = 20
	erfInfiniBand   = 21
	erfIPv4         = 22
	erfIPv6         = 23

	erfMore = 0x80
)

// Lengths of headers, in bytes.
const (
	erfSize          = 16
	erfExtensionSize = 8 // its highest bit is set if another one follows
	erfETHPad        = 2
)

// erf decodes what a record of the Extensible Record Format holds. Its lengths are
// those of the record, with padding, and of the frame on the wire.
func (d *Decoder) erf(p span) Kind {
	b := p.data
	if len(b) < erfSize {
		return None
	}
	if record := int(binary.BigEndian.Uint16(b[10:])); record >= erfSize {
		b = b[:min(record, len(b))]
	}
	wire := int(binary.BigEndian.Uint16(b[14:]))
	n := erfSize
	d.header(LayerERF, span{b, len(b)}, n)
	for more := b[8] & erfMore; more != 0; n += erfExtensionSize {
		if len(b) < n+erfExtensionSize {
			return None
		}
		d.header(LayerERFExtension, span{b[n:], len(b) - n}, erfExtensionSize)
		more = b[n] & erfMore
	}
	switch b[8] &^ erfMore {
	case erfETH, erfColorETH, erfDSMColorETH, erfColorHashETH:
		b = b[min(n+erfETHPad, len(b)):]
		return d.ethernet(span{b, max(wire, len(b))}, 0)
	case erfInfiniBand:
		b = b[n:]
		return d.lrh(span{b, max(wire, len(b))}, 0)
	case erfIPv4, erfIPv6:
		b = b[n:]
		return d.rawIP(span{b, max(wire, len(b))}, 0)
	}
	return None
}
