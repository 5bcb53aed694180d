package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lshark/lshark/cli/exit"
)

// TestTopOfNothing: what cannot be captured leaves the terminal alone.
func TestTopOfNothing(t *testing.T) {
	for _, keys := range []bool{false, true} {
		var out, errs bytes.Buffer
		sys := testSystem(&out, &errs)
		sys.InTTY, sys.OutTTY = keys, true
		status := Run(sys, []string{"stats", "-i", "nosuch0"})
		if status != exit.Failure || out.Len() > 0 || !strings.Contains(errs.String(), "nosuch0") {
			t.Errorf("status %d, %q, %q", status, &out, &errs)
		}
	}
}
