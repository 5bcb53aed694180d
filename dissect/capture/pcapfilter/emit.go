package pcapfilter

import (
	"fmt"

	"golang.org/x/net/bpf"
)

// Classic BPF, as numbered by the kernel (linux/filter.h).
const (
	opLoadWord      = 0x20 // A = 32 bits at k
	opLoadHalf      = 0x28
	opLoadByte      = 0x30
	opIndexed       = 0x20 // added to these: at X + k
	opLoadLength    = 0x80 // A = length of the frame
	opLoadX4Nibble  = 0xb1 // X = 4 * low nibble of the byte at k: an IPv4 header's length
	opAnd           = 0x54 // A &= k
	opJump          = 0x05
	opJumpEqual     = 0x15
	opJumpGreater   = 0x25
	opJumpGreaterEq = 0x35
	opJumpBits      = 0x45 // A & k is not zero
	opReturn        = 0x06
)

// Data that the Linux kernel keeps beside a frame. They are loaded as words from
// offsets that are outside of any frame.
const (
	skfProtocol    = 0xfffff000 // the EtherType
	skfVLANTag     = 0xfffff000 + 44
	skfVLANPresent = 0xfffff000 + 48
)

const (
	maxSnaplen = 1 << 20 // bytes; more than any frame has
	maxProgram = 4096    // instructions, the kernel's limit
)

// label is a position in a program: the number of instructions after it.
type label int

// emitter emits a program from its last instruction to its first. A BPF jump
// can only go forward, so its targets are known when it is emitted.
type emitter struct {
	layout
	reversed []bpf.RawInstruction
	refused  bool // a test cannot be made in this layout
}

// op emits an instruction other than a conditional jump.
func (e *emitter) op(code uint16, k uint32) label {
	e.reversed = append(e.reversed, bpf.RawInstruction{Op: code, K: k})
	return label(len(e.reversed))
}

// jump emits a conditional jump. A target beyond its reach of 255 instructions
// is reached by an unconditional jump after it.
func (e *emitter) jump(code uint16, k uint32, yes, no label) label {
	if len(e.reversed)-int(yes) > 254 {
		yes = e.op(opJump, uint32(len(e.reversed)-int(yes)))
	}
	if len(e.reversed)-int(no) > 255 {
		no = e.op(opJump, uint32(len(e.reversed)-int(no)))
	}
	here := label(len(e.reversed))
	e.reversed = append(e.reversed, bpf.RawInstruction{Op: code, K: k, Jt: uint8(here - yes), Jf: uint8(here - no)})
	return here + 1
}

// load emits a load of a value and a conditional jump that compares it with k.
func (e *emitter) load(code uint16, offset int, jump uint16, k uint32, yes, no label) label {
	e.jump(jump, k, yes, no)
	return e.op(code, uint32(offset))
}

// equal emits a load of a value and a jump to yes if it is k.
func (e *emitter) equal(code uint16, offset int, k uint32, yes, no label) label {
	return e.load(code, offset, opJumpEqual, k, yes, no)
}

// masked is load with a mask applied to the value.
func (e *emitter) masked(code uint16, offset int, mask uint32, jump uint16, k uint32, yes, no label) label {
	e.jump(jump, k, yes, no)
	if mask != 1<<32-1 {
		e.op(opAnd, mask)
	}
	return e.op(code, uint32(offset))
}

// compileFor compiles a condition for frames of one layout. The program returns
// snaplen for a frame that matches.
func compileFor(expr string, c condition, l layout, snaplen int) ([]bpf.RawInstruction, error) {
	e := &emitter{layout: l}
	no := e.op(opReturn, 0)
	yes := e.op(opReturn, uint32(snaplen))
	if start := c(e, yes, no); start != label(len(e.reversed)) {
		e.op(opJump, uint32(len(e.reversed)-int(start)))
	}
	if e.refused {
		return nil, &Error{Expr: expr, Column: 1, Unsupported: true,
			Cause: fmt.Sprintf("frames of link type %s can be filtered by their length only", l.opaque)}
	}
	n := len(e.reversed)
	if n > maxProgram {
		return nil, &Error{Expr: expr, Column: 1, Cause: "the expression is too long"}
	}
	program := make([]bpf.RawInstruction, n)
	for i, ins := range e.reversed {
		program[n-1-i] = ins
	}
	return program, nil
}
