package records

import (
	"slices"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes/schema"
)

// Key is a key of records of the type R. Funcs that make many keys are not inlined: closures and
// all, the program would be larger by 100 kB.
type Key[R any] struct {
	Name  string
	Type  Type
	Unit  Unit
	Names *schema.Names // of the values of an Enum, Flags or Status
	Doc   string
	JSON  Presence

	// Get reads the value and reports whether there is one: of a list, and of the parts of a list of objects,
	// that of the i-th element. It is nil where there always is: for objects without a value of their own.
	Get func(r R, i int, v *Value) bool

	Len func(r R) int // of a list: its length; nil for others

	Parts []*Key[R]
}

// Presence is how JSON shows a key without a value.
type Presence uint8

// The presences.
const (
	Null   Presence = iota // null, and [] for a list
	Omit                   // the key is left out
	Hidden                 // the key is not in JSON at all; only filters and -e have it
)

// Read reads the value of a key and reports whether there is one: in the i-th element of a
// list, or in the record.
func (k *Key[R]) Read(r R, i int, v *Value) bool {
	v.Type, v.Names = k.Type, k.Names
	return k.Get == nil || k.Get(r, i, v)
}

func (k *Key[R]) as(t Type) *Key[R] {
	k.Type = t
	return k
}

// named gives the values names.
func (k *Key[R]) named(t Type, names *schema.Names) *Key[R] {
	k.Type, k.Names = t, names
	return k
}

func (k *Key[R]) inBytes() *Key[R] {
	k.Unit = Bytes
	return k
}

// omit leaves the key out of JSON where there is no value.
func (k *Key[R]) omit() *Key[R] {
	k.JSON = Omit
	return k
}

func (k *Key[R]) hide() *Key[R] {
	k.JSON = Hidden
	return k
}

// when makes the value unknown in records for which has does not hold.
//
//go:noinline
func (k *Key[R]) when(has func(r R) bool) *Key[R] {
	get := k.Get
	k.Get = func(r R, i int, v *Value) bool { return has(r) && (get == nil || get(r, i, v)) }
	return k
}

// nonzero makes 0 mean that there is no value, and leaves it out of JSON.
func (k *Key[R]) nonzero() *Key[R] { return k.known().omit() }

// known makes 0, or a list that is empty, mean that the value is unknown.
//
//go:noinline
func (k *Key[R]) known() *Key[R] {
	get := k.Get
	k.Get = func(r R, i int, v *Value) bool {
		ok := get(r, i, v)
		switch k.Type {
		case NID:
			return ok && v.NID != lnet.NID{}
		case Strings:
			return ok && len(v.Strings) > 0
		case Counts:
			return ok && len(v.Counts) > 0
		}
		return ok && v.U != 0
	}
	return k
}

type integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// NumberKey makes a key of a number.
//
//go:noinline
func NumberKey[R any, N integer](name, doc string, get func(r R) N) *Key[R] {
	return &Key[R]{Name: name, Doc: doc, Get: func(r R, _ int, v *Value) bool {
		v.U = uint64(get(r))
		return true
	}}
}

// numberIf makes a key of a number that not every record has.
//
//go:noinline
func numberIf[R any, N integer](name, doc string, get func(r R) (N, bool)) *Key[R] {
	return &Key[R]{Name: name, Doc: doc, Get: func(r R, _ int, v *Value) bool {
		n, ok := get(r)
		v.U = uint64(n)
		return ok
	}}
}

func enum[R any, N integer](name string, names *schema.Names, doc string, get func(r R) N) *Key[R] {
	return NumberKey(name, doc, get).named(Enum, names)
}

func flags[R any, N integer](name string, names *schema.Names, doc string, get func(r R) N) *Key[R] {
	return NumberKey(name, doc, get).named(Flags, names)
}

// DurationKey makes a key of a time span in nanoseconds that not every record has.
func DurationKey[R any](name, doc string, get func(r R) (ns int64, ok bool)) *Key[R] {
	return numberIf(name, doc, get).as(Duration)
}

// TimeKey makes a key of a time in nanoseconds since the epoch.
func TimeKey[R any](name, doc string, get func(r R) int64) *Key[R] {
	return NumberKey(name, doc, get).as(Time)
}

func float[R any](name, doc string, get func(r R) float64) *Key[R] {
	return &Key[R]{Name: name, Type: Float, Doc: doc, Get: func(r R, _ int, v *Value) bool {
		v.F = get(r)
		return true
	}}
}

func boolean[R any](name, doc string, get func(r R) bool) *Key[R] {
	return &Key[R]{Name: name, Type: Bool, Doc: doc, JSON: Omit, Get: func(r R, _ int, _ *Value) bool { return get(r) }}
}

// TextKey makes a key of a text, unknown where it is empty.
//
//go:noinline
func TextKey[R any](name, doc string, get func(r R) string) *Key[R] {
	return &Key[R]{Name: name, Type: Text, Doc: doc, Get: func(r R, _ int, v *Value) bool {
		v.SetString(get(r))
		return len(v.Text) > 0
	}}
}

func anyText[R any](name, doc string, get func(r R) string) *Key[R] {
	k := TextKey(name, doc, get)
	k.Get = func(r R, _ int, v *Value) bool {
		v.SetString(get(r))
		return true
	}
	return k
}

// rawText makes a key of a text, unknown where it is empty, without a copy.
func rawText[R any](name, doc string, get func(r R) []byte) *Key[R] {
	return &Key[R]{Name: name, Type: Text, Doc: doc, Get: func(r R, _ int, v *Value) bool {
		v.Text = get(r)
		return len(v.Text) > 0
	}}
}

// errno makes a key of the name of an error, unknown unless the errno is negative.
func errno[R any](name, doc string, get func(r R) int32) *Key[R] {
	return &Key[R]{Name: name, Type: Text, Doc: doc, Get: func(r R, _ int, v *Value) bool {
		status := get(r)
		v.SetErrno(status)
		return status < 0
	}}
}

// release makes a key of a version of Lustre, unknown where it is 0.
func release[R any](name, doc string, get func(r R) uint32) *Key[R] {
	return TextKey(name, doc, func(r R) string {
		if version := get(r); version != 0 {
			return string(schema.AppendVersion(nil, version))
		}
		return ""
	})
}

// NIDKey makes a key of the NID of a node.
func NIDKey[R any](name, doc string, get func(r R) lnet.NID) *Key[R] {
	return &Key[R]{Name: name, Type: NID, Doc: doc, Get: func(r R, _ int, v *Value) bool {
		v.NID = get(r)
		return true
	}}
}

func nids[R any](name, doc string, get func(r R) []lnet.NID) *Key[R] {
	return &Key[R]{Name: name, Type: NID, Doc: doc, Len: func(r R) int { return len(get(r)) }, Get: func(r R, i int, v *Value) bool {
		v.NID = get(r)[i]
		return true
	}}
}

// fid makes a key of a FID, unknown where it is 0.
func fid[R any](name, doc string, get func(r R) track.FID) *Key[R] {
	return &Key[R]{Name: name, Type: FID, Doc: doc, Get: func(r R, _ int, v *Value) bool {
		f := get(r)
		v.SetFID(f)
		return f != track.FID{}
	}}
}

func texts[R any](name, doc string, get func(r R) []string) *Key[R] {
	return &Key[R]{Name: name, Type: Strings, Doc: doc, Get: func(r R, _ int, v *Value) bool {
		v.Strings = get(r)
		return true
	}}
}

// textsIf makes a key of an array of texts that JSON leaves out where it is empty.
func textsIf[R any](name, doc string, get func(r R) []string) *Key[R] {
	return texts(name, doc, get).nonzero()
}

// counts makes a key of how often each of several things occurred.
func counts[R any](name, doc string, get func(r R) []Count) *Key[R] {
	return &Key[R]{Name: name, Type: Counts, Doc: doc, Get: func(r R, _ int, v *Value) bool {
		v.Counts = get(r)
		return true
	}}
}

// errorCounts makes a key of how often each error occurred, which JSON leaves out
// where there was none. The keys of the map are errnos, negative.
func errorCounts[R any](name, doc string, get func(r R) map[int32]int64) *Key[R] {
	return counts(name, doc, func(r R) []Count { return ErrorCounts(get(r)) }).nonzero()
}

func object[R any](name, doc string, parts ...*Key[R]) *Key[R] {
	return &Key[R]{Name: name, Type: Object, Doc: doc, Parts: parts}
}

// point makes a key of the place and time of a message, null where it was not seen.
func point[R any](name, doc string, at func(r R) track.Point) *Key[R] {
	return object(name, doc, pointKeys(at)...).when(func(r R) bool { return !at(r).IsZero() })
}

const (
	frameDoc = "number of the frame, from 1, in its file"
	timeDoc  = "time of the frame"
)

func pointKeys[R any](at func(r R) track.Point) []*Key[R] {
	return placeKeys(at, func(r R) string {
		if p := at(r); !p.IsLog() {
			return p.File
		}
		return ""
	})
}

func placeKeys[R any](at func(r R) track.Point, file func(r R) string) []*Key[R] {
	seen := func(r R) bool { return !at(r).IsZero() }
	return []*Key[R]{
		TextKey("file", "file of the frame, when several are read", file).omit(),
		NumberKey("frame", frameDoc, func(r R) int64 { return at(r).Frame }).when(func(r R) bool { return at(r).Frame > 0 }),
		TimeKey("time", timeDoc, func(r R) int64 { return at(r).Time }).when(seen),
	}
}

// inside makes the keys of a part of a record keys of the record: without values where
// get returns nil.
func inside[R, P any](get func(r R) *P, keys ...*Key[*P]) []*Key[R] {
	return inner(func(r R, _ int) (*P, bool) {
		p := get(r)
		return p, p != nil
	}, keys)
}

// list makes a key of a list of objects, with the keys of its elements.
func list[R, E any](name, doc string, get func(r R) []E, keys ...*Key[*E]) *Key[R] {
	return listOf(name, doc, func(r R) int { return len(get(r)) }, func(r R, i int) *E { return &get(r)[i] }, keys...)
}

// listOf makes a key of a list of objects, with its length, its elements and their keys. None of these
// may be a list: it would have one length in all elements.
//
//go:noinline
func listOf[R, E any](name, doc string, length func(r R) int, at func(r R, i int) E, keys ...*Key[E]) *Key[R] {
	if hasList(keys) {
		panic("records: the list " + name + " has a list in its elements")
	}
	return &Key[R]{Name: name, Type: Object, Doc: doc, Len: length, Parts: inner(func(r R, i int) (E, bool) { return at(r, i), true }, keys)}
}

func hasList[R any](keys []*Key[R]) bool {
	return slices.ContainsFunc(keys, func(k *Key[R]) bool { return k.Len != nil || hasList(k.Parts) })
}

// inner makes the keys of parts of records keys of the records: without values where of has no part.
//
//go:noinline
func inner[R, P any](of func(r R, i int) (P, bool), keys []*Key[P]) (list []*Key[R]) {
	for _, k := range keys {
		c := &Key[R]{Name: k.Name, Type: k.Type, Unit: k.Unit, Names: k.Names, Doc: k.Doc, JSON: k.JSON, Parts: inner(of, k.Parts)}
		c.Get = func(r R, i int, v *Value) bool {
			p, ok := of(r, i)
			return ok && (k.Get == nil || k.Get(p, i, v))
		}
		if k.Len != nil {
			c.Len = func(r R) int {
				p, ok := of(r, 0)
				if !ok {
					return 0
				}
				return k.Len(p)
			}
		}
		list = append(list, c)
	}
	return list
}
