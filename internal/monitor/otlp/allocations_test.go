package otlp

import (
	"fmt"
	"testing"
	"time"

	"github.com/lshark/lshark/internal/wiretest"

	"github.com/lshark/lshark/internal/monitor/metrics"
)

// rpcSpan fills a span as a sensor does for each RPC.
func rpcSpan(s *Span, xid uint64) {
	const nid = "192.0.2.3@tcp"
	*s = Span{
		Trace: TraceOf(nid, xid), ID: SpanOf(nid, xid, Server, 0), Parent: SpanOf(nid, xid, Client, 0),
		Name: "OST_WRITE", Kind: Server, Start: 1700000000000000001, End: 1700000000250000001,
		Attributes: append(s.Attributes[:0],
			String("rpc.system.name", "lustre"), String("rpc.method", "OST_WRITE"), String("server.address", "192.0.2.9@tcp"),
			String("client.address", nid), String("lustre.target", "lustre-OST0000"), String("lustre.job", "slurm.123456"),
			Int("lustre.uid", 1000), Int("lustre.xid", int64(xid)), Int("lustre.bytes", 1<<20)),
		Events: append(s.Events[:0], Event{Time: 1700000000200000000, Name: "bulk"}),
	}
}

// spanQueue returns a queue whose batches are dropped, as if no receiver were
// ever there.
func spanQueue(tb testing.TB) *queue {
	r := testResource(tb)
	e := newEnvelope(&r)
	return newQueue(&e, maxBatch, 4*maxBatch, time.Hour)
}

func TestSpanAllocatesNothing(t *testing.T) {
	q := spanQueue(t)
	var s Span
	xid := uint64(0)
	add := func() {
		xid += 128
		rpcSpan(&s, xid)
		q.add(&s)
	}
	for range 10_000 { // all batches exist
		add()
	}
	wiretest.NoAllocations(t, 10_000, add)
	if q.stats.Dropped == 0 {
		t.Error("the queue was never full")
	}
}

// seriesSnapshot returns a snapshot of a histogram and a counter.
func seriesSnapshot(series int) *metrics.Snapshot {
	r := metrics.New(time.Unix(1700000000, 0))
	labels := []metrics.Label{{Name: "side"}, {Name: "op"}, {Name: "target"}, {Name: "error"}}
	latency := r.Histogram(metrics.Desc{
		Name: "lshark_rpc_latency_seconds", Help: "Time from request to reply.", Unit: "seconds", Labels: labels, MaxSeries: series,
	}, metrics.Buckets{Schema: 3, Bounds: []float64{0.001, 0.01, 0.1, 1, 10}})
	rpcs := r.Counter(metrics.Desc{Name: "lshark_rpcs", Help: "RPCs.", Labels: labels, MaxSeries: series})
	r.Begin(time.Unix(1700000001, 0))
	for i := range series {
		target := fmt.Sprintf("lustre-OST%04x", i)
		for j := range 1000 {
			latency.With("server", "OST_WRITE", target, "").Observe(float64(i%10+j) * 1e-4)
			rpcs.With("server", "OST_WRITE", target, "").Inc()
		}
	}
	r.End()
	var s metrics.Snapshot
	r.Snapshot(&s)
	return &s
}

func TestMetricsAllocateNothing(t *testing.T) {
	s := seriesSnapshot(100)
	names := testNames()
	m := testEncoder(t, &names)
	q := newQueue(m.envelope, 0, 1<<30, time.Hour)
	m.take = q.emptyBatch
	export := func() { q.replace(m.encode(s)) }
	for range 3 { // two batches exist: one waits while the other is filled
		export()
	}
	if n := testing.AllocsPerRun(100, export); n > 4 {
		t.Errorf("%v allocations for 200 points", n)
	}
}
