// Package follow follows everything in a capture that spans more than one message: RPCs
// and, for those who need them, connections, locks, evictions, recoveries, files and paths.
//
// A Follower gets what a dissector hands out, and calls Hooks. It makes the parts that
// these hooks need, once: who sets the hook Lock has locks followed, and with them the
// connections that they depend on. Imports, Locks, Files, Paths and Nested return a part
// for callers that ask it, and do not wait for a hook.
//
//	f := follow.New(follow.Options{}, follow.Hooks{Lock: func(l *locks.Lock) { … }})
//	d := dissect.New(dissect.Options{Handle: f.Message, TransferUpdate: f.TransferUpdate, Lost: f.Lost, TCPEvent: f.TCPEvent,
//		Active: f.Active(), IBEvent: f.IBEvent})
//	…
//	f.Close()
package follow

import (
	"slices"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/evictions"
	"github.com/lshark/lshark/dissect/track/files"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/dissect/track/logs"
	"github.com/lshark/lshark/dissect/track/nested"
	"github.com/lshark/lshark/dissect/track/paths"
	"github.com/lshark/lshark/dissect/track/recovery"
	"github.com/lshark/lshark/dissect/track/targets"
)

// Options are the settings of a Follower. The zero value is for capture files.
type Options struct {
	Timeout int64 // the longest wait for a reply, see track.Options

	// Live is for captures that are followed as they happen: what has ended is passed on
	// soon, with less time for what comes late.
	Live bool

	// Logs has what the logs of nodes say about RPCs; nil: there are none. Close ends it.
	Logs *logs.Logs

	// Targets finds the targets of connections that were made before the capture began;
	// nil: they are unknown.
	Targets *targets.Evidence

	// LookAhead, if it is set, is called once, at the first request of such a connection. It
	// returns what a look at the messages ahead has found, and the Targets for those behind
	// that, nil where it has seen all.
	LookAhead func() (track.Known, *targets.Evidence)
}

// What is held in a live capture, and for how long.
const (
	LiveLinger   = 200 * time.Millisecond // a complete RPC, for messages that arrive late
	liveLockWait = 5 * time.Second        // an RPC, for its lock to be granted
	liveResend   = 5 * time.Minute        // an RPC that failed because the target was not there, for its request to be sent again
	liveEviction = 5 * time.Second        // an eviction, for the locks that it ended
)

// tickInterval is how often Tick is called, in nanoseconds of capture time.
const tickInterval = int64(time.Minute)

// Follower follows a capture.
type Follower struct {
	hooks   []Hooks
	lists   hookLists // of the parts and the hooks
	pairing *track.Pairing
	linger  int64 // of what has ended, until its RPCs have; 0: the default of each part

	// The parts; nil: not needed.
	logs       *logs.Logs
	targets    *targets.Evidence
	imports    *track.Imports
	locks      *locks.Locks
	evictions  *evictions.Tracker
	recoveries *recovery.Tracker
	files      *files.Files
	paths      *paths.Paths
	nested     *nested.Tracker

	first    int64 // time of the first message
	now      int64
	nextTick int64 // 0: there was no message yet
	rpcs     int64
}

// New returns a Follower that calls hooks.
func New(o Options, hooks ...Hooks) *Follower {
	f := &Follower{targets: o.Targets, logs: o.Logs}
	rpcs := track.Options{Timeout: o.Timeout, Sent: f.sent, Answered: f.answered, Bulk: f.bulk, Done: f.done}
	if o.Live {
		rpcs.Linger, rpcs.LockWait, rpcs.Resend = int64(LiveLinger), int64(liveLockWait), int64(liveResend)
		f.linger = 2 * rpcs.Linger
	}
	if o.LookAhead != nil {
		rpcs.Known = func() (known track.Known) {
			known, f.targets = o.LookAhead()
			return known
		}
	}
	if f.logs != nil {
		f.logs.Unseen, f.logs.Line = f.Unseen, f.Line
	}
	f.pairing = track.NewPairing(rpcs)
	f.SetHooks(hooks)
	return f
}

// Add adds hooks, which are called after those that are there. Hooks that need parts are
// to be added before the first message.
func (f *Follower) Add(h Hooks) { f.SetHooks(append(f.hooks, h)) }

// SetHooks replaces the hooks.
func (f *Follower) SetHooks(hooks []Hooks) {
	f.hooks = hooks
	for i := range hooks {
		h := &hooks[i]
		if h.Import != nil {
			f.Imports()
		}
		if h.Lock != nil || h.LockGranted != nil {
			f.Locks()
		}
		if h.Eviction != nil && f.evictions == nil {
			f.Locks()
			linger := int64(0)
			if f.linger != 0 {
				linger = int64(liveEviction)
			}
			f.evictions = evictions.New(f.Imports(), linger, call(f, func(h *Hooks) func(*evictions.Eviction) { return h.Eviction }))
		}
		if h.Recovery != nil && f.recoveries == nil {
			f.recoveries = recovery.New(f.Imports(), call(f, func(h *Hooks) func(*recovery.Recovery) { return h.Recovery }))
		}
	}
	f.list()
}

// list sets the lists of what is called.
func (f *Follower) list() { f.lists = newHookLists(append(f.parts(), f.hooks...)) }

// parts returns the hooks of the parts, each behind those that it depends on.
func (f *Follower) parts() (list []Hooks) {
	list = append(list, Hooks{Sent: func(r *track.RPC, m *dissect.Message) { // LookAhead may set who looks for targets at any time
		if f.targets != nil {
			f.targets.Sent(r, m)
		}
	}, Answered: func(r *track.RPC, m *dissect.Message) {
		if f.targets != nil {
			f.targets.Answered(r, m)
		}
	}})
	if x := f.logs; x != nil {
		list = append(list, Hooks{Sent: x.Sent, Done: x.Attach, Lost: x.Lost, close: x.Close})
	}
	if x := f.paths; x != nil {
		list = append(list, Hooks{Message: func(_ *track.RPC, m *dissect.Message) { x.Message(m) }, TCPEvent: x.TCPEvent, IBEvent: x.IBEvent})
	}
	if x := f.imports; x != nil {
		list = append(list, Hooks{Sent: x.Sent, Answered: x.Answered, Done: x.Done, Message: x.Message, Lost: x.Lost, TCPEvent: x.TCPEvent,
			Unseen: x.LoggedRPC, close: x.Close})
	}
	if x := f.locks; x != nil {
		list = append(list, Hooks{Sent: x.Sent, Answered: x.Answered, last: x.Done, advance: x.Advance,
			close: func() { x.Advance(f.now); x.Close() }})
	}
	if x := f.evictions; x != nil {
		list = append(list, Hooks{Sent: func(_ *track.RPC, m *dissect.Message) { x.Advance(m.Time) }, Lock: x.Lock, Import: x.ImportChanged,
			advance: x.Advance, close: x.Close})
	}
	if x := f.recoveries; x != nil {
		list = append(list, Hooks{Sent: x.Sent, Answered: x.Answered, Done: x.Done, Message: x.Message, Unseen: x.LoggedRPC, advance: x.Advance,
			close: func() { x.Advance(f.now); x.Close() }})
	}
	if x := f.nested; x != nil {
		list = append(list, Hooks{Sent: x.Sent, Answered: x.Answered, Done: x.Done, last: x.Release})
	}
	if x := f.files; x != nil {
		list = append(list, Hooks{Sent: x.Sent, Answered: x.Answered, Lock: x.Lock, last: x.Done, advance: x.Advance})
	}
	return list
}

// Imports returns the connections.
func (f *Follower) Imports() *track.Imports { return part(f, &f.imports, track.NewImports) }

// Locks returns the locks that have not ended.
func (f *Follower) Locks() *locks.Locks {
	return part(f, &f.locks, func() *locks.Locks {
		t := locks.New(f.Imports(), f.linger, call(f, func(h *Hooks) func(*locks.Lock) { return h.Lock }))
		t.Granted = call(f, func(h *Hooks) func(*locks.Lock) { return h.LockGranted })
		return t
	})
}

// LockLines lets locks have what the logs beside the capture say about them. It is to be called
// before the logs are opened.
func (f *Follower) LockLines() {
	if f.logs != nil {
		f.Locks().ReadLogs()
		f.logs.Locks = f.LockLine
	}
}

// Files returns the files. The waits for their locks count only if locks are followed.
func (f *Follower) Files() *files.Files { return part(f, &f.files, files.New) }

// Paths returns what TCP and InfiniBand did between hosts.
func (f *Follower) Paths() *paths.Paths { return part(f, &f.paths, paths.New) }

// Nested returns the RPCs that servers sent because of others. With it, RPCs have the field
// Nested when they have ended.
func (f *Follower) Nested() *nested.Tracker { return part(f, &f.nested, nested.New) }

// part returns a part, which is made when it is asked for the first time. It panics when messages
// were taken already, which the part would lack.
func part[T any](f *Follower, p **T, make func() *T) *T {
	if *p == nil {
		if f.first != 0 {
			panic("follow: a part is asked for after the first message")
		}
		*p = make()
		f.list()
	}
	return *p
}

// RPCs returns the number of RPCs that have ended, and Waiting that of the others.
func (f *Follower) RPCs() int64  { return f.rpcs }
func (f *Follower) Waiting() int { return f.pairing.Len() }

// First returns the time of the first message, Now that of the last.
func (f *Follower) First() int64 { return f.first }

// Now returns the time of the last message.
func (f *Follower) Now() int64 { return f.now }

// Finish ends the taking of requests, see track.Pairing.
func (f *Follower) Finish() (more bool) { return f.pairing.Finish() }

// Message takes the next message.
func (f *Follower) Message(m *dissect.Message) {
	if f.nextTick == 0 {
		f.begin(m.Time)
	}
	f.now = max(f.now, m.Time)
	r := f.pairing.Message(m)
	for _, message := range f.lists.message {
		message(r, m)
	}
	if f.now >= f.nextTick {
		f.tick()
	}
}

// begin is called with the time of the first message.
func (f *Follower) begin(now int64) {
	f.first, f.nextTick = now, now+tickInterval
	if f.imports != nil {
		f.imports.OnChange(f.importChanged) // behind the parts
	}
}

func (f *Follower) tick() {
	f.nextTick = f.now + tickInterval
	each(f, func(h *Hooks) func(int64) { return h.Tick }, f.now)
}

// call returns a func that calls one of all hooks.
func call[T any](f *Follower, hook func(*Hooks) func(T)) func(T) {
	return func(x T) { each(f, hook, x) }
}

func each[T any](f *Follower, hook func(*Hooks) func(T), x T) {
	for i := range f.lists.all {
		if call := hook(&f.lists.all[i]); call != nil {
			call(x)
		}
	}
}

// TransferUpdate takes what TCP did for a message after it was handed out.
func (f *Follower) TransferUpdate(number int64, t *lnet.Transfer) {
	f.pairing.TransferUpdate(number, t)
	for i := range f.hooks {
		if update := f.hooks[i].TransferUpdate; update != nil {
			update(number, t)
		}
	}
}

// Lost takes a run of bytes that was not captured.
func (f *Follower) Lost(l *lnet.Loss) {
	f.pairing.Lost(l)
	each(f, func(h *Hooks) func(*lnet.Loss) { return h.Lost }, l)
}

// TCPEvent takes a TCP segment that was sent again, came out of order, and so on.
func (f *Follower) TCPEvent(m *lnet.TCPEvent) {
	each(f, func(h *Hooks) func(*lnet.TCPEvent) { return h.TCPEvent }, m)
}

// Active returns the func that takes what connections send, nil if no hook gets it.
func (f *Follower) Active() func(*lnet.Activity) {
	if !slices.ContainsFunc(f.lists.all, func(h Hooks) bool { return h.Active != nil }) {
		return nil
	}
	return call(f, func(h *Hooks) func(*lnet.Activity) { return h.Active })
}

// IBEvent takes a negative acknowledgement of InfiniBand.
func (f *Follower) IBEvent(r *lnet.IBEvent) {
	each(f, func(h *Hooks) func(*lnet.IBEvent) { return h.IBEvent }, r)
}

// Advance sets the time, in nanoseconds since the epoch.
func (f *Follower) Advance(now int64) {
	f.now = max(f.now, now)
	f.concludeTargets()
	f.pairing.Advance(now)
	each(f, func(h *Hooks) func(int64) { return h.advance }, now)
	if f.nextTick != 0 && f.now >= f.nextTick {
		f.tick()
	}
}

// Close ends the capture: all that is followed is passed to the hooks.
func (f *Follower) Close() {
	f.concludeTargets()
	f.pairing.Close()
	for i := range f.lists.all {
		if end := f.lists.all[i].close; end != nil {
			end()
		}
	}
	f.EndHooks(0)
}

// EndHooks calls the End funcs of the hooks from a number on.
func (f *Follower) EndHooks(from int) {
	for i := range f.hooks[from:] {
		if end := f.hooks[from+i].End; end != nil {
			end()
		}
	}
}

func (f *Follower) concludeTargets() {
	if f.targets != nil {
		f.targets.Conclude()
	}
}

func (f *Follower) sent(r *track.RPC, m *dissect.Message) {
	for _, sent := range f.lists.of(r).sent {
		sent(r, m)
	}
}

func (f *Follower) answered(r *track.RPC, m *dissect.Message) {
	for _, answered := range f.lists.of(r).answered {
		answered(r, m)
	}
}

func (f *Follower) bulk(r *track.RPC, m *dissect.Message) {
	if f.files != nil {
		f.files.Bulk(r, m)
	}
}

// Unseen takes an RPC that a log has and the capture has not, or of logs without a capture.
func (f *Follower) Unseen(r *track.RPC) {
	if f.logs == nil {
		f.rpcs++
	}
	each(f, func(h *Hooks) func(*track.RPC) { return h.Unseen }, r)
}

// Line takes a line of a log about a connection, or about an RPC that was given up.
func (f *Follower) Line(l *track.LogLine) {
	f.logged(l)
	switch {
	case f.imports == nil:
	case f.logs == nil:
		if i := f.imports.Logged(l); f.recoveries != nil {
			f.recoveries.Logged(l, i)
		}
	default: // beside a capture: the connection may not be captured
		isElsewhere := f.logs.IsElsewhere(l)
		if isElsewhere {
			f.imports.Logged(l)
		} else {
			f.imports.NoteLine(l)
		}
		if f.recoveries != nil && f.logs.Elsewhere {
			f.recoveries.LoggedBeside(l, isElsewhere)
		}
	}
	if f.imports != nil && f.locks != nil && (f.logs == nil || f.logs.Locks != nil) {
		f.locks.Logged(l)
	}
	each(f, func(h *Hooks) func(*track.LogLine) { return h.Line }, l)
}

// LockLine takes a line of a log about a lock or an RPC, beside a capture after LockLines.
func (f *Follower) LockLine(l *track.LogLine) {
	f.logged(l)
	f.locks.Logged(l)
}

func (f *Follower) logged(l *track.LogLine) {
	if f.nextTick == 0 { // there is no capture
		f.begin(l.Time)
	}
	f.now = max(f.now, l.Time)
}

// done takes an RPC that has ended. Locks and files get it last: until then, hooks can find
// out which of them it is about.
func (f *Follower) done(r *track.RPC) {
	f.rpcs++
	for _, done := range f.lists.of(r).done {
		done(r)
	}
	each(f, func(h *Hooks) func(*track.RPC) { return h.last }, r)
}

func (f *Follower) importChanged(i *track.Import, p track.Point) {
	for k := range f.lists.all {
		if changed := f.lists.all[k].Import; changed != nil {
			changed(i, p)
		}
	}
}
