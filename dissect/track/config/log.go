package config

import (
	"cmp"
	"maps"
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

// Log is a configuration log of an MGS.
type Log struct {
	MGS      lnet.NID
	Name     string // empty: it was opened before the capture
	ID       opcodes.LogID
	Created  int64          // seconds since the epoch, 0: unknown
	Last     uint32         // index of its last record, as far as it is known
	Status   int32          // of the last try to open it: -ENOENT where there is no such log
	Readers  []lnet.NID     // up to a bound
	Replaced bool           // the MGS has another log of that name now
	Seen     [2]track.Point // the first and the last reply about it
	Missing  []Range        // records that were not captured, at the end

	records   map[uint32]*record
	isPartial bool              // at the end: records were not captured
	header    opcodes.LogHeader // the last one that was read
}

// record is a record of a log.
type record struct {
	text    string // the bytes of the record
	big     bool
	at      track.Point // first seen
	earlier []version   // what it was before, up to maxEarlier
}

// version is what a record was before the MGS changed it.
type version struct {
	text string
	big  bool
	at   track.Point
}

// IsEmpty reports whether the header of a log lists no record.
func (l *Log) IsEmpty() bool { return l.Last == 0 && len(l.header.Bitmap) > 0 }

// isWhole reports whether all records that the header of a log lists were captured.
func (l *Log) isWhole() bool {
	return l.IsEmpty() || l.Last > 0 && len(l.header.Bitmap) > 0 && len(l.findMissing()) == 0
}

// seen notes a reply about a log.
func (l *Log) seen(m *dissect.Message) {
	l.Seen[0] = cmp.Or(l.Seen[0], track.PointOf(m))
	l.Seen[1] = track.PointOf(m)
	if !slices.Contains(l.Readers, m.Req.Client) && len(l.Readers) < maxReaders {
		l.Readers = append(l.Readers, m.Req.Client)
	}
}

// add makes a log; nil when there are too many.
func (t *Tracker) add(l *Log) *Log {
	if len(t.logs) == maxLogs {
		t.Dropped++
		return nil
	}
	l.records = make(map[uint32]*record)
	t.logs = append(t.logs, l)
	return l
}

// open takes the reply to a request that opens a log.
func (t *Tracker) open(r request, m *dissect.Message) {
	mgs := m.Req.Server
	l := t.byName[nameKey{mgs, r.name}]
	if m.RPC.Status < 0 {
		if l == nil && r.name != "" {
			if l = t.add(&Log{MGS: mgs, Name: r.name}); l != nil {
				t.byName[nameKey{mgs, r.name}] = l
			}
		}
		if l != nil {
			l.Status = m.RPC.Status
			l.seen(m)
		}
		return
	}
	id, _, _, ok := opcodes.NamedLog(m.Msg)
	if !ok || id == (opcodes.LogID{}) {
		return
	}
	if r.name == "" {
		l = t.log(mgs, id)
	} else {
		l = t.named(mgs, r.name, id)
	}
	if l != nil {
		l.Status = 0
		l.seen(m)
	}
}

// named returns the log with the name and id of a reply to an open. The log that had the
// name before, with another id, is marked as replaced.
func (t *Tracker) named(mgs lnet.NID, name string, id opcodes.LogID) *Log {
	byName, byID := nameKey{mgs, name}, idKey{mgs, id}
	l := t.byName[byName]
	if l != nil && l.ID == (opcodes.LogID{}) { // it did not exist before
		l.ID = id
		t.byID[byID] = l
	}
	if l == nil || l.ID != id {
		if l != nil {
			l.Replaced = true
		}
		if l = t.byID[byID]; l == nil || l.Name != "" {
			if l = t.add(&Log{MGS: mgs, ID: id}); l == nil {
				return nil
			}
		}
		l.Name = name
		t.byName[byName], t.byID[byID] = l, l
	}
	return l
}

// log returns the log with an id, a new one when it was opened before the capture.
func (t *Tracker) log(mgs lnet.NID, id opcodes.LogID) *Log {
	l := t.byID[idKey{mgs, id}]
	if l == nil {
		if l = t.add(&Log{MGS: mgs, ID: id}); l != nil {
			t.byID[idKey{mgs, id}] = l
		}
	}
	return l
}

// header takes the header of a log: which records are in use.
func (t *Tracker) header(id opcodes.LogID, m *dissect.Message) {
	h, ok := opcodes.ReadLogHeader(m.Msg)
	if !ok {
		return
	}
	l := t.log(m.Req.Server, id)
	if l == nil {
		return
	}
	if l.Last > 0 && l.Created != 0 && l.Created != h.Created { // made anew in the same object
		l.Replaced = true
		fresh := t.add(&Log{MGS: l.MGS, Name: l.Name, ID: l.ID})
		if fresh == nil {
			return
		}
		l = fresh
		t.byID[idKey{l.MGS, l.ID}] = l
		if l.Name != "" {
			t.byName[nameKey{l.MGS, l.Name}] = l
		}
	}
	l.seen(m)
	if l.Created = h.Created; h.Last == 0 {
		l.Created = 0 // an empty log has the time at which it was read
	}
	t.Changes++
	used := int(h.Last)/32*4 + 4 // bytes of the bitmap up to the last record
	more := used - len(l.header.Bitmap)
	if used > len(h.Bitmap) || t.bytes+more > maxBytes {
		t.Dropped++
		return
	}
	t.bytes += more
	bitmap := append(l.header.Bitmap[:0], h.Bitmap[:used]...)
	l.header = h
	l.header.Bitmap = bitmap
	l.Last = max(l.Last, h.Last)
}

func (t *Tracker) block(id opcodes.LogID, m *dissect.Message) {
	var l *Log
	opcodes.LogRecords(m.Msg, func(r opcodes.LogRecord) {
		if l == nil {
			if l = t.log(m.Req.Server, id); l == nil {
				return
			}
			l.seen(m)
		}
		t.record(l, r, track.PointOf(m))
	})
}

// record takes a record of a log, which may have been read before.
func (t *Tracker) record(l *Log, r opcodes.LogRecord, at track.Point) {
	old := l.records[r.Index]
	if old == nil {
		if t.records == maxRecords || t.bytes+len(r.Bytes) > maxBytes {
			t.Dropped++
			return
		}
		t.records++
		t.Changes++
		t.bytes += len(r.Bytes)
		l.Last = max(l.Last, r.Index)
		l.records[r.Index] = &record{text: string(r.Bytes), big: r.Big, at: at}
		return
	}
	if old.text == string(r.Bytes) {
		return
	}
	if t.bytes+len(r.Bytes) > maxBytes {
		t.Dropped++
		return
	}
	if t.bytes += len(r.Bytes); len(old.earlier) == maxEarlier {
		t.bytes -= len(old.earlier[0].text)
		old.earlier = slices.Delete(old.earlier, 0, 1)
	}
	t.Changes++
	old.earlier = append(old.earlier, version{old.text, old.big, old.at})
	old.text, old.big, old.at = string(r.Bytes), r.Big, at
}

// State is whether a record of a log counts.
type State uint8

// The states.
const (
	InForce   State = iota // readers of the log apply it
	Skipped                // its section is marked to be skipped
	Cancelled              // the header of the log does not list it any more
	Unproven               // the markers of its section were not captured
)

var stateNames = [...]string{InForce: "in_force", Skipped: "skipped", Cancelled: "cancelled", Unproven: "unproven"}

// String returns the state in a word.
func (s State) String() string { return stateNames[s] }

// Step is a record of a configuration log.
type Step struct {
	opcodes.ConfigStep
	Index   uint32
	State   State
	Section *opcodes.ConfigMarker // that it is in; of a marker: itself; nil: unknown
	At      track.Point           // when this version of it was first seen
	Earlier []Version
}

// Version is what a record was before the MGS changed it.
type Version struct {
	opcodes.ConfigStep
	At track.Point
}

// Steps returns the records of a log in their order.
func (l *Log) Steps() []*Step {
	var steps []*Step
	for _, index := range l.indices() {
		r := l.records[index]
		s, ok := opcodes.ReadConfigStep([]byte(r.text), r.big)
		if !ok {
			continue
		}
		step := &Step{ConfigStep: s, Index: index, At: r.at}
		for _, v := range r.earlier {
			if s, ok := opcodes.ReadConfigStep([]byte(v.text), v.big); ok {
				step.Earlier = append(step.Earlier, Version{s, v.at})
			}
		}
		steps = append(steps, step)
	}
	l.findSections(steps)
	return steps
}

func (l *Log) indices() []uint32 { return slices.Sorted(maps.Keys(l.records)) }

// findSections decides which records are in force, by the markers around them. Each of the
// two markers of a section has the flag that it is skipped, so one of them suffices.
func (l *Log) findSections(steps []*Step) {
	var open *opcodes.ConfigMarker
	for i, s := range steps {
		if i > 0 && !l.isContiguous(steps[i-1].Index, s.Index) {
			open = nil // the end of the section may be among records that were not captured
		}
		switch m := s.Marker; {
		case m != nil && m.IsStart():
			open, s.Section = m, m
		case m != nil:
			open, s.Section = nil, m
		case open != nil:
			s.Section = open
		case i > 0 && steps[i-1].Marker == nil && l.isContiguous(steps[i-1].Index, s.Index):
			s.Section = steps[i-1].Section
		default:
			s.Section = l.nextEnd(steps[i:])
		}
		switch {
		case l.isCancelled(s.Index):
			s.State = Cancelled
		case s.Section == nil:
			s.State = Unproven
		case s.Section.IsSkipped():
			s.State = Skipped
		}
	}
}

// nextEnd returns the marker that ends the section of the first of the steps. It returns
// nil if a gap in the records or another section begins before that marker.
func (l *Log) nextEnd(steps []*Step) *opcodes.ConfigMarker {
	for i, s := range steps {
		if i > 0 && !l.isContiguous(steps[i-1].Index, s.Index) {
			return nil
		}
		if m := s.Marker; m != nil {
			if m.IsEnd() && !m.IsStart() {
				return m
			}
			return nil
		}
	}
	return nil
}

// isContiguous reports whether all records between two records of the configuration were
// captured. These can only be records that fill up a block.
func (l *Log) isContiguous(from, to uint32) bool {
	for i := from + 1; i < to; i++ {
		if l.records[i] == nil {
			return false
		}
	}
	return true
}

// isCancelled reports whether the header of the log does not list a record. Records that
// were added after the header was read are not cancelled.
func (l *Log) isCancelled(index uint32) bool {
	return len(l.header.Bitmap) > 0 && index <= l.header.Last && !l.header.Uses(index)
}

// Range is a range of records.
type Range struct{ First, Last uint32 }

// findMissing returns the records of a log that were not captured, as far as that follows
// from the captured ones and the header.
func (l *Log) findMissing() (list []Range) {
	next := uint32(1)
	for _, index := range append(l.indices(), l.Last+1) {
		if index > next {
			list = l.appendMissing(list, next, index-1)
		}
		next = index + 1
	}
	return list
}

// appendMissing appends the records of a range that are in use, as far as is known.
func (l *Log) appendMissing(list []Range, first, last uint32) []Range {
	begin := len(list)
	for i := first; i <= last && i <= l.header.Last; i++ {
		if l.isCancelled(i) {
			continue
		}
		if n := len(list); n > begin && list[n-1].Last == i-1 {
			list[n-1].Last = i
		} else {
			list = append(list, Range{i, i})
		}
	}
	if last <= l.header.Last {
		return list
	}
	first = max(first, l.header.Last+1)
	if n := len(list); n > begin && list[n-1].Last == first-1 {
		list[n-1].Last = last
		return list
	}
	return append(list, Range{first, last})
}
