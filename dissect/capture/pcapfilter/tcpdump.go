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

// tcpdumpNames are the link types as `tcpdump -y` names them.
var tcpdumpNames = map[LinkType]string{
	LinkEthernet: "EN10MB", LinkLinuxSLL: "LINUX_SLL", LinkLinuxSLL2: "LINUX_SLL2", LinkRaw: "RAW",
	LinkRawBSD: "RAW", LinkRawOpenBSD: "RAW", LinkIPv4: "IPV4", LinkIPv6: "IPV6", LinkNull: "NULL", LinkLoop: "LOOP",
	105: "IEEE802_11", 127: "IEEE802_11_RADIO", 9: "PPP", 192: "PPI", 247: "INFINIBAND",
}

// tcpdumpTimeout bounds a compilation by tcpdump, which may look up host names.
const tcpdumpTimeout = 20 * time.Second

// compileByTcpdump runs tcpdump to compile an expression.
func compileByTcpdump(expr string, link LinkType) ([]bpf.RawInstruction, error) {
	name, ok := tcpdumpNames[link]
	if !ok {
		return nil, errors.New("tcpdump has no name for it either")
	}
	path, err := exec.LookPath("tcpdump")
	if err != nil {
		return nil, errors.New("tcpdump, which could compile it, is not installed")
	}
	ctx, cancel := context.WithTimeout(context.Background(), tcpdumpTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "-ddd", "-y", name, "--", expr)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		text := strings.TrimSpace(stderr.String())
		if text == "" {
			text = err.Error()
		}
		return nil, fmt.Errorf("tcpdump says: %s", printable(strings.TrimPrefix(lastLine(text), "tcpdump: ")))
	}
	return parseProgram(string(out))
}

// printable returns text, quoted if it has characters that a terminal would not
// only show.
func printable(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}

func lastLine(text string) string {
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// parseProgram parses the output of `tcpdump -ddd`: the number of instructions,
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
