package pcapfilter

import "golang.org/x/net/bpf"

// CompileKernel compiles a filter for a packet socket of Linux, where the
// kernel keeps VLAN tags beside the frame. Cooked sockets (SOCK_DGRAM) have no
// link header in the frame either; others have that of Ethernet. The program
// lets the kernel keep snaplen bytes of a frame, or all of them when snaplen
// is 0. What is not supported is not given to tcpdump, which compiles for
// whole frames only.
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
