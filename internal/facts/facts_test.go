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

func TestAddMessages(t *testing.T) {
	var got Tables
	must.NoError(t, got.add("operation\tvariants\tdirection\tindex\tname\nA\t- x\trequest\t1\tbody\nA\t- x\trequest\t2\tname\nA\tx\treply\t0\tptlrpc_body"))
	var all []string
	for _, row := range got.Messages {
		all = append(all, strings.Join(row[:5], " "))
	}
	want := []string{"A - request 0 ptlrpc_body", "A - request 1 body", "A x request 0 ptlrpc_body", "A x request 1 body",
		"A - request 2 name", "A x request 2 name", "A x reply 0 ptlrpc_body"}
	assert.That(t, slices.Equal(all, want), "messages: %q", all)
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
