package wiretest

import (
	"runtime"
	"testing"
)

// Heap returns how many bytes are in use.
func Heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Flat plays what takes memory for a while, and checks that as much is in use when it has
// been played for longer.
func Flat(t *testing.T, play func(times int), first, then int) {
	t.Helper()
	play(first)
	before := Heap()
	play(then)
	if after := Heap(); after > before+before/10+1<<20 {
		t.Errorf("%d bytes held, %d later", before, after)
	}
}

// NoAllocations checks that calling f allocates nothing.
func NoAllocations(t testing.TB, times int, f func()) {
	t.Helper()
	if n := testing.AllocsPerRun(times, f); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
