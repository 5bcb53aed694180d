package pdu

import (
	"encoding/hex"
	"net/netip"
	"testing"
)

func TestHeader(t *testing.T) {
	for name, tt := range map[string]struct {
		h    Header
		want string
	}{
		"IPv4": {
			Header{Dissector: "json", Src: netip.MustParseAddr("192.0.2.3"), Dst: netip.MustParseAddr("::ffff:192.0.2.1"), Ports: TCP,
				SrcPort: 1021, DstPort: 988, Frame: 258, Protocol: "Lustre", Info: []byte("hello")},
			"000c0004" + "6a736f6e" + "00140004" + "c0000203" + "00150004" + "c0000201" + "00180004" + "00000002" +
				"00190004" + "000003fd" + "001a0004" + "000003dc" + "001e0004" + "00000102" +
				"00210008" + "4c75737472650000" + "00240008" + "68656c6c6f000000" + "00000000"},
		"IPv6": {
			Header{Dissector: "json", Src: netip.MustParseAddr("2001:db8::1"), Dst: netip.MustParseAddr("fe80::2%eth0"), Ports: QueuePair, SrcPort: 1 << 20, DstPort: 17},
			"000c0004" + "6a736f6e" + "00160010" + "20010db8000000000000000000000001" + "00170010" + "fe800000000000000000000000000002" +
				"00180004" + "0000000e" + "00190004" + "00100000" + "001a0004" + "00000011" + "001e0004" + "00000000" + "00210000" + "00240000" + "00000000"},
		"no addresses": {
			Header{Dissector: "json"},
			"000c0004" + "6a736f6e" + "00180004" + "00000000" + "00190004" + "00000000" + "001a0004" + "00000000" + "001e0004" + "00000000" +
				"00210000" + "00240000" + "00000000"},
	} {
		if got := hex.EncodeToString(tt.h.Append(nil)); got != tt.want {
			t.Errorf("%s:\n%s, want\n%s", name, got, tt.want)
		}
	}
}
