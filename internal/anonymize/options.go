package anonymize

const ipv4Size = 20 // length of an IPv4 header without options

// Numbers of options.
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

// optionForm is how options of a header are written, and which of them stay.
type optionForm struct {
	pad    byte
	end    int // ends the list; -1: nothing does
	header int // bytes in front that the length of an option does not count

	// keeps has those that stay where the func holds: they have no address or text. Size is what the
	// length of the option says, of which the capture may have less.
	keeps keptOptions
}

type keptOptions map[byte]func(option []byte, size int) bool

var (
	ipv4Options = optionForm{pad: optPad, end: optEnd, keeps: keptOptions{opt4RouterAlert: ofSize(4), opt4Timestamp: hasTimesOnly}}
	ipv6Options = optionForm{pad: opt6Pad, end: -1, header: 2, keeps: keptOptions{opt6RouterAlert: ofSize(4), opt6Jumbo: ofSize(6)}}
	tcpOptions  = optionForm{pad: optPad, end: optEnd, keeps: keptOptions{optMSS: always, optScale: always, optSACKOK: always, optSACK: always, optTimestamp: always}}
)

func always([]byte, int) bool { return true }

func ofSize(n int) func([]byte, int) bool {
	return func(option []byte, size int) bool { return size == n && len(option) == n }
}

// hasTimesOnly reports whether an option with timestamps has no addresses between them.
func hasTimesOnly(option []byte, _ int) bool { return len(option) >= 4 && option[3]&0xf == 0 }

// options keeps some options of a header, which are between two offsets of a part, as far as they
// were captured; others become padding.
func (h *headers) options(p part, from, to int, form *optionForm) {
	if to <= from {
		return
	}
	in, out := h.in[p.off+from:p.off+to], h.out[p.off+from:p.off+to]
	h.keep(p.off + to)
	for len(in) > 0 && int(in[0]) != form.end {
		size := 1 // of padding, or where the length was cut
		if in[0] != form.pad && len(in) > 1 {
			size = form.header + int(in[1])
			if size < 2 {
				return
			}
		}
		n := min(size, len(in))
		if stays := form.keeps[in[0]]; stays != nil && stays(in[:n], size) {
			copy(out, in[:n])
		} else {
			for k := range n {
				out[k] = form.pad
			}
		}
		in, out = in[n:], out[n:]
	}
}
