package monitor

import (
	"time"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/rules"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/evictions"
	"github.com/lshark/lshark/internal/monitor/metrics"
	"github.com/lshark/lshark/internal/trouble"
)

// The bounds of the families of metrics, in series.
const (
	maxByTarget = 1500 // families by operation and target, or by target
	maxErrors   = 1000 // families by operation, target and error
	maxTargets  = 1000 // families whose series are there as soon as a target is known, in targets
)

// halfLife is the time after which an RPC counts half in the ranking of clients, jobs and
// users.
const halfLife = 10 * time.Minute

// latencyBounds are the upper bounds of the classic buckets of latencies and waits, in
// seconds.
var latencyBounds = []float64{1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100}

// limitBounds are those of the service times, which are sent in whole seconds.
var limitBounds = []float64{1, 2, 5, 10, 30, 60, 120, 300, 600}

// nativeSchema is the resolution of native buckets: each is 9 % wider than the one before.
const nativeSchema = 3

type declarer struct{ registry *metrics.Registry }

// desc returns the description of a family with at most max series, apart from those for
// all other values.
func (d declarer) desc(name, unit, help string, max int, labels []metrics.Label) metrics.Desc {
	return metrics.Desc{Name: name, Unit: unit, Help: help, MaxSeries: max, Labels: labels}
}

func (d declarer) counter(name, unit, help string, max int, labels ...metrics.Label) *metrics.Counters {
	return d.registry.Counter(d.desc(name, unit, help, max, labels))
}

func (d declarer) seconds(name, help string, max int, labels ...metrics.Label) *metrics.FloatCounters {
	return d.registry.FloatCounter(d.desc(name, "seconds", help, max, labels))
}

func (d declarer) gauge(name, unit, help string, max int, labels ...metrics.Label) *metrics.Gauges {
	return d.registry.Gauge(d.desc(name, unit, help, max, labels))
}

func (d declarer) latency(name, help string, max int, labels ...metrics.Label) *metrics.Histograms {
	return d.registry.Histogram(d.desc(name, "seconds", help, max, labels), metrics.Buckets{Bounds: latencyBounds, Schema: nativeSchema})
}

func label(name string) metrics.Label { return metrics.Label{Name: name} }

func oneOf(name string, values ...string) metrics.Label {
	return metrics.Label{Name: name, Values: values}
}

type rpcFamilies struct {
	count       *metrics.Counters
	missing     *metrics.Counters
	errors      *metrics.Counters
	innerErrors *metrics.Counters
	severe      *metrics.Counters
	latency     *metrics.Histograms
	service     *metrics.Histograms
	bytes       *metrics.Counters
	resends     *metrics.Counters
	retransmits *metrics.Counters
	inFlight    *metrics.Gauges
	lockWait    *metrics.Histograms
}

// The kinds of bytes of an RPC.
const (
	requestBytes = "request"
	replyBytes   = "reply"
	bulkBytes    = "bulk"
)

var severeErrors = []string{"EIO", "EROFS", "ENODEV", "ENXIO", "ESHUTDOWN", "ENOTRECOVERABLE", "EUCLEAN", "ENOMEM", "ENOSPC", "EDQUOT"}

// The ends of an RPC that this machine may be.
const (
	ClientSide = "client"
	ServerSide = "server"
)

func (d declarer) rpcs() rpcFamilies {
	op, target := label("op"), label("target")
	var reasons []string
	for _, m := range track.MissingReasons() {
		reasons = append(reasons, m.String())
	}
	return rpcFamilies{
		count: d.counter("lshark_rpcs", "", "RPCs that have ended", maxByTarget, op, target),
		missing: d.counter("lshark_rpcs_without_reply", "", "RPCs that have ended without a reply that was due, by the reason", maxByTarget, op,
			target, oneOf("reason", reasons...)),
		errors: d.counter("lshark_rpc_errors", "", "replies whose status is an error", maxErrors, op, target, label("error")),
		severe: d.counter("lshark_severe_errors", "", "replies whose status is an error that ordinary work does not bring: of the target, its "+
			"storage or its server, or for want of space", maxTargets*len(severeErrors),
			target, oneOf("error", severeErrors...)),
		innerErrors: d.counter("lshark_rpc_inner_errors", "", "errors that are not in the final status of a reply: of an intent, of a range, "+
			"or from before a resend", maxErrors, op, target, label("error")),
		latency: d.latency("lshark_rpc_latency_seconds", "time from request to reply; side is the end of the RPC that this machine is, error "+
			"is empty without one", maxByTarget,
			oneOf("side", "", ClientSide, ServerSide), op, target, label("error")),
		service: d.registry.Histogram(d.desc("lshark_rpc_service_time_max_seconds", "seconds", "upper bound of the service time that the "+
			"reply reports, in whole seconds", maxByTarget,
			[]metrics.Label{op, target}), metrics.Buckets{Bounds: limitBounds, Schema: 0}),
		bytes: d.counter("lshark_rpc_bytes", "bytes", "size of requests, replies and bulk data", maxByTarget, op, target,
			oneOf("kind", requestBytes, replyBytes, bulkBytes)),
		resends: d.counter("lshark_rpc_resends", "", "requests that were resent", maxByTarget, op, target),
		retransmits: d.counter("lshark_rpc_retransmits", "", "TCP segments and InfiniBand packets of RPCs that were retransmitted", maxByTarget,
			target),
		inFlight: d.gauge("lshark_rpcs_in_flight", "", "RPCs that wait for their reply", maxByTarget, target),
		lockWait: d.latency("lshark_lock_wait_seconds", "time from the request of a lock that had to wait to the end of the wait",
			maxByTarget, target),
	}
}

// rankedFamilies count the RPCs of the top clients, jobs or users.
type rankedFamilies struct {
	top     *metrics.Top
	count   *metrics.Counters
	errors  *metrics.Counters
	bytes   *metrics.Counters
	latency *metrics.FloatCounters
}

func (d declarer) ranked(name, label, what string, n int) rankedFamilies {
	top := d.registry.Top(n, halfLife)
	by := metrics.Label{Name: label, Top: top}
	return rankedFamilies{
		top:    top,
		count:  d.counter("lshark_"+name+"_rpcs", "", "RPCs by "+what, n, by),
		errors: d.counter("lshark_"+name+"_errors", "", "replies with an error, by "+what, n, by),
		bytes: d.counter("lshark_"+name+"_bytes", "bytes", "size of requests, replies and bulk data, by "+what, 4*n, by,
			oneOf("kind", requestBytes, replyBytes, bulkBytes)),
		latency: d.seconds("lshark_"+name+"_latency_seconds", "sum of the latencies of RPCs, by "+what, n, by),
	}
}

// stateFamilies count connections, evictions and findings.
type stateFamilies struct {
	connections *metrics.Gauges
	evictions   *metrics.Counters
	findings    *metrics.Counters
	current     *metrics.Gauges // findings
	notKept     *metrics.Counters
}

func ruleCodes() (codes []string) {
	for _, r := range rules.All() {
		codes = append(codes, r.Code)
	}
	return codes
}

func (d declarer) states() stateFamilies {
	var severities []string
	for _, s := range diagnose.Severities() {
		severities = append(severities, s.String())
	}
	codes := ruleCodes()
	var causes []string
	for _, c := range evictions.Causes() {
		causes = append(causes, c.String())
	}
	return stateFamilies{
		connections: d.gauge("lshark_connections", "", "connections between clients and targets, by their kind and state", 100, label("kind"),
			label("state")),
		evictions: d.counter("lshark_evictions", "", "clients that a target has evicted, by the cause", maxTargets*len(causes),
			label("target"), oneOf("cause", causes...)),
		findings: d.counter("lshark_findings", "", "findings of lshark diagnose; a finding that becomes more severe counts again; in a "+
			"live capture the rules restart every hour, so a persisting problem is counted again each hour", 1, oneOf("code", codes...),
			oneOf("severity", severities...)),
		current: d.gauge("lshark_current_findings", "", "findings that are kept, by code and by that of the finding that each follows from, "+
			"empty where it follows from none; those of a live capture are dropped when the rules restart", 500,
			label("code"), label("cause")),
		notKept: d.counter("lshark_findings_dropped", "", "findings that were dropped because there were too many to keep", 1),
	}
}

type captureFamilies struct {
	counters        []*metrics.Counters // as captureCounters
	anomalies       *metrics.Counters
	outages         *metrics.Counters
	logLines        *metrics.Counters
	delay, last, up *metrics.Gauges
	held, entries   *metrics.Gauges
}

// captureCounters are counters of the capture, and what they have counted so far.
var captureCounters = []struct {
	name, unit, help string
	count            func(c *CaptureStats, f *frameCounts) int64
}{
	{"lshark_capture_frames", "", "frames that were read", func(_ *CaptureStats, f *frameCounts) int64 { return f.n }},
	{"lshark_capture_bytes", "bytes", "size of these frames on the wire", func(_ *CaptureStats, f *frameCounts) int64 { return f.bytes }},
	{"lshark_capture_dropped_frames", "", "frames that the kernel dropped because they came faster than they were read",
		func(c *CaptureStats, _ *frameCounts) int64 { return c.Dropped }},
	{"lshark_capture_interface_dropped_frames", "", "frames that the interfaces dropped before the kernel saw them",
		func(c *CaptureStats, _ *frameCounts) int64 { return c.InterfaceDropped }},
	{"lshark_capture_gaps", "", "gaps in streams that were given up",
		func(c *CaptureStats, _ *frameCounts) int64 { return c.TCP.Gaps + c.IB.Gaps }},
	{"lshark_capture_lost_bytes", "bytes", "size of these gaps over TCP",
		func(c *CaptureStats, _ *frameCounts) int64 { return c.TCP.LostBytes }},
	{"lshark_capture_cut_bytes", "bytes", "bytes of streams that were not captured because of the snaplen",
		func(c *CaptureStats, _ *frameCounts) int64 { return c.TCP.CutBytes + c.IB.CutBytes }},
	{"lshark_capture_resyncs", "", "searches for the next message in a stream",
		func(c *CaptureStats, _ *frameCounts) int64 { return c.TCP.Resyncs }},
	{"lshark_capture_skipped_bytes", "bytes", "bytes in these searches in which no message was found",
		func(c *CaptureStats, _ *frameCounts) int64 { return c.TCP.SkippedBytes }},
	{"lshark_capture_streams_not_lnet", "", "streams in which no message was found",
		func(c *CaptureStats, _ *frameCounts) int64 { return c.TCP.NotLNet }},
	{"lshark_capture_truncated_messages", "", "messages that were truncated by the limit of memory",
		func(c *CaptureStats, _ *frameCounts) int64 { return c.Unaffordable }},
	{"lshark_messages", "", "LNet messages", func(c *CaptureStats, _ *frameCounts) int64 { return c.Messages }},
	{"lshark_tcp_segments", "", "TCP segments on LNet ports", func(c *CaptureStats, _ *frameCounts) int64 { return c.TCP.Segments }},
	{"lshark_infiniband_packets", "", "InfiniBand and RoCE packets", func(c *CaptureStats, _ *frameCounts) int64 { return c.IB.Packets }},
	{"lshark_infiniband_retransmits", "", "InfiniBand packets that were retransmitted",
		func(c *CaptureStats, _ *frameCounts) int64 { return c.IB.Retransmits }},
	{"lshark_infiniband_naks", "", "negative acknowledgements of InfiniBand",
		func(c *CaptureStats, _ *frameCounts) int64 { return c.IB.Naks }},
}

// anomalies are what TCP did with segments, the values of a label.
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

// publish adds what the counts have grown by since the last time, and makes the series that
// are not there yet.
func (x *captureFamilies) publish(c, old *CaptureStats, f, oldFrames *frameCounts) {
	for i, k := range captureCounters {
		x.counters[i].With().Add(uint64(max(0, k.count(c, f)-k.count(old, oldFrames))))
	}
	for _, k := range anomalies {
		x.anomalies.With(k.kind).Add(uint64(max(0, k.count(&c.TCP.Marks)-k.count(&old.TCP.Marks))))
	}
}

// What lshark_tracked_entries counts.
const (
	stateRPCs           = "rpcs"
	stateConnections    = "connections"
	stateLocks          = "locks"
	stateTCPConnections = "tcp_connections"
	stateFindings       = "findings"
)

func (d declarer) capture() (x captureFamilies) {
	var kinds []string
	for _, k := range anomalies {
		kinds = append(kinds, k.kind)
	}
	for _, k := range captureCounters {
		x.counters = append(x.counters, d.counter(k.name, k.unit, k.help, 1))
		if k.name == "lshark_tcp_segments" { // behind them on the page
			x.anomalies = d.counter("lshark_tcp_anomalies", "", "TCP segments that are retransmitted, out of order or announce a zero window", 1,
				oneOf("kind", kinds...))
		}
	}
	x.outages = d.counter("lshark_interface_outages", "", "how often the interface went away", 1)
	x.logLines = d.counter("lshark_log_lines", "", "lines of logs about connections, requests, networks, disks and nodes", 1)
	x.delay = d.gauge("lshark_capture_delay_seconds", "seconds", "time between the kernel's time stamp of a frame and its processing, "+
		"measured five times a second", 1)
	x.last = d.gauge("lshark_last_frame_timestamp_seconds", "seconds", "time of the last frame", 1)
	x.up = d.gauge("lshark_interface_up", "", "1 while the interface can be captured, else 0", 1)
	x.held = d.gauge("lshark_state_held_bytes", "bytes", "bytes of frames that are held until streams are complete", 1)
	x.entries = d.gauge("lshark_tracked_entries", "", "RPCs in progress, connections, locks and findings in memory, by kind", 1,
		oneOf("kind", stateRPCs, stateConnections, stateLocks, stateTCPConnections, stateFindings))
	return x
}

// outputFamilies are about the RPCs that are written and sent.
type outputFamilies struct {
	notSelected                  *metrics.Counters
	written, files, lost, pruned *metrics.Counters
	diskBytes                    *metrics.Gauges
	troubles, troublesSkipped    *metrics.Counters
	troubleBytes, troublesPruned *metrics.Counters
	troubleDisk, troubleMemory   *metrics.Gauges
	troubleNewest                *metrics.Gauges
	spans, points, requests      *metrics.Counters
	waiting                      *metrics.Gauges
}

// processFamilies are about the process, of a live capture only.
type processFamilies struct {
	reloads                              *metrics.Counters
	reloadOK, reloadTime                 *metrics.Gauges
	series, seriesLimit                  *metrics.Gauges
	promotions                           *metrics.Counters
	build                                *metrics.Gauges
	started, memory, heap, fds, routines *metrics.Gauges
	cpu                                  *metrics.FloatCounters
}

// Values of labels of these families.
const (
	lostInQueue  = "queue"
	lostOnDisk   = "disk"
	signalSpans  = "spans"
	signalPoints = "points"
	sent         = "sent"
	refused      = "refused"
	dropped      = "dropped"
	success      = "success"
	failure      = "failure"
	byClient     = "client"
	byJob        = "job"
	byUser       = "uid"
)

func (d declarer) outputs() outputFamilies {
	signal := oneOf("signal", signalSpans, signalPoints)
	codes := append(ruleCodes(), trouble.RPCCode)
	return outputFamilies{
		notSelected: d.counter("lshark_rpcs_not_selected", "", "RPCs that were neither written nor sent as spans, because neither -Y nor "+
			"--sample selects them", 1),
		written: d.counter("lshark_records_written", "", "RPCs in complete files", 1),
		files:   d.counter("lshark_records_files", "", "complete files", 1),
		lost: d.counter("lshark_records_dropped", "", "selected RPCs that were dropped instead of written: the queue was full, or "+
			"writing failed", 1, oneOf("reason", lostInQueue, lostOnDisk)),
		pruned:    d.counter("lshark_records_pruned_files", "", "files that were removed by age or total size", 1),
		diskBytes: d.gauge("lshark_records_disk_bytes", "bytes", "size of the complete files", 1),
		troubles:  d.counter("lshark_troubles", "", "folders with the frames around a trouble, by the code of the finding, or rpc", 1, oneOf("code", codes...)),
		troublesSkipped: d.counter("lshark_troubles_skipped", "", "findings and troubles without a folder of their own: there is one already, "+
			"the frames were not in memory any more, too many at a time, or writing failed", 1, oneOf("reason", trouble.SkipReasons()...)),
		troubleBytes:   d.counter("lshark_trouble_bytes", "bytes", "size of the folders that were written", 1),
		troublesPruned: d.counter("lshark_troubles_pruned", "", "folders that were removed by age or total size", 1),
		troubleDisk:    d.gauge("lshark_trouble_disk_bytes", "bytes", "size of the folders that are there", 1),
		troubleMemory:  d.gauge("lshark_trouble_memory_bytes", "bytes", "memory that holds the last frames", 1),
		troubleNewest: d.gauge("lshark_trouble_timestamp_seconds", "seconds", "when a folder was completed, of the newest ones", 64,
			label("code"), label("folder")),
		spans:    d.counter("lshark_otlp_spans", "", "spans by what became of them", 1, oneOf("result", sent, refused, dropped)),
		points:   d.counter("lshark_otlp_points", "", "data points of metrics by what became of them; dropped ones were replaced by newer ones", 1, oneOf("result", sent, refused, dropped)),
		requests: d.counter("lshark_otlp_requests", "", "requests to the OTLP receiver", 1, signal, oneOf("result", success, failure)),
		waiting:  d.gauge("lshark_otlp_waiting", "", "spans and data points that wait to be sent", 1, signal),
	}
}

func (d declarer) process() processFamilies {
	return processFamilies{
		reloads: d.counter("lshark_config_reloads", "", "reloads of the settings", 1, oneOf("result", success, failure)),
		reloadOK: d.gauge("lshark_config_last_reload_successful", "", "1 when the settings were valid the last time they were read, else 0",
			1),
		reloadTime:  d.gauge("lshark_config_last_reload_success_timestamp_seconds", "seconds", "when valid settings were last read", 1),
		series:      d.gauge("lshark_series", "", "series of all metrics now; a histogram counts once", 1),
		seriesLimit: d.gauge("lshark_series_limit", "", "largest possible number of series", 1),
		promotions:  d.counter("lshark_top_promotions", "", "values that became one of the top N", 1, oneOf("label", byClient, byJob, byUser)),
		build:       d.gauge("lshark_build_info", "", "release of lshark and of Go; the value is 1", 2, label("version"), label("goversion")),
		started:     d.gauge("process_start_time_seconds", "seconds", "when the process was started", 1),
		cpu:         d.seconds("process_cpu_seconds", "CPU time of the process", 1),
		memory:      d.gauge("process_resident_memory_bytes", "bytes", "resident memory of the process", 1),
		heap: d.gauge("go_memstats_heap_inuse_bytes", "bytes",
			"memory in use by Go's heap: objects, and unused memory reserved for objects", 1),
		fds:      d.gauge("process_open_fds", "", "open files of the process", 1),
		routines: d.gauge("go_goroutines", "", "goroutines of the process", 1),
	}
}
