package cli

import (
	"testing"

	"github.com/lshark/lshark/internal/cli/exit"
)

// TestDecodeAttributes decodes the output of getfattr that is an argument.
func TestDecodeAttributes(t *testing.T) {
	out, errs, status := run(t, "decode", "# file: f\ntrusted.version=0x0500000001000000\n\n")
	if want := "file f\n\ntrusted.version  0x100000005\n"; out != want || status != exit.OK {
		t.Errorf("status %d, %q %s, want %q", status, out, errs, want)
	}
}
