package monitor_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/rules"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/evictions"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/monitor"
	"github.com/lshark/lshark/internal/monitor/metrics"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/render/records"
)

// samples returns the sample captures.
func samples(t *testing.T) (list []string) {
	t.Helper()
	for _, pattern := range []string{"../../pcaps/*.pcap", "../../pcaps/*.pcap.zst"} {
		more := must.Value(filepath.Glob(pattern))(t)
		list = append(list, more...)
	}
	must.That(t, len(list) >= 15, "only %d samples", len(list))
	return list
}

// values are the metrics of a snapshot by name and label values.
type values map[string]metrics.Series

// read returns the metrics in a registry.
func read(r *metrics.Registry) values {
	s := r.Snapshot()
	v := make(values)
	for i := range s.Families {
		f := &s.Families[i]
		for _, p := range f.Points {
			v[fmt.Sprint(f.Name, p.Values)] = p
		}
	}
	return v
}

// sum returns the sum of a counter over all series whose first label values are these.
func (v values) sum(name string, labels ...string) (n int64) {
	prefix := name + "["
	for i, l := range labels {
		if i > 0 {
			prefix += " "
		}
		prefix += l
	}
	for k, p := range v {
		if k == prefix+"]" || len(k) > len(prefix) && k[:len(prefix)] == prefix && (len(labels) == 0 || k[len(prefix)] == ' ') {
			n += int64(p.Count) + int64(p.Value)
		}
	}
	return n
}

// watch runs a monitor over frames.
func watch(o monitor.Options, frames []capture.Frame) (*monitor.Monitor, lnetStats) {
	o.Top = 20
	if o.Side == nil {
		o.Side = func(*track.RPC) string { return "" }
	}
	var d *dissect.Dissector
	o.Captured = func() diagnose.Capture {
		return diagnose.Capture{Stats: d.Stats(), Files: 1, FirstFrame: frames[0].Time}
	}
	m := monitor.New(o, time.Unix(0, 0))
	d = dissect.New(dissect.Options{Handle: m.Message, TransferUpdate: m.TransferUpdate, Lost: m.Lost, TCPEvent: m.TCPEvent, IBEvent: m.IBEvent})
	for i := range frames {
		m.Frame(&frames[i])
		d.Frame(&frames[i])
	}
	d.Close()
	return m, lnetStats{d, frames}
}

// lnetStats is what is known at the end of the frames.
type lnetStats struct {
	d      *dissect.Dissector
	frames []capture.Frame
}

// end ends the capture.
func (s lnetStats) end(m *monitor.Monitor) {
	last := s.frames[len(s.frames)-1].Time
	m.Publish(time.Unix(0, last), false)
	m.Advance(last)
	m.Close(time.Unix(0, last))
}

// statsOf returns statistics of the same frames.
func statsOf(frames []capture.Frame, by ...track.Dimension) *track.Interval {
	s := track.NewStats(track.StatsOptions{By: by})
	p := track.NewPairing(track.Options{Sent: s.Sent, Answered: s.Answered, Done: s.Done})
	d := dissect.New(dissect.Options{Handle: func(m *dissect.Message) { p.Message(m) }, TransferUpdate: p.TransferUpdate, Lost: p.Lost})
	wiretest.Play(d, frames)
	p.Advance(frames[len(frames)-1].Time)
	p.Close()
	if len(s.Intervals()) == 0 {
		return nil
	}
	return s.Intervals()[0]
}

func errnoName(e int32) string { return string(records.AppendErrno(nil, e)) }

// TestSameAsStats checks all counts of RPCs by operation and target against those of
// lshark stats.
func TestSameAsStats(t *testing.T) {
	for _, path := range samples(t) {
		frames := wiretest.ReadSample(t, path)
		m, s := watch(monitor.Options{}, frames)
		s.end(m)
		v := read(m.Registry())
		all := statsOf(frames, track.ByOp, track.ByTarget)
		if all == nil {
			continue
		}
		check := func(what string, got, want int64) {
			assert.Equal(t, got, want, path, what)
		}
		for _, r := range all.List() {
			op, target := opcodes.Opcodes.Name(uint64(r.Opcode)), r.Target
			if !r.HasOpcode {
				op = "unknown"
			}
			key := op + " " + target
			check(key+" count", v.sum("lshark_rpcs", op, target), r.Count)
			check(key+" resends", v.sum("lshark_rpc_resends", op, target), r.Resends)
			check(key+" request bytes", v.sum("lshark_rpc_bytes", op, target, "request"), r.RequestBytes)
			check(key+" reply bytes", v.sum("lshark_rpc_bytes", op, target, "reply"), r.ReplyBytes)
			check(key+" bulk bytes", v.sum("lshark_rpc_bytes", op, target, "bulk"), r.BulkBytes)
			for _, reason := range track.MissingReasons() {
				check(key+" "+reason.String(), v.sum("lshark_rpcs_without_reply", op, target, reason.String()), r.Missing[reason])
			}
			for errno, n := range r.Errors {
				check(key+" errors", v.sum("lshark_rpc_errors", op, target, errnoName(errno)), n)
			}
			for errno, n := range r.OtherErrors {
				check(key+" inner errors", v.sum("lshark_rpc_inner_errors", op, target, errnoName(errno)), n)
			}
			checkLatency(t, path, v, op, target, &r.Latency)
		}
		total := &all.Total
		check("count", v.sum("lshark_rpcs"), total.Count)
		check("errors", v.sum("lshark_rpc_errors"), sumOf(total.Errors))
		check("inner errors", v.sum("lshark_rpc_inner_errors"), sumOf(total.OtherErrors))
		check("retransmits", v.sum("lshark_rpc_retransmits"), total.Retransmits)
		check("frames", v.sum("lshark_capture_frames"), int64(len(frames)))
		check("in flight", v.sum("lshark_rpcs_in_flight"), 0)
		var waits uint64
		for k, p := range v {
			if len(k) > 24 && k[:24] == "lshark_lock_wait_seconds" {
				waits += p.Count
			}
		}
		check("lock waits", int64(waits), total.LockWait.N)
		for _, by := range []string{"client", "job", "uid"} {
			check(by, v.sum("lshark_"+by+"_rpcs"), total.Count)
			check(by+" bytes", v.sum("lshark_"+by+"_bytes"), total.RequestBytes+total.ReplyBytes+total.BulkBytes)
		}
	}
}

func sumOf(counts map[int32]int64) (n int64) {
	for _, c := range counts {
		n += c
	}
	return n
}

// checkLatency compares the latencies of an operation at a target, over all errors.
func checkLatency(t *testing.T, path string, v values, op, target string, want *track.Distribution) {
	t.Helper()
	var n, classic uint64
	var sum float64
	prefix := fmt.Sprintf("lshark_rpc_latency_seconds[ %s %s ", op, target)
	for k, p := range v {
		if len(k) >= len(prefix) && k[:len(prefix)] == prefix {
			n += p.Count
			sum += p.Value
			for _, c := range p.Classic {
				classic += c
			}
		}
	}
	if int64(n) != want.N || classic != n || math.Abs(sum-float64(want.Sum)/1e9) > 1e-9*math.Max(1, sum) {
		t.Errorf("%s: %s %s: %d latencies of %v s, want %d of %v s", path, op, target, n, sum, want.N, float64(want.Sum)/1e9)
	}
}

// TestSameAsDiagnose checks findings, evictions and connections against those of lshark
// diagnose and lshark imports.
func TestSameAsDiagnose(t *testing.T) {
	evicted := int64(0)
	for _, path := range samples(t) {
		frames := wiretest.ReadSample(t, path)
		m, s := watch(monitor.Options{}, frames)
		s.end(m)
		v := read(m.Registry())
		var d *dissect.Dissector
		e := diagnose.New(diagnose.Options{Rules: rules.All(), Capture: func() diagnose.Capture {
			return diagnose.Capture{Stats: d.Stats(), Files: 1, FirstFrame: frames[0].Time}
		}, Counted: func(*diagnose.Finding) {}}) // as they come: what is known later may explain some
		d = dissect.New(dissect.Options{Handle: e.Message, TransferUpdate: e.TransferUpdate, Lost: e.Lost, TCPEvent: e.TCPEvent, IBEvent: e.IBEvent})
		wiretest.Play(d, frames)
		e.Advance(frames[len(frames)-1].Time)
		e.Close()
		type kind struct {
			code     string
			severity diagnose.Severity
		}
		findings, evictions := make(map[kind]int64), int64(0)
		for _, f := range e.Findings() {
			findings[kind{f.Rule.Code, f.Severity}]++
			if f.Rule.Code[:7] == "evicted" {
				evictions += f.Count
			}
		}
		for _, r := range rules.All() {
			worse := int64(0) // findings that were less severe before
			for _, s := range diagnose.Severities() {
				got, want := v.sum("lshark_findings", r.Code, s.String()), findings[kind{r.Code, s}]
				assert.That(t, got >= want && got <= want+worse, "%s: %d findings %s %s, want %d", path, got, r.Code, s, want)
				worse += want
			}
		}
		assert.Equal(t, v.sum("lshark_evictions"), evictions, path, "evictions")
		evicted += evictions
		connections := make(map[[2]string]int64)
		for _, i := range e.Imports().List() {
			connections[[2]string{i.Kind(), i.State.String()}]++
		}
		for k, want := range connections {
			assert.Equal(t, v.sum("lshark_connections", k[0], k[1]), want, path, "connections", k)
		}
		if got := v.sum("lshark_connections"); got != int64(len(e.Imports().List())) {
			t.Errorf("%s: %d connections, want %d", path, got, len(e.Imports().List()))
		}
	}
	assert.That(t, evicted != 0, "no sample has an eviction")
}

// TestRestart checks that a live capture drops what rules have found once an hour, and that a
// finding that goes on counts again then.
func TestRestart(t *testing.T) {
	frames := wiretest.ReadSample(t, "../../pcaps/recovery.pcap.zst")
	m, s := watch(monitor.Options{Live: true}, frames)
	first := time.Unix(0, frames[len(frames)-1].Time)
	m.Publish(first, false)
	before := read(m.Registry())
	later := frames[len(frames)-1]
	later.Time += int64(2 * time.Hour)
	m.Frame(&later)
	m.Publish(first.Add(2*time.Hour), false)
	m.Publish(first.Add(2*time.Hour), false)
	v := read(m.Registry())
	kept := v["lshark_tracked_entries[findings]"].Value
	if found := v.sum("lshark_findings"); found == 0 || found < before.sum("lshark_findings") || kept != 0 {
		t.Errorf("%d findings, %v are kept after two hours", found, kept)
	}
	if v["lshark_tracked_entries[connections]"].Value != before["lshark_tracked_entries[connections]"].Value {
		t.Error("connections were forgotten")
	}
	found := v.sum("lshark_findings")
	for i := range frames { // the same again
		f := frames[i]
		f.Time += int64(3 * time.Hour)
		m.Frame(&f)
		s.d.Frame(&f)
	}
	m.Close(time.Now())
	again := read(m.Registry()).sum("lshark_findings")
	assert.That(t, again > found, "%d findings, and %d of the same three hours later", found, again)
}

// TestManyValues checks that a hundred thousand clients, jobs and users take neither more series
// nor much memory, that nothing is lost in the counts, and that counting allocates nothing.
func TestManyValues(t *testing.T) {
	m := monitor.New(monitor.Options{Live: true, Top: 20, Side: func(*track.RPC) string { return monitor.ServerSide }}, time.Unix(0, 0))
	frames := wiretest.ReadSample(t, "../../dissect/diagnose/rules/testdata/jobs.pcap.zst")
	var rpc *track.RPC
	p := track.NewPairing(track.Options{Done: func(r *track.RPC) {
		if rpc == nil && r.HasReply && len(r.Job()) >= len("000000") {
			rpc = r.Clone()
		}
	}})
	d := dissect.New(dissect.Options{Handle: func(m *dissect.Message) { p.Message(m) }})
	wiretest.Play(d, frames)
	p.Close()
	must.That(t, rpc != nil, "no RPC")
	const values = 100_000
	before := wiretest.Heap()
	for i := range uint32(values) {
		rpc.Client.Addr = [16]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}
		rpc.HasUser, rpc.UID = true, i
		copy(rpc.Job(), fmt.Appendf(nil, "%06d", i))
		m.Count(rpc)
	}
	grown := wiretest.Heap() - before
	assert.That(t, grown <= 16<<20, "%d bytes more for %d clients, jobs and users", grown, values)
	v := read(m.Registry())
	for _, by := range []string{"client", "uid", "job"} {
		if got := v.sum("lshark_" + by + "_rpcs"); got > values || got < values-2000 { // removed series take their counts along
			t.Errorf("%s: %d RPCs", by, got)
		}
		series := 0
		for k := range v {
			if strings.HasPrefix(k, "lshark_"+by+"_rpcs[") {
				series++
			}
		}
		assert.That(t, series <= 21, "%s: %d series", by, series)
	}
	if n := testing.AllocsPerRun(1000, func() { m.Count(rpc) }); n > 0 {
		t.Errorf("%v allocations per RPC", n)
	}
}

// TestEvictionsInTime checks that a live capture counts an eviction within ten seconds of the
// reply that shows it, in a series that was there before with 0, by the cause that the whole
// capture proves.
func TestEvictionsInTime(t *testing.T) {
	counted := 0
	scenes := must.Value(filepath.Glob("../../dissect/diagnose/rules/testdata/*.pcap.zst"))(t)
	for _, name := range append(scenes, "../../pcaps/recovery.pcap.zst") {
		frames := wiretest.ReadSample(t, name)
		var all []*evictions.Eviction
		f := follow.New(follow.Options{}, follow.Hooks{Eviction: func(e *evictions.Eviction) { all = append(all, e) }})
		d := dissect.New(dissect.Options{Handle: f.Message, TransferUpdate: f.TransferUpdate, Lost: f.Lost, TCPEvent: f.TCPEvent, IBEvent: f.IBEvent})
		wiretest.Play(d, frames)
		f.Close()
		for _, e := range all {
			const patience = int64(10 * time.Second)
			until := slices.IndexFunc(frames, func(f capture.Frame) bool { return f.Time > e.At.Time })
			before, _ := watchLive(frames[:until])
			_, ok := read(before.Registry())[fmt.Sprintf("lshark_evictions[%s %v]", e.Target, e.Cause)]
			assert.That(t, ok, "%s: %q: no series before the eviction", name, e.Target)
			for until < len(frames) && frames[until].Time < e.At.Time+patience {
				until++
			}
			m, _ := watchLive(frames[:until])
			m.Advance(e.At.Time + patience)
			want := int64(0)
			for _, other := range all {
				if other.At.Time <= e.At.Time && other.Cause == e.Cause && other.Target == e.Target {
					want++
				}
			}
			if got := read(m.Registry()).sum("lshark_evictions", e.Target, e.Cause.String()); got < want {
				t.Errorf("%s: %d evictions from %q (%v) ten seconds after frame %d, want %d", name, got, e.Target, e.Cause, e.At.Frame, want)
			}
			counted++
		}
	}
	assert.That(t, counted >= 10, "only %d evictions", counted)
}

func watchLive(frames []capture.Frame) (*monitor.Monitor, lnetStats) {
	return watch(monitor.Options{Live: true, Follow: follow.Options{Live: true}}, frames)
}
