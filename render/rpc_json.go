package render

import (
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/render/records"
)

// RPCRenderer appends what it shows of an RPC to dst.
type RPCRenderer interface {
	AppendRPC(dst []byte, r *track.RPC, at Moment) []byte
}

// RPCJSON renders an RPC as one JSON object on a line.
type RPCJSON struct{ json *RecordJSON[*track.RPC] }

// NewRPCJSON makes a JSON renderer of RPCs.
func NewRPCJSON() *RPCJSON { return &RPCJSON{NewRecordJSON(records.RPCs.Keys(), false)} }

// AppendRPC appends the object and a newline.
func (j *RPCJSON) AppendRPC(dst []byte, r *track.RPC, _ Moment) []byte {
	return append(j.json.Append(dst, r), '\n')
}
