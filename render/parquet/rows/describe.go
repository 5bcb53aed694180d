package rows

import (
	"slices"
	"strings"

	"github.com/lshark/lshark/render/records"
)

// Column describes a column for users.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type"`           // as DuckDB names it
	Unit string `json:"unit,omitempty"` // ns, s or bytes
	Key  string `json:"key,omitempty"`  // of JSON
	Doc  string `json:"doc"`

	ClickHouse string `json:"-"` // the type
}

// Describe returns the columns of the keys of a table, and those of every file.
func Describe[R any](t *records.Table[R]) []Column {
	list := describe(columnsOf(t.Keys()))
	for _, c := range describe(columnsOf(constants[R](Options{}))) {
		c.Key = ""
		list = append(list, c)
	}
	return list
}

// constants are the keys that have the same value in all rows of a file. JSON does not have them.
func constants[R any](o Options) []*records.Key[R] {
	constant := func(name, doc, value string) *records.Key[R] {
		return &records.Key[R]{Name: name, Type: records.Text, Doc: doc, Get: func(_ R, _ int, v *records.Value) bool {
			v.SetString(value)
			return value != ""
		}}
	}
	return []*records.Key[R]{
		constant("sensor", "node that captured, as --sensor names it", o.Sensor),
		constant("capture", "names of the captures, or of the interface", o.Capture),
	}
}

func describe[R any](columns []column[R]) (list []Column) {
	for i := range columns {
		c := &columns[i]
		var path []string
		for _, k := range c.parents {
			path = append(path, k.Name)
		}
		path = append(path, c.key.Name)
		d := Column{Name: c.name, Unit: c.unit(), Key: strings.Join(path, "."), Doc: c.key.Doc}
		d.Type, d.ClickHouse = c.sqlTypes()
		if types[c.kind].nullable {
			d.ClickHouse = "Nullable(" + d.ClickHouse + ")"
		}
		list = append(list, d)
		if c.kind == asTime {
			d.Name, d.Type, d.ClickHouse, d.Unit = d.Name+nanoseconds, types[asInt].sql, "Nullable(Int64)", "ns"
			d.Doc += "; in nanoseconds since the epoch"
			list = append(list, d)
		}
	}
	return list
}

func (c *column[R]) sqlTypes() (duckDB, clickHouse string) {
	switch {
	case c.kind != asList:
		return types[c.kind].sql, types[c.kind].clickHouse
	case c.key.Parts == nil:
		duckDB, clickHouse = c.parts[0].sqlTypes()
		return duckDB + "[]", "Array(" + clickHouse + ")"
	}
	var parts, elements []string
	for _, p := range describe(c.parts) {
		parts = append(parts, `"`+p.Name+`" `+p.Type)
		elements = append(elements, "`"+p.Name+"` "+p.ClickHouse)
	}
	return "STRUCT(" + strings.Join(parts, ", ") + ")[]", "Array(Tuple(" + strings.Join(elements, ", ") + "))"
}

func (c *column[R]) unit() string {
	switch c.key.Type {
	case records.Duration:
		return "ns"
	case records.Seconds:
		return "s"
	}
	return string(c.key.Unit)
}

// Duplicate returns a name that two columns of a table have, if there is one.
func Duplicate[R any](t *records.Table[R]) string {
	var names []string
	for _, c := range Describe(t) {
		if slices.Contains(names, c.Name) {
			return c.Name
		}
		names = append(names, c.Name)
	}
	return ""
}
