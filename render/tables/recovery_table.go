package tables

import (
	"strconv"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track/recovery"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// RecoveryTable renders targets that were lost as a table, one row each.
type RecoveryTable struct {
	Omitted Omitted

	times
}

// NewRecoveryTable makes a renderer. first is the time of the capture's first frame.
func NewRecoveryTable(o render.SummaryOptions, first int64) *RecoveryTable {
	return &RecoveryTable{times: times{opt: o, at: render.Moment{First: first}}}
}

// Append appends the table.
func (s *RecoveryTable) Append(dst []byte, list []*recovery.Recovery) []byte {
	c := s.opt.Colors
	t := newTable(c, []tableColumn{{title: "gone"}, {title: "target", left: true, whole: true}, {title: "kind", left: true}, {title: "down"},
		{title: "window"}, {title: "clients"}, {title: "evict", dimZero: true}, {title: "replayed", dimZero: true, rank: useful}, {title: "locks", dimZero: true, rank: useful},
		{title: "failed", left: true, rank: useful}, {title: "waited", dimZero: true}, {title: "longest", rank: useful},
		{title: "errors", left: true, rank: useful}, {title: "gaps", dimZero: true, rank: extra}, {title: "last", left: true, rank: extra},
		{title: "back", rank: extra}, {title: "server", left: true, rank: extra}, {title: "frame", rank: extra}})
	number := func(st *render.Style, n int64) {
		t.put(st, func(b []byte) []byte { return strconv.AppendInt(b, n, 10) })
	}
	for _, r := range list {
		requests, locks := r.Replayed()
		impact := r.Impact()
		failed := requests
		failed.Add(&locks)
		t.put(&c.Dim, func(b []byte) []byte { return s.time(b, r.Gone) })
		t.put(&c.NID, func(b []byte) []byte { return schema.AppendText(b, []byte(r.Target)) })
		t.put(kindStyle(c, r.Kind), func(b []byte) []byte { return append(b, r.Kind.String()...) })
		t.put(&c.Num, func(b []byte) []byte { return appendDowntime(b, r) })
		t.put(&c.Num, func(b []byte) []byte { return appendTime(b, r.Window) })
		t.put(&c.Num, func(b []byte) []byte { return appendClients(b, r) })
		number(&c.Bad, int64(r.Count(recovery.ClientEvicted)))
		number(&c.Num, int64(requests.Count))
		number(&c.Num, int64(locks.Count))
		t.put(&c.Bad, func(b []byte) []byte {
			return orDash(b, func(b []byte) []byte { return appendErrors(b, failed.Errors, " ") })
		})
		number(&c.Num, int64(impact.Waited))
		t.put(&c.Num, func(b []byte) []byte {
			return appendTime(b, func() (int64, bool) { return impact.Longest, impact.Waited > 0 })
		})
		t.put(&c.Bad, func(b []byte) []byte { return appendImpactErrors(b, &impact) })
		number(&c.Bad, int64(r.NotReplayed().Count))
		t.put(&c.Dim, func(b []byte) []byte { return s.last(b, r) })
		t.put(&c.Dim, func(b []byte) []byte { return s.time(b, r.Back) })
		t.put(&c.NID, func(b []byte) []byte { return s.servers(b, r) })
		t.put(&c.Dim, func(b []byte) []byte { return appendFrame(b, r.Gone) })
	}
	dst = t.render(dst, s.opt.Width)
	s.Omitted.add(t)
	return dst
}

// last appends the client that connected last, and how long after the first.
func (s *RecoveryTable) last(dst []byte, r *recovery.Recovery) []byte {
	c := r.Last()
	if c == nil {
		return append(dst, '-')
	}
	if name := c.Target(); name != "" {
		dst = schema.AppendText(dst, []byte(name))
	} else {
		dst = s.opt.NIDs.Append(dst, c.Connection.Client)
	}
	return render.AppendLockWait(append(dst, " +"...), c.Connected.Time-r.Back.Time)
}

// servers appends the server, after another one that had the target before.
func (s *RecoveryTable) servers(dst []byte, r *recovery.Recovery) []byte {
	none := lnet.NID{}
	switch {
	case r.Server == none && r.ServerBefore == none:
		return append(dst, '-')
	case r.Server == none:
		return s.opt.NIDs.Append(dst, r.ServerBefore)
	case r.ServerBefore != none && r.ServerBefore != r.Server:
		dst = append(s.opt.NIDs.Append(dst, r.ServerBefore), ' ')
	}
	return s.opt.NIDs.Append(dst, r.Server)
}

// appendDowntime appends how long a target was gone, or how long at most.
func appendDowntime(dst []byte, r *recovery.Recovery) []byte {
	if _, ok := r.Downtime(); ok {
		return appendTime(dst, r.Downtime)
	}
	if _, ok := r.DowntimeLimit(); ok {
		return appendTime(append(dst, '<'), r.DowntimeLimit)
	}
	return append(dst, '-')
}

// appendClients appends how many clients recovered, of how many.
func appendClients(dst []byte, r *recovery.Recovery) []byte {
	recovered, evicted := r.Count(recovery.ClientRecovered), r.Count(recovery.ClientEvicted)
	known, ok := r.Known()
	if !r.Kind.IsOutage() || known == 0 && recovered+evicted == 0 {
		return append(dst, '-')
	}
	if dst = append(strconv.AppendInt(dst, int64(recovered), 10), '/'); !ok {
		return append(dst, '?')
	}
	return strconv.AppendInt(dst, int64(known), 10)
}

// appendImpactErrors appends the errors that applications got, and how many requests
// had no reply.
func appendImpactErrors(dst []byte, i *recovery.Impact) []byte {
	counts := records.ErrorCounts(i.Errors)
	if i.Unanswered > 0 {
		counts = append(counts, records.Count{Name: "unanswered", N: int64(i.Unanswered)})
	}
	return orDash(dst, func(b []byte) []byte { return render.AppendCounts(b, counts, " ") })
}

func kindStyle(c *render.Colors, k recovery.Kind) *render.Style {
	switch k {
	case recovery.Stopped, recovery.Unreachable, recovery.Eviction:
		return &c.Bad
	case recovery.Restart, recovery.Failover:
		return &c.Warn
	}
	return &c.Dim
}
