package tables

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track/paths"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// Paths is the table of what hosts send to each other.
var Paths = Kind[*records.HostPath]{name: "table of paths", keys: &records.HostPaths, columns: []column[*records.HostPath]{
	{title: "from", doc: "node that sends, its IP address where the NID is unknown", left: true, whole: true, role: schema.Node,
		show: func(p *printer, r *records.HostPath) string { return host(p, r.FromNID, r.From) }},
	{title: "to", doc: "node that receives, its IP address where the NID is unknown", left: true, whole: true, role: schema.Node,
		show: func(p *printer, r *records.HostPath) string { return host(p, r.ToNID, r.To) }},
	{title: "file", left: true, optional: true, role: schema.Dim},
	{title: "messages", dimZero: true, role: schema.Number},
	{title: "bytes", dimZero: true, role: schema.Number},
	{title: "rtt", key: "rtt.p50", doc: "median round trip from the capture point to the node that receives", role: schema.Number},
	{title: "rtt99", key: "rtt.p99", doc: "99th percentile of rtt", rank: useful, role: schema.Number},
	{title: "back", key: "sender_rtt.p50", doc: "median round trip from the capture point to the node that sends", rank: useful, role: schema.Number},
	{title: "rtx", key: "retransmits", doc: "number of TCP segments that were sent again; over InfiniBand, how often packets were",
		dimZero: true, role: schema.Bad, show: func(_ *printer, r *records.HostPath) string {
			return strconv.FormatInt(r.TCP.Retransmissions+r.PacketsLost, 10)
		}},
	{title: "rtx%", key: "retransmitted_percent", doc: "bytes that TCP sent again, in percent of all", rank: useful, role: schema.Number,
		show: func(_ *printer, r *records.HostPath) string {
			percent, ok := r.ResentPercent()
			if !ok {
				return ""
			}
			return strconv.FormatFloat(percent, 'f', 2, 64)
		}},
	{title: "ooo", key: "out_of_order", dimZero: true, rank: useful, role: schema.Warning},
	{title: "rst", key: "resets", dimZero: true, role: schema.Bad},
	{title: "zwin", key: "zero_windows", dimZero: true, rank: extra, role: schema.Warning},
	{title: "fast", key: "fast_retransmits", dimZero: true, rank: extra, role: schema.Number},
	{title: "spurious", key: "spurious_retransmits", dimZero: true, rank: extra, role: schema.Number},
	{title: "min", key: "rtt.min", doc: "fastest round trip to the node that receives", rank: extra, role: schema.Number},
	{title: "max", key: "rtt.max", doc: "slowest round trip to the node that receives", rank: extra, role: schema.Number},
	{title: "back99", key: "sender_rtt.p99", doc: "99th percentile of back", rank: extra, role: schema.Number},
}}

func host(p *printer, n lnet.NID, a netip.Addr) string {
	if n == (lnet.NID{}) {
		return a.String()
	}
	return p.nid(n)
}

// pathSorts are the orders of paths, by descending value.
var pathSorts = map[string]func(p *records.HostPath) int64{
	"count": func(p *records.HostPath) int64 { return p.Messages },
	"bytes": func(p *records.HostPath) int64 { return p.Bytes },
	"p50":   func(p *records.HostPath) int64 { return p.Times.Quantile(.5) },
	"p99":   func(p *records.HostPath) int64 { return p.Times.Quantile(.99) },
	"max":   func(p *records.HostPath) int64 { return p.Times.Max },
	"name":  func(*records.HostPath) int64 { return 0 },
}

// SortsPaths reports whether paths have an order.
func SortsPaths(order string) bool { return pathSorts[order] != nil }

// PathRecords returns records of all paths in an order, those of equal value by their addresses.
func PathRecords(all *paths.Paths, order string) (list []*records.HostPath) {
	for p := range all.All {
		list = append(list, &records.HostPath{Path: p, Back: all.Get(p.Source, p.To, p.From)})
	}
	value := pathSorts[order]
	slices.SortStableFunc(list, func(a, b *records.HostPath) int {
		return cmp.Or(cmp.Compare(value(b), value(a)), a.From.Compare(b.From), a.To.Compare(b.To), cmp.Compare(a.Source, b.Source))
	})
	return list
}

// NewPathsTSV makes a renderer of paths as lines of values, separated by tabs.
func NewPathsTSV() *render.RecordFields[*records.HostPath] {
	t, _ := render.NewRecordFields(&records.HostPaths, []string{"from", "to", "from_nid", "to_nid", "file", "messages", "bytes",
		"rtt.min", "rtt.p50", "rtt.p99", "rtt.max", "sender_rtt.min", "sender_rtt.p50", "sender_rtt.p99", "sender_rtt.max", "retransmits",
		"fast_retransmits", "spurious_retransmits", "retransmitted_bytes", "retransmitted_percent", "out_of_order", "zero_windows", "resets",
		"rdma_retransmits"})
	return t
}
