package tables

import (
	"cmp"
	"strconv"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// LocksTable renders locks as a table, one row each, or who kept others waiting.
type LocksTable struct {
	Omitted Omitted

	times
}

// NewLocksTable makes a renderer. first is the time of the capture's first frame.
func NewLocksTable(o render.SummaryOptions, first int64) *LocksTable {
	return &LocksTable{times: times{opt: o, at: render.Moment{First: first}}}
}

// Append appends the table of locks.
func (s *LocksTable) Append(dst []byte, list []*locks.Lock) []byte {
	c := s.opt.Colors
	t := newTable(c, []tableColumn{{title: "asked"}, {title: "client", left: true}, {title: "resource", left: true, whole: true},
		{title: "lock", left: true}, {title: "waited", dimZero: true}, {title: "blocked by", left: true},
		{title: "ended", left: true, rank: useful}, {title: "held", rank: useful},
		{title: "frame", rank: extra}, {title: "bl", dimZero: true, rank: extra}, {title: "target", left: true, rank: extra},
		{title: "server", left: true, rank: extra}, {title: "job", left: true, rank: extra}, {title: "handle", left: true, rank: extra}})
	for _, l := range list {
		t.put(&c.Dim, func(b []byte) []byte { return s.time(b, l.Asked) })
		t.put(&c.NID, func(b []byte) []byte { return s.opt.NIDs.Append(b, l.Client) })
		t.put(&c.FID, func(b []byte) []byte { return orDash(b, l.Desc.AppendResource) })
		t.put(&c.Key, func(b []byte) []byte { return orDash(b, func(b []byte) []byte { return AppendLock(b, l) }) })
		t.put(waitStyle(c, l), func(b []byte) []byte { return appendTime(b, l.Waited) })
		t.put(&c.Bad, func(b []byte) []byte {
			return orDash(b, func(b []byte) []byte { return s.blockers(b, l) })
		})
		t.put(endStyle(c, l), func(b []byte) []byte { return append(b, l.End.How.String()...) })
		t.put(&c.Num, func(b []byte) []byte { return appendTime(b, l.Held) })
		t.put(&c.Dim, func(b []byte) []byte { return appendFrame(b, l.Asked) })
		t.put(&c.Warn, func(b []byte) []byte { return strconv.AppendInt(b, int64(countAsks(l)), 10) })
		t.put(&c.NID, func(b []byte) []byte { return textOrDash(b, cmp.Or(l.Target(), l.TargetIndex())) })
		t.put(&c.NID, func(b []byte) []byte { return s.opt.NIDs.Append(b, l.Server) })
		t.put(&c.Dim, func(b []byte) []byte { return textOrDash(b, l.Job) })
		t.put(&c.Dim, func(b []byte) []byte {
			if l.Handle == 0 {
				return append(b, '-')
			}
			return schema.AppendHex(b, l.Handle)
		})
	}
	dst = t.render(dst, s.opt.Width)
	s.Omitted.add(t)
	return dst
}

// AppendHolders appends the table of those who kept others waiting.
func (s *LocksTable) AppendHolders(dst []byte, list []*locks.Holder) []byte {
	c := s.opt.Colors
	t := newTable(c, []tableColumn{{title: "holder", left: true}, {title: "job", left: true}, {title: "resource", left: true, whole: true}, {title: "type", left: true, rank: useful},
		{title: "waits"}, {title: "time"}, {title: "longest", rank: useful}, {title: "target", left: true, rank: extra}, {title: "server", left: true, rank: extra},
		{title: "waiters", left: true, rank: useful}})
	for _, h := range list {
		t.put(&c.NID, func(b []byte) []byte { return s.opt.NIDs.Append(b, h.Client) })
		t.put(&c.Dim, func(b []byte) []byte { return textOrDash(b, h.Job) })
		t.put(&c.FID, func(b []byte) []byte { return orDash(b, h.Resource.AppendResource) })
		t.put(&c.Dim, func(b []byte) []byte { return textOrDash(b, records.LockType(&h.Resource)) })
		t.put(&c.Num, func(b []byte) []byte { return strconv.AppendInt(b, h.Waits, 10) })
		t.put(&c.Bad, func(b []byte) []byte { return render.AppendLockWait(b, h.Time) })
		t.put(&c.Num, func(b []byte) []byte { return render.AppendLockWait(b, h.Longest) })
		t.put(&c.NID, func(b []byte) []byte { return textOrDash(b, h.Target) })
		t.put(&c.NID, func(b []byte) []byte { return s.opt.NIDs.Append(b, h.Server) })
		t.put(&c.NID, func(b []byte) []byte { return appendNodes(b, h.Waiters, s.opt.NIDs) })
	}
	dst = t.render(dst, s.opt.Width)
	s.Omitted.add(t)
	return dst
}

// blockers appends who kept a lock waiting, each node and job once, the longest
// first.
func (s *LocksTable) blockers(dst []byte, l *locks.Lock) []byte {
	for i := range l.BlockedBy {
		b := &l.BlockedBy[i]
		repeated := false
		for k := range i {
			repeated = repeated || l.BlockedBy[k].Client == b.Client && l.BlockedBy[k].Job == b.Job
		}
		if repeated {
			continue
		}
		if i > 0 {
			dst = append(dst, ' ')
		}
		if dst = s.opt.NIDs.Append(dst, b.Client); b.Job != "" {
			dst = schema.AppendText(append(dst, '/'), []byte(b.Job))
		}
	}
	return dst
}

// AppendLock appends mode, and range or bits.
func AppendLock(dst []byte, l *locks.Lock) []byte {
	mode, ok := l.Mode()
	if !ok {
		return textOrDash(dst, records.LockType(&l.Desc))
	}
	line := schema.PlainLine(dst)
	line.Value(schema.Flag, opcodes.LdlmMode, mode)
	switch l.Desc.Kind {
	case opcodes.FlockLock:
		line.Key("flock")
	case opcodes.ExtentLock, opcodes.InodeLock:
	default:
		line.Key("plain")
	}
	switch {
	case l.Desc.IsGroup():
		line.Key("gid ")
		line.Num(l.Desc.Group)
	case l.Desc.Kind == opcodes.InodeLock:
		line.Key("")
		line.Flags(opcodes.LdlmInodebits, l.Desc.Bits)
	case l.Desc.Kind == opcodes.ExtentLock || l.Desc.Kind == opcodes.FlockLock:
		line.Key("")
		line.Range(l.Desc.Start, l.Desc.End)
	}
	return line.Text
}

// orDash appends what write appends, - when that is nothing.
func orDash(dst []byte, write func([]byte) []byte) []byte {
	n := len(dst)
	if dst = write(dst); len(dst) == n {
		dst = append(dst, '-')
	}
	return dst
}

func textOrDash(dst []byte, text string) []byte {
	if text == "" {
		return append(dst, '-')
	}
	return schema.AppendText(dst, []byte(text))
}

func appendTime(dst []byte, get func() (ns int64, ok bool)) []byte {
	ns, ok := get()
	if !ok {
		return append(dst, '-')
	}
	return render.AppendLockWait(dst, ns)
}

func appendFrame(dst []byte, p track.Point) []byte {
	if p.Frame == 0 {
		return append(dst, '-')
	}
	return render.AppendFrame(dst, p.File, p.Frame)
}

// countAsks returns the number of callbacks that ask the client to give a lock
// back.
func countAsks(l *locks.Lock) (n int) {
	for i := range l.Callbacks {
		if l.Callbacks[i].Asks() {
			n++
		}
	}
	return n
}

func waitStyle(c *render.Colors, l *locks.Lock) *render.Style {
	if l.Blocked || len(l.BlockedBy) > 0 {
		return &c.Warn
	}
	return &c.Num
}

func endStyle(c *render.Colors, l *locks.Lock) *render.Style {
	switch l.End.How {
	case locks.Evicted, locks.Failed, locks.Refused, locks.Unfollowed:
		return &c.Bad
	case locks.Open:
		return &c.Good
	}
	return &c.Dim
}
