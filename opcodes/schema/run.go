package schema

// Run is a row of Direct fields of a struct.
type Run struct {
	Values []Direct
	End    int // the furthest of them, from the start of the struct
}

// Direct is a compact copy of what a walk reads of a Direct field, stored beside
// those of its neighbours.
type Direct struct {
	Field      *Field
	Word       *Field // holds the bits that must be set; nil: always valid
	Mask       uint64
	CaseField  *Field // selects the overlaid member; nil: always in use
	CaseLeast  uint64
	CaseValues uint64
	Off        int32
	Size       int32
	Kind       Kind
	Order      Order
	Needs      Needs
	Pad        bool
	CheckValid bool // Field.Valid has to be called
}

// Needs are the steps that a Direct field takes beyond reading 4 or 8 bytes in
// little-endian order. Fields that are not integers are not read.
type Needs uint8

// The steps.
const (
	NeedsIf        Needs = 1 << iota // Field.If has to be called
	NeedsRemark                      // Field.Remark has to be called, where remarks are shown
	NeedsByteOrder                   // its byte order is that of the enclosing struct
	NeedsSlowPath                    // anything else: other sizes, signs, selectors, padding
)

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
		if f.Case != nil {
			d.CaseField, d.CaseLeast, d.CaseValues = f.Case.word, f.Case.least, f.Case.set
		}
		if d.CheckValid = len(f.When) > 1 || f.ValidIf != nil; !d.CheckValid && len(f.When) == 1 {
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
	if f.If != nil && f.Case == nil {
		n |= NeedsIf
	}
	if f.Remark != nil {
		n |= NeedsRemark
	}
	if f.Order == Inherit {
		n |= NeedsByteOrder
	}
	odd := f.Kind == Int || (f.Kind == Uint) != (f.Size == 4 || f.Size == 8)
	if odd || f.Order == Big || d.CaseField != nil || d.Pad || d.CheckValid {
		n |= NeedsSlowPath
	}
	return n
}

// Uint reads the integer in the struct at b; it returns zero for a field
// that is not an integer.
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
