package reference

import (
	"regexp"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

func TestClickHouseType(t *testing.T) {
	types := make(map[string]string)
	for _, table := range SchemaTables() {
		for _, c := range table.Columns {
			types[c.Type] = c.ClickHouse
		}
	}
	for duckDB, want := range map[string]string{
		"VARCHAR":                  "String",
		"UBIGINT":                  "Nullable(UInt64)",
		"BOOLEAN":                  "UInt8",
		"TIMESTAMP WITH TIME ZONE": "Nullable(DateTime64(6, 'UTC'))",
		"VARCHAR[]":                "Array(String)",
		"MAP(VARCHAR, BIGINT)":     "Map(String, Int64)",
		`STRUCT("file" VARCHAR, "frame" BIGINT, "time" TIMESTAMP WITH TIME ZONE, "time_ns" BIGINT, "state" VARCHAR)[]`: "Array(Tuple(`file` String, `frame` Nullable(Int64), " +
			"`time` Nullable(DateTime64(6, 'UTC')), `time_ns` Nullable(Int64), `state` String))",
	} {
		assert.Equal(t, types[duckDB], want, duckDB)
	}
}

// TestClickHouseTables makes the tables of all records. ClickHouse refuses a sorting key
// with columns that may be NULL.
func TestClickHouseTables(t *testing.T) {
	column := regexp.MustCompile("(?m)^  `([a-z_0-9]+)` ([^\n]+?),?$")
	for _, table := range SchemaTables() {
		statement := string(appendClickHouse(nil, table))
		types := map[string]string{}
		for _, c := range column.FindAllStringSubmatch(statement, -1) {
			if types[c[1]] != "" {
				t.Errorf("%s: two columns are %s", table.Name, c[1])
			}
			types[c[1]] = c[2]
		}
		for _, c := range table.Columns {
			assert.That(t, types[c.Name] != "", "%s: %s is missing", table.Name, c.Name)
		}
		_, key, ok := strings.Cut(statement, "ORDER BY (")
		key, rest, closed := strings.Cut(key, ")")
		must.That(t, ok && closed && rest == ";\n", "%s: no sorting key in %s", table.Name, statement)
		for _, name := range strings.Split(key, ", ") {
			if types[name] == "" || strings.HasPrefix(types[name], "Nullable") {
				t.Errorf("%s: %s %s cannot be in the sorting key", table.Name, name, types[name])
			}
		}
	}
}
