package anonymize

// Options of IP and TCP. Those with their length behind their number may be kept.
const (
	optEnd          = 0 // of IPv4 and TCP
	optPad          = 1
	opt4Timestamp   = 68
	opt4RouterAlert = 148
	opt6Pad1        = 0
	opt6PadN        = 1
	opt6RouterAlert = 5
	opt6Jumbo       = 0xc2
	optMSS          = 2
	optScale        = 3
	optSACKOK       = 4
	optSACK         = 5
	optTimestamp    = 8
)

const ipv4Size = 20 // length of an IPv4 header without options

// keeps4 reports whether an option of IPv4 has no address.
func keeps4(option []byte) bool {
	const timestampsOnly = 0
	return option[0] == opt4RouterAlert && len(option) == 4 || option[0] == opt4Timestamp && len(option) >= 4 && option[3]&0xf == timestampsOnly
}

// keepsTCP reports whether the analysis of a connection needs an option of TCP.
func keepsTCP(option []byte) bool {
	switch option[0] {
	case optMSS, optScale, optSACKOK, optSACK, optTimestamp:
		return true
	}
	return false
}

// options keeps some options of a header of IPv4 or TCP, which are between two offsets of a part, as
// far as they were captured; others become padding.
func (c *copier) options(p part, from, to int, keeps func(option []byte) bool) {
	if to <= from {
		return
	}
	in, out := c.in[p.off+from:p.off+to], c.out[p.off+from:p.off+to]
	c.keep(p.off + to)
	for len(in) > 0 && in[0] != optEnd {
		n := 1 // of padding, or where the length was cut
		if in[0] != optPad && len(in) > 1 {
			if n = min(int(in[1]), len(in)); n < 2 {
				return
			}
		}
		if in[0] != optPad && keeps(in[:n]) {
			copy(out, in[:n])
		} else {
			for k := range n {
				out[k] = optPad
			}
		}
		in, out = in[n:], out[n:]
	}
}

// ipv6Options keeps options without addresses; others become padding.
func (c *copier) ipv6Options(p part, size int) {
	in, out := c.in[p.off:p.off+size], c.out[p.off:p.off+size]
	c.keep(p.off + size)
	for i := 2; i+1 < len(in); {
		if in[i] == opt6Pad1 {
			i++
			continue
		}
		n := 2 + int(in[i+1])
		if i+n > len(in) {
			break
		}
		out[i], out[i+1] = opt6PadN, in[i+1]
		if in[i] == opt6RouterAlert || in[i] == opt6Jumbo && n == 6 {
			copy(out[i:i+n], in[i:])
		}
		i += n
	}
}
