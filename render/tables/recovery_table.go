package tables

import (
	"strconv"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track/recovery"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// Recoveries is the table of targets that were lost.
var Recoveries = Kind[*recovery.Recovery]{name: "table of recovery", keys: &records.Recoveries, columns: []column[*recovery.Recovery]{
	{title: "gone", role: schema.Dim, append: func(p *printer, b []byte, r *recovery.Recovery) []byte { return p.time(b, r.Gone) }},
	{title: "target", left: true, whole: true, role: schema.Node},
	{title: "kind", left: true, mark: kindRole},
	{title: "down", key: "downtime", doc: "how long the target was gone; <: at most", role: schema.Number,
		append: func(_ *printer, b []byte, r *recovery.Recovery) []byte { return appendDowntime(b, r) }},
	{title: "window", round: true, role: schema.Number},
	{title: "clients", key: "recovered", doc: "number of clients that recovered, of how many; ?: the capture was not made at the server",
		role:   schema.Number,
		append: func(_ *printer, b []byte, r *recovery.Recovery) []byte { return appendClients(b, r) }},
	{title: "evict", key: "evicted", dimZero: true, role: schema.Bad},
	{title: "replayed", key: "requests.replayed", dimZero: true, dimNone: true, rank: useful, role: schema.Number},
	{title: "locks", key: "locks.replayed", dimZero: true, dimNone: true, rank: useful, role: schema.Number},
	{title: "failed", key: "requests.errors", doc: "errors of replayed requests and locks, and how often each occurred", left: true,
		rank: useful, role: schema.Bad,
		append: func(_ *printer, b []byte, r *recovery.Recovery) []byte {
			failed, locks := r.Replayed()
			failed.Add(&locks)
			return appendErrors(b, failed.Errors, " ")
		}},
	{title: "waited", dimZero: true, role: schema.Number},
	{title: "longest", key: "waited_max", rank: useful, round: true, role: schema.Number},
	{title: "errors", left: true, rank: useful, role: schema.Bad, append: func(_ *printer, b []byte,
		r *recovery.Recovery) []byte {
		return appendImpactErrors(b, r.Impact())
	}},
	{title: "gaps", key: "not_replayed.count", dimZero: true, rank: extra, role: schema.Bad,
		append: func(_ *printer, b []byte, r *recovery.Recovery) []byte {
			return strconv.AppendInt(b, int64(r.NotReplayed().Count), 10)
		}},
	{title: "last", key: "clients", doc: "client that connected last, by its target when it is a server, and how long after the first",
		left: true, rank: extra, role: schema.Dim, append: appendLastClient},
	{title: "back", rank: extra, role: schema.Dim, append: func(p *printer, b []byte, r *recovery.Recovery) []byte { return p.time(b, r.Back) }},
	{title: "server", left: true, rank: extra, role: schema.Node, append: appendServers},
	{title: "frame", key: "gone.frame", rank: extra, role: schema.Dim, append: func(p *printer, b []byte, r *recovery.Recovery) []byte {
		if r.Gone.IsLog() {
			return append(b, '-')
		}
		return p.frame(b, r.Gone)
	}},
}}

// appendLastClient appends the client that connected last, and how long after the first.
func appendLastClient(p *printer, dst []byte, r *recovery.Recovery) []byte {
	c := r.Last()
	if c == nil {
		return dst
	}
	if name := c.Target(); name != "" {
		dst = schema.AppendText(dst, []byte(name))
	} else {
		dst = p.opt.NIDs.Append(dst, c.Connection.Client)
	}
	return render.AppendLockWait(append(dst, " +"...), c.Connected.Time-r.Back.Time)
}

// appendServers appends the server, after another one that had the target before.
func appendServers(p *printer, dst []byte, r *recovery.Recovery) []byte {
	none := lnet.NID{}
	switch {
	case r.Server == none && r.ServerBefore == none:
		return dst
	case r.Server == none:
		return p.opt.NIDs.Append(dst, r.ServerBefore)
	case r.ServerBefore != none && r.ServerBefore != r.Server:
		dst = append(p.opt.NIDs.Append(dst, r.ServerBefore), ' ')
	}
	return p.opt.NIDs.Append(dst, r.Server)
}

// appendDowntime appends how long a target was gone, or how long at most.
func appendDowntime(dst []byte, r *recovery.Recovery) []byte {
	if ns, ok := r.Downtime(); ok {
		return render.AppendLockWait(dst, ns)
	}
	if ns, ok := r.DowntimeLimit(); ok {
		return render.AppendLockWait(append(dst, '<'), ns)
	}
	return dst
}

// appendClients appends how many clients recovered, of how many.
func appendClients(dst []byte, r *recovery.Recovery) []byte {
	recovered, evicted := r.Count(recovery.ClientRecovered), r.Count(recovery.ClientEvicted)
	known, ok := r.Known()
	if !r.Kind.IsOutage() || known == 0 && recovered+evicted == 0 {
		return dst
	}
	if dst = append(strconv.AppendInt(dst, int64(recovered), 10), '/'); !ok {
		return append(dst, '?')
	}
	return strconv.AppendInt(dst, int64(known), 10)
}

// appendImpactErrors appends the errors that applications got, and how many requests
// had no reply.
func appendImpactErrors(dst []byte, i recovery.Impact) []byte {
	counts := records.ErrorCounts(i.Errors)
	if i.Unanswered > 0 {
		counts = append(counts, records.Count{Name: "unanswered", N: int64(i.Unanswered)})
	}
	return render.AppendCounts(dst, counts, " ")
}

func kindRole(r *recovery.Recovery) schema.Role {
	switch r.Kind {
	case recovery.Stopped, recovery.Unreachable, recovery.Eviction:
		return schema.Bad
	case recovery.Restart, recovery.Failover:
		return schema.Warning
	}
	return schema.Dim
}
