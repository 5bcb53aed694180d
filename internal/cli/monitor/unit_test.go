package monitor

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/must"
)

// TestUnit checks the unit of systemd by its own tool, and that its settings are valid.
func TestUnit(t *testing.T) {
	unit := must.ReadFile(t, "../../../contrib/systemd/lshark-monitor.service")
	conf := must.ReadFile(t, "../../../contrib/systemd/monitor.conf")
	// All settings in the file are valid, also those that are commented out.
	all := strings.ReplaceAll(string(conf), "\n#", "\n")
	var lines []string
	for line := range strings.Lines(all) {
		if name, _, ok := strings.Cut(line, " = "); ok && !strings.Contains(name, " ") {
			lines = append(lines, line)
		}
	}
	path := filepath.Join(t.TempDir(), "monitor.conf")
	must.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600))
	c := newTestCommand()
	if err := c.config.read(path); err != nil || len(lines) < 8 {
		t.Errorf("%d settings: %v", len(lines), err)
	}
	if p, err := c.check(); err != nil || p.selection.Sample != 1000 || p.selection.Filter == nil || p.exporter == nil {
		t.Errorf("%+v, %v", p, err)
	}

	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed: apt-get install systemd")
	}
	self, err := os.Executable()
	must.NoError(t, err)
	unit = bytes.ReplaceAll(unit, []byte("/usr/bin/lshark"), []byte(self))
	path = filepath.Join(t.TempDir(), "lshark-monitor.service")
	must.NoError(t, os.WriteFile(path, unit, 0o600))
	if out, err := exec.Command(tool, "verify", "--man=no", path).CombinedOutput(); err != nil || bytes.Contains(out, []byte("lshark-monitor.service:")) {
		t.Errorf("%v: %s", err, out)
	}
}
