package render

import (
	"bytes"
	"strconv"

	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

// null is the JSON of a key whose value is unknown.
const null = "null"

type member[R any] struct {
	records.Key[R]
	prefix string // ,"name":
	parts  []member[R]
}

func members[R any](keys []*records.Key[R]) (list []member[R]) {
	for _, k := range keys {
		if k.JSON != records.Hidden {
			list = append(list, member[R]{*k, `,"` + k.Name + `":`, members(k.Parts)})
		}
	}
	return list
}

// RecordJSON renders records of one kind as JSON objects.
type RecordJSON[R any] struct {
	members   []member[R]
	trimZeros bool // at the end of durations
	val       records.Value
}

// NewRecordJSON makes a renderer of the keys that JSON has.
func NewRecordJSON[R any](t *records.Table[R]) *RecordJSON[R] {
	return &RecordJSON[R]{members: members(t.Keys()), trimZeros: t.Trims}
}

// Append appends the object of a record.
func (j *RecordJSON[R]) Append(dst []byte, r R) []byte {
	return j.object(dst, j.members, r, 0)
}

// AppendLine appends the object of a record and a newline.
func (j *RecordJSON[R]) AppendLine(dst []byte, r R) []byte { return append(j.Append(dst, r), '\n') }

// AppendLines appends the objects of records, a line each.
func (j *RecordJSON[R]) AppendLines(dst []byte, list []R) []byte {
	for _, r := range list {
		dst = j.AppendLine(dst, r)
	}
	return dst
}

// appendKeys appends ,"name":value for each member: of a record, or of the i-th element of a list in it.
func (j *RecordJSON[R]) appendKeys(dst []byte, list []member[R], r R, i int) []byte {
	for k := range list {
		m := &list[k]
		switch {
		case m.Len != nil:
			dst = j.list(dst, m, r)
		case m.Read(r, i, &j.val):
			dst = append(dst, m.prefix...)
			if m.parts != nil {
				dst = j.object(dst, m.parts, r, i)
			} else {
				dst = j.appendKeyValue(dst, &j.val)
			}
		case m.JSON == records.Null:
			dst = append(append(dst, m.prefix...), null...)
		}
	}
	return dst
}

func (j *RecordJSON[R]) object(dst []byte, parts []member[R], r R, i int) []byte {
	return endJSON(j.appendKeys(dst, parts, r, i), len(dst), "{}")
}

func (j *RecordJSON[R]) list(dst []byte, m *member[R], r R) []byte {
	n := m.Len(r)
	if n == 0 && m.JSON == records.Omit {
		return dst
	}
	dst = append(append(dst, m.prefix...), '[')
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		switch {
		case m.parts != nil:
			dst = j.object(dst, m.parts, r, i)
		case m.Read(r, i, &j.val):
			dst = j.appendKeyValue(dst, &j.val)
		default:
			dst = append(dst, null...)
		}
	}
	return append(dst, ']')
}

func (j *RecordJSON[R]) appendKeyValue(dst []byte, v *records.Value) []byte {
	switch v.Type {
	case records.Uint, records.Seconds:
		return appendJSONUint(dst, v.U)
	case records.Text:
		return schema.AppendJSONString(dst, v.Text)
	case records.Enum:
		if name := v.Names.Name(v.U); name != "" {
			return append(append(append(dst, '"'), name...), '"')
		}
		return appendJSONUint(dst, v.U)
	case records.Flags:
		return appendJSONFlags(dst, v.Names, v.U)
	case records.Strings:
		return append(appendJoined(append(dst, '['), v.Strings, ",", func(dst []byte, s string) []byte {
			return schema.AppendJSONString(dst, []byte(s))
		}), ']')
	case records.Counts:
		return append(appendJoined(append(dst, '{'), v.Counts, ",", func(dst []byte, c records.Count) []byte {
			return strconv.AppendInt(append(schema.AppendJSONString(dst, []byte(c.Name)), ':'), c.N, 10)
		}), '}')
	case records.Decimal, records.Hex, records.Time, records.FID, records.NID, records.Address:
		return append(appendRecordValue(append(dst, '"'), v, j.trimZeros), '"')
	}
	return appendRecordValue(dst, v, j.trimZeros)
}

// AppendCounts appends names with how often each occurred: ENOENT:3,EIO:1.
func AppendCounts(dst []byte, counts []records.Count, sep string) []byte {
	return appendJoined(dst, counts, sep, func(dst []byte, c records.Count) []byte {
		return strconv.AppendInt(append(schema.AppendText(dst, []byte(c.Name)), ':'), c.N, 10)
	})
}

// AppendValue appends the value of a key as text, as -T fields prints it.
func AppendValue(dst []byte, v *records.Value) []byte {
	return appendRecordValue(dst, v, false)
}

// AppendCell appends the value of a key for people: times and sizes with units, nodes as
// nids shows them.
func AppendCell(dst []byte, v *records.Value, unit records.Unit, nids NIDs) []byte {
	switch {
	case v.Type == records.Text:
		return schema.AppendText(dst, v.Text)
	case v.Type == records.Decimal, v.Type == records.Uint && unit == records.NoUnit:
		return strconv.AppendUint(dst, v.U, 10)
	case v.Type == records.Duration:
		return AppendLatency(dst, int64(v.U))
	case v.Type == records.NID:
		return nids.Append(dst, v.NID)
	case v.Type == records.Strings:
		return appendTexts(dst, v.Strings, " ")
	case v.Type == records.Counts:
		return AppendCounts(dst, v.Counts, " ")
	case unit == records.Bytes:
		return schema.AppendSize(dst, int64(v.U))
	}
	return AppendValue(dst, v)
}

func appendRecordValue(dst []byte, v *records.Value, trimZeros bool) []byte {
	switch v.Type {
	case records.Int, records.Status:
		return strconv.AppendInt(dst, int64(v.U), 10)
	case records.Hex:
		return schema.AppendHex(dst, v.U)
	case records.Bool:
		return append(dst, "true"...)
	case records.Enum:
		if name := v.Names.Name(v.U); name != "" {
			return append(dst, name...)
		}
	case records.Flags:
		if v.U == 0 {
			return dst
		}
		return schema.AppendFlags(dst, v.Names, v.U, "|")
	case records.Duration:
		dst = AppendElapsed(dst, int64(v.U), 9)
		if trimZeros {
			dst = bytes.TrimSuffix(bytes.TrimRight(dst, "0"), []byte("."))
		}
		return dst
	case records.Float:
		return strconv.AppendFloat(dst, v.F, 'f', 3, 64)
	case records.Time:
		return AppendISO(dst, int64(v.U))
	case records.Text:
		return schema.AppendText(dst, v.Text)
	case records.Strings:
		return appendTexts(dst, v.Strings, ",")
	case records.EscapedText:
		return append(dst, v.Escaped...)
	case records.Counts:
		return AppendCounts(dst, v.Counts, ",")
	case records.FID:
		return schema.AppendFID(dst, v.U, v.OID, v.Ver)
	case records.NID:
		return v.NID.Append(dst)
	case records.Address:
		return v.Addr.AppendTo(dst)
	}
	return strconv.AppendUint(dst, v.U, 10)
}
