package records

import (
	"cmp"
	"slices"
	"strconv"
	"sync"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// Row is a row of statistics as a record, with its interval.
type Row struct {
	*track.Row
	Interval *track.Interval
}

// Rows are the keys of a row of statistics. JSON has time and interval only with
// --interval, the window and the rates only with --window, what is about nested RPCs only
// with --nested, and the dimensions (op to object) only where --by names them.
var Rows = Table[*Row]{Record: "stats row", Trims: true, Command: "stats", Keys: sync.OnceValue(func() []*Key[*Row] {
	return slices.Concat([]*Key[*Row]{
		TimeKey("time", "begin of the interval", func(r *Row) int64 { return r.Interval.From }),
		NumberKey("interval", "length of the interval", func(r *Row) int64 { return r.Interval.To - r.Interval.From }).as(Duration),
		boolean("others", "the row is the sum of all values beyond the maximum number of rows", func(r *Row) bool { return r.Others }),
	}, dimensionKeys(), []*Key[*Row]{
		NumberKey("count", "number of RPCs", func(r *Row) int64 { return r.Count }),
		NumberKey("window", "length of the last part of the capture that the rates are of: that of --window or up to a tenth less, "+
			"or since the capture began", func(r *Row) int64 { return r.Interval.Window() }).as(Duration),
		rate("ops_rate", "RPCs that were answered per second in the window; those without a reply by design count when they are sent",
			func(r *track.Rate) float64 { return r.RPCs }),
		rate("byte_rate", "bytes of the requests, replies and bulk data of these RPCs, per second",
			func(r *track.Rate) float64 { return r.Bytes }).inBytes(),
		NumberKey("replies", "number of RPCs with a reply", func(r *Row) int64 { return r.Replies }),
		counts("errors", "errors in the final status of RPCs, and how often each occurred",
			func(r *Row) []Count { return ErrorCounts(r.Errors) }),
		errorCounts("other_errors", "errors that are not in the final status: of an intent, of a range, "+
			"or of a reply after which the request was sent again", func(r *Row) map[int32]int64 { return r.OtherErrors }),
		missing("unanswered", "number of RPCs that the server did not answer: the reply was due, and everything that the server sent was captured",
			track.Unanswered),
		missing("not_captured", "number of RPCs without a reply where bytes of the server were not captured", track.NotCaptured),
		missing("encrypted", "number of RPCs without a reply of which encryption hides when it was due, "+
			"or whose reply may be an encrypted one that fits no request", track.EncryptedReply),
		missing("end", "number of RPCs whose reply was not due when the capture ended", track.CaptureEnded),
		NumberKey("one_way", "number of RPCs of operations that have no reply", func(r *Row) int64 { return r.OneWay }),
		NumberKey("resends", "how often requests were sent again", func(r *Row) int64 { return r.Resends }),
		distribution("latency", "times from request to reply", func(r *Row) *track.Distribution { return &r.Latency }),
		numberIf("nested", "number of RPCs that servers sent to other nodes because of the RPCs, as far as they are known",
			func(r *Row) (int64, bool) { return r.Nested, r.IsNestingKnown() }),
		DurationKey("nested_time", "part of the latencies in which servers waited for nested RPCs",
			func(r *Row) (int64, bool) { return r.NestedTime, r.IsNestingKnown() }),
		distribution("own_time", "rests of the latencies, of the RPCs of which a capture point sees what the server sends to all others",
			func(r *Row) *track.Distribution { return &r.OwnTime }),
		distribution("lock_wait", "times from the request of a lock that had to wait until it was granted, or as long as its wait is known",
			func(r *Row) *track.Distribution { return &r.LockWait }),
		NumberKey("lock_waits", "number of RPCs whose lock had to wait", func(r *Row) int64 { return r.LockWait.N }),
		object[*Row]("service", "always null: servers do not send the exact times that they worked; see service_time_max").
			when(func(*Row) bool { return false }),
		NumberKey("service_time_max", "upper bound of the time the server worked on any RPC of the row, exclusive; "+
			"pb_service_time has whole seconds, so the minimum is 2", func(r *Row) int64 { return r.ServiceLimit }).as(Seconds).known(),
		distribution("rdma_time", "times in which RDMA writes of an RPC were under way, over InfiniBand",
			func(r *Row) *track.Distribution { return &r.RDMATime }).omit(),
		distribution("rtt", "round trips to the server, by the ACKs on the connections of the requests",
			func(r *Row) *track.Distribution { return &r.RTT }),
		NumberKey("retransmits", "number of TCP segments or InfiniBand packets with bytes of the RPCs that were sent again",
			func(r *Row) int64 { return r.Retransmits }),
		NumberKey("retransmit_time", "part of the latencies that was lost by retransmission, as far as it is known",
			func(r *Row) int64 { return r.RetransmitTime }).as(Duration),
		NumberKey("request_bytes", "bytes of the requests", func(r *Row) int64 { return r.RequestBytes }).inBytes(),
		NumberKey("reply_bytes", "bytes of the replies", func(r *Row) int64 { return r.ReplyBytes }).inBytes(),
		NumberKey("bulk_bytes", "bytes of bulk data", func(r *Row) int64 { return r.BulkBytes }).inBytes(),
		counts("io_sizes", "number of bulk transfers by size: of at most so many bytes, and more than half as many", bulkSizes),
		object("in_flight", "number of RPCs of the row that were waiting for a reply when one was sent, itself included",
			NumberKey("max", "maximum", func(r *Row) int64 { return r.DepthMax }),
			float("mean", "the average", func(r *Row) float64 { return r.DepthMean() })),
	})
})}

// dimensionKeys returns the keys of what --by names, in the order of track.DimensionNames.
func dimensionKeys() []*Key[*Row] {
	return []*Key[*Row]{
		enum("op", opcodes.Opcodes, "operation of the RPCs", func(r *Row) uint32 { return r.Opcode }).
			when(func(r *Row) bool { return r.HasOpcode }),
		anyText("variant", "form of the operation", func(r *Row) string { return r.Variant }),
		NIDKey("client", "node that sent the requests", func(r *Row) lnet.NID { return r.Client }),
		NIDKey("server", "node that received the requests", func(r *Row) lnet.NID { return r.Server }),
		TextKey("target", targetDoc, func(r *Row) string { return r.Target }),
		rawText("job", "job id", func(r *Row) []byte { return r.JobName() }),
		NumberKey("uid", "user", func(r *Row) uint32 { return r.UID }).when(func(r *Row) bool { return r.HasUser }),
		NumberKey("portal", "LNet portal of the requests", func(r *Row) uint32 { return r.Portal }),
		NumberKey("handle", "handle of the connection at the server", func(r *Row) uint64 { return r.Handle }).as(Hex).known(),
		errno("error", "name of the error of the replies", func(r *Row) int32 { return int32(r.Error) }),
		fid("fid", "FID of the file that the RPCs are about", func(r *Row) track.FID { return r.File }),
		{Name: "file", Type: Text, Doc: "its path, as in lshark files; its FID when the path is unknown", Get: func(r *Row, _ int, v *Value) bool {
			if v.SetString(r.Path); r.Path == "" && r.File != (track.FID{}) {
				v.buf = schema.AppendFID(v.buf[:0], r.File.Seq, r.File.OID, r.File.Ver)
				v.Text = v.buf
			}
			return len(v.Text) > 0
		}},
		fid("object", "OST object that the RPCs are about", func(r *Row) track.FID { return r.Object }),
	}
}

// missing makes a key of the number of RPCs that have no reply for a reason.
func missing(name, doc string, why track.Missing) *Key[*Row] {
	return NumberKey(name, doc, func(r *Row) int64 { return r.Missing[why] })
}

// rate makes a key of a rate, null when it is unknown.
func rate(name, doc string, get func(r *track.Rate) float64) *Key[*Row] {
	return &Key[*Row]{Name: name, Type: Float, Doc: doc, Get: func(r *Row, _ int, v *Value) bool {
		rate, ok := r.Interval.Rate(r.Row)
		v.F = get(&rate)
		return ok
	}}
}

// distribution makes the key of a distribution of times, null when it is empty.
func distribution[R any](name, doc string, of func(r R) *track.Distribution) *Key[R] {
	part := func(name, doc string, get func(d *track.Distribution) int64) *Key[R] {
		return DurationKey(name, doc, func(r R) (int64, bool) { return get(of(r)), of(r).N > 0 })
	}
	return object(name, doc,
		part("min", "minimum", func(d *track.Distribution) int64 { return d.Min }),
		part("p50", "median", func(d *track.Distribution) int64 { return d.Quantile(.5) }),
		part("p90", "90th percentile", func(d *track.Distribution) int64 { return d.Quantile(.9) }),
		part("p99", "99th percentile", func(d *track.Distribution) int64 { return d.Quantile(.99) }),
		part("max", "maximum", func(d *track.Distribution) int64 { return d.Max }),
		part("sum", "sum", func(d *track.Distribution) int64 { return d.Sum }),
	).when(func(r R) bool { return of(r).N > 0 })
}

func bulkSizes(r *Row) (list []Count) {
	for n, count := range r.IO {
		if count > 0 {
			list = append(list, Count{strconv.Itoa(1 << n), count})
		}
	}
	return list
}

// ErrorCounts lists errors by name with how often each occurred, most frequent
// first. The keys of counts are errnos, negative.
func ErrorCounts(counts map[int32]int64) []Count {
	errnos := make([]int32, 0, len(counts))
	for e := range counts {
		errnos = append(errnos, e)
	}
	slices.SortStableFunc(errnos, func(a, b int32) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(b, a)) })
	list := make([]Count, len(errnos))
	for i, e := range errnos {
		list[i] = Count{string(AppendErrno(nil, e)), counts[e]}
	}
	return list
}
