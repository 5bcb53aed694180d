package nested

import (
	"testing"

	"github.com/lshark/lshark/internal/assert"
)

// TestNeeds: of two writes to an object, a lock belongs to the one in whose bytes it begins.
func TestNeeds(t *testing.T) {
	first, second := &operation{first: 0, behind: 1 << 20}, &operation{first: 1<<20 + 10, behind: 2 << 20}
	for _, tt := range []struct {
		extent bool
		begin  uint64
		want   [2]bool
	}{
		{true, 0, [2]bool{true, false}},
		{true, 1 << 20, [2]bool{false, true}},
		{true, 2 << 20, [2]bool{}},
		{false, 0, [2]bool{}},
	} {
		c := &Call{extent: tt.extent, begin: tt.begin}
		assert.Equal(t, [2]bool{first.needs(c), second.needs(c)}, tt.want, "begin", tt.begin)
	}
}
