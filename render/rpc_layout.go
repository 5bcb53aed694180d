package render

import (
	"bytes"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
)

// rpcLayout is the widths of the columns of lines about RPCs. They are chosen
// before the first line and never change, so that columns stay where they are.
// Wider values are truncated.
type rpcLayout struct {
	frame    int // first column of a narrow line; 0: it is the last detail
	time     int
	decimals int // of the seconds
	client   int
	server   int // 0: no column
	target   int // 0: no column
	xid      int
	op       int
	latency  int

	// marks is set where each column has a value: - stands for none, and ok for
	// a status without an error. Without it, the operation follows the latency, and
	// takes the room that the status leaves.
	marks bool
}

const (
	xidWidth    = len("x1882453915467904")
	targetWidth = len("scratch1-OST0000") // a file system has a name of at most 8 characters
	maxOpWidth  = len("LLOG_ORIGIN_HANDLE_READ_HEADER")
)

// newRPCLayout chooses the widths for a terminal and for the nodes of the first
// RPC that is shown.
func newRPCLayout(o *SummaryOptions, first *track.RPC) rpcLayout {
	nid := max(len("255.255.255.255"), nidWidth(first.Client, o.NIDs), nidWidth(first.Server, o.NIDs))
	if o.NIDs.Full {
		nid = max(nid, len("255.255.255.255@tcp"))
	}
	absolute := o.Time == Local || o.Time == UTC
	l := rpcLayout{time: len("9999.999999"), decimals: 6, client: nid, server: nid, target: targetWidth, xid: xidWidth,
		op: maxOpWidth + len(" -"), latency: len("unanswered"), marks: true}
	if absolute {
		l.time = len("2026-11-21 08:06:41.123456")
	}
	const details, status = 24, len("ENOTCONN")
	if o.Width == 0 || l.over(o.Width, details) <= 0 {
		return l
	}
	l.frame, l.time, l.decimals, l.target, l.latency, l.marks = len("999999"), len("999.999"), 3, len("lustre-OST0000"), len("999ms"), false
	if absolute {
		l.time = len("08:06:41.123")
	}
	nid = max(len("192.0.2.255"), nidWidth(first.Client, o.NIDs), nidWidth(first.Server, o.NIDs))
	l.client, l.server, l.op = nid, nid, len("LDLM_ENQUEUE GETXATTR")
	if l.over(o.Width, details) <= 0 {
		return l
	}
	if l.target = len("-OST0000"); l.over(o.Width, details) <= 0 {
		return l
	}
	l.op = len("LDLM_ENQUE-")
	// The frame and the xid stay, as other commands take them.
	const least = len("-.2.255") // the ends of NIDs differ
	if over := l.over(o.Width, status); over <= 2*(nid-least) {
		nid -= max(0, over+1) / 2
		l.client, l.server = nid, nid
		return l
	}
	l.server, l.op = 0, len("LDLM_ENQ-") // the target stands for its server
	const wait = len("waits 999ms")
	if l.over(o.Width, wait) > nid-least {
		l.target = 0
	}
	l.client = max(least, nid-max(0, l.over(o.Width, wait)))
	return l
}

// over returns by how much a line with further details is too wide.
func (l *rpcLayout) over(terminal, details int) int {
	n := l.time + 1 + l.client + 1 + l.xid + 1 + l.op + 1 + l.latency + 1 + details - terminal
	if l.frame > 0 {
		n += l.frame + 1
	}
	if l.server > 0 {
		n += len("> ") + l.server + 1
	}
	if l.target > 0 {
		n += l.target + 1
	}
	return n
}

// nidWidth returns how many columns the NIDs of a node's network take: those of
// nid, with three digits for the last number of an IPv4 address.
func nidWidth(nid lnet.NID, nids NIDs) int {
	text := nids.Append(nil, nid)
	addr, _, _ := bytes.Cut(text, []byte("@"))
	if bytes.Count(addr, []byte(".")) != 3 {
		return Width(text)
	}
	const octet = 3
	return Width(text) + octet - (len(addr) - bytes.LastIndexByte(addr, '.') - 1)
}

// fitTime truncates the fraction of a time to a number of digits, and further
// where the time is wider than its column.
func fitTime(text []byte, digits, width int) []byte {
	dot := bytes.LastIndexByte(text, '.')
	end := min(len(text), dot+1+digits)
	if end = min(end, max(width, dot)); end == dot+1 {
		end = dot // no digit is left behind the dot
	}
	return text[:end]
}
