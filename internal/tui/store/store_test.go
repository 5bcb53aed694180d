package store

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/codec/codectest"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/filter"
	"github.com/lshark/lshark/render/records"
)

// samples are captures over TCP and InfiniBand, with locks that wait, encryption and bulk data.
var samples = []string{"mount.pcap", "locks.pcap.zst", "gss.pcap.zst", "rdma_data.pcap.zst", "recovery.pcap.zst", "io.pcap.zst"}

// read reads a sample into a store. rpcs gets the RPCs and messages the messages as they
// are made, besides the store.
func read(t testing.TB, name string, o Options, rpc func(*track.RPC), message func(*dissect.Message, *track.RPC)) *Store {
	t.Helper()
	s := New(o)
	p := track.NewPairing(track.Options{Done: func(r *track.RPC) {
		if rpc != nil {
			rpc(r)
		}
		must.NoError(t, s.AddRPC(r))
	}})
	d := dissect.New(dissect.Options{Frames: true, TransferUpdate: p.TransferUpdate, Lost: p.Lost, Handle: func(m *dissect.Message) {
		r := p.Message(m)
		if message != nil {
			message(m, r)
		}
		must.NoError(t, s.AddMessage(m, r))
	}})
	in, err := capture.Open([]string{"../../../pcaps/" + name}, capture.Options{})
	must.NoError(t, err)
	defer in.Close()
	var f capture.Frame
	for err = in.Next(&f); err == nil; err = in.Next(&f) {
		if s.First() == 0 {
			s.SetFirst(f.Time)
		}
		must.NoError(t, s.AddFrame(&f))
		d.Frame(&f)
	}
	must.Equal(t, err, io.EOF)
	d.Close()
	p.Close()
	s.End()
	t.Cleanup(func() {
		assert.NoError(t, s.Close())
	})
	return s
}

// TestMessagesComeBack checks that every message of the samples is read as it was added,
// and renders to the same JSON.
func TestMessagesComeBack(t *testing.T) {
	for _, name := range samples {
		t.Run(name, func(t *testing.T) {
			var want []*dissect.Message
			s := read(t, name, Options{Memory: segmentSize}, nil, func(m *dissect.Message, _ *track.RPC) {
				c := m.Clone()
				c.Frames = slices.Clone(m.Frames)
				want = append(want, c)
			})
			r := s.NewReader()
			a, b := render.NewJSON(), render.NewJSON()
			for i, w := range want {
				row := must.Value(r.Read(Messages, int64(i)))(t)
				at := render.Moment{First: s.First()}
				if got, want := a.Append(nil, row.Message, at), b.Append(nil, w, at); !bytes.Equal(got, want) {
					t.Fatalf("message %d\n%s\nwant\n%s", i, got, want)
				}
				w.Msg = nil // it is parsed again where it is needed
				must.Equal(t, codectest.Difference(row.Message, w), "", "message", i)
			}
			_, to := s.Range(Messages)
			assert.That(t, to == int64(len(want)), "%d messages, want %d", to, len(want))
		})
	}
}

// ids returns the rows of a view when all rows were tested.
func ids(v *View) []int64 {
	for v.Advance() {
	}
	list, _ := v.IDs()
	return list
}

// TestRPCsComeBack checks that each RPC renders to the same JSON as when it ended, and
// that filters find the same RPCs, in the order in which they began.
func TestRPCsComeBack(t *testing.T) {
	filters := []string{"", "error", "latency > 5ms", "pb_opc == LDLM_ENQUEUE && lock_desc", "kind == reply && pb_status < 0", "not rpc.target", "sends > 1",
		"name contains \"a\"", "fid && request.frame < 500", "bulk_bytes > 0 or lnet.src_nid == 192.0.2.1@tcp"}
	for _, name := range samples {
		t.Run(name, func(t *testing.T) {
			var lines []string
			list := make([]*filter.RPCFilter, len(filters))
			matches := make([][]int64, len(filters))
			for i, text := range filters {
				if text != "" {
					var err error
					if list[i], err = filter.CompileRPC(text); err != nil {
						t.Fatal(err)
					}
				}
			}
			j := render.NewRecordJSON(&records.RPCs)
			var record records.Message
			s := read(t, name, Options{Memory: segmentSize}, func(r *track.RPC) {
				for i, f := range list {
					if f == nil || f.Match(r) {
						matches[i] = append(matches[i], int64(len(lines)))
					}
				}
				lines = append(lines, string(j.AppendLine(nil, r)))
			}, func(m *dissect.Message, r *track.RPC) {
				if r == nil {
					return
				}
				record.Set(m, m.Time)
				for _, f := range list {
					if f != nil {
						f.Mark(&record, r)
					}
				}
			})
			rows := s.NewReader()
			begin := make([]int64, len(lines))
			for i, want := range lines {
				row, err := rows.Read(RPCs, int64(i))
				must.NoError(t, err)
				begin[i] = row.RPC.Begin()
				if got := string(j.AppendLine(nil, row.RPC)); got != want {
					t.Fatalf("RPC %d\n%s\nwant\n%s", i, got, want)
				}
				for _, id := range slices.Clone(row.Messages) {
					m, err := rows.Read(Messages, id)
					if err != nil || m.Of != int64(i) || m.Message.RPC.XID != row.RPC.XID {
						t.Fatalf("message %d of RPC %d: %+v, %v", id, i, m, err)
					}
				}
			}
			for i, text := range filters {
				v := must.Value(s.NewView(Query{Kind: RPCs, Filter: text}))(t)
				got := ids(v)
				if !slices.IsSortedFunc(got, func(a, b int64) int { return cmp.Compare(begin[a], begin[b]) }) {
					t.Errorf("%s: not in the order of time", text)
				}
				if slices.Sort(got); !slices.Equal(got, matches[i]) {
					t.Errorf("%s: %d RPCs, want %d", text, len(got), len(matches[i]))
				}
			}
		})
	}
}

// TestSort checks that every column sorts RPCs and messages, in both directions: numbers
// by value, rows without a value last.
func TestSort(t *testing.T) {
	s := read(t, "mount.pcap", Options{}, nil, nil)
	for _, kind := range []Kind{RPCs, Messages} {
		names := ColumnNames(kind)
		if kind == Messages {
			names = append(names, "pb_opc", "lnet.src_nid")
		}
		for _, name := range names {
			for _, descending := range []bool{false, true} {
				v := must.Value(s.NewView(Query{Kind: kind, Sort: name, Descending: descending}))(t)
				column, _ := NewColumn(kind, name)
				checkOrder(t, s, v, column)
			}
		}
	}
}

// checkOrder checks the order of the rows of a view.
func checkOrder(t *testing.T, s *Store, v *View, column *Column) {
	t.Helper()
	list := ids(v)
	_, all := s.Range(v.Kind)
	must.That(t, int64(len(list)) == all, "%s: %d rows of %d", v.Sort, len(list), all)
	rows := s.NewReader()
	var before sortKey
	for i, id := range list {
		row := must.Value(rows.Read(v.Kind, id))(t)
		key := parseKey(column.Append(nil, &row))
		if i > 0 {
			wrong := before.class == noKey && key.class != noKey
			if before.class == key.class {
				c := before.compare(&key)
				wrong = c == 0 && list[i-1] > id || c > 0 && !v.Descending || c < 0 && v.Descending
			}
			must.That(t, !wrong, "%s, descending %v: %+v before %+v", v.Sort, v.Descending, before, key)
		}
		before = key
	}
}

// TestKeys checks how texts compare.
func TestKeys(t *testing.T) {
	texts := []string{"-5", "-0.5", "0", "0.25", "3", "0x10", "200", "18446744073709551614", "18446744073709551615", "LDLM_ENQUEUE", "OST_WRITE", "[0x200000401:0x1:0x0]", ""}
	var keys []sorted
	for i, text := range texts {
		keys = append(keys, sorted{parseKey([]byte(text)), int64(len(texts) - i)})
	}
	assert.That(t, slices.IsSortedFunc(keys, order(false)), "%+v", keys)
}

// TestGrowingView checks that a view has the same rows in the same order when it is
// advanced while rows are added.
func TestGrowingView(t *testing.T) {
	var s *Store
	queries := []Query{{}, {Filter: "latency > 5ms"}, {Sort: "latency"}, {Sort: "opcode", Descending: true, Filter: "not error"}, {Kind: Messages, Filter: "kind == reply"}, {Kind: Messages, Sort: "kind"}}
	var views []*View
	n := 0
	s = New(Options{})
	for _, q := range queries {
		v := must.Value(s.NewView(q))(t)
		views = append(views, v)
	}
	whole := read(t, "metadata.pcap.zst", Options{}, nil, nil)
	rows := whole.NewReader()
	p := track.NewPairing(track.Options{Done: func(r *track.RPC) {
		must.NoError(t, s.AddRPC(r))
	}})
	_, to := whole.Range(Messages)
	for id := range to {
		row := must.Value(rows.Read(Messages, id))(t)
		s.SetFirst(whole.First())
		must.NoError(t, s.AddMessage(row.Message, p.Message(row.Message)))
		if n++; n%100 == 0 {
			views[n/100%len(views)].Advance()
		}
	}
	p.Close()
	s.End()
	for i, q := range queries {
		v := must.Value(s.NewView(q))(t)
		got, want := ids(views[i]), ids(v)
		assert.That(t, slices.Equal(got, want) && len(want) != 0, "%+v: %d rows, want %d", q, len(got), len(want))
	}
}

// TestBound checks that the oldest rows are dropped, from views too, and that the others
// are still what they were.
func TestBound(t *testing.T) {
	s := New(Options{Memory: segmentSize, Most: 4 * segmentSize, Frames: true})
	sorted := must.Value(s.NewView(Query{Kind: Messages, Sort: "xid", Descending: true}))(t)
	plain, err := s.NewView(Query{Kind: Messages})
	must.NoError(t, err)
	data := bytes.Repeat([]byte("x"), 10_000)
	const n = 5000 // 50 MB
	for i := range n {
		m := &dissect.Message{RPC: dissect.RPC{XID: uint64(i), HasXID: true}}
		m.Data = data
		f := capture.Frame{Number: int64(i + 1), Data: data}
		must.NoError(t, s.AddFrame(&f))
		must.NoError(t, s.AddMessage(m, nil))
		if i%500 == 0 {
			ids(sorted)
			ids(plain)
		}
	}
	s.End()
	from, to := s.Range(Messages)
	must.That(t, to == n && from != 0 && to-from >= 1000, "rows %d to %d", from, to)
	up, down := ids(plain), ids(sorted)
	slices.Reverse(down)
	if !slices.Equal(up, down) || up[0] != from || int64(len(up)) != to-from {
		t.Errorf("%d and %d rows from %d", len(up), len(down), up[0])
	}
	r := s.NewReader()
	for _, id := range up {
		row, err := r.Read(Messages, id)
		must.That(t, err == nil && row.Message.RPC.XID == uint64(id) && len(row.Message.Data) == len(data), "row %d: %v", id, err)
	}
	if f, err := r.Frame(n); err != nil || f.Number != n || len(f.Data) != len(data) {
		t.Errorf("last frame: %+v, %v", f.Number, err)
	}
	if _, err := r.Frame(1); err == nil {
		t.Error("the first frame is still there")
	}
	if _, err := r.Read(Messages, 0); err == nil {
		t.Error("the first message is still there")
	}
	assert.NoError(t, s.Close())
}

// TestFilterErrors checks that a filter with an error makes no view.
func TestFilterErrors(t *testing.T) {
	s := New(Options{})
	for _, q := range []Query{{Filter: "opcode = 3"}, {Kind: Messages, Filter: "nonsense == 3"}} {
		if _, err := s.NewView(q); err == nil || !strings.Contains(err.Error(), "^") {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

// TestCopies checks that views do not have what another capture point has seen before.
func TestCopies(t *testing.T) {
	s := New(Options{Distinct: true})
	for i := range 6 {
		m := &dissect.Message{}
		m.Seq, m.Source, m.Size = uint32(i/2), i%2, 100
		must.NoError(t, s.AddMessage(m, nil))
	}
	s.End()
	for _, q := range []Query{{Kind: Messages}, {Kind: Messages, Sort: "frame"}} {
		v := must.Value(s.NewView(q))(t)
		assert.Equal(t, fmt.Sprint(ids(v)), "[0 2 4]", q)
	}
}

// TestRequestData checks that the bytes of a request are read as its own and as those of
// the message, though they are written once, and that a part of a record is refused.
func TestRequestData(t *testing.T) {
	s := New(Options{})
	data := bytes.Repeat([]byte("x"), 1000)
	var m dissect.Message
	m.Data, m.PayloadOff = data, 100
	for _, tt := range []struct {
		data []byte
		size int // of the record, at most
	}{{nil, 1100}, {data[100:], 1100}, {data[:900], 1100}, {data[:800], 2000}} {
		m.Req = &dissect.RequestInfo{Frame: 7, Data: tt.data}
		b := s.appendMessage(nil, &m)
		var got dissect.Message
		must.NoError(t, s.readMessage(b, &got))
		assert.That(t, bytes.Equal(got.Req.Data, tt.data) && bytes.Equal(got.Data, data), "%d bytes of %d", len(got.Req.Data), len(tt.data))
		assert.That(t, len(b) < tt.size, "%d bytes", len(b))
		for i := range b {
			must.That(t, s.readMessage(b[:i], new(dissect.Message)) != nil, "the first %d of %d bytes are read without an error", i, len(b))
		}
	}
}

// TestLongMessage checks that of a message which is too long for the spool its beginning is
// kept, and the rest is marked as missing.
func TestLongMessage(t *testing.T) {
	s := New(Options{})
	m := &dissect.Message{}
	m.Data = make([]byte, 2*segmentSize)
	m.Size = len(m.Data)
	must.NoError(t, s.AddMessage(m, nil))
	row, err := s.NewReader().Read(Messages, 0)
	if err != nil || len(row.Message.Data) != maxData || row.Message.Size != m.Size || row.Message.Missing(maxData, 1) != lnet.Skipped {
		t.Errorf("%d bytes of %d: %v", len(row.Message.Data), row.Message.Size, err)
	}
}

// TestTargetIndex checks that a target has its index where its name is unknown.
func TestTargetIndex(t *testing.T) {
	c, ok := NewColumn(RPCs, "target")
	must.That(t, ok, "no column target")
	row := Row{RPC: &track.RPC{}}
	row.RPC.Connection = &track.Connection{TargetIndex: "OST0001"}
	var v records.Value
	has := c.Value(&row, &v)
	assert.That(t, has && string(v.Text) == "OST0001", "value %q, %v", v.Text, has)
	assert.Equal(t, string(c.Append(nil, &row)), "OST0001", "text")
}

// record returns a record of n bytes that differs from others.
func record(i, n int) []byte {
	return bytes.Repeat([]byte{byte(i), byte(i >> 8), byte(i >> 16)}, n/3+1)[:n]
}

// TestSpool checks that records are read back, from memory and from the file, and that
// the oldest ones are dropped beyond the bound.
func TestSpool(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, tt := range []struct {
		memory int
		most   int64
	}{{64 << 20, 0}, {0, 0}, {2 * segmentSize, 4 * segmentSize}, {0, 3 * segmentSize}} {
		t.Run(fmt.Sprintf("%d of %d", tt.memory, tt.most), func(t *testing.T) {
			s := spool{memory: tt.memory, most: tt.most}
			var positions []int64
			size := func(i int) int { return i * 7919 % 100_000 }
			for i := range 600 { // 30 MB
				p := must.Value(s.append(record(i, size(i))))(t)
				if len(positions) > 0 && p <= positions[len(positions)-1] {
					t.Fatalf("position %d after %d", p, positions[len(positions)-1])
				}
				positions = append(positions, p)
			}
			kept := 0
			for _, order := range []int{1, -1} {
				r := reader{spool: &s}
				for i := range positions {
					if order < 0 {
						i = len(positions) - 1 - i
					}
					b, err := r.read(positions[i])
					switch {
					case positions[i] < s.oldest():
						must.That(t, errors.Is(err, errDropped), "record %d was dropped, but %v", i, err)
					case err != nil || !bytes.Equal(b, record(i, size(i))):
						t.Fatalf("record %d: %d bytes, %v", i, len(b), err)
					default:
						kept++
					}
				}
			}
			assert.That(t, kept != 0 && (tt.most != 0 || kept == 2*len(positions)), "%d records are kept", kept)
			n := int64(len(s.segments)) * segmentSize
			assert.That(t, tt.most <= 0 || n <= tt.most, "%d bytes are kept, more than %d", n, tt.most)
			if tt.most > 0 {
				info := must.Value(s.file.Stat())(t)
				assert.That(t, info.Size() <= tt.most, "the file has %d bytes", info.Size())
			}
			if names, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(names) > 0 {
				t.Errorf("files are left: %v, %v", names, err)
			}
			assert.NoError(t, s.close())
		})
	}
}

// TestSpoolWithoutSpace checks that the error of the file is returned.
func TestSpoolWithoutSpace(t *testing.T) {
	t.Setenv("TMPDIR", "/nonexistent")
	s := spool{}
	var err error
	for i := 0; err == nil && i < 1000; i++ {
		_, err = s.append(record(i, 100_000))
	}
	assert.That(t, errors.Is(err, os.ErrNotExist), "%v", err)
}
