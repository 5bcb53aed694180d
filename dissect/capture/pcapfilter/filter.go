// Package pcapfilter compiles capture filters in the syntax of pcap-filter(7)
// to BPF programs and runs them on frames, without libpcap:
//
//	f, err := pcapfilter.New("tcp port 988 and host 192.0.2.1", pcapfilter.LinkEthernet)
//	if err != nil {
//		return err
//	}
//	ok, err := f.Match(pcapfilter.LinkEthernet, data, length)
//
// CompileKernel compiles for a packet socket of Linux, so that the kernel
// filters.
//
// Supported are the protocols ip, ip6, arp, rarp, tcp, udp, sctp, icmp, icmp6
// and igmp, the words host, net, port, portrange and proto with their
// directions, ether proto, vlan, less and greater, byte expressions such as
// "tcp[13] & 2 != 0", and, or, not and parentheses. For other expressions New
// and Compile run tcpdump where it is installed; otherwise the Error names what
// is not supported and its column.
//
// An expression is compiled in three steps: lex.go splits it into tokens,
// parse.go makes a tree of conditions of them, and compile.go emits the
// instructions, from the last to the first, for the layout of one link type.
package pcapfilter

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/net/bpf"
)

// Filter is a compiled capture filter for frames of any link type. It must not
// be used by several goroutines at the same time.
type Filter struct {
	expr     string
	machines map[LinkType]*machine
	link     LinkType // of the previous frame
	machine  *machine // of link, nil: nothing matches
}

// New compiles a filter for frames of a link type. For other link types Match
// compiles it when it sees the first such frame. An empty expression matches
// every frame. If the expression is invalid or unsupported, the error is an
// *Error.
func New(expr string, link LinkType) (*Filter, error) {
	f := &Filter{expr: expr, machines: map[LinkType]*machine{}}
	return f, f.selectMachine(link)
}

// selectMachine makes the machine for a link type the current one. A link type
// that is not supported gets none, so that nothing matches: a capture
// may have interfaces of other kinds beside those that the filter is meant for.
func (f *Filter) selectMachine(link LinkType) error {
	m, compiled := f.machines[link]
	if !compiled {
		_, supported := layouts[link]
		program, err := Compile(f.expr, link)
		if err == nil {
			m, err = newMachine(program)
		}
		if err != nil && supported {
			return err
		}
		f.machines[link] = m
	}
	f.link, f.machine = link, m
	return nil
}

// Match reports whether a frame matches. The bytes in data were captured of it,
// length is its size on the wire. A frame of an unsupported link type does not
// match. Match can fail only at the first frame of a link type, for which the
// filter is then compiled.
func (f *Filter) Match(link LinkType, data []byte, length int) (bool, error) {
	if link != f.link {
		if err := f.selectMachine(link); err != nil {
			return false, err
		}
	}
	if f.machine == nil {
		return false, nil
	}
	return f.machine.matches(data, length)
}

// TCPAndRoCE returns the expression that matches TCP on any of the ports, and
// RDMA over Ethernet in both of its versions, also behind one or two VLAN tags.
// Only the first fragment of an IP packet has ports; the other fragments of TCP
// packets all match. Packets of RDMA are not sent in fragments.
func TCPAndRoCE(ports []int) string {
	var text strings.Builder
	for _, n := range ports {
		text.WriteString("tcp port " + strconv.Itoa(n) + " or ")
	}
	plain := text.String() + "udp port 4791 or ether proto 0x8915 or (ip proto 6 and ip[6:2] & 0x1fff != 0) or ip6 proto 44"
	return plain + " or (vlan and (" + plain + " or (vlan and (" + plain + "))))"
}

// Compile compiles a filter to a BPF program for whole frames of a link type,
// with the link header that capture files have. The program returns 0 for a frame that does not
// match. An expression or link type that is not supported here is compiled by
// tcpdump if it is installed.
func Compile(expr string, link LinkType) ([]bpf.RawInstruction, error) {
	l, supported := layouts[link]
	c, err := parseFilter(expr)
	if err == nil && supported {
		return compileFor(expr, c, l, maxSnaplen)
	}
	if err == nil {
		err = &Error{Expr: expr, Column: 1, Unsupported: true,
			Cause: fmt.Sprintf("filtering frames of link type %d is not supported", link)}
	}
	var unsupported *Error
	if !errors.As(err, &unsupported) || !unsupported.Unsupported {
		return nil, err
	}
	program, failure := compileByTcpdump(expr, link)
	if failure != nil {
		unsupported.Cause += "; " + failure.Error()
		return nil, unsupported
	}
	return program, nil
}

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
