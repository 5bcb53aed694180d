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

func (t protocolTest) compile(e *emitter, tags int, yes, no label) label {
	if etherType, is := etherTypes[t.name]; is {
		return e.family(tags, etherType, yes, no)
	}
	family := ""
	switch t.name {
	case "icmp", "igmp":
		family = "ip"
	case "icmp6":
		family = "ip6"
	}
	return protoTest{family, protocols[t.name]}.compile(e, tags, yes, no)
}

func (t protoTest) compile(e *emitter, tags int, yes, no label) label {
	ip := e.packet(tags)
	if t.family != "ip" {
		six := e.equal(opLoadByte, ip+ip6Header, t.number, yes, no)
		six = e.equal(opLoadByte, ip+ip6Next, ip6Fragment, six, no)
		six = e.equal(opLoadByte, ip+ip6Next, t.number, yes, six)
		no = e.family(tags, etherTypes["ip6"], six, no)
	}
	if t.family != "ip6" {
		four := e.equal(opLoadByte, ip+ip4Proto, t.number, yes, no)
		no = e.family(tags, etherTypes["ip"], four, no)
	}
	return no
}

func (t etherTypeTest) compile(e *emitter, tags int, yes, no label) label {
	return e.family(tags, t.number, yes, no)
}

func (t portTest) compile(e *emitter, tags int, yes, no label) label {
	ip := e.packet(tags)
	six := t.ports(e, opLoadHalf, ip+ip6Header, yes, no)
	six = t.protocol(e, ip+ip6Next, six, no)
	no6 := e.family(tags, etherTypes["ip6"], six, no)

	t.ports(e, opLoadHalf+opIndexed, ip, yes, no)
	four := e.op(opLoadX4Nibble, uint32(ip))
	four = e.load(opLoadHalf, ip+ip4Fragment, opJumpBits, offsetMask, no, four)
	four = t.protocol(e, ip+ip4Proto, four, no)
	return e.family(tags, etherTypes["ip"], four, no6)
}

// protocol emits a test of the protocol number at an offset.
func (t portTest) protocol(e *emitter, at int, yes, no label) label {
	if t.proto != "" {
		return e.equal(opLoadByte, at, protocols[t.proto], yes, no)
	}
	for _, name := range []string{"tcp", "udp", "sctp"} {
		no = e.equal(opLoadByte, at, protocols[name], yes, no)
	}
	return no
}

// ports emits a comparison of the source port, the destination port or both,
// the first two fields of a transport header.
func (t portTest) ports(e *emitter, load uint16, at int, yes, no label) label {
	return directions(t.dir, yes, no, func(dest bool, yes, no label) label {
		offset := at
		if dest {
			offset += 2
		}
		if t.low == t.top {
			return e.equal(load, offset, t.low, yes, no)
		}
		e.jump(opJumpGreater, t.top, no, yes)
		below := label(len(e.reversed))
		return e.load(load, offset, opJumpGreaterEq, t.low, below, no)
	})
}

// directions emits test for the source, the destination or both, as dir
// requires.
func directions(dir string, yes, no label, test func(dest bool, yes, no label) label) label {
	switch dir {
	case "src":
		return test(false, yes, no)
	case "dst":
		return test(true, yes, no)
	case "src and dst":
		return test(false, test(true, yes, no), no)
	}
	return test(false, yes, test(true, yes, no))
}

func (t addressTest) compile(e *emitter, tags int, yes, no label) label {
	const arpSource, arpDest = 14, 24 // offsets of the sender's and the target's IPv4 address
	family := func(name string, source, dest int, no label) label {
		if t.proto != "" && t.proto != name {
			return no
		}
		found := directions(t.dir, yes, no, func(isDest bool, yes, no label) label {
			at := e.packet(tags) + source
			if isDest {
				at = e.packet(tags) + dest
			}
			return e.address(at, t.net, yes, no)
		})
		return e.family(tags, etherTypes[name], found, no)
	}
	if t.net.Addr().Is6() {
		return family("ip6", ip6Source, ip6Dest, no)
	}
	no = family("rarp", arpSource, arpDest, no)
	no = family("arp", arpSource, arpDest, no)
	return family("ip", ip4Source, ip4Dest, no)
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

func (t vlanTest) compile(e *emitter, tags int, yes, no label) label {
	packet := e.packet(tags)
	found := yes
	if !t.anyID {
		found = e.masked(opLoadHalf, packet, 0xfff, opJumpEqual, t.id, yes, no)
	}
	for _, etherType := range []uint32{0x8100, 0x88a8, 0x9100} {
		no = e.family(tags, etherType, found, no)
	}
	return no
}

func (t lengthTest) compile(e *emitter, _ int, yes, no label) label {
	if t.greater {
		return e.load(opLoadLength, 0, opJumpGreaterEq, t.limit, yes, no)
	}
	return e.load(opLoadLength, 0, opJumpGreater, t.limit, no, yes)
}

func (t relationTest) compile(e *emitter, tags int, yes, no label) label {
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
	four := e.op(opLoadX4Nibble, uint32(packet))
	four = e.load(opLoadHalf, packet+ip4Fragment, opJumpBits, offsetMask, no, four)
	four = e.equal(opLoadByte, packet+ip4Proto, protocols[t.proto], four, no)
	return e.family(tags, etherTypes["ip"], four, no)
}

// load returns the opcode that loads as many bytes as are compared.
func (t relationTest) load() uint16 {
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
func (t relationTest) compare(e *emitter, load uint16, base int, yes, no label) label {
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
