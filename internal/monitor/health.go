package monitor

import (
	"runtime"
	"time"

	"github.com/lshark/lshark/internal/monitor/metrics"
	"github.com/lshark/lshark/internal/monitor/otlp"
	"github.com/lshark/lshark/internal/trouble"
)

// Health is what is known about the process and its outputs.
type Health struct {
	Recorder RecorderStats
	Troubles trouble.Stats // zero without a flight recorder
	OTLP     otlp.Stats
	Reload   Reloads
	Process  Process
}

// Reloads are the results of reloading settings.
type Reloads struct {
	Succeeded, Failed int64
	LastFailed        bool
	LastSuccess       time.Time
}

// Process is what the system knows about the process.
type Process struct {
	Started time.Time
	CPU     float64 // seconds
	Memory  int64   // resident bytes
	Files   int     // open
}

// health keeps the metrics about lshark itself up to date.
type health struct {
	processFamilies
	before   Health // counters have these values
	promoted [3]uint64
	mem      runtime.MemStats
}

// create makes the series that shall be there from the beginning.
func (h *health) create(release, goVersion string, limit int) {
	h.build.With(release, goVersion).Set(1)
	h.seriesLimit.With().Set(float64(limit))
}

// OnCollect lets read return what is known about the process, whenever the metrics are
// read.
func (m *Monitor) OnCollect(read func() Health) {
	m.registry.OnCollect(func() {
		now := read()
		m.output.collect(&now, &m.health.before)
		if m.opt.Live {
			m.health.collect(&now, &m.counter, m.registry.Series())
		}
		m.health.before = now
	})
}

// add adds to a counter what a count has grown by, and makes the series if it is not there.
func add[N int64 | uint64](f *metrics.Counters, now, before N, labels ...string) {
	f.With(labels...).Add(uint64(max(now, before) - before))
}

func (x *outputFamilies) collect(now, old *Health) {
	add(x.written, now.Recorder.Written, old.Recorder.Written)
	add(x.files, now.Recorder.Files, old.Recorder.Files)
	add(x.lost, now.Recorder.LostInQueue, old.Recorder.LostInQueue, lostInQueue)
	add(x.lost, now.Recorder.LostOnDisk, old.Recorder.LostOnDisk, lostOnDisk)
	add(x.pruned, now.Recorder.Pruned, old.Recorder.Pruned)
	x.diskBytes.With().Set(float64(now.Recorder.DiskBytes))
	x.collectTroubles(&now.Troubles, &old.Troubles)
	signal := func(name string, f *metrics.Counters, s, before *otlp.SignalStats) {
		add(f, s.Sent, before.Sent, sent)
		add(f, s.Refused, before.Refused, refused)
		add(f, s.Dropped, before.Dropped, dropped)
		add(x.requests, s.Requests-s.Failures, before.Requests-before.Failures, name, success)
		add(x.requests, s.Failures, before.Failures, name, failure)
		x.waiting.With(name).Set(float64(s.Waiting))
	}
	signal(signalSpans, x.spans, &now.OTLP.Spans, &old.OTLP.Spans)
	signal(signalPoints, x.points, &now.OTLP.Points, &old.OTLP.Points)
}

func (x *outputFamilies) collectTroubles(now, old *trouble.Stats) {
	for code, n := range now.Folders {
		add(x.troubles, n, old.Folders[code], code)
	}
	for _, reason := range trouble.SkipReasons() {
		add(x.troublesSkipped, now.Skipped[reason], old.Skipped[reason], reason)
	}
	add(x.troubleBytes, now.Bytes, old.Bytes)
	add(x.troublesPruned, now.Pruned, old.Pruned)
	x.troubleDisk.With().Set(float64(now.DiskBytes))
	x.troubleMemory.With().Set(float64(now.MemoryBytes))
	x.troubleNewest.Reset()
	for _, f := range now.Newest {
		x.troubleNewest.With(f.Code, f.Name).Set(unixSeconds(f.Completed))
	}
}

// collect brings the metrics about the process up to date.
func (h *health) collect(now *Health, c *counter, series int) {
	add(h.reloads, now.Reload.Succeeded, h.before.Reload.Succeeded, success)
	add(h.reloads, now.Reload.Failed, h.before.Reload.Failed, failure)
	h.reloadOK.With().Set(1)
	if now.Reload.LastFailed {
		h.reloadOK.With().Set(0)
	}
	h.reloadTime.With().Set(unixSeconds(now.Reload.LastSuccess))
	for i, f := range []*rankedFamilies{&c.clients, &c.jobs, &c.users} {
		n := f.top.Promotions()
		add(h.promotions, n, h.promoted[i], []string{byClient, byJob, byUser}[i])
		h.promoted[i] = n
	}
	// The system measures it against a clock that is adjusted; a change would count
	// as a restart.
	if !h.before.Process.Started.IsZero() {
		now.Process.Started = h.before.Process.Started
	}
	h.started.With().Set(unixSeconds(now.Process.Started))
	h.cpu.With().Add(now.Process.CPU - h.before.Process.CPU)
	h.memory.With().Set(float64(now.Process.Memory))
	h.fds.With().Set(float64(now.Process.Files))
	h.routines.With().Set(float64(runtime.NumGoroutine()))
	// It stops the goroutines for some microseconds; package runtime/metrics would add a
	// tenth of a millisecond to the start of every command.
	runtime.ReadMemStats(&h.mem)
	h.heap.With().Set(float64(h.mem.HeapInuse))
	h.series.With().Set(float64(series))
}

func unixSeconds(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }
