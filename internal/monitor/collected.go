package monitor

import (
	"runtime"
	"time"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/internal/monitor/metrics"
	"github.com/lshark/lshark/internal/monitor/otlp/export"
	"github.com/lshark/lshark/internal/trouble"
)

// Health is what is known about the process and its outputs.
type Health struct {
	Recorder RecorderStats
	Troubles trouble.Stats // zero without a flight recorder
	OTLP     export.Stats
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

// status is what the metrics show that are not counted as they happen, apart from Health. The mutex
// of the registry guards it.
type status struct {
	diagnose.Capture
	frames                             frameCounts
	delay                              time.Duration // between the last frame and its processing
	outages, logLines                  int64
	away                               bool // the interface
	rpcs, connections, locks, findings int
	notSelected                        int64 // RPCs
	notKept                            int64 // findings
}

type frameCounts struct {
	n, bytes int64
	last     int64 // time of the last frame
}

// collector sets families that are counted elsewhere. The first time it declares them.
type collector struct{ *metrics.Registry }

func (c collector) family(t metrics.Type, name, help string, labels ...metrics.Label) *metrics.Family {
	return c.Family(metrics.Desc{Type: t, Name: name, Help: help, Labels: labels})
}

// total is a counter without labels.
func (c collector) total(name, help string, value int64) {
	c.family(metrics.CounterType, name, help).With().Set(float64(value))
}

// level is a gauge without labels.
func (c collector) level(name, help string, value float64) {
	c.family(metrics.GaugeType, name, help).With().Set(value)
}

// part is a value of a label, with its count.
type part struct {
	value string
	count int64
}

// parts is a family with one label.
func (c collector) parts(t metrics.Type, name, help, label string, list ...part) {
	var values []string
	for _, p := range list {
		values = append(values, p.value)
	}
	f := c.family(t, name, help, oneOf(label, values...))
	for _, p := range list {
		f.With(p.value).Set(float64(p.count))
	}
}

// aboutCapture sets the families about the capture.
func (c collector) aboutCapture(s *status, live bool) {
	c.total("lshark_findings_dropped", "findings that were dropped because there were too many to keep", s.notKept)
	c.total("lshark_capture_frames", "frames that were read", s.frames.n)
	c.total("lshark_capture_bytes", "size of these frames on the wire", s.frames.bytes)
	c.total("lshark_capture_dropped_frames", "frames that the kernel dropped because they came faster than they were read", s.Dropped)
	c.total("lshark_capture_interface_dropped_frames", "frames that the interfaces dropped before the kernel saw them", s.InterfaceDropped)
	c.total("lshark_capture_gaps", "gaps in streams that were given up", s.TCP.Gaps+s.IB.Gaps)
	c.total("lshark_capture_lost_bytes", "size of these gaps over TCP", s.TCP.LostBytes)
	c.total("lshark_capture_cut_bytes", "bytes of streams that were not captured because of the snaplen", s.TCP.CutBytes+s.IB.CutBytes)
	c.total("lshark_capture_resyncs", "searches for the next message in a stream", s.TCP.Resyncs)
	c.total("lshark_capture_skipped_bytes", "bytes in these searches in which no message was found", s.TCP.SkippedBytes)
	c.total("lshark_capture_streams_not_lnet", "streams in which no message was found", s.TCP.NotLNet)
	c.total("lshark_capture_truncated_messages", "messages that were truncated by the limit of memory", s.Unaffordable)
	c.total("lshark_messages", "LNet messages", s.Messages)
	c.total("lshark_tcp_segments", "TCP segments on LNet ports", s.TCP.Segments)
	c.parts(metrics.CounterType, "lshark_tcp_anomalies", "TCP segments that are retransmitted, out of order or announce a zero window", "kind",
		part{"retransmission", s.TCP.Marks.Retransmissions},
		part{"fast", s.TCP.Marks.Fast},
		part{"spurious", s.TCP.Marks.Spurious},
		part{"out_of_order", s.TCP.Marks.OutOfOrder},
		part{"zero_window", s.TCP.Marks.ZeroWindows})
	c.total("lshark_infiniband_packets", "InfiniBand and RoCE packets", s.IB.Packets)
	c.total("lshark_infiniband_retransmits", "InfiniBand packets that were retransmitted", s.IB.Retransmits)
	c.total("lshark_infiniband_naks", "negative acknowledgements of InfiniBand", s.IB.Naks)
	c.total("lshark_interface_outages", "how often the interface went away", s.outages)
	c.total("lshark_log_lines", "lines of logs about connections, requests, networks, disks and nodes", s.logLines)
	delay := c.family(metrics.GaugeType, "lshark_capture_delay_seconds", "time between the kernel's time stamp of a frame and its processing, "+
		"measured five times a second")
	last := c.family(metrics.GaugeType, "lshark_last_frame_timestamp_seconds", "time of the last frame")
	up := c.family(metrics.GaugeType, "lshark_interface_up", "1 while the interface can be captured, else 0")
	if s.frames.last != 0 {
		last.With().Set(float64(s.frames.last) / 1e9)
	}
	if live && s.frames.last != 0 {
		delay.With().Set(s.delay.Seconds())
	}
	if live {
		up.With().Set(oneIf(!s.away))
	}
	c.level("lshark_state_held_bytes", "bytes of frames that are held until streams are complete", float64(s.Held))
	c.parts(metrics.GaugeType, "lshark_tracked_entries", "RPCs in progress, connections, locks and findings in memory, by kind", "kind",
		part{"rpcs", int64(s.rpcs)},
		part{"connections", int64(s.connections)},
		part{"locks", int64(s.locks)},
		part{"tcp_connections", int64(s.TCP.Live)},
		part{"findings", int64(s.findings)})
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func unixSeconds(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }

// Values of the label result.
const (
	success = "success"
	failure = "failure"
)

// aboutOutputs sets the families about the RPCs that are written and sent.
func (c collector) aboutOutputs(h *Health, notSelected int64) {
	others := c.family(metrics.CounterType, "lshark_rpcs_not_selected", "RPCs that were neither written nor sent as spans, because neither -Y nor "+
		"--sample selects them")
	if notSelected > 0 {
		others.With().Set(float64(notSelected))
	}
	c.total("lshark_records_written", "RPCs in complete files", h.Recorder.Written)
	c.total("lshark_records_files", "complete files", h.Recorder.Files)
	c.parts(metrics.CounterType, "lshark_records_dropped", "selected RPCs that were dropped instead of written: the queue was full, or "+
		"writing failed", "reason", part{"queue", h.Recorder.LostInQueue}, part{"disk", h.Recorder.LostOnDisk})
	c.total("lshark_records_pruned_files", "files that were removed by age or total size", h.Recorder.Pruned)
	c.level("lshark_records_disk_bytes", "size of the complete files", float64(h.Recorder.DiskBytes))
	folders := c.family(metrics.CounterType, "lshark_troubles", "folders with the frames around a trouble, by the code of the finding, or rpc",
		oneOf("code", append(ruleCodes(), trouble.RPCCode)...))
	for code, n := range h.Troubles.Folders {
		folders.With(code).Set(float64(n))
	}
	var skipped []part
	for _, reason := range trouble.SkipReasons() {
		skipped = append(skipped, part{reason, h.Troubles.Skipped[reason]})
	}
	c.parts(metrics.CounterType, "lshark_troubles_skipped", "findings and troubles without a folder of their own: there is one already, "+
		"the frames were not in memory any more, too many at a time, or writing failed", "reason", skipped...)
	c.total("lshark_trouble_bytes", "size of the folders that were written", h.Troubles.Bytes)
	c.total("lshark_troubles_pruned", "folders that were removed by age or total size", h.Troubles.Pruned)
	c.level("lshark_trouble_disk_bytes", "size of the folders that are there", float64(h.Troubles.DiskBytes))
	c.level("lshark_trouble_memory_bytes", "memory that holds the last frames", float64(h.Troubles.MemoryBytes))
	newest := c.Family(metrics.Desc{Type: metrics.GaugeType, Name: "lshark_trouble_timestamp_seconds", MaxSeries: 64,
		Help: "when a folder was completed, of the newest ones", Labels: []metrics.Label{label("code"), label("folder")}})
	newest.Reset()
	for _, x := range h.Troubles.Newest {
		newest.With(x.Code, x.Name).Set(unixSeconds(x.Completed))
	}
	spans, points := &h.OTLP.Spans, &h.OTLP.Points
	results := func(name, help string, x *export.SignalStats) {
		c.parts(metrics.CounterType, name, help, "result",
			part{"sent", int64(x.Sent)}, part{"refused", int64(x.Refused)}, part{"dropped", int64(x.Dropped)})
	}
	results("lshark_otlp_spans", "spans by what became of them", spans)
	results("lshark_otlp_points", "data points of metrics by what became of them; dropped ones were replaced by newer ones", points)
	requests := c.family(metrics.CounterType, "lshark_otlp_requests", "requests to the OTLP receiver",
		oneOf("signal", "spans", "points"), oneOf("result", success, failure))
	for name, x := range map[string]*export.SignalStats{"spans": spans, "points": points} {
		requests.With(name, success).Set(float64(x.Requests - x.Failures))
		requests.With(name, failure).Set(float64(x.Failures))
	}
	c.parts(metrics.GaugeType, "lshark_otlp_waiting", "spans and data points that wait to be sent", "signal",
		part{"spans", int64(spans.Waiting)}, part{"points", int64(points.Waiting)})
}

// aboutProcess sets the families about the process, which only a live capture has.
func (c collector) aboutProcess(h *Health, ranked []rankedFamilies, release string) {
	c.parts(metrics.CounterType, "lshark_config_reloads", "reloads of the settings", "result",
		part{success, h.Reload.Succeeded}, part{failure, h.Reload.Failed})
	c.level("lshark_config_last_reload_successful", "1 when the settings were valid the last time they were read, else 0", oneIf(!h.Reload.LastFailed))
	c.level("lshark_config_last_reload_success_timestamp_seconds", "when valid settings were last read", unixSeconds(h.Reload.LastSuccess))
	c.level("lshark_series", "series of all metrics now; a histogram counts once", float64(c.Series()))
	c.level("lshark_series_limit", "largest possible number of series", float64(c.MaxSeries()))
	var promotions []part
	for i, r := range ranked {
		promotions = append(promotions, part{rankings[i].name, int64(r.top.Promotions())})
	}
	c.parts(metrics.CounterType, "lshark_top_promotions", "values that became one of the top N", "label", promotions...)
	c.Family(metrics.Desc{Type: metrics.GaugeType, Name: "lshark_build_info", MaxSeries: 2, Help: "release of lshark and of Go; the value is 1",
		Labels: []metrics.Label{label("version"), label("goversion")}}).With(release, runtime.Version()).Set(1)
	c.level("process_start_time_seconds", "when the process was started", unixSeconds(h.Process.Started))
	c.family(metrics.FloatCounterType, "process_cpu_seconds", "CPU time of the process").With().Set(h.Process.CPU)
	c.level("process_resident_memory_bytes", "resident memory of the process", float64(h.Process.Memory))
	// It stops the goroutines for some microseconds; package runtime/metrics would add a tenth of a
	// millisecond to the start of every command.
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	c.level("go_memstats_heap_inuse_bytes", "memory in use by Go's heap: objects, and unused memory reserved for objects", float64(mem.HeapInuse))
	c.level("process_open_fds", "open files of the process", float64(h.Process.Files))
	c.level("go_goroutines", "goroutines of the process", float64(runtime.NumGoroutine()))
}

func (m *Monitor) collect() {
	h := m.opt.Health()
	if m.Recorder != nil {
		h.Recorder = m.Recorder.Stats()
	}
	if m.Troubles != nil {
		h.Troubles = m.Troubles.Stats()
	}
	if m.Spans != nil {
		h.OTLP = m.Spans.Stats()
	}
	c := collector{m.registry}
	c.aboutCapture(&m.at, m.opt.Live)
	c.aboutOutputs(&h, m.at.notSelected)
	if m.opt.Live {
		c.aboutProcess(&h, m.counter.ranked, m.opt.Release)
	}
}
