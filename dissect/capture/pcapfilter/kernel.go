package pcapfilter

import "golang.org/x/net/bpf"

// CompileKernel compiles a filter for a packet socket of Linux, where the
// kernel keeps VLAN tags beside the frame. In a cooked socket (SOCK_DGRAM) the
// frame has no link header either; in others it has that of Ethernet. The
// program makes the kernel keep snaplen bytes of a frame that matches, or all
// of them if snaplen is 0. Unlike Compile it does not run tcpdump, which
// compiles for whole frames only: an unsupported expression is an *Error.
func CompileKernel(expr string, cooked bool, snaplen int) ([]bpf.RawInstruction, error) {
	c, err := parseFilter(expr)
	if err != nil {
		return nil, err
	}
	if snaplen <= 0 || snaplen > maxSnaplen {
		snaplen = maxSnaplen
	}
	at := layout{header: 14, etype: 12, kernel: true}
	if cooked {
		at = layout{etype: -1, kernel: true, cooked: true}
	}
	return compileFor(expr, c, at, snaplen)
}
