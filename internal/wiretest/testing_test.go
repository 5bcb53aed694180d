package wiretest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// failures is a testing.TB that records errors instead of failing.
type failures struct {
	testing.TB
	text string
}

func (f *failures) Errorf(format string, args ...any) { f.text += fmt.Sprintf(format, args...) }

// TestGolden checks that a failure says which line the file has and which one the test made.
func TestGolden(t *testing.T) {
	t.Setenv("UPDATE", "")
	file := filepath.Join(t.TempDir(), "page.md")
	must.NoError(t, os.WriteFile(file, []byte("one\nold\n"), 0o600))
	for text, want := range map[string]string{
		"one\nold\n":       "",
		"one\nnew\n":       "page.md: line 2 is\nold\nand the test made\nnew\nUPDATE=1",
		"one\nold\nmore\n": "page.md: line 3 is\n\nand the test made\nmore\nUPDATE=1",
		"one\nold":         "page.md has 3 lines, and the test made 2\nUPDATE=1",
	} {
		f := failures{TB: t}
		wiretest.Golden(&f, file, text)
		assert.That(t, (f.text == "") == (want == "") && strings.Contains(f.text, want), "%q: %q, want %q", text, f.text, want)
	}
}
