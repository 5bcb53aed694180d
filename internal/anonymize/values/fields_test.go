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

// TestDependentFieldsAreDeclared checks that the lists of what depends on other values contain
// no field that is gone.
func TestDependentFieldsAreDeclared(t *testing.T) {
	declared := map[fieldKey]bool{}
	opcodes.Protocol.EachField(func(in *schema.Struct, f *schema.Field) {
		key := fieldKey{"", f.Name}
		if in != nil {
			key.in = in.Name
		}
		declared[key] = true
	})
	for _, list := range []map[fieldKey]*treatment{dependentNumbers, dependentTexts} {
		for key := range list {
			assert.That(t, declared[key], "there is no field %s of %q", key.name, key.in)
		}
	}
}

// TestUnknownBytesAreRemoved checks that no treatment keeps bytes or texts as they are, but for
// keywords and the handle of a security context, and that no number is replaced as if it were text.
func TestUnknownBytesAreRemoved(t *testing.T) {
	p := New(nil)
	kept := map[string]bool{}
	opcodes.Protocol.EachField(func(_ *schema.Struct, f *schema.Field) {
		if f.Kind <= schema.Int && f.Class > schema.Address {
			t.Errorf("%s is a number and has a class of texts", f.Name)
		}
		isText := f.Kind == schema.Bytes || f.Kind == schema.Text || f.Kind == schema.Strings
		if r := p.treatment(f); isText && r == keep {
			kept[f.Name] = true
		}
	})
	assert.Equal(t, strings.Join(slices.Sorted(maps.Keys(kept)), " "), "end_overwritten gnrd_key", "bytes that are kept")
}
