package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/cli/exit"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/report"
)

// TestTopOfNothing checks that the terminal is left alone when the interface
// cannot be opened.
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

// TestFitLines checks that the sum of a table stays on the screen.
func TestFitLines(t *testing.T) {
	table := []string{"titles", "a", "b", "c", "d", "(all)"}
	for limit, want := range map[int]string{
		0: "",
		3: "titles a b",
		4: "titles a +3 more (all)",
		5: "titles a b +2 more (all)",
		6: "titles a b c d (all)",
		9: "titles a b c d (all)",
	} {
		if got := strings.Join(fitLines(table, limit), " "); got != want {
			t.Errorf("%d lines: %s, want %s", limit, got, want)
		}
	}
}

// TestTopHelp checks that the keys fit a terminal of 80 columns, and that each
// order is known.
func TestTopHelp(t *testing.T) {
	p := &top{colors: render.NewColors(false), sort: "errors"}
	if got, full := p.help(80), p.help(0); got != full || !strings.HasPrefix(got, "q=quit sort: c=count e=err* ") {
		t.Errorf("%q is not %q", got, full)
	}
	for _, k := range topKeys {
		if !slices.Contains(report.StatsSorts(), k.sort) {
			t.Errorf("%c: no such order: %s", k.key, k.sort)
		}
	}
}
