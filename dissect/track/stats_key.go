package track

import (
	"math"

	"github.com/lshark/lshark/dissect/lnet"
)

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
	for d, n := range dimensionNames {
		if n == name {
			return Dimension(d), true
		}
	}
	return 0, false
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
			if r.Variant != nil {
				k.Variant = r.Variant.Name
			}
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
	for i, c := range k.Job {
		if c == 0 {
			return k.Job[:i]
		}
	}
	return k.Job[:]
}
