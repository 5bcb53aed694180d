package reference_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest"

	_ "github.com/lshark/lshark/internal/cli" // declares kinds of records
	"github.com/lshark/lshark/internal/cli/reference"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/render/parquet/rows"
)

// TestPublishedColumns compares the columns with all that this version of the schema has ever
// had. UPDATE=1 in the environment adds new ones. It neither removes nor changes any: queries of users need them.
func TestPublishedColumns(t *testing.T) {
	path := "testdata/columns-" + rows.SchemaVersion + ".txt"
	old, err := os.ReadFile(path)
	must.That(t, err == nil || wiretest.Update(), "%v", err)
	published := strings.Split(strings.TrimSpace(string(old)), "\n")
	var now []string
	for _, table := range reference.SchemaTables() {
		for _, c := range table.Columns {
			now = append(now, fmt.Sprintf("%s %s %s", table.Name, c.Name, c.Type))
		}
	}
	for _, c := range published {
		if c != "" && !slices.ContainsFunc(now, func(n string) bool { return extends(n, c) }) {
			t.Errorf("published and not there, or of another type: %s. Either it comes back, or rows.SchemaVersion changes", c)
		}
	}
	for _, c := range now {
		if !slices.Contains(published, c) && !wiretest.Update() {
			t.Errorf("new: %s\n%s", c, wiretest.UpdateHint(t))
		}
	}
	if wiretest.Update() && !t.Failed() {
		must.NoError(t, os.WriteFile(path, []byte(strings.Join(now, "\n")+"\n"), 0o644))
	}
}

// extends reports whether a column is a published one, or that with further fields at the end
// or between those of its structs.
func extends(now, published string) bool {
	head, fields, isStruct := strings.Cut(published, " STRUCT(")
	nowHead, nowFields, _ := strings.Cut(now, " STRUCT(")
	if !isStruct || head != nowHead {
		return now == published
	}
	all := strings.Split(strings.TrimSuffix(nowFields, ")[]"), ", ")
	for f := range strings.SplitSeq(strings.TrimSuffix(fields, ")[]"), ", ") {
		if !slices.Contains(all, f) {
			return false
		}
	}
	return true
}

// TestExtends: fields may be added to a struct, but not be removed or get another type.
func TestExtends(t *testing.T) {
	const published = `rpcs list STRUCT("a" BIGINT, "b" VARCHAR)[]`
	for now, want := range map[string]bool{
		published: true,
		`rpcs list STRUCT("a" BIGINT, "c" DOUBLE, "b" VARCHAR)[]`: true,
		`rpcs list STRUCT("a" BIGINT)[]`:                          false,
		`rpcs list STRUCT("a" UBIGINT, "b" VARCHAR)[]`:            false,
		`locks list STRUCT("a" BIGINT, "b" VARCHAR)[]`:            false,
		`rpcs list VARCHAR`:                                       false,
	} {
		assert.Equal(t, extends(now, published), want, now)
	}
}
