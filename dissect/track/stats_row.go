package track

import (
	"math"
	"math/bits"
	"slices"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
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

// Dimension is what statistics can be grouped by.
type Dimension uint8

// The dimensions.
const (
	ByOp Dimension = iota
	ByVariant
	ByClient
	ByServer
	ByTarget
	ByJob
	ByUID
	ByPortal
	ByHandle
	ByError
	ByFID    // of the file; needs StatsOptions.Subject, as the next two
	ByFile   // its path
	ByObject // OST object
	dimensions
)

var dimensionNames = [dimensions]string{"op", "variant", "client", "server", "target", "job", "uid", "portal", "handle", "error", "fid",
	"file", "object"}

func (d Dimension) String() string { return dimensionNames[d] }

// DimensionNames returns the names of all dimensions, in their order.
func DimensionNames() []string { return dimensionNames[:] }

// ParseDimension returns the dimension with a name.
func ParseDimension(name string) (Dimension, bool) {
	i := slices.Index(dimensionNames[:], name)
	return Dimension(max(i, 0)), i >= 0
}

// Key is what the RPCs of a row have in common: the fields of the dimensions
// that rows are grouped by, the others are zero.
type Key struct {
	RequestKey
	File, Object FID
}

// RequestKey is the part of a Key that is known when a request is sent. It has at
// most 128 bytes, as a map would allocate larger keys one by one.
type RequestKey struct {
	Variant        string
	Target         string
	Handle         uint64
	Opcode         uint32
	UID            uint32
	Portal         uint32
	Error          int16 // negative errno, 0 without error
	HasOpcode      bool
	HasUser        bool
	Client, Server lnet.NID
	Job            [32]byte
}

// NeedsSubject reports whether a dimension needs to know the file that an RPC is
// about.
func (d Dimension) NeedsSubject() bool { return d >= ByFID && d <= ByObject }

// setSubject sets the file and object of an RPC, in the dimensions that are these.
func (k *Key) setSubject(by []Dimension, file, object FID) {
	for _, d := range by {
		switch d {
		case ByFID, ByFile:
			k.File = file
		case ByObject:
			k.Object = object
		}
	}
}

// Key returns the values of an RPC in some dimensions.
func (r *RPC) Key(by []Dimension) (k Key) {
	for _, d := range by {
		switch d {
		case ByOp:
			k.Opcode, k.HasOpcode = r.Opcode, r.HasOpcode
		case ByVariant:
			k.Variant = r.Variant.String()
		case ByClient:
			k.Client = r.Client
		case ByServer:
			k.Server = r.Server
		case ByTarget:
			k.Target = r.Target()
		case ByJob:
			k.Job = r.job
		case ByUID:
			k.UID, k.HasUser = r.UID, r.HasUser
		case ByPortal:
			k.Portal = r.Portal
		case ByHandle:
			k.Handle = r.Handle
		case ByError:
			k.Error = int16(max(math.MinInt16, min(r.Status, r.contextError(), 0)))
		}
	}
	return k
}

// JobName returns the job id of the key.
func (k *RequestKey) JobName() []byte {
	return schema.TrimNUL(k.Job[:])
}
