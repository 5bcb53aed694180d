package cli

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lshark/lshark/internal/cli/exit"
)

// TestOmittedColumns checks that commands say which columns do not fit the
// terminal, in one line, and that their tables fit it.
func TestOmittedColumns(t *testing.T) {
	for _, tt := range []struct {
		args    string
		columns int
		note    string
	}{
		{"stats", 0, ""},
		{"stats", 80, "lshark: hidden: wait bulk depth time min svc rtx rtt sent got (0: unans uncap)\n"},
		{"stats -q", 80, ""},
		{"stats", 170, "lshark: hidden: unans uncap (0)\n"},
		{"stats", 300, ""},
		{"stats --interval 10s", 80, "lshark: hidden: wait bulk depth time min svc rtx rtt sent got (0: unans uncap)\n"},
		{"stats -T json", 80, ""},
		{"imports", 80, "lshark: hidden: server committed ungranted uuid since rtx rtt\n"},
		{"imports --timeline", 80, ""},
		{"locks", 80, "lshark: hidden: ended held frame bl target server handle (0: job)\n"},
		{"locks --blockers", 80, "lshark: hidden: target server\n"},
		{"recovery", 80, "lshark: hidden: longest errors back server frame (0: replayed failed gaps last)\n"},
		{"recovery -v -q", 80, ""},
		{"files", 80, "lshark: hidden: reads writes clients waited size layout fid\n"},
		{"files --by dir", 80, "lshark: hidden: reads writes clients waited stats creates removes\n"},
		{"rpcs", 80, "lshark: hidden: client\n"},
		{"rpcs --slowest 3", 80, "lshark: hidden: client\n"},
		{"rpcs", 120, ""},
		{"rpcs -T json", 80, ""},
	} {
		var out, errs bytes.Buffer
		sys := testSystem(&out, &errs)
		sys.OutTTY, sys.Columns = tt.columns > 0, tt.columns
		status := Run(sys, append(strings.Fields(tt.args), "--color", "never", recoverySample))
		if status != exit.OK || errs.String() != tt.note {
			t.Errorf("%s, %d columns: status %d, %q, want %q", tt.args, tt.columns, status, &errs, tt.note)
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(line) - 1; n > tt.columns && tt.columns > 0 && !strings.HasPrefix(line, "{") {
				t.Errorf("%s: %d columns: %s", tt.args, n, line)
			}
		}
	}
}
