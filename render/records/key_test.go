package records

import (
	"testing"

	"github.com/lshark/lshark/internal/assert"
)

// TestListInList: a list whose elements have a list cannot be declared.
func TestListInList(t *testing.T) {
	inner := list("inner", "", func([]string) []string { return nil })
	for _, key := range []*Key[[]string]{inner, object("object", "", inner)} {
		func() {
			defer func() { assert.That(t, recover() != nil, "%s is a key of elements", key.Name) }()
			listOf("outer", "", func(r [][]string) int { return len(r) }, func(r [][]string, i int) []string { return r[i] }, key)
		}()
	}
}
