package schema

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Kind is the encoding of a field's bytes.
type Kind uint8

// The kinds of fields.
const (
	Uint    Kind = iota // unsigned integer of 1 to 8 bytes
	Int                 // signed integer of 1 to 8 bytes
	Bytes               // opaque bytes; Size 0: up to the end of the buffer
	Text                // string up to a NUL or the end; Size 0: up to the end of the buffer
	Strings             // strings, separated by NULs
	Record              // one struct
	Array               // Count elements of Elem
	List                // consecutive records of different types and lengths
	Union               // one of several members, selected by the content of the message
	Message             // a lustre_msg of its own, with its buffers
	Virtual             // no bytes: text composed from other fields
)

// Format is the way a value is shown.
type Format uint8

// The formats. Those of 64-bit identifiers are strings in JSON.
const (
	Plain      Format = iota // decimal number, text or hex bytes
	Hex                      // packed word, "0x…"
	ID                       // xid, transno: decimal identifier
	Cookie                   // handle, hash, cookie, version of an object: "0x…" identifier
	Octal                    // file mode
	Size                     // bytes or offset; all ones is "EOF"
	Time                     // seconds since the epoch
	TimeSpan                 // number of seconds
	Version                  // Lustre version a.b.c.d
	NID4                     // 8-byte NID
	IPv4                     // address, u32
	Errno                    // errno, by name where it is one
	FID                      // struct lu_fid
	OSTID                    // struct ost_id: id and seq, or a FID
	OSTIDPlain               // struct ost_id that always is id and seq
	NID                      // struct lnet_nid
	Handle                   // struct lustre_handle, never swapped
	UUID                     // struct obd_uuid
)

// Style is how an integer without a name is written. It follows from
// kind and format.
type Style uint8

// The styles.
const (
	Spelled Style = iota // text, by the format: an identifier or a packed word
	Decimal              // number
	Signed               // number that may be negative
	Amount               // number of bytes, all ones is "EOF"
	Status               // errno
)

func style(k Kind, f Format) Style {
	switch f {
	case Errno:
		return Status
	case Plain, Time, TimeSpan, Size:
		switch {
		case k == Int:
			return Signed
		case f == Size:
			return Amount
		}
		return Decimal
	}
	return Spelled
}

// Order is the byte order of a struct or field.
type Order uint8

// The byte orders.
const (
	Inherit Order = iota // that of the enclosing struct; for ptlrpc the sender's
	Little
	Big
)

// Since is the first release that has a field or value, empty for 2.12 and
// older.
type Since string

// Field is a part of a struct, or what fills a buffer of an RPC. There are thousands: what few of
// them have is in Rules.
type Field struct {
	Name       string
	Kind       Kind
	Format     Format
	Order      Order
	Class      Class
	Pad        bool // padding: left out when zero
	Direct     bool // at a fixed offset and readable without a func; set by Struct.Resolve
	Tagged     bool // JSON names the struct: "_struct"
	Negotiated bool // flags that a client proposes and a server accepts or drops
	Style      Style

	Off   int     // from the start of its struct, -1 when it depends on the bytes before
	Size  int     // bytes, 0 when it depends on the bytes
	Names *Names  // values or bits by name
	Key   string  // the name as JSON has it behind another member: ,"name":
	Type  *Struct // of a Record
	Elem  *Field  // of an Array
	Count int     // elements of an Array, when fixed; -1: up to the end
	Doc   string

	*Rules // never nil in a field that is resolved

	options  []any    // of the constructor
	declared **Struct // Type, until the field is resolved
	resolved bool
}

// unresolved is the offset of a field that is not resolved.
const unresolved = -1 << 40

// Rules are what depends on the content of a message: whether a field is there and
// valid, where it is, how long it is, and which form it has. Fields without any share
// one that is empty.
type Rules struct {
	Since Since
	When  []Cond // all must hold, else the value is not valid

	Shown   *Shown // how summary lines show the value, nil: not at all
	Counted string // what summary lines call the elements of bulk data that have the field

	CountBy string               // the field of the same struct that holds the number of elements or bytes
	CountOf func(v *View) int    // or a func that computes it
	Choose  func(v *View) *Field // of a Union; nil: unknown
	Options []*Field             // the possible results of Choose or Step

	// Step returns the type and the length of the next record of a List; length
	// 0: that of the type; EmptyRecord: no bytes. A nil type ends the list.
	Step func(v *View) (*Field, int)

	ValidIf func(v *View) bool               // valid without what When names
	If      func(v *View) bool               // of overlaid members: this one is in use
	Case    *Case                            // the values that If compares, when it compares nothing else
	Derive  func(v *View, dst []byte) []byte // of a Virtual; empty: nothing to show
	Remark  func(v *View, dst []byte) []byte // shown behind the value in trees

	// Locate returns the position of a field that does not follow the one before
	// it: the offset of its first byte, counted as View.Off, and its size; 0: absent.
	Locate func(v *View) (off, size int)

	over          string  // name of the field it overlays
	at            int     // explicit offset, 0: none
	afterPrevious bool    // follows the field before it, which has a variable end
	count         *Field  // CountBy, resolved
	named         []Field // Options, under the name of the Union
	several       *several
}

// noRules are the rules of a field without any. Nothing writes to them.
var noRules Rules

// ownRules returns the rules of a field that is being resolved, to be changed.
func (f *Field) ownRules() *Rules {
	if f.Rules == &noRules {
		f.Rules = new(Rules)
	}
	return f.Rules
}

// EmptyRecord is the length of a record that has no bytes.
const EmptyRecord = -1

// Cond is a validity rule: the field is valid only if one of the bits is set.
type Cond struct {
	Field string   // the flag word, in the same struct
	Bits  []string // names of its bits; any of them will do
	word  *Field
	mask  uint64
}

// Case selects one of several overlaid members by the value of another field of
// the same struct.
type Case struct {
	Field  string
	Values []string // names of its values
	word   *Field
	least  uint64 // of the values
	set    uint64 // a bit for each value, from least on
}

// IfValue leaves a field out of a message unless another field of the same
// struct, the first name, has one of the values that follow.
type IfValue []string

// When makes a field valid only if a flag word of the same struct, the first name, has one of
// the bits set that follow.
type When []string

// Over lays a field over another one of the same struct.
type Over string

// At puts a field at an offset of its own: over the middle of another one, or
// behind a hole that the compiler left.
type At int

// AfterPrevious puts a field behind the one before it, which may be absent.
type AfterPrevious bool

// Tagged makes JSON name the struct that was chosen, as "_struct".
type Tagged bool

// CountBy names the field of the same struct that holds the number of
// elements (or of bytes, for Bytes and Text).
type CountBy string

// Shown puts the value of a field into the summary lines of messages that are
// no RPCs: hellos, pings, LNet selftest, bulk data.
type Shown struct {
	Label string // in front of the value
	Role  Role
	Wide  bool   // only in wide lines
	Zero  string // the text of a good result, in place of 0
	Only  string // only where the value has this name
}

// Counted makes the summary of bulk data count the elements that have the
// field, under the name given: 3 updates.
type Counted string

// Negotiated marks a flag word of connects, of which the reply shows what the
// server accepted.
type Negotiated bool

// Locate computes the position of a field from the content of the message.
type Locate func(v *View) (off, size int)

// Holds reports whether the condition holds in the struct that starts at b.
func (c *Cond) Holds(b []byte, big bool) bool { return c.word.Uint(b, big)&c.mask != 0 }

// Holds reports whether the struct that starts at b has one of the values.
func (c *Case) Holds(b []byte, big bool) bool { return c.set>>(c.word.Uint(b, big)-c.least)&1 != 0 }

// resolve finds the field and the values by their names.
func (c *Case) resolve(s *Struct) {
	c.word, c.least, c.set = s.Field(c.Field), math.MaxUint64, 0
	for _, name := range c.Values {
		c.least = min(c.least, c.word.Names.Number(name))
	}
	for _, name := range c.Values {
		bit := c.word.Names.Number(name) - c.least
		if bit > 63 {
			panic(c.Field + ": values of one condition are at most 63 apart, unlike " + name)
		}
		c.set |= 1 << bit
	}
}

// Valid reports whether the field is valid in the struct of v.
func (f *Field) Valid(v *View) bool {
	if len(f.When) == 0 && f.ValidIf != nil {
		return f.ValidIf(v)
	}
	for i := range f.When {
		if !f.When[i].Holds(v.Struct, v.Big) {
			return f.ValidIf != nil && f.ValidIf(v)
		}
	}
	return true
}

// Uint reads the field from the struct that starts at b; bytes that were not
// captured read as zero.
func (f *Field) Uint(b []byte, big bool) uint64 {
	if f.Off < 0 || f.Off+f.Size > len(b) || len(b) < f.Off {
		f.mustBeResolved()
		return 0
	}
	v := ReadUint(b[f.Off:f.Off+f.Size], f.Order.Is(big))
	if f.Kind == Int {
		return uint64(signed(v, f.Size))
	}
	return v
}

// Bytes returns the bytes of the field in the struct that starts at b, nil when
// they were not all captured. A field of variable size extends to the end of b.
func (f *Field) Bytes(b []byte) []byte {
	if f.Off < 0 || f.Off+f.Size > len(b) {
		f.mustBeResolved()
		return nil
	}
	if f.Size == 0 {
		return b[f.Off:]
	}
	return b[f.Off : f.Off+f.Size]
}

// mustBeResolved panics when the offset of the field was not computed yet.
func (f *Field) mustBeResolved() {
	if f.Off == unresolved {
		panic(fmt.Sprintf("field %s is read before opcodes.Resolve was called, or its struct is in no buffer of a message", f.Name))
	}
}

// Is reports whether integers of this order are big-endian; big is the order of
// the enclosing struct.
func (o Order) Is(big bool) bool {
	switch o {
	case Little:
		return false
	case Big:
		return true
	}
	return big
}

// ReadUint reads an integer of any size up to 8 bytes.
func ReadUint(b []byte, big bool) uint64 {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		if big {
			return uint64(binary.BigEndian.Uint16(b))
		}
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		if big {
			return uint64(binary.BigEndian.Uint32(b))
		}
		return uint64(binary.LittleEndian.Uint32(b))
	case 8:
		if big {
			return binary.BigEndian.Uint64(b)
		}
		return binary.LittleEndian.Uint64(b)
	}
	var v uint64
	for i := range b {
		if big {
			v = v<<8 | uint64(b[i])
		} else {
			v |= uint64(b[i]) << (8 * i)
		}
	}
	return v
}

// PutUint writes an integer of any size up to 8 bytes.
func PutUint(b []byte, v uint64, big bool) {
	for i := range b {
		if big {
			b[len(b)-1-i] = byte(v >> (8 * i))
		} else {
			b[i] = byte(v >> (8 * i))
		}
	}
}

func signed(v uint64, size int) int64 {
	shift := 64 - 8*size
	return int64(v<<shift) >> shift
}
