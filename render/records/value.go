package records

import (
	"net/netip"
	"strconv"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// Type is the type of a key's values. It decides how they are written, what
// they can be compared with, and the type of a column that holds them.
type Type uint8

// The types. The comments say which field of a Value holds it and how JSON
// shows it.
const (
	Uint        Type = iota // U: a number
	Int                     // U, two's complement: a number
	Decimal                 // U, an identifier of 64 bits: a string in decimal
	Hex                     // U, an identifier of 64 bits: a string such as "0x1f"
	Bool                    // no field: a key has the value true or no value
	Enum                    // U: the name in Names, or the number when Names has none
	Flags                   // U: the names of the set bits as an array
	Status                  // U, two's complement: a number; Names and errnos are for comparisons
	Seconds                 // U, whole seconds: a number
	Duration                // U, nanoseconds, may be negative: seconds with a fraction
	Float                   // F: a number
	Time                    // U, nanoseconds since the epoch: a string in UTC
	Text                    // Text: a string
	Strings                 // Strings: an array of strings
	EscapedText             // Escaped: a string that filters do not compare and JSON does not have
	Counts                  // Counts: an object with a number for each name
	FID                     // U (sequence), OID and Ver: a string such as "[0x200000401:0x1:0x0]"
	NID                     // NID: a string
	Address                 // Addr: a string
	Object                  // the values of its parts
	Section                 // a part of a message's tree
)

var typeNames = [...]string{Uint: "number", Int: "number", Decimal: "number", Hex: "number", Bool: "bool", Enum: "enum",
	Flags: "flags", Status: "number", Seconds: "seconds", Duration: "seconds", Float: "number", Time: "time", Text: "text", Strings: "list of text", EscapedText: "text",
	Counts: "counts", FID: "FID",
	NID: "NID", Address: "address", Object: "object", Section: "object"}

// String returns the type in a word for users.
func (t Type) String() string { return typeNames[t] }

// Unit is the unit of a number. Times have a type instead.
type Unit string

// The units.
const (
	NoUnit Unit = ""
	Bytes  Unit = "bytes"
)

// Count is how often something occurred.
type Count struct {
	Name string
	N    int64
}

// Value is one value of a key. Which fields hold it depends on Type. They are
// valid until the record or the Value is used for something else.
type Value struct {
	Type  Type
	U     uint64
	Names *schema.Names // of Enum, Flags and Status
	Text  []byte        // of the wire: escaped where it is shown
	OID   uint32
	Ver   uint32
	NID   lnet.NID
	Addr  netip.AddrPort

	// Of statistics and connections only.
	F       float64
	Strings []string // as Text
	Counts  []Count

	Escaped Escaped // of EscapedText

	buf []byte
}

// Escaped is text in which whatever a terminal would act on is escaped already, so that it
// is shown as it is. All other text of a Value is of the wire, or may be.
type Escaped []byte

// SetString makes Text a copy of s.
func (v *Value) SetString(s string) {
	v.buf = append(v.buf[:0], s...)
	v.Text = v.buf
}

// SetErrno makes Text the name of a negative errno, or the number when it has no
// name.
func (v *Value) SetErrno(status int32) {
	v.buf = AppendErrno(v.buf[:0], status)
	v.Text = v.buf
}

// AppendErrno appends the name of a negative errno, or of a failed GSS call, or the number when it has no
// name.
func AppendErrno(dst []byte, status int32) []byte {
	if name := opcodes.GSSErrorName(status); name != "" {
		return append(dst, name...)
	}
	if name := schema.Errnos.Name(uint64(-int64(status))); name != "" {
		return append(dst, name...)
	}
	return strconv.AppendInt(dst, int64(status), 10)
}
