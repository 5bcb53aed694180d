package rows

import (
	"slices"
	"strings"

	"github.com/lshark/lshark/render/parquet"
	"github.com/lshark/lshark/render/records"
)

// column is a column of a file: a key without parts, or a list.
type column[R any] struct {
	name    string
	key     *records.Key[R]
	parents []*records.Key[R] // the objects that contain the key, the outermost first
	kind    kind
	parts   []column[R] // of the elements of a list; of values, a single one without a name

	// first and second are where the values go: those of a time as a timestamp and as
	// nanoseconds, those of a map as names and as numbers, all others to first only. A list
	// of keys has neither.
	first, second *parquet.Column
}

// kind is how the values of a column are encoded.
type kind uint8

const (
	asInt    kind = iota // INT64
	asUint               // UINT64
	asBool               // BOOLEAN
	asFloat              // DOUBLE
	asText               // STRING
	asTime               // TIMESTAMP, and a column with nanoseconds
	asTexts              // LIST of STRING: the value is a list
	asCounts             // MAP
	asList               // LIST of one of those above asTexts, or of a group: the key is a list
)

// types are the types of kinds: those of Parquet, of kinds that are neither lists nor maps, those of DuckDB, and
// those of ClickHouse.
var types = [...]struct {
	parquet         parquet.Type
	sql, clickHouse string
	nullable        bool // in ClickHouse; strings and flags are empty and 0 instead, which costs nothing
}{
	asInt:    {parquet.Int64, "BIGINT", "Int64", true},
	asUint:   {parquet.Uint64, "UBIGINT", "UInt64", true},
	asBool:   {parquet.Boolean, "BOOLEAN", "UInt8", false},
	asFloat:  {parquet.Double, "DOUBLE", "Float64", true},
	asText:   {parquet.String, "VARCHAR", "String", false},
	asTime:   {parquet.Timestamp, "TIMESTAMP WITH TIME ZONE", "DateTime64(6, 'UTC')", true},
	asTexts:  {sql: "VARCHAR[]", clickHouse: "Array(String)"},
	asCounts: {sql: "MAP(VARCHAR, BIGINT)", clickHouse: "Map(String, Int64)"},
	asList:   {}, // by its parts
}

// nanoseconds is the end of the name of the second column of a time.
const nanoseconds = "_ns"

func columnsOf[R any](keys []*records.Key[R]) []column[R] {
	return appendColumns(nil, "", nil, keys, false)
}

// appendColumns appends the columns of keys inside their parents. prefix is put before
// their names.
func appendColumns[R any](list []column[R], prefix string, parents []*records.Key[R], keys []*records.Key[R], inList bool) []column[R] {
	for _, k := range keys {
		if k.JSON == records.Hidden || k.Type == records.Section {
			continue
		}
		c := column[R]{name: prefix + strings.ReplaceAll(k.Name, ".", "_"), key: k, parents: parents, kind: parquetKind(k, inList)}
		switch {
		case k.Len != nil && k.Parts != nil:
			c.kind, c.parts = asList, appendColumns(nil, "", nil, k.Parts, true)
		case k.Len != nil:
			c.kind, c.parts = asList, []column[R]{{key: k, kind: parquetKind(k, true)}}
		case k.Parts != nil:
			list = appendColumns(list, c.name+"_", append(slices.Clip(parents), k), k.Parts, inList)
			continue
		case k.Type == records.Object:
			continue
		}
		list = append(list, c)
	}
	return list
}

// parquetKind returns the kind of the values of a key, or of the elements of one that is a list.
func parquetKind[R any](k *records.Key[R], inList bool) kind {
	switch k.Type {
	case records.Uint, records.Enum:
		switch {
		case k.Unit == records.Bytes: // also an Enum: EOF
			return asUint
		case k.Type == records.Uint:
			return asInt
		}
	case records.Int, records.Status, records.Seconds, records.Duration:
		return asInt
	case records.Decimal:
		return asUint
	case records.Bool:
		return asBool
	case records.Float:
		return asFloat
	case records.Time:
		return asTime
	case records.Strings, records.Flags:
		if !inList {
			return asTexts
		}
	case records.Counts:
		if !inList {
			return asCounts
		}
	}
	return asText
}

func fields[R any](list []column[R]) (all []parquet.Field) {
	for i := range list {
		switch c := &list[i]; c.kind {
		case asTexts:
			all = append(all, parquet.ListOf(c.name, optional("", asText)))
		case asCounts:
			all = append(all, parquet.MapOf(c.name, parquet.String, parquet.Int64))
		case asList:
			element := parquet.Field{Type: parquet.Group, Fields: fields(c.parts)}
			if c.key.Parts == nil {
				element = element.Fields[0]
			}
			all = append(all, parquet.ListOf(c.name, element))
		case asTime:
			all = append(all, optional(c.name, asTime), optional(c.name+nanoseconds, asInt))
		default:
			all = append(all, optional(c.name, c.kind))
		}
	}
	return all
}

func optional(name string, k kind) parquet.Field {
	return parquet.Field{Name: name, Type: types[k].parquet, Repetition: parquet.Optional}
}

// assign binds columns to the leaves of file from index next, and returns the index after
// the last.
func assign[R any](list []column[R], file *parquet.Writer, next int) int {
	for i := range list {
		c := &list[i]
		if c.kind == asList {
			next = assign(c.parts, file, next)
			continue
		}
		c.first = file.Column(next)
		next++
		if c.kind == asTime || c.kind == asCounts {
			c.second = file.Column(next)
			next++
		}
	}
	return next
}
