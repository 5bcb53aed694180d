package schema

// Run is a row of Direct fields of a struct.
type Run struct {
	Values []Direct
	End    int // the furthest of them, from the start of the struct
}

// Direct is what a walk needs to know of a Direct field, close to that of its
// neighbours.
type Direct struct {
	Field *Field
	Word  *Field // holds the bits that must be set, nil: it always means something
	Mask  uint64
	Case  *Field // tells the cases that the field is for, nil: it is there always
	Cases uint64
	Off   int32
	Size  int32
	Kind  Kind
	Order Order
	Needs Needs
	Pad   bool
	More  bool // Field.Valid has to be asked
}

// Needs says what a Direct field takes beyond the reading of 4 or 8 bytes in
// little-endian order; none that is no integer is read.
type Needs uint8

// The needs.
const (
	NeedsFunc   Needs = 1 << iota // a func of the field has to be asked
	NeedsRemark                   // and for remarks another one
	NeedsOrder                    // its byte order is that of what is around it
	NeedsCare                     // anything else
)

// direct finds out whether a field is Direct.
func (f *Field) direct() bool {
	if f.Off < 0 || f.Size == 0 || f.Overlays() && f.If == nil || f.Locate != nil {
		return false
	}
	switch f.Kind {
	case Uint, Int:
		return true
	case Text, Bytes:
		return !f.Pad
	case Record:
		return f.Type.Atom != Plain && f.Size == f.Type.Size
	}
	return false
}

// asks reports whether the field depends on a func.
func (f *Field) asks() bool {
	return f.If != nil || f.Remark != nil || f.InvalidIf != nil || f.ValidIf != nil
}

// runs finds, for each field, the Direct fields from it on.
func runs(fields []*Field) []Run {
	values := make([]Direct, len(fields))
	list := make([]Run, len(fields))
	for i := len(fields) - 1; i >= 0; i-- {
		f := fields[i]
		if !f.Direct {
			continue
		}
		d := &values[i]
		*d = Direct{Field: f, Off: int32(f.Off), Size: int32(f.Size), Kind: f.Kind, Order: f.Order, Pad: f.Pad}
		if f.For != nil {
			d.Case, d.Cases = f.For.word, f.For.set
		}
		if d.More = len(f.When) > 1 || f.InvalidIf != nil || f.ValidIf != nil; !d.More && len(f.When) == 1 {
			d.Word, d.Mask = f.When[0].word, f.When[0].mask
		}
		d.Needs = d.needs()
		n, end := 1, f.Off+f.Size
		if i+1 < len(fields) {
			n, end = n+len(list[i+1].Values), max(end, list[i+1].End)
		}
		list[i] = Run{Values: values[i : i+n], End: end}
	}
	return list
}

func (d *Direct) needs() (n Needs) {
	f := d.Field
	if f.If != nil && f.For == nil {
		n |= NeedsFunc
	}
	if f.Remark != nil {
		n |= NeedsRemark
	}
	if f.Order == Inherit {
		n |= NeedsOrder
	}
	odd := f.Kind == Int || (f.Kind == Uint) != (f.Size == 4 || f.Size == 8)
	if odd || f.Order == Big || d.Case != nil || d.Pad || d.More {
		n |= NeedsCare
	}
	return n
}

// Uint reads the integer in the struct at b; it is zero for a field that is
// none.
func (d *Direct) Uint(b []byte, big bool) uint64 {
	if d.Kind > Int {
		return 0
	}
	v := ReadUint(b[d.Off:d.Off+d.Size], d.Order.Is(big))
	if d.Kind == Int {
		return uint64(signed(v, int(d.Size)))
	}
	return v
}
