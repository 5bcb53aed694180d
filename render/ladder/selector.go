package ladder

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/files"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/dissect/track/nested"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/render"
)

// Selection is what a diagram is about. A message is selected when it matches one of
// its fields; the other messages of its RPC are then drawn, too.
type Selection struct {
	Match func(*dissect.Message) bool // nil: nothing
	Alone bool                        // without the other messages of the RPC

	// MatchRPC selects RPCs when they have ended. Before that, Mark is called for each of
	// their messages. nil: no RPC is selected in this way.
	MatchRPC func(*track.RPC) bool
	Mark     func(*dissect.Message, *track.RPC)

	// XID selects the RPC with an xid, and those nested in it; 0: none. If it requests a lock, these
	// are drawn, too: the callbacks to other clients that it caused, the cancels of their
	// locks, and later RPCs about the lock.
	XID uint64

	// Lock is the handle of a lock, that of the client or of the server; 0: none. What
	// happens to the lock is drawn, as with an xid, and the requests of those who
	// waited for it.
	Lock uint64

	// FID is the FID of a file or an OST object; zero: none. Selected are RPCs that have
	// it in one of their messages, and RPCs about its objects and its locks.
	FID track.FID
}

// Selector adds the messages that a Selection selects to a Diagram. Whether a message is
// selected may be known only when its RPC has ended, or, for callbacks and cancels of locks,
// at the end. Until then its event is held, up to a bound: see Dropped.
type Selector struct {
	what    Selection
	diagram *Diagram
	names   *track.Names
	lines   *render.Summary
	locks   *locks.Locks
	files   *files.Files
	nested  *nested.Tracker // nil: not needed

	patterns [][]byte // of the FID on the wire
	selected []*locks.Lock
	rpcs     track.Attached[openRPC]
	held     int                         // events of RPCs that have not ended and are not selected
	waiting  int                         // events of selected RPCs that have not ended
	ended    *fifo.Map[uint64, endedRPC] // that may yet be selected
	number   uint64                      // of the last RPC that has ended, where RPCs have no numbers
	within   map[uint64]bool             // nested in a selected RPC, and not ended
	recent   *fifo.Map[int64, *Event]    // by the number of the message
	losses   []*Event

	// Dropped is the number of events that were too many to be held. Some of them may
	// have been selected.
	Dropped int
}

// openRPC has the events of an RPC that has not ended. They are drawn when it has.
type openRPC struct {
	events   []*Event
	selected bool
}

// endedRPC has the events of an RPC that has ended. It is selected if it is nested in one that is
// selected, or is about locks that kept a selected one waiting.
type endedRPC struct {
	events []*Event
	locks  []*locks.Lock
	calls  []*nested.Call // nested in it
}

const (
	maxHeld     = 1 << 16 // events
	maxEnded    = 1 << 13 // RPCs
	maxWithin   = 1 << 12 // RPCs
	maxLosses   = 1 << 10
	maxSelected = 1 << 10 // locks
	maxRecent   = 1 << 14
)

// NewSelector makes a Selector of what a follower follows. After that has ended, Close completes the
// diagram.
func NewSelector(d *Diagram, what Selection, f *follow.Follower) *Selector {
	names := track.NewNames()
	s := &Selector{what: what, diagram: d, names: names, lines: render.NewSummary(render.SummaryOptions{Names: names}), locks: f.Locks(), files: f.Files(),
		ended: fifo.NewMap[uint64, endedRPC](maxEnded), within: make(map[uint64]bool), recent: fifo.NewMap[int64, *Event](maxRecent)}
	if what.XID != 0 {
		s.nested = f.Nested()
	}
	f.Add(follow.Hooks{Message: s.message, Done: s.done, TransferUpdate: s.transferUpdate, Lost: s.lost})
	if id := what.FID; id != (track.FID{}) {
		for _, order := range [...]binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			s.patterns = append(s.patterns, id.Append(nil, order))
		}
	}
	return s
}

// message takes the next message and the RPC that it belongs to, nil for none.
func (s *Selector) message(r *track.RPC, m *dissect.Message) {
	if s.names.Message(m); m.Target == "" && r != nil {
		m.Target = r.Target()
	}
	matches := s.matches(m)
	if r == nil || s.what.Alone {
		if matches {
			s.diagram.Add(s.event(m))
			if r != nil {
				s.diagram.AddTargetOf(r)
			}
		}
		return
	}
	if s.what.Mark != nil {
		s.what.Mark(m, r)
	}
	evicted := s.showsEviction(m)
	if s.selectLock(r, matches) || evicted {
		matches = true
	}
	h := s.rpcs.Of(r)
	if matches && !h.selected {
		h.selected = true
		s.held -= len(h.events)
		s.waiting += len(h.events)
		s.diagram.AddTargetOf(r)
	}
	if !h.selected && s.held >= maxHeld {
		s.Dropped++
		return
	}
	e := s.event(m)
	if e.reason = s.waited(e, r); evicted {
		e.reason = "shows that the client was evicted"
	}
	h.events = append(h.events, e)
	if h.selected {
		s.waiting++
	} else {
		s.held++
	}
}

// Len returns how many messages are selected so far.
func (s *Selector) Len() int { return s.diagram.Len() + s.waiting }

// waited returns how long a lock was waited for that a completion callback grants, in words.
func (s *Selector) waited(e *Event, r *track.RPC) string {
	if e.Type != lnet.Request || !r.HasOpcode || r.Opcode != opcodes.LDLM_CP_CALLBACK {
		return ""
	}
	l, _ := s.locks.Subjects(r)
	if l == nil || l.Granted.Time != e.Time {
		return ""
	}
	ns, ok := l.Waited()
	if !ok {
		return ""
	}
	return string(render.AppendLockWait([]byte("waited "), ns))
}

func (s *Selector) matches(m *dissect.Message) bool {
	w := &s.what
	switch {
	case w.Match != nil && w.Match(m), w.XID != 0 && m.RPC.HasXID && m.RPC.XID == w.XID:
		return true
	}
	for _, p := range s.patterns {
		if bytes.Contains(m.Data, p) {
			return true
		}
	}
	return false
}

// selectLock selects the lock of an RPC: one with the handle, or the one that a
// selected RPC asks for. It reports whether the lock has the handle.
func (s *Selector) selectLock(r *track.RPC, selected bool) bool {
	l, canceled := s.locks.Subjects(r)
	has := l != nil && s.hasHandle(l)
	for _, c := range canceled {
		if s.hasHandle(c) {
			s.addLock(c)
			has = true
		}
	}
	if has && s.hasHandle(l) || s.what.XID != 0 && selected && l != nil && r.Opcode == opcodes.LDLM_ENQUEUE {
		s.addLock(l)
	}
	return has
}

// showsEviction reports whether a message is the reply to a connect by which a client
// learned that it was evicted, and with that lost a selected lock.
func (s *Selector) showsEviction(m *dissect.Message) bool {
	if m.Kind != lnet.Reply || !m.RPC.HasOpcode || !opcodes.IsConnect(m.RPC.Opcode) {
		return false
	}
	return slices.ContainsFunc(s.selected, func(l *locks.Lock) bool {
		return l.End.How == locks.Evicted && l.End.Point == track.Point{Frame: m.Frame, File: m.File, Time: m.Time}
	})
}

func (s *Selector) hasHandle(l *locks.Lock) bool {
	h := s.what.Lock
	return h != 0 && l != nil && (l.Handle == h || l.ClientHandle == h)
}

func (s *Selector) addLock(l *locks.Lock) {
	if len(s.selected) < maxSelected && !slices.Contains(s.selected, l) {
		s.selected = append(s.selected, l)
	}
}

func (s *Selector) event(m *dissect.Message) *Event {
	e := NewEvent(s.lines, m)
	fifo.Put(s.recent, m.Number, e)
	return e
}

// done takes an RPC that has ended.
func (s *Selector) done(r *track.RPC) {
	if s.what.Alone {
		return
	}
	h := s.rpcs.Of(r)
	u := endedRPC{events: h.events, locks: s.locksOf(r)}
	s.number++
	number, nestable, selected := s.number, false, h.selected
	*h = openRPC{}
	if selected {
		s.waiting -= len(u.events)
	} else {
		s.held -= len(u.events)
	}
	if s.nested != nil {
		number, u.calls, nestable = s.nested.Number(r), s.nested.Calls(r), s.nested.MayBeNested(r)
	}
	if !selected && (s.within[number] || s.isSelected(r)) {
		selected = true
		s.diagram.AddTargetOf(r)
	}
	switch {
	case selected:
		noteMissing(r, u.events)
		delete(s.within, number)
		s.draw(u)
	case nestable || len(u.locks) > 0:
		if _, old, evicted := fifo.Put(s.ended, number, u); evicted {
			s.decide(old)
		}
	}
}

// draw draws an RPC that has ended, and those nested in it.
func (s *Selector) draw(u endedRPC) {
	s.diagram.Add(u.events...)
	for _, c := range u.calls {
		if c.Link <= nested.ByTime {
			continue
		}
		if e, ok := fifo.Delete(s.ended, c.Number); ok {
			s.draw(e)
		} else if len(s.within) < maxWithin {
			s.within[c.Number] = true
		}
	}
}

// locksOf returns the locks that a callback or cancel is about.
func (s *Selector) locksOf(r *track.RPC) []*locks.Lock {
	l, canceled := s.locks.Subjects(r)
	canceled = slices.Clone(canceled)
	if l != nil && opcodes.IsCallback(r.Opcode) {
		canceled = append(canceled, l)
	}
	return canceled
}

func (s *Selector) isSelected(r *track.RPC) bool {
	if s.what.MatchRPC != nil && s.what.MatchRPC(r) || s.isFile(s.files.Subject(r)) {
		return true
	}
	l, canceled := s.locks.Subjects(r)
	if l != nil && s.what.Lock != 0 && slices.ContainsFunc(s.selected, l.IsBlockedBy) {
		return true
	}
	is := func(l *locks.Lock) bool { return slices.Contains(s.selected, l) || s.isFile(s.files.LockSubject(l)) }
	return l != nil && is(l) || slices.ContainsFunc(canceled, is)
}

// isFile reports whether one of two FIDs is selected.
func (s *Selector) isFile(file, object track.FID) bool {
	fid := s.what.FID
	return fid != track.FID{} && (file == fid || object == fid)
}

// noteMissing notes at the events of an RPC what of it was not captured.
func noteMissing(r *track.RPC, events []*Event) {
	for i := len(events) - 1; i >= 0; i-- {
		e := events[i]
		switch {
		case e.Type == lnet.Request && r.Missing != track.NotMissing:
			e.Marks |= NoReply
			e.reason = missingReasons[r.Missing]
			return
		case e.Type == lnet.Reply && !r.HasRequest:
			e.Marks |= NoRequest
			e.reason = "request not captured"
			return
		}
	}
}

var missingReasons = map[track.Missing]string{
	track.CaptureEnded:   "no reply until the end of the capture",
	track.Unanswered:     "no reply: unanswered",
	track.NotCaptured:    "no reply: not captured",
	track.EncryptedReply: "no reply: it may be encrypted",
}

// decide draws an RPC if one of its locks kept a selected one waiting.
func (s *Selector) decide(u endedRPC) {
	for _, waiter := range s.selected {
		if len(u.events) > 0 && u.events[len(u.events)-1].Time >= waiter.Asked.Time && slices.ContainsFunc(u.locks, waiter.IsBlockedBy) {
			s.draw(u)
			return
		}
	}
}

// transferUpdate takes what the transport did with a message after it was handed out.
func (s *Selector) transferUpdate(number int64, t *lnet.Transfer) {
	if e, ok := fifo.Get(s.recent, number); ok {
		e.TransferUpdate(t)
	}
}

// lost takes bytes that were not captured.
func (s *Selector) lost(l *lnet.Loss) {
	if len(s.losses) < maxLosses {
		s.losses = append(s.losses, lossEvent(l))
	}
}

// Close decides on what is left. The RPCs must have ended before.
func (s *Selector) Close() {
	for _, u := range fifo.All(s.ended) {
		s.decide(u)
	}
	s.diagram.addLosses(s.losses)
}
