package records

import (
	"slices"
	"sync"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/comparison"
	"github.com/lshark/lshark/opcodes/schema"
)

// Changes are the keys of a row of statistics in two captures. The JSON has those of
// the dimensions (op to error) that are in --by.
var Changes = Table[*comparison.Row]{Record: "change", Trims: true, Command: "diff", Keys: sync.OnceValue(func() []*Key[*comparison.Row] {
	type row = comparison.Row
	return slices.Concat(
		[]*Key[*row]{boolean("total", "the row is of all RPCs, whatever --by is", func(r *row) bool { return r.Total })},
		inside(func(r *row) *Row { return &Row{Row: &track.Row{Key: r.Key}} }, dimensionKeys()...),
		inside(func(r *row) *comparison.Side { return r.Before },
			object("before", "the RPCs of the first capture, null when there are none", sideKeys()...)),
		inside(func(r *row) *comparison.Side { return r.After },
			object("after", "the RPCs of the second capture, null when there are none", sideKeys()...)),
		[]*Key[*row]{texts("changed", "what has changed beyond noise: count (the rate of the RPCs and their share of all), errors, unanswered, resends, "+
			"p50, p90, p99 and max (of the latency), rtt, retransmitted, request_size or bulk_size",
			func(r *row) []string { return names(r.Changed) }),
			texts("few", "those of changed that rest on few RPCs: all values differ by a factor of 2 or more, which may still be chance",
				func(r *row) []string { return names(r.Few) })})
})}

func sideKeys() []*Key[*comparison.Side] {
	type side = comparison.Side
	measure := func(name, doc string, m comparison.Measure) *Key[*side] {
		return NumberKey(name, doc, func(s *side) int64 { return s.Value(m) }).when(func(s *side) bool { return s.Has(m) })
	}
	return []*Key[*side]{
		measure("count", "number of RPCs", comparison.Count),
		float("rate", "RPCs per second of the capture", func(s *side) float64 { return s.Rate }),
		counts("errors", "errors in the final status of RPCs, and how often each occurred",
			func(s *side) []Count { return ErrorCounts(s.Errors) }),
		measure("unanswered", "number of RPCs that the server did not answer", comparison.Unanswered),
		measure("resends", "how often requests were sent again", comparison.Resends),
		object("latency", "times from request to reply",
			measure("p50", "median", comparison.P50).as(Duration),
			measure("p90", "90th percentile", comparison.P90).as(Duration),
			measure("p99", "99th percentile", comparison.P99).as(Duration),
			measure("max", "longest; a request without a reply counts until the end of the capture", comparison.Longest).as(Duration),
		).when(func(s *side) bool { return s.Has(comparison.Longest) }),
		measure("rtt", "median of the round trips to the server, by the ACKs on the connections of the requests", comparison.RTT).as(Duration),
		measure("retransmitted", "number of RPCs with TCP segments or InfiniBand packets that were sent again", comparison.Retransmitted),
		measure("request_size", "median size of the requests", comparison.RequestSize).inBytes(),
		measure("bulk_size", "median size of the bulk data, of the RPCs that have some", comparison.BulkSize).inBytes(),
	}
}

func names[T interface{ String() string }](values []T) []string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = v.String()
	}
	return list
}

// The keys of what connects to a target negotiated: in two captures, or for two
// clients.
var (
	ConnectionChanges = negotiations("diff", "connection change", "before", "after", "changed")
	ClientDifferences = negotiations("imports", "client difference", "a", "b", "different")
)

// negotiations makes a table with names for the two sides.
func negotiations(command, record, before, after, changed string) Table[*comparison.Connection] {
	type connection = comparison.Connection
	const doc = "what was negotiated on this side, null when no connect was captured"
	return Table[*connection]{Record: record, Command: command, Keys: sync.OnceValue(func() []*Key[*connection] {
		return slices.Concat([]*Key[*connection]{
			TextKey("target", "target of the connects", func(c *connection) string { return c.Target }),
			TextKey("kind", kindDoc+"; null when only replies were captured", func(c *connection) string { return c.Kind }),
		},
			inside(func(c *connection) *comparison.Negotiated { return c.Before }, object(before, doc, negotiatedKeys()...)),
			inside(func(c *connection) *comparison.Negotiated { return c.After }, object(after, doc, negotiatedKeys()...)),
			[]*Key[*connection]{texts(changed, "what differs: asked, granted, client_version, server_version or evictions",
				func(c *connection) []string { return names(c.Changed) })})
	})}
}

func negotiatedKeys() []*Key[*comparison.Negotiated] {
	type negotiated = comparison.Negotiated
	flags := func(name, doc string, p comparison.Part, get func(n *negotiated) comparison.Flags) *Key[*negotiated] {
		return texts(name, doc, func(n *negotiated) []string { return ConnectFlagNames(get(n)) }).when(func(n *negotiated) bool { return n.Has(p) })
	}
	return []*Key[*negotiated]{
		NumberKey("connections", "number of connections", func(n *negotiated) int { return n.Connections }),
		NumberKey("evictions", "how often clients were evicted", func(n *negotiated) int { return n.Evictions }).nonzero(),
		flags("asked", "flags that at least one connect asked for", comparison.Asked, func(n *negotiated) comparison.Flags { return n.Asked }),
		flags("granted", "flags that at least one reply granted", comparison.Granted, func(n *negotiated) comparison.Flags { return n.Granted }),
		texts("client_version", "releases of the clients", func(n *negotiated) []string { return releases(n.Clients) }),
		texts("server_version", "releases of the servers", func(n *negotiated) []string { return releases(n.Servers) }),
	}
}

func releases(versions []uint32) (list []string) {
	for _, version := range versions {
		list = append(list, string(schema.AppendVersion(nil, version)))
	}
	return list
}

// ConnectFlagNames returns the names of connect flags, those without a name as one
// number for each of the two words.
func ConnectFlagNames(f comparison.Flags) []string { return connectFlagNames(f.Flags, f.Flags2) }
