package pcapfilter

import "testing"

func BenchmarkFilter(b *testing.B) {
	f, err := New(TCPAndRoCE([]int{988}), LinkEthernet)
	if err != nil {
		b.Fatal(err)
	}
	frame := testPacket{link: LinkEthernet, src: "192.0.2.3", dst: "192.0.2.1", proto: 6, sport: 1021, dport: 988}.build(b)
	b.ReportAllocs()
	for b.Loop() {
		if ok, err := f.Match(frame.link, frame.data, len(frame.data)); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	f, err := New("tcp or greater 10", LinkEthernet)
	if err != nil {
		t.Fatal(err)
	}
	frame := filterFrames()['a']
	frame.link = LinkEthernet
	data := frame.build(t).data
	n := testing.AllocsPerRun(1000, func() {
		if _, err := f.Match(LinkEthernet, data, len(data)); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}
