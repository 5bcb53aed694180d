package pcapfilter

import (
	"testing"

	"golang.org/x/net/bpf"
)

func TestParseProgram(t *testing.T) {
	got, err := parseProgram("2\n40 0 0 12\n6 0 0 262144\n")
	if err != nil || len(got) != 2 || got[0] != (bpf.RawInstruction{Op: 40, K: 12}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"", "2\n40 0 0 12\n", "x\n", "1\n40 0\n"} {
		if _, err := parseProgram(text); err == nil {
			t.Errorf("%q is taken for a program", text)
		}
	}
}
