package render

import (
	"strconv"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/track"
)

// RPCJSON renders an RPC as one JSON object on a line.
type RPCJSON struct{ stamp stamp }

// NewRPCJSON makes a JSON renderer of RPCs.
func NewRPCJSON() *RPCJSON { return &RPCJSON{} }

// RPCRenderer appends what it shows of an RPC to dst.
type RPCRenderer interface {
	AppendRPC(dst []byte, r *track.RPC, at Moment) []byte
}

// null is what JSON gets for a key whose value is not known.
const null = "null"

// AppendRPC appends the object and a newline. Its keys are those of -T fields,
// request and reply taken together.
func (j *RPCJSON) AppendRPC(dst []byte, r *track.RPC, _ Moment) []byte {
	dst = append(dst, '{')
	for i := range rpcKeys {
		k := &rpcKeys[i]
		if k.part || k.rare && !k.has(r) {
			continue
		}
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), k.name...), '"', ':')
		dst = k.json(dst, j, r)
	}
	return append(dst, '}', '\n')
}

func (k *rpcKey) json(dst []byte, j *RPCJSON, r *track.RPC) []byte {
	if k.nested != nil {
		return k.nested(dst, j, r)
	}
	if !k.has(r) {
		return append(dst, null...)
	}
	switch k.form {
	case formText:
		var buf [64]byte
		return schema.AppendJSONString(dst, k.append(buf[:0], r))
	case formString:
		return append(k.append(append(dst, '"'), r), '"')
	}
	return k.append(dst, r)
}

// point appends where a message was seen.
func (j *RPCJSON) point(dst []byte, p track.Point) []byte {
	if p.Frame == 0 {
		return append(dst, null...)
	}
	dst = strconv.AppendInt(append(dst, `{"frame":`...), p.Frame, 10)
	dst = j.stamp.iso(append(dst, `,"time":"`...), p.Time)
	return append(dst, '"', '}')
}

func (j *RPCJSON) sightings(dst []byte, r *track.RPC) []byte {
	dst = append(dst, '[')
	for i := range r.Seen {
		s := &r.Seen[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(append(dst, `{"source":`...), int64(s.Source), 10)
		dst = j.point(append(dst, `,"request":`...), s.Request)
		dst = j.point(append(dst, `,"reply":`...), s.Reply)
		dst = append(dst, `,"latency":`...)
		if s.Request.Frame != 0 && s.Reply.Frame != 0 {
			dst = appendElapsed(dst, s.Reply.Time-s.Request.Time, 9)
		} else {
			dst = append(dst, null...)
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// shownFlags are the bits of pb_flags that say what kind of request it is.
const shownFlags = dissect.FlagResent | dissect.FlagReplay | dissect.FlagReqReplayDone | dissect.FlagLockReplayDone

func appendFlagList(dst []byte, names *schema.Names, word uint64) []byte {
	rest := names.Set(word, func(v *schema.Value) {
		if dst[len(dst)-1] == '"' {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), v.Name...), '"')
	})
	if rest != 0 {
		if dst[len(dst)-1] == '"' {
			dst = append(dst, ',')
		}
		dst = append(schema.AppendHex(append(dst, '"'), rest), '"')
	}
	return dst
}
