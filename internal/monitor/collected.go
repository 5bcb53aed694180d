package monitor

import (
	"runtime"
	"time"

	"github.com/lshark/lshark/dissect/diagnose"
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
	live    bool
	release string

	diagnose.Capture
	Health
	frames                             frameCounts
	delay                              time.Duration // between the last frame and its processing
	outages, logLines                  int64
	away                               bool // the interface
	rpcs, connections, locks, findings int
	notSelected                        int64 // RPCs
	notKept                            int64 // findings
	series, maxSeries                  int
	promotions                         []uint64 // of rankings
}

type frameCounts struct {
	n, bytes int64
	last     int64 // time of the last frame
}

// collected is a family that is brought up to date when metrics are read.
type collected struct {
	metrics.Desc
	set    func(*status, *metrics.Family)
	family *metrics.Family
}

// labeled declares a family, of any labels, whose series set brings up to date.
func labeled(t metrics.Type, name, help string, set func(*status, *metrics.Family), labels ...metrics.Label) collected {
	return collected{Desc: metrics.Desc{Type: t, Name: name, Help: help, Labels: labels}, set: set}
}

// total is a counter without labels.
func total(name, help string, value func(*status) int64) collected {
	return labeled(metrics.CounterType, name, help, func(s *status, f *metrics.Family) { f.With().Set(float64(value(s))) })
}

// level is a gauge without labels.
func level[N int | int64 | uint64 | float64](name, help string, value func(*status) N) collected {
	return labeled(metrics.GaugeType, name, help, func(s *status, f *metrics.Family) { f.With().Set(float64(value(s))) })
}

// part is a value of a label, with its count.
type part struct {
	value string
	count func(*status) int64
}

// parts is a family with one label.
func parts(t metrics.Type, name, help, label string, list ...part) collected {
	var values []string
	for _, p := range list {
		values = append(values, p.value)
	}
	return labeled(t, name, help, func(s *status, f *metrics.Family) {
		for _, p := range list {
			f.With(p.value).Set(float64(p.count(s)))
		}
	}, oneOf(label, values...))
}

func aboutCapture() []collected {
	return []collected{
		total("lshark_findings_dropped", "findings that were dropped because there were too many to keep", func(s *status) int64 { return s.notKept }),
		total("lshark_capture_frames", "frames that were read", func(s *status) int64 { return s.frames.n }),
		total("lshark_capture_bytes", "size of these frames on the wire", func(s *status) int64 { return s.frames.bytes }),
		total("lshark_capture_dropped_frames", "frames that the kernel dropped because they came faster than they were read",
			func(s *status) int64 { return s.Dropped }),
		total("lshark_capture_interface_dropped_frames", "frames that the interfaces dropped before the kernel saw them",
			func(s *status) int64 { return s.InterfaceDropped }),
		total("lshark_capture_gaps", "gaps in streams that were given up", func(s *status) int64 { return s.TCP.Gaps + s.IB.Gaps }),
		total("lshark_capture_lost_bytes", "size of these gaps over TCP", func(s *status) int64 { return s.TCP.LostBytes }),
		total("lshark_capture_cut_bytes", "bytes of streams that were not captured because of the snaplen",
			func(s *status) int64 { return s.TCP.CutBytes + s.IB.CutBytes }),
		total("lshark_capture_resyncs", "searches for the next message in a stream", func(s *status) int64 { return s.TCP.Resyncs }),
		total("lshark_capture_skipped_bytes", "bytes in these searches in which no message was found", func(s *status) int64 { return s.TCP.SkippedBytes }),
		total("lshark_capture_streams_not_lnet", "streams in which no message was found", func(s *status) int64 { return s.TCP.NotLNet }),
		total("lshark_capture_truncated_messages", "messages that were truncated by the limit of memory", func(s *status) int64 { return s.Unaffordable }),
		total("lshark_messages", "LNet messages", func(s *status) int64 { return s.Messages }),
		total("lshark_tcp_segments", "TCP segments on LNet ports", func(s *status) int64 { return s.TCP.Segments }),
		parts(metrics.CounterType, "lshark_tcp_anomalies", "TCP segments that are retransmitted, out of order or announce a zero window", "kind",
			part{"retransmission", func(s *status) int64 { return s.TCP.Marks.Retransmissions }},
			part{"fast", func(s *status) int64 { return s.TCP.Marks.Fast }},
			part{"spurious", func(s *status) int64 { return s.TCP.Marks.Spurious }},
			part{"out_of_order", func(s *status) int64 { return s.TCP.Marks.OutOfOrder }},
			part{"zero_window", func(s *status) int64 { return s.TCP.Marks.ZeroWindows }}),
		total("lshark_infiniband_packets", "InfiniBand and RoCE packets", func(s *status) int64 { return s.IB.Packets }),
		total("lshark_infiniband_retransmits", "InfiniBand packets that were retransmitted", func(s *status) int64 { return s.IB.Retransmits }),
		total("lshark_infiniband_naks", "negative acknowledgements of InfiniBand", func(s *status) int64 { return s.IB.Naks }),
		total("lshark_interface_outages", "how often the interface went away", func(s *status) int64 { return s.outages }),
		total("lshark_log_lines", "lines of logs about connections, requests, networks, disks and nodes", func(s *status) int64 { return s.logLines }),
		labeled(metrics.GaugeType, "lshark_capture_delay_seconds", "time between the kernel's time stamp of a frame and its processing, "+
			"measured five times a second", func(s *status, f *metrics.Family) {
			if s.live && s.frames.last != 0 {
				f.With().Set(s.delay.Seconds())
			}
		}),
		labeled(metrics.GaugeType, "lshark_last_frame_timestamp_seconds", "time of the last frame", func(s *status, f *metrics.Family) {
			if s.frames.last != 0 {
				f.With().Set(float64(s.frames.last) / 1e9)
			}
		}),
		labeled(metrics.GaugeType, "lshark_interface_up", "1 while the interface can be captured, else 0", func(s *status, f *metrics.Family) {
			if s.live {
				f.With().Set(oneIf(!s.away))
			}
		}),
		level("lshark_state_held_bytes", "bytes of frames that are held until streams are complete", func(s *status) int { return s.Held }),
		parts(metrics.GaugeType, "lshark_tracked_entries", "RPCs in progress, connections, locks and findings in memory, by kind", "kind",
			part{"rpcs", func(s *status) int64 { return int64(s.rpcs) }},
			part{"connections", func(s *status) int64 { return int64(s.connections) }},
			part{"locks", func(s *status) int64 { return int64(s.locks) }},
			part{"tcp_connections", func(s *status) int64 { return int64(s.TCP.Live) }},
			part{"findings", func(s *status) int64 { return int64(s.findings) }}),
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
		func(s *status, f *metrics.Family) {
			f.Reset()
			for _, x := range s.Troubles.Newest {
				f.With(x.Code, x.Name).Set(unixSeconds(x.Completed))
			}
		}, label("code"), label("folder"))
	newest.MaxSeries = 64
	results := func(name, help string, of func(*status) *otlp.SignalStats) collected {
		return parts(metrics.CounterType, name, help, "result",
			part{"sent", func(s *status) int64 { return int64(of(s).Sent) }},
			part{"refused", func(s *status) int64 { return int64(of(s).Refused) }},
			part{"dropped", func(s *status) int64 { return int64(of(s).Dropped) }})
	}
	return []collected{
		labeled(metrics.CounterType, "lshark_rpcs_not_selected", "RPCs that were neither written nor sent as spans, because neither -Y nor "+
			"--sample selects them", func(s *status, f *metrics.Family) {
			if s.notSelected > 0 {
				f.With().Set(float64(s.notSelected))
			}
		}),
		total("lshark_records_written", "RPCs in complete files", func(s *status) int64 { return s.Recorder.Written }),
		total("lshark_records_files", "complete files", func(s *status) int64 { return s.Recorder.Files }),
		parts(metrics.CounterType, "lshark_records_dropped", "selected RPCs that were dropped instead of written: the queue was full, or "+
			"writing failed", "reason",
			part{"queue", func(s *status) int64 { return s.Recorder.LostInQueue }},
			part{"disk", func(s *status) int64 { return s.Recorder.LostOnDisk }}),
		total("lshark_records_pruned_files", "files that were removed by age or total size", func(s *status) int64 { return s.Recorder.Pruned }),
		level("lshark_records_disk_bytes", "size of the complete files", func(s *status) int64 { return s.Recorder.DiskBytes }),
		labeled(metrics.CounterType, "lshark_troubles", "folders with the frames around a trouble, by the code of the finding, or rpc",
			func(s *status, f *metrics.Family) {
				for code, n := range s.Troubles.Folders {
					f.With(code).Set(float64(n))
				}
			}, oneOf("code", append(ruleCodes(), trouble.RPCCode)...)),
		labeled(metrics.CounterType, "lshark_troubles_skipped", "findings and troubles without a folder of their own: there is one already, "+
			"the frames were not in memory any more, too many at a time, or writing failed", func(s *status, f *metrics.Family) {
			for _, reason := range trouble.SkipReasons() {
				f.With(reason).Set(float64(s.Troubles.Skipped[reason]))
			}
		}, oneOf("reason", trouble.SkipReasons()...)),
		total("lshark_trouble_bytes", "size of the folders that were written", func(s *status) int64 { return s.Troubles.Bytes }),
		total("lshark_troubles_pruned", "folders that were removed by age or total size", func(s *status) int64 { return s.Troubles.Pruned }),
		level("lshark_trouble_disk_bytes", "size of the folders that are there", func(s *status) int64 { return s.Troubles.DiskBytes }),
		level("lshark_trouble_memory_bytes", "memory that holds the last frames", func(s *status) int64 { return s.Troubles.MemoryBytes }),
		newest,
		results("lshark_otlp_spans", "spans by what became of them", func(s *status) *otlp.SignalStats { return &s.OTLP.Spans }),
		results("lshark_otlp_points", "data points of metrics by what became of them; dropped ones were replaced by newer ones",
			func(s *status) *otlp.SignalStats { return &s.OTLP.Points }),
		labeled(metrics.CounterType, "lshark_otlp_requests", "requests to the OTLP receiver", func(s *status, f *metrics.Family) {
			for name, x := range map[string]*otlp.SignalStats{"spans": &s.OTLP.Spans, "points": &s.OTLP.Points} {
				f.With(name, success).Set(float64(x.Requests - x.Failures))
				f.With(name, failure).Set(float64(x.Failures))
			}
		}, oneOf("signal", "spans", "points"), oneOf("result", success, failure)),
		parts(metrics.GaugeType, "lshark_otlp_waiting", "spans and data points that wait to be sent", "signal",
			part{"spans", func(s *status) int64 { return int64(s.OTLP.Spans.Waiting) }},
			part{"points", func(s *status) int64 { return int64(s.OTLP.Points.Waiting) }}),
	}
}

// Values of the label result.
const (
	success = "success"
	failure = "failure"
)

// aboutProcess are about the process, of a live capture only.
func aboutProcess() []collected {
	var promotions []part
	for i, r := range rankings {
		promotions = append(promotions, part{r.name, func(s *status) int64 { return int64(s.promotions[i]) }})
	}
	build := labeled(metrics.GaugeType, "lshark_build_info", "release of lshark and of Go; the value is 1", func(s *status, f *metrics.Family) {
		f.With(s.release, runtime.Version()).Set(1)
	}, label("version"), label("goversion"))
	build.MaxSeries = 2
	return []collected{
		parts(metrics.CounterType, "lshark_config_reloads", "reloads of the settings", "result",
			part{success, func(s *status) int64 { return s.Reload.Succeeded }},
			part{failure, func(s *status) int64 { return s.Reload.Failed }}),
		level("lshark_config_last_reload_successful", "1 when the settings were valid the last time they were read, else 0",
			func(s *status) float64 { return oneIf(!s.Reload.LastFailed) }),
		level("lshark_config_last_reload_success_timestamp_seconds", "when valid settings were last read",
			func(s *status) float64 { return unixSeconds(s.Reload.LastSuccess) }),
		level("lshark_series", "series of all metrics now; a histogram counts once", func(s *status) int { return s.series }),
		level("lshark_series_limit", "largest possible number of series", func(s *status) int { return s.maxSeries }),
		parts(metrics.CounterType, "lshark_top_promotions", "values that became one of the top N", "label", promotions...),
		build,
		level("process_start_time_seconds", "when the process was started", func(s *status) float64 { return unixSeconds(s.Process.Started) }),
		labeled(metrics.FloatCounterType, "process_cpu_seconds", "CPU time of the process",
			func(s *status, f *metrics.Family) { f.With().Set(s.Process.CPU) }),
		level("process_resident_memory_bytes", "resident memory of the process", func(s *status) int64 { return s.Process.Memory }),
		level("go_memstats_heap_inuse_bytes", "memory in use by Go's heap: objects, and unused memory reserved for objects",
			func(*status) uint64 {
				// It stops the goroutines for some microseconds; package runtime/metrics would add a
				// tenth of a millisecond to the start of every command.
				var mem runtime.MemStats
				runtime.ReadMemStats(&mem)
				return mem.HeapInuse
			}),
		level("process_open_fds", "open files of the process", func(s *status) int { return s.Process.Files }),
		level("go_goroutines", "goroutines of the process", func(*status) int { return runtime.NumGoroutine() }),
	}
}

// OnCollect lets read return what is known about the process and its outputs, whenever the
// metrics are read.
func (m *Monitor) OnCollect(read func() Health) { m.readHealth = read }

func (m *Monitor) collect() {
	if m.readHealth != nil {
		m.at.Health = m.readHealth()
	}
	m.at.series, m.at.maxSeries, m.at.promotions = m.registry.Series(), m.registry.MaxSeries(), m.at.promotions[:0]
	for _, r := range m.counter.ranked {
		m.at.promotions = append(m.at.promotions, r.top.Promotions())
	}
	for _, c := range m.collected {
		c.set(&m.at, c.family)
	}
}
