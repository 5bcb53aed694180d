package values

import (
	"bytes"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes/schema"
)

// device returns the replacement of the name of a target, device, log or client: of the
// file system's name in it, of NIDs and of UUIDs. Kinds and indices of targets stay.
func (p *Mapper) device(name []byte) string {
	rest := bytes.TrimSuffix(name, []byte("_UUID"))
	suffix := string(name[len(rest):])
	switch {
	case len(rest) == 0 || p.vocabulary.logs[string(rest)]:
		return string(name)
	case isUUID(rest):
		return p.replace(uuids, rest, (*Mapper).hexWord) + suffix
	case bytes.IndexByte(rest, '@') > 0:
		if nid, ok := bytes.CutPrefix(rest, []byte("MGC")); ok {
			return "MGC" + p.nidText(nid) + suffix
		}
		return p.nidText(rest) + suffix
	}
	if _, err := netip.ParseAddr(string(rest)); err == nil {
		return p.addressText(string(rest)) + suffix
	}
	return p.replace(devices, rest, (*Mapper).newDevice) + suffix
}

func (p *Mapper) newDevice(name []byte) string {
	return eachPart(name, "-", func(i int, part []byte) string {
		plain := bytes.TrimSuffix(part, []byte("_UUID"))
		suffix := string(part[len(plain):])
		switch {
		case p.vocabulary.suffixes[string(plain)] && i > 0, isTarget(plain):
			return string(part)
		case len(plain) >= 12 && allAre(plain, isHexDigit):
			return p.hexWord(plain) + suffix
		}
		return p.word(plain) + suffix
	})
}

// isTarget reports whether a text is the kind and index of a target, or of all targets of a
// kind: OST0000, MDT*.
func isTarget(b []byte) bool {
	if !bytes.HasPrefix(b, []byte("MDT")) && !bytes.HasPrefix(b, []byte("OST")) {
		return false
	}
	index := b[3:]
	return len(index) == 1 && index[0] == '*' || len(index) == 4 && allAre(index, isHexDigit)
}

// isUUID reports whether a text is a UUID, in five groups of hexadecimal digits.
func isUUID(b []byte) bool {
	if len(b) != 36 {
		return false
	}
	for i, c := range b {
		if hyphen := i == 8 || i == 13 || i == 18 || i == 23; hyphen && c != '-' || !hyphen && !isHexDigit(c) {
			return false
		}
	}
	return true
}

// hexWord replaces the hexadecimal digits of a text by others.
func (p *Mapper) hexWord(text []byte) string {
	random := p.keyed.bytes(len(text), "hex", 0, text)
	r := bytes.Clone(text)
	for i, c := range text {
		if isHexDigit(c) {
			r[i] = "0123456789abcdef"[random[i]&15]
		}
	}
	return string(r)
}

// nidText returns the replacement of a NID as text, which may have more behind the
// network: 192.0.2.1@tcp_0.
func (p *Mapper) nidText(text []byte) string {
	addr, network, ok := strings.Cut(string(text), "@")
	if !ok {
		return p.addressText(addr)
	}
	name := network[:span([]byte(network), func(c byte) bool { return isLetter(c) || isDigit(c) })]
	if _, _, ok := schema.ParseNetwork(name); !ok {
		return p.addressPattern(addr) + "@" + p.word([]byte(network))
	}
	n, ok := lnet.ParseNID(addr + "@" + name)
	if !ok {
		return p.addressPattern(addr) + "@" + name + p.afterNetwork(network[len(name):])
	}
	r := p.NID(n).String()
	if len(r) != len(addr)+1+len(name) { // not in its usual form
		r = p.word([]byte(addr)) + "@" + name
	}
	return r + p.afterNetwork(network[len(name):])
}

// afterNetwork returns the replacement of what follows the network of a NID: as a rule
// nothing, or an underscore and a digit in the names of devices.
func (p *Mapper) afterNetwork(text string) string {
	return tokens([]byte(text), func(token []byte) string {
		if len(token) == 2 && token[0] == '_' && isDigit(token[1]) {
			return string(token)
		}
		return p.word(token)
	})
}

func (p *Mapper) addressText(text string) string {
	a, err := netip.ParseAddr(text)
	if err != nil || a.Zone() != "" {
		return p.word([]byte(text))
	}
	b := a.AsSlice()
	if a.Is4() {
		p.IPv4(b)
	} else {
		p.IPv6(b)
	}
	if r := ipText(string(b)); len(r) == len(text) {
		return r
	}
	return p.word([]byte(text))
}

// addressPattern returns the replacement of what stands for addresses in front of the
// network of a NID: a pattern such as 192.0.2.[1-20], or the name of a host.
func (p *Mapper) addressPattern(text string) string {
	// Without subnets, the addresses of a pattern have no pattern in common.
	if !p.Flat && isAddressPattern(text) {
		octets := strings.Split(text, ".")
		var before []byte // octets that are no patterns, else 0
		for i, octet := range octets {
			octets[i] = eachRun([]byte(octet), func(rest []byte) int { return span(rest, isDigit) }, func(run []byte) string {
				x, _ := strconv.ParseUint(string(run), 10, 8)
				return strconv.Itoa(int(p.octet("ipv4", i, before, []byte{byte(x)})[0]))
			})
			whole, _ := strconv.ParseUint(octet, 10, 8) // 0 of a pattern
			before = append(before, byte(whole))
		}
		if r := strings.Join(octets, "."); len(r) == len(text) {
			return r
		}
	}
	return p.word([]byte(text))
}

// isAddressPattern reports whether a text is a pattern of IPv4 addresses: 192.0.2.[1-20].
func isAddressPattern(text string) bool {
	numbers := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(".[]-,/*", r) })
	tooLarge := func(number string) bool {
		_, err := strconv.ParseUint(number, 10, 8)
		return err != nil
	}
	return strings.Count(text, ".") == 3 && !slices.ContainsFunc(numbers, tooLarge)
}

// tokens replaces the runs of letters, digits, hyphens and underscores in a text, and of
// bytes beyond ASCII.
func tokens(text []byte, replacement func([]byte) string) string {
	isToken := func(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' || c == '-' || c >= 0x80 }
	return eachRun(text, func(rest []byte) int { return span(rest, isToken) }, replacement)
}

// eachRun replaces runs of bytes in a text. Length returns how long the one is with which the rest
// begins; 0: its first byte stays.
func eachRun(text []byte, length func(rest []byte) int, replacement func(run []byte) string) string {
	var b strings.Builder
	for len(text) > 0 {
		n := length(text)
		if n > 0 {
			b.WriteString(replacement(text[:n]))
		} else {
			n = 1
			b.WriteByte(text[0])
		}
		text = text[n:]
	}
	return b.String()
}

// job returns the replacement of the name of a job: of the names in it, and of numbers,
// which may be IDs of users.
func (p *Mapper) job(name []byte) string {
	return p.replace(jobs, name, func(p *Mapper, name []byte) string { return tokens(name, p.jobToken) })
}

func (p *Mapper) jobToken(token []byte) string {
	if n, err := strconv.ParseUint(string(token), 10, 64); err == nil && (token[0] != '0' || len(token) == 1) {
		return strconv.FormatUint(p.ID(n), 10)
	}
	if thread := strings.TrimRight(string(token), "_0123456789"); p.vocabulary.threads[thread] {
		return string(token)
	}
	return p.word(token)
}

// plainWord returns the replacement of a name that has no parts: that of a pool or nodemap.
func (p *Mapper) plainWord(name []byte) string {
	if p.vocabulary.logs[string(name)] {
		return string(name)
	}
	return p.replace(plainWords, name, (*Mapper).word)
}
