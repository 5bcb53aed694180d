package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// TestLibraryPage runs the program in library.md and compares what it prints.
func TestLibraryPage(t *testing.T) {
	if testing.Short() {
		t.Skip("under the race detector everything would be compiled again, without it")
	}
	page := must.ReadFile(t, "library.md")
	blocks := regexp.MustCompile("(?ms)^```(?:go|text)\n(.*?)^```").FindAllSubmatch(page, -1)
	if len(blocks) != 2 {
		t.Fatalf("%d blocks, want the program and what it prints", len(blocks))
	}
	program := filepath.Join(t.TempDir(), "main.go")
	must.NoError(t, os.WriteFile(program, blocks[0][1], 0o600))
	cmd := exec.Command("go", "run", program, wiretest.Sample("mount"))
	cmd.Dir = wiretest.Repo(".")
	if got, err := cmd.CombinedOutput(); err != nil || string(got) != string(blocks[1][1]) {
		t.Errorf("the program prints, %v\n%s", err, got)
	}
}
