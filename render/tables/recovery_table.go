package tables

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track/recovery"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// Recoveries is the table of targets that were lost.
var Recoveries = Kind[*recovery.Recovery]{name: "table of recovery", keys: &records.Recoveries, columns: []column[*recovery.Recovery]{
	{title: "gone", role: schema.Dim, show: func(p *printer, r *recovery.Recovery) string { return p.time(r.Gone) }},
	{title: "target", left: true, whole: true, role: schema.Node},
	{title: "kind", left: true, mark: func(r *recovery.Recovery) schema.Role { return cmp.Or(kindRoles[r.Kind], schema.Dim) }},
	{title: "down", key: "downtime", doc: "how long the target was gone; <: at most", role: schema.Number,
		show: downtimeText},
	{title: "window", round: true, role: schema.Number},
	{title: "clients", key: "recovered", doc: "number of clients that recovered, of how many; ?: the capture was not made at the server",
		role: schema.Number, show: clientsText},
	{title: "evict", key: "evicted", dimZero: true, role: schema.Bad},
	{title: "replayed", key: "requests.replayed", dimZero: true, dimNone: true, rank: useful, role: schema.Number},
	{title: "locks", key: "locks.replayed", dimZero: true, dimNone: true, rank: useful, role: schema.Number},
	{title: "failed", key: "requests.errors", doc: "errors of replayed requests and locks, and how often each occurred", left: true,
		rank: useful, role: schema.Bad,
		show: func(_ *printer, r *recovery.Recovery) string {
			failed, locks := r.Replayed()
			failed.Add(&locks)
			return errorsText(failed.Errors)
		}},
	{title: "waited", dimZero: true, role: schema.Number},
	{title: "longest", key: "waited_max", rank: useful, round: true, role: schema.Number},
	{title: "errors", left: true, rank: useful, role: schema.Bad, show: impactErrors},
	{title: "gaps", key: "not_replayed.count", dimZero: true, rank: extra, role: schema.Bad,
		show: func(_ *printer, r *recovery.Recovery) string { return strconv.Itoa(r.NotReplayed().Count) }},
	{title: "last", key: "clients", doc: "client that connected last, by its target when it is a server, and how long after the first",
		left: true, rank: extra, role: schema.Dim, show: lastClient},
	{title: "back", rank: extra, role: schema.Dim, show: func(p *printer, r *recovery.Recovery) string { return p.time(r.Back) }},
	{title: "server", left: true, rank: extra, role: schema.Node, show: servers},
	{title: "frame", key: "gone.frame", rank: extra, role: schema.Dim, show: func(_ *printer, r *recovery.Recovery) string {
		if r.Gone.IsLog() {
			return ""
		}
		return frame(r.Gone)
	}},
}}

// lastClient returns the client that connected last, and how long after the first.
func lastClient(p *printer, r *recovery.Recovery) string {
	c := r.Last()
	if c == nil {
		return ""
	}
	return cmp.Or(c.Target(), p.nid(c.Connection.Client)) + " +" + waitText(c.Connected.Time-r.Back.Time)
}

// servers returns the server, after another one that had the target before.
func servers(p *printer, r *recovery.Recovery) string {
	var list []string
	for _, n := range []lnet.NID{r.ServerBefore, r.Server} {
		if n != (lnet.NID{}) {
			list = append(list, p.nid(n))
		}
	}
	return strings.Join(slices.Compact(list), " ")
}

// downtimeText returns how long a target was gone, or how long at most.
func downtimeText(_ *printer, r *recovery.Recovery) string {
	if ns, ok := r.Downtime(); ok {
		return waitText(ns)
	}
	if ns, ok := r.DowntimeLimit(); ok {
		return "<" + waitText(ns)
	}
	return ""
}

// clientsText returns how many clients recovered, of how many.
func clientsText(_ *printer, r *recovery.Recovery) string {
	recovered, evicted := r.Count(recovery.ClientRecovered), r.Count(recovery.ClientEvicted)
	known, ok := r.Known()
	switch {
	case !r.Kind.IsOutage() || known == 0 && recovered+evicted == 0:
		return ""
	case !ok:
		return fmt.Sprintf("%d/?", recovered)
	}
	return fmt.Sprintf("%d/%d", recovered, known)
}

// impactErrors returns the errors that applications got, and how many requests
// had no reply.
func impactErrors(_ *printer, r *recovery.Recovery) string {
	i := r.Impact()
	counts := records.ErrorCounts(i.Errors)
	if i.Unanswered > 0 {
		counts = append(counts, records.Count{Name: "unanswered", N: int64(i.Unanswered)})
	}
	return string(render.AppendCounts(nil, counts, " "))
}

var kindRoles = map[recovery.Kind]schema.Role{recovery.Stopped: schema.Bad, recovery.Unreachable: schema.Bad,
	recovery.Eviction: schema.Bad, recovery.Restart: schema.Warning, recovery.Failover: schema.Warning}
