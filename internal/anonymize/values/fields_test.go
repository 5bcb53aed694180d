package values

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// TestEveryFieldHasAClass walks all structs, buffers and sections. A new field is removed
// until it has a class; the test fails so that this is a decision.
func TestEveryFieldHasAClass(t *testing.T) {
	table := newFieldTable()
	missing := make(map[string]bool)
	check := func(in *schema.Struct, name string, f *schema.Field) {
		if hasValue(f) && (in == nil || in.Atom == schema.Plain && in != table.resource) && table.of(in, name, f) == nil {
			where := inBuffers
			if in != nil {
				where = in.Name
			}
			if option := table.options[f]; option != "" {
				name = option
			}
			missing[where+" "+name] = true
		}
	}
	forEachField(func(in *schema.Struct, f *schema.Field) {
		check(in, f.Name, f)
		for e := f.Elem; e != nil; e = e.Elem {
			check(in, f.Name, e)
		}
		for _, o := range f.Options {
			if f.Kind == schema.Union {
				o = f.Option(o)
			}
			check(in, f.Name, o)
		}
	})
	for _, f := range slices.Concat(dissect.MessageSections(), dissect.TransportSections()) {
		check(nil, f.Name, f)
	}
	guide, err := os.ReadFile("../../../docs/adding-a-message.md")
	if err != nil || !strings.Contains(string(guide), "| `internal/anonymize/values/field_numbers.go`, `field_texts.go` |") {
		t.Errorf("docs/adding-a-message.md does not have the place of this test's classes: %v", err)
	}
	for _, field := range slices.Sorted(maps.Keys(missing)) {
		t.Errorf("%s has no class. Does it show anything about a site? If it is the ID of a user, group or project, add it to identities in "+
			"field_numbers.go; if it is another number, to harmlessNumbers; a text belongs to one of the treatments in field_texts.go, "+
			"or to removedTexts", field)
	}
}

// hasValue reports whether a field is a value and not made of others.
func hasValue(f *schema.Field) bool {
	switch f.Kind {
	case schema.Array, schema.List, schema.Union, schema.Message:
		return false
	case schema.Record:
		return f.Type.Atom != schema.Plain
	}
	return f.Name != "" || f.Kind <= schema.Strings
}

// TestClassesAreOfFields checks that the lists contain no field that is gone.
func TestClassesAreOfFields(t *testing.T) {
	names := map[string]bool{}
	add := func(in *schema.Struct, name string) {
		where := inBuffers
		if in != nil {
			where = in.Name
		}
		names[where+" "+name] = true
	}
	forEachField(func(in *schema.Struct, f *schema.Field) {
		add(in, f.Name)
		for _, o := range f.Options {
			add(nil, o.Name)
		}
	})
	for _, name := range []string{"data", "_tail"} { // of package dissect
		add(nil, name)
	}
	for _, f := range dissect.MessageSections() {
		add(nil, f.Name)
	}
	for _, l := range treatments {
		for line := range strings.Lines(l.fields) {
			words := strings.Fields(line)
			for _, name := range words[min(1, len(words)):] {
				if field := words[0] + " " + strings.TrimPrefix(name, "!"); !names[field] {
					t.Errorf("there is no field %s", field)
				}
			}
		}
	}
}

// TestClassIsFound checks that a declaration without a class is found.
func TestClassIsFound(t *testing.T) {
	s := &schema.Struct{Name: "new_struct", Fields: []*schema.Field{
		schema.U32("owner"), schema.U32("flags", &opcodes.MsgFlags), schema.Str("text", 8), schema.U64("nid", schema.NID4)}}
	s.Resolve()
	table := newFieldTable()
	for _, tt := range []struct {
		field string
		want  *treatment
	}{{"owner", nil}, {"flags", keep}, {"text", nil}, {"nid", nid4}} {
		if got := table.of(s, tt.field, s.Field(tt.field)); got != tt.want {
			t.Errorf("%s: treatment %v, want %v", tt.field, got, tt.want)
		}
	}
}
