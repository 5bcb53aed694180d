package monitor

import (
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/monitor/otlp"
	"github.com/lshark/lshark/opcodes"
)

// spans makes spans of RPCs. A span is used again for the next RPC.
type spans struct {
	selector *selector
	count    *counter
	span     otlp.Span

	server, user, status []byte // scratch space
}

// of returns the span of an RPC that has ended at a time, valid until the next call. ok is
// false for an RPC of which the request or the reply was not captured: its begin or its end
// is unknown.
func (s *spans) of(r *track.RPC, ended int64) (span *otlp.Span, ok bool) {
	if !r.HasRequest || !r.HasReply && !r.Unanswered() {
		return nil, false
	}
	x := &s.span
	*x = otlp.Span{Kind: otlp.Client, Attributes: x.Attributes[:0], Events: x.Events[:0]}
	if s.count.side(r) == ServerSide {
		x.Kind = otlp.Server
	}
	client := s.selector.nid(r)
	s.setIDs(r, client)
	x.Start, x.End = r.Requested().Time, ended
	failure := ""
	if latency, ok := r.Latency(); ok {
		x.End = x.Start + latency
		if r.Failed() {
			failure = s.count.errnoName(r.Status)
		}
		x.Error = failure
	} else {
		failure, x.Error = "timeout", "no reply"
	}
	s.server = r.Server.Append(s.server[:0])
	server := text(s.server)
	x.Attributes = append(x.Attributes,
		otlp.String("rpc.system.name", rpcSystem),
		otlp.String("error.type", failure),
		otlp.String("server.address", ipAddress(server)),
		otlp.String("client.address", ipAddress(client)),
		otlp.String("lustre.target", r.Target()),
		otlp.String("lustre.client", client),
		otlp.String("lustre.server", server),
		otlp.Int("lustre.xid", int64(r.XID)),
		otlp.String("lustre.job", text(r.Job())),
		otlp.Int("lustre.request.size", int64(r.RequestSize)),
		otlp.Int("lustre.reply.size", int64(r.ReplySize)),
		otlp.Int("lustre.bulk.size", r.BulkBytes()),
		otlp.Int("lustre.early_replies", int64(r.Early)),
		otlp.Int("lustre.resends", int64(max(0, r.Sends-1))))
	s.setMethod(r)
	if r.HasReply {
		s.status = strconv.AppendInt(s.status[:0], int64(r.Status), 10)
		status := text(s.status)
		if failure != "" {
			status = failure
		}
		x.Attributes = append(x.Attributes, otlp.String("rpc.response.status_code", status))
	}
	if r.HasUser {
		s.user = strconv.AppendUint(s.user[:0], uint64(r.UID), 10)
		x.Attributes = append(x.Attributes, otlp.String("user.id", text(s.user)))
	}
	if ns, ok := r.LockWait(); ok {
		x.Attributes = append(x.Attributes, otlp.Float("lustre.lock.wait", float64(ns)/1e9))
	}
	if bulk := r.Seen[0].Bulk; bulk.To != 0 {
		x.Events = append(x.Events, otlp.Event{Time: bulk.From, Name: "bulk begins"}, otlp.Event{Time: bulk.To, Name: "bulk ends"})
	}
	return x, true
}

// setIDs sets the ids of the span, which the monitor at the other end computes as well.
func (s *spans) setIDs(r *track.RPC, client string) {
	attempt := uint32(0)
	if r.Replay() {
		attempt = r.ConnCnt // a replay has the xid of the first request
	}
	x := &s.span
	x.Trace, x.ID = otlp.TraceOf(client, r.XID), otlp.SpanOf(client, r.XID, x.Kind, attempt)
	if x.Kind == otlp.Server {
		x.Parent = otlp.SpanOf(client, r.XID, otlp.Client, attempt)
	}
}

// setMethod sets the name of the span and the method, by the semantic conventions also of
// an unknown opcode.
func (s *spans) setMethod(r *track.RPC) {
	x, name := &s.span, s.count.opName(r)
	if r.HasOpcode && opcodes.Opcodes.Name(uint64(r.Opcode)) != "" {
		x.Name = name
		x.Attributes = append(x.Attributes, otlp.String("rpc.method", name))
		return
	}
	x.Name = rpcSystem
	x.Attributes = append(x.Attributes, otlp.String("rpc.method", "_OTHER"), otlp.String("rpc.method_original", name))
}

// ipAddress returns the IP address in a NID, which is empty on other networks.
func ipAddress(nid string) string {
	address, network, _ := strings.Cut(nid, "@")
	if strings.HasPrefix(network, "tcp") || strings.HasPrefix(network, "o2ib") {
		return address
	}
	return ""
}

// rpcSystem is the name of the RPC system in OpenTelemetry's attributes.
const rpcSystem = "lustre"

// Names returns how metrics are named for OTLP receivers: latencies by the semantic
// conventions for RPCs.
func Names() otlp.Names {
	duration := func(side, name string) otlp.Family {
		return otlp.Family{From: "lshark_rpc_latency_seconds", Label: "side", Value: side, To: name, Unit: "s",
			Constant: []otlp.Attribute{otlp.String("rpc.system.name", rpcSystem)}}
	}
	return otlp.Names{
		Families: []otlp.Family{
			duration(ClientSide, "rpc.client.call.duration"), duration(ServerSide, "rpc.server.call.duration"),
			{From: "lshark_rpcs_in_flight", To: "lshark.rpcs.in_flight", Unit: "{call}", Sum: true},
			{From: "lshark_connections", To: "lshark.connections", Unit: "{connection}", Sum: true},
			{From: "process_cpu_seconds", To: "process.cpu.time", Unit: "s"},
			{From: "process_resident_memory_bytes", To: "process.memory.usage", Unit: "By", Sum: true},
			{From: "process_open_fds", To: "process.unix.file_descriptor.count", Unit: "{file_descriptor}", Sum: true},
			{From: "go_goroutines", To: "go.goroutine.count", Unit: "{goroutine}", Sum: true},
		},
		Attributes: []otlp.Pair{{From: "op", To: "rpc.method"}, {From: "target", To: "lustre.target"}, {From: "error", To: "error.type"}, {From: "client", To: "lustre.client"}, {From: "jobid", To: "lustre.job"}, {From: "uid", To: "user.id"}},
	}
}
