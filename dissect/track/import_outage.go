package track

import (
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/opcodes"
)

// Outage is how a client lost a connection, until it is up again or a connect shows that
// the server has evicted the client.
type Outage struct {
	Lost       Point  // the first sign: a refused request, or the connect itself
	LostBy     uint32 // opcode of the refused request
	HasLostBy  bool
	Served     Point // the last reply by which the server knew the client; the zero Point: none was captured
	Silence    int64 // nanoseconds without a reply before Lost, as far as captured; 0: unknown
	Interval   int64 // usual nanoseconds between pings before, 0: unknown
	Recovering Point // a connect that was accepted into a recovery
	Absent     Point // the last connect that was refused because the target was not there
	Mismatch   Point // the first replay that was refused because an object had changed
	Mismatches int
	Evicted    Point    // the reply to the connect that shows an eviction
	Status     int32    // with which that connect was refused, 0: it was not
	Before     uint32   // instance of the target before, of an eviction; 0: unknown
	Refused    Refusals // until the connection is lost again

	silentSince int64 // time since which nothing has come from the server; 0: something has, or that is unknown
}

// Refusals are the requests that the server refused because it did not know the client
// any more. If the client is evicted, it does not send them again: applications get an error.
type Refusals struct {
	Count     int64 // without pings, cancels and disconnects
	Writes    int64 // of them, writes of data
	First     Point
	FirstCode uint32 // opcode of the first
	Job       string // of the first
}

// Add adds the requests that another server refused.
func (f *Refusals) Add(other *Refusals) {
	if f.Count == 0 || other.Count > 0 && other.First.Time < f.First.Time {
		f.First, f.FirstCode, f.Job = other.First, other.FirstCode, other.Job
	}
	f.Count += other.Count
	f.Writes += other.Writes
}

// Outage returns how the connection was lost the last time; nil: it was not, or is up
// again without an eviction.
func (i *Import) Outage() *Outage { return i.outage }

// lose returns the outage, which begins at p if none goes on. Its silence goes on until a
// request, unless the server has answered since.
func (t *Imports) lose(i *Import, p Point) *Outage {
	if i.outage == nil || !i.outage.Evicted.IsZero() {
		o := &Outage{Lost: p, Served: i.LastServed, Interval: i.PingInterval()}
		if o.silentSince = o.Served.Time; o.Served.IsZero() && !i.FromLog {
			o.silentSince = t.begin
		}
		i.outage = o
		t.stillSilent(i, o, p)
	}
	return i.outage
}

// stillSilent notes that nothing has come from the server by the time of a request.
func (t *Imports) stillSilent(i *Import, o *Outage, p Point) {
	switch {
	case o.silentSince == 0:
	case t.HasLost(i.Connection, Span{o.silentSince, p.Time}):
		o.Silence = 0
	default:
		o.Silence = p.Time - o.silentSince
	}
}

// PingInterval returns the median of the times between the last pings, 0 when there are
// too few.
func (l *ImportLog) PingInterval() int64 {
	const most, fewest = 16, 3
	pings := l.PingLog[max(0, len(l.PingLog)-most):]
	if len(pings) <= fewest {
		return 0
	}
	gaps := make([]int64, 0, most)
	for k := 1; k < len(pings); k++ {
		gaps = append(gaps, pings[k].Time-pings[k-1].Time)
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/2]
}

// followOutage takes a message that has added to the log: the connection is lost, is
// not made again yet, or is up.
func (t *Imports) followOutage(i *Import, p Point) {
	switch {
	case i.EventAt(p, EventEvicted) != nil:
		var status int32
		if e := i.EventAt(p, EventRefused); e != nil {
			status = e.Status
		}
		if status == 0 || !i.denied { // else the client tries on after it was denied the connection
			o := t.lose(i, p)
			o.Evicted, o.Status, o.Before = p, status, i.Asked.Instance
		}
		i.denied = status != 0
		return
	case i.State == StateFull:
		if i.denied = false; i.outage != nil && i.outage.Evicted.IsZero() {
			i.outage = nil
		}
		return
	}
	for k := len(i.Events) - 1; k >= 0 && i.Events[k].Time >= p.Time; k-- {
		e := &i.Events[k]
		switch e.Kind {
		case EventNotConnected:
			o := t.lose(i, p)
			o.LostBy, o.HasLostBy, o.silentSince = e.Opcode, true, 0
			if e.Status == opcodes.ENODEV {
				o.Absent = p
			}
		case EventConnect:
			if e.OpFlags&opcodes.ConnectInitial == 0 {
				t.stillSilent(i, t.lose(i, p), p)
			}
		case EventConnected:
			if e.OpFlags&opcodes.ConnectRecovering != 0 {
				t.lose(i, p).Recovering = p
			}
			if i.outage != nil {
				i.outage.silentSince = 0
			}
		case EventRefused:
			o := t.lose(i, p)
			if o.silentSince = 0; e.Status == opcodes.ENODEV {
				o.Absent = p
			}
		}
	}
}

// refuse takes a reply with an error that a lost connection brings.
func (o *Outage) refuse(r *RPC, m *dissect.Message) {
	over := !o.Evicted.IsZero()
	switch {
	case !r.HasOpcode:
	case r.Status == opcodes.EOVERFLOW:
		if r.Replay() && !over {
			if o.Mismatches++; o.Mismatches == 1 {
				o.Mismatch = PointOf(m)
			}
		}
	case r.Status != opcodes.ENOTCONN, r.Opcode == opcodes.OBD_PING, r.Opcode == opcodes.LDLM_CANCEL, opcodes.IsDisconnect(r.Opcode):
	case !over || r.Requested().Time <= o.Evicted.Time:
		f := &o.Refused
		if f.Count++; f.Count == 1 {
			f.First, f.FirstCode, f.Job = PointOf(m), r.Opcode, string(r.Job())
		}
		if r.Opcode == opcodes.OST_WRITE {
			f.Writes++
		}
	}
}

// uncommitted are the transactions that a server loses when it crashes: those
// whose replies were seen and which are not on disk. Clients replay them.
type uncommitted struct {
	transnos  []uint64 // in the order of the replies
	replaying bool     // what is replayed is compared with them
}

const maxUncommitted = 4096

func (u *uncommitted) add(transno, lastCommitted uint64) {
	if u.replaying {
		return
	}
	if len(u.transnos) == maxUncommitted || len(u.transnos) > 0 && u.transnos[0] <= lastCommitted {
		u.commit(lastCommitted)
	}
	if len(u.transnos) == maxUncommitted {
		u.transnos = append(u.transnos[:0], u.transnos[maxUncommitted/2:]...)
	}
	if transno > lastCommitted {
		u.transnos = append(u.transnos, transno)
	}
}

// commit removes the transactions that are on disk.
func (u *uncommitted) commit(lastCommitted uint64) {
	u.transnos = slices.DeleteFunc(u.transnos, func(t uint64) bool { return t <= lastCommitted })
}

// endReplay notes which requests should have been replayed and were not.
func (i *Import) endReplay(p Point) {
	u := &i.transactions
	if !u.replaying {
		return
	}
	u.commit(i.LastCommitted)
	if n := len(u.transnos); n > 0 {
		i.add(Event{Point: p, Kind: EventNotReplayed, From: slices.Min(u.transnos), To: slices.Max(u.transnos)}).Count = n
	}
	u.transnos, u.replaying = u.transnos[:0], false
}
