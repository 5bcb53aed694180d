package opcodes

import (
	_ "embed" // for failLocText
	"strconv"
	"strings"
	"sync"

	. "github.com/lshark/lshark/opcodes/schema"
)

// FailLoc has its values after loadFailLocs, which FieldIndex calls.
var FailLoc = Bits("fail_loc", "", "where a node fails, for tests: the number that lctl set_param fail_loc takes, and how often", nil)

// failLocText has a name and a number in each line.
//
//go:embed fail_loc.tsv
var failLocText string

var loadFailLocs = sync.OnceFunc(func() {
	const number = 0xffff
	values := make([]Value, 0, strings.Count(failLocText, "\n"))
	for line := range strings.Lines(failLocText) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if n, err := strconv.ParseUint(text, 0, 16); err == nil {
			values = append(values, Value{Name: name, Value: n, Mask: number})
		}
	}
	FailLoc.Fill(append(values, []Value{
		{Name: "CFS_FAULT", Value: 0x02000000, Doc: "at any place that tests with CFS_FAULT_CHECK"},
		{Name: "CFS_FAIL_USR1", Value: 0x04000000, Doc: "for the test itself"},
		{Name: "CFS_FAIL_RAND", Value: 0x08000000, Doc: "at random, once in fail_val times"},
		{Name: "CFS_FAIL_SOME", Value: 0x10000000, Doc: "only the first fail_val times"},
		{Name: "CFS_FAIL_SKIP", Value: 0x20000000, Doc: "not the first fail_val times"},
		{Name: "CFS_FAILED", Value: 0x40000000, Doc: "it has failed; set by the node"},
		{Name: "CFS_FAIL_ONCE", Value: 0x80000000, Doc: "only once"},
	}...))
})
