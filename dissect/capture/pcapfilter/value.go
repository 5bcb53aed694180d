package pcapfilter

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// number parses a number up to top: decimal, 0x hexadecimal or 0 octal.
func (p *parser) number(t token, top uint32) (uint32, error) {
	n, err := strconv.ParseUint(t.text, 0, 32)
	if err != nil || uint32(n) > top || strings.ContainsRune(t.text, '_') {
		return 0, p.invalid(t, "%q is not a number up to %d", t.text, top)
	}
	return uint32(n), nil
}

func startsWithDigit(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

func (p *parser) host(q qualifiers, t token) (test, error) {
	if strings.ContainsRune(t.text, '/') {
		return p.network(q, t)
	}
	addr, err := netip.ParseAddr(t.text)
	if err != nil || addr.Zone() != "" {
		if startsWithDigit(t.text) && strings.Trim(t.text, "0123456789.") == "" {
			return nil, p.invalid(t, "%q is not an address", t.text)
		}
		return nil, p.unsupported(t, "the name")
	}
	return p.address(q, t, netip.PrefixFrom(addr, addr.BitLen()))
}

// network parses ADDRESS/BITS, ADDRESS mask MASK, or the first bytes of an IPv4
// address as in `net 192.0.2`.
func (p *parser) network(q qualifiers, t token) (test, error) {
	text, bits, sized := strings.Cut(t.text, "/")
	missing := 0
	if !strings.ContainsRune(text, ':') {
		missing = max(3-strings.Count(text, "."), 0)
	}
	addr, err := netip.ParseAddr(text + strings.Repeat(".0", missing))
	if err != nil {
		if startsWithDigit(text) {
			return nil, p.invalid(t, "%q is not a network", t.text)
		}
		return nil, p.unsupported(t, "the name")
	}
	size := addr.BitLen() - 8*missing
	if sized {
		n, err := strconv.Atoi(bits)
		if err != nil || n < 0 || n > addr.BitLen() {
			return nil, p.invalid(t, "%q is not a network", t.text)
		}
		size = n
	} else if p.accept("mask") {
		m := p.take()
		mask, err := netip.ParseAddr(m.text)
		if err != nil || !mask.Is4() || !addr.Is4() {
			return nil, p.invalid(m, "%q is not a mask", m.text)
		}
		four := mask.As4()
		if size, _ = net.IPMask(four[:]).Size(); size == 0 && mask != netip.IPv4Unspecified() {
			return nil, p.unsupported(m, "the mask")
		}
	}
	prefix := netip.PrefixFrom(addr, size)
	if prefix.Masked() != prefix {
		return nil, p.invalid(t, "%q has bits set outside its %d bits of network", t.text, size)
	}
	return p.address(q, t, prefix)
}

func (p *parser) address(q qualifiers, t token, prefix netip.Prefix) (test, error) {
	if q.proto != "" && (q.proto == "ip6") != prefix.Addr().Is6() {
		return nil, p.invalid(t, "%q is not an address of %s", t.text, q.proto)
	}
	return addressTest(q.proto, q.dir, prefix), nil
}

func (p *parser) port(q qualifiers, t token) (test, error) {
	n, err := p.portNumber(q, t)
	return portTest(q.proto, q.dir, n, n), err
}

func (p *parser) portNumber(q qualifiers, t token) (uint32, error) {
	if startsWithDigit(t.text) {
		return p.number(t, 65535)
	}
	if t.text[0] == '-' { // net.LookupPort accepts -0 as a number
		return 0, p.invalid(t, "%q is not a port", t.text)
	}
	network := q.proto
	if network != "udp" {
		network = "tcp"
	}
	n, err := net.LookupPort(network, t.text)
	if err != nil {
		return 0, p.unsupported(t, "the port")
	}
	return uint32(n), nil
}

func (p *parser) portRange(q qualifiers, t token) (test, error) {
	first, last, ranged := strings.Cut(t.text, "-")
	if first == "" || ranged && last == "" {
		return nil, p.invalid(t, "%q is not a range of ports", t.text)
	}
	low, err := p.portNumber(q, token{first, t.at})
	if err != nil || !ranged {
		return portTest(q.proto, q.dir, low, low), err
	}
	top, err := p.portNumber(q, token{last, t.at + len(first) + 1})
	return portTest(q.proto, q.dir, min(low, top), max(low, top)), err
}

func (p *parser) protocolNumber(q qualifiers, t token) (test, error) {
	name := strings.TrimPrefix(t.text, `\`)
	if n, ok := protocols[name]; ok {
		return protoTest(q.proto, n), nil
	}
	if !startsWithDigit(name) {
		return nil, p.unsupported(t, "the protocol")
	}
	n, err := p.number(t, 255)
	return protoTest(q.proto, n), err
}

func (p *parser) etherType(t token) (test, error) {
	const lowest = 0x600 // below are lengths of frames without EtherType
	name := strings.TrimPrefix(t.text, `\`)
	if n, ok := etherTypes[name]; ok {
		return etherTypeTest(n), nil
	}
	if !startsWithDigit(name) {
		return nil, p.unsupported(t, "the protocol")
	}
	n, err := p.number(t, 65535)
	if err == nil && n < lowest {
		return nil, p.unsupported(t, "the protocol")
	}
	return etherTypeTest(n), err
}

// vlan parses the id behind `vlan`, which has a number of tags in front of it.
func (p *parser) vlan(tags int) (condition, error) {
	var mask, id uint32
	var err error
	if startsWithDigit(p.peek().text) {
		mask = 0xfff
		id, err = p.number(p.take(), mask)
	}
	var removed condition
	if tags == 0 {
		removed = func(e *emitter, yes, no label) label { return vlanID(e, opLoadWord, skfVLANTag, mask, id, yes, no) }
	}
	return behindTags(tags, vlanTest(mask, id), removed), err
}

// length parses the limit behind `less` or `greater`, with the operator that it stands for.
func (p *parser) length(op string) (test, error) {
	n, err := p.number(p.take(), 1<<32-1)
	return relation{mask: 1<<32 - 1, op: op, value: n}.test, err
}
