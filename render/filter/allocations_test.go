package filter

import (
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/render/records"
)

// filters are one that a probe answers and one that needs the tree.
var filters = map[string]string{
	"Probe": "pb_opc == MDS_CLOSE && pb_status == 0",
	"Tree":  "mbo_size > 1M || name contains \"tmp\"",
	"FID":   "fid == [0x1:0x1:0x0]",
}

func metadata(t testing.TB) *dissect.Arena {
	msgs := &dissect.Arena{}
	each(t, "../../pcaps/metadata.pcap.zst", msgs.Add)
	return msgs
}

// TestNoAllocations: once the tree is large enough, a message costs none.
func TestNoAllocations(t *testing.T) {
	msgs := metadata(t)
	for name, text := range filters {
		f, err := Compile(text)
		must.NoError(t, err)
		var m records.Message
		n := testing.AllocsPerRun(3, func() {
			for i := range msgs.Len() {
				m.Set(msgs.At(i), 0)
				f.Match(&m)
			}
		})
		if n != 0 {
			t.Errorf("%s: %v allocations for %d messages", name, n, msgs.Len())
		}
	}
}
