package pcapfilter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/bpf"
)

// Filter is a capture filter that is applied to frames here, not in the
// kernel.
type Filter struct {
	expr     string
	programs map[LinkType][]bpf.RawInstruction
	link     LinkType // of the frame before
	program  []bpf.RawInstruction
}

// New compiles a filter in the syntax of pcap-filter(7) for frames of a link
// type; for others it is compiled when Match sees the first one. An error that
// is the expression's is an *Error.
func New(expr string, link LinkType) (*Filter, error) {
	f := &Filter{expr: expr, programs: map[LinkType][]bpf.RawInstruction{}}
	return f, f.choose(link)
}

// choose makes the program for a link type the current one. It has none for a
// type that is not known here: a capture may have interfaces of other kinds
// beside those that were meant.
func (f *Filter) choose(link LinkType) error {
	program, known := f.programs[link]
	if !known {
		var err error
		_, readable := layouts[link]
		if program, err = Compile(f.expr, link); err != nil && readable {
			return err
		}
		f.programs[link] = program
	}
	f.link, f.program = link, program
	return nil
}

// Match reports whether a frame of a link type matches, of which data was
// captured and which had length bytes on the wire. A frame of an unknown link
// type does not match. The error is that of the compilation for a link type
// that no frame had before.
func (f *Filter) Match(link LinkType, data []byte, length int) (bool, error) {
	if link != f.link {
		if err := f.choose(link); err != nil {
			return false, err
		}
	}
	return run(f.program, data, length) != 0, nil
}

// TCPPorts is the filter for LNet over TCP on the given ports, also
// behind one or two VLAN tags. A fragment of an IP packet that is not the
// first has no ports, so all those of TCP pass.
func TCPPorts(ports []int) string {
	if len(ports) == 0 {
		return ""
	}
	text := make([]string, len(ports))
	for i, n := range ports {
		text[i] = "tcp port " + strconv.Itoa(n)
	}
	plain := strings.Join(text, " or ") + " or (ip proto 6 and ip[6:2] & 0x1fff != 0) or ip6 proto 44"
	return plain + " or (vlan and (" + plain + " or (vlan and (" + plain + "))))"
}

// Compile compiles a filter in the syntax of pcap-filter(7) for the
// frames of a capture file. What is not understood here is given to tcpdump if
// it is installed.
func Compile(expr string, link LinkType) ([]bpf.RawInstruction, error) {
	l, known := layouts[link]
	c, err := parseFilter(expr)
	if err == nil && known {
		return compileFor(expr, c, l, maxSnaplen)
	}
	if err == nil {
		err = &Error{Expr: expr, Column: 1, Unsupported: true,
			Cause: fmt.Sprintf("filtering frames of link type %d is not supported", link)}
	}
	var wrong *Error
	if !errors.As(err, &wrong) || !wrong.Unsupported {
		return nil, err
	}
	program, why := askTcpdump(expr, link)
	if why != nil {
		wrong.Cause += "; " + why.Error()
		return nil, wrong
	}
	return program, nil
}

// tcpdumpNames are the names it has for link types.
var tcpdumpNames = map[LinkType]string{
	LinkEthernet: "EN10MB", LinkLinuxSLL: "LINUX_SLL", LinkLinuxSLL2: "LINUX_SLL2", LinkRaw: "RAW",
	LinkRawBSD: "RAW", LinkRawOpenBSD: "RAW", LinkIPv4: "IPV4", LinkIPv6: "IPV6", LinkNull: "NULL", LinkLoop: "LOOP",
	105: "IEEE802_11", 127: "IEEE802_11_RADIO", 9: "PPP", 192: "PPI", 247: "INFINIBAND",
}

// askTcpdump lets tcpdump compile an expression. It may look up host names.
func askTcpdump(expr string, link LinkType) ([]bpf.RawInstruction, error) {
	name, known := tcpdumpNames[link]
	if !known {
		return nil, errors.New("nor has tcpdump a name for it")
	}
	path, err := exec.LookPath("tcpdump")
	if err != nil {
		return nil, errors.New("and tcpdump, which could compile it, is not installed")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "-ddd", "-y", name, "--", expr)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		text := strings.TrimSpace(said.String())
		if text == "" {
			text = err.Error()
		}
		return nil, fmt.Errorf("tcpdump says: %s", printable(strings.TrimPrefix(lastLine(text), "tcpdump: ")))
	}
	return parseProgram(string(out))
}

// printable quotes a text that would do something to a terminal.
func printable(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}

func lastLine(text string) string {
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// parseProgram reads what `tcpdump -ddd` prints: the number of instructions,
// then a line of four numbers for each.
func parseProgram(text string) ([]bpf.RawInstruction, error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	program := make([]bpf.RawInstruction, 0, len(lines)-1)
	for _, line := range lines[1:] {
		var ins bpf.RawInstruction
		if _, err := fmt.Sscan(line, &ins.Op, &ins.Jt, &ins.Jf, &ins.K); err != nil {
			return nil, fmt.Errorf("tcpdump printed %q", line)
		}
		program = append(program, ins)
	}
	if n, err := strconv.Atoi(lines[0]); err != nil || n != len(program) {
		return nil, errors.New("tcpdump printed a program of the wrong length")
	}
	return program, nil
}
