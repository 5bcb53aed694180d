package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/track"
	"github.com/lshark/lshark/track/evictions"
	"github.com/lshark/lshark/track/locks"
	"github.com/lshark/lshark/track/paths"
	"github.com/lshark/lshark/track/recovery"
)

// Options are the settings of an Engine.
type Options struct {
	Rules []*Rule
	RPCs  track.Options // without Done; Sent and Answered are called before those of the rules
	Locks int64         // linger of locks, see locks.New
	Data  bool          // messages have bulk data in full, see dissect.Options.Join

	// Hooks are called like those of rules, and before them: for commands that show
	// more than findings of one pass.
	Hooks []Hooks

	// Found is called with each finding when it is reported, and at the end of the
	// capture with those that have changed since. It is nil where Findings is used.
	Found func(*Finding)
}

// Engine passes what happens in a capture to the hooks of rules.
type Engine struct {
	opt        Options
	pairing    *track.Pairing
	imports    *track.Imports
	locks      *locks.Locks
	paths      *paths.Paths
	evictions  *evictions.Tracker
	recoveries *recovery.Tracker
	reporters  []*Reporter
	hooks      []Hooks
	operations map[uint32]*operationHooks
	any        operationHooks // for operations without an entry
	message    []func(*track.RPC, *dissect.Message)
	capture    Capture
	order      []*Finding
	first, now int64
	nextTick   int64
	rpcs       int64
	ending     bool
}

// operationHooks are the hooks that get the RPCs of an operation.
type operationHooks struct {
	sent, answered []func(*track.RPC, *dissect.Message)
	done           []func(*track.RPC)
}

// New makes an Engine and starts the rules.
func New(o Options) *Engine {
	e := &Engine{opt: o, imports: track.NewImports(), paths: paths.New(), operations: make(map[uint32]*operationHooks)}
	e.locks = locks.New(e.imports, o.Locks, e.lock)
	e.evictions = evictions.New(afterLocks(o.Locks), e.eviction)
	e.recoveries = recovery.New(e.imports, o.Locks, e.recovery)
	e.imports.OnChange(e.importChanged)
	e.locks.Granted = e.lockGranted
	rpcs := o.RPCs
	rpcs.Sent, rpcs.Answered, rpcs.Done = e.sent, e.answered, e.done
	e.pairing = track.NewPairing(rpcs)
	e.hooks = slices.Clone(o.Hooks)
	for _, rule := range o.Rules {
		r := &Reporter{engine: e, rule: rule, findings: make(map[Subject]*Finding)}
		e.reporters = append(e.reporters, r)
		e.hooks = append(e.hooks, rule.Start(r))
	}
	for i := range e.hooks {
		for _, opc := range e.hooks[i].Opcodes {
			e.operations[opc] = &operationHooks{}
		}
		if message := e.hooks[i].Message; message != nil {
			e.message = append(e.message, message)
		}
	}
	for i := range e.hooks {
		e.addOperations(&e.hooks[i])
	}
	return e
}

// afterLocks returns the linger of evictions for one of locks: an eviction waits for
// its locks.
func afterLocks(linger int64) int64 {
	if linger == 0 {
		return 0
	}
	return linger + tickInterval
}

// addOperations adds the hooks of a rule to those of its operations.
func (e *Engine) addOperations(h *Hooks) {
	add := func(o *operationHooks) {
		if h.Sent != nil {
			o.sent = append(o.sent, h.Sent)
		}
		if h.Answered != nil {
			o.answered = append(o.answered, h.Answered)
		}
		if h.Done != nil {
			o.done = append(o.done, h.Done)
		}
	}
	if h.Opcodes == nil {
		add(&e.any)
		for _, o := range e.operations {
			add(o)
		}
		return
	}
	for _, opc := range h.Opcodes {
		add(e.operations[opc])
	}
}

// of returns the hooks that get an RPC.
func (e *Engine) of(r *track.RPC) *operationHooks {
	if r.HasOpcode {
		if o, ok := e.operations[r.Opcode]; ok {
			return o
		}
	}
	return &e.any
}

// tickInterval is how often Tick is called, in nanoseconds of capture time.
const tickInterval = int64(60e9)

// Message takes the next message.
func (e *Engine) Message(m *dissect.Message) {
	if e.first == 0 {
		e.first, e.nextTick = m.Time, m.Time+tickInterval
	}
	e.now = max(e.now, m.Time)
	e.paths.Message(m)
	r := e.pairing.Message(m)
	if r != nil {
		e.imports.Message(r, m)
		e.recoveries.Message(r, m)
	}
	for _, message := range e.message {
		message(r, m)
	}
	if e.now >= e.nextTick {
		e.tick()
	}
}

func (e *Engine) tick() {
	e.nextTick = e.now + tickInterval
	e.evictions.Advance(e.now)
	for i := range e.hooks {
		if tick := e.hooks[i].Tick; tick != nil {
			tick(e.now)
		}
	}
}

// Later, Lost, Marked, Refused and Advance have the types of the hooks of a pass over the
// frames.

// Later takes what TCP does with a message after it was handed out.
func (e *Engine) Later(number int64, t *lnet.Transfer) { e.pairing.Later(number, t) }

// Lost takes a run of bytes that was not captured.
func (e *Engine) Lost(l *lnet.Loss) {
	e.pairing.Lost(l)
	e.evictions.Lost(l)
	e.recoveries.Lost(l)
	for i := range e.hooks {
		if lost := e.hooks[i].Lost; lost != nil {
			lost(l)
		}
	}
}

// Marked takes a segment that TCP did something about.
func (e *Engine) Marked(m *lnet.MarkedSegment) {
	e.imports.Marked(m)
	for i := range e.hooks {
		if marked := e.hooks[i].Marked; marked != nil {
			marked(m)
		}
	}
}

// Refused takes a negative acknowledgement of InfiniBand.
func (e *Engine) Refused(r *lnet.RefusedPacket) {
	for i := range e.hooks {
		if refused := e.hooks[i].Refused; refused != nil {
			refused(r)
		}
	}
}

// Advance sets the time, in nanoseconds since the epoch.
func (e *Engine) Advance(now int64) {
	e.now = max(e.now, now)
	e.pairing.Advance(now)
	e.locks.Advance(now)
	e.evictions.Advance(now)
	e.recoveries.Advance(now)
	if e.first != 0 && e.now >= e.nextTick {
		e.tick()
	}
}

func (e *Engine) sent(r *track.RPC, m *dissect.Message) {
	if e.opt.RPCs.Sent != nil {
		e.opt.RPCs.Sent(r, m)
	}
	e.imports.Sent(r, m)
	e.locks.Sent(r, m)
	e.evictions.Sent(m)
	e.recoveries.Sent(r, m)
	for _, sent := range e.of(r).sent {
		sent(r, m)
	}
}

func (e *Engine) answered(r *track.RPC, m *dissect.Message) {
	if e.opt.RPCs.Answered != nil {
		e.opt.RPCs.Answered(r, m)
	}
	e.imports.Answered(r, m)
	e.locks.Answered(r, m)
	e.evictions.Answered(r, m)
	e.recoveries.Answered(r, m)
	for _, answered := range e.of(r).answered {
		answered(r, m)
	}
}

func (e *Engine) done(r *track.RPC) {
	e.rpcs++
	e.imports.Done(r)
	e.locks.Done(r)
	e.recoveries.Done(r)
	for _, done := range e.of(r).done {
		done(r)
	}
}

func (e *Engine) lock(l *locks.Lock) {
	e.evictions.Lock(l)
	for i := range e.hooks {
		if lock := e.hooks[i].Lock; lock != nil {
			lock(l)
		}
	}
}

func (e *Engine) eviction(v *evictions.Eviction) {
	for i := range e.hooks {
		if eviction := e.hooks[i].Eviction; eviction != nil {
			eviction(v)
		}
	}
}

func (e *Engine) recovery(v *recovery.Recovery) {
	for i := range e.hooks {
		if recovery := e.hooks[i].Recovery; recovery != nil {
			recovery(v)
		}
	}
}

func (e *Engine) lockGranted(l *locks.Lock) {
	for i := range e.hooks {
		if granted := e.hooks[i].LockGranted; granted != nil {
			granted(l)
		}
	}
}

func (e *Engine) importChanged(i *track.Import, p track.Point) {
	e.evictions.ImportChanged(i, p)
	for k := range e.hooks {
		if changed := e.hooks[k].Import; changed != nil {
			changed(i, p)
		}
	}
}

// Close ends the capture.
func (e *Engine) Close(c Capture) {
	e.capture = c
	e.pairing.Close()
	e.imports.Close()
	e.locks.Advance(e.now)
	e.locks.Close()
	e.evictions.Close()
	e.recoveries.Advance(e.now)
	e.recoveries.Close()
	e.ending = true
	for i := range e.hooks {
		if end := e.hooks[i].End; end != nil {
			end()
		}
	}
	if e.opt.Found == nil {
		return
	}
	for _, f := range e.Findings() {
		if !f.written {
			e.opt.Found(f)
		}
	}
}

// Findings returns the findings: first what the capture lacks, then the worst
// first, and those that are as bad in the order of their times.
func (e *Engine) Findings() []*Finding {
	list := slices.Clone(e.order)
	slices.SortStableFunc(list, func(a, b *Finding) int {
		return cmp.Or(-compareBool(a.AboutCapture(), b.AboutCapture()), -cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.First, b.First))
	})
	return list
}

// AboutCapture reports whether a finding is about what the capture lacks.
func (f *Finding) AboutCapture() bool { return strings.HasPrefix(f.Rule.Code, "capture.") }

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// Imports returns the connections.
func (e *Engine) Imports() []*track.Import { return e.imports.List() }

// Locks returns the locks that the rules follow.
func (e *Engine) Locks() *locks.Locks { return e.locks }

// RPCs returns the number of RPCs so far.
func (e *Engine) RPCs() int64 { return e.rpcs }

// Dropped returns the number of findings that were too many to keep.
func (e *Engine) Dropped() (n int64) {
	for _, r := range e.reporters {
		n += r.dropped
	}
	return n
}
