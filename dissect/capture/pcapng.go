package capture

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
)

// A pcapng file is a sequence of blocks: type, length, body, length again.
// Blocks of unknown type are skipped.
const (
	blockSection   = 0x0a0d0d0a // reads the same in both byte orders
	blockInterface = 1
	blockPacket    = 2 // obsolete
	blockSimple    = 3
	blockEnhanced  = 6

	blockMinSize    = 12 // bytes
	byteOrderMagic  = 0x1a2b3c4d
	optionEnd       = 0
	optionComment   = 1
	optionTsResol   = 9
	optionTsOffset  = 14
	frameHeaderSize = 28 // of an enhanced or obsolete packet block, bytes before the frame

	defaultResolution = 6 // if_tsresol, a negative power of ten
	nanoseconds       = 9 // if_tsresol

	maxInterfaces = 1 << 16 // of a section; an obsolete packet block can name no more
)

// pcapng walks over the blocks and checks them, because gopacket's NgReader does
// not return where a block begins, and does not compare the two lengths of a block.
type pcapng struct {
	frames  ngFrames
	order   byteOrder
	ifaces  []ngIface  // of this section
	earlier []LinkType // of the interfaces in the sections before
	last    int64      // time of the previous frame, ns since the epoch: a simple packet has none
}

type ngIface struct {
	link       LinkType
	snaplen    uint32   // 0: no limit
	resolution byte     // if_tsresol
	offset     int64    // if_tsoffset, seconds
	clock      *ngClock // nil: gopacket computes the times
	described  bool     // gopacket has the interface
	id         uint32   // gopacket's number for it
}

func (p *pcapng) format() Format {
	f := Format{PCAPNG: true, Links: slices.Clone(p.earlier)}
	for i := range p.ifaces {
		f.Links = append(f.Links, p.ifaces[i].link)
	}
	return f
}

func (p *pcapng) next(w *window, f *Frame) error {
	for {
		kind, size, err := p.header(w)
		if err != nil {
			return err
		}
		switch kind {
		case blockSection, blockInterface, blockPacket, blockSimple, blockEnhanced:
		default:
			if err := p.skip(w, size); err != nil {
				return err
			}
			continue
		}
		if size > maxRecord {
			return w.damage(w.offset(), "not a block: type %d, %d bytes", kind, size)
		}
		n := int(size)
		if !w.need(n) {
			return w.truncated("block", int64(size))
		}
		block, at := w.buf[w.lo:w.lo+n:w.lo+n], w.offset()
		if again := p.order.u32(block[n-4:]); again != size {
			return p.unequal(w, at, size, again)
		}
		w.lo += n
		var cause string
		switch kind {
		case blockSection:
			for i := range p.ifaces {
				p.earlier = append(p.earlier, p.ifaces[i].link)
			}
			p.ifaces = p.ifaces[:0]
			p.frames.newSection = true
		case blockInterface:
			cause = p.addInterface(block)
		default:
			if cause = p.frame(kind, block, f); cause == "" {
				return nil
			}
		}
		if cause != "" {
			return w.damage(at, "%s", cause)
		}
	}
}

// header returns the type and the size of the next block. A section header sets
// the byte order of the blocks that follow.
func (p *pcapng) header(w *window) (kind, size uint32, err error) {
	if !w.need(blockMinSize) {
		return 0, 0, w.truncated("block header", blockMinSize)
	}
	b := w.buf[w.lo:]
	kind = p.order.u32(b)
	if kind == blockSection {
		switch binary.LittleEndian.Uint32(b[8:]) {
		case byteOrderMagic:
			p.order = littleEndian
		case bits.ReverseBytes32(byteOrderMagic):
			p.order = bigEndian
		default:
			return 0, 0, w.damage(w.offset(), "not a section header: no byte order mark")
		}
	}
	size = p.order.u32(b[4:])
	if size < blockMinSize || size%4 != 0 {
		return 0, 0, w.damage(w.offset(), "not a block: type %d, %d bytes", kind, size)
	}
	return kind, size, nil
}

func (p *pcapng) skip(w *window, size uint32) error {
	at := w.offset()
	if !w.skip(int64(size)-4) || !w.need(4) {
		return w.truncatedAt(at, w.base+int64(w.hi)-at, "block", int64(size))
	}
	if again := p.order.u32(w.buf[w.lo:]); again != size {
		return p.unequal(w, at, size, again)
	}
	w.lo += 4
	return nil
}

func (p *pcapng) unequal(w *window, at int64, size, again uint32) error {
	return w.damage(at, "not a block: its length is %d at the beginning and %d at the end", size, again)
}

// addInterface reads an interface description: link type, snaplen, options.
// It returns what is wrong with it, or "".
func (p *pcapng) addInterface(b []byte) string {
	const fixed = 16
	if len(b) < fixed+4 {
		return "interface description of too few bytes"
	}
	i := ngIface{link: linkType(p.order.u16(b[8:])), snaplen: p.order.u32(b[12:]), resolution: defaultResolution}
	for o := b[fixed : len(b)-4]; len(o) >= 4; {
		code, n := p.order.u16(o), int(p.order.u16(o[2:]))
		if code == optionEnd || n > len(o)-4 {
			break
		}
		switch v := o[4 : 4+n]; {
		case code == optionTsResol && n >= 1:
			i.resolution = v[0]
		case code == optionTsOffset && n >= 8:
			i.offset = int64(p.order.u64(v))
		}
		o = o[min(4+(n+3)&^3, len(o)):]
	}
	if len(p.ifaces) == maxInterfaces {
		return fmt.Sprintf("more than %d interfaces in a section", maxInterfaces)
	}
	if i.resolution == 0 || i.resolution > nanoseconds {
		i.clock = newNgClock(i.resolution, i.offset)
	}
	p.ifaces = append(p.ifaces, i)
	return ""
}

// frame reads a block that holds a frame. It returns what is wrong with it, or
// "".
func (p *pcapng) frame(kind uint32, b []byte, f *Frame) string {
	if kind == blockSimple {
		return p.simple(b, f)
	}
	if len(b) < frameHeaderSize+4 {
		return "packet block of too few bytes"
	}
	iface := uint(p.order.u32(b[8:]))
	if kind == blockPacket {
		iface = uint(p.order.u16(b[8:])) // followed by 16 bits of a drop count
	}
	if iface >= uint(len(p.ifaces)) {
		return "frame of an interface that is not described"
	}
	have := p.order.u32(b[20:])
	if have > uint32(len(b)-frameHeaderSize-4) {
		return "frame longer than its block"
	}
	f.Iface = len(p.earlier) + int(iface)
	f.Data = b[frameHeaderSize : frameHeaderSize+have : frameHeaderSize+have]
	f.Len = int(max(have, p.order.u32(b[24:])))
	i := &p.ifaces[iface]
	ticks := uint64(p.order.u32(b[12:]))<<32 | uint64(p.order.u32(b[16:]))
	if err := p.frames.read(p.order, i, ticks, f); err != nil {
		return err.Error()
	}
	if i.clock != nil {
		f.Time = i.clock.time(ticks)
	}
	p.last = f.Time
	return ""
}

// simple reads a block that holds only the length and the bytes of a frame.
func (p *pcapng) simple(b []byte, f *Frame) string {
	const header = 12
	if len(b) < header+4 {
		return "packet block of too few bytes"
	}
	if len(p.ifaces) == 0 {
		return "frame of an interface that is not described"
	}
	i := &p.ifaces[0]
	size := p.order.u32(b[8:])
	have := min(size, uint32(len(b)-header-4))
	if i.snaplen != 0 {
		have = min(have, i.snaplen)
	}
	f.Iface = len(p.earlier)
	f.Data = b[header : header+have : header+have]
	f.Len = int(size)
	if err := p.frames.read(p.order, i, 0, f); err != nil {
		return err.Error()
	}
	f.Time = p.last
	return ""
}
