package monitor

import (
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/rules"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/evictions"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/dissect/track/targets"
	"github.com/lshark/lshark/internal/monitor/metrics"
	"github.com/lshark/lshark/internal/monitor/otlp"
	"github.com/lshark/lshark/internal/trouble"
	"github.com/lshark/lshark/render/filter"
)

// restartInterval is how long rules of a live capture remember, in nanoseconds of capture time.
const restartInterval = int64(time.Hour)

// Options are the settings of a Monitor.
type Options struct {
	Live bool
	Top  int // number of clients, jobs and users with series of their own

	Follow follow.Options

	OnlyLogs bool // the input is logs without a capture

	// Side returns the end of an RPC that this machine is: ClientSide, ServerSide or
	// neither, an empty text.
	Side func(*track.RPC) string

	// NewTarget is called in a live capture when a connect names a target for the first time;
	// nil: it is not called.
	NewTarget func()

	Release, GoVersion string
}

// Outputs are what gets the selected RPCs. Those that are nil get none.
type Outputs struct {
	Selection
	Recorder *Recorder
	Spans    *otlp.Exporter
}

// Troubles is the flight recorder, and what it writes folders for.
type Troubles struct {
	*trouble.Recorder                   // nil: none
	Severity          diagnose.Severity // of findings, at least
	Filter            *filter.RPCFilter // of RPCs, nil: for none
}

// CaptureStats are the counters of the capture so far.
type CaptureStats struct {
	lnet.Stats
	Dropped          int64 // frames that the kernel dropped
	InterfaceDropped int64 // frames that the interfaces dropped before
	First            int64 // time of the first frame
	Idle             bool  // no frame has arrived for a while
}

// Monitor counts what happens in a capture, and passes selected RPCs on. One goroutine
// calls its methods; the registry and what Health returns may be read by others.
type Monitor struct {
	*diagnose.Engine // takes losses and events of TCP and InfiniBand itself

	opt             Options
	registry        *metrics.Registry
	counter         counter
	states          stateFamilies
	capture         captureFamilies
	output          outputFamilies
	health          health
	outputs         Outputs
	selector        selector
	troubles        Troubles
	troubleRPCs     selector // by the filter of troubles
	spans           spans
	frames          frameCounts
	first           int64 // time of the first frame
	now             time.Time
	published       CaptureStats // counters have these values
	publishedFrames frameCounts
	rules           ruleState
	diagnosed       diagnose.Capture // what is known of the capture when rules end
	changed         bool             // connections have changed since they were counted
	counted         time.Time        // when connections were counted last
	linked          time.Time        // when the findings that are kept were counted last
	linkInterval    time.Duration    // until they are counted again
}

type ruleState struct {
	restarted CaptureStats // at the last restart
	restartAt int64        // capture time of the next one
	notKept   int64        // findings that were counted as such
}

// mustRestart reports whether the rules are to be restarted at a capture time. When it is more
// than an interval before the last restart, the clock was set back.
func (s *ruleState) mustRestart(now int64) bool {
	return now >= s.restartAt || now < s.restartAt-2*restartInterval
}

type frameCounts struct {
	n, bytes int64
	last     int64 // time of the last frame
}

// New returns a Monitor whose metrics are in a new registry.
func New(o Options, start time.Time) *Monitor {
	m := &Monitor{opt: o, registry: metrics.New(start), now: start}
	d := declarer{m.registry}
	m.counter.rpcFamilies = d.rpcs()
	m.counter.clients = d.ranked(byClient, byClient, "client", o.Top)
	m.counter.jobs = d.ranked(byJob, "jobid", "job", o.Top)
	m.counter.users = d.ranked(byUser, byUser, "user ID", o.Top)
	m.states, m.capture, m.output = d.states(), d.capture(), d.outputs()
	if o.Live {
		m.health.processFamilies = d.process()
	}
	m.counter.newTarget = o.NewTarget
	m.counter.side, m.counter.live, m.counter.evictions = o.Side, o.Live, m.states.evictions
	m.spans = spans{selector: &m.selector, count: &m.counter}
	m.Engine = diagnose.New(diagnose.Options{Rules: rules.All(), Follow: o.Follow, OnlyLogs: o.OnlyLogs, Counted: m.finding,
		Capture: func() diagnose.Capture { return m.diagnosed },
		Hooks: []diagnose.Hooks{{Sent: m.sent, Answered: m.answered, Done: m.done, Message: m.message, Eviction: m.eviction,
			Import: func(*track.Import, track.Point) { m.changed = true }}}})
	m.registry.Begin(start)
	m.create()
	m.registry.End()
	return m
}

// create makes the series that shall be there from the beginning: so that the first event
// is seen as a change.
func (m *Monitor) create() {
	m.capture.publish(&CaptureStats{}, &CaptureStats{}, &frameCounts{}, &frameCounts{})
	m.capture.outages.With()
	m.capture.logLines.With()
	m.states.notKept.With()
	m.states.evictions.With("", evictions.Unknown.String())
	for _, r := range rules.All() {
		m.states.findings.With(r.Code, r.Severity.String())
	}
	if !m.opt.Live {
		return
	}
	m.capture.up.With().Set(1)
	m.health.create(m.opt.Release, m.opt.GoVersion, m.registry.MaxSeries())
}

// Registry returns the metrics.
func (m *Monitor) Registry() *metrics.Registry { return m.registry }

// SetOutputs replaces what gets the selected RPCs.
func (m *Monitor) SetOutputs(o Outputs) {
	m.outputs = o
	m.selector.Selection = o.Selection
}

// SetTroubles sets the flight recorder.
func (m *Monitor) SetTroubles(t Troubles) {
	m.troubles, m.troubleRPCs.Filter = t, t.Filter
}

// TargetNames returns the targets of connections, as targets.AppendConnections has them.
func (m *Monitor) TargetNames() []byte {
	return targets.AppendConnections([]byte(targets.CommentTitle), m.Engine.Imports().List())
}

// Frame takes a frame, before its messages.
func (m *Monitor) Frame(f *capture.Frame) {
	if m.troubles.Recorder != nil {
		m.troubles.Frame(f)
	}
	m.read(f.Time)
	m.frames.n++
	m.frames.bytes += int64(f.Len)
}

// read notes the time of a frame, or of a line of a log.
func (m *Monitor) read(at int64) {
	if m.first == 0 {
		m.first = at
		m.rules.restartAt = at + restartInterval
	}
	m.frames.last = at
}

// Line takes a line of a log without a capture.
func (m *Monitor) Line(l *track.LogLine) {
	m.read(l.Time)
	if !m.opt.Live {
		m.setTime(time.Unix(0, l.Time))
	}
	m.registry.Begin(m.now)
	m.capture.logLines.With().Inc()
	m.registry.End()
	m.Engine.Line(l)
}

// Message takes the next message.
func (m *Monitor) Message(d *dissect.Message) {
	if !m.opt.Live {
		m.setTime(time.Unix(0, d.Time))
	}
	m.Engine.Message(d)
}

// setTime sets the time of metrics. Only in a live capture it goes back: when the clock is
// set back.
func (m *Monitor) setTime(t time.Time) {
	if m.opt.Live || t.After(m.now) {
		m.now = t
	}
}

func (m *Monitor) sent(r *track.RPC, d *dissect.Message) {
	m.registry.Begin(m.now)
	m.counter.sent(r, d)
	m.registry.End()
}

func (m *Monitor) answered(r *track.RPC, d *dissect.Message) {
	m.registry.Begin(m.now)
	m.counter.endInFlight(r)
	m.registry.End()
}

func (m *Monitor) message(r *track.RPC, d *dissect.Message) {
	if r != nil {
		m.selector.mark(r, d, m.first)
		m.troubleRPCs.mark(r, d, m.first)
	}
}

func (m *Monitor) done(r *track.RPC) {
	m.registry.Begin(m.now)
	m.counter.endInFlight(r)
	m.counter.done(r)
	m.registry.End()
	if m.troubles.Filter != nil && m.troubles.Filter.Match(r) {
		m.troubles.RPC(r)
	}
	if m.outputs.Recorder == nil && m.outputs.Spans == nil {
		return
	}
	if !m.selector.match(r) {
		m.registry.Begin(m.now)
		m.output.notSelected.With().Inc()
		m.registry.End()
		return
	}
	if m.outputs.Recorder != nil {
		m.outputs.Recorder.Add(r, m.now)
	}
	if m.outputs.Spans != nil && !m.selector.IsAll() {
		if span, ok := m.spans.of(r, m.frames.last); ok {
			m.outputs.Spans.Span(span)
		}
	}
}

func (m *Monitor) eviction(v *evictions.Eviction) {
	m.registry.Begin(m.now)
	m.states.evictions.With(v.Target, v.Cause.String()).Inc()
	m.registry.End()
}

func (m *Monitor) finding(f *diagnose.Finding) {
	m.registry.Begin(m.now)
	m.states.findings.With(f.Rule.Code, f.Severity.String()).Inc()
	m.registry.End()
	if m.troubles.Recorder != nil && f.Severity >= m.troubles.Severity {
		m.troubles.Finding(f)
	}
}

// Outage notes that the interface went away, or is back.
func (m *Monitor) Outage(away bool) {
	m.registry.Begin(m.now)
	defer m.registry.End()
	if !away {
		m.capture.up.With().Set(1)
		return
	}
	m.capture.up.With().Set(0)
	m.capture.outages.With().Inc()
}

// connectionsInterval is how often connections are counted when they have changed.
const connectionsInterval = time.Second

// Publish brings the metrics about the capture up to date. now is the time of the
// metrics: of a live capture that of the day, else that of the last frame.
func (m *Monitor) Publish(now time.Time, c CaptureStats) {
	m.setTime(now)
	m.registry.Begin(m.now)
	m.capture.publish(&c, &m.published, &m.frames, &m.publishedFrames)
	m.publishState(now, &c)
	m.registry.End()
	if m.changed && now.Sub(m.counted) >= connectionsInterval {
		m.countConnections(now)
	}
	if since := now.Sub(m.linked); m.opt.Live && (since >= m.linkInterval || since < 0) {
		m.countCurrent(now)
	}
	if m.outputs.Recorder != nil {
		m.outputs.Recorder.Flush(m.now)
	}
	if m.troubles.Recorder != nil && c.Idle {
		m.troubles.Advance(m.now.UnixNano())
	}
	if m.opt.Live && m.first != 0 && m.rules.mustRestart(m.frames.last) {
		m.restart(c)
	}
	m.published, m.publishedFrames = c, m.frames
}

func (m *Monitor) publishState(now time.Time, c *CaptureStats) {
	x := &m.capture
	x.held.With().Set(float64(c.Held))
	if last := m.frames.last; last != 0 {
		x.last.With().Set(float64(last) / 1e9)
		switch {
		case m.opt.Live && c.Idle:
			x.delay.With().Set(0)
		case m.opt.Live:
			x.delay.With().Set(max(0, now.Sub(time.Unix(0, last)).Seconds()))
		}
	}
	x.entries.With(stateRPCs).Set(float64(m.Engine.Waiting()))
	x.entries.With(stateConnections).Set(float64(len(m.Engine.Imports().List())))
	x.entries.With(stateLocks).Set(float64(m.Engine.Locks().Len()))
	x.entries.With(stateTCPConnections).Set(float64(c.TCP.Live))
	x.entries.With(stateFindings).Set(float64(m.Engine.Count()))
}

func (m *Monitor) countConnections(now time.Time) {
	m.changed, m.counted = false, now
	m.registry.Begin(m.now)
	defer m.registry.End()
	m.states.connections.Reset()
	for _, i := range m.Engine.Imports().List() {
		m.states.connections.With(i.Kind(), i.State.String()).Add(1)
	}
}

// countCurrent counts the findings that are kept by what they follow from. That may take
// long where there are many, so the time until it is due again depends on that.
func (m *Monitor) countCurrent(now time.Time) {
	const interval, share = time.Second, 50
	begin := time.Now()
	m.registry.Begin(m.now)
	defer m.registry.End()
	m.states.current.Reset()
	for _, f := range m.Engine.Findings() {
		cause := ""
		if f.Cause != nil {
			cause = f.Cause.Rule.Code
		}
		m.states.current.With(f.Rule.Code, cause).Add(1)
	}
	m.linked, m.linkInterval = now, max(interval, share*time.Since(begin))
}

// restart restarts the rules, because what they remember grows with the time.
func (m *Monitor) restart(c CaptureStats) {
	m.rules.restartAt = m.frames.last + restartInterval
	before := &m.rules.restarted
	m.diagnosed = diagnose.Capture{Stats: c.Stats.Since(&before.Stats), Dropped: c.Dropped - before.Dropped,
		InterfaceDropped: c.InterfaceDropped - before.InterfaceDropped, Files: 1, FirstFrame: c.First}
	if m.troubles.Recorder != nil {
		m.troubles.Restart(m.Engine.Restart)
	} else {
		m.Engine.Restart()
	}
	m.rules.restarted = c
	m.countNotKept()
}

// countNotKept counts the findings that were too many to keep.
func (m *Monitor) countNotKept() {
	n := m.Engine.Dropped()
	m.registry.Begin(m.now)
	m.states.notKept.With().Add(uint64(n - m.rules.notKept))
	m.registry.End()
	m.rules.notKept = n
}

// Close ends the capture, of which c is known.
func (m *Monitor) Close(now time.Time, c diagnose.Capture) {
	c.Stats = c.Stats.Since(&m.rules.restarted.Stats)
	c.Dropped -= m.rules.restarted.Dropped
	c.InterfaceDropped -= m.rules.restarted.InterfaceDropped
	m.diagnosed = c
	m.Engine.Close()
	m.countNotKept()
	m.countConnections(now)
	m.countCurrent(now)
}
