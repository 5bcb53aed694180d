package monitor

import (
	"fmt"
	"strconv"
	"time"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/rules"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/evictions"
	"github.com/lshark/lshark/internal/monitor/metrics"
	"github.com/lshark/lshark/internal/monitor/otlp"
	"github.com/lshark/lshark/internal/monitor/spans"
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

func label(name string) metrics.Label { return metrics.Label{Name: name} }

func oneOf(name string, values ...string) metrics.Label {
	return metrics.Label{Name: name, Values: values}
}

// names returns how values are shown, for a label.
func names[T fmt.Stringer](values []T) (list []string) {
	for _, v := range values {
		list = append(list, v.String())
	}
	return list
}

// families count what happens.
type families struct {
	count, missing, errors, innerErrors, severe *metrics.Family
	latency, service, lockWait                  *metrics.Family // histograms
	bytes, resends, retransmits, inFlight       *metrics.Family
	ranked                                      []rankedFamilies // as rankings
	connections, evictions                      *metrics.Family
	findings, current                           *metrics.Family
}

// rankedFamilies count the RPCs of the top clients, jobs or users.
type rankedFamilies struct {
	top                           *metrics.Top
	count, errors, bytes, latency *metrics.Family
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

// rankings are what RPCs are counted by for the most frequent values only.
var rankings = []struct {
	name, label, what string
	append            func([]byte, *track.RPC) []byte // appends the value
}{
	{"client", "client", "client", func(b []byte, r *track.RPC) []byte { return r.Client.Append(b) }},
	{"job", "jobid", "job", func(b []byte, r *track.RPC) []byte { return append(b, r.Job()...) }},
	{"uid", "uid", "user ID", func(b []byte, r *track.RPC) []byte {
		if !r.HasUser {
			return b
		}
		return strconv.AppendUint(b, uint64(r.UID), 10)
	}},
}

func ruleCodes() (codes []string) {
	for _, r := range rules.All() {
		codes = append(codes, r.Code)
	}
	return codes
}

func declare(r *metrics.Registry, top int) (x families) {
	// A family has at most max series, apart from those for all other values; 0 where its labels
	// bound it.
	counter := func(name, help string, max int, labels ...metrics.Label) *metrics.Family {
		return r.Family(metrics.Desc{Type: metrics.CounterType, Name: name, Help: help, MaxSeries: max, Labels: labels})
	}
	gauge := func(name, help string, max int, labels ...metrics.Label) *metrics.Family {
		return r.Family(metrics.Desc{Type: metrics.GaugeType, Name: name, Help: help, MaxSeries: max, Labels: labels})
	}
	histogram := func(name, help string, bounds []float64, schema int, labels ...metrics.Label) *metrics.Family {
		return r.Family(metrics.Desc{Type: metrics.HistogramType, Name: name, Help: help, MaxSeries: maxByTarget, Labels: labels,
			Bounds: bounds, Schema: schema})
	}
	op, target, err := label("op"), label("target"), label("error")
	kind := oneOf("kind", requestBytes, replyBytes, bulkBytes)
	x.count = counter("lshark_rpcs", "RPCs that have ended", maxByTarget, op, target)
	x.missing = counter("lshark_rpcs_without_reply", "RPCs that have ended without a reply that was due, by the reason", maxByTarget, op,
		target, oneOf("reason", names(track.MissingReasons())...))
	x.errors = counter("lshark_rpc_errors", "replies whose status is an error", maxErrors, op, target, err)
	x.severe = counter("lshark_severe_errors", "replies whose status is an error that ordinary work does not bring: of the target, its "+
		"storage or its server, or for want of space", maxTargets*len(severeErrors), target, oneOf("error", severeErrors...))
	x.innerErrors = counter("lshark_rpc_inner_errors", "errors that are not in the final status of a reply: of an intent, of a range, "+
		"or from before a resend", maxErrors, op, target, err)
	x.latency = histogram("lshark_rpc_latency_seconds", "time from request to reply; side is the end of the RPC that this machine is, error "+
		"is empty without one", latencyBounds, nativeSchema, oneOf("side", "", ClientSide, ServerSide), op, target, err)
	x.service = histogram("lshark_rpc_service_time_max_seconds", "upper bound of the service time that the "+
		"reply reports, in whole seconds", limitBounds, 0, op, target)
	x.bytes = counter("lshark_rpc_bytes", "size of requests, replies and bulk data", maxByTarget, op, target, kind)
	x.resends = counter("lshark_rpc_resends", "requests that were resent", maxByTarget, op, target)
	x.retransmits = counter("lshark_rpc_retransmits", "TCP segments and InfiniBand packets of RPCs that were retransmitted", maxByTarget,
		target)
	x.inFlight = gauge("lshark_rpcs_in_flight", "RPCs that wait for their reply", maxByTarget, target)
	x.lockWait = histogram("lshark_lock_wait_seconds", "time from the request of a lock that had to wait to the end of the wait",
		latencyBounds, nativeSchema, target)
	for _, of := range rankings {
		t := r.Top(top, halfLife)
		by, name := metrics.Label{Name: of.label, Top: t}, "lshark_"+of.name
		x.ranked = append(x.ranked, rankedFamilies{
			top:    t,
			count:  counter(name+"_rpcs", "RPCs by "+of.what, 0, by),
			errors: counter(name+"_errors", "replies with an error, by "+of.what, 0, by),
			bytes:  counter(name+"_bytes", "size of requests, replies and bulk data, by "+of.what, 0, by, kind),
			latency: r.Family(metrics.Desc{Type: metrics.FloatCounterType, Name: name + "_latency_seconds",
				Help: "sum of the latencies of RPCs, by " + of.what, Labels: []metrics.Label{by}}),
		})
	}
	causes := names(evictions.Causes())
	x.connections = gauge("lshark_connections", "connections between clients and targets, by their kind and state", 100, label("kind"),
		label("state"))
	x.evictions = counter("lshark_evictions", "clients that a target has evicted, by the cause", maxTargets*len(causes),
		target, oneOf("cause", causes...))
	x.findings = counter("lshark_findings", "findings of lshark diagnose; a finding that becomes more severe counts again; in a "+
		"live capture the rules restart every hour, so a persisting problem is counted again each hour", 0, oneOf("code", ruleCodes()...),
		oneOf("severity", names(diagnose.Severities())...))
	x.current = gauge("lshark_current_findings", "findings that are kept, by code and by that of the finding that each follows from, "+
		"empty where it follows from none; those of a live capture are dropped when the rules restart", 500,
		label("code"), label("cause"))
	return x
}

// Names returns how metrics are named for OTLP receivers: latencies by the semantic
// conventions for RPCs.
func Names() otlp.Names {
	duration := func(side, name string) otlp.Family {
		return otlp.Family{From: "lshark_rpc_latency_seconds", Label: "side", Value: side, To: name, Unit: "s",
			Constant: []otlp.Attribute{otlp.String("rpc.system.name", spans.System)}}
	}
	return otlp.Names{
		Families: []otlp.Family{
			duration(ClientSide, "rpc.client.call.duration"), duration(ServerSide, "rpc.server.call.duration"),
			{From: "lshark_rpcs_in_flight", To: "lshark.rpcs.in_flight", Unit: "{call}", Sum: true},
			{From: "lshark_connections", To: "lshark.connections", Unit: "{connection}", Sum: true},
			{From: "process_cpu_seconds", To: "process.cpu.time", Unit: "s"},
			{From: "process_resident_memory_bytes", To: "process.memory.usage", Unit: "By", Sum: true},
			{From: "process_open_fds", To: "process.unix.file_descriptor.count", Unit: "{file_descriptor}", Sum: true},
			{From: "go_goroutines", To: "go.goroutine.count", Unit: "{goroutine}", Sum: true},
		},
		Attributes: map[string]string{"op": "rpc.method", "target": "lustre.target", "error": "error.type",
			"client": "lustre.client", "jobid": "lustre.job", "uid": "user.id"},
	}
}
