package pcapfilter

import "golang.org/x/net/bpf"

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

// What the Linux kernel keeps beside a frame, loaded as words from offsets
// that cannot be in one.
const (
	skfProtocol    = 0xfffff000 // the EtherType
	skfVLANTag     = 0xfffff000 + 44
	skfVLANPresent = 0xfffff000 + 48
)

const (
	maxSnaplen = 1 << 20 // bytes of a frame that matches: all of them
	maxProgram = 4096    // instructions, the kernel's limit
)

// label is a place in a program: how many instructions stand behind it.
type label int

// emitter writes a program from its end to its begin, so that the targets of
// a jump, which can only lead forward, are known when it is written.
type emitter struct {
	layout
	reversed []bpf.RawInstruction
}

func (e *emitter) op(code uint16, k uint32) label {
	e.reversed = append(e.reversed, bpf.RawInstruction{Op: code, K: k})
	return label(len(e.reversed))
}

// jump goes to one of two places. What is farther than a conditional jump
// can reach, it reaches through another jump.
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

// load reads a value and jumps by it.
func (e *emitter) load(code uint16, offset int, jump uint16, k uint32, yes, no label) label {
	e.jump(jump, k, yes, no)
	return e.op(code, uint32(offset))
}

func (e *emitter) equal(code uint16, offset int, k uint32, yes, no label) label {
	return e.load(code, offset, opJumpEqual, k, yes, no)
}

// masked is load with only some bits looked at.
func (e *emitter) masked(code uint16, offset int, mask uint32, jump uint16, k uint32, yes, no label) label {
	e.jump(jump, k, yes, no)
	if mask != 1<<32-1 {
		e.op(opAnd, mask)
	}
	return e.op(code, uint32(offset))
}

// compileFor makes the program for one kind of frame.
func compileFor(expr string, c condition, l layout, snaplen int) ([]bpf.RawInstruction, error) {
	e := &emitter{layout: l}
	no := e.op(opReturn, 0)
	yes := e.op(opReturn, uint32(snaplen))
	if start := c.compile(e, yes, no); start != label(len(e.reversed)) {
		e.op(opJump, uint32(len(e.reversed)-int(start)))
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

func (anyFrame) compile(_ *emitter, yes, _ label) label { return yes }

func (c both) compile(e *emitter, yes, no label) label {
	return c.a.compile(e, c.b.compile(e, yes, no), no)
}

func (c either) compile(e *emitter, yes, no label) label {
	return c.a.compile(e, yes, c.b.compile(e, yes, no))
}

func (c negate) compile(e *emitter, yes, no label) label { return c.a.compile(e, no, yes) }

// compile of a primitive behind VLAN tags: the kernel may have taken the
// outermost tag out of the frame, which then has one less.
func (c primitive) compile(e *emitter, yes, no label) label {
	inside := c.test.compile(e, c.tags, yes, no)
	if !e.kernel {
		return inside
	}
	aside := inside
	if v, is := c.test.(vlanTest); is && c.tags == 0 {
		if aside = yes; !v.anyID {
			aside = e.masked(opLoadWord, skfVLANTag, 0xfff, opJumpEqual, v.id, yes, no)
		}
	} else if c.tags > 0 {
		aside = c.test.compile(e, c.tags-1, yes, no)
	}
	if aside == inside {
		return inside
	}
	return e.equal(opLoadWord, skfVLANPresent, 1, aside, inside)
}
