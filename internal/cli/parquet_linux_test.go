package cli

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/exit"
)

// mountTemporary mounts a file system of limited size for a test, which needs to be root.
func mountTemporary(t *testing.T, folder, options string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, options); err != nil {
		t.Skip("no file system for a test can be mounted here: ", err)
	}
	t.Cleanup(func() {
		assert.NoError(t, syscall.Unmount(folder, 0))
	})
}

// TestParquetDiskFull: a conversion that finds no space left is an error, and leaves neither a
// file nor a part of one.
func TestParquetDiskFull(t *testing.T) {
	folder := t.TempDir()
	mountTemporary(t, folder, "size=32k")
	fits, tooLarge := "../../pcaps/idle.pcap", "../../pcaps/metadata.pcap.zst"
	_, errs, status := run(t, "-q", "-T", "parquet", "-o", folder, fits, tooLarge)
	assert.That(t, status == exit.Failure && strings.Contains(errs, "no space left"), "status %d: %s", status, errs)
	list, err := os.ReadDir(folder)
	assert.That(t, err == nil && len(list) == 1 && list[0].Name() == "idle.messages.parquet", "left: %v, %v", list, err)
}
