package schema_test

import (
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/opcodes/schema"
)

// TestClassIsRequired checks that a struct with a number or a text without a class is not accepted.
func TestClassIsRequired(t *testing.T) {
	flags := schema.Bits("new_flags", "NEW_", "flags", []schema.Value{{Name: "A", Value: 1}})
	for _, c := range []struct {
		field *schema.Field
		want  schema.Class // Unclassified: refused
	}{
		{schema.U32("owner"), schema.Unclassified},
		{schema.U64("cookie", schema.Hex), schema.Unclassified},
		{schema.Str("text", 8), schema.Unclassified},
		{schema.Arr("owners", 2, schema.U32("")), schema.Unclassified},
		{schema.OneOf("form", nil, []*schema.Field{schema.U32("flags", &flags), schema.Str("", 0)}), schema.Unclassified},
		{schema.U32("owner", schema.UserID), schema.UserID},
		{schema.Arr("owners", 2, schema.U32(""), schema.UserID), schema.UserID},
		{schema.U32("flags", &flags), schema.Harmless},
		{schema.U64("nid", schema.NID4), schema.Address},
		{schema.Opaque("data", 8), schema.Removed},
		{schema.Pad("padding", 4), schema.Removed},
		{schema.Pads("padding", 2, 4), schema.Removed},
	} {
		s := &schema.Struct{Name: "new_struct", Fields: []*schema.Field{c.field}}
		refused := resolve(s)
		if c.want == schema.Unclassified {
			assert.That(t, strings.HasPrefix(refused, "new_struct."+c.field.Name) && strings.Contains(refused, "has no class"),
				"%s: %q", c.field.Name, refused)
			continue
		}
		got := c.field.Class
		if c.field.Elem != nil {
			got = c.field.Elem.Class
		}
		if refused != "" || got != c.want {
			t.Errorf("%s: class %d, want %d; %s", c.field.Name, got, c.want, refused)
		}
	}
}

// resolve resolves a struct, and returns with what it panics.
func resolve(s *schema.Struct) (refused string) {
	defer func() { refused, _ = recover().(string) }()
	s.Resolve()
	return ""
}
