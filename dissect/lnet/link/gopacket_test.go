package link

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// TestGopacketAgrees: its decoders find the same TCP segments in the samples.
func TestGopacketAgrees(t *testing.T) {
	for _, path := range wiretest.Samples(t) {
		r, err := capture.Open([]string{path}, capture.Options{})
		must.NoError(t, err)
		src, packets := capture.NewSource(r), 0
		for n := int64(1); ; n++ {
			data, info, err := src.ReadPacketData()
			if errors.Is(err, io.EOF) {
				break
			}
			must.NoError(t, err)
			p := gopacket.NewPacket(data, layers.LayerTypeEthernet, gopacket.DecodeOptions{Lazy: true, NoCopy: true})
			theirs, found := p.TransportLayer().(*layers.TCP)
			var d Decoder
			kind := d.Decode(&capture.Frame{Number: n, Time: info.Timestamp.UnixNano(), Len: info.Length, Data: data, Link: capture.LinkEthernet})
			ok := kind == TCP
			if ok != found {
				t.Fatalf("%s, frame %d: a segment: %v, gopacket: %v", path, n, ok, found)
			}
			if kind != None {
				packets++
			}
			if !ok {
				continue
			}
			g := &d.Segment
			if g.Seq != theirs.Seq || g.Ack != theirs.Ack || g.Flow.SrcPort != uint16(theirs.SrcPort) || g.Flow.DstPort != uint16(theirs.DstPort) ||
				!bytes.Equal(g.Data, theirs.Payload) {
				t.Fatalf("%s, frame %d: %+v, gopacket: %+v", path, n, g, theirs)
			}
		}
		if packets == 0 {
			t.Errorf("%s has neither segments nor packets", path)
		}
		r.Close()
	}
}
