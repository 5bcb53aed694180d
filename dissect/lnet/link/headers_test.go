package link

import (
	"slices"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest"
)

// TestHeadersAreListed checks which headers are listed, and that each begins behind the one before.
func TestHeadersAreListed(t *testing.T) {
	inner := []Layer{LayerEthernet, LayerIPv4, LayerTCP}
	error4 := wiretest.IP(linkA.Addr, linkB.Addr, protoICMP, wiretest.Join([]byte{3, 4, 0, 0, 0, 0, 5, 0}, packet4()))
	for _, c := range []struct {
		name string
		link capture.LinkType
		data []byte
		kind Kind
		want []Layer
	}{
		{"Ethernet", capture.LinkEthernet, wiretest.Ethernet(packet4()), TCP, inner},
		{"VLANs", capture.LinkEthernet, vlan(wiretest.Ethernet(packet6()), etherQinQ), TCP, []Layer{LayerEthernet, LayerVLAN, LayerIPv6, LayerTCP}},
		{"VXLAN", capture.LinkEthernet, vxlanFrame(), TCP, append([]Layer{LayerEthernet, LayerIPv6, LayerUDP, LayerVXLAN}, inner...)},
		{"fragment", capture.LinkRaw, fragments4(packet4(), 24)[0], None, []Layer{LayerIPv4}},
		{"ICMP error", capture.LinkRaw, error4, TCP, []Layer{LayerIPv4, LayerICMP, LayerIPv4, LayerTCP}},
		{"cut", capture.LinkRaw, packet4()[:30], None, []Layer{LayerIPv4, LayerTCP}},
	} {
		var d Decoder
		list, kind := d.Headers(&capture.Frame{Number: 1, Link: c.link, Data: c.data, Len: len(c.data)})
		var got []Layer
		end := 0
		for _, h := range list {
			assert.Equal(t, h.Off, end, c.name, "layer", h.Layer, "begins at")
			end = h.Off + h.Size
			got = append(got, h.Layer)
		}
		if kind != c.kind || !slices.Equal(got, c.want) {
			t.Errorf("%s: kind %d, layers %v, want %d and %v", c.name, kind, got, c.kind, c.want)
		}
	}
}
