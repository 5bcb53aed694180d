package capture

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

	fragmentBits = 0x1fff // of the field at ip4Fragment: not the first fragment
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

func (t portTest) compile(e *emitter, tags int, yes, no label) label {
	ip := e.packet(tags)
	six := t.ports(e, opLoadHalf, ip+ip6Header, yes, no)
	six = t.protocol(e, ip+ip6Next, six, no)
	no6 := e.family(tags, etherTypes["ip6"], six, no)

	t.ports(e, opLoadHalfX, ip, yes, no)
	four := e.op(opLoadX4Nibble, uint32(ip))
	four = e.load(opLoadHalf, ip+ip4Fragment, opJumpBits, fragmentBits, no, four)
	four = t.protocol(e, ip+ip4Proto, four, no)
	return e.family(tags, etherTypes["ip"], four, no6)
}

func (t portTest) protocol(e *emitter, at int, yes, no label) label {
	if t.proto != "" {
		return e.equal(opLoadByte, at, protocols[t.proto], yes, no)
	}
	for _, name := range []string{"tcp", "udp", "sctp"} {
		no = e.equal(opLoadByte, at, protocols[name], yes, no)
	}
	return no
}

// ports compares the two ports, the first two fields of a transport header.
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

// directions compiles a test of a source or destination as qualified.
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
	packet := e.packet(tags)
	if t.net.Addr().Is6() {
		six := directions(t.dir, yes, no, func(dest bool, yes, no label) label {
			if dest {
				return e.address(packet+ip6Dest, t.net, yes, no)
			}
			return e.address(packet+ip6Source, t.net, yes, no)
		})
		return e.family(tags, etherTypes["ip6"], six, no)
	}
	const arpSource, arpDest = 14, 24 // the IPv4 addresses asked from and for
	if t.proto != "ip" {
		arp := directions(t.dir, yes, no, func(dest bool, yes, no label) label {
			if dest {
				return e.address(packet+arpDest, t.net, yes, no)
			}
			return e.address(packet+arpSource, t.net, yes, no)
		})
		if t.proto != "arp" {
			no = e.family(tags, etherTypes["rarp"], arp, no)
		}
		if t.proto != "rarp" {
			no = e.family(tags, etherTypes["arp"], arp, no)
		}
	}
	if t.proto == "arp" || t.proto == "rarp" {
		return no
	}
	four := directions(t.dir, yes, no, func(dest bool, yes, no label) label {
		if dest {
			return e.address(packet+ip4Dest, t.net, yes, no)
		}
		return e.address(packet+ip4Source, t.net, yes, no)
	})
	return e.family(tags, etherTypes["ip"], four, no)
}

// address compares the first bits of an address word by word.
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
	jump := uint16(opJumpEqual)
	yes, no, outside := yes, no, no
	switch t.op {
	case "!=":
		yes, no = no, yes
	case ">":
		jump = opJumpGreater
	case "<=":
		jump, yes, no = opJumpGreater, no, yes
	case ">=":
		jump = opJumpGreaterEq
	case "<":
		jump, yes, no = opJumpGreaterEq, no, yes
	}
	compare := func(code uint16, base int) label {
		return e.masked(code, base+int(t.offset), t.mask, jump, t.value, yes, no)
	}
	loads := map[uint32][2]uint16{1: {opLoadByte, opLoadByteX}, 2: {opLoadHalf, opLoadHalfX}, 4: {opLoadWord, opLoadWordX}}
	load := loads[t.size]
	switch t.proto {
	case "":
		return e.masked(opLoadLength, 0, t.mask, jump, t.value, yes, no)
	case "ether":
		return compare(load[0], 0)
	case "icmp6":
		six := compare(load[0], e.packet(tags)+ip6Header)
		six = e.equal(opLoadByte, e.packet(tags)+ip6Next, protocols["icmp6"], six, outside)
		return e.family(tags, etherTypes["ip6"], six, outside)
	}
	if etherType, is := etherTypes[t.proto]; is {
		return e.family(tags, etherType, compare(load[0], e.packet(tags)), outside)
	}
	ip := e.packet(tags)
	compare(load[1], ip)
	four := e.op(opLoadX4Nibble, uint32(ip))
	four = e.load(opLoadHalf, ip+ip4Fragment, opJumpBits, fragmentBits, outside, four)
	four = e.equal(opLoadByte, ip+ip4Proto, protocols[t.proto], four, outside)
	return e.family(tags, etherTypes["ip"], four, outside)
}
