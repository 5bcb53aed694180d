package tables

import "testing"

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
