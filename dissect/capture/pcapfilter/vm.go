package pcapfilter

import (
	"errors"

	"golang.org/x/net/bpf"
)

// machine runs a program on frames. For the virtual machine of golang.org/x/net/bpf the length of a
// frame is what was captured of it. For a filter it is the size on the wire: here a load of the
// length is one of a constant, which is set when the size is another one than that of the frame before.
type machine struct {
	program []bpf.Instruction
	lengths []int // instructions that load the length
	size    int   // that they load
	vm      *bpf.VM
}

func newMachine(program []bpf.RawInstruction) (*machine, error) {
	list, known := bpf.Disassemble(program)
	m := &machine{program: list}
	for i, ins := range list {
		switch ins {
		case bpf.NegateA{}:
			known = false
		case bpf.LoadExtension{Num: bpf.ExtLen}:
			m.lengths = append(m.lengths, i)
		}
	}
	if !known {
		return nil, errors.New("tcpdump uses an instruction that is not supported")
	}
	return m, m.setSize(0)
}

// setSize makes the virtual machine for frames of a size on the wire.
func (m *machine) setSize(size int) (err error) {
	for _, i := range m.lengths {
		m.program[i] = bpf.LoadConstant{Dst: bpf.RegA, Val: uint32(size)}
	}
	m.size = size
	m.vm, err = bpf.NewVM(m.program)
	return err
}

// matches reports whether the program accepts a frame, of which data was captured. A load from outside
// of data ends the program, and the frame does not match, as in the kernel.
func (m *machine) matches(data []byte, size int) (bool, error) {
	if len(m.lengths) > 0 && size != m.size {
		if err := m.setSize(size); err != nil {
			return false, err
		}
	}
	n, err := m.vm.Run(data)
	return n != 0, err
}
