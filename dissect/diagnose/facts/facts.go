// Package facts has what is known of a capture that rules judge by: which RPCs waited long and
// what happened to them meanwhile, what each target served at that time, and what passed between
// hosts. Each fact is found by one piece of code, and has its evidence.
//
//	f := facts.New()
//	e := follow.New(follow.Options{}, f.Hooks())
//	… // messages, then e.Close()
//	for _, w := range f.Waits() {
//		fmt.Println(w.Client, w.Server, w.Length(), f.Usual(w.Target, w.Operation))
//	}
//
// wait.go has the RPCs that waited, served.go what targets did for whom, contact.go what
// passed between two hosts, and unacknowledged.go what one of them did not get. Times are
// nanoseconds since the epoch. All lists have a bound, a constant beside the type.
package facts

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/internal/fifo"
)

// Facts are what is known of a capture so far.
type Facts struct {
	began, now   int64
	waits        []*Wait
	attached     track.Attached[attempts]
	blocked      *fifo.Map[lockRequest, []locks.Blocker]
	kept         *fifo.Map[uint64, *Kept]
	streams      *fifo.Map[streamKey, *Stream]
	lastStream   *Stream
	jobs         map[string]string
	usual        map[Kind]int64
	contacts     *fifo.Map[contactKey, *Contact]
	lastContacts [2]*Contact // mostly the two directions between two hosts
	sources      int         // number of capture points
	callbacks    *fifo.Map[lockService, *Times]
	resent       *fifo.Map[stream, *resentBytes]
	imports      *fifo.Map[importName, *loggedImport]
	requests     *fifo.Map[loggedRequest, *Wait] // that were given up, by the log of their client
	callsUntil   map[int]int64                   // by the number of a log that has all calls of its node
	logs         *fifo.Map[lnet.NID, *Span]      // debug logs of nodes, from the first time to the last
}

// New returns Facts about nothing.
func New() *Facts {
	return &Facts{blocked: fifo.NewMap[lockRequest, []locks.Blocker](maxBlockers), streams: fifo.NewMap[streamKey, *Stream](maxServed),
		jobs: make(map[string]string), callsUntil: make(map[int]int64), usual: make(map[Kind]int64), contacts: fifo.NewMap[contactKey, *Contact](maxContacts),
		callbacks: fifo.NewMap[lockService, *Times](maxContacts), resent: fifo.NewMap[stream, *resentBytes](maxStreams),
		imports: fifo.NewMap[importName, *loggedImport](maxLogged), kept: fifo.NewMap[uint64, *Kept](maxBlockers), requests: fifo.NewMap[loggedRequest, *Wait](maxLogged), logs: fifo.NewMap[lnet.NID, *Span](maxLogged)}
}

// Hooks returns the hooks that fill f.
func (f *Facts) Hooks() follow.Hooks {
	return follow.Hooks{Sent: f.sent, Answered: f.answered, Done: f.done, Lock: func(l *locks.Lock) { f.lock(l, true) }, LockGranted: func(l *locks.Lock) { f.lock(l, false) },
		TCPEvent: f.segment, IBEvent: f.packet, Active: f.active, Unseen: f.logged, Line: f.line, Lost: f.notCaptured,
		Message: func(r *track.RPC, m *dissect.Message) {
			f.now = max(f.now, m.Time)
			f.begin(m.Time)
			f.message(m)
			if r != nil && m.Kind == lnet.EarlyReply {
				f.early(r, m)
			}
		}}
}

// begin takes the time of a message, or of an RPC of a log.
func (f *Facts) begin(at int64) {
	if f.began == 0 || at < f.began {
		f.began = at
	}
}

// Began returns the time of the first message, or RPC of a log; 0 without any.
func (f *Facts) Began() int64 { return f.began }

// Now returns the time of the last message.
func (f *Facts) Now() int64 { return f.now }
