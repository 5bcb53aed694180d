package monitor

import (
	"runtime"
	"time"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
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

// status is what the metrics show that are not counted as they happen. The mutex of the
// registry guards it.
type status struct {
	diagnose.Capture
	frames      frameCounts
	delay       time.Duration // between the last frame and its processing
	outages     int64
	away        bool // the interface
	logLines    int64
	notSelected int64
	notKept     int64 // findings
	tracked     [len(trackedKinds)]int
	Health
}

type frameCounts struct {
	n, bytes int64
	last     int64 // time of the last frame
}

// trackedKinds are what lshark_tracked_entries counts.
var trackedKinds = [...]string{"rpcs", "connections", "locks", "tcp_connections", "findings"}

// collected is a family that is brought up to date when metrics are read.
type collected struct {
	metrics.Desc
	set func(*Monitor, *metrics.Family)
}

// total is a counter without labels.
func total(name, help string, value func(*Monitor) int64) collected {
	return collected{metrics.Desc{Type: metrics.CounterType, Name: name, Help: help},
		func(m *Monitor, f *metrics.Family) { f.With().Set(float64(value(m))) }}
}

// level is a gauge without labels.
func level[N int | int64 | uint64 | float64](name, help string, value func(*Monitor) N) collected {
	return collected{metrics.Desc{Type: metrics.GaugeType, Name: name, Help: help},
		func(m *Monitor, f *metrics.Family) { f.With().Set(float64(value(m))) }}
}

// labeled is a family that set sets.
func labeled(t metrics.Type, name, help string, set func(*Monitor, *metrics.Family), labels ...metrics.Label) collected {
	return collected{metrics.Desc{Type: t, Name: name, Help: help, Labels: labels}, set}
}

// anomalies are what TCP did with segments.
var anomalies = []struct {
	kind  string
	count func(m *lnet.TCPAnomalies) int64
}{
	{"retransmission", func(m *lnet.TCPAnomalies) int64 { return m.Retransmissions }},
	{"fast", func(m *lnet.TCPAnomalies) int64 { return m.Fast }},
	{"spurious", func(m *lnet.TCPAnomalies) int64 { return m.Spurious }},
	{"out_of_order", func(m *lnet.TCPAnomalies) int64 { return m.OutOfOrder }},
	{"zero_window", func(m *lnet.TCPAnomalies) int64 { return m.ZeroWindows }},
}

func aboutCapture() []collected {
	var kinds []string
	for _, k := range anomalies {
		kinds = append(kinds, k.kind)
	}
	return []collected{
		total("lshark_findings_dropped", "findings that were dropped because there were too many to keep",
			func(m *Monitor) int64 { return m.at.notKept }),
		total("lshark_capture_frames", "frames that were read", func(m *Monitor) int64 { return m.at.frames.n }),
		total("lshark_capture_bytes", "size of these frames on the wire", func(m *Monitor) int64 { return m.at.frames.bytes }),
		total("lshark_capture_dropped_frames", "frames that the kernel dropped because they came faster than they were read",
			func(m *Monitor) int64 { return m.at.Dropped }),
		total("lshark_capture_interface_dropped_frames", "frames that the interfaces dropped before the kernel saw them",
			func(m *Monitor) int64 { return m.at.InterfaceDropped }),
		total("lshark_capture_gaps", "gaps in streams that were given up", func(m *Monitor) int64 { return m.at.TCP.Gaps + m.at.IB.Gaps }),
		total("lshark_capture_lost_bytes", "size of these gaps over TCP", func(m *Monitor) int64 { return m.at.TCP.LostBytes }),
		total("lshark_capture_cut_bytes", "bytes of streams that were not captured because of the snaplen",
			func(m *Monitor) int64 { return m.at.TCP.CutBytes + m.at.IB.CutBytes }),
		total("lshark_capture_resyncs", "searches for the next message in a stream", func(m *Monitor) int64 { return m.at.TCP.Resyncs }),
		total("lshark_capture_skipped_bytes", "bytes in these searches in which no message was found",
			func(m *Monitor) int64 { return m.at.TCP.SkippedBytes }),
		total("lshark_capture_streams_not_lnet", "streams in which no message was found", func(m *Monitor) int64 { return m.at.TCP.NotLNet }),
		total("lshark_capture_truncated_messages", "messages that were truncated by the limit of memory",
			func(m *Monitor) int64 { return m.at.Unaffordable }),
		total("lshark_messages", "LNet messages", func(m *Monitor) int64 { return m.at.Messages }),
		total("lshark_tcp_segments", "TCP segments on LNet ports", func(m *Monitor) int64 { return m.at.TCP.Segments }),
		labeled(metrics.CounterType, "lshark_tcp_anomalies", "TCP segments that are retransmitted, out of order or announce a zero window",
			func(m *Monitor, f *metrics.Family) {
				for _, k := range anomalies {
					f.With(k.kind).Set(float64(k.count(&m.at.TCP.Marks)))
				}
			}, oneOf("kind", kinds...)),
		total("lshark_infiniband_packets", "InfiniBand and RoCE packets", func(m *Monitor) int64 { return m.at.IB.Packets }),
		total("lshark_infiniband_retransmits", "InfiniBand packets that were retransmitted", func(m *Monitor) int64 { return m.at.IB.Retransmits }),
		total("lshark_infiniband_naks", "negative acknowledgements of InfiniBand", func(m *Monitor) int64 { return m.at.IB.Naks }),
		total("lshark_interface_outages", "how often the interface went away", func(m *Monitor) int64 { return m.at.outages }),
		total("lshark_log_lines", "lines of logs about connections, requests, networks, disks and nodes", func(m *Monitor) int64 { return m.at.logLines }),
		labeled(metrics.GaugeType, "lshark_capture_delay_seconds", "time between the kernel's time stamp of a frame and its processing, "+
			"measured five times a second", func(m *Monitor, f *metrics.Family) {
			if m.opt.Live && m.at.frames.last != 0 {
				f.With().Set(m.at.delay.Seconds())
			}
		}),
		labeled(metrics.GaugeType, "lshark_last_frame_timestamp_seconds", "time of the last frame", func(m *Monitor, f *metrics.Family) {
			if last := m.at.frames.last; last != 0 {
				f.With().Set(float64(last) / 1e9)
			}
		}),
		labeled(metrics.GaugeType, "lshark_interface_up", "1 while the interface can be captured, else 0", func(m *Monitor, f *metrics.Family) {
			if m.opt.Live {
				f.With().Set(oneIf(!m.at.away))
			}
		}),
		level("lshark_state_held_bytes", "bytes of frames that are held until streams are complete", func(m *Monitor) int { return m.at.Held }),
		labeled(metrics.GaugeType, "lshark_tracked_entries", "RPCs in progress, connections, locks and findings in memory, by kind",
			func(m *Monitor, f *metrics.Family) {
				for i, n := range m.at.tracked {
					f.With(trackedKinds[i]).Set(float64(n))
				}
			}, oneOf("kind", trackedKinds[:]...)),
	}
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func unixSeconds(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }

// aboutOutputs are about the RPCs that are written and sent.
func aboutOutputs() []collected {
	newest := labeled(metrics.GaugeType, "lshark_trouble_timestamp_seconds", "when a folder was completed, of the newest ones",
		func(m *Monitor, f *metrics.Family) {
			f.Reset()
			for _, x := range m.at.Troubles.Newest {
				f.With(x.Code, x.Name).Set(unixSeconds(x.Completed))
			}
		}, label("code"), label("folder"))
	newest.MaxSeries = 64
	results := func(s func(*Monitor) *otlp.SignalStats) func(*Monitor, *metrics.Family) {
		return func(m *Monitor, f *metrics.Family) {
			f.With("sent").Set(float64(s(m).Sent))
			f.With("refused").Set(float64(s(m).Refused))
			f.With("dropped").Set(float64(s(m).Dropped))
		}
	}
	const success, failure = "success", "failure"
	signal, result := oneOf("signal", "spans", "points"), oneOf("result", "sent", "refused", "dropped")
	return []collected{
		labeled(metrics.CounterType, "lshark_rpcs_not_selected", "RPCs that were neither written nor sent as spans, because neither -Y nor "+
			"--sample selects them", func(m *Monitor, f *metrics.Family) {
			if n := m.at.notSelected; n > 0 {
				f.With().Set(float64(n))
			}
		}),
		total("lshark_records_written", "RPCs in complete files", func(m *Monitor) int64 { return m.at.Recorder.Written }),
		total("lshark_records_files", "complete files", func(m *Monitor) int64 { return m.at.Recorder.Files }),
		labeled(metrics.CounterType, "lshark_records_dropped", "selected RPCs that were dropped instead of written: the queue was full, or "+
			"writing failed", func(m *Monitor, f *metrics.Family) {
			f.With("queue").Set(float64(m.at.Recorder.LostInQueue))
			f.With("disk").Set(float64(m.at.Recorder.LostOnDisk))
		}, oneOf("reason", "queue", "disk")),
		total("lshark_records_pruned_files", "files that were removed by age or total size", func(m *Monitor) int64 { return m.at.Recorder.Pruned }),
		level("lshark_records_disk_bytes", "size of the complete files", func(m *Monitor) int64 { return m.at.Recorder.DiskBytes }),
		labeled(metrics.CounterType, "lshark_troubles", "folders with the frames around a trouble, by the code of the finding, or rpc",
			func(m *Monitor, f *metrics.Family) {
				for code, n := range m.at.Troubles.Folders {
					f.With(code).Set(float64(n))
				}
			}, oneOf("code", append(ruleCodes(), trouble.RPCCode)...)),
		labeled(metrics.CounterType, "lshark_troubles_skipped", "findings and troubles without a folder of their own: there is one already, "+
			"the frames were not in memory any more, too many at a time, or writing failed", func(m *Monitor, f *metrics.Family) {
			for _, reason := range trouble.SkipReasons() {
				f.With(reason).Set(float64(m.at.Troubles.Skipped[reason]))
			}
		}, oneOf("reason", trouble.SkipReasons()...)),
		total("lshark_trouble_bytes", "size of the folders that were written", func(m *Monitor) int64 { return m.at.Troubles.Bytes }),
		total("lshark_troubles_pruned", "folders that were removed by age or total size", func(m *Monitor) int64 { return m.at.Troubles.Pruned }),
		level("lshark_trouble_disk_bytes", "size of the folders that are there", func(m *Monitor) int64 { return m.at.Troubles.DiskBytes }),
		level("lshark_trouble_memory_bytes", "memory that holds the last frames", func(m *Monitor) int64 { return m.at.Troubles.MemoryBytes }),
		newest,
		labeled(metrics.CounterType, "lshark_otlp_spans", "spans by what became of them",
			results(func(m *Monitor) *otlp.SignalStats { return &m.at.OTLP.Spans }), result),
		labeled(metrics.CounterType, "lshark_otlp_points", "data points of metrics by what became of them; dropped ones were replaced by newer ones",
			results(func(m *Monitor) *otlp.SignalStats { return &m.at.OTLP.Points }), result),
		labeled(metrics.CounterType, "lshark_otlp_requests", "requests to the OTLP receiver", func(m *Monitor, f *metrics.Family) {
			for name, s := range m.signals() {
				f.With(name, success).Set(float64(s.Requests - s.Failures))
				f.With(name, failure).Set(float64(s.Failures))
			}
		}, signal, oneOf("result", success, failure)),
		labeled(metrics.GaugeType, "lshark_otlp_waiting", "spans and data points that wait to be sent", func(m *Monitor, f *metrics.Family) {
			for name, s := range m.signals() {
				f.With(name).Set(float64(s.Waiting))
			}
		}, signal),
	}
}

func (m *Monitor) signals() map[string]*otlp.SignalStats {
	return map[string]*otlp.SignalStats{"spans": &m.at.OTLP.Spans, "points": &m.at.OTLP.Points}
}

// aboutProcess are about the process, of a live capture only.
func aboutProcess() []collected {
	var labels []string
	for _, r := range rankings {
		labels = append(labels, r.name)
	}
	const success, failure = "success", "failure"
	return []collected{
		labeled(metrics.CounterType, "lshark_config_reloads", "reloads of the settings", func(m *Monitor, f *metrics.Family) {
			f.With(success).Set(float64(m.at.Reload.Succeeded))
			f.With(failure).Set(float64(m.at.Reload.Failed))
		}, oneOf("result", success, failure)),
		level("lshark_config_last_reload_successful", "1 when the settings were valid the last time they were read, else 0",
			func(m *Monitor) float64 { return oneIf(!m.at.Reload.LastFailed) }),
		level("lshark_config_last_reload_success_timestamp_seconds", "when valid settings were last read",
			func(m *Monitor) float64 { return unixSeconds(m.at.Reload.LastSuccess) }),
		level("lshark_series", "series of all metrics now; a histogram counts once", func(m *Monitor) int { return m.registry.Series() }),
		level("lshark_series_limit", "largest possible number of series", func(m *Monitor) int { return m.registry.MaxSeries() }),
		labeled(metrics.CounterType, "lshark_top_promotions", "values that became one of the top N", func(m *Monitor, f *metrics.Family) {
			for i, r := range rankings {
				f.With(r.name).Set(float64(m.counter.ranked[i].top.Promotions()))
			}
		}, oneOf("label", labels...)),
		labeled(metrics.GaugeType, "lshark_build_info", "release of lshark and of Go; the value is 1", func(m *Monitor, f *metrics.Family) {
			f.With(m.opt.Release, runtime.Version()).Set(1)
		}, label("version"), label("goversion")),
		level("process_start_time_seconds", "when the process was started", func(m *Monitor) float64 { return unixSeconds(m.at.Process.Started) }),
		labeled(metrics.FloatCounterType, "process_cpu_seconds", "CPU time of the process",
			func(m *Monitor, f *metrics.Family) { f.With().Set(m.at.Process.CPU) }),
		level("process_resident_memory_bytes", "resident memory of the process", func(m *Monitor) int64 { return m.at.Process.Memory }),
		level("go_memstats_heap_inuse_bytes", "memory in use by Go's heap: objects, and unused memory reserved for objects",
			func(*Monitor) uint64 {
				// It stops the goroutines for some microseconds; package runtime/metrics would add a
				// tenth of a millisecond to the start of every command.
				var mem runtime.MemStats
				runtime.ReadMemStats(&mem)
				return mem.HeapInuse
			}),
		level("process_open_fds", "open files of the process", func(m *Monitor) int { return m.at.Process.Files }),
		level("go_goroutines", "goroutines of the process", func(*Monitor) int { return runtime.NumGoroutine() }),
	}
}

// OnCollect lets read return what is known about the process and its outputs, whenever the
// metrics are read.
func (m *Monitor) OnCollect(read func() Health) { m.readHealth = read }

func (m *Monitor) collect() {
	if m.readHealth != nil {
		m.at.Health = m.readHealth()
	}
	for i, c := range m.collected {
		c.set(m, m.families[i])
	}
}
