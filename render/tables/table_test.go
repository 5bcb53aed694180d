package tables

import (
	"strings"
	"testing"

	"github.com/lshark/lshark/render"
)

// TestNarrowTable checks in which order columns lose their room: those without
// values, the end of a long list, the extra ones, lists down to 10 columns, names
// down to 20, the useful columns from the last on.
func TestNarrowTable(t *testing.T) {
	for columns, want := range map[int]struct{ row, omitted string }{
		0:   {"LDLM_CALLBACK_AND_MORE  1  0  22  33  ENODEV:7 ENOTCONN:5 EIO:1", ""},
		63:  {"LDLM_CALLBACK_AND_MORE  1  0  22  33  ENODEV:7 ENOTCONN:5 EIO:1", ""},
		62:  {"LDLM_CALLBACK_AND_MORE  1  22  33  ENODEV:7 ENOTCONN:5 EIO:1", "z (0)"},
		59:  {"LDLM_CALLBACK_AND_MORE  1  22  33  ENODEV:7 ENOTCONN:5 EIO…", "z (0)"},
		58:  {"LDLM_CALLBACK_AND_MORE  1  33  ENODEV:7 ENOTCONN:5 EIO:1", "t (0: z)"},
		50:  {"LDLM_CALLBACK_AND_MORE  1  33  ENODEV:7 ENOTCONN:…", "t (0: z)"},
		43:  {"LDLM_CALLBACK_AND_MORE  1  33  ENODEV:7 EN…", "t (0: z)"},
		41:  {"LDLM_CALLBACK_AND_MORE  1  33  ENODEV:7 …", "t (0: z)"},
		39:  {"LDLM_CALLBACK_AND_M…  1  33  ENODEV:7 …", "t (0: z)"},
		38:  {"LDLM_CALLBACK_AND_MORE  1  33", "t errors (0: z)"},
		27:  {"LDLM_CALLBACK_AND_M…  1  33", "t errors (0: z)"},
		26:  {"LDLM_CALLBACK_AND_MORE  1", "t u errors (0: z)"},
		24:  {"LDLM_CALLBACK_AND_MO…  1", "t u errors (0: z)"},
		3:   {"LDLM_CALLBA…  1", "t u errors (0: z)"},
		300: {"LDLM_CALLBACK_AND_MORE  1  0  22  33  ENODEV:7 ENOTCONN:5 EIO:1", ""},
	} {
		c := render.NewColors(false)
		tab := newGrid(c, []tableColumn{{title: "op", left: true}, {title: "n"}, {title: "z", rank: useful}, {title: "t", rank: extra},
			{title: "u", rank: useful}, {title: "errors", left: true, rank: useful}})
		for _, cell := range []string{"LDLM_CALLBACK_AND_MORE", "1", "0", "22", "33", "ENODEV:7 ENOTCONN:5 EIO:1"} {
			tab.put(&c.Num, []byte(cell))
		}
		lines := strings.Split(string(tab.render(nil, columns)), "\n")
		var o Omitted
		o.add(tab)
		if lines[1] != want.row || o.String() != want.omitted {
			t.Errorf("%d columns: %q, omitted %q, want %q", columns, lines[1], &o, want)
		}
	}
}

// TestOmitted checks that a column without values in one table only is one with
// values.
func TestOmitted(t *testing.T) {
	var o Omitted
	for _, cell := range []string{"0", "7", "-"} {
		tab := newGrid(render.NewColors(false), []tableColumn{{title: "count"}, {title: "wait", rank: useful}})
		for _, text := range []string{"1", cell} {
			tab.put(&render.Style{}, []byte(text))
		}
		tab.render(nil, 5)
		o.add(tab)
	}
	if o.String() != "wait" {
		t.Errorf("omitted %q", &o)
	}
}

// TestTruncatedNames: where even the columns that are needed do not fit, names
// are truncated; numbers are not.
func TestTruncatedNames(t *testing.T) {
	tab := newGrid(render.NewColors(false), []tableColumn{{title: "name", left: true}, {title: "other", left: true}, {title: "count"}})
	for _, text := range []string{"LDLM_BL_CALLBACK", "lustre-OST0001", "123456"} {
		tab.put(&render.Style{}, []byte(text))
	}
	lines := strings.Split(string(tab.render(nil, 36)), "\n")
	if want := "LDLM_BL_CALL…  lustre-OST00…  123456"; lines[1] != want || render.Width([]byte(lines[1])) > 36 {
		t.Errorf("%q, want %q", lines[1], want)
	}
}

// TestColumnsHaveKeys: each column without an append names a key; path panics with what
// to do about one that does not.
func TestColumnsHaveKeys(t *testing.T) {
	statsKind.cells()
	tsvKind.cells()
	Imports.cells()
	Locks.cells()
	Holders.cells()
	Recoveries.cells()
	targetsKind.cells()
	runningKind.cells()
	registrationsKind.cells()
	Files.cells()
	Directories.cells()
	rpcsKind.cells()
	for _, e := range Columns() {
		if e.Doc == "" {
			t.Errorf("column %s of the %s has no meaning: give it a doc, or the path of a key", e.Name, e.Of)
		}
	}
}
