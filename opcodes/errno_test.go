package opcodes

import (
	"testing"

	"github.com/lshark/lshark/opcodes/schema"
)

// TestErrnos compares the numbers with those of the table.
func TestErrnos(t *testing.T) {
	for name, status := range map[string]int64{"ENOENT": ENOENT, "EIO": EIO, "EAGAIN": EAGAIN, "EACCES": EACCES, "ENODEV": ENODEV, "EINVAL": EINVAL,
		"EROFS": EROFS, "ENODATA": ENODATA, "EOVERFLOW": EOVERFLOW, "ENOTCONN": ENOTCONN, "ESHUTDOWN": ESHUTDOWN, "EINPROGRESS": EINPROGRESS, "ESTALE": ESTALE} {
		if got := schema.Errnos.Name(uint64(-status)); got != name {
			t.Errorf("%d is %s, want %s", status, got, name)
		}
	}
}
