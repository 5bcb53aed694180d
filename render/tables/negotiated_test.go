package tables

import (
	"testing"

	"github.com/lshark/lshark/dissect/track/comparison"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/render"
)

// TestNegotiated: targets that differ in the same way are one paragraph, and lines
// are wrapped.
func TestNegotiated(t *testing.T) {
	const old, recent = 0x020f0800, 0x02110000
	flags := func(names ...string) (f comparison.Flags) {
		for _, n := range names {
			f.Flags |= opcodes.ObdConnectFlags.Bit(n)
		}
		return f
	}
	before := &comparison.Negotiated{Connections: 1, HasAsked: true, HasGranted: true, Clients: []uint32{recent}, Servers: []uint32{recent},
		Asked: flags("GRANT", "SRVLOCK", "BRW_SIZE", "CANCELSET"), Granted: flags("GRANT")}
	after := &comparison.Negotiated{Connections: 1, HasAsked: true, HasGranted: true, Clients: []uint32{old}, Servers: []uint32{recent},
		Asked: flags("GRANT", "CKSUM"), Granted: flags("GRANT")}
	list := []*comparison.Connection{
		{Target: "one", Kind: "client", Before: before, After: after, Changed: []comparison.Part{comparison.Asked, comparison.ClientVersion}},
		{Target: "three", Before: before, After: before},
		{Target: "two", Kind: "client", Before: before, After: after, Changed: []comparison.Part{comparison.Asked, comparison.ClientVersion}},
		{Target: "four", After: after},
	}
	const want = `one two (client)
  asked           both: 1 flags
                  only a: SRVLOCK BRW_SIZE
                          CANCELSET
                  only b: CKSUM
  client release  a 2.17.0.0, b 2.15.8.0

three
  the same: 4 flags asked, 1 granted, client
  2.17.0.0, server 2.17.0.0

four
  connects captured: only b
`
	s := NewNegotiatedText(render.SummaryOptions{Colors: render.NewColors(false), Width: 46}, "a", "b")
	if got := string(s.Append(nil, list)); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
