package pcapfilter

import "testing"

func FuzzFilter(f *testing.F) {
	for _, c := range expressions {
		f.Add(c.expr)
	}
	f.Add(TCPAndRoCE([]int{988, 1988}))
	frame := testPacket{link: LinkEthernet, tags: []uint16{5}, src: "192.0.2.3", dst: "192.0.2.1", proto: 6, sport: 1, dport: 988}.build(f)
	f.Fuzz(func(t *testing.T, expr string) {
		c, err := parseFilter(expr) // not Compile, which may start tcpdump
		if err != nil {
			if e, is := err.(*Error); !is || e.Column < 1 || e.Column > len(expr)+1 {
				t.Fatalf("%v", err)
			}
			return
		}
		for _, l := range layouts {
			program, err := compileFor(expr, c, l, maxSnaplen)
			if err != nil {
				continue // too long, or refused for this link type
			}
			for pc, ins := range program {
				last := len(program) - 1 - pc
				if ins.Op&7 == opJump && (int(ins.Jt) > last-1 || int(ins.Jf) > last-1 || ins.Op == opJump && int(ins.K) > last-1) {
					t.Fatalf("instruction %d jumps out of the program", pc)
				}
			}
			if l.kernel {
				continue // it may have instructions that only the kernel knows
			}
			m, err := newMachine(program)
			if err == nil {
				_, err = m.matches(frame.data, len(frame.data)+1)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}
