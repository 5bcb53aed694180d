package pcapfilter

import (
	"encoding/binary"

	"golang.org/x/net/bpf"
)

// run executes a program on a frame and returns its result: the number of bytes
// to keep, or 0 if the frame does not match. A load from outside the frame ends
// the program with 0, as in the kernel. It differs from the virtual machine of
// golang.org/x/net/bpf in the length of a frame that a snaplen cut, which is
// size here and len(data) there.
func run(program []bpf.RawInstruction, data []byte, size int) uint32 {
	var a, x uint32
	var scratch [16]uint32
	for pc := 0; pc < len(program); pc++ {
		ins := &program[pc]
		const class, jumps = 0x07, 0x05
		switch ins.Op & class {
		case 0, 1: // into A, into X
			v, ok := fetch(ins, data, size, x, &scratch)
			if !ok {
				return 0
			}
			if ins.Op&class == 0 {
				a = v
			} else {
				x = v
			}
		case 2:
			scratch[ins.K&15] = a
		case 3:
			scratch[ins.K&15] = x
		case 4:
			k := ins.K
			if ins.Op&0x08 != 0 {
				k = x
			}
			var ok bool
			if a, ok = calculate(ins.Op, a, k); !ok {
				return 0
			}
		case jumps:
			pc += branch(ins, a, x)
		case 6:
			if ins.Op&0x18 == 0x10 {
				return a
			}
			return ins.K
		case 7:
			if ins.Op == 0x87 {
				a = x
			} else {
				x = a
			}
		}
	}
	return 0
}

// fetch executes a load: bits 0xe0 of the opcode are the addressing mode, 0x18
// the number of bytes. It reports whether the value is inside the frame.
func fetch(ins *bpf.RawInstruction, data []byte, size int, x uint32, scratch *[16]uint32) (uint32, bool) {
	at := uint64(ins.K)
	switch ins.Op & 0xe0 {
	case 0x00:
		return ins.K, true
	case 0x40:
		at += uint64(x)
	case 0x60:
		return scratch[ins.K&15], true
	case 0x80:
		return uint32(size), true
	case 0xa0: // 4 * the low nibble of a byte
		if at >= uint64(len(data)) {
			return 0, false
		}
		return uint32(data[at]&0x0f) << 2, true
	}
	have := uint64(len(data))
	switch ins.Op & 0x18 {
	case 0x00:
		if at+4 <= have {
			return binary.BigEndian.Uint32(data[at:]), true
		}
	case 0x08:
		if at+2 <= have {
			return uint32(binary.BigEndian.Uint16(data[at:])), true
		}
	case 0x10:
		if at < have {
			return uint32(data[at]), true
		}
	}
	return 0, false
}

// calculate executes an arithmetic instruction. It reports false for a division
// by 0.
func calculate(op uint16, a, k uint32) (uint32, bool) {
	switch op & 0xf0 {
	case 0x00:
		return a + k, true
	case 0x10:
		return a - k, true
	case 0x20:
		return a * k, true
	case 0x30, 0x90:
		if k == 0 {
			return 0, false
		}
		if op&0xf0 == 0x90 {
			return a % k, true
		}
		return a / k, true
	case 0x40:
		return a | k, true
	case 0x50:
		return a & k, true
	case 0x60:
		return a << k, true
	case 0x70:
		return a >> k, true
	case 0x80:
		return -a, true
	case 0xa0:
		return a ^ k, true
	}
	return 0, false
}

// branch returns how many instructions a jump skips.
func branch(ins *bpf.RawInstruction, a, x uint32) int {
	k := ins.K
	if ins.Op&0x08 != 0 {
		k = x
	}
	var taken bool
	switch ins.Op & 0xf0 {
	case 0x00:
		return int(ins.K)
	case 0x10:
		taken = a == k
	case 0x20:
		taken = a > k
	case 0x30:
		taken = a >= k
	case 0x40:
		taken = a&k != 0
	}
	if taken {
		return int(ins.Jt)
	}
	return int(ins.Jf)
}
