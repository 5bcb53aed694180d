package comparison

import (
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

// plain plays reads, and three calls of another operation.
func plain(calls ...int64) *traffic {
	t := newTraffic(track.ByOp)
	for i := range 40 {
		t.rpc(3, opcodes.OST_READ, 5*ms+int64(i%5)*ms, 0)
	}
	for _, latency := range calls {
		t.rpc(3, opcodes.MDS_REINT, latency*ms, 0)
	}
	return t
}

func rowOf(t *testing.T, rows []*Row, opc uint32) *Row {
	t.Helper()
	for _, r := range rows {
		if r.Opcode == opc && !r.Total {
			return r
		}
	}
	t.Fatalf("no row of operation %d", opc)
	return nil
}

// TestFewCalls: three latencies that do not overlap are shown, and said to be few.
func TestFewCalls(t *testing.T) {
	for _, tt := range []struct {
		before, after []int64
		want          bool
	}{
		{[]int64{55, 58, 60}, []int64{600, 618, 640}, true},
		{[]int64{600, 618, 640}, []int64{55, 58, 60}, true},
		{[]int64{55, 58, 600}, []int64{61, 618, 640}, false}, // they overlap
		{[]int64{55, 58, 60}, []int64{90, 91, 92}, false},    // not long enough
		{[]int64{1, 1, 1}, []int64{4, 4, 4}, false},          // a few milliseconds
		{[]int64{55, 58}, []int64{600, 618}, false},
	} {
		r := rowOf(t, Rows(plain(tt.before...).end(), plain(tt.after...).end()), opcodes.MDS_REINT)
		if got := slices.Contains(r.Few, P50); got != tt.want || r.Changes(P50) != tt.want || !r.TooFew() {
			t.Errorf("%v and %v: changed %v, few %v", tt.before, tt.after, r.Changed, r.Few)
		}
	}
}

// TestTrouble: what is an error, and is in one capture only, is never noise.
func TestTrouble(t *testing.T) {
	for name, tt := range map[string]struct {
		play func(t *traffic)
		want string
	}{
		"nothing":     {func(*traffic) {}, ""},
		"an answer":   {func(t *traffic) { t.rpc(3, opcodes.OST_READ, 5*ms, -2) }, ""},
		"a full disk": {func(t *traffic) { t.rpc(3, opcodes.OST_READ, 5*ms, -28) }, "errors"},
		"a hang":      {func(t *traffic) { t.rpc(3, opcodes.OST_READ, 70_000*ms, 0) }, "max"},
		"a hang at its end": {func(t *traffic) {
			t.n++
			t.send(lnet.Request, nid(3), nid(1), opcodes.OST_READ, 0)
			t.now += 70_000 * ms
		}, "max"},
	} {
		trouble := plain()
		tt.play(trouble)
		for i, rows := range [][]*Row{Rows(plain().end(), trouble.end()), Rows(trouble.end(), plain().end())} {
			if got := strings.Join(changes(rows, opcodes.OST_READ), " "); got != tt.want {
				t.Errorf("%s, %d: %q, not %q", name, i, got, tt.want)
			}
		}
	}
}
