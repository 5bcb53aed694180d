package reference

import (
	"fmt"
	"slices"
	"strings"
)

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
		kind := c.ClickHouse
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
