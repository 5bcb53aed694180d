package values

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// TestUnknownBytesAreRemoved checks that no treatment keeps bytes or texts as they are, but for
// keywords and the handle of a security context, and that no number is replaced as if it were text.
func TestUnknownBytesAreRemoved(t *testing.T) {
	kept := map[string]bool{}
	opcodes.Protocol.EachField(func(_ *schema.Struct, f *schema.Field) {
		if f.Kind <= schema.Int && f.Class > schema.Address {
			t.Errorf("%s is a number and has a class of texts", f.Name)
		}
		isText := f.Kind == schema.Bytes || f.Kind == schema.Text || f.Kind == schema.Strings
		if isText && f.Class == schema.Harmless {
			kept[f.Name] = true
		}
	})
	assert.Equal(t, strings.Join(slices.Sorted(maps.Keys(kept)), " "), "end_overwritten gnrd_key", "bytes that are kept")
}
