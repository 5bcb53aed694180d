package cli

import (
	"bytes"
	"strings"
	"testing"
)

// TestTopOfNothing: what cannot be captured leaves the terminal alone.
func TestTopOfNothing(t *testing.T) {
	for _, keys := range []bool{false, true} {
		var out, errs bytes.Buffer
		status := Run(&IO{Out: &out, Err: &errs, InTTY: keys, OutTTY: true, Env: func(string) string { return "" }},
			[]string{"stats", "-i", "nosuch0"})
		if status != exitFailure || out.Len() > 0 || !strings.Contains(errs.String(), "nosuch0") {
			t.Errorf("status %d, %q, %q", status, &out, &errs)
		}
	}
}
