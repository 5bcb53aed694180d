package parquet

import "encoding/binary"

// Types of fields in Thrift's compact protocol.
const (
	typeTrue   = 1
	typeFalse  = 2
	typeByte   = 3
	typeInt16  = 4
	typeInt32  = 5
	typeInt64  = 6
	typeDouble = 7
	typeBinary = 8
	typeList   = 9
	typeSet    = 10
	typeMap    = 11
	typeStruct = 12
)

// maxDepth is how deep structs are nested in one another.
const maxDepth = 8

// encoder appends structs in Thrift's compact protocol. The fields of a struct have
// ascending ids.
type encoder struct {
	buf  []byte
	last [maxDepth]int // id of the last field of each struct that is not at its end
	in   int           // number of these structs
}

// begin begins a struct that is not a field: a whole message, or an element of a list.
func (e *encoder) begin() {
	e.last[e.in] = 0
	e.in++
}

func (e *encoder) beginField(id int) {
	e.field(id, typeStruct)
	e.begin()
}

func (e *encoder) end() {
	e.buf = append(e.buf, 0)
	e.in--
}

// field appends the header of a field. The distance to the last id is less than 16 in
// all structs of the format.
func (e *encoder) field(id int, fieldType byte) {
	last := &e.last[e.in-1]
	e.buf = append(e.buf, byte(id-*last)<<4|fieldType)
	*last = id
}

func (e *encoder) bool(id int, v bool) {
	if v {
		e.field(id, typeTrue)
	} else {
		e.field(id, typeFalse)
	}
}

func (e *encoder) byte(id int, v byte) {
	e.field(id, typeByte)
	e.buf = append(e.buf, v)
}

func (e *encoder) int16(id int, v int16) {
	e.field(id, typeInt16)
	e.buf = binary.AppendVarint(e.buf, int64(v))
}

func (e *encoder) int32(id int, v int32) {
	e.field(id, typeInt32)
	e.buf = binary.AppendVarint(e.buf, int64(v))
}

func (e *encoder) int64(id int, v int64) {
	e.field(id, typeInt64)
	e.buf = binary.AppendVarint(e.buf, v)
}

func (e *encoder) string(id int, v string) {
	e.field(id, typeBinary)
	e.stringElement(v)
}

func (e *encoder) bytes(id int, v []byte) {
	e.field(id, typeBinary)
	e.bytesElement(v)
}

// list begins a list of n elements, which the caller appends.
func (e *encoder) list(id int, elementType byte, n int) {
	e.field(id, typeList)
	if n < 15 {
		e.buf = append(e.buf, byte(n)<<4|elementType)
		return
	}
	e.buf = binary.AppendUvarint(append(e.buf, 0xf0|elementType), uint64(n))
}

func (e *encoder) int32Element(v int32) { e.buf = binary.AppendVarint(e.buf, int64(v)) }

func (e *encoder) int64Element(v int64) { e.buf = binary.AppendVarint(e.buf, v) }

func (e *encoder) stringElement(v string) {
	e.buf = append(binary.AppendUvarint(e.buf, uint64(len(v))), v...)
}

func (e *encoder) bytesElement(v []byte) {
	e.buf = append(binary.AppendUvarint(e.buf, uint64(len(v))), v...)
}

func (e *encoder) boolElement(v bool) {
	if v {
		e.buf = append(e.buf, typeTrue)
	} else {
		e.buf = append(e.buf, typeFalse)
	}
}
