package records

import (
	"math"
	"slices"
	"sync"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// lockTypes are the kinds of locks, in words.
var lockTypes = schema.Enum("lock_type", "", "kind of a lock, in records of locks", []schema.Value{
	{Name: "plain", Value: 10, Doc: "has no range: configuration logs and quota"},
	{Name: "extent", Value: opcodes.ExtentLock, Doc: "bytes of an object"},
	{Name: "flock", Value: opcodes.FlockLock, Doc: "flock and fcntl locks of applications"},
	{Name: "inodebits", Value: opcodes.InodeLock, Doc: "parts of an inode"},
})

var extentEnd = schema.Enum("extent_end", "", "last byte of a range",
	[]schema.Value{{Name: "EOF", Value: ^uint64(0), Doc: "the range has no end"}})

type lock = locks.Lock

// Locks are the keys of locks.
var Locks = Table[*lock]{Record: "lock", Command: "locks", Name: "locks", Prefix: "lock.", InFilters: true, Keys: sync.OnceValue(func() []*Key[*lock] {
	isInodebits := func(l *lock) bool { return l.HasDesc() && l.Desc.Kind == opcodes.InodeLock }
	isFlock := func(l *lock) bool { return l.HasDesc() && l.Desc.Kind == opcodes.FlockLock }
	hasExtent := func(l *lock) bool { return isFlock(l) || l.HasDesc() && l.Desc.Kind == opcodes.ExtentLock }
	end := enum("end", extentEnd, "last byte, or EOF", lastByte).inBytes().when(hasExtent)
	return []*Key[*lock]{
		object("resource", "what is locked",
			&Key[*lock]{Name: "name", Type: Hex, Doc: "name of the resource, four words",
				Len: func(l *lock) int {
					if !l.HasResource() {
						return 0
					}
					return len(l.Desc.Name)
				},
				Get: func(l *lock, i int, v *Value) bool {
					v.U = l.Desc.Name[i]
					return true
				}},
			TextKey("text", "what the name stands for: FID, object, quota id or configuration log",
				func(l *lock) string { return string(l.Desc.AppendResource(nil)) }),
		).when((*lock).HasResource),
		enum("type", lockTypes, "kind of lock", func(l *lock) uint64 { return l.Desc.Kind }).when((*lock).HasResource),
		numberIf("mode", "granted mode, before that the requested one", (*lock).Mode).named(Enum, opcodes.LdlmMode),
		flags("bits", opcodes.LdlmInodebits, "of an inodebits lock: the parts of the inode that it covers",
			func(l *lock) uint64 { return l.Desc.Bits }).
			when(isInodebits),
		object("extent", "of an extent lock or a flock: the range that it covers",
			NumberKey("start", "first byte", func(l *lock) uint64 { return l.Desc.Start }).inBytes().when(hasExtent), end).when(hasExtent),
		NumberKey("group", "id of a group lock", func(l *lock) uint64 { return l.Desc.Group }).omit().
			when(func(l *lock) bool { return l.HasDesc() && l.Desc.IsGroup() }),
		NumberKey("pid", "process that requested a flock", func(l *lock) uint32 { return l.Desc.PID }).omit().when(isFlock),
		{Name: "fid", Type: FID, JSON: Omit, Doc: "FID of the file or object", Get: func(l *lock, _ int, v *Value) (ok bool) {
			v.U, v.OID, v.Ver, ok = l.Desc.FID()
			return ok
		}},
		NIDKey("client", "node that has the lock, also when it is a server", func(l *lock) lnet.NID { return l.Client }),
		NIDKey("server", "node that grants it", func(l *lock) lnet.NID { return l.Server }),
		TextKey("target", targetDoc, (*lock).Target),
		TextKey("job", "job id of the request", func(l *lock) string { return l.Job }),
		NumberKey("handle", "the server's handle of the lock", func(l *lock) uint64 { return l.Handle }).as(Hex).known(),
		NumberKey("client_handle", "the client's handle of the lock", func(l *lock) uint64 { return l.ClientHandle }).as(Hex).known(),
		point("asked", "the request; unknown when it was before the capture", func(l *lock) track.Point { return l.Asked }),
		point("granted", "the reply or the completion callback that granted it", func(l *lock) track.Point { return l.Granted }),
		DurationKey("waited", "time from the request to the grant, or to the end of the wait or of the capture; unknown where the reply was not "+
			"captured, and for an intent, of which "+
			"the rest takes time, too, unless others kept it waiting",
			(*lock).Waited),
		DurationKey("held", "time from the grant to the end of the lock or of the capture", (*lock).Held),
		boolean("blocked", "the reply says that the lock has to wait for others", func(l *lock) bool { return l.Blocked }),
		errno("error", "error with which the server refused it", func(l *lock) int32 { return l.Error }).omit(),
		NumberKey("replays", "how often the client replayed it to a restarted server", func(l *lock) int { return l.Replays }).nonzero(),
		boolean("stuck", "it was never granted, or a callback about it was not answered or not obeyed", (*lock).IsStuck),
		listOf("blocked_by", "locks that kept it waiting: the server sent them a blocking callback, or they are flocks on the same range, "+
			"or group locks, which get none", func(l *lock) int { return len(l.BlockedBy) },
			func(l *lock, i int) blocker { return blocker{&l.BlockedBy[i], l} }, blockerKeys()...),
		list("callbacks", "callbacks from the server about the lock", func(l *lock) []locks.Callback { return l.Callbacks }, callbackKeys()...),
		list("converts", "converts, with which the client kept some bits only", func(l *lock) []locks.Convert { return l.Converts },
			append(pointKeys(func(c *locks.Convert) track.Point { return c.Point }),
				flags("bits", opcodes.LdlmInodebits, "the parts of the inode that it keeps",
					func(c *locks.Convert) uint64 { return c.Bits }))...).omit(),
		listOf("log", "what debug logs of its nodes have about it, oldest first; times are by the clock of the capture",
			func(l *lock) int { return len(l.Lines) }, func(l *lock, i int) lockLine { return lockLine{&l.Lines[i], l} }, lockLineKeys()...).omit(),
		NumberKey("dropped", "number of entries of blocked_by, callbacks, converts and log that were too many to keep",
			func(l *lock) int { return l.Dropped }).
			nonzero(),
		object("ended", "how the lock ended", append([]*Key[*lock]{anyText("how",
			"cancel (the client gave it back), early (along with another request), evicted (the server evicted the client), disconnect, "+
				"replaced (by another flock of its owner), refused (the reply is an error), gone (the client answered a callback that it does not "+
				"have the lock), failed (a deadlock of flocks), unfollowed (there were too many to follow it any longer), open (no message ended it); unknown where only a log has it as gone",
			func(l *lock) string { return l.End.How.String() }).when(func(l *lock) bool { return l.End.How != locks.Given })}, pointKeys(func(l *lock) track.Point { return l.End.Point })...)...),
	}
})}

// LockType returns the kind of a lock in a word, empty when it is unknown.
func LockType(d *opcodes.LockDesc) string { return lockTypes.Name(d.Kind) }

// lastByte returns the last byte of a range. That of a flock without an end depends on
// the size of integers at the client.
func lastByte(l *lock) uint64 {
	if l.Desc.Kind == opcodes.FlockLock && l.Desc.End >= math.MaxInt64 {
		return math.MaxUint64
	}
	return l.Desc.End
}

// blocker is a lock that kept another one waiting.
type blocker struct {
	*locks.Blocker
	waiting *lock
}

func blockerKeys() []*Key[blocker] {
	return []*Key[blocker]{
		NIDKey("client", "node that had the lock", func(b blocker) lnet.NID { return b.Client }),
		NumberKey("handle", "the server's handle of the lock", func(b blocker) uint64 { return b.Handle }).as(Hex).known(),
		TextKey("job", "job id of its request", func(b blocker) string { return b.Job }),
		NumberKey("waited", "how long it kept the other waiting", func(b blocker) int64 { return b.Time(b.waiting) }).as(Duration),
	}
}

// lockLine is a line of a log about a lock.
type lockLine struct {
	*locks.Line
	of *lock
}

// lockEvents are what lines say about a lock, in words.
var lockEvents = map[debuglog.Kind]string{
	debuglog.LockAsked: "asked", debuglog.LockEnqueued: "granted", debuglog.LockAborted: "aborted", debuglog.LockBlocked: "waits",
	debuglog.LockBlockingAST: "blocking", debuglog.LockCompletionAST: "completion", debuglog.LockGlimpseAST: "glimpse",
	debuglog.LockASTHandled: "handled", debuglog.LockConverts: "convert", debuglog.LockTaken: "cancel", debuglog.LockPacked: "packed",
	debuglog.LockReplayed: "replayed", debuglog.LockCreated: "created", debuglog.LockReplied: "replied", debuglog.LockConflict: "conflict",
	debuglog.LockAsksBack: "blocking", debuglog.LockCompletes: "completion", debuglog.LockFreed: "freed",
}

func lockLineKeys() []*Key[lockLine] {
	return []*Key[lockLine]{
		NumberKey("time", "when it was written", func(l lockLine) int64 { return l.Time }).as(Time),
		NIDKey("node", "node that wrote it", func(l lockLine) lnet.NID {
			if l.OnClient {
				return l.of.Client
			}
			return l.of.Server
		}),
		anyText("event", "of the client: asked (the lock, of the server), granted, aborted (there is none), waits (for others), blocking (the server wants it back), "+
			"completion (it is granted now), glimpse, handled (what a blocking callback, or the client itself, wanted is done), convert (some bits are given back), "+
			"cancel (it is taken from those that use it), packed (into the request that gives it back), replayed, freed; of the server: created, replied, "+
			"conflict (it keeps another one waiting), blocking and completion (a callback is made), freed", func(l lockLine) string { return lockEvents[l.Kind] }),
		flags("bits", opcodes.LdlmInodebits, "of convert: the parts of the inode that the client keeps", func(l lockLine) uint64 { return l.Bits }).omit().
			when(func(l lockLine) bool { return l.Kind == debuglog.LockConverts }),
		errno("error", "of replied: status of the reply", func(l lockLine) int32 { return l.Status }).omit(),
		TextKey("file", "name of the log", func(l lockLine) string { return l.File }),
		NumberKey("line", "number of the line", func(l lockLine) int64 { return l.Number }),
	}
}

func callbackKeys() []*Key[*locks.Callback] {
	type callback = locks.Callback
	seen := func(name, doc string, at func(c *callback) track.Point) *Key[*callback] {
		return numberIf(name, doc, func(c *callback) (int64, bool) { return at(c).Time, !at(c).IsZero() }).as(Time)
	}
	return slices.Concat([]*Key[*callback]{
		anyText("kind", "blocking, completion or glimpse", func(c *callback) string { return c.Kind.String() }),
	}, pointKeys(func(c *callback) track.Point { return c.Sent }), []*Key[*callback]{
		seen("answered", "time of the reply", func(c *callback) track.Point { return c.Answered }),
		anyText("missing", "why there is no reply, as in reply_missing of RPCs", func(c *callback) string { return c.Missing.String() }).omit().
			when(func(c *callback) bool { return c.Missing != track.NotMissing }),
		errno("error", "error in the reply", func(c *callback) int32 { return c.Status }).omit(),
		seen("obeyed", "time of the cancel or convert that followed, where the callback asks for one",
			func(c *callback) track.Point { return c.Obeyed }),
	})
}

// Holders are the keys of who kept others waiting for a resource.
var Holders = Table[*locks.Holder]{Record: "blocker", Command: "locks", Keys: sync.OnceValue(func() []*Key[*locks.Holder] {
	type holder = locks.Holder
	return []*Key[*holder]{
		NIDKey("client", "node that had the locks", func(h *holder) lnet.NID { return h.Client }),
		TextKey("job", "job id of their requests, when it is known", func(h *holder) string { return h.Job }),
		NIDKey("server", "node that granted them", func(h *holder) lnet.NID { return h.Server }),
		TextKey("target", "target of the locks, when it is known", func(h *holder) string { return h.Target }),
		TextKey("resource", "what was locked: FID, object, quota id or configuration log",
			func(h *holder) string { return string(h.Resource.AppendResource(nil)) }),
		enum("type", lockTypes, "kind of the locks", func(h *holder) uint64 { return h.Resource.Kind }).known(),
		NumberKey("waits", "number of locks that had to wait for them", func(h *holder) int64 { return h.Waits }),
		NumberKey("waited", "how long these waited for them, in total", func(h *holder) int64 { return h.Time }).as(Duration),
		NumberKey("longest", "the longest of these waits", func(h *holder) int64 { return h.Longest }).as(Duration),
		nids("waiters", "nodes that waited", func(h *holder) []lnet.NID { return h.Waiters }),
	}
})}
