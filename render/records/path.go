package records

import (
	"sync"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/paths"
)

// HostPath is what one host sends to another as a record, with the other direction.
type HostPath struct {
	*paths.Path
	Back *paths.Path // nil: nothing was captured of it
}

// HostPaths are the keys of what hosts send to each other.
var HostPaths = Table[*HostPath]{Record: "path", Trims: true, Command: "stats", Keys: sync.OnceValue(func() []*Key[*HostPath] {
	tcp := func(name, doc string, get func(a *lnet.TCPAnomalies) int64) *Key[*HostPath] {
		return NumberKey(name, doc, func(p *HostPath) int64 { return get(&p.TCP) })
	}
	return []*Key[*HostPath]{
		TextKey("from", "IP address of the host that sends", func(p *HostPath) string { return p.From.String() }),
		TextKey("to", "IP address of the host that receives", func(p *HostPath) string { return p.To.String() }),
		NIDKey("from_nid", "its NID, null where messages do not show it, as behind a router", func(p *HostPath) lnet.NID { return p.FromNID }).known(),
		NIDKey("to_nid", "NID of the host that receives", func(p *HostPath) lnet.NID { return p.ToNID }).known(),
		TextKey("file", "file of the capture point, when several are read", func(p *HostPath) string { return p.File }).omit(),
		NumberKey("messages", "number of messages", func(p *HostPath) int64 { return p.Messages }),
		NumberKey("bytes", "bytes of the messages", func(p *HostPath) int64 { return p.Bytes }).inBytes(),
		distribution("rtt", "round trips from the capture point to the host that receives, by the acknowledgements: of those between two "+
			"messages the fastest", func(p *HostPath) *track.Distribution { return p.Times }),
		distribution("sender_rtt", "round trips from the capture point to the host that sends, by its acknowledgements in the other direction. "+
			"At one of the two hosts it is the time until that host acknowledges, else the sum of both is the round trip of the path",
			func(p *HostPath) *track.Distribution {
				if p.Back == nil {
					return &track.Distribution{}
				}
				return p.Back.Times
			}),
		tcp("retransmits", "number of TCP segments that were sent again, with the fast and the spurious ones",
			func(a *lnet.TCPAnomalies) int64 { return a.Retransmissions }),
		tcp("fast_retransmits", "number of TCP segments that were sent again after duplicate ACKs", func(a *lnet.TCPAnomalies) int64 { return a.Fast }),
		tcp("spurious_retransmits", "number of TCP segments that were sent again, though all of their bytes were acknowledged",
			func(a *lnet.TCPAnomalies) int64 { return a.Spurious }),
		NumberKey("retransmitted_bytes", "bytes in the TCP segments that were sent again", func(p *HostPath) int64 { return p.ResentBytes }).inBytes(),
		{Name: "retransmitted_percent", Type: Float, Doc: "retransmitted_bytes in percent of the sum of these and bytes, over TCP", Get: func(p *HostPath, _ int, v *Value) (ok bool) {
			v.F, ok = p.ResentPercent()
			return ok
		}},
		tcp("out_of_order", "number of TCP segments that another one has overtaken", func(a *lnet.TCPAnomalies) int64 { return a.OutOfOrder }),
		tcp("zero_windows", "number of TCP segments with which the sender announced a full receive buffer",
			func(a *lnet.TCPAnomalies) int64 { return a.ZeroWindows }),
		NumberKey("resets", "number of TCP segments with which the sender refused or aborted a connection", func(p *HostPath) int64 { return p.Resets }),
		NumberKey("rdma_retransmits", "over InfiniBand, how often the sender sent packets again, from one that was lost or refused on",
			func(p *HostPath) int64 { return p.PacketsLost }).nonzero(),
	}
})}
