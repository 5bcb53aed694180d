package diagnose

import (
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/evictions"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/dissect/track/paths"
	"github.com/lshark/lshark/dissect/track/recovery"
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

	// Counted is called with each finding when it is reported for the first time, and again
	// when it has become more severe: for those who count findings. nil: it is not called.
	Counted func(*Finding)
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
	numbers    map[string]int // of findings so far, by code
	first, now int64
	nextTick   int64
	rpcs       int64
	dropped    int64 // findings that were too many to keep, before Restart
	ending     bool
}

// operationHooks are the hooks that get the RPCs of an operation.
type operationHooks struct {
	sent, answered []func(*track.RPC, *dissect.Message)
	done           []func(*track.RPC)
}

// New makes an Engine and starts the rules.
func New(o Options) *Engine {
	e := &Engine{opt: o, imports: track.NewImports(), paths: paths.New(), numbers: make(map[string]int)}
	e.locks = locks.New(e.imports, o.Locks, e.lock)
	e.evictions = evictions.New(afterLocks(o.Locks), e.eviction)
	e.recoveries = recovery.New(e.imports, o.Locks, e.recovery)
	e.imports.OnChange(e.importChanged)
	e.locks.Granted = func(l *locks.Lock) {
		for i := range e.hooks {
			if granted := e.hooks[i].LockGranted; granted != nil {
				granted(l)
			}
		}
	}
	rpcs := o.RPCs
	rpcs.Sent, rpcs.Answered, rpcs.Done = e.sent, e.answered, e.done
	e.pairing = track.NewPairing(rpcs)
	e.startRules()
	return e
}

// startRules starts the rules, and makes the lists of hooks.
func (e *Engine) startRules() {
	e.hooks = slices.Clone(e.opt.Hooks)
	e.reporters, e.message, e.order = nil, nil, nil
	e.any, e.operations = operationHooks{}, make(map[uint32]*operationHooks)
	for _, rule := range e.opt.Rules {
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
		h := &e.hooks[i]
		for _, opc := range h.Opcodes {
			e.operations[opc].add(h)
		}
		if h.Opcodes == nil {
			e.any.add(h)
			for _, o := range e.operations {
				o.add(h)
			}
		}
	}
}

// Restart ends the rules as at the end of a capture, of which c is known, and starts
// them again without what they have found and remembered. Connections, RPCs and locks are followed
// further. A capture that does not end is diagnosed in parts by this, with a bound on
// the number of findings in each part.
func (e *Engine) Restart(c Capture) {
	e.capture = c
	e.endRules(e.hooks[len(e.opt.Hooks):])
	e.ending = false
	e.dropped = e.Dropped()
	e.startRules()
	e.first = 0
}

// endRules calls the End hooks, and passes on the findings that have changed.
func (e *Engine) endRules(hooks []Hooks) {
	e.ending = true
	for i := range hooks {
		if end := hooks[i].End; end != nil {
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

// afterLocks returns the linger of evictions for one of locks: an eviction waits for
// its locks.
func afterLocks(linger int64) int64 {
	if linger == 0 {
		return 0
	}
	return linger + tickInterval
}

// add adds the hooks of a rule.
func (o *operationHooks) add(h *Hooks) {
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
	e.endRules(e.hooks)
}

// Findings returns the findings: those that follow from no other first, the worst first,
// each with what follows from it behind it; what the capture lacks and other background
// comes last.
func (e *Engine) Findings() []*Finding {
	link(e.order)
	return inOrder(e.order)
}

// Imports returns the connections.
func (e *Engine) Imports() []*track.Import { return e.imports.List() }

// State is how much an Engine remembers.
type State struct {
	RPCs        int // that have not ended
	Connections int
	Locks       int // that wait or are held
	Findings    int
}

// State returns how much the Engine remembers.
func (e *Engine) State() State {
	return State{e.pairing.Len(), len(e.imports.List()), e.locks.Len(), len(e.order)}
}

// Locks returns the locks that the rules follow.
func (e *Engine) Locks() *locks.Locks { return e.locks }

// RPCs returns the number of RPCs so far.
func (e *Engine) RPCs() int64 { return e.rpcs }

// Dropped returns the number of findings that were too many to keep.
func (e *Engine) Dropped() int64 {
	n := e.dropped
	for _, r := range e.reporters {
		n += r.dropped
	}
	return n
}
