package opcodes

import (
	"testing"

	. "github.com/lshark/lshark/opcodes/schema"
)

// eachField calls f for the field and all that are inside it, once each.
func eachField(f *Field, seen map[*Field]bool, call func(*Field)) {
	if f == nil || seen[f] {
		return
	}
	seen[f] = true
	call(f)
	eachField(f.Elem, seen, call)
	for _, o := range f.Options {
		eachField(o, seen, call)
		if f.Kind == Union {
			eachField(f.Option(o), seen, call)
		}
	}
	if f.Type != nil {
		for _, m := range f.Type.Fields {
			eachField(m, seen, call)
		}
	}
}

// eachDeclaredField calls f for all fields of the structs and messages of the
// protocol, once each.
func eachDeclaredField(call func(*Field)) {
	seen := make(map[*Field]bool)
	for _, s := range Protocol.Structs() {
		for _, f := range s.Fields {
			eachField(f, seen, call)
		}
	}
	for _, r := range Protocol.RPCs() {
		for _, v := range r.Variants {
			for _, f := range append(v.Request[:len(v.Request):len(v.Request)], v.Reply...) {
				eachField(f, seen, call)
			}
			if v.Bulk != nil && v.Bulk.Type != nil {
				eachField(Sub("bulk", &v.Bulk.Type).Resolve(), seen, call)
			}
		}
	}
}

// TestFieldsAreComplete: what follows from the name and the format of a field
// is there, however it was made.
func TestFieldsAreComplete(t *testing.T) {
	n := 0
	check := func(f *Field) {
		n++
		if f.Key != `,"`+f.Name+`":` {
			t.Errorf("field %q, %s: key %q", f.Name, f.TypeText(), f.Key)
		}
		if c := f.Copy(); f.Kind <= Int && f.Style != c.Style {
			t.Errorf("field %q, %s: look %d, not %d", f.Name, f.TypeText(), f.Style, c.Style)
		}
	}
	eachDeclaredField(check)
	if n < 1000 {
		t.Errorf("only %d fields", n)
	}
}
