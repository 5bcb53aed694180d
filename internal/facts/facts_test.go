package facts

import (
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

func TestAdd(t *testing.T) {
	var got Tables
	err := got.add("group\tname\tvalue_hex\nflags\tA\t0x1\n\nstruct\tfield\toffset\tsize\nbody\t*\t0\t\n")
	must.NoError(t, err)
	if len(got.Constants) != 1 || !slices.Equal(got.Constants[0], []string{"flags", "A", "0x1"}) {
		t.Errorf("constants: %q", got.Constants)
	}
	assert.That(t, len(got.Structs) == 1 && slices.Equal(got.Structs[0], []string{"body", "*", "0", ""}), "structs: %q", got.Structs)
}

func TestMessageBuffers(t *testing.T) {
	var got Tables
	must.NoError(t, got.add("buffer\tholds\tsize\nname\tstring\tn\nname:fid\tfid\t16\noperation\tvariants\trqf\trequest\treply\nA\t- x\t\tname name=0\tname:fid\nB\tnot-on-wire\t\t\t"))
	list, err := got.MessageBuffers()
	must.NoError(t, err)
	assert.Slice(t, list, []Buffer{{"A", "-", false, 0, "name", "string", "n"}, {"A", "-", false, 1, "name", "string", "0"}, {"A", "-", true, 0, "name", "fid", "16"},
		{"A", "x", false, 0, "name", "string", "n"}, {"A", "x", false, 1, "name", "string", "0"}, {"A", "x", true, 0, "name", "fid", "16"}})
	got.Buffers = nil
	_, err = got.MessageBuffers()
	assert.That(t, err != nil && strings.Contains(err.Error(), "A has the buffer name, which is not in the facts"), "%v", err)
}

func TestAddInvalid(t *testing.T) {
	for text, want := range map[string]string{
		"flags\tA\t0x1\n":                        "line 1: no headings",
		"group\tname\tvalue_hex\nflags\tA\t1\t2": "line 2: 4 columns",
		"group\tname\tvalue_hex\nflags\tA":       "line 2: 2 columns",
	} {
		var got Tables
		if err := got.add(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
