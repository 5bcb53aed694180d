package records

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// Row is a row of statistics as a record, with its interval.
type Row struct {
	*track.Row
	Interval *track.Interval
}

// Rows are the keys of a row of statistics. The JSON has time and interval only
// with --interval, window and the rates only with --window, and of the dimensions
// (op to object) those of --by.
var Rows = Table[*Row]{Record: "stats row", Keys: []Key[*Row]{
	{Name: "time", Type: Time, Doc: "begin of the interval", Get: func(r *Row, v *Value) bool {
		v.U = uint64(r.Interval.From)
		return true
	}},
	{Name: "interval", Type: Duration, Doc: "length of the interval", Get: func(r *Row, v *Value) bool {
		v.U = uint64(r.Interval.To - r.Interval.From)
		return true
	}},
	{Name: "others", Type: Bool, JSON: Omit, Doc: "the row is the sum of all values beyond the maximum number of rows", Get: func(r *Row, _ *Value) bool { return r.Others }},
	{Name: "op", Type: Enum, Names: opcodes.Opcodes, Doc: "operation of the RPCs", Get: func(r *Row, v *Value) bool {
		v.U = uint64(r.Opcode)
		return r.HasOpcode
	}},
	{Name: "variant", Type: Text, Doc: "form of the operation", Get: func(r *Row, v *Value) bool {
		v.SetString(r.Variant)
		return true
	}},
	{Name: "client", Type: NID, Doc: "node that sent the requests", Get: func(r *Row, v *Value) bool {
		v.NID = r.Client
		return true
	}},
	{Name: "server", Type: NID, Doc: "node that received the requests", Get: func(r *Row, v *Value) bool {
		v.NID = r.Server
		return true
	}},
	{Name: "target", Type: Text, Doc: "target, when a message names it or several together prove it", Get: func(r *Row, v *Value) bool {
		v.SetString(r.Target)
		return r.Target != ""
	}},
	{Name: "job", Type: Text, Doc: "job id", Get: func(r *Row, v *Value) bool {
		v.Text = r.JobName()
		return true
	}},
	{Name: "uid", Doc: "user", Get: func(r *Row, v *Value) bool {
		v.U = uint64(r.UID)
		return r.HasUser
	}},
	{Name: "portal", Doc: "LNet portal of the requests", Get: func(r *Row, v *Value) bool {
		v.U = uint64(r.Portal)
		return true
	}},
	{Name: "handle", Type: Hex, Doc: "handle of the connection at the server", Get: func(r *Row, v *Value) bool {
		v.U = r.Handle
		return r.Handle != 0
	}},
	{Name: "error", Type: Text, Doc: "name of the error of the replies", Get: func(r *Row, v *Value) bool {
		v.SetErrno(int32(r.Error))
		return r.Error < 0
	}},
	{Name: "fid", Type: FID, Doc: "FID of the file that the RPCs are about", Get: func(r *Row, v *Value) bool { return v.setFID(r.File) }},
	{Name: "file", Type: Text, Doc: "its path, as in lshark files; its FID when the path is unknown", Get: func(r *Row, v *Value) bool {
		v.buf = AppendFile(v.buf[:0], r.Row)
		v.Text = v.buf
		return len(v.Text) > 0
	}},
	{Name: "object", Type: FID, Doc: "OST object that the RPCs are about", Get: func(r *Row, v *Value) bool { return v.setFID(r.Object) }},
	rowCount("count", NoUnit, "number of RPCs", func(r *Row) int64 { return r.Count }),
	{Name: "window", Type: Duration, Doc: "length of the last part of the capture that the rates are of: that of --window or up to a tenth less, or since the capture began", Get: func(r *Row, v *Value) bool {
		v.U = uint64(r.Interval.Window())
		return true
	}},
	rowRate("ops_rate", NoUnit, "RPCs that were answered per second in the window; those without a reply by design count when they are sent", func(r *track.Rate) float64 { return r.RPCs }),
	rowRate("byte_rate", Bytes, "bytes of the requests, replies and bulk data of these RPCs, per second", func(r *track.Rate) float64 { return r.Bytes }),
	rowCount("replies", NoUnit, "number of RPCs with a reply", func(r *Row) int64 { return r.Replies }),
	{Name: "errors", Type: Counts, Doc: "errors in the final status of RPCs, and how often each occurred", Get: func(r *Row, v *Value) bool {
		v.Counts = ErrorCounts(r.Errors)
		return true
	}},
	{Name: "other_errors", Type: Counts, JSON: Omit, Doc: "errors that are not in the final status: of an intent, of a range, or of a reply after which the request was sent again",
		Get: func(r *Row, v *Value) bool {
			v.Counts = ErrorCounts(r.OtherErrors)
			return len(v.Counts) > 0
		}},
	rowCount("unanswered", NoUnit, "number of RPCs that the server did not answer: the reply was due, and everything that the server sent was captured", func(r *Row) int64 { return r.Missing[track.Unanswered] }),
	rowCount("not_captured", NoUnit, "number of RPCs without a reply where bytes of the server were not captured", func(r *Row) int64 { return r.Missing[track.NotCaptured] }),
	rowCount("encrypted", NoUnit, "number of RPCs without a reply of which encryption hides when it was due, or whose reply may be an encrypted one that fits no request", func(r *Row) int64 { return r.Missing[track.EncryptedReply] }),
	rowCount("end", NoUnit, "number of RPCs whose reply was not due when the capture ended", func(r *Row) int64 { return r.Missing[track.CaptureEnded] }),
	rowCount("one_way", NoUnit, "number of RPCs of operations that have no reply", func(r *Row) int64 { return r.OneWay }),
	rowCount("resends", NoUnit, "how often requests were sent again", func(r *Row) int64 { return r.Resends }),
	distribution("latency", "times from request to reply", func(r *Row) *track.Distribution { return &r.Latency }),
	distribution("lock_wait", "times from the request of a lock that had to wait until it was granted, or as long as its wait is known", func(r *Row) *track.Distribution { return &r.LockWait }),
	rowCount("lock_waits", NoUnit, "number of RPCs whose lock had to wait", func(r *Row) int64 { return r.LockWait.N }),
	{Name: "service", Type: Object, Doc: "always null: servers do not send the exact times that they worked; see service_time_max", Get: func(*Row, *Value) bool { return false }},
	{Name: "service_time_max", Type: Seconds, Doc: "upper bound of the time the server worked on any RPC of the row, exclusive; pb_service_time has whole seconds, so the minimum is 2", Get: func(r *Row, v *Value) bool {
		v.U = uint64(r.ServiceLimit)
		return r.ServiceLimit > 0
	}},
	omitEmpty(distribution("rdma_time", "times in which RDMA writes of an RPC were under way, over InfiniBand", func(r *Row) *track.Distribution { return &r.RDMATime })),
	distribution("rtt", "round trips to the server, by the ACKs on the connections of the requests", func(r *Row) *track.Distribution { return &r.RTT }),
	rowCount("retransmits", NoUnit, "number of TCP segments or InfiniBand packets with bytes of the RPCs that were sent again", func(r *Row) int64 { return r.Retransmits }),
	{Name: "retransmit_time", Type: Duration, Doc: "part of the latencies that was lost by retransmission, as far as it is known", Get: func(r *Row, v *Value) bool {
		v.U = uint64(r.RetransmitTime)
		return true
	}},
	rowCount("request_bytes", Bytes, "bytes of the requests", func(r *Row) int64 { return r.RequestBytes }),
	rowCount("reply_bytes", Bytes, "bytes of the replies", func(r *Row) int64 { return r.ReplyBytes }),
	rowCount("bulk_bytes", Bytes, "bytes of bulk data", func(r *Row) int64 { return r.BulkBytes }),
	{Name: "io_sizes", Type: Counts, Doc: "number of bulk transfers by size: of at most so many bytes, and more than half as many", Get: func(r *Row, v *Value) bool {
		v.Counts = v.Counts[:0:0]
		for n, count := range r.IO {
			if count > 0 {
				v.Counts = append(v.Counts, Count{strconv.Itoa(1 << n), count})
			}
		}
		return true
	}},
	{Name: "in_flight", Type: Object, Doc: "number of RPCs of the row that were waiting for a reply when one was sent, itself included", Parts: []Key[*Row]{
		rowCount("max", NoUnit, "maximum", func(r *Row) int64 { return r.DepthMax }),
		{Name: "mean", Type: Float, Doc: "the average", Get: func(r *Row, v *Value) bool {
			v.F = r.DepthMean()
			return true
		}},
	}},
}}

// rowCount makes a key of a number.
func rowCount(name string, u Unit, doc string, get func(r *Row) int64) Key[*Row] {
	return Key[*Row]{Name: name, Unit: u, Doc: doc, Get: func(r *Row, v *Value) bool {
		v.U = uint64(get(r))
		return true
	}}
}

// omitEmpty leaves a key without a value out of JSON.
func omitEmpty(k Key[*Row]) Key[*Row] {
	k.JSON = Omit
	return k
}

// rowRate makes a key of a rate, null when it is unknown.
func rowRate(name string, u Unit, doc string, get func(r *track.Rate) float64) Key[*Row] {
	return Key[*Row]{Name: name, Type: Float, Unit: u, Doc: doc, Get: func(r *Row, v *Value) bool {
		rate, ok := r.Interval.Rate(r.Row)
		v.F = get(&rate)
		return ok
	}}
}

// distribution makes the key of a distribution of times, null when it is empty.
func distribution(name, doc string, of func(r *Row) *track.Distribution) Key[*Row] {
	part := func(name, doc string, get func(d *track.Distribution) int64) Key[*Row] {
		return Key[*Row]{Name: name, Type: Duration, Doc: doc, Get: func(r *Row, v *Value) bool {
			d := of(r)
			v.U = uint64(get(d))
			return d.N > 0
		}}
	}
	return Key[*Row]{Name: name, Type: Object, Doc: doc, Get: func(r *Row, _ *Value) bool { return of(r).N > 0 }, Parts: []Key[*Row]{
		part("min", "minimum", func(d *track.Distribution) int64 { return d.Min }),
		part("p50", "median", func(d *track.Distribution) int64 { return d.Quantile(.5) }),
		part("p90", "90th percentile", func(d *track.Distribution) int64 { return d.Quantile(.9) }),
		part("p99", "99th percentile", func(d *track.Distribution) int64 { return d.Quantile(.99) }),
		part("max", "maximum", func(d *track.Distribution) int64 { return d.Max }),
		part("sum", "sum", func(d *track.Distribution) int64 { return d.Sum }),
	}}
}

// ErrorCounts lists errors by name with how often each occurred, most frequent
// first. The keys of counts are errnos, negative.
func ErrorCounts(counts map[int32]int64) []Count {
	errnos := make([]int32, 0, len(counts))
	for e := range counts {
		errnos = append(errnos, e)
	}
	slices.SortFunc(errnos, func(a, b int32) int {
		if c := cmp.Compare(counts[b], counts[a]); c != 0 {
			return c
		}
		return cmp.Compare(b, a)
	})
	list := make([]Count, len(errnos))
	for i, e := range errnos {
		list[i] = Count{string(AppendErrno(nil, e)), counts[e]}
	}
	return list
}

// AppendFile appends the path of the file of a row, its FID when the path is unknown,
// nothing when the file is.
func AppendFile(dst []byte, r *track.Row) []byte {
	switch {
	case r.Path != "":
		return schema.AppendText(dst, []byte(r.Path))
	case r.File == (track.FID{}):
		return dst
	}
	return schema.AppendFID(dst, r.File.Seq, r.File.OID, r.File.Ver)
}
