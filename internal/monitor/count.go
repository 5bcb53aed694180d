package monitor

import (
	"slices"
	"unsafe"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/evictions"
	"github.com/lshark/lshark/internal/monitor/spans"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/render/records"
)

// counter counts RPCs. It allocates nothing for an RPC without an error once the series are there.
type counter struct {
	families
	opt      *Options
	attached track.Attached[inFlight]
	value    []byte // scratch space
}

// inFlight is what is attached to an RPC while it waits for its reply.
type inFlight struct {
	target  string
	counted bool // by the gauge of RPCs in flight
}

// text returns bytes as a string without a copy. It is for values of labels: package metrics
// copies those that it keeps.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// errnoName returns the name of a negative errno, or the number.
func errnoName(errno int32) string { return string(records.AppendErrno(nil, errno)) }

// sent increments the gauge of RPCs in flight if the RPC waits for its reply.
func (c *counter) sent(r *track.RPC) {
	f := c.attached.Of(r)
	if f.counted || !r.IsWaiting() {
		return
	}
	*f = inFlight{r.Target(), true}
	before := c.inFlight.Len()
	c.inFlight.With(f.target).Add(1)
	if !c.opt.Live {
		return
	}
	c.missing.With(spans.OpName(r), f.target, track.Unanswered.String())
	if c.inFlight.Len() > before {
		c.create(f.target)
		if opcodes.IsConnect(r.Opcode) && c.opt.NewTarget != nil {
			c.opt.NewTarget()
		}
	}
}

// create makes the series of a target that alerts read: so that the first event is seen as a
// change.
func (c *counter) create(target string) {
	for _, cause := range evictions.Causes() {
		c.evictions.With(target, cause.String())
	}
	for _, error := range severeErrors {
		c.severe.With(target, error)
	}
}

func (c *counter) endInFlight(r *track.RPC) {
	if f := c.attached.Of(r); f.counted {
		c.inFlight.With(f.target).Add(-1)
		*f = inFlight{}
	}
}

// done counts an RPC that has ended, as a row of track.Stats does.
func (c *counter) done(r *track.RPC) {
	op, target := spans.OpName(r), r.Target()
	c.count.With(op, target).Inc()
	if r.Missing != track.NotMissing {
		c.missing.With(op, target, r.Missing.String()).Inc()
	}
	if n := r.Sends - 1; n > 0 {
		c.resends.With(op, target).Add(float64(n))
	}
	if n := r.Retransmits(); n > 0 {
		c.retransmits.With(target).Add(float64(n))
	}
	errno, seconds := "", 0.0
	if r.Failed() {
		errno = errnoName(r.Status)
	}
	c.countErrors(r, op, target, errno)
	if latency, ok := r.Latency(); ok {
		seconds = float64(latency) / 1e9
		c.latency.With(c.opt.Side(r), op, target, errno).Observe(seconds)
	}
	if limit, ok := r.ServiceLimit(); ok && r.HasRequest {
		c.service.With(op, target).Observe(float64(limit))
	}
	if ns, ok := r.LockWait(); ok {
		c.lockWait.With(target).Observe(float64(ns) / 1e9)
	}
	c.bytes.With(op, target, requestBytes).Add(float64(r.RequestSize))
	c.bytes.With(op, target, replyBytes).Add(float64(r.ReplySize))
	if n := r.BulkBytes(); n > 0 {
		c.bytes.With(op, target, bulkBytes).Add(float64(n))
	}
	for i := range c.ranked {
		c.value = rankings[i].append(c.value[:0], r)
		c.ranked[i].add(text(c.value), r, seconds)
	}
}

func (c *counter) countErrors(r *track.RPC, op, target, errno string) {
	if errno != "" {
		c.errors.With(op, target, errno).Inc()
		if slices.Contains(severeErrors, errno) {
			c.severe.With(target, errno).Inc()
		}
	}
	for _, e := range r.OtherErrors {
		if opcodes.GSSErrorName(e) != "" { // of the reply itself, which is no reply of Lustre's
			c.errors.With(op, target, errnoName(e)).Inc()
		} else {
			c.innerErrors.With(op, target, errnoName(e)).Inc()
		}
	}
}

// add counts an RPC with its latency for a client, a job or a user.
func (f *rankedFamilies) add(name string, r *track.RPC, seconds float64) {
	f.top.Count(name)
	f.count.With(name).Inc()
	if r.Failed() {
		f.errors.With(name).Inc()
	}
	f.latency.With(name).Add(seconds)
	f.bytes.With(name, requestBytes).Add(float64(r.RequestSize))
	f.bytes.With(name, replyBytes).Add(float64(r.ReplySize))
	if n := r.BulkBytes(); n > 0 {
		f.bytes.With(name, bulkBytes).Add(float64(n))
	}
}
