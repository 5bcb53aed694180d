package records

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

// RPCs are the keys of RPCs.
var RPCs = Table[*track.RPC]{Record: "rpc", InFilters: true, Prefix: "rpc.", Keys: []Key[*track.RPC]{
	{Name: "xid", Type: Decimal, Doc: "number of the RPC", Get: func(r *track.RPC, v *Value) bool {
		v.U = r.XID
		return true
	}},
	{Name: "opcode", Type: Enum, Names: opcodes.Opcodes, Doc: "operation", Get: func(r *track.RPC, v *Value) bool {
		v.U = uint64(r.Opcode)
		return r.HasOpcode
	}},
	{Name: "opc", Doc: "number of the operation", Get: func(r *track.RPC, v *Value) bool {
		v.U = uint64(r.Opcode)
		return r.HasOpcode
	}},
	{Name: "variant", Type: Text, Doc: "form of the operation, such as the intent of a lock request", Get: func(r *track.RPC, v *Value) bool {
		v.Text = nil
		if r.Variant != nil {
			v.SetString(r.Variant.Name)
		}
		return true
	}},
	{Name: "client", Type: NID, Doc: "node that sent the request, also when it is a server", Get: func(r *track.RPC, v *Value) bool {
		v.NID = r.Client
		return true
	}},
	{Name: "server", Type: NID, Doc: "node that received the request", Get: func(r *track.RPC, v *Value) bool {
		v.NID = r.Server
		return true
	}},
	{Name: "target", Type: Text, Doc: "target, when a message names it or several together prove it", Get: func(r *track.RPC, v *Value) bool {
		v.SetString(r.Target())
		return len(v.Text) > 0
	}},
	{Name: "target_index", Type: Text, JSON: Omit, Doc: "kind and index of the target, such as OST0001, where they are known without the name of the file system", Get: func(r *track.RPC, v *Value) bool {
		v.SetString(r.TargetIndex())
		return len(v.Text) > 0
	}},
	{Name: "target_from", Type: Text, Doc: "how the target is known: connect (the request that made the connection names it), context (the request for the security context names it), " +
		"names (a file of --names lists the imports of the node), config (a configuration log that a client read lists the targets of the node), portal (the requests go to the portal of the MGS), service (only MDT0000 serves such requests), lock (the MDT writes its index into the locks that it grants), " +
		"fld (a server was asked which target has a sequence of FIDs), layout (the layout of a file has an object on it), " +
		"sequence (it has objects of the same sequence as another connection to the target)", Get: func(r *track.RPC, v *Value) bool {
		v.SetString(r.TargetFrom().String())
		return len(v.Text) > 0
	}},
	{Name: "job", Type: Text, Doc: "job id", Get: func(r *track.RPC, v *Value) bool {
		v.Text = r.Job()
		return r.HasJob()
	}},
	{Name: "uid", Doc: "user", Get: func(r *track.RPC, v *Value) bool {
		v.U = uint64(r.UID)
		return r.HasUser
	}},
	{Name: "gid", Doc: "group", Get: func(r *track.RPC, v *Value) bool {
		v.U = uint64(r.GID)
		return r.HasUser
	}},
	{Name: "request", Type: Object, Doc: "where the request was first seen", Parts: point((*track.RPC).Requested), Get: func(r *track.RPC, _ *Value) bool {
		return r.Requested().Frame != 0
	}},
	{Name: "reply", Type: Object, Doc: "where the reply was seen", Parts: point((*track.RPC).Replied), Get: func(r *track.RPC, _ *Value) bool {
		return r.Replied().Frame != 0
	}},
	{Name: "reply_missing", Type: Text, JSON: Omit, Doc: "why there is no reply: end (the capture ended before it was due), unanswered (it was due, and everything that the server sent was captured), not_captured (bytes of the server were not captured where it may have been), encrypted (encryption hides when it was due, or it may be an encrypted reply that fits no request)", Get: func(r *track.RPC, v *Value) bool {
		v.SetString(r.Missing.String())
		return r.Missing != track.NotMissing
	}},
	{Name: "latency", Type: Duration, Doc: "time from the request to the reply", Get: func(r *track.RPC, v *Value) bool {
		return v.setDuration(r.Latency())
	}},
	{Name: "lock_wait", Type: Duration, JSON: Omit, Doc: "time from the request of a lock that had to wait until it was granted, cancelled or failed; at least so long where lock_wait_end is end or pending", Get: func(r *track.RPC, v *Value) bool {
		return v.setDuration(r.LockWait())
	}},
	{Name: "lock_wait_end", Type: Text, JSON: Omit, Doc: "how the wait for the lock ended: granted, cancelled, failed (a deadlock of flocks), end (not over at the end of the capture), pending (not over when the RPC was shown)", Get: func(r *track.RPC, v *Value) bool {
		end, _ := r.LockWaitEnd()
		v.SetString(end.String())
		return end != track.LockWaitNone
	}},
	{Name: "granted", Type: Object, JSON: Omit, Doc: "where the lock that had to wait was granted: the completion callback", Parts: point((*track.RPC).Granted), Get: func(r *track.RPC, _ *Value) bool {
		return r.Granted().Frame != 0
	}},
	{Name: "service_time", Type: Seconds, Doc: "always null: servers do not send the exact time that they worked; see service_time_max", Get: func(*track.RPC, *Value) bool {
		return false
	}},
	{Name: "service_time_max", Type: Seconds, Doc: "upper bound of the time the server worked, exclusive; pb_service_time has whole seconds, so the minimum is 2", Get: func(r *track.RPC, v *Value) bool {
		limit, ok := r.ServiceLimit()
		v.U = uint64(limit)
		return ok
	}},
	{Name: "status", Type: Status, Names: opcodes.LdlmError, Doc: "result", Get: func(r *track.RPC, v *Value) bool {
		v.SetStatus(r.Opcode, r.Status)
		return r.Has(opcodes.PbStatus)
	}},
	{Name: "error", Type: Text, JSON: Omit, Doc: "name of the error when the status is negative", Get: func(r *track.RPC, v *Value) bool {
		v.SetErrno(r.Status)
		return r.Failed()
	}},
	{Name: "other_errors", Type: Text, JSON: Omit, Doc: "errors that are not in the status: of a reply after which the request was sent again, or inside the reply",
		Len: func(r *track.RPC) int { return len(r.OtherErrors) }, At: func(r *track.RPC, i int, v *Value) bool {
			v.SetErrno(r.OtherErrors[i])
			return true
		}},
	{Name: "transno", Type: Decimal, Doc: "number of the transaction", Get: func(r *track.RPC, v *Value) bool {
		v.U = r.Transno
		return r.Has(opcodes.PbTransno)
	}},
	{Name: "early_replies", Doc: "number of early replies, with which the server asked for more time", Get: func(r *track.RPC, v *Value) bool {
		v.U = uint64(r.Early)
		return true
	}},
	{Name: "sends", Doc: "how often the request was sent", Get: func(r *track.RPC, v *Value) bool {
		v.U = uint64(r.Sends)
		return true
	}},
	{Name: "flags", Type: Flags, Names: opcodes.MsgFlags, Doc: "flags of its requests that mark resent and replayed ones", Get: func(r *track.RPC, v *Value) bool {
		v.U = uint64(r.Flags & SendFlags)
		return true
	}},
	{Name: "request_bytes", Unit: Bytes, Doc: "size of the request", Get: func(r *track.RPC, v *Value) bool {
		v.U = uint64(r.RequestSize)
		return r.HasRequest
	}},
	{Name: "reply_bytes", Unit: Bytes, Doc: "size of the reply", Get: func(r *track.RPC, v *Value) bool {
		v.U = uint64(r.ReplySize)
		return r.HasReply
	}},
	{Name: "bulk_bytes", Unit: Bytes, Doc: "bytes of bulk data", Get: func(r *track.RPC, v *Value) bool {
		v.U = uint64(r.BulkBytes())
		return true
	}},
	{Name: "bulk_time", Type: Duration, Doc: "time from the first to the last message of the bulk transfer", Get: func(r *track.RPC, v *Value) bool {
		return v.setDuration(r.BulkTime())
	}},
	{Name: "rdma_time", Type: Duration, JSON: Omit, Doc: "time in which RDMA writes with the payload of its messages were under way, over InfiniBand", Get: func(r *track.RPC, v *Value) bool {
		return v.setDuration(r.RDMATime())
	}},
	{Name: "estimate", Type: Seconds, Doc: "time that the server expects such an RPC to take, in whole seconds", Get: func(r *track.RPC, v *Value) bool {
		v.U = uint64(r.Estimate)
		return r.Has(opcodes.PbTimeout) || r.Early > 0
	}},
	{Name: "portal", Doc: "LNet portal of the request", Get: func(r *track.RPC, v *Value) bool {
		v.U = uint64(r.Portal)
		return r.HasRequest
	}},
	{Name: "handle", Type: Hex, JSON: Omit, Doc: "handle of the connection at the server", Get: func(r *track.RPC, v *Value) bool {
		v.U = r.Handle
		return r.Handle != 0
	}},
	{Name: "fid", Type: FID, JSON: Omit, Doc: "FID that the request is about", Get: func(r *track.RPC, v *Value) bool {
		v.U, v.OID, v.Ver = r.FID.Seq, r.FID.OID, r.FID.Ver
		return r.HasFID
	}},
	{Name: "name", Type: Text, JSON: Omit, Doc: "file name that the request is about", Get: func(r *track.RPC, v *Value) bool {
		v.Text = r.Name()
		return len(v.Text) > 0
	}},
	{Name: "one_way", Type: Bool, JSON: Omit, Doc: "the operation has no reply", Get: func(r *track.RPC, _ *Value) bool { return r.OneWay }},
	{Name: "encrypted", Type: Bool, JSON: Omit, Doc: "its messages are encrypted", Get: func(r *track.RPC, _ *Value) bool { return r.Encrypted }},
	{Name: "unanswered", Type: Bool, JSON: Hidden, Doc: "the server did not answer: the reply was due, and everything that the server sent was captured", Get: func(r *track.RPC, _ *Value) bool { return r.Unanswered() }},
	{Name: "node_time", Type: Duration, JSON: Omit, Doc: "part of the latency behind the capture point nearest to the server; needs two capture points, and is unknown when the reply was lost before it was captured", Get: func(r *track.RPC, v *Value) bool {
		return v.setDuration(r.NodeTime())
	}},
	{Name: "wire_time", Type: Duration, JSON: Omit, Doc: "part of the latency between the capture points; needs two of them", Get: func(r *track.RPC, v *Value) bool {
		all, ok := r.Latency()
		node, measured := r.NodeTime()
		return v.setDuration(max(0, all-node), ok && measured)
	}},
	{Name: "retransmits", JSON: Omit, Doc: "number of TCP segments or InfiniBand packets with bytes of its messages that were sent again", Get: func(r *track.RPC, v *Value) bool {
		v.U = uint64(r.Retransmits())
		return v.U > 0
	}},
	{Name: "retransmit_time", Type: Duration, JSON: Omit, Doc: "part of the latency that was lost by retransmission, 0 if the receiver had the bytes already; unknown where the capture does not show that, or lacks what was sent first", Get: func(r *track.RPC, v *Value) bool {
		return v.setDuration(r.RetransmitTime())
	}},
	{Name: "loss_not_captured", Type: Bool, JSON: Omit, Doc: "segments of the server were lost before they were captured: part of the latency is retransmission of unknown length",
		Get: func(r *track.RPC, _ *Value) bool { return r.LossNotCaptured() }},
	{Name: "rtt", Type: Duration, JSON: Omit, Doc: "round trip from the capture point to the server, by the ACKs on the connection of the request: the least of the last ones", Get: func(r *track.RPC, v *Value) bool {
		return v.setDuration(r.RTT())
	}},
	{Name: "sightings", Type: Object, JSON: Omit, Doc: "what each capture point saw, when there were several", Parts: sightings, Len: func(r *track.RPC) int {
		if len(r.Seen) < 2 {
			return 0
		}
		return len(r.Seen)
	}},
}}

// SendFlags are the bits of pb_flags that tell repeated requests from first
// ones.
const SendFlags = dissect.FlagResent | dissect.FlagReplay | dissect.FlagReqReplayDone | dissect.FlagLockReplayDone

// point makes the parts of an object with the place and time of a message.
func point[R any](at func(r R) track.Point) []Key[R] {
	return []Key[R]{
		{Name: "file", Type: Text, JSON: Omit, Doc: fileDoc, Get: func(r R, v *Value) bool { return v.setFile(at(r).File) }},
		{Name: "frame", Doc: frameDoc, Get: func(r R, v *Value) bool { return v.setFrame(at(r)) }},
		{Name: "time", Type: Time, Doc: timeDoc, Get: func(r R, v *Value) bool { return v.setTime(at(r)) }},
	}
}

// pointAt is point for an object inside a list.
func pointAt[R any](at func(r R, i int) track.Point) []Key[R] {
	return []Key[R]{
		{Name: "file", Type: Text, JSON: Omit, Doc: fileDoc, At: func(r R, i int, v *Value) bool { return v.setFile(at(r, i).File) }},
		{Name: "frame", Doc: frameDoc, At: func(r R, i int, v *Value) bool { return v.setFrame(at(r, i)) }},
		{Name: "time", Type: Time, Doc: timeDoc, At: func(r R, i int, v *Value) bool { return v.setTime(at(r, i)) }},
	}
}

const (
	fileDoc  = "file of the frame, when several are read"
	frameDoc = "number of the frame, from 1, in its file"
	timeDoc  = "time of the frame"
)

// setFile sets the name of a capture file. It reports whether there is one: with
// a single file there is not.
func (v *Value) setFile(name string) bool {
	if name == "" {
		return false
	}
	v.SetString(name)
	return true
}

func (v *Value) setFrame(p track.Point) bool {
	v.U = uint64(p.Frame)
	return p.Frame != 0
}

func (v *Value) setTime(p track.Point) bool {
	v.U = uint64(p.Time)
	return p.Frame != 0
}

var sightings = []Key[*track.RPC]{
	{Name: "source", Doc: "number of the capture point, from 0 in the order of the files", At: func(r *track.RPC, i int, v *Value) bool {
		v.U = uint64(r.Seen[i].Source)
		return true
	}},
	{Name: "request", Type: Object, Doc: "where it saw the request", Parts: pointAt(requestSeen), At: func(r *track.RPC, i int, _ *Value) bool {
		return r.Seen[i].Request.Frame != 0
	}},
	{Name: "reply", Type: Object, Doc: "where it saw the reply", Parts: pointAt(replySeen), At: func(r *track.RPC, i int, _ *Value) bool {
		return r.Seen[i].Reply.Frame != 0
	}},
	{Name: "latency", Type: Duration, Doc: "time between them", At: func(r *track.RPC, i int, v *Value) bool {
		request, reply := r.Seen[i].Request, r.Seen[i].Reply
		return v.setDuration(reply.Time-request.Time, request.Frame != 0 && reply.Frame != 0)
	}},
}

func requestSeen(r *track.RPC, i int) track.Point { return r.Seen[i].Request }
func replySeen(r *track.RPC, i int) track.Point   { return r.Seen[i].Reply }

func (v *Value) setDuration(ns int64, ok bool) bool {
	v.U = uint64(ns)
	return ok
}
