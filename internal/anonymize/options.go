package anonymize

// Options of IP and TCP. Those with their length behind their number may be kept.
const (
	optEnd          = 0 // of IPv4 and TCP
	optPad          = 1
	opt4Timestamp   = 68
	opt4RouterAlert = 148
	opt6Pad         = 0
	opt6RouterAlert = 5
	opt6Jumbo       = 0xc2
	optMSS          = 2
	optScale        = 3
	optSACKOK       = 4
	optSACK         = 5
	optTimestamp    = 8
)

const ipv4Size = 20 // length of an IPv4 header without options

// optionForm is how options of a header are written, and which of them stay.
type optionForm struct {
	pad    byte
	end    int // ends the list; -1: nothing does
	header int // bytes in front that the length of an option does not count
	keeps  func(option []byte) bool
}

var (
	ipv4Options = optionForm{optPad, optEnd, 0, keeps4}
	ipv6Options = optionForm{opt6Pad, -1, 2, keeps6}
	tcpOptions  = optionForm{optPad, optEnd, 0, keepsTCP}
)

// keeps4 reports whether an option of IPv4 has no address.
func keeps4(option []byte) bool {
	const timestampsOnly = 0
	return option[0] == opt4RouterAlert && len(option) == 4 || option[0] == opt4Timestamp && len(option) >= 4 && option[3]&0xf == timestampsOnly
}

// keeps6 reports whether an option of IPv6 has no address.
func keeps6(option []byte) bool {
	const alertSize, jumboSize = 2, 4
	switch option[0] {
	case opt6RouterAlert:
		return len(option) == 2+alertSize && option[1] == alertSize
	case opt6Jumbo:
		return len(option) == 2+jumboSize && option[1] == jumboSize
	}
	return false
}

// keepsTCP reports whether the analysis of a connection needs an option of TCP.
func keepsTCP(option []byte) bool {
	switch option[0] {
	case optMSS, optScale, optSACKOK, optSACK, optTimestamp:
		return true
	}
	return false
}

// options keeps some options of a header, which are between two offsets of a part, as far as they
// were captured; others become padding.
func (c *copier) options(p part, from, to int, form *optionForm) {
	if to <= from {
		return
	}
	in, out := c.in[p.off+from:p.off+to], c.out[p.off+from:p.off+to]
	c.keep(p.off + to)
	for len(in) > 0 && int(in[0]) != form.end {
		n := 1 // of padding, or where the length was cut
		if in[0] != form.pad && len(in) > 1 {
			if n = min(form.header+int(in[1]), len(in)); n < 2 {
				return
			}
		}
		if in[0] != form.pad && form.keeps(in[:n]) {
			copy(out, in[:n])
		} else {
			for k := range n {
				out[k] = form.pad
			}
		}
		in, out = in[n:], out[n:]
	}
}
