//go:build all

package rows

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	format "github.com/parquet-go/parquet-go"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/render/records"
)

// rows writes records and returns the rows that parquet-go reads.
func rows[R any](t *testing.T, keys *records.Table[R], list ...R) (texts []string, f *format.File) {
	t.Helper()
	var file bytes.Buffer
	w := NewWriter(&file, keys, Options{Release: "1.0.0", Capture: "a.pcap"})
	for _, r := range list {
		must.NoError(t, w.Append(r))
	}
	w.SetMetadata(SourceKey, "tests")
	must.NoError(t, w.Close())
	f, err := format.OpenFile(bytes.NewReader(file.Bytes()), int64(file.Len()))
	must.NoError(t, err)
	reader := format.NewReader(f)
	for {
		row := map[string]any{}
		if err := reader.Read(&row); err == io.EOF {
			return texts, f
		} else if err != nil {
			t.Fatal(err)
		}
		var text []string
		for _, name := range f.Schema().Fields() {
			text = append(text, fmt.Sprintf("%s=%v", name.Name(), row[name.Name()]))
		}
		texts = append(texts, strings.Join(text, " "))
	}
}

// TestValues checks how values of each type are stored.
func TestValues(t *testing.T) {
	got, f := rows(t, &samples,
		&sample{},
		&sample{number: 1_500_000_007, text: []byte("a\xff\x01"), names: []string{}, counts: []records.Count{}, numbers: []int64{}},
		&sample{number: -1, text: []byte(""), names: []string{"x", "y"}, counts: []records.Count{{Name: "EIO", N: 3}, {Name: "ENOENT", N: 1}}, numbers: []int64{-5, 0, 2001}})
	for i, want := range []string{
		"xid=<nil> plain=<nil> size=<nil> took=<nil> float=<nil> flag=false time=<nil> time_ns=<nil> object_bool=<nil> object_text=<nil> names=<nil> counts=<nil> " +
			"numbers=[] list=<nil> sensor=<nil> capture=a.pcap",
		"xid=1500000007 plain=1500000007 size=1500000007 took=1500000007 float=1.500000007e+09 flag=true time=1500000 time_ns=1500000007 " +
			`object_bool=true object_text=a\xff` + "\x01 names=[] counts=map[] numbers=[] list=<nil> sensor=<nil> capture=a.pcap",
		"xid=-1 plain=-1 size=-1 took=-1 float=-1 flag=true time=-1 time_ns=-1 object_bool=true object_text= names=[x y] " +
			"counts=map[EIO:3 ENOENT:1] numbers=[-5 <nil> 2001] list=[map[in_time:-1 in_time_ns:-5 n:-5] map[in_time:<nil> in_time_ns:<nil> n:<nil>] " +
			"map[in_time:2 in_time_ns:2001 n:2001]] sensor=<nil> capture=a.pcap",
	} {
		if i >= len(got) || got[i] != want {
			t.Errorf("row %d of %d:\n%q, want\n%q", i, len(got), got[min(i, len(got)-1)], want)
		}
	}
	for key, want := range map[string]string{schemaKey: SchemaVersion, releaseKey: "1.0.0", RecordsKey: "sample", SourceKey: "tests"} {
		v, _ := f.Lookup(key)
		assert.That(t, v == want, "%s is %q, want %q", key, v, want)
	}
	for _, c := range f.RowGroups()[0].ColumnChunks() {
		if name := f.Schema().Columns()[c.Column()][0]; (c.BloomFilter() != nil) != (name == "xid") {
			t.Errorf("%s has a Bloom filter: %v", name, c.BloomFilter() != nil)
		}
	}
}

// TestNoRows: a file without rows has the columns, too.
func TestNoRows(t *testing.T) {
	got, f := rows(t, &samples)
	if len(got) != 0 || len(f.Schema().Fields()) != len(Describe(&samples)) {
		t.Errorf("%d rows, %d columns, want %d", len(got), len(f.Schema().Fields()), len(Describe(&samples)))
	}
}
