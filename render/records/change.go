package records

import (
	"slices"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/comparison"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// Changes are the keys of a row of statistics in two captures. The JSON has those of
// the dimensions (op to error) that are in --by.
var Changes = Table[*comparison.Row]{Record: "change", Keys: slices.Concat(
	[]Key[*comparison.Row]{{Name: "total", Type: Bool, JSON: Omit, Doc: "the row is of all RPCs, whatever --by is",
		Get: func(r *comparison.Row, _ *Value) bool { return r.Total }}},
	changeDimensions(),
	[]Key[*comparison.Row]{
		changeSide("before", "the RPCs of the first capture, null when there are none", func(r *comparison.Row) *comparison.Side { return r.Before }),
		changeSide("after", "the RPCs of the second capture, null when there are none", func(r *comparison.Row) *comparison.Side { return r.After }),
		{Name: "changed", Type: Strings, Doc: "what has changed beyond noise: count (the rate of the RPCs and their share of all), errors, unanswered, resends, " +
			"p50, p90 and p99 (of the latency), rtt, retransmitted, request_size or bulk_size", Get: func(r *comparison.Row, v *Value) bool {
			v.Strings = names(r.Changed)
			return true
		}},
	})}

// changeDimensions returns the keys that rows of statistics have for what --by
// names.
func changeDimensions() (list []Key[*comparison.Row]) {
	for _, k := range Rows.Keys {
		if !slices.Contains(track.DimensionNames(), k.Name) {
			continue
		}
		get := k.Get
		list = append(list, Key[*comparison.Row]{Name: k.Name, Type: k.Type, Names: k.Names, Doc: k.Doc,
			Get: func(r *comparison.Row, v *Value) bool { return get(&Row{Row: &track.Row{Key: r.Key}}, v) }})
	}
	return list
}

// changeSide makes the key of the RPCs of one capture.
func changeSide(name, doc string, side func(r *comparison.Row) *comparison.Side) Key[*comparison.Row] {
	measure := func(name string, t Type, u Unit, doc string, m comparison.Measure) Key[*comparison.Row] {
		return Key[*comparison.Row]{Name: name, Type: t, Unit: u, Doc: doc, Get: func(r *comparison.Row, v *Value) bool {
			s := side(r)
			if s == nil || !s.Has(m) {
				return false
			}
			v.U = uint64(s.Value(m))
			return true
		}}
	}
	return Key[*comparison.Row]{Name: name, Type: Object, Doc: doc,
		Get: func(r *comparison.Row, _ *Value) bool { return side(r) != nil },
		Parts: []Key[*comparison.Row]{
			measure("count", Uint, NoUnit, "number of RPCs", comparison.Count),
			{Name: "rate", Type: Float, Doc: "RPCs per second of the capture", Get: func(r *comparison.Row, v *Value) bool {
				if side(r) == nil {
					return false
				}
				v.F = side(r).Rate
				return true
			}},
			{Name: "errors", Type: Counts, Doc: "errors in the final status of RPCs, and how often each occurred", Get: func(r *comparison.Row, v *Value) bool {
				if side(r) == nil {
					return false
				}
				v.Counts = ErrorCounts(side(r).Errors)
				return true
			}},
			measure("unanswered", Uint, NoUnit, "number of RPCs that the server did not answer", comparison.Unanswered),
			measure("resends", Uint, NoUnit, "how often requests were sent again", comparison.Resends),
			{Name: "latency", Type: Object, Doc: "times from request to reply",
				Get: func(r *comparison.Row, _ *Value) bool { return side(r) != nil && side(r).Has(comparison.P50) },
				Parts: []Key[*comparison.Row]{
					measure("p50", Duration, NoUnit, "median", comparison.P50),
					measure("p90", Duration, NoUnit, "90th percentile", comparison.P90),
					measure("p99", Duration, NoUnit, "99th percentile", comparison.P99),
				}},
			measure("rtt", Duration, NoUnit, "median of the round trips to the server, by the ACKs on the connections of the requests", comparison.RTT),
			measure("retransmitted", Uint, NoUnit, "number of RPCs with TCP segments or InfiniBand packets that were sent again", comparison.Retransmitted),
			measure("request_size", Uint, Bytes, "median size of the requests", comparison.RequestSize),
			measure("bulk_size", Uint, Bytes, "median size of the bulk data, of the RPCs that have some", comparison.BulkSize),
		}}
}

// names returns the names of values.
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
	ConnectionChanges = connections("connection change", "before", "after", "changed")
	ClientDifferences = connections("client difference", "a", "b", "different")
)

// connections makes a table with names for the two sides.
func connections(record, before, after, changed string) Table[*comparison.Connection] {
	return Table[*comparison.Connection]{Record: record, Keys: []Key[*comparison.Connection]{
		{Name: "target", Type: Text, Doc: "target of the connects", Get: func(c *comparison.Connection, v *Value) bool {
			v.SetString(c.Target)
			return true
		}},
		{Name: "kind", Type: Text, Doc: "kind of connection: client, mgc (to the MGS), lwp (light-weight proxy), mdt-mdt or mdt-ost; null when only replies were captured", Get: func(c *comparison.Connection, v *Value) bool {
			v.SetString(c.Kind)
			return c.Kind != ""
		}},
		negotiated(before, func(c *comparison.Connection) *comparison.Negotiated { return c.Before }),
		negotiated(after, func(c *comparison.Connection) *comparison.Negotiated { return c.After }),
		{Name: changed, Type: Strings, Doc: "what differs: asked, granted, client_version or server_version", Get: func(c *comparison.Connection, v *Value) bool {
			v.Strings = names(c.Changed)
			return true
		}},
	}}
}

// negotiated makes the key of one side.
func negotiated(name string, side func(c *comparison.Connection) *comparison.Negotiated) Key[*comparison.Connection] {
	flags := func(name, doc string, p comparison.Part, get func(n *comparison.Negotiated) comparison.Flags) Key[*comparison.Connection] {
		return Key[*comparison.Connection]{Name: name, Type: Strings, Doc: doc, Get: func(c *comparison.Connection, v *Value) bool {
			n := side(c)
			if n == nil || !n.Has(p) {
				return false
			}
			v.Strings = ConnectFlagNames(get(n))
			return true
		}}
	}
	versions := func(name, doc string, get func(n *comparison.Negotiated) []uint32) Key[*comparison.Connection] {
		return Key[*comparison.Connection]{Name: name, Type: Strings, Doc: doc, Get: func(c *comparison.Connection, v *Value) bool {
			n := side(c)
			if n == nil {
				return false
			}
			v.Strings = v.Strings[:0:0]
			for _, version := range get(n) {
				v.Strings = append(v.Strings, string(schema.AppendVersion(nil, version)))
			}
			return true
		}}
	}
	return Key[*comparison.Connection]{Name: name, Type: Object, Doc: "what was negotiated on this side, null when no connect was captured",
		Get: func(c *comparison.Connection, _ *Value) bool { return side(c) != nil },
		Parts: []Key[*comparison.Connection]{
			{Name: "connections", Doc: "number of connections", Get: func(c *comparison.Connection, v *Value) bool {
				if side(c) == nil {
					return false
				}
				v.U = uint64(side(c).Connections)
				return true
			}},
			flags("asked", "flags that at least one connect asked for", comparison.Asked, func(n *comparison.Negotiated) comparison.Flags { return n.Asked }),
			flags("granted", "flags that at least one reply granted", comparison.Granted, func(n *comparison.Negotiated) comparison.Flags { return n.Granted }),
			versions("client_version", "releases of the clients", func(n *comparison.Negotiated) []uint32 { return n.Clients }),
			versions("server_version", "releases of the servers", func(n *comparison.Negotiated) []uint32 { return n.Servers }),
		}}
}

// ConnectFlagNames returns the names of connect flags, those without a name as one
// number for each of the two words.
func ConnectFlagNames(f comparison.Flags) []string {
	list := appendFlagNames(nil, opcodes.ObdConnectFlags, f.Flags)
	return appendFlagNames(list, opcodes.ObdConnectFlags2, f.Flags2)
}
