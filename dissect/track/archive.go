package track

import "github.com/lshark/lshark/internal/codec"

// Archive writes RPCs that have ended as bytes, a tenth of the size of a Clone, and
// reads them back. One goroutine may write while others read.
type Archive struct{ tables codec.Tables }

var archivePlan codec.Plan[RPC]

// Append appends an RPC to dst.
func (a *Archive) Append(dst []byte, r *RPC) []byte { return archivePlan.Append(dst, &a.tables, r) }

// Read makes r the RPC that Append wrote. It refers to b, and has a Connection of its own
// with what was known of the connection by then. r must be used for nothing else, or be
// zero. Attached values of it are those of r, whichever RPC was read.
func (a *Archive) Read(b []byte, r *RPC) error {
	_, err := archivePlan.Read(b, &a.tables, r)
	return err
}
