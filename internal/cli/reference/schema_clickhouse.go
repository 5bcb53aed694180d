package reference

import (
	"fmt"
	"slices"
	"strings"
)

var clickHouseTypes = map[string]string{
	"TIMESTAMP WITH TIME ZONE": "DateTime64(6, 'UTC')",
	"UBIGINT":                  "UInt64",
	"BIGINT":                   "Int64",
	"BOOLEAN":                  "UInt8",
	"DOUBLE":                   "Float64",
	"VARCHAR":                  "String",
}

func clickHouseType(t string) string {
	if element, ok := strings.CutSuffix(t, "[]"); ok {
		return "Array(" + clickHouseType(element) + ")"
	}
	if parts, ok := strings.CutPrefix(t, "MAP("); ok {
		key, value, _ := strings.Cut(strings.TrimSuffix(parts, ")"), ", ")
		return "Map(" + clickHouseType(key) + ", " + clickHouseType(value) + ")"
	}
	if parts, ok := strings.CutPrefix(t, "STRUCT("); ok {
		list := splitParts(strings.TrimSuffix(parts, ")"))
		for i, part := range list {
			name, t, _ := strings.Cut(part, " ")
			name = "`" + strings.Trim(name, `"`) + "`"
			list[i] = name + " " + nullable(clickHouseType(t))
		}
		return "Tuple(" + strings.Join(list, ", ") + ")"
	}
	name, ok := clickHouseTypes[t]
	if !ok {
		panic("no type of ClickHouse for " + t)
	}
	return name
}

// splitParts splits the parts of a STRUCT at the commas that are not inside another type.
func splitParts(text string) (list []string) {
	depth, start := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				list = append(list, text[start:i])
				start = i + len(", ")
			}
		}
	}
	return append(list, text[start:])
}

// nullable returns the type of a value that may be NULL. Strings and flags are empty and
// 0 instead, which costs nothing.
func nullable(t string) string {
	switch t {
	case "Int64", "UInt64", "Float64", "DateTime64(6, 'UTC')":
		return "Nullable(" + t + ")"
	}
	return t
}

// fewValues are the columns with strings of which each file has few.
var fewValues = strings.Fields("opcode pb_opc pb_type variant kind type mode state client server target target_index target_from job error " +
	"reply_missing lock_wait_end sensor capture")

// appendClickHouse appends the statement that creates a table in ClickHouse. Rows of
// rpcs that are inserted a second time replace the first ones: its sorting key
// identifies an RPC. Other records have no such key.
func appendClickHouse(out []byte, t SchemaTable) []byte {
	out = fmt.Appendf(out, "\nCREATE TABLE %s (\n", t.Name)
	rpcs := t.Name == "rpcs"
	for _, c := range t.Columns {
		kind := nullable(clickHouseType(c.Type))
		switch {
		case kind == "String" && (slices.Contains(fewValues, c.Name) || strings.HasSuffix(c.Name, "_file")):
			kind = "LowCardinality(String)"
		case rpcs && c.Name == "xid":
			kind = "UInt64"
		}
		out = fmt.Appendf(out, "  `%s` %s,\n", c.Name, kind)
	}
	if !rpcs {
		out = append(out[:len(out)-len(",\n")], '\n')
		return append(out, ") ENGINE = MergeTree ORDER BY (sensor, capture);\n"...)
	}
	return append(out, "  `time` DateTime('UTC') DEFAULT toDateTime(intDiv(coalesce(request_time_ns, reply_time_ns, 0), 1000000000), 'UTC'),\n"+
		"  `frame` UInt64 DEFAULT toUInt64(coalesce(request_frame, reply_frame, 0))\n"+
		") ENGINE = ReplacingMergeTree PARTITION BY toYYYYMMDD(time)\n"+
		"ORDER BY (target, opcode, time, client, xid, sensor, capture, frame);\n"...)
}
