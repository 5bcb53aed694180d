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
	typeBinary = 8
	typeList   = 9
	typeStruct = 12
)

// encoder appends structs in Thrift's compact protocol. The fields of a struct have
// ascending ids.
type encoder struct {
	buf  []byte
	last []int // id of the last field of each struct that is not at its end
}

// begin begins a struct that is not a field: a whole message, or an element of a list.
func (e *encoder) begin() {
	e.last = append(e.last, 0)
}

func (e *encoder) beginField(id int) {
	e.field(id, typeStruct)
	e.begin()
}

func (e *encoder) end() {
	e.buf = append(e.buf, 0)
	e.last = e.last[:len(e.last)-1]
}

// field appends the header of a field. The distance to the last id is less than 16 in
// all structs of the format.
func (e *encoder) field(id int, fieldType byte) {
	last := &e.last[len(e.last)-1]
	e.buf = append(e.buf, byte(id-*last)<<4|fieldType)
	*last = id
}

func (e *encoder) bool(id int, v bool) { e.field(id, typeOfBool(v)) }

func (e *encoder) int32(id int, v int) {
	e.field(id, typeInt32)
	e.number(int64(v))
}

func (e *encoder) int64(id int, v int64) {
	e.field(id, typeInt64)
	e.number(v)
}

func (e *encoder) string(id int, v string) {
	e.field(id, typeBinary)
	e.text(v)
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

// number appends the value of a field, or an element of a list.
func (e *encoder) number(v int64) { e.buf = binary.AppendVarint(e.buf, v) }

func (e *encoder) text(v string) {
	e.buf = append(binary.AppendUvarint(e.buf, uint64(len(v))), v...)
}

// typeOfBool is the type of a field with that value, and an element of a list.
func typeOfBool(v bool) byte {
	if v {
		return typeTrue
	}
	return typeFalse
}
