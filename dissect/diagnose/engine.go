package diagnose

import (
	"reflect"
	"slices"

	"github.com/lshark/lshark/dissect/track/follow"
)

// Options are the settings of an Engine.
type Options struct {
	Rules  []*Rule
	Follow follow.Options
	Data   bool // messages have bulk data in full, see dissect.Options.Join

	// OnlyLogs: the input is debug logs without a capture, for which not all rules hold.
	OnlyLogs bool

	// Hooks are called before those of rules: for commands that show more than findings
	// of one pass.
	Hooks []Hooks

	// Found is called with each finding when it is reported, and at the end of the
	// capture with those that have changed since. It is nil where Findings is used.
	Found func(*Finding)

	// Counted is called with each finding when it is reported for the first time, and again
	// when it has become more severe: for those who count findings. nil: it is not called.
	Counted func(*Finding)

	// Capture returns what is known about the capture itself. It is called at the end of
	// the capture; nil: nothing is known.
	Capture func() Capture
}

// Engine follows a capture, and passes what happens in it to the hooks of rules.
type Engine struct {
	*follow.Follower
	opt       Options
	reporters []*Reporter
	shared    map[reflect.Type]any // see Shared
	hooks     []Hooks              // of the rules and of what they share
	capture   Capture
	order     []*Finding
	numbers   map[string]int // of findings so far, by code
	restarted int64          // time of the last restart
	dropped   int64          // findings that were too many to keep, before Restart
	ending    bool
}

// New makes an Engine and starts the rules.
func New(o Options) *Engine {
	e := &Engine{opt: o, Follower: follow.New(o.Follow), numbers: make(map[string]int)}
	e.Follower.Locks()
	e.Follower.Paths()
	e.startRules()
	return e
}

func (e *Engine) startRules() {
	e.hooks = append(slices.Clone(e.opt.Hooks), Hooks{End: e.end})
	e.reporters, e.order, e.shared = nil, nil, make(map[reflect.Type]any)
	for _, rule := range e.opt.Rules {
		if e.opt.OnlyLogs && !rule.Logs {
			continue
		}
		r := &Reporter{engine: e, rule: rule, findings: make(map[Subject]*Finding)}
		e.reporters = append(e.reporters, r)
		started := rule.Start(r) // may add hooks of what it shares
		if e.opt.Found == nil && e.opt.Counted == nil {
			started.Tick = nil // nobody hears of a finding before the end, when more is known
		}
		e.hooks = append(e.hooks, started)
	}
	e.SetHooks(e.hooks)
}

// Shared returns the T that rules share. start makes it for the first of them, with the hooks
// that fill it: they are called before those of the rules. It is for the Start func of a rule.
func Shared[T any](r *Reporter, start func(*Reporter) (T, Hooks)) T {
	e, key := r.engine, reflect.TypeFor[T]()
	if x, ok := e.shared[key]; ok {
		return x.(T)
	}
	x, hooks := start(r)
	e.shared[key] = x
	e.hooks = append(e.hooks, hooks)
	return x
}

// end is called before the rules end.
func (e *Engine) end() {
	if e.opt.Capture != nil {
		e.capture = e.opt.Capture()
	}
	e.ending = true
}

// Restart ends the rules as at the end of a capture, and starts them again without what
// they have found and remembered. Connections, RPCs and locks are followed further. A
// capture that does not end is diagnosed in parts by this, with a bound on the number of
// findings in each part.
func (e *Engine) Restart() {
	e.EndHooks(len(e.opt.Hooks))
	e.passOnChanged()
	e.ending = false
	e.dropped = e.Dropped()
	e.startRules()
	e.restarted = e.Now()
}

// Close ends the capture.
func (e *Engine) Close() {
	e.Follower.Close()
	e.passOnChanged()
}

// passOnChanged passes on the findings that have changed since they were passed on.
func (e *Engine) passOnChanged() {
	if e.opt.Found == nil {
		return
	}
	for _, f := range e.Findings() {
		if !f.written {
			e.opt.Found(f)
		}
	}
}

// Findings returns the findings: those that follow from no other first, the worst first,
// each with what follows from it behind it; what the capture lacks and other background
// comes last.
func (e *Engine) Findings() []*Finding {
	link(e.order)
	return inOrder(e.order)
}

// Count returns the number of findings.
func (e *Engine) Count() int { return len(e.order) }

// Dropped returns the number of findings that were too many to keep.
func (e *Engine) Dropped() int64 {
	n := e.dropped
	for _, r := range e.reporters {
		n += r.dropped
	}
	return n
}
