package opcodes

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	. "github.com/lshark/lshark/opcodes/schema"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
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
	assert.That(t, n >= 1000, "only %d fields", n)
}

// TestMain makes fields readable, as a dissector does, so that each test can run alone.
func TestMain(m *testing.M) {
	Resolve()
	m.Run()
}

// TestStart bounds what this package does when a program starts. Most declarations
// are data that the linker places; the rest are made by funcs.
func TestStart(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector, which tests run under with -short, allocates more")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	m := regexp.MustCompile(`(?m)^init \S+/opcodes @.* (\d+) bytes, (\d+) allocs$`).FindSubmatch(out)
	must.That(t, m != nil, "no line for this package: %s", out)
	const mostBytes, mostAllocs = 400_000, 3600
	bytes, _ := strconv.Atoi(string(m[1]))
	allocs, _ := strconv.Atoi(string(m[2]))
	if bytes > mostBytes || allocs > mostAllocs {
		t.Errorf("package opcodes allocates %d bytes in %d allocations at the start, more than %d in %d: declare structs as &Struct{…} "+
			"and pass only constants, variables, named funcs and literals of numbers and texts to U64, Sub and the like (schema/build.go says why); if they are, raise these bounds", bytes, allocs, mostBytes, mostAllocs)
	}
}

// TestFlagsAreInOrder: flags are shown in the order of their bits, which is that of their declaration.
func TestFlagsAreInOrder(t *testing.T) {
	for _, g := range Protocol.Groups() {
		var last Value
		for _, v := range g.Values {
			if g.Flags && v.Bits() < last.Bits() {
				t.Errorf("group %s: %s stands behind %s, which has higher bits", g.Group, v.Name, last.Name)
			}
			last = v
		}
	}
}

// TestTerms: terms have a text, and what they refer to exists.
func TestTerms(t *testing.T) {
	index, seen := FieldIndex(), make(map[string]bool)
	for _, term := range Protocol.Terms {
		assert.That(t, !seen[term.Name], "%s is listed twice", term.Name)
		seen[term.Name] = true
		assert.That(t, term.Long != "" && term.Doc != "", "%s has no text", term.Name)
		assert.That(t, len(term.See) != 0, "%s refers to nothing in the protocol", term.Name)
		for _, name := range term.See {
			assert.That(t, index.Topics(name) != nil, "%s refers to %s, which does not exist", term.Name, name)
		}
	}
}
