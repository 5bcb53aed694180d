package otlp

import (
	"math"
	"testing"
)

// The values are those of
//
//	printf '192.0.2.3@tcp 1840123456789 server 0' | sha256sum | cut -c1-16
func TestIDs(t *testing.T) {
	const nid, xid = "192.0.2.3@tcp", 1840123456789
	for _, test := range [][2]string{
		{TraceOf(nid, xid).String(), "7e8bcbabae613516afa95f99e3f66a7f"},
		{TraceOf("2001:db8::3@tcp1", math.MaxUint64).String(), "d9a23c9dbab29897c92b79d94f5f4ac6"},
		{SpanOf(nid, xid, Client, 0).String(), "92febb5bfa5df908"},
		{SpanOf(nid, xid, Server, 0).String(), "73c1c1c6edc41b6e"},
		{SpanOf(nid, xid, Server, math.MaxUint32).String(), "f054ccbb4513d39f"},
	} {
		if test[0] != test[1] {
			t.Errorf("got %s, want %s", test[0], test[1])
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
