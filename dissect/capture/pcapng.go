package capture

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/google/gopacket/pcapgo"
)

// A pcapng file is a sequence of blocks: type, length, body, length again.
// Blocks of unknown type are skipped.
const (
	blockSection    = 0x0a0d0d0a // reads the same in both byte orders
	blockInterface  = 1
	blockPacket     = 2 // obsolete
	blockSimple     = 3
	blockStatistics = 5 // of an interface
	blockEnhanced   = 6

	blockMinSize    = 12 // bytes
	byteOrderMagic  = 0x1a2b3c4d
	optionEnd       = 0
	optionComment   = 1
	optionTsResol   = 9
	optionTsOffset  = 14
	sectionSize     = 28 // of a section header without options, bytes
	interfaceSize   = 20 // of an interface description without options, bytes
	frameHeaderSize = 28 // of an enhanced or obsolete packet block, bytes before the frame

	defaultResolution = 6  // if_tsresol, a negative power of ten
	maxResolution     = 19 // that gopacket reads: of 10^20 it takes 64 bits, and of powers of two wrong ones

	maxSnaplen      = 1 << 20  // that gopacket may allocate for an interface
	maxInterfaces   = 1 << 16  // of a section; an obsolete packet block can name no more
	maxDescriptions = 16 << 10 // bytes of blocks without frames that gopacket reads of a section
)

// gopacket must not ignore the frames of an interface because its link type
// differs from that of the first one.
var ngOptions = pcapgo.NgReaderOptions{WantMixedLinkType: true}

// pcapng reads the frames of a pcapng file with gopacket. It checks each block
// before gopacket reads it, because gopacket allocates as many bytes as a block or
// a snaplen claims, does not compare the two lengths of a block, and its errors
// have no offset. Descriptions of interfaces remain in the buffer until gopacket
// reads them together with the frame that follows.
type pcapng struct {
	reader    *pcapgo.NgReader // nil before its first frame
	order     byteOrder
	ifaces    []ngIface  // of this section
	earlier   []LinkType // of the interfaces in the sections before
	comment   []byte     // of the sections
	ahead     int        // bytes of the next blocks, which are checked, but not read
	described int        // bytes of the blocks without frames in this section that gopacket reads
	byHand    bool       // gopacket does not read the rest of this section
	last      int64      // time of the previous frame, ns since the epoch: a simple packet has none
}

type ngIface struct {
	link    LinkType // gopacket's has 8 bits
	snaplen uint32   // 0: no limit
	clock   ngClock
}

func (p *pcapng) format() Format {
	f := Format{PCAPNG: true, Links: slices.Clone(p.earlier), Comment: string(p.comment)}
	for i := range p.ifaces {
		f.Links = append(f.Links, p.ifaces[i].link)
	}
	return f
}

func (p *pcapng) next(in *input, f *Frame) error {
	for {
		kind, size, err := p.header(in)
		if err == io.EOF {
			in.discard(p.ahead) // no frame follows these blocks
			p.ahead = 0
		}
		if err != nil {
			return err
		}
		at := in.at + int64(p.ahead)
		switch kind {
		case blockSection, blockInterface, blockPacket, blockSimple, blockEnhanced:
			if size > maxRecord {
				return in.damage(at, "not a block: type %d, %d bytes", kind, size)
			}
		default:
			if p.ahead > 0 && (kind == blockStatistics || size > maxDescriptions) {
				p.readByHand(in, "a block between the description of an interface and its first frame")
			}
			if p.ahead == 0 {
				if err := p.skip(in, size); err != nil {
					return err
				}
				continue
			}
		}
		block, err := in.peek(p.ahead, int(size), "block")
		if err != nil {
			return err
		}
		if again := p.order.u32(block[size-4:]); again != size {
			return p.unequal(in, at, size, again)
		}
		var cause string // what is wrong with the block
		switch kind {
		case blockSection:
			p.section(in, block)
		case blockInterface:
			cause = p.addInterface(in, block)
		case blockSimple:
			cause = p.simple(block, f)
			p.readByHand(in, "a frame without a time") // gopacket believes its length
		case blockPacket, blockEnhanced:
			cause = p.frame(kind, block, f)
		}
		if cause != "" {
			return in.damage(at, "%s", cause)
		}
		if kind == blockSimple || kind == blockPacket || kind == blockEnhanced {
			return p.read(in, len(block), f)
		}
		p.keep(in, len(block))
	}
}

// header returns the type and the size of the next block. A section header sets
// the byte order of the blocks that follow.
func (p *pcapng) header(in *input) (kind, size uint32, err error) {
	b, err := in.peek(p.ahead, blockMinSize, "block header")
	if err != nil {
		return 0, 0, err
	}
	at := in.at + int64(p.ahead)
	kind = p.order.u32(b)
	if kind == blockSection {
		switch binary.LittleEndian.Uint32(b[8:]) {
		case byteOrderMagic:
			p.order = littleEndian
		case bits.ReverseBytes32(byteOrderMagic):
			p.order = bigEndian
		default:
			return 0, 0, in.damage(at, "not a section header: no byte order mark")
		}
	}
	size = p.order.u32(b[4:])
	if size < blockMinSize || size%4 != 0 {
		return 0, 0, in.damage(at, "not a block: type %d, %d bytes", kind, size)
	}
	return kind, size, nil
}

// skip skips a block without keeping it in memory.
func (p *pcapng) skip(in *input, size uint32) error {
	at := in.at
	skipped, err := io.CopyN(io.Discard, in.Reader, int64(size)-4)
	in.at, in.ahead = in.at+skipped, nil
	var again []byte
	if err == nil {
		again, err = in.Peek(4)
	}
	if err != nil {
		return in.truncated(at, skipped+int64(len(again)), "block", int64(size), err)
	}
	if again := p.order.u32(again); again != size {
		return p.unequal(in, at, size, again)
	}
	in.discard(4)
	return nil
}

func (p *pcapng) unequal(in *input, at int64, size, again uint32) error {
	return in.damage(at, "not a block: its length is %d at the beginning and %d at the end", size, again)
}

// section begins a section with the header b.
func (p *pcapng) section(in *input, b []byte) {
	for i := range p.ifaces {
		p.earlier = append(p.earlier, p.ifaces[i].link)
	}
	p.ifaces, p.described, p.byHand = p.ifaces[:0], 0, false
	if len(b) < sectionSize {
		p.readByHand(in, "a section header of %d bytes", len(b))
		return
	}
	if major, minor := p.order.u16(b[12:]), p.order.u16(b[14:]); major != 1 || minor != 0 {
		p.readByHand(in, "version %d.%d", major, minor)
	}
	if !p.options(b[sectionSize-4:len(b)-4], func(code uint16, value []byte) {
		if code == optionComment && len(p.comment)+len(value) <= maxSectionComment {
			p.comment = append(p.comment, value...)
		}
	}) {
		p.readByHand(in, "invalid options of a section")
	}
}

// options calls visit with each option of a block. It reports whether gopacket reads the same
// ones: it takes an option without a value for one with the value before, and neither
// compares lengths with that of the block nor adds them in more than 16 bits.
func (p *pcapng) options(b []byte, visit func(code uint16, value []byte)) bool {
	same := true
	for len(b) >= 4 {
		code, n := p.order.u16(b), int(p.order.u16(b[2:]))
		if code == optionEnd {
			return same && n == 0
		}
		if n > len(b)-4 {
			return false
		}
		if code == optionTsResol && n < 1 || code == optionTsOffset && n < 8 || n > MaxComment {
			same = false
		} else {
			visit(code, b[4:4+n])
		}
		b = b[min(4+(n+3)&^3, len(b)):]
	}
	return same
}

// addInterface reads an interface description: link type, snaplen, options.
// It returns what is wrong with it, or "".
func (p *pcapng) addInterface(in *input, b []byte) string {
	if len(b) < interfaceSize {
		return "interface description of too few bytes"
	}
	if len(p.ifaces) == maxInterfaces {
		return fmt.Sprintf("more than %d interfaces in a section", maxInterfaces)
	}
	i := ngIface{link: linkType(p.order.u16(b[8:])), snaplen: p.order.u32(b[12:])}
	resolution, offset := byte(defaultResolution), int64(0)
	same := p.options(b[interfaceSize-4:len(b)-4], func(code uint16, value []byte) {
		switch code {
		case optionTsResol:
			resolution = value[0]
		case optionTsOffset:
			offset = int64(p.order.u64(value))
		}
	})
	i.clock = newNgClock(resolution, offset)
	p.ifaces = append(p.ifaces, i)
	switch {
	case !same:
		p.readByHand(in, "invalid options of an interface")
	case resolution == 0 || resolution > maxResolution:
		p.readByHand(in, "times with the resolution %#x", resolution)
	case i.snaplen > maxSnaplen:
		p.readByHand(in, "a snaplen of %d bytes", i.snaplen)
	}
	return ""
}

// keep leaves a block without a frame to gopacket, or skips it.
func (p *pcapng) keep(in *input, size int) {
	if max(p.ahead, p.described)+size > maxDescriptions {
		p.readByHand(in, "long descriptions of interfaces")
	}
	if p.byHand {
		in.discard(size)
		return
	}
	p.ahead += size
	p.described += size
}

// readByHand ends the reading of gopacket, up to the next section.
func (p *pcapng) readByHand(in *input, format string, args ...any) {
	if p.byHand {
		return
	}
	in.readByHand(in.at+int64(p.ahead), format, args...)
	in.discard(p.ahead)
	p.ahead, p.byHand = 0, true
}

// frame checks a block with the header of a frame. It returns what is wrong with
// it, or "".
func (p *pcapng) frame(kind uint32, b []byte, f *Frame) string {
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
	i := &p.ifaces[iface]
	f.Iface, f.Link = len(p.earlier)+int(iface), i.link
	f.Data = b[frameHeaderSize : frameHeaderSize+have : frameHeaderSize+have]
	f.Len = int(max(have, p.order.u32(b[24:])))
	if p.byHand {
		f.Time = i.clock.time(uint64(p.order.u32(b[12:]))<<32 | uint64(p.order.u32(b[16:])))
	}
	return ""
}

// simple checks a block that holds only the length and the bytes of a frame.
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
	f.Iface, f.Link = len(p.earlier), i.link
	f.Data = b[header : header+have : header+have]
	f.Len, f.Time = int(size), p.last
	return ""
}

// read reads the frame of a block of n bytes that was checked.
func (p *pcapng) read(in *input, n int, f *Frame) error {
	if p.byHand {
		in.discard(n)
		p.last = f.Time
		return nil
	}
	var err error
	if p.reader == nil {
		if p.reader, err = pcapgo.NewNgReader(in.Reader, ngOptions); err != nil {
			return in.damage(in.at, "%v", err)
		}
	}
	data, info, err := p.reader.ZeroCopyReadPacketData()
	if err != nil {
		return in.damage(in.at, "%v", err)
	}
	f.Data, f.Time = data[:len(data):len(data)], info.Timestamp.UnixNano()
	p.last = f.Time
	in.advance(p.ahead + n)
	p.ahead = 0
	return nil
}

// ngClock converts the time stamps of a pcapng interface into nanoseconds since
// the epoch.
type ngClock struct {
	mul, div uint64 // nanoseconds = ticks * mul / div
	shift    uint   // with a binary resolution: ticks of 2^-shift seconds
	offset   int64  // nanoseconds to add
}

// newNgClock returns the clock for if_tsresol (a negative power of ten, or of two
// if the top bit is set) and if_tsoffset in seconds.
func newNgClock(resolution byte, offset int64) ngClock {
	c := ngClock{mul: 1, div: 1, offset: offset * 1e9}
	n := resolution & 0x7f
	switch {
	case resolution&0x80 != 0:
		c.mul, c.shift = 1e9, uint(n)
	case n <= 9:
		for ; n < 9; n++ {
			c.mul *= 10
		}
	default:
		for ; n > 9 && c.div < 1e18; n-- {
			c.div *= 10
		}
	}
	return c
}

func (c *ngClock) time(ticks uint64) int64 {
	if c.shift == 0 {
		ns := ticks * c.mul
		if c.div != 1 {
			ns /= c.div
		}
		return int64(ns) + c.offset
	}
	hi, lo := bits.Mul64(ticks, c.mul)
	if c.shift >= 64 {
		return int64(hi>>(c.shift-64)) + c.offset
	}
	return int64(hi<<(64-c.shift)|lo>>c.shift) + c.offset
}
