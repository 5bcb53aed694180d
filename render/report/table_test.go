package report

import (
	"strings"
	"testing"

	"github.com/lshark/lshark/render"
)

// TestNarrowTable: the least important columns go first, the last one is
// truncated.
func TestNarrowTable(t *testing.T) {
	const row = "a       1  22  ENODEV:7 ENOTCONN:5 EIO:1"
	for columns, want := range map[int]string{
		0: row, 100: row, len(row): row,
		len(row) - 1: "a       1  ENODEV:7 ENOTCONN:5 EIO:1",
		30:           "a       1  ENODEV:7 ENOTCONN:…",
		23:           "a       1  ENODEV:7 EN…",
		22:           "a       1",
		3:            "a       1",
	} {
		c := render.NewColors(false)
		tab := newTable(c, []tableColumn{{title: "op", left: true}, {title: "count"}, {title: "t", rank: extra}, {title: "errors", left: true, rank: useful}})
		for _, cell := range []string{"a", "1", "22", "ENODEV:7 ENOTCONN:5 EIO:1"} {
			tab.put(&c.Num, func(b []byte) []byte { return append(b, cell...) })
		}
		lines := strings.Split(string(tab.render(nil, columns)), "\n")
		if lines[1] != want {
			t.Errorf("%d columns: %q, want %q", columns, lines[1], want)
		}
	}
}

// TestTruncatedNames: where even the columns that are needed do not fit, names
// are truncated; numbers are not.
func TestTruncatedNames(t *testing.T) {
	tab := newTable(render.NewColors(false), []tableColumn{{title: "name", left: true}, {title: "other", left: true}, {title: "count"}})
	for _, text := range []string{"LDLM_BL_CALLBACK", "lustre-OST0001", "123456"} {
		tab.put(&render.Style{}, func(b []byte) []byte { return append(b, text...) })
	}
	lines := strings.Split(string(tab.render(nil, 36)), "\n")
	if want := "LDLM_BL_CALL…  lustre-OST00…  123456"; lines[1] != want || render.Width([]byte(lines[1])) > 36 {
		t.Errorf("%q, want %q", lines[1], want)
	}
}
