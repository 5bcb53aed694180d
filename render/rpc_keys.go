package render

import (
	"strconv"
	"strings"

	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/track"
)

// rpcForm says how a value lies in JSON.
type rpcForm uint8

const (
	formNumber rpcForm = iota // as it is
	formString                // between quotes, nothing to escape
	formText                  // a string of the wire
)

// rpcKey is a key of an RPC record.
type rpcKey struct {
	name   string
	form   rpcForm
	part   bool // for -T fields only: JSON has it inside another key
	rare   bool // JSON leaves it out when there is nothing to say
	has    func(r *track.RPC) bool
	append func(dst []byte, r *track.RPC) []byte
	nested func(dst []byte, j *RPCJSON, r *track.RPC) []byte // JSON of a key with parts
}

// RPCKeys lists the names of the keys of RPC records that -T fields knows.
func RPCKeys() []string {
	var names []string
	for i := range rpcKeys {
		if rpcKeys[i].append != nil {
			names = append(names, rpcKeys[i].name)
		}
	}
	return names
}

func always(*track.RPC) bool         { return true }
func hasRequest(r *track.RPC) bool   { return r.HasRequest }
func hasUser(r *track.RPC) bool      { return r.HasUser }
func hasReply(r *track.RPC) bool     { return r.HasReply }
func hasOpcode(r *track.RPC) bool    { return r.HasOpcode }
func hasTarget(r *track.RPC) bool    { return r.Target() != "" }
func hasHandle(r *track.RPC) bool    { return r.Handle != 0 }
func hasFID(r *track.RPC) bool       { return r.HasFID }
func hasName(r *track.RPC) bool      { return len(r.Name()) > 0 }
func hasStatus(r *track.RPC) bool    { return r.Has(opcodes.PbStatus) }
func hasTransno(r *track.RPC) bool   { return r.Has(opcodes.PbTransno) }
func hasService(r *track.RPC) bool   { return r.Has(opcodes.PbServiceTime) }
func hasOthers(r *track.RPC) bool    { return len(r.OtherErrors) > 0 }
func hasEstimate(r *track.RPC) bool  { return r.Has(opcodes.PbTimeout) || r.Early > 0 }
func seenTwice(r *track.RPC) bool    { return len(r.Seen) > 1 }
func isOneWay(r *track.RPC) bool     { return r.OneWay }
func isEncrypted(r *track.RPC) bool  { return r.Encrypted }
func hasLatency(r *track.RPC) bool   { _, ok := r.Latency(); return ok }
func hasNodeTime(r *track.RPC) bool  { _, ok := r.NodeTime(); return ok }
func hasBulkTime(r *track.RPC) bool  { _, ok := r.BulkTime(); return ok }
func hasWireTime(r *track.RPC) bool  { return hasLatency(r) && hasNodeTime(r) }
func wasRequested(r *track.RPC) bool { return r.Requested().Frame != 0 }
func wasReplied(r *track.RPC) bool   { return r.Replied().Frame != 0 }

func integer[T int | int32 | int64 | uint32](get func(r *track.RPC) T) func([]byte, *track.RPC) []byte {
	return func(dst []byte, r *track.RPC) []byte { return strconv.AppendInt(dst, int64(get(r)), 10) }
}

func elapsed(get func(r *track.RPC) (int64, bool)) func([]byte, *track.RPC) []byte {
	return func(dst []byte, r *track.RPC) []byte {
		ns, _ := get(r)
		return appendElapsed(dst, ns, 9)
	}
}

func moment(get func(r *track.RPC) track.Point) func([]byte, *track.RPC) []byte {
	return func(dst []byte, r *track.RPC) []byte {
		var s stamp
		return s.iso(dst, get(r).Time)
	}
}

// wireTime is the part of the latency that was not spent behind the capture
// point nearest to the server.
func wireTime(r *track.RPC) (int64, bool) {
	all, _ := r.Latency()
	node, ok := r.NodeTime()
	return max(0, all-node), ok
}

// rpcKeys are the keys of a record, in the order of its JSON.
var rpcKeys = []rpcKey{
	{name: "xid", form: formString, has: always, append: func(dst []byte, r *track.RPC) []byte { return strconv.AppendUint(dst, r.XID, 10) }},
	{name: "opcode", has: hasOpcode, form: formString, append: func(dst []byte, r *track.RPC) []byte { return appendOpcode(dst, r.Opcode) }},
	{name: "opc", has: hasOpcode, append: integer(func(r *track.RPC) uint32 { return r.Opcode })},
	{name: "variant", form: formString, has: always, append: appendVariant},
	{name: "client", form: formString, has: always, append: func(dst []byte, r *track.RPC) []byte { return r.Client.Append(dst) }},
	{name: "server", form: formString, has: always, append: func(dst []byte, r *track.RPC) []byte { return r.Server.Append(dst) }},
	{name: "target", form: formText, has: hasTarget, append: func(dst []byte, r *track.RPC) []byte { return append(dst, r.Target()...) }},
	{name: "job", form: formText, has: (*track.RPC).HasJob, append: func(dst []byte, r *track.RPC) []byte { return append(dst, r.Job()...) }},
	{name: "uid", has: hasUser, append: integer(func(r *track.RPC) uint32 { return r.UID })},
	{name: "gid", has: hasUser, append: integer(func(r *track.RPC) uint32 { return r.GID })},
	{name: "request", nested: func(dst []byte, j *RPCJSON, r *track.RPC) []byte { return j.point(dst, r.Requested()) }},
	{name: "request.frame", part: true, has: wasRequested, append: integer(func(r *track.RPC) int64 { return r.Requested().Frame })},
	{name: "request.time", part: true, has: wasRequested, append: moment((*track.RPC).Requested)},
	{name: "reply", nested: func(dst []byte, j *RPCJSON, r *track.RPC) []byte { return j.point(dst, r.Replied()) }},
	{name: "reply.frame", part: true, has: wasReplied, append: integer(func(r *track.RPC) int64 { return r.Replied().Frame })},
	{name: "reply.time", part: true, has: wasReplied, append: moment((*track.RPC).Replied)},
	{name: "latency", has: hasLatency, append: elapsed((*track.RPC).Latency)},
	{name: "service_time", has: hasService, append: integer(func(r *track.RPC) uint32 { return r.Service })},
	{name: "status", has: hasStatus, append: integer(func(r *track.RPC) int32 { return r.Status })},
	{name: "error", form: formString, rare: true, has: (*track.RPC).Failed, append: func(dst []byte, r *track.RPC) []byte { return appendErrno(dst, r.Status) }},
	{name: "other_errors", rare: true, has: hasOthers, append: appendOthers, nested: func(dst []byte, _ *RPCJSON, r *track.RPC) []byte {
		dst = append(dst, '[')
		for i, e := range r.OtherErrors {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendErrno(append(dst, '"'), e), '"')
		}
		return append(dst, ']')
	}},
	{name: "transno", form: formString, has: hasTransno, append: func(dst []byte, r *track.RPC) []byte { return strconv.AppendUint(dst, r.Transno, 10) }},
	{name: "early_replies", has: always, append: integer(func(r *track.RPC) int { return r.Early })},
	{name: "sends", has: always, append: integer(func(r *track.RPC) int { return r.Sends })},
	{name: "flags", has: always, append: appendRPCFlags, nested: func(dst []byte, _ *RPCJSON, r *track.RPC) []byte {
		return append(appendFlagList(append(dst, '['), opcodes.MsgFlags, uint64(r.Flags&shownFlags)), ']')
	}},
	{name: "request_bytes", has: hasRequest, append: integer(func(r *track.RPC) int { return r.RequestSize })},
	{name: "reply_bytes", has: hasReply, append: integer(func(r *track.RPC) int { return r.ReplySize })},
	{name: "bulk_bytes", has: always, append: integer((*track.RPC).BulkBytes)},
	{name: "bulk_time", has: hasBulkTime, append: elapsed((*track.RPC).BulkTime)},
	{name: "estimate", has: hasEstimate, append: integer(func(r *track.RPC) uint32 { return r.Estimate })},
	{name: "portal", has: hasRequest, append: integer(func(r *track.RPC) uint32 { return r.Portal })},
	{name: "handle", form: formString, rare: true, has: hasHandle, append: func(dst []byte, r *track.RPC) []byte { return schema.AppendHex(dst, r.Handle) }},
	{name: "fid", form: formString, rare: true, has: hasFID, append: appendRPCFID},
	{name: "name", form: formText, rare: true, has: hasName, append: func(dst []byte, r *track.RPC) []byte { return append(dst, r.Name()...) }},
	{name: "one_way", rare: true, has: isOneWay, append: appendTrue},
	{name: "encrypted", rare: true, has: isEncrypted, append: appendTrue},
	{name: "node_time", rare: true, has: hasNodeTime, append: elapsed((*track.RPC).NodeTime)},
	{name: "wire_time", rare: true, has: hasWireTime, append: elapsed(wireTime)},
	{name: "sightings", rare: true, has: seenTwice, nested: func(dst []byte, j *RPCJSON, r *track.RPC) []byte { return j.sightings(dst, r) }},
}

// appendOthers appends the errors that the status does not tell.
func appendOthers(dst []byte, r *track.RPC) []byte {
	for i, e := range r.OtherErrors {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendErrno(dst, e)
	}
	return dst
}

func appendTrue(dst []byte, _ *track.RPC) []byte { return append(dst, "true"...) }

func appendVariant(dst []byte, r *track.RPC) []byte {
	if r.Variant == nil {
		return dst
	}
	return append(dst, r.Variant.Name...)
}

func appendRPCFID(dst []byte, r *track.RPC) []byte {
	return schema.AppendFID(dst, r.FID.Seq, r.FID.OID, r.FID.Ver)
}

func appendRPCFlags(dst []byte, r *track.RPC) []byte {
	if r.Flags&shownFlags == 0 {
		return dst
	}
	return appendFlags(dst, opcodes.MsgFlags, uint64(r.Flags&shownFlags), "|")
}

// RPCFields renders RPCs as lines of values with tabs between them.
type RPCFields struct {
	names []string
	keys  []*rpcKey
}

// NewRPCFields makes a renderer of the named keys; names must be in RPCKeys,
// but for the rpc. that they have in filters.
func NewRPCFields(names []string) (f *RPCFields, unknown string) {
	f = &RPCFields{names: names}
next:
	for _, name := range names {
		for i := range rpcKeys {
			if k := &rpcKeys[i]; k.name == strings.TrimPrefix(name, "rpc.") && k.append != nil {
				f.keys = append(f.keys, k)
				continue next
			}
		}
		return nil, name
	}
	return f, ""
}

// Header appends the line of the names.
func (f *RPCFields) Header(dst []byte) []byte {
	return append(append(dst, strings.Join(f.names, "\t")...), '\n')
}

// AppendRPC appends the line of an RPC; what is not known is empty.
func (f *RPCFields) AppendRPC(dst []byte, r *track.RPC, _ Moment) []byte {
	for i, k := range f.keys {
		if i > 0 {
			dst = append(dst, '\t')
		}
		switch {
		case !k.has(r):
		case k.form == formText:
			var buf [64]byte
			dst = schema.AppendText(dst, k.append(buf[:0], r))
		default:
			dst = k.append(dst, r)
		}
	}
	return append(dst, '\n')
}
