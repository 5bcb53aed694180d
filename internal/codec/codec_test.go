package codec

import (
	"fmt"
	"math"
	"net/netip"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/codec/codectest"
	"github.com/lshark/lshark/internal/must"
)

// record has a field of each kind.
type record struct {
	Bool    bool
	Numbers numberFields
	Text    string
	Bytes   []byte
	Array   [16]byte
	Pair    [2]uint64
	Addr    netip.Addr
	Port    netip.AddrPort
	Slice   []element
	Frames  []int64
	Peer    *element
	Known   *int `codec:"shared"`
	Left    *int `codec:"-"`
	hidden  int
	embedded
}

type numberFields struct {
	I    int
	I8   int8
	I16  int16
	I32  int32
	I64  int64
	U    uint
	U8   uint8
	U16  uint16
	U32  uint32
	U64  uint64
	last bool
}

type element struct {
	Name string
	Data []byte
	N    int64
}

type embedded struct{ inner uint8 }

var known = 7

func records() []*record {
	lowest := numberFields{math.MinInt, math.MinInt8, math.MinInt16, math.MinInt32, math.MinInt64, 0, 0, 0, 0, 0, true}
	highest := numberFields{math.MaxInt, math.MaxInt8, math.MaxInt16, math.MaxInt32, math.MaxInt64, math.MaxUint, math.MaxUint8, math.MaxUint16,
		math.MaxUint32, math.MaxUint64, false}
	six := netip.MustParseAddr("2001:db8::1")
	one := element{"one", []byte{1}, -1}
	return []*record{
		{},
		{Bool: true, Numbers: lowest, Text: "text", Bytes: []byte("bytes"), Array: [16]byte{0, 1}, Pair: [2]uint64{0, 1 << 63}, Addr: six,
			Port: netip.MustParseAddrPort("192.0.2.1:988"), Slice: []element{one, {}, {Name: "text"}}, Frames: []int64{3, -1, 0}, Peer: &one,
			Known: &known, hidden: -7, embedded: embedded{9}},
		{Numbers: highest, Bytes: []byte{}, Array: [16]byte{15: 1}, Port: netip.AddrPortFrom(six, 0), Slice: []element{{}}, Peer: &element{}},
	}
}

// TestRecords checks that values are read as they were written, into one that had another
// value before and with nothing behind them, and that a part of the bytes is refused.
func TestRecords(t *testing.T) {
	var plan Plan[record]
	for _, full := range []bool{false, true} {
		var tables Tables
		for i := 0; full && i < maxInterned; i++ {
			tables.texts.place(fmt.Sprint(i, " of a full table"))
		}
		var got record
		for i, want := range records() {
			b := plan.Append([]byte("before"), &tables, want)[len("before"):]
			rest, err := plan.Read(append(b, "behind"...), &tables, &got)
			must.NoError(t, err)
			assert.Equal(t, string(rest), "behind", "record", i)
			assert.Equal(t, codectest.Difference(&got, want), "", "record", i)
			for n := range b {
				_, err := plan.Read(b[:n], &tables, new(record))
				must.That(t, err != nil && strings.HasPrefix(err.Error(), "record."), "the first %d of %d bytes: %v", n, len(b), err)
			}
		}
	}
}

// TestWrongPlaces checks that bytes which refer to nothing in the tables are refused.
func TestWrongPlaces(t *testing.T) {
	var plan Plan[record]
	var tables Tables
	for _, r := range []record{{Text: "text"}, {Known: &known}} {
		_, err := plan.Read(plan.Append(nil, &tables, &r), &Tables{}, new(record))
		assert.That(t, err != nil, "%+v is read with other tables", r)
	}
}

// TestUnknownKinds checks that a field which cannot be kept is named.
func TestUnknownKinds(t *testing.T) {
	type inner struct{ Call func() }
	type outer struct{ List []inner }
	type wrong struct {
		N int `codec:"shared"`
	}
	check := func(want string, write func()) {
		defer func() { assert.Contains(t, fmt.Sprint(recover()), want) }()
		write()
	}
	check("outer.List.Call: a func() cannot be kept", func() { new(Plan[outer]).Append(nil, &Tables{}, new(outer)) })
	check(`wrong.N: a int cannot be "shared"`, func() { new(Plan[wrong]).Append(nil, &Tables{}, new(wrong)) })
}
