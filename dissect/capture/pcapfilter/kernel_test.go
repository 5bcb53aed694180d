package pcapfilter

import "testing"

// TestKernelFilter compiles for frames whose VLAN tag the kernel keeps aside.
func TestKernelFilter(t *testing.T) {
	for _, cooked := range []bool{false, true} {
		for _, c := range expressions {
			if _, err := CompileKernel(c.expr, cooked, 0); err != nil {
				t.Errorf("%q: %v", c.expr, err)
			}
		}
	}
}
