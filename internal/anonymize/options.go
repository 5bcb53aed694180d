package anonymize

// IP options that are kept: they have no address or text.
const (
	opt4End         = 0
	opt4Nop         = 1
	opt4Timestamp   = 68
	opt4RouterAlert = 148
	opt6Pad1        = 0
	opt6PadN        = 1
	opt6RouterAlert = 5
	opt6Jumbo       = 0xc2
)

// TCP options that are kept.
const (
	optEnd       = 0
	optPad       = 1
	optMSS       = 2
	optScale     = 3
	optSACKOK    = 4
	optSACK      = 5
	optTimestamp = 8
)

const ipv4Size = 20 // length of an IPv4 header without options

// ipv4Options keeps options without addresses; others become padding.
func (c *copier) ipv4Options(p part, size int) {
	in, out := c.in[p.off+ipv4Size:p.off+size], c.out[p.off+ipv4Size:p.off+size]
	c.keep(p.off + size)
	for i := 0; i < len(in) && in[i] != opt4End; {
		if in[i] == opt4Nop {
			out[i] = opt4Nop
			i++
			continue
		}
		n := 0
		if i+1 < len(in) {
			n = int(in[i+1])
		}
		if n < 2 || i+n > len(in) {
			return
		}
		const timestampsOnly = 0
		switch {
		case in[i] == opt4RouterAlert, in[i] == opt4Timestamp && n >= 4 && in[i+3]&0xf == timestampsOnly:
			copy(out[i:i+n], in[i:])
		default:
			for k := range n {
				out[i+k] = opt4Nop
			}
		}
		i += n
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

// tcpOptions keeps the options that the analysis of a connection needs; others become
// padding. The header has size bytes, as far as it was captured.
func (c *copier) tcpOptions(p part, size int) {
	if size <= tcpSize {
		return
	}
	in, out := c.in[p.off+tcpSize:p.off+size], c.out[p.off+tcpSize:p.off+size]
	c.keep(p.off + size)
	for i := 0; i < len(in) && in[i] != optEnd; {
		if in[i] == optPad {
			out[i] = optPad
			i++
			continue
		}
		n := len(in) - i // of one that was cut
		if i+1 < len(in) {
			if n = int(in[i+1]); n < 2 {
				return
			}
		}
		end := min(i+n, len(in))
		switch in[i] {
		case optMSS, optScale, optSACKOK, optSACK, optTimestamp:
			copy(out[i:end], in[i:])
		default:
			for k := i; k < end; k++ {
				out[k] = optPad
			}
		}
		i = end
	}
}
