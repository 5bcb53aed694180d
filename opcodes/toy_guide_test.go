package opcodes

import (
	"os"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

// TestGuide holds the code in docs/adding-a-message.md to that of the toy, which
// is known to work.
func TestGuide(t *testing.T) {
	guide, err := os.ReadFile("../docs/adding-a-message.md")
	must.NoError(t, err)
	toy, err := os.ReadFile("toy_test.go")
	must.NoError(t, err)
	blocks := strings.Split(string(guide), "```go\n")[1:]
	must.That(t, len(blocks) >= 4, "the guide has %d blocks of code", len(blocks))
	for _, b := range blocks {
		code, _, _ := strings.Cut(b, "```")
		// A block may leave a part of the file out between two declarations.
		for _, part := range strings.Split(strings.TrimSpace(code), "\n\n") {
			assert.That(t, strings.Contains(string(toy), part), "docs/adding-a-message.md differs from opcodes/toy_test.go:\n%s", part)
		}
	}
}
