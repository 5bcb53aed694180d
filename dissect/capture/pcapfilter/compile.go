package pcapfilter

import (
	"encoding/binary"
	"net/netip"
)

// Offsets in an IPv4 and an IPv6 header, bytes.
const (
	ip4Fragment = 6 // and flags, two bytes
	ip4Proto    = 9
	ip4Source   = 12
	ip4Dest     = 16
	ip6Next     = 6
	ip6Source   = 8
	ip6Dest     = 24
	ip6Header   = 40
	ip6Fragment = 44 // next header: a fragment header

	offsetMask = 0x1fff // bits of the field at ip4Fragment: not 0 except in the first fragment
)

// A condition emits its instructions and returns their label.
type condition func(e *emitter, yes, no label) label

// A test is a condition on frames with a number of VLAN tags.
type test func(e *emitter, tags int, yes, no label) label

func anyFrame(_ *emitter, yes, _ label) label { return yes }

func both(a, b condition) condition {
	return func(e *emitter, yes, no label) label { return a(e, b(e, yes, no), no) }
}

func either(a, b condition) condition {
	return func(e *emitter, yes, no label) label { return a(e, yes, b(e, yes, no)) }
}

func negate(a condition) condition {
	return func(e *emitter, yes, no label) label { return a(e, no, yes) }
}

// behindTags returns the condition that frames pass a test behind VLAN tags. The kernel may have
// removed the outermost tag from the frame, which then has one tag less; removed is the test of such
// frames, nil if it is the same one.
func behindTags(tags int, t test, removed condition) condition {
	if removed == nil && tags > 0 {
		removed = func(e *emitter, yes, no label) label { return t(e, tags-1, yes, no) }
	}
	return func(e *emitter, yes, no label) label {
		inFrame := t(e, tags, yes, no)
		if !e.kernel || removed == nil {
			return inFrame
		}
		if beside := removed(e, yes, no); beside != inFrame {
			return e.equal(opLoadWord, skfVLANPresent, 1, beside, inFrame)
		}
		return inFrame
	}
}

// protocolTest is the name of a protocol alone, such as `tcp` or `arp`.
func protocolTest(name string) test {
	if etherType, is := etherTypes[name]; is {
		return etherTypeTest(etherType)
	}
	switch name {
	case "icmp", "igmp":
		return protoTest("ip", protocols[name])
	case "icmp6":
		return protoTest("ip6", protocols[name])
	}
	return protoTest("", protocols[name])
}

// protoTest is `ip proto 6`; an empty family is both of ip and ip6.
func protoTest(family string, number uint32) test {
	return func(e *emitter, tags int, yes, no label) label {
		ip := e.packet(tags)
		if family != "ip" {
			six := e.equal(opLoadByte, ip+ip6Header, number, yes, no)
			six = e.equal(opLoadByte, ip+ip6Next, ip6Fragment, six, no)
			six = e.equal(opLoadByte, ip+ip6Next, number, yes, six)
			no = e.family(tags, etherTypes["ip6"], six, no)
		}
		if family != "ip6" {
			four := e.equal(opLoadByte, ip+ip4Proto, number, yes, no)
			no = e.family(tags, etherTypes["ip"], four, no)
		}
		return no
	}
}

// etherTypeTest is `ether proto 0x8915`.
func etherTypeTest(number uint32) test {
	return func(e *emitter, tags int, yes, no label) label { return e.family(tags, number, yes, no) }
}

// portTest compares ports of a protocol; an empty one is any of tcp, udp and sctp.
func portTest(proto, dir string, low, top uint32) test {
	protos := []string{"tcp", "udp", "sctp"}
	if proto != "" {
		protos = []string{proto}
	}
	// The ports are the first two fields of a transport header.
	ports := func(e *emitter, load uint16, at int, yes, no label) label {
		return directions(dir, at, at+2, yes, no, func(at int, yes, no label) label {
			if low == top {
				return e.equal(load, at, low, yes, no)
			}
			e.jump(opJumpGreater, top, no, yes)
			below := label(len(e.reversed))
			return e.load(load, at, opJumpGreaterEq, low, below, no)
		})
	}
	return func(e *emitter, tags int, yes, no label) label {
		ip := e.packet(tags)
		six := ports(e, opLoadHalf, ip+ip6Header, yes, no)
		six = e.protocol(ip+ip6Next, protos, six, no)
		no6 := e.family(tags, etherTypes["ip6"], six, no)
		ports(e, opLoadHalf+opIndexed, ip, yes, no)
		return e.behindIPv4(tags, protos, no, no6)
	}
}

// protocol emits a test of the protocol number at an offset.
func (e *emitter) protocol(at int, protos []string, yes, no label) label {
	for _, name := range protos {
		no = e.equal(opLoadByte, at, protocols[name], yes, no)
	}
	return no
}

// behindIPv4 emits what precedes an indexed test of a header behind one of IPv4: that it is there, and
// the length of the header of IPv4. A frame of another family goes on at other.
func (e *emitter) behindIPv4(tags int, protos []string, no, other label) label {
	ip := e.packet(tags)
	four := e.op(opLoadX4Nibble, uint32(ip))
	four = e.load(opLoadHalf, ip+ip4Fragment, opJumpBits, offsetMask, no, four)
	four = e.protocol(ip+ip4Proto, protos, four, no)
	return e.family(tags, etherTypes["ip"], four, other)
}

// directions emits a test at the offset of the source, that of the destination or both, as dir
// requires.
func directions(dir string, source, dest int, yes, no label, test func(at int, yes, no label) label) label {
	switch dir {
	case "src":
		return test(source, yes, no)
	case "dst":
		return test(dest, yes, no)
	case "src and dst":
		return test(source, test(dest, yes, no), no)
	}
	return test(source, yes, test(dest, yes, no))
}

// addressTest compares addresses of a protocol; an empty one is any with addresses of this family.
func addressTest(proto, dir string, net netip.Prefix) test {
	const arpSource, arpDest = 14, 24 // offsets of the sender's and the target's IPv4 address
	return func(e *emitter, tags int, yes, no label) label {
		family := func(name string, source, dest int, no label) label {
			if proto != "" && proto != name {
				return no
			}
			packet := e.packet(tags)
			found := directions(dir, packet+source, packet+dest, yes, no, func(at int, yes, no label) label {
				return e.address(at, net, yes, no)
			})
			return e.family(tags, etherTypes[name], found, no)
		}
		if net.Addr().Is6() {
			return family("ip6", ip6Source, ip6Dest, no)
		}
		no = family("rarp", arpSource, arpDest, no)
		no = family("arp", arpSource, arpDest, no)
		return family("ip", ip4Source, ip4Dest, no)
	}
}

// address emits a comparison of the first bits of the address at an offset,
// word by word.
func (e *emitter) address(at int, net netip.Prefix, yes, no label) label {
	raw, bits := net.Addr().AsSlice(), net.Bits()
	for i := (bits - 1) / 32; i >= 0 && bits > 0; i-- {
		mask := ^uint32(0)
		if rest := bits - 32*i; rest < 32 {
			mask <<= 32 - rest
		}
		yes = e.masked(opLoadWord, at+4*i, mask, opJumpEqual, binary.BigEndian.Uint32(raw[4*i:]), yes, no)
	}
	return yes
}

// vlanTest is `vlan`, or `vlan 5` with a mask of the id.
func vlanTest(mask, id uint32) test {
	return func(e *emitter, tags int, yes, no label) label {
		found := vlanID(e, opLoadHalf, e.packet(tags), mask, id, yes, no)
		for _, etherType := range []uint32{0x8100, 0x88a8, 0x9100} {
			no = e.family(tags, etherType, found, no)
		}
		return no
	}
}

func vlanID(e *emitter, load uint16, at int, mask, id uint32, yes, no label) label {
	if mask == 0 {
		return yes
	}
	return e.masked(load, at, mask, opJumpEqual, id, yes, no)
}

// relation compares bytes: proto[offset:size] & mask OP value.
type relation struct {
	proto        string // "" compares the length of the frame
	offset, size uint32
	mask         uint32
	op           string
	value        uint32
}

func (t relation) test(e *emitter, tags int, yes, no label) label {
	packet := e.packet(tags)
	if etherType, is := etherTypes[t.proto]; is {
		return e.family(tags, etherType, t.compare(e, t.load(), packet, yes, no), no)
	}
	switch t.proto {
	case "":
		return t.compare(e, opLoadLength, 0, yes, no)
	case "ether":
		e.refused = e.refused || e.opaque != ""
		return t.compare(e, t.load(), 0, yes, no)
	case "icmp6":
		six := t.compare(e, t.load(), packet+ip6Header, yes, no)
		six = e.equal(opLoadByte, packet+ip6Next, protocols["icmp6"], six, no)
		return e.family(tags, etherTypes["ip6"], six, no)
	}
	t.compare(e, t.load()+opIndexed, packet, yes, no)
	return e.behindIPv4(tags, []string{t.proto}, no, no)
}

// load returns the opcode that loads as many bytes as are compared.
func (t relation) load() uint16 {
	switch t.size {
	case 1:
		return opLoadByte
	case 2:
		return opLoadHalf
	}
	return opLoadWord
}

// compare emits a comparison of the bytes at offset base + t.offset. BPF has
// only three of the six comparisons; the others are these with yes and no
// exchanged.
func (t relation) compare(e *emitter, load uint16, base int, yes, no label) label {
	jump := uint16(opJumpEqual)
	switch t.op {
	case "!=", "<=", "<":
		yes, no = no, yes
	}
	switch t.op {
	case ">", "<=":
		jump = opJumpGreater
	case ">=", "<":
		jump = opJumpGreaterEq
	}
	return e.masked(load, base+int(t.offset), t.mask, jump, t.value, yes, no)
}
