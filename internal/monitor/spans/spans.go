// Package spans makes spans of RPCs.
package spans

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/nested"
	"github.com/lshark/lshark/internal/monitor/otlp"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/render/records"
)

// Of returns the span of an RPC that has ended at a time, as one side of it sees it. ok is
// false for an RPC of which the request or the reply was not captured: its begin or its end
// is unknown.
func Of(r *track.RPC, side otlp.Kind, ended int64) (x otlp.Span, ok bool) {
	if !r.HasRequest || !r.HasReply && !r.Unanswered() {
		return x, false
	}
	client, server, op := r.Client.String(), r.Server.String(), OpName(r)
	x = otlp.Span{Kind: side, Name: op, Start: r.Requested().Time, End: ended}
	if side == otlp.Server {
		x.Parent = otlp.SpanOf(client, r.XID, otlp.Client, attempt(r))
	}
	// The monitor at the other end computes the same ids.
	x.Trace, x.ID = otlp.TraceOf(client, r.XID), otlp.SpanOf(client, r.XID, x.Kind, attempt(r))
	failure, status := "timeout", strconv.Itoa(int(r.Status))
	if latency, ok := r.Latency(); ok {
		x.End, failure = x.Start+latency, ""
		if r.Failed() {
			failure = string(records.AppendErrno(nil, r.Status))
		}
		x.Error = failure
	} else {
		x.Error = "no reply"
	}
	x.Attributes = append(x.Attributes,
		otlp.String("rpc.system.name", System),
		otlp.String("error.type", failure),
		otlp.String("server.address", ipAddress(server)),
		otlp.String("client.address", ipAddress(client)),
		otlp.String("lustre.target", r.Target()),
		otlp.String("lustre.client", client),
		otlp.String("lustre.server", server),
		otlp.Int("lustre.xid", int64(r.XID)),
		otlp.String("lustre.job", string(r.Job())),
		otlp.Int("lustre.request.size", int64(r.RequestSize)),
		otlp.Int("lustre.reply.size", int64(r.ReplySize)),
		otlp.Int("lustre.bulk.size", r.BulkBytes()),
		otlp.Int("lustre.early_replies", int64(r.Early)),
		otlp.Int("lustre.resends", int64(max(0, r.Sends-1))))
	if r.HasOpcode && opcodes.Opcodes.Name(uint64(r.Opcode)) != "" {
		x.Attributes = append(x.Attributes, otlp.String("rpc.method", op))
	} else { // by the semantic conventions
		x.Name = System
		x.Attributes = append(x.Attributes, otlp.String("rpc.method", "_OTHER"), otlp.String("rpc.method_original", op))
	}
	if r.HasReply {
		x.Attributes = append(x.Attributes, otlp.String("rpc.response.status_code", cmp.Or(failure, status)))
	}
	if r.HasUser {
		x.Attributes = append(x.Attributes, otlp.String("user.id", strconv.FormatUint(uint64(r.UID), 10)))
	}
	if ns, ok := r.LockWait(); ok {
		x.Attributes = append(x.Attributes, otlp.Float("lustre.lock.wait", float64(ns)/1e9))
	}
	if bulk := r.Seen[0].Bulk; bulk.To != 0 {
		x.Events = append(x.Events, otlp.Event{Time: bulk.From, Name: "bulk begins"}, otlp.Event{Time: bulk.To, Name: "bulk ends"})
	}
	return x, true
}

// OpName returns the name of the operation of an RPC, or its number.
func OpName(r *track.RPC) string {
	if !r.HasOpcode {
		return "unknown"
	}
	if name := opcodes.Opcodes.Name(uint64(r.Opcode)); name != "" {
		return name
	}
	return strconv.FormatUint(uint64(r.Opcode), 10)
}

// attempt returns the number of the attempt in the ids of spans.
func attempt(r *track.RPC) uint32 {
	if r.Replay() {
		return r.ConnCnt // a replay has the xid of the first request
	}
	return 0
}

// AppendTraces appends trees of RPCs as spans with parents, in OTLP/JSON. Each node that sent
// some of them is a resource. ended is when those without a reply were given up.
func AppendTraces(dst []byte, roots []*nested.Node, ended int64, release string) []byte {
	t := traces{ended: ended, release: release}
	for _, n := range roots {
		t.add(n, otlp.TraceOf(n.RPC.Client.String(), n.RPC.XID), otlp.SpanID{})
	}
	return otlp.AppendJSON(dst, t.list)
}

type traces struct {
	ended   int64
	release string
	list    []otlp.ResourceSpans
}

func (t *traces) add(n *nested.Node, trace otlp.TraceID, parent otlp.SpanID) {
	r := n.RPC
	id := otlp.SpanOf(r.Client.String(), r.XID, otlp.Client, attempt(r))
	if x, ok := Of(r, otlp.Client, t.ended); ok {
		x.Trace, x.ID, x.Parent = trace, id, parent
		if ns, ok := r.OwnTime(); ok {
			x.Attributes = append(x.Attributes, otlp.Float("lustre.own_time", float64(ns)/1e9))
		}
		x.Attributes = append(x.Attributes, otlp.String("lustre.link", n.Link.String()))
		to := t.resource(r.Client.String())
		to.Spans = append(to.Spans, x)
	}
	for _, child := range n.Children {
		t.add(child, trace, id)
	}
}

// resource returns the spans of a node that sent requests.
func (t *traces) resource(nid string) *otlp.ResourceSpans {
	node := otlp.String("service.instance.id", nid)
	i := slices.IndexFunc(t.list, func(s otlp.ResourceSpans) bool { return slices.Contains(s.Resource.Attributes, node) })
	if i < 0 {
		i = len(t.list)
		t.list = append(t.list, otlp.ResourceSpans{Resource: otlp.Resource{Scope: "lshark", ScopeVersion: t.release,
			Attributes: []otlp.Attribute{otlp.String("service.name", System), node}}})
	}
	return &t.list[i]
}

// ipAddress returns the IP address in a NID, which is empty on other networks.
func ipAddress(nid string) string {
	address, network, _ := strings.Cut(nid, "@")
	if strings.HasPrefix(network, "tcp") || strings.HasPrefix(network, "o2ib") {
		return address
	}
	return ""
}

// System is the name of the RPC system in OpenTelemetry's attributes.
const System = "lustre"
