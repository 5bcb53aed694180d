package otlp

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/lshark/lshark/internal/must"
)

// TestIDs checks the ids that the page docs/otlp.md shows, which are those of
//
//	printf '192.0.2.3@tcp 1840123456789 server 0' | sha256sum | cut -c1-16
func TestIDs(t *testing.T) {
	page := must.ReadFile(t, "../../../docs/otlp.md")
	row := regexp.MustCompile(`(?m)^\| (\S+@\S+) \| (\d+) \| (\d+) \| (\S+) \| (\S+) \| (\S+) \|$`)
	rows := row.FindAllStringSubmatch(string(page), -1)
	if len(rows) != 3 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, r := range rows {
		xid, _ := strconv.ParseUint(r[2], 10, 64)
		n, _ := strconv.ParseUint(r[3], 10, 32)
		attempt := uint32(n)
		got := []string{TraceOf(r[1], xid).String(), SpanOf(r[1], xid, Client, attempt).String(), SpanOf(r[1], xid, Server, attempt).String()}
		if !slices.Equal(got, r[4:]) {
			t.Errorf("%s: got %s", r[0], got)
		}
	}
}

func TestSampled(t *testing.T) {
	const calls = 100_000
	for _, n := range []uint64{0, 1, 2, 10, 1000} {
		kept := 0
		for i := range uint64(calls) {
			id := TraceOf("192.0.2.3@tcp", 1840123456000+i*128)
			if id.Sampled(n) {
				kept++
				if n > 1 && !id.Sampled(n/2) {
					t.Fatalf("%v is one of %d, but not one of %d", id, n, n/2)
				}
			}
		}
		want := calls / float64(max(n, 1))
		if d := math.Abs(float64(kept) - want); d > 5*math.Sqrt(want) || n <= 1 && d != 0 {
			t.Errorf("1 of %d: %d of %d are kept", n, kept, calls)
		}
	}
	// The first 9 bytes are not random by the rule of OpenTelemetry.
	least := TraceID{0xff, 8: 0xff, 9: 0x80}
	if !least.Sampled(2) {
		t.Error("the least random value of one half is not kept")
	}
	least[9]--
	if least.Sampled(2) {
		t.Error("a random value below one half is kept")
	}
}
