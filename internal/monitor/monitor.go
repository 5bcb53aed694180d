package monitor

import (
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/rules"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/evictions"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/dissect/track/targets"
	"github.com/lshark/lshark/internal/monitor/metrics"
	"github.com/lshark/lshark/internal/monitor/otlp"
	"github.com/lshark/lshark/internal/monitor/otlp/export"
	"github.com/lshark/lshark/internal/monitor/spans"
	"github.com/lshark/lshark/internal/trouble"
	"github.com/lshark/lshark/render/filter"
)

// restartInterval is how long rules of a live capture remember.
const restartInterval = time.Hour

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

	Release string

	Captured func() diagnose.Capture // returns what is known of the capture; nil: nothing
	Health   func() Health           // returns what is known about the process and its outputs; nil: nothing
}

// Outputs are what gets selected RPCs, or frames. Those that are nil get none.
type Outputs struct {
	Recorder *Recorder
	Spans    *export.Exporter
	Troubles *trouble.Recorder
}

// Settings are what can change while the capture goes on.
type Settings struct {
	Selection // of RPCs for Recorder and Spans
	Rotation  Rotation
	Troubles  struct {
		Severity diagnose.Severity // of findings, at least
		Filter   *filter.RPCFilter // of RPCs, nil: for none
	}
}

// Monitor counts what happens in a capture, and passes selected RPCs on. One goroutine
// calls its methods; the registry and what Health returns may be read by others.
type Monitor struct {
	*diagnose.Engine // takes losses and events of TCP and InfiniBand itself
	Outputs

	opt         Options
	registry    *metrics.Registry
	counter     counter
	at          status
	settings    Settings
	selector    selector
	troubleRPCs selector // by the filter of troubles
	frames      frameCounts
	first       int64 // time of the first frame
	now         time.Time
	restarted   diagnose.Capture // what was known when the rules were restarted
	restartedAt time.Time
	diagnosed   diagnose.Capture // what is known of the capture when rules end
	changed     bool             // connections have changed since they were counted
	counted     time.Time        // when connections were counted last
	linked      time.Time        // when the findings that are kept were counted last
}

// New returns a Monitor whose metrics are in a new registry.
func New(o Options, start time.Time) *Monitor {
	if o.Captured == nil {
		o.Captured = func() (none diagnose.Capture) { return none }
	}
	if o.Health == nil {
		o.Health = func() (none Health) { return none }
	}
	m := &Monitor{opt: o, registry: metrics.New(start), now: start, restartedAt: start}
	m.counter = counter{families: declare(m.registry, o.Top), opt: &m.opt}
	m.Engine = diagnose.New(diagnose.Options{Rules: rules.All(), Follow: o.Follow, OnlyLogs: o.OnlyLogs, Counted: m.finding,
		Capture: func() diagnose.Capture { return m.diagnosed },
		Hooks: []diagnose.Hooks{{Sent: m.sent, Answered: m.answered, Done: m.done, Message: m.message, Eviction: m.eviction,
			Import: func(*track.Import, track.Point) { m.changed = true }}}})
	m.registry.OnCollect(m.collect)
	m.count(m.create)
	return m
}

// create makes the series that shall be there from the beginning: so that the first event
// is seen as a change.
func (m *Monitor) create() {
	m.collect()
	m.counter.evictions.With("", evictions.Unknown.String())
	for _, r := range rules.All() {
		m.counter.findings.With(r.Code, r.Severity.String())
	}
}

// Registry returns the metrics.
func (m *Monitor) Registry() *metrics.Registry { return m.registry }

// Set changes the settings, from the next RPC that ends on.
func (m *Monitor) Set(s Settings) {
	m.settings = s
	m.selector.Selection, m.troubleRPCs.Filter = s.Selection, s.Troubles.Filter
	if m.Recorder != nil {
		m.Recorder.Set(s.Rotation)
	}
	if m.Troubles != nil {
		m.Troubles.Set(trouble.Retention{KeepTime: s.Rotation.KeepTime, KeepSize: s.Rotation.KeepSize})
	}
}

// TargetNames returns the targets of connections, as targets.AppendConnections has them.
func (m *Monitor) TargetNames() []byte {
	return targets.AppendConnections([]byte(targets.CommentTitle), m.Engine.Imports().List())
}

// Frame takes a frame, before its messages.
func (m *Monitor) Frame(f *capture.Frame) {
	if m.Troubles != nil {
		m.Troubles.Frame(f)
	}
	m.read(f.Time)
	m.frames.n++
	m.frames.bytes += int64(f.Len)
}

// read notes the time of a frame, or of a line of a log.
func (m *Monitor) read(at int64) {
	if m.first == 0 {
		m.first = at
	}
	m.frames.last = at
}

// Line takes a line of a log without a capture.
func (m *Monitor) Line(l *track.LogLine) {
	m.read(l.Time)
	if !m.opt.Live {
		m.setTime(time.Unix(0, l.Time))
	}
	m.count(func() { m.at.logLines++ })
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

// count runs a func that counts something.
func (m *Monitor) count(f func()) {
	m.registry.Begin(m.now)
	f()
	m.registry.End()
}

func (m *Monitor) sent(r *track.RPC, _ *dissect.Message) { m.count(func() { m.counter.sent(r) }) }

func (m *Monitor) answered(r *track.RPC, _ *dissect.Message) {
	m.count(func() { m.counter.endInFlight(r) })
}

func (m *Monitor) message(r *track.RPC, d *dissect.Message) {
	if r != nil {
		m.selector.mark(r, d, m.first)
		m.troubleRPCs.mark(r, d, m.first)
	}
}

func (m *Monitor) done(r *track.RPC) {
	m.count(func() {
		m.counter.endInFlight(r)
		m.counter.done(r)
	})
	if f := m.settings.Troubles.Filter; f != nil && f.Match(r) {
		m.Troubles.RPC(r)
	}
	if m.Recorder == nil && m.Spans == nil {
		return
	}
	if !m.selector.match(r) {
		m.count(func() { m.at.notSelected++ })
		return
	}
	if m.Recorder != nil {
		m.Recorder.Add(r, m.now)
	}
	if m.Spans != nil && !m.selector.IsAll() {
		side := otlp.Client
		if m.opt.Side(r) == ServerSide {
			side = otlp.Server
		}
		if span, ok := spans.Of(r, side, m.frames.last); ok {
			m.Spans.Span(&span)
		}
	}
}

func (m *Monitor) eviction(v *evictions.Eviction) {
	m.count(func() { m.counter.evictions.With(v.Target, v.Cause.String()).Inc() })
}

func (m *Monitor) finding(f *diagnose.Finding) {
	m.count(func() { m.counter.findings.With(f.Rule.Code, f.Severity.String()).Inc() })
	if m.Troubles != nil && f.Severity >= m.settings.Troubles.Severity {
		m.Troubles.Finding(f)
	}
}

// Outage notes that the interface went away, or is back.
func (m *Monitor) Outage(away bool) {
	m.count(func() {
		m.at.away = away
		if away {
			m.at.outages++
		}
	})
}

// How often gauges are set that take long: of connections, when they have changed, and of
// findings, in a live capture.
const (
	connectionsInterval = time.Second
	findingsInterval    = 10 * time.Second
)

// Publish brings the metrics about the capture up to date. idle: no frame has arrived for a while.
// now is the time of the metrics: of a live capture that of the day, else that of the last frame.
func (m *Monitor) Publish(now time.Time, idle bool) {
	m.setTime(now)
	c := m.opt.Captured()
	m.registry.Begin(m.now)
	m.at.Capture, m.at.frames, m.at.delay = c, m.frames, 0
	if !idle {
		m.at.delay = max(0, now.Sub(time.Unix(0, m.frames.last)))
	}
	m.at.rpcs, m.at.connections, m.at.locks, m.at.findings = m.Engine.Waiting(), len(m.Engine.Imports().List()), m.Engine.Locks().Len(), m.Engine.Count()
	m.registry.End()
	if m.changed && now.Sub(m.counted) >= connectionsInterval {
		m.countConnections(now)
	}
	if m.opt.Live && now.Sub(m.linked) >= findingsInterval {
		m.countCurrent(now)
	}
	if m.Recorder != nil {
		m.Recorder.Flush(m.now)
	}
	if m.Troubles != nil && idle {
		m.Troubles.Advance(m.now.UnixNano())
	}
	if m.opt.Live && m.first != 0 && now.Sub(m.restartedAt) >= restartInterval {
		m.restart(now, c)
	}
}

func (m *Monitor) countConnections(now time.Time) {
	m.changed, m.counted = false, now
	m.count(func() {
		m.counter.connections.Reset()
		for _, i := range m.Engine.Imports().List() {
			m.counter.connections.With(i.Kind(), i.State.String()).Inc()
		}
	})
}

// countCurrent counts the findings that are kept by what they follow from.
func (m *Monitor) countCurrent(now time.Time) {
	m.linked = now
	m.count(func() {
		m.at.notKept = m.Engine.Dropped()
		m.counter.current.Reset()
		for _, f := range m.Engine.Findings() {
			cause := ""
			if f.Cause != nil {
				cause = f.Cause.Rule.Code
			}
			m.counter.current.With(f.Rule.Code, cause).Inc()
		}
	})
}

// restart restarts the rules, because what they remember grows with the time.
func (m *Monitor) restart(now time.Time, c diagnose.Capture) {
	since := m.sinceRestart(c)
	m.diagnosed = diagnose.Capture{Stats: since.Stats, Dropped: since.Dropped, InterfaceDropped: since.InterfaceDropped,
		Files: 1, FirstFrame: c.FirstFrame}
	if m.Troubles != nil {
		m.Troubles.Restart(m.Engine.Restart)
	} else {
		m.Engine.Restart()
	}
	m.restarted, m.restartedAt = c, now
}

// sinceRestart returns what is known of the capture, with the counts since the rules were restarted.
func (m *Monitor) sinceRestart(c diagnose.Capture) diagnose.Capture {
	c.Stats = c.Stats.Since(&m.restarted.Stats)
	c.Dropped -= m.restarted.Dropped
	c.InterfaceDropped -= m.restarted.InterfaceDropped
	return c
}

// Close ends the capture. now is as with Publish; the last frame may be one that Frame did not get.
func (m *Monitor) Close(now time.Time) {
	m.Publish(now, true)
	m.diagnosed = m.sinceRestart(m.at.Capture)
	m.Engine.Close()
	m.countConnections(now)
	m.countCurrent(now)
}
