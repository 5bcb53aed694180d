package records

import (
	"strings"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/recovery"
	"github.com/lshark/lshark/opcodes"
)

// Recoveries are the keys of recoveries.
var Recoveries = Table[*recovery.Recovery]{Record: "recovery", Prefix: "recovery.", InFilters: true, Keys: []Key[*recovery.Recovery]{
	recoveryText("target", "target that clients lost", func(r *recovery.Recovery) string { return r.Target }),
	recoveryText("kind", "restart (it was started again), failover (on another server), stopped (its server did not have it any more, and it was not seen again), unreachable (its server did not answer any more, and was not seen again); with --all also reconnect (it ran on: only connections were lost), eviction (it ran on, and had evicted a client), lost (connections were lost, and what became of the target is unknown)",
		func(r *recovery.Recovery) string { return r.Kind.String() }),
	recoveryNID("server", "node that has the target after it was back", func(r *recovery.Recovery) lnet.NID { return r.Server }),
	recoveryNID("server_before", "node that had it before", func(r *recovery.Recovery) lnet.NID { return r.ServerBefore }),
	recoveryNumber("instance", "number of the target's start, as the server grants it", func(r *recovery.Recovery) (uint64, bool) {
		return uint64(r.Instance), r.Instance != 0
	}),
	recoveryNumber("instance_before", "number of the start before", func(r *recovery.Recovery) (uint64, bool) {
		return uint64(r.InstanceBefore), r.InstanceBefore != 0
	}),
	recoveryPoint("last_reply", "last reply of the target before it was gone", func(r *recovery.Recovery) track.Point { return r.LastReply }),
	recoveryPoint("gone", "first sign that it was gone", func(r *recovery.Recovery) track.Point { return r.Gone }),
	{Name: "gone_by", Type: Text, Doc: "what that sign is: " + signDoc, Get: func(r *recovery.Recovery, v *Value) bool {
		v.SetString(r.GoneBy.String())
		return r.GoneBy != recovery.NoSign
	}},
	recoveryPoint("starting", "the target registered with the MGS or connected to other targets, before it was back", func(r *recovery.Recovery) track.Point { return r.Starting }),
	recoveryPoint("back", "first connect that the target accepted again", func(r *recovery.Recovery) track.Point { return r.Back }),
	recoveryPoint("completed", "end of the recovery: the message that shows the first client that can go on", func(r *recovery.Recovery) track.Point { return r.Completed }),
	recoveryPoint("announced", "the table of the MGS that brought the new instance to a client or server (imperative recovery)", func(r *recovery.Recovery) track.Point { return r.Announced }),
	{Name: "downtime", Type: Duration, Doc: "time from gone to back; null where the first sign may have come after the restart", Get: func(r *recovery.Recovery, v *Value) bool { return v.setDuration(r.Downtime()) }},
	{Name: "downtime_max", Type: Duration, Doc: "how long it was gone at most: time from last_reply to back", Get: func(r *recovery.Recovery, v *Value) bool { return v.setDuration(r.DowntimeLimit()) }},
	{Name: "window", Type: Duration, Doc: "how long the recovery took: time from back to completed", Get: func(r *recovery.Recovery, v *Value) bool { return v.setDuration(r.Window()) }},
	recoveryNumber("recovered", "number of clients that recovered", func(r *recovery.Recovery) (uint64, bool) {
		return uint64(r.Count(recovery.ClientRecovered)), true
	}),
	recoveryNumber("known", "number of clients that the target had, light-weight proxies and clients on its own node apart; null unless the capture was made at the server, where it shows them all", func(r *recovery.Recovery) (uint64, bool) {
		n, ok := r.Known()
		return uint64(n), ok
	}),
	recoveryNumber("evicted", "number of clients that were evicted", func(r *recovery.Recovery) (uint64, bool) {
		return uint64(r.Count(recovery.ClientEvicted)), true
	}),
	recoveryNumber("missing", "number of clients that were not seen to come back", func(r *recovery.Recovery) (uint64, bool) {
		return uint64(r.Count(recovery.ClientMissing)), true
	}),
	replays("requests", "requests that clients replayed", func(r *recovery.Recovery) recovery.Replays {
		requests, _ := r.Replayed()
		return requests
	}),
	replays("locks", "locks that clients gave back to the target", func(r *recovery.Recovery) recovery.Replays {
		_, locks := r.Replayed()
		return locks
	}),
	recoveryNumber("version_mismatches", "number of replayed requests that failed because an object had changed without them (EOVERFLOW: version-based recovery)", func(r *recovery.Recovery) (uint64, bool) {
		return uint64(r.VersionMismatches()), true
	}),
	{Name: "not_replayed", Type: Object, JSON: Omit, Doc: "transactions that were not on disk and were not replayed", Get: func(r *recovery.Recovery, _ *Value) bool { return r.NotReplayed().Count > 0 },
		Parts: []Key[*recovery.Recovery]{
			recoveryNumber("count", "number of transactions", func(r *recovery.Recovery) (uint64, bool) {
				g := r.NotReplayed()
				return uint64(g.Count), g.Count > 0
			}),
			recoveryTransno("from", "the lowest of them", func(r *recovery.Recovery) uint64 { return r.NotReplayed().From }),
			recoveryTransno("to", "the highest of them", func(r *recovery.Recovery) uint64 { return r.NotReplayed().To }),
		}},
	recoveryNumber("waited", "number of RPCs of applications and servers that waited until the target was back", func(r *recovery.Recovery) (uint64, bool) {
		i := r.Impact()
		return uint64(i.Waited), true
	}),
	{Name: "waited_max", Type: Duration, Doc: "the longest of these RPCs", Get: func(r *recovery.Recovery, v *Value) bool {
		i := r.Impact()
		return v.setDuration(i.Longest, i.Waited > 0)
	}},
	recoveryNumber("unanswered", "number of RPCs that had no reply and were not sent again", func(r *recovery.Recovery) (uint64, bool) {
		i := r.Impact()
		return uint64(i.Unanswered), true
	}),
	{Name: "errors", Type: Counts, JSON: Omit, Doc: "errors of RPCs that failed because the target was gone and were not sent again, and how often each occurred", Get: func(r *recovery.Recovery, v *Value) bool {
		i := r.Impact()
		v.Counts = ErrorCounts(i.Errors)
		return len(v.Counts) > 0
	}},
	{Name: "clients", Type: Object, Doc: "what happened to each client, in the order in which they lost the target", Len: func(r *recovery.Recovery) int { return len(r.Clients) }, Parts: recoveryClients},
	recoveryNumberOmit("dropped", "number of clients that were too many to keep", func(r *recovery.Recovery) uint64 { return uint64(r.Dropped) }),
	{Name: "events", Type: Object, Doc: "what happened, by time", Len: func(r *recovery.Recovery) int { return len(r.Events) },
		Parts: append(pointAt(func(r *recovery.Recovery, i int) track.Point { return r.Events[i].Point }), recoveryEvents...)},
}}

const signDoc = "not_connected (a reply says that the server does not know the client), refused (the server does not have the target), unanswered (a request without a reply), stopping (the target disconnects from other targets), reconnect (a client connects again; what made it do so was not seen)"

func recoveryText(name, doc string, get func(r *recovery.Recovery) string) Key[*recovery.Recovery] {
	return Key[*recovery.Recovery]{Name: name, Type: Text, Doc: doc, Get: func(r *recovery.Recovery, v *Value) bool {
		v.SetString(get(r))
		return true
	}}
}

func recoveryNID(name, doc string, get func(r *recovery.Recovery) lnet.NID) Key[*recovery.Recovery] {
	return Key[*recovery.Recovery]{Name: name, Type: NID, Doc: doc, Get: func(r *recovery.Recovery, v *Value) bool {
		v.NID = get(r)
		return v.NID != lnet.NID{}
	}}
}

func recoveryNumber(name, doc string, get func(r *recovery.Recovery) (uint64, bool)) Key[*recovery.Recovery] {
	return Key[*recovery.Recovery]{Name: name, Doc: doc, Get: func(r *recovery.Recovery, v *Value) (ok bool) {
		v.U, ok = get(r)
		return ok
	}}
}

// recoveryNumberOmit makes the key of a number that JSON leaves out when it is 0.
func recoveryNumberOmit(name, doc string, get func(r *recovery.Recovery) uint64) Key[*recovery.Recovery] {
	k := recoveryNumber(name, doc, func(r *recovery.Recovery) (uint64, bool) {
		n := get(r)
		return n, n > 0
	})
	k.JSON = Omit
	return k
}

func recoveryTransno(name, doc string, get func(r *recovery.Recovery) uint64) Key[*recovery.Recovery] {
	return Key[*recovery.Recovery]{Name: name, Type: Decimal, Doc: doc, Get: func(r *recovery.Recovery, v *Value) bool {
		v.U = get(r)
		return v.U != 0
	}}
}

// recoveryPoint makes the key of a message, null when it was not seen.
func recoveryPoint(name, doc string, at func(r *recovery.Recovery) track.Point) Key[*recovery.Recovery] {
	return Key[*recovery.Recovery]{Name: name, Type: Object, Doc: doc, Parts: point(at), Get: func(r *recovery.Recovery, _ *Value) bool { return at(r).Frame != 0 }}
}

func replays(name, doc string, get func(r *recovery.Recovery) recovery.Replays) Key[*recovery.Recovery] {
	return Key[*recovery.Recovery]{Name: name, Type: Object, Doc: doc, Parts: []Key[*recovery.Recovery]{
		recoveryNumber("replayed", "how many", func(r *recovery.Recovery) (uint64, bool) { return uint64(get(r).Count), true }),
		{Name: "errors", Type: Counts, JSON: Omit, Doc: "errors of these, and how often each occurred", Get: func(r *recovery.Recovery, v *Value) bool {
			v.Counts = ErrorCounts(get(r).Errors)
			return len(v.Counts) > 0
		}},
	}}
}

var recoveryClients = []Key[*recovery.Recovery]{
	{Name: "client", Type: NID, Doc: "node of the client, which may be a server", At: func(r *recovery.Recovery, i int, v *Value) bool {
		v.NID = r.Clients[i].Connection.Client
		return true
	}},
	clientText("uuid", "uuid that it connects with", func(c *recovery.Client) string { return c.Connection.ClientUUID }),
	{Name: "target", Type: Text, JSON: Omit, Doc: "target that it is itself, when it is a server", At: func(r *recovery.Recovery, i int, v *Value) bool {
		v.SetString(r.Clients[i].Target())
		return len(v.Text) > 0
	}},
	clientText("kind", "kind of connection: client, mgc (to the MGS), lwp (light-weight proxy), mdt-mdt or mdt-ost", func(c *recovery.Client) string { return c.Type }),
	clientText("outcome", "missing (it was not seen to come back), recovering (that it recovered was not seen), recovered, evicted (it lost its locks and what was not committed), reconnected (it had nothing to recover), mounted (it connected for the first time), unknown (bytes were not captured that may show that it came back)",
		func(c *recovery.Client) string { return c.Outcome.String() }),
	clientPoint("last_reply", "the last reply that it got before", func(c *recovery.Client) track.Point { return c.LastReply }),
	clientPoint("lost", "first sign that its connection was lost", func(c *recovery.Client) track.Point { return c.Lost }),
	{Name: "lost_by", Type: Text, JSON: Omit, Doc: "what that sign is, as in gone_by", At: func(r *recovery.Recovery, i int, v *Value) bool {
		v.SetString(r.Clients[i].LostBy.String())
		return r.Clients[i].LostBy != recovery.NoSign
	}},
	{Name: "refused", Type: Counts, JSON: Omit, Doc: "errors with which connects were refused, and how often each occurred", At: func(r *recovery.Recovery, i int, v *Value) bool {
		v.Counts = ErrorCounts(r.Clients[i].Refused())
		return len(v.Counts) > 0
	}},
	clientCount("unanswered", "number of connects without a reply", func(c *recovery.Client) int { return c.Unanswered }),
	clientPoint("connected", "the connect that was accepted", func(c *recovery.Client) track.Point { return c.Connected }),
	{Name: "late", Type: Duration, JSON: Omit, Doc: "time from the first client that connected to this one", At: func(r *recovery.Recovery, i int, v *Value) bool {
		at := r.Clients[i].Connected
		return v.setDuration(at.Time-r.Back.Time, at.Frame != 0 && at.Time > r.Back.Time)
	}},
	clientPoint("ready", "it has replayed all", func(c *recovery.Client) track.Point { return c.Ready }),
	clientPoint("recovered", "its connection can be used again", func(c *recovery.Client) track.Point { return c.Recovered }),
	clientPoint("evicted", "it was evicted", func(c *recovery.Client) track.Point { return c.Evicted }),
	clientCount("requests_replayed", "number of requests that it replayed", func(c *recovery.Client) int { return c.Requests.Count }),
	clientErrors("request_errors", "errors of these, and how often each occurred", func(c *recovery.Client) map[int32]int64 { return c.Requests.Errors }),
	clientCount("locks_replayed", "number of locks that it gave back", func(c *recovery.Client) int { return c.Locks.Count }),
	clientErrors("lock_errors", "errors of these, and how often each occurred", func(c *recovery.Client) map[int32]int64 { return c.Locks.Errors }),
	clientCount("not_replayed", "number of transactions that it should have replayed and did not", func(c *recovery.Client) int { return c.NotReplayed.Count }),
	clientCount("early_replies", "number of early replies to what it replayed: the server asked it to wait", func(c *recovery.Client) int { return c.Early.Count }),
	{Name: "estimate", Type: Seconds, JSON: Omit, Doc: "within how many seconds the server expected to reply, by the last of them (pb_timeout)", At: func(r *recovery.Recovery, i int, v *Value) bool {
		v.U = uint64(r.Clients[i].Early.Estimate)
		return r.Clients[i].Early.Count > 0
	}},
	clientCount("waited", "number of RPCs that waited until the target was back", func(c *recovery.Client) int { return c.Impact.Waited }),
	clientErrors("errors", "errors of RPCs that failed because the target was gone", func(c *recovery.Client) map[int32]int64 { return c.Impact.Errors }),
}

func clientText(name, doc string, get func(c *recovery.Client) string) Key[*recovery.Recovery] {
	return Key[*recovery.Recovery]{Name: name, Type: Text, Doc: doc, At: func(r *recovery.Recovery, i int, v *Value) bool {
		v.SetString(get(r.Clients[i]))
		return len(v.Text) > 0
	}}
}

// clientPoint makes the key of a message, left out when there was none.
func clientPoint(name, doc string, get func(c *recovery.Client) track.Point) Key[*recovery.Recovery] {
	at := func(r *recovery.Recovery, i int) track.Point { return get(r.Clients[i]) }
	return Key[*recovery.Recovery]{Name: name, Type: Object, JSON: Omit, Doc: doc, Parts: pointAt(at), At: func(r *recovery.Recovery, i int, _ *Value) bool { return at(r, i).Frame != 0 }}
}

// clientCount makes the key of a number that JSON leaves out when it is 0.
func clientCount(name, doc string, get func(c *recovery.Client) int) Key[*recovery.Recovery] {
	return Key[*recovery.Recovery]{Name: name, JSON: Omit, Doc: doc, At: func(r *recovery.Recovery, i int, v *Value) bool {
		v.U = uint64(get(r.Clients[i]))
		return v.U > 0
	}}
}

func clientErrors(name, doc string, get func(c *recovery.Client) map[int32]int64) Key[*recovery.Recovery] {
	return Key[*recovery.Recovery]{Name: name, Type: Counts, JSON: Omit, Doc: doc, At: func(r *recovery.Recovery, i int, v *Value) bool {
		v.Counts = ErrorCounts(get(r.Clients[i]))
		return len(v.Counts) > 0
	}}
}

var recoveryEvents = []Key[*recovery.Recovery]{
	{Name: "event", Type: Text, Doc: "code of what happened: " + strings.Join(recovery.EventNames(), ", "), At: func(r *recovery.Recovery, i int, v *Value) bool {
		v.SetString(r.Events[i].Kind.String())
		return true
	}},
	{Name: "until", Type: Object, JSON: Omit, Doc: "the last of several", Parts: pointAt(func(r *recovery.Recovery, i int) track.Point { return r.Events[i].Until }),
		At: func(r *recovery.Recovery, i int, _ *Value) bool { return r.Events[i].Until.Frame != 0 }},
	{Name: "client", Type: NID, Doc: "client that it is about; null: the target", At: func(r *recovery.Recovery, i int, v *Value) bool {
		c := r.Events[i].Client
		if c != nil {
			v.NID = c.Connection.Client
		}
		return c != nil
	}},
	{Name: "by", Type: Text, JSON: Omit, Doc: "of gone and lost: what shows it, as in gone_by", At: func(r *recovery.Recovery, i int, v *Value) bool {
		v.SetString(r.Events[i].Sign.String())
		return r.Events[i].Sign != recovery.NoSign
	}},
	{Name: "server", Type: NID, JSON: Omit, Doc: "server that accepted or refused a connect", At: func(r *recovery.Recovery, i int, v *Value) bool {
		v.NID = r.Events[i].Server
		return v.NID != lnet.NID{}
	}},
	{Name: "count", JSON: Omit, Doc: "number of connects, requests, locks or transactions", At: func(r *recovery.Recovery, i int, v *Value) bool {
		v.U = uint64(r.Events[i].Count)
		return v.U > 0
	}},
	{Name: "error", Type: Text, JSON: Omit, Doc: "error with which connects were refused, or of a request", At: func(r *recovery.Recovery, i int, v *Value) bool {
		e := &r.Events[i]
		status := e.Status
		if e.Request != nil {
			status = e.Request.Status
		}
		v.SetErrno(status)
		return status < 0
	}},
	{Name: "errors", Type: Counts, JSON: Omit, Doc: "errors of what was replayed, and how often each occurred", At: func(r *recovery.Recovery, i int, v *Value) bool {
		v.Counts = ErrorCounts(r.Events[i].Errors)
		return len(v.Counts) > 0
	}},
	eventTransno("from", "the lowest transaction of those that were replayed or not", func(e *recovery.Event) uint64 { return e.Transnos.From }),
	eventTransno("to", "the highest of them", func(e *recovery.Event) uint64 { return e.Transnos.To }),
	{Name: "estimate", Type: Seconds, JSON: Omit, Doc: "of early: within how many seconds the server expected to reply", At: func(r *recovery.Recovery, i int, v *Value) bool {
		v.U = uint64(r.Events[i].Estimate)
		return r.Events[i].Kind == recovery.EventEarly
	}},
	{Name: "xid", Type: Decimal, JSON: Omit, Doc: "of waited and failed: the RPC", At: func(r *recovery.Recovery, i int, v *Value) bool {
		q := r.Events[i].Request
		if q != nil {
			v.U = q.XID
		}
		return q != nil
	}},
	{Name: "opcode", Type: Enum, Names: opcodes.Opcodes, JSON: Omit, Doc: "its operation", At: func(r *recovery.Recovery, i int, v *Value) bool {
		q := r.Events[i].Request
		if q != nil {
			v.U = uint64(q.Opcode)
		}
		return q != nil
	}},
	{Name: "job", Type: Text, JSON: Omit, Doc: "its job id", At: func(r *recovery.Recovery, i int, v *Value) bool {
		q := r.Events[i].Request
		if q != nil {
			v.SetString(q.Job)
		}
		return q != nil && q.Job != ""
	}},
	{Name: "latency", Type: Duration, JSON: Omit, Doc: "how long it took", At: func(r *recovery.Recovery, i int, v *Value) bool {
		q := r.Events[i].Request
		return q != nil && v.setDuration(q.Time())
	}},
}

func eventTransno(name, doc string, get func(e *recovery.Event) uint64) Key[*recovery.Recovery] {
	return Key[*recovery.Recovery]{Name: name, Type: Decimal, JSON: Omit, Doc: doc, At: func(r *recovery.Recovery, i int, v *Value) bool {
		v.U = get(&r.Events[i])
		return v.U != 0
	}}
}
