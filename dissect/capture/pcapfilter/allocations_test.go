package pcapfilter

import (
	"testing"

	"github.com/lshark/lshark/internal/must"
)

func TestNoAllocation(t *testing.T) {
	f, err := New("tcp or greater 10", LinkEthernet)
	must.NoError(t, err)
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
