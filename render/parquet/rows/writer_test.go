package rows

import (
	"errors"
	"io"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/render/records"
)

// sample is a record with values of all forms; nil and negative are those that are absent.
type sample struct {
	number  int64 // also a time and a duration
	text    []byte
	names   []string
	counts  []records.Count
	numbers []int64
}

// number reads a number that is a value of any type.
func number(r *sample, _ int, v *records.Value) bool {
	v.U, v.F = uint64(r.number), float64(r.number)
	return r.number != 0
}

var samples = records.Table[*sample]{Record: "sample", Keys: sampleKeys}

func sampleKeys() []*records.Key[*sample] {
	return []*records.Key[*sample]{
		{Name: "xid", Type: records.Decimal, Get: number},
		{Name: "plain", Type: records.Uint, Get: number},
		{Name: "size", Type: records.Uint, Unit: records.Bytes, Get: number},
		{Name: "took", Type: records.Duration, Get: number},
		{Name: "float", Type: records.Float, Get: number},
		{Name: "flag", Type: records.Bool, Get: number},
		{Name: "time", Type: records.Time, Get: number},
		{Name: "hidden", Type: records.Uint, JSON: records.Hidden, Get: number},
		{Name: "object", Type: records.Object, Get: number, Parts: []*records.Key[*sample]{
			{Name: "bool", Type: records.Bool, Get: number},
			{Name: "text", Type: records.Text, Get: func(r *sample, _ int, v *records.Value) bool {
				v.Text = r.text
				return r.text != nil
			}},
		}},
		{Name: "names", Type: records.Strings, Get: func(r *sample, _ int, v *records.Value) bool {
			v.Strings = r.names
			return r.names != nil
		}},
		{Name: "counts", Type: records.Counts, Get: func(r *sample, _ int, v *records.Value) bool {
			v.Counts = r.counts
			return r.counts != nil
		}},
		{Name: "numbers", Type: records.Int, Len: func(r *sample) int { return len(r.numbers) }, Get: listed},
		{Name: "list", Type: records.Object, JSON: records.Omit, Len: func(r *sample) int { return len(r.numbers) }, Get: listed, Parts: []*records.Key[*sample]{
			{Name: "n", Type: records.Int, Get: listed},
			{Name: "in", Type: records.Object, Get: listed, Parts: []*records.Key[*sample]{{Name: "time", Type: records.Time, Get: listed}}},
		}},
	}
}

// listed reads a number, of which 0 is absent.
func listed(r *sample, i int, v *records.Value) bool {
	v.U = uint64(r.numbers[i])
	return r.numbers[i] != 0
}

// TestDuplicate checks that names of columns are compared, not those of keys.
func TestDuplicate(t *testing.T) {
	keys := []*records.Key[*sample]{{Name: "a.b", Type: records.Uint, Get: number}, {Name: "a", Parts: []*records.Key[*sample]{{Name: "b", Get: number}}}}
	assert.Equal(t, Duplicate(&records.Table[*sample]{Keys: func() []*records.Key[*sample] { return keys }}), "a_b")
	assert.Equal(t, Duplicate(&samples), "")
}

// TestNestedLists: an element of a list has no lists and maps, which the file would need
// more levels for.
func TestNestedLists(t *testing.T) {
	check(t, &records.RPCs)
	check(t, &records.Messages)
	check(t, &records.Imports)
	check(t, &records.Locks)
	check(t, &records.Files)
	check(t, &records.Recoveries)
	check(t, &records.Configuration)
	check(t, &records.Findings)
}

func check[R any](t *testing.T, keys *records.Table[R]) {
	for _, c := range columnsOf(keys.Keys()) {
		for _, p := range c.parts {
			assert.That(t, p.kind <= asTime, "%s: %s.%s is a list in a list", keys.Record, c.name, p.name)
		}
	}
}

// TestErrors: the first error of the file is returned by Append, once a row group is
// complete, and by Close.
func TestErrors(t *testing.T) {
	full := errors.New("no space")
	w := NewWriter(failing{full}, &samples, Options{})
	for range 1 << 16 {
		if err := w.Append(&sample{number: 7}); err != nil && !errors.Is(err, full) {
			t.Fatal(err)
		}
	}
	if err := w.Append(&sample{number: 7}); !errors.Is(err, full) {
		t.Errorf("Append: %v", err)
	}
	if err := w.Close(); !errors.Is(err, full) {
		t.Errorf("Close: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func sampleRPCs(tb testing.TB) (list []*track.RPC) {
	pairing := track.NewPairing(track.Options{Done: func(r *track.RPC) { list = append(list, r.Clone()) }})
	d := dissect.New(dissect.Options{Handle: func(m *dissect.Message) { pairing.Message(m) }})
	for _, f := range wiretest.ReadSample(tb, wiretest.Repo("pcaps/metadata.pcap.zst")) {
		d.Frame(&f)
	}
	d.Close()
	pairing.Close()
	return list
}

// TestAllocs: rows take no memory from the heap once the first row group is complete.
func TestAllocs(t *testing.T) {
	list := sampleRPCs(t)
	w := NewWriter(io.Discard, &records.RPCs, Options{Release: "1.0.0"})
	n := 0
	add := func() {
		must.NoError(t, w.Append(list[n%len(list)]))
		n++
	}
	for range 1<<16 + 1 {
		add()
	}
	wiretest.NoAllocations(t, 1000, add)
}
