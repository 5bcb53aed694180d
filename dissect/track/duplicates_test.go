package track

import (
	"net/netip"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
)

func TestDuplicates(t *testing.T) {
	a, b := netip.MustParseAddrPort("192.0.2.3:1021"), netip.MustParseAddrPort("192.0.2.1:988")
	message := func(source int, seq uint32) *dissect.Message {
		return &dissect.Message{Message: lnet.Message{Src: a, Dst: b, Seq: seq, Size: 200, Kind: lnet.Request, Source: source}}
	}
	var d Duplicates
	for i, tt := range []struct {
		source int
		seq    uint32
		again  bool
	}{{0, 1, false}, {1, 1, true}, {1, 201, false}, {0, 201, true}, {0, 401, false}, {0, 401, false}} {
		if got := d.Seen(message(tt.source, tt.seq)); got != tt.again {
			t.Errorf("message %d: seen again is %v", i, got)
		}
	}
	for seq := range uint32(3 * duplicateWindow) {
		d.Seen(message(0, 1000+seq))
	}
	if d.sources.Len() > duplicateWindow {
		t.Errorf("%d messages are remembered", d.sources.Len())
	}
}
