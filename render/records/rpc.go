package records

import (
	"sync"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

type rpc = track.RPC

// RPCs are the keys of RPCs.
var RPCs = Table[*rpc]{Record: "rpc", Command: "rpcs", Name: "rpcs", InFilters: true, Prefix: "rpc.", Keys: sync.OnceValue(func() []*Key[*rpc] {
	hasUser := func(r *rpc) bool { return r.HasUser }
	hasOpcode := func(r *rpc) bool { return r.HasOpcode }
	return []*Key[*rpc]{
		NumberKey("xid", "number of the RPC", func(r *rpc) uint64 { return r.XID }).as(Decimal),
		enum("opcode", opcodes.Opcodes, "operation", func(r *rpc) uint32 { return r.Opcode }).when(hasOpcode),
		NumberKey("opc", "number of the operation", func(r *rpc) uint32 { return r.Opcode }).when(hasOpcode),
		enum("opcode_inferred", opcodes.Opcodes, inferredDoc, func(r *rpc) uint32 { return r.Inferred }).nonzero(),
		anyText("variant", variantDoc, func(r *rpc) string { return r.Variant.String() }),
		NIDKey("client", "node that sent the request, also when it is a server", func(r *rpc) lnet.NID { return r.Client }).known(),
		NIDKey("server", "node that received the request", func(r *rpc) lnet.NID { return r.Server }).known(),
		TextKey("target", targetDoc, (*rpc).Target),
		TextKey("target_index", targetIndexDoc, (*rpc).TargetIndex).omit(),
		TextKey("target_from", "how the target is known: connect (the request that made the connection names it), "+
			"context (the request for the security context names it), names (a file of --names lists the imports of the node), "+
			"config (a configuration log that a client read lists the targets of the node), portal (the requests go to the portal of the MGS), "+
			"service (only MDT0000 serves such requests), lock (the MDT writes its index into the locks that it grants), "+
			"fld (a server was asked which target has a sequence of FIDs), layout (the layout of a file has an object on it), "+
			"sequence (it has objects of the same sequence as another connection to the target), log (the log of the client has the name of the import)", func(r *rpc) string { return r.TargetFrom().String() }),
		rawText("job", "job id", (*rpc).Job),
		NumberKey("uid", "user", func(r *rpc) uint32 { return r.UID }).when(hasUser),
		NumberKey("gid", "group", func(r *rpc) uint32 { return r.GID }).when(hasUser),
		NumberKey("pid", "id of the process that sent the request, or of the kernel thread that did so for others: pb_status of the request",
			func(r *rpc) int32 { return r.PID }).nonzero(),
		point("request", "where the request was first seen", (*rpc).Requested),
		point("reply", "where the reply was seen", (*rpc).Replied),
		anyText("reply_missing", "why there is no reply: end (the capture ended before it was due), unanswered (it was due, and everything that "+
			"the server sent was captured), not_captured (bytes of the server were not captured where it may have been), encrypted (encryption "+
			"hides when it was due, or it may be an encrypted reply that fits no request)", func(r *rpc) string { return r.Missing.String() }).
			omit().when(func(r *rpc) bool { return r.Missing != track.NotMissing }),
		DurationKey("latency", "time from the request to the reply", (*rpc).Latency),
		DurationKey("lock_wait", "time from the request of a lock that had to wait until it was granted, cancelled or failed; "+
			"at least so long where lock_wait_end is end or pending", (*rpc).LockWait).omit(),
		TextKey("lock_wait_end", "how the wait for the lock ended: granted, cancelled, failed (a deadlock of flocks), "+
			"end (not over at the end of the capture), pending (not over when the RPC was shown)", func(r *rpc) string {
			end, _ := r.LockWaitEnd()
			return end.String()
		}).omit(),
		point("granted", "where the lock that had to wait was granted: the completion callback", (*rpc).Granted).omit(),
		NumberKey("service_time", "always null: servers do not send the exact time that they worked; see service_time_max",
			func(*rpc) int { return 0 }).as(Seconds).known(),
		numberIf("service_time_max", "upper bound of the time the server worked, exclusive; pb_service_time has whole seconds, so the minimum is 2",
			(*rpc).ServiceLimit).as(Seconds),
		{Name: "status", Type: Status, Names: opcodes.LdlmError, Doc: "result", Get: func(r *rpc, _ int, v *Value) bool {
			v.SetStatus(r.Opcode, r.Status)
			return r.Has(opcodes.PbStatus)
		}},
		errno("error", "name of the error when the status is negative", func(r *rpc) int32 { return r.Status }).omit().when((*rpc).Failed),
		{Name: "other_errors", Type: Text, JSON: Omit, Doc: "errors that are not in the status: of a reply after which the request was sent again, " +
			"or inside the reply", Len: func(r *rpc) int { return len(r.OtherErrors) }, Get: func(r *rpc, i int, v *Value) bool {
			v.SetErrno(r.OtherErrors[i])
			return true
		}},
		numberIf("nested", "number of RPCs that the server sent to other nodes because of it, between request and reply: callbacks about "+
			"locks, updates and locks of other MDTs, quota, look-ups of FIDs; known where a capture point sees what the server sends",
			(*rpc).NestedCount).omit(),
		DurationKey("nested_time", "part of the latency in which the server waited for nested RPCs", (*rpc).NestedTime).omit(),
		DurationKey("own_time", "rest of the latency", (*rpc).OwnTime).omit(),
		NumberKey("transno", "number of the transaction", func(r *rpc) uint64 { return r.Transno }).as(Decimal).
			when(func(r *rpc) bool { return r.Has(opcodes.PbTransno) }),
		NumberKey("early_replies", "number of early replies, with which the server asked for more time",
			func(r *rpc) int { return r.Early }).when(isCaptured),
		NumberKey("sends", "how often the request was sent", func(r *rpc) int { return r.Sends }),
		flags("flags", opcodes.MsgFlags, "flags of its requests that mark resent and replayed ones",
			func(r *rpc) uint32 { return r.Flags & SendFlags }),
		NumberKey("request_bytes", "size of the request", func(r *rpc) int { return r.RequestSize }).inBytes().when(hasRequest),
		NumberKey("reply_bytes", "size of the reply", func(r *rpc) int { return r.ReplySize }).inBytes().when(hasReply),
		NumberKey("bulk_bytes", "bytes of bulk data", (*rpc).BulkBytes).inBytes().when(isCaptured),
		DurationKey("bulk_time", "time from the first to the last message of the bulk transfer", (*rpc).BulkTime),
		DurationKey("rdma_time", "time in which RDMA writes with the payload of its messages were under way, over InfiniBand",
			(*rpc).RDMATime).omit(),
		NumberKey("estimate", "time that the server expects such an RPC to take, in whole seconds",
			func(r *rpc) uint32 { return r.Estimate }).as(Seconds).
			when(func(r *rpc) bool { return r.Has(opcodes.PbTimeout) || r.Early > 0 }),
		NumberKey("portal", "LNet portal of the request", func(r *rpc) uint32 { return r.Portal }).when(hasRequest),
		NumberKey("handle", "handle of the connection at the server", func(r *rpc) uint64 { return r.Handle }).as(Hex).nonzero(),
		{Name: "fid", Type: FID, JSON: Omit, Doc: "FID that the request is about", Get: func(r *rpc, _ int, v *Value) bool {
			v.SetFID(r.FID)
			return r.HasFID
		}},
		rawText("name", "file name that the request is about", (*rpc).Name).omit(),
		boolean("one_way", "the operation has no reply", func(r *rpc) bool { return r.OneWay }),
		boolean("encrypted", "its messages are encrypted", func(r *rpc) bool { return r.Encrypted }),
		boolean("unanswered", "the server did not answer: the reply was due, and everything that the server sent was captured",
			(*rpc).Unanswered).hide(),
		DurationKey("node_time", "part of the latency behind the capture point nearest to the server; needs two capture points, "+
			"and is unknown when the reply was lost before it was captured", (*rpc).NodeTime).omit(),
		DurationKey("wire_time", "part of the latency between the capture points; needs two of them", wireTime).omit(),
		NumberKey("retransmits", "number of TCP segments or InfiniBand packets with bytes of its messages that were sent again",
			(*rpc).Retransmits).nonzero(),
		DurationKey("retransmit_time", "part of the latency that was lost by retransmission, 0 if the receiver had the bytes already; "+
			"unknown where the capture does not show that, or lacks what was sent first", (*rpc).RetransmitTime).omit(),
		boolean("loss_not_captured", "segments of the server were lost before they were captured: part of the latency is retransmission of "+
			"unknown length",
			(*rpc).LossNotCaptured),
		DurationKey("rtt", "round trip from the capture point to the server, by the ACKs on the connection of the request: the least of the last ones",
			(*rpc).RTT).omit(),
		object("log", "what the debug logs of its nodes have about it; times are by the clock of the capture", logKeys()...).
			omit().when(func(r *rpc) bool { return r.Log != nil }),
		listOf("sightings", "what each capture point saw, when there were several", sightings,
			func(r *rpc, i int) *track.Sighting { return &r.Seen[i] }, sightingKeys()...).omit(),
	}
})}

const variantDoc = "form of the operation, such as the intent of a lock request"
const inferredDoc = "operation, where the opcode was not captured and the buffers of the request leave only one"

// SendFlags are the bits of pb_flags that tell repeated requests from first ones.
const SendFlags = dissect.FlagResent | dissect.FlagReplay | dissect.FlagReqReplayDone | dissect.FlagLockReplayDone

func hasRequest(r *rpc) bool { return r.HasRequest && isCaptured(r) }

func hasReply(r *rpc) bool { return r.HasReply && isCaptured(r) }

func isCaptured(r *rpc) bool { return !r.IsLog() }

func wireTime(r *rpc) (ns int64, ok bool) {
	all, ok := r.Latency()
	node, measured := r.NodeTime()
	return max(0, all-node), ok && measured
}

// sightings returns how many capture points saw an RPC, where there were several.
func sightings(r *rpc) int {
	if len(r.Seen) < 2 {
		return 0
	}
	return len(r.Seen)
}

func sightingKeys() []*Key[*track.Sighting] {
	type sighting = track.Sighting
	return []*Key[*sighting]{
		NumberKey("source", "number of the capture point, from 0 in the order of the files", func(s *sighting) int { return s.Source }),
		point("request", "where it saw the request", func(s *sighting) track.Point { return s.Request }),
		point("reply", "where it saw the reply", func(s *sighting) track.Point { return s.Reply }),
		DurationKey("latency", "time between them", func(s *sighting) (int64, bool) {
			return s.Reply.Time - s.Request.Time, !s.Request.IsZero() && !s.Reply.IsZero()
		}),
	}
}
