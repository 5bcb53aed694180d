package capture

import "github.com/google/gopacket/pcapgo"

// Sizes of the blocks that gopacket gets, in bytes.
const (
	packetSize    = 32 // without a frame
	sectionSize   = 28 // without options
	interfaceSize = 44 // with resolution, offset and the end of the options
)

// gopacket must not ignore the frames of an interface because its link type
// differs from that of the first one.
var ngOptions = pcapgo.NgReaderOptions{WantMixedLinkType: true}

// ngFrames reads the frames of blocks that were checked, with gopacket. gopacket
// gets the blocks that describe a frame without what it does not need, and
// without what gopacket v1.1.19 reads wrong:
//   - the snaplen of an interface, as much as it allocates,
//   - binary resolutions (it panics at 2^-64, others give wrong times), one
//     second (which it takes for the default, microseconds) and resolutions
//     finer than nanoseconds: of these the time is computed by an ngClock,
//   - interfaces without frames, for each of which it allocates,
//   - versions other than 1.0, which it refuses,
//   - simple packet blocks, which have no time; they become enhanced ones.
type ngFrames struct {
	reader     *pcapgo.NgReader // nil before the first frame
	input      headerReader
	blocks     [sectionSize + interfaceSize + packetSize]byte // space for input
	newSection bool                                           // gopacket does not have the header of this section
	described  uint32                                         // number of interfaces of this section that gopacket has
}

// read lets gopacket read the header of a frame of f.Len bytes on the wire. It
// sets f.Time and f.Link.
func (r *ngFrames) read(order byteOrder, i *ngIface, ticks uint64, f *Frame) error {
	head := r.blocks[:0]
	if r.newSection {
		head = appendSection(head, order)
		r.newSection, r.described = false, 0
	}
	if !i.described {
		head = appendInterface(head, order, i)
		i.described, i.id = true, r.described
		r.described++
	}
	n := len(head)
	head = head[:n+packetSize]
	h := head[n:]
	order.put32(h, blockEnhanced)
	order.put32(h[4:], packetSize)
	order.put32(h[8:], i.id)
	order.put32(h[12:], uint32(ticks>>32))
	order.put32(h[16:], uint32(ticks))
	order.put32(h[20:], 0) // no bytes were captured
	order.put32(h[24:], uint32(f.Len))
	order.put32(h[28:], packetSize)
	r.input.unread = head
	if r.reader == nil {
		var err error
		if r.reader, err = pcapgo.NewNgReader(&r.input, ngOptions); err != nil {
			return err
		}
	}
	_, info, err := r.reader.ZeroCopyReadPacketData()
	if err != nil {
		return err
	}
	f.Time = info.Timestamp.UnixNano()
	f.Link = i.link
	return nil
}

// appendSection appends a section header without options.
func appendSection(b []byte, order byteOrder) []byte {
	n := len(b)
	b = b[:n+sectionSize]
	h := b[n:]
	order.put32(h, blockSection)
	order.put32(h[4:], sectionSize)
	order.put32(h[8:], byteOrderMagic)
	order.put16(h[12:], 1) // version 1.0
	order.put16(h[14:], 0)
	order.put64(h[16:], ^uint64(0)) // the length of the section is not known
	order.put32(h[24:], sectionSize)
	return b
}

// appendInterface appends the description of an interface. Its link type is
// not used: gopacket's has 8 bits.
func appendInterface(b []byte, order byteOrder, i *ngIface) []byte {
	n := len(b)
	b = b[:n+interfaceSize]
	h := b[n:]
	order.put32(h, blockInterface)
	order.put32(h[4:], interfaceSize)
	order.put32(h[8:], 0)
	order.put32(h[12:], 0) // no snaplen
	resolution := i.resolution
	if i.clock != nil {
		resolution = defaultResolution
	}
	order.put16(h[16:], optionTsResol)
	order.put16(h[18:], 1)
	copy(h[20:], []byte{resolution, 0, 0, 0})
	order.put16(h[24:], optionTsOffset)
	order.put16(h[26:], 8)
	order.put64(h[28:], uint64(i.offset))
	order.put32(h[36:], optionEnd)
	order.put32(h[40:], interfaceSize)
	return b
}
