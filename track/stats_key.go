package track

import (
	"math"

	"github.com/lshark/lshark/lnet"
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
	dimensions
)

var dimensionNames = [dimensions]string{"op", "variant", "client", "server", "target", "job", "uid", "portal", "handle", "error"}

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
// that rows are grouped by, the others are zero. It has at most 128 bytes, as a
// map would allocate larger keys one by one.
type Key struct {
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
func (k *Key) JobName() []byte {
	for i, c := range k.Job {
		if c == 0 {
			return k.Job[:i]
		}
	}
	return k.Job[:]
}
