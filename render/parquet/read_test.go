//go:build all

package parquet

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	format "github.com/parquet-go/parquet-go"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

// cell is a value of a leaf, with its levels.
type cell struct {
	value                  any // int64, uint64, bool, float64, string, or nil
	repetition, definition int
}

// cells are the values of each leaf.
type cells [][]cell

// put gives a value to a column.
func (c *cell) put(column *Column) {
	switch v := c.value.(type) {
	case nil:
		column.Null(c.repetition, c.definition)
	case int64:
		column.Int64(v, c.repetition, c.definition)
	case uint64:
		column.Uint64(v, c.repetition, c.definition)
	case bool:
		column.Bool(v, c.repetition, c.definition)
	case float64:
		column.Double(v, c.repetition, c.definition)
	case string:
		column.Bytes([]byte(v), c.repetition, c.definition)
	}
}

// String has the bits of a float64.
func (c cell) String() string {
	if v, ok := c.value.(float64); ok {
		return fmt.Sprintf("%x@%d,%d", math.Float64bits(v), c.repetition, c.definition)
	}
	return fmt.Sprintf("%T:%v@%d,%d", c.value, c.value, c.repetition, c.definition)
}

// open opens a file with the reader of parquet-go, which is not ours.
func open(t testing.TB, file []byte) *format.File {
	t.Helper()
	return must.Value(format.OpenFile(bytes.NewReader(file), int64(len(file))))(t)
}

// convert returns a value that was read.
func convert(leafType Type, v format.Value) cell {
	c := cell{repetition: v.RepetitionLevel(), definition: v.DefinitionLevel()}
	switch {
	case v.IsNull():
	case leafType == Uint64:
		c.value = v.Uint64()
	case leafType == Boolean:
		c.value = v.Boolean()
	case leafType == Double:
		c.value = v.Double()
	case leafType == String:
		c.value = string(v.ByteArray())
	default:
		c.value = v.Int64()
	}
	return c
}

// readPages returns the values of each page of a chunk.
func readPages(t testing.TB, leafType Type, chunk format.ColumnChunk) (pages [][]cell) {
	t.Helper()
	reader := chunk.Pages()
	defer reader.Close()
	for {
		page, err := reader.ReadPage()
		if err == io.EOF {
			return pages
		}
		must.NoError(t, err)
		var list []cell
		values := make([]format.Value, 100)
		for r := page.Values(); ; {
			n, err := r.ReadValues(values)
			for _, v := range values[:n] {
				list = append(list, convert(leafType, v))
			}
			if err == io.EOF {
				break
			}
			must.NoError(t, err)
		}
		pages = append(pages, list)
		format.Release(page)
	}
}

// checkFile compares a file with what was written, and its statistics, indexes and
// Bloom filters with the values.
func checkFile(t testing.TB, file []byte, leaves []Leaf, want cells, o Options) *format.File {
	t.Helper()
	f := open(t, file)
	must.Equal(t, len(f.Schema().Columns()), len(leaves), "leaves")
	got := make(cells, len(leaves))
	var rows int64
	for g, group := range f.RowGroups() {
		rows += group.NumRows()
		for i, chunk := range group.ColumnChunks() {
			pages := readPages(t, leaves[i].Type, chunk)
			checkChunk(t, f, g, i, leaves[i], chunk, pages)
			for _, p := range pages {
				got[i] = append(got[i], p...)
			}
			if slices.Contains(o.Bloom, leaves[i].Path[0]) {
				checkBloom(t, chunk, slices.Concat(pages...))
			}
		}
	}
	assert.Equal(t, rows, f.NumRows(), "rows in the row groups in the file")
	for i := range leaves {
		if len(got[i]) != len(want[i]) {
			t.Fatalf("%q: %d values, want %d", leaves[i].Path, len(got[i]), len(want[i]))
		}
		for k := range got[i] {
			if g, w := got[i][k], want[i][k]; g != w && g.String() != w.String() { // NaN
				t.Fatalf("%q, value %d: %.200s, want %.200s", leaves[i].Path, k, g, w)
			} else if w.value == 0.0 && g.String() != w.String() {
				t.Fatalf("%q, value %d: %s, want %s", leaves[i].Path, k, g, w) // the sign
			}
		}
	}
	return f
}

// checkChunk compares the metadata of a chunk with its values.
func checkChunk(t testing.TB, f *format.File, group, column int, leaf Leaf, chunk format.ColumnChunk, pages [][]cell) {
	t.Helper()
	m := &f.Metadata().RowGroups[group].Columns[column].MetaData
	all := slices.Concat(pages...)
	nulls := 0
	for _, c := range all {
		if c.value == nil {
			nulls++
		}
	}
	if int(m.Statistics.NullCount) != nulls || int(m.NumValues) != len(all) {
		t.Errorf("%q: %d values, %d of them NULL, want %d, %d", leaf.Path, m.NumValues, m.Statistics.NullCount, len(all), nulls)
	}
	checkBounds(t, leaf, m.Statistics.MinValue, m.Statistics.MaxValue, all)
	offsets := must.Value(chunk.OffsetIndex())(t)
	must.Equal(t, offsets.NumPages(), len(pages), leaf.Path, "pages in the index")
	var row int64
	for i, p := range pages {
		assert.Equal(t, offsets.FirstRowIndex(i), row, leaf.Path, "page", i, "begins with row")
		for _, c := range p {
			if c.repetition == 0 {
				row++
			}
		}
	}
	index := &f.ColumnIndexes()[group*len(f.RowGroups()[group].ColumnChunks())+column]
	for i, p := range pages {
		if i < len(index.NullPages) {
			checkBounds(t, leaf, index.MinValues[i], index.MaxValues[i], p)
		}
	}
}

// checkBounds checks that values are between two bounds, which they have unless they are
// NULL or NaN.
func checkBounds(t testing.TB, leaf Leaf, low, high []byte, list []cell) {
	t.Helper()
	value := func(b []byte) any {
		switch leaf.Type {
		case Boolean:
			return format.BooleanType.Length() == 1 && b[0] != 0
		case String:
			return string(b)
		}
		var u uint64
		for i, c := range b {
			u |= uint64(c) << (8 * i)
		}
		switch leaf.Type {
		case Double:
			return math.Float64frombits(u)
		case Uint64:
			return u
		}
		return int64(u)
	}
	exact := leaf.Type != String
	touchedLow, touchedHigh := false, false
	for _, c := range list {
		if v, ok := c.value.(float64); c.value == nil || ok && v != v {
			continue
		}
		must.That(t, leaf.Type == String || len(low) != 0 && len(high) != 0, "%q: no bounds", leaf.Path)
		below := compare(c.value, value(low))
		if below < 0 {
			t.Fatalf("%q: %.100v is less than %.100v", leaf.Path, c.value, value(low))
		}
		touchedLow = touchedLow || below == 0
		if len(high) == 0 && leaf.Type == String {
			continue // the greatest has no bound, or is empty
		}
		above := compare(c.value, value(high))
		if above > 0 {
			t.Fatalf("%q: %.100v is greater than %.100v", leaf.Path, c.value, value(high))
		}
		touchedHigh = touchedHigh || above == 0
	}
	assert.That(t, !exact || len(low) <= 0 || touchedLow && touchedHigh, "%q: bounds that no value has", leaf.Path)
}

func compare(a, b any) int {
	switch a := a.(type) {
	case int64:
		return cmp(a, b.(int64))
	case uint64:
		return cmp(a, b.(uint64))
	case float64:
		return cmp(a, b.(float64))
	case string:
		return strings.Compare(a, b.(string))
	case bool:
		number := map[bool]int{true: 1}
		return number[a] - number[b.(bool)]
	}
	panic("type")
}

func cmp[T int64 | uint64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// checkBloom checks that a Bloom filter has all values of a chunk, and few others.
func checkBloom(t testing.TB, chunk format.ColumnChunk, list []cell) {
	t.Helper()
	filter := chunk.BloomFilter()
	for _, c := range list {
		if c.value == nil {
			continue
		}
		must.That(t, filter != nil, "no Bloom filter")
		if ok, err := filter.Check(format.ValueOf(c.value)); !ok || err != nil {
			t.Fatalf("%v is not in the Bloom filter, error %v", c.value, err)
		}
	}
	if filter == nil {
		return
	}
	found := 0
	for i := range 1000 {
		if ok, _ := filter.Check(format.ValueOf(fmt.Sprint("other", i))); ok {
			found++
		}
	}
	assert.That(t, found <= 60, "%d of 1000 other values are in the Bloom filter", found)
}

// generator makes schemas and rows.
type generator struct {
	*rand.Rand
	names  int
	spread int // how many different values a column has
	out    cells
}

func (g *generator) field(depth int) Field {
	g.names++
	f := Field{Name: fmt.Sprint("f", g.names), Type: Type(g.IntN(int(Timestamp) + 1)), Repetition: Repetition(g.IntN(2))}
	if depth > 2 && f.Type.isGroup() {
		f.Type = String
	}
	switch f.Type {
	case Group:
		f.Fields = g.fields(depth + 1)
		if g.IntN(4) == 0 {
			f.Repetition = Repeated
		}
	case List:
		return ListOf(f.Name, g.field(depth+1))
	case Map:
		return MapOf(f.Name, String, Int64+Type(g.IntN(int(Timestamp-Int64)+1)))
	}
	return f
}

func (g *generator) fields(depth int) (list []Field) {
	for range 1 + g.IntN(4) {
		list = append(list, g.field(depth))
	}
	return list
}

// rows puts random rows into out.
func (g *generator) row(fields []Field) {
	leaf := 0
	for i := range fields {
		g.put(&fields[i], &leaf, 0, 0, 0, true)
	}
}

// put puts a field into out. present reports whether the group around it is there; leaf
// is the next leaf, depth the number of repeated fields around it.
func (g *generator) put(f *Field, leaf *int, repetition, definition, depth int, present bool) {
	if f.Repetition == Repeated {
		depth++
	}
	n := 1
	switch {
	case !present:
	case f.Repetition == Optional:
		n = min(1, g.IntN(4))
	case f.Repetition == Repeated:
		n = g.IntN(4)
	}
	first := *leaf
	if n == 0 || !present {
		g.inside(f, leaf, repetition, definition, depth, false)
		return
	}
	if f.Repetition != Required {
		definition++
	}
	for i := range n {
		*leaf = first
		if i > 0 {
			repetition = depth
		}
		g.inside(f, leaf, repetition, definition, depth, true)
	}
}

// inside puts the fields of a group, or a value.
func (g *generator) inside(f *Field, leaf *int, repetition, definition, depth int, present bool) {
	if f.Type.isGroup() {
		for i := range f.Fields {
			g.put(&f.Fields[i], leaf, repetition, definition, depth, present)
		}
		return
	}
	c := cell{repetition: repetition, definition: definition}
	if present {
		c.value = g.value(f.Type)
	}
	g.out[*leaf] = append(g.out[*leaf], c)
	*leaf++
}

var extremes = []uint64{0, 1, 2, math.MaxUint64, math.MaxInt64, 1 << 63, 1<<63 + 1, 1 << 32}

func (g *generator) value(t Type) any {
	n := uint64(g.IntN(g.spread))
	if g.IntN(20) == 0 {
		n = extremes[g.IntN(len(extremes))]
	}
	switch t {
	case Boolean:
		return n%2 == 0
	case Double:
		return []float64{float64(n), -float64(n) / 3, math.NaN(), math.Inf(1), math.Copysign(0, -1), math.MaxFloat64}[g.IntN(6)]
	case Uint64:
		return n
	case String:
		switch g.IntN(10) {
		case 0:
			return ""
		case 1:
			return strings.Repeat([]string{"a", "ü", "€", "\U0010ffff", "\ud7ff"}[g.IntN(5)], 50+g.IntN(50))
		}
		return fmt.Sprint("text ", n)
	}
	return int64(n)
}

// TestRandom writes random rows of random schemas.
func TestRandom(t *testing.T) {
	for seed := range uint64(200) {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), spread: 1 << (seed % 20)}
		fields := g.fields(0)
		leaves := Leaves(fields)
		g.out = make(cells, len(leaves))
		o := Options{CreatedBy: "test version 1", RowGroupRows: 1 + g.IntN(700)}
		for _, f := range fields {
			if !f.Type.isGroup() && f.Type != Boolean && f.Type != Double {
				o.Bloom = append(o.Bloom, f.Name)
			}
		}
		var file bytes.Buffer
		w := NewWriter(&file, "random", fields, o)
		next := make([]int, len(leaves))
		rows := g.IntN(1000)
		for range rows {
			g.row(fields)
			for i := range leaves {
				for ; next[i] < len(g.out[i]); next[i]++ {
					g.out[i][next[i]].put(w.Column(i))
				}
			}
			must.NoError(t, w.EndRow())
		}
		must.NoError(t, w.Close())
		f := checkFile(t, file.Bytes(), leaves, g.out, o)
		assert.Equal(t, f.NumRows(), int64(rows), "seed", seed, "rows", rows)
		if t.Failed() {
			t.Fatalf("seed %d\n%s", seed, f.Schema())
		}
	}
}
