package anonymize

const ipv4Size = 20 // length of an IPv4 header without options

// optionForm is how options of a header are written, and which of them stay.
type optionForm struct {
	pad    byte
	end    int          // ends the list; -1: nothing does
	header int          // bytes in front that the length of an option does not count
	keeps  map[byte]int // options that stay: those that have no address or text, with their sizes; 0: any
}

const ipv4Timestamp = 68

var (
	ipv4Options = optionForm{1, 0, 0, map[byte]int{148: 4}}                       // router alert
	ipv6Options = optionForm{0, -1, 2, map[byte]int{5: 4, 0xc2: 6}}               // router alert, jumbo payload
	tcpOptions  = optionForm{1, 0, 0, map[byte]int{2: 0, 3: 0, 4: 0, 5: 0, 8: 0}} // size of segments, scale, SACK, timestamps
)

// stays reports whether an option is one that is kept.
func (f *optionForm) stays(option []byte) bool {
	if f == &ipv4Options && option[0] == ipv4Timestamp {
		return len(option) >= 4 && option[3]&0xf == 0 // timestamps only, no addresses
	}
	size, known := f.keeps[option[0]]
	return known && (size == 0 || len(option) == size && f.header+int(option[1]) == size)
}

// options keeps some options of a header, which are between two offsets of a part, as far as they
// were captured; others become padding.
func (h *headers) options(p part, from, to int, form *optionForm) {
	if to <= from {
		return
	}
	in, out := h.in[p.off+from:p.off+to], h.out[p.off+from:p.off+to]
	h.keep(p.off + to)
	for len(in) > 0 && int(in[0]) != form.end {
		n := 1 // of padding, or where the length was cut
		if in[0] != form.pad && len(in) > 1 {
			if n = min(form.header+int(in[1]), len(in)); n < 2 {
				return
			}
		}
		if in[0] != form.pad && form.stays(in[:n]) {
			copy(out, in[:n])
		} else {
			for k := range n {
				out[k] = form.pad
			}
		}
		in, out = in[n:], out[n:]
	}
}
