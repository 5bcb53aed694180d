package wiretest

import (
	"os"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/must"
)

// Update reports whether tests write their golden files instead of comparing
// with them: UPDATE=1 go test ./...
func Update() bool { return os.Getenv("UPDATE") != "" }

// Golden compares text with a file, which UPDATE=1 writes.
func Golden(t testing.TB, file, text string) {
	t.Helper()
	if Update() {
		must.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		return
	}
	got, want := strings.Split(text, "\n"), strings.Split(string(must.ReadFile(t, file)), "\n")
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Errorf("%s: line %d is\n%s\nwant\n%s\nUPDATE=1 go test writes it", file, i+1, got[i], want[i])
			return
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d lines, want %d: UPDATE=1 go test writes them", file, len(got), len(want))
	}
}
