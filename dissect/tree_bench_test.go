package dissect

import "testing"

// metadata returns the messages of a client that works with many files.
func metadata(t testing.TB) *Arena {
	msgs := &Arena{}
	eachMessage(t, "../pcaps/metadata.pcap.zst", msgs.Add)
	return msgs
}

func BenchmarkProbe(b *testing.B) {
	msgs := metadata(b)
	var p rpcMsg
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		m := msgs.At(i % msgs.Len())
		probe(m, &p)
	}
}

func BenchmarkTree(b *testing.B) {
	msgs := metadata(b)
	var t Tree
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		t.Build(msgs.At(i % msgs.Len()))
	}
}

// TestBuildAllocatesNothing: a tree that is large enough is reused.
func TestBuildAllocatesNothing(t *testing.T) {
	msgs := metadata(t)
	var p rpcMsg
	var tree Tree
	n := testing.AllocsPerRun(3, func() {
		for i := range msgs.Len() {
			probe(msgs.At(i), &p)
			tree.Build(msgs.At(i))
		}
	})
	if n != 0 {
		t.Errorf("%v allocations for %d messages", n, msgs.Len())
	}
}
