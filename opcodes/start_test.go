package opcodes

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	. "github.com/lshark/lshark/opcodes/schema"
)

// TestStart bounds what this package does when a program starts. Most declarations
// are data that the linker places; the rest are made by funcs.
func TestStart(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	m := regexp.MustCompile(`(?m)^init \S+/opcodes @.* (\d+) bytes, (\d+) allocs$`).FindSubmatch(out)
	if m == nil {
		t.Fatalf("no line for this package: %s", out)
	}
	const mostBytes, mostAllocs = 300_000, 2800
	bytes, _ := strconv.Atoi(string(m[1]))
	allocs, _ := strconv.Atoi(string(m[2]))
	if bytes > mostBytes || allocs > mostAllocs {
		t.Errorf("package opcodes allocates %d bytes in %d allocations at the start, more than %d in %d: declare structs as &Struct{…} "+
			"and call no funcs in the arguments of fields, see the comment at the constructors in schema/build.go", bytes, allocs, mostBytes, mostAllocs)
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
