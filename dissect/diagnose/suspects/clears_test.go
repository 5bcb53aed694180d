package suspects

import (
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/internal/assert"
)

// TestTableNamesPlaces checks that each word of the table is a kind of place, and that a line excludes just those that it names.
func TestTableNamesPlaces(t *testing.T) {
	var kinds []string
	for k := diagnose.AtApplication; k <= diagnose.AtCapture; k++ {
		kinds = append(kinds, k.String())
	}
	for _, x := range slices.Concat(clears, decisive) {
		n := 0
		for _, word := range strings.Fields(x.excludes) {
			assert.That(t, word == "server" || slices.Contains(kinds, word), "%s: %q is no kind of place", x.fact, word)
			n++
			if word == "server" {
				n += len(strings.Fields(inServer)) - 1
			}
		}
		excluded := 0
		for k := diagnose.AtApplication; k <= diagnose.AtCapture; k++ {
			if x.has(k) {
				excluded++
			}
		}
		assert.Equal(t, excluded, n, x.fact)
	}
}
