package cli

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/cli/scan"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/tables"
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
		assert.Equal(t, strings.Join(fitLines(table, limit), " "), want, limit, "lines")
	}
}

// TestTopHelp checks that the keys fit a terminal of 80 columns, and that each
// order is known.
func TestTopHelp(t *testing.T) {
	p := &top{colors: render.NewColors(false), table: tables.NewStatsTable(tables.StatsOptions{Sort: "errors"})}
	got, full := p.help(80), p.help(0)
	assert.That(t, got == full && strings.HasPrefix(got, "q=quit c=count e=err* "), "%q is not %q", got, full)
	for _, k := range topKeys {
		assert.That(t, slices.Contains(tables.StatsSorts(), k.sort), "%c: no such order: %s", k.key, k.sort)
	}
}

// runTopOf runs the live table over the frames of a file, and returns the screens
// that it draws and the table at the end.
func runTopOf(t *testing.T, file, by string, columns int) (screens []string, end string) {
	t.Helper()
	var out, errs bytes.Buffer
	sys := testSystem(&out, &errs)
	sys.OutTTY, sys.Columns = true, columns
	sys.Env = func(name string) string { return map[string]string{"NO_COLOR": "1"}[name] }
	c := &statsOptions{Job: flags.NewJob(sys, "table"), by: by, sort: flags.Choice{Value: "count", Words: tables.StatsSorts()},
		timeout: time.Hour, window: liveWindow}
	must.NoError(t, c.check())
	c.In = must.Value((&scan.Flags{Read: []string{file}}).Check(nil, false))(t)
	x := c.Open(scan.Options{})
	c.table.Width = columns
	must.NoError(t, c.runTop(x))
	parts := strings.Split(out.String(), cursorHome)
	for _, s := range parts[1:] {
		screens = append(screens, strings.NewReplacer(clearToEndOfLine, "", clearToEndOfScreen, "", "\r", "").Replace(s))
	}
	return screens[:len(screens)-1], screens[len(screens)-1]
}

// TestTopFits checks that each screen of the live table fits a terminal of 24 rows,
// and that it says what it hides.
func TestTopFits(t *testing.T) {
	const rows = 24
	for _, columns := range []int{80, 120} {
		screens, end := runTopOf(t, recoverySample, "op,target", columns)
		must.That(t, len(screens) >= 10, "%d screens", len(screens))
		for _, s := range append(screens, end) {
			for line := range strings.Lines(s) {
				n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n"))
				assert.That(t, n <= columns, "%d columns of %d: %s", n, columns, line)
			}
		}
		for _, s := range screens {
			if n := strings.Count(s, "\n") + 1; n > rows {
				t.Errorf("%d lines:\n%s", n, s)
			}
		}
		last := screens[len(screens)-1]
		for _, re := range []string{`^op +target +count +ops/s +[A-Za-z]+/s +err +p50 `, `\nOBD_PING +lustre-MDT0000 +[0-9]+ +[0-9.]+ `, `\n\+[0-9]+ more\n\(all\) `,
			`\nhidden: .* \(0: .*\nq=quit c=count\* .* r=rate n=name$`} {
			assert.That(t, regexp.MustCompile(re).MatchString(last), "no %s in\n%s", re, last)
		}
		assert.That(t, !strings.Contains(end, "more") && strings.Contains(end, "(all)"), "at the end:\n%s", end)
	}
}

// TestTopTime checks that screens and rates depend on the times of frames only.
func TestTopTime(t *testing.T) {
	a, enda := runTopOf(t, recoverySample, "op", 80)
	b, endb := runTopOf(t, recoverySample, "op", 80)
	assert.That(t, slices.Equal(a, b) && enda == endb, "two runs differ")
	rates := regexp.MustCompile(`(?m)^\(all\) +[0-9]+ +([0-9.<]+) +([0-9.<]+) `)
	busy := 0
	for _, s := range a {
		if found := rates.FindStringSubmatch(s); found != nil && found[1] != "0" {
			busy++
		}
	}
	assert.That(t, busy >= len(a)/2, "%d screens of %d have rates", busy, len(a))
	var out bytes.Buffer
	sys := onTerminal(&out, 80)
	if status := Run(sys, []string{"stats", "--window", "5s", "--color", "never", recoverySample}); status != exit.OK || !slices.Equal(rates.FindStringSubmatch(out.String())[1:], rates.FindStringSubmatch(enda)[1:]) {
		t.Errorf("at the end:\n%sand without a live table:\n%s", enda, &out)
	}
}

// TestWindow checks the rates of a file, which are those at its end.
func TestWindow(t *testing.T) {
	out, _, status := run(t, "stats", "--window", "5s", "-T", "json", "--by", "op", recoverySample)
	want := `{"op":"OBD_PING","count":`
	must.That(t, status == exit.OK && strings.Contains(out, want), "status %d, %s", status, out)
	for line := range strings.Lines(out) {
		if !regexp.MustCompile(`"count":[0-9]+,"window":[0-9.]+,"ops_rate":[0-9.]+,"byte_rate":[0-9.]+,"replies"`).MatchString(line) {
			t.Errorf("no rates: %s", line)
		}
	}
	if out, _, _ := run(t, "stats", "-T", "json", recoverySample); strings.Contains(out, "rate") || strings.Contains(out, "window") {
		t.Error("rates without --window")
	}
	tsv := first(t, "stats", "--window", "5s", "-T", "tsv", recoverySample)
	assert.That(t, strings.HasSuffix(tsv, "\twindow\tops_rate\tbyte_rate"), "tsv: %s", tsv)
	var rates []float64
	out, _, _ = run(t, "stats", "--window", "5s", "--sort", "rate", "-T", "tsv", recoverySample)
	for line := range strings.Lines(out) {
		words := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if r, err := strconv.ParseFloat(words[len(words)-2], 64); err == nil {
			rates = append(rates, r)
		}
	}
	if len(rates) == 0 || rates[0] == 0 || !slices.IsSortedFunc(rates, func(a, b float64) int { return cmp.Compare(b, a) }) {
		t.Errorf("rates %v", rates)
	}
}
