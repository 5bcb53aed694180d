package track

import (
	"math/bits"

	"github.com/lshark/lshark/opcodes"
)

// Row is the statistics of the RPCs with one key.
type Row struct {
	Key
	Others bool   // stands for all keys beyond the maximum
	Path   string // of Key.File, as far as it is known when the rows are listed

	Count       int64
	Replies     int64
	Missing     [missingReasons]int64 // RPCs without a reply, by the reason
	OneWay      int64
	Resends     int64
	Errors      map[int32]int64 // by errno, negative
	OtherErrors map[int32]int64 // errors that are not in the final status

	Latency  Distribution // nanoseconds
	OwnTime  Distribution // nanoseconds, of the RPCs whose nested RPCs are all known
	LockWait Distribution // nanoseconds, of the RPCs whose lock had to wait

	// What servers sent to others because of the RPCs, as far as it is known.
	Nested     int64
	NestedTime int64 // nanoseconds

	// ServiceLimit is the greatest of the RPCs, in seconds; 0 is unknown.
	ServiceLimit int64
	TransportCounts

	RequestBytes int64
	ReplyBytes   int64
	BulkBytes    int64

	// IO counts the bulk transfers by size: IO[n] those of at most 1<<n bytes
	// and more than half of that.
	IO [ioSizes]int64

	Depth
	recent *recent // nil without rates
}

// Depth is how many RPCs of a row were in flight when one was sent, itself
// included.
type Depth struct {
	DepthMax int64
	depthSum int64 // of the average
	depthN   int64
}

// TransportCounts are what TCP and InfiniBand did with the messages of the RPCs of a
// row.
type TransportCounts struct {
	RTT            Distribution // nanoseconds
	RDMATime       Distribution // nanoseconds, of the RPCs with RDMA writes
	Retransmits    int64        // segments or packets that were sent again
	RetransmitTime int64        // nanoseconds of latency lost by that, as far as known
}

const ioSizes = 40

// DepthMean returns the average.
func (w *Depth) DepthMean() float64 {
	if w.depthN == 0 {
		return 0
	}
	return float64(w.depthSum) / float64(w.depthN)
}

// add counts an RPC, and how many were in flight with it.
func (w *Row) add(r *RPC, depth int64) {
	w.Count++
	if r.HasReply {
		w.Replies++
	}
	switch {
	case r.Missing != NotMissing:
		w.Missing[r.Missing]++
	case r.OneWay:
		w.OneWay++
	}
	w.Resends += int64(max(0, r.Sends-1))
	if r.Failed() {
		count(&w.Errors, r.Status)
	}
	for _, e := range r.OtherErrors {
		if opcodes.GSSErrorName(e) != "" {
			count(&w.Errors, e)
		} else {
			count(&w.OtherErrors, e)
		}
	}
	if ns, ok := r.Latency(); ok {
		w.Latency.Add(ns)
	}
	if n, ok := r.NestedCount(); ok {
		w.Nested += int64(n)
		w.NestedTime += r.Nested.Time
		if ns, ok := r.OwnTime(); ok {
			w.OwnTime.Add(ns)
		}
	}
	if limit, ok := r.ServiceLimit(); ok && r.HasRequest {
		w.ServiceLimit = max(w.ServiceLimit, limit)
	}
	if ns, ok := r.LockWait(); ok {
		w.LockWait.Add(ns)
	}
	if ns, ok := r.RTT(); ok {
		w.RTT.Add(ns)
	}
	if ns, ok := r.RDMATime(); ok {
		w.RDMATime.Add(ns)
	}
	if n := r.Retransmits(); n > 0 {
		w.Retransmits += int64(n)
		ns, _ := r.RetransmitTime()
		w.RetransmitTime += ns
	}
	w.RequestBytes += int64(r.RequestSize)
	w.ReplyBytes += int64(r.ReplySize)
	if n := r.BulkBytes(); n > 0 {
		w.BulkBytes += n
		w.IO[min(bits.Len64(uint64(n-1)), ioSizes-1)]++
	}
	if depth > 0 {
		w.DepthMax = max(w.DepthMax, depth)
		w.depthSum += depth
		w.depthN++
	}
}

// IsNestingKnown reports whether some RPCs of the row have nested ones, or are known to have
// none.
func (w *Row) IsNestingKnown() bool { return w.Nested > 0 || w.OwnTime.N > 0 }

func count(m *map[int32]int64, errno int32) {
	if *m == nil {
		*m = make(map[int32]int64)
	}
	(*m)[errno]++
}
