package records

import (
	"slices"
	"strings"
	"sync"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/recovery"
	"github.com/lshark/lshark/opcodes"
)

type loss = recovery.Recovery

// Recoveries are the keys of recoveries.
var Recoveries = Table[*loss]{Record: "recovery", Command: "recovery", Name: "recovery", Prefix: "recovery.", InFilters: true, Keys: sync.OnceValue(func() []*Key[*loss] {
	outcome := func(name, doc string, o recovery.Outcome) *Key[*loss] {
		return NumberKey(name, doc, func(r *loss) int { return r.Count(o) })
	}
	return []*Key[*loss]{
		TextKey("target", "target that clients lost", func(r *loss) string { return r.Target }),
		anyText("kind", "restart (it was started again), failover (on another server), stopped (its server did not have it any more, and it was "+
			"not seen again), unreachable (its server did not answer any more, and was not seen again); with --all also reconnect (it ran on: only "+
			"connections were lost), eviction (it ran on, and had evicted a client), lost (connections were lost, and what became of the target is unknown)",
			func(r *loss) string { return r.Kind.String() }),
		NIDKey("server", "node that has the target after it was back", func(r *loss) lnet.NID { return r.Server }).known(),
		NIDKey("server_before", "node that had it before", func(r *loss) lnet.NID { return r.ServerBefore }).known(),
		NumberKey("instance", "number of the target's start, as the server grants it", func(r *loss) uint32 { return r.Instance }).known(),
		NumberKey("instance_before", "number of the start before", func(r *loss) uint32 { return r.InstanceBefore }).known(),
		point("last_reply", "last reply of the target before it was gone", func(r *loss) track.Point { return r.LastReply }),
		point("gone", "first sign that it was gone", func(r *loss) track.Point { return r.Gone }),
		sign("gone_by", "what that sign is: "+
			"not_connected (a reply says that the server does not know the client), refused (the server does not have the target), "+
			"unanswered (a request without a reply), stopping (the target disconnects from other targets), "+
			"reconnect (a client connects again; what made it do so was not seen), log (the log of a client says so)",
			func(r *loss) recovery.Sign { return r.GoneBy }),
		point("starting", "the target registered with the MGS or connected to other targets, before it was back",
			func(r *loss) track.Point { return r.Starting }),
		point("back", "first connect that the target accepted again", func(r *loss) track.Point { return r.Back }),
		point("completed", "end of the recovery: the message that shows the first client that can go on",
			func(r *loss) track.Point { return r.Completed }),
		point("announced", "the table of the MGS that brought the new instance to a client or server (imperative recovery)",
			func(r *loss) track.Point { return r.Announced }),
		DurationKey("downtime", "time from gone to back; null where the first sign may have come after the restart", (*loss).Downtime),
		DurationKey("downtime_max", "how long it was gone at most: time from last_reply to back", (*loss).DowntimeLimit),
		DurationKey("window", "how long the recovery took: time from back to completed", (*loss).Window),
		outcome("recovered", "number of clients that recovered", recovery.ClientRecovered),
		numberIf("known", "number of clients that the target had, light-weight proxies and clients on its own node apart; "+
			"null unless the capture was made at the server, where it shows them all", (*loss).Known),
		outcome("evicted", "number of clients that were evicted", recovery.ClientEvicted),
		outcome("missing", "number of clients that were not seen to come back", recovery.ClientMissing),
		replays("requests", "requests that clients replayed", func(r *loss) recovery.Replays {
			requests, _ := r.Replayed()
			return requests
		}),
		replays("locks", "locks that clients gave back to the target", func(r *loss) recovery.Replays {
			_, locks := r.Replayed()
			return locks
		}),
		NumberKey("version_mismatches", "number of replayed requests that failed because an object had changed without them "+
			"(EOVERFLOW: version-based recovery)", (*loss).VersionMismatches).when(hasRPCs),
		object("not_replayed", "transactions that were not on disk and were not replayed",
			NumberKey("count", "number of transactions", func(r *loss) int { return r.NotReplayed().Count }).known(),
			NumberKey("from", "the lowest of them", func(r *loss) uint64 { return r.NotReplayed().From }).as(Decimal).known(),
			NumberKey("to", "the highest of them", func(r *loss) uint64 { return r.NotReplayed().To }).as(Decimal).known(),
		).omit().when(func(r *loss) bool { return r.NotReplayed().Count > 0 }),
		NumberKey("waited", "number of RPCs of applications and servers that waited until the target was back",
			func(r *loss) int { return r.Impact().Waited }).when(hasRPCs),
		DurationKey("waited_max", "the longest of these RPCs", func(r *loss) (int64, bool) {
			i := r.Impact()
			return i.Longest, i.Waited > 0
		}),
		NumberKey("unanswered", "number of RPCs that had no reply and were not sent again",
			func(r *loss) int { return r.Impact().Unanswered }).when(hasRPCs),
		errorCounts("errors", "errors of RPCs that failed because the target was gone and were not sent again, and how often each occurred",
			func(r *loss) map[int32]int64 { return r.Impact().Errors }),
		listOf("clients", "what happened to each client, in the order in which they lost the target", func(r *loss) int { return len(r.Clients) },
			func(r *loss, i int) lostClient { return lostClient{r.Clients[i], r} }, clientKeys()...),
		NumberKey("dropped", "number of clients that were too many to keep", func(r *loss) int { return r.Dropped }).nonzero(),
		listOf("events", "what happened, by time", func(r *loss) int { return len(r.Events) },
			func(r *loss, i int) *recovery.Event { return r.Events[i] }, recoveryEventKeys()...),
	}
})}

// hasRPCs reports whether the RPCs of the clients are known: logs alone do not have them.
func hasRPCs(r *loss) bool { return !r.IsLog() }

// sign makes a key of what shows that something is gone.
func sign[R any](name, doc string, get func(r R) recovery.Sign) *Key[R] {
	return anyText(name, doc, func(r R) string { return get(r).String() }).when(func(r R) bool { return get(r) != recovery.NoSign })
}

func replays(name, doc string, get func(r *loss) recovery.Replays) *Key[*loss] {
	return object(name, doc,
		NumberKey("replayed", "how many", func(r *loss) int { return get(r).Count }).when(hasRPCs),
		errorCounts("errors", "errors of these, and how often each occurred", func(r *loss) map[int32]int64 { return get(r).Errors }))
}

type lostClient struct {
	*recovery.Client
	of *loss
}

func clientKeys() []*Key[lostClient] {
	type client = lostClient
	return []*Key[client]{
		NIDKey("client", "node of the client, which may be a server", func(c client) lnet.NID { return c.Connection.Client }),
		TextKey("uuid", "uuid that it connects with", func(c client) string { return c.Connection.ClientUUID }),
		TextKey("target", "target that it is itself, when it is a server", func(c client) string { return c.Target() }).omit(),
		TextKey("kind", kindDoc, func(c client) string { return c.Type }),
		TextKey("outcome", "missing (it was not seen to come back), recovering (that it recovered was not seen), recovered, evicted (it lost its locks and "+
			"what was not committed), reconnected (it had nothing to recover), mounted (it connected for the first time), "+
			"unknown (bytes were not captured that may show that it came back)", func(c client) string { return c.Outcome.String() }),
		point("last_reply", "the last reply that it got before", func(c client) track.Point { return c.LastReply }).omit(),
		point("lost", "first sign that its connection was lost", func(c client) track.Point { return c.Lost }).omit(),
		sign("lost_by", "what that sign is, as in gone_by", func(c client) recovery.Sign { return c.LostBy }).omit(),
		errorCounts("refused", "errors with which connects were refused, and how often each occurred",
			func(c client) map[int32]int64 { return c.Refused() }),
		NumberKey("unanswered", "number of connects without a reply", func(c client) int { return c.Unanswered }).nonzero(),
		point("connected", "the connect that was accepted", func(c client) track.Point { return c.Connected }).omit(),
		DurationKey("late", "time from the first client that connected to this one", func(c client) (int64, bool) {
			return c.Connected.Time - c.of.Back.Time, !c.Connected.IsZero() && c.Connected.Time > c.of.Back.Time
		}).omit(),
		point("ready", "it has replayed all", func(c client) track.Point { return c.Ready }).omit(),
		point("recovered", "its connection can be used again", func(c client) track.Point { return c.Recovered }).omit(),
		point("evicted", "it was evicted", func(c client) track.Point { return c.Evicted }).omit(),
		NumberKey("requests_replayed", "number of requests that it replayed", func(c client) int { return c.Requests.Count }).nonzero(),
		errorCounts("request_errors", "errors of these, and how often each occurred",
			func(c client) map[int32]int64 { return c.Requests.Errors }),
		NumberKey("locks_replayed", "number of locks that it gave back", func(c client) int { return c.Locks.Count }).nonzero(),
		errorCounts("lock_errors", "errors of these, and how often each occurred", func(c client) map[int32]int64 { return c.Locks.Errors }),
		NumberKey("not_replayed", "number of transactions that it should have replayed and did not",
			func(c client) int { return c.NotReplayed.Count }).nonzero(),
		NumberKey("early_replies", "number of early replies to what it replayed: the server asked it to wait",
			func(c client) int { return c.Early.Count }).nonzero(),
		NumberKey("estimate", "within how many seconds the server expected to reply, by the last of them (pb_timeout)",
			func(c client) uint32 { return c.Early.Estimate }).as(Seconds).omit().when(func(c client) bool { return c.Early.Count > 0 }),
		NumberKey("waited", "number of RPCs that waited until the target was back", func(c client) int { return c.Impact.Waited }).nonzero(),
		errorCounts("errors", "errors of RPCs that failed because the target was gone",
			func(c client) map[int32]int64 { return c.Impact.Errors }),
	}
}

func recoveryEventKeys() []*Key[*recovery.Event] {
	type event = recovery.Event
	request := func(e *event) *recovery.Request { return e.Request }
	return slices.Concat(pointKeys(func(e *event) track.Point { return e.Point }), []*Key[*event]{
		anyText("event", "code of what happened: "+strings.Join(recovery.EventNames(), ", "), func(e *event) string { return e.Kind.String() }),
		point("until", "the last of several", func(e *event) track.Point { return e.Until }).omit(),
		inside(func(e *event) *recovery.Client { return e.Client },
			NIDKey("client", "client that it is about; null: the target", func(c *recovery.Client) lnet.NID { return c.Connection.Client }))[0],
		sign("by", "of gone and lost: what shows it, as in gone_by", func(e *event) recovery.Sign { return e.Sign }).omit(),
		NIDKey("server", "server that accepted or refused a connect", func(e *event) lnet.NID { return e.Server }).nonzero(),
		NumberKey("count", "number of connects, requests, locks or transactions", func(e *event) int { return e.Count }).nonzero(),
		errno("error", "error with which connects were refused, or of a request", func(e *event) int32 {
			if e.Request != nil {
				return e.Request.Status
			}
			return e.Status
		}).omit(),
		errorCounts("errors", "errors of what was replayed, and how often each occurred", func(e *event) map[int32]int64 { return e.Errors }),
		NumberKey("from", "the lowest transaction of those that were replayed or not",
			func(e *event) uint64 { return e.Transnos.From }).as(Decimal).nonzero(),
		NumberKey("to", "the highest of them", func(e *event) uint64 { return e.Transnos.To }).as(Decimal).nonzero(),
		NumberKey("estimate", "of early: within how many seconds the server expected to reply", func(e *event) uint32 { return e.Estimate }).
			as(Seconds).omit().when(func(e *event) bool { return e.Kind == recovery.EventEarly }),
	}, inside(request,
		NumberKey("xid", "of waited and failed: the RPC", func(q *recovery.Request) uint64 { return q.XID }).as(Decimal).omit(),
		enum("opcode", opcodes.Opcodes, "its operation", func(q *recovery.Request) uint32 { return q.Opcode }).omit(),
		TextKey("job", "its job id", func(q *recovery.Request) string { return q.Job }).omit(),
		DurationKey("latency", "how long it took", (*recovery.Request).Time).omit()))
}
