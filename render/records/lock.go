package records

import (
	"math"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// lockTypes are the kinds of locks, in words.
var lockTypes = schema.NewEnum("lock_type", "", "kind of a lock, in records of locks", []schema.Value{
	{Name: "plain", Value: 10, Doc: "has no range: configuration logs and quota"},
	{Name: "extent", Value: opcodes.ExtentLock, Doc: "bytes of an object"},
	{Name: "flock", Value: opcodes.FlockLock, Doc: "flock and fcntl locks of applications"},
	{Name: "inodebits", Value: opcodes.InodeLock, Doc: "parts of an inode"},
})

// extentEnd is the last byte of a range that has no end.
var extentEnd = schema.NewEnum("extent_end", "", "last byte of a range", []schema.Value{{Name: "EOF", Value: ^uint64(0), Doc: "the range has no end"}})

// Locks are the keys of locks.
var Locks = Table[*locks.Lock]{Record: "lock", Prefix: "lock.", InFilters: true, Keys: []Key[*locks.Lock]{
	{Name: "resource", Type: Object, Doc: "what is locked", Get: func(l *locks.Lock, _ *Value) bool { return l.HasResource() }, Parts: []Key[*locks.Lock]{
		{Name: "name", Type: Hex, Doc: "name of the resource, four words", Len: func(l *locks.Lock) int {
			if !l.HasResource() {
				return 0
			}
			return len(l.Desc.Name)
		}, At: func(l *locks.Lock, i int, v *Value) bool {
			v.U = l.Desc.Name[max(i, 0)]
			return true
		}},
		{Name: "text", Type: Text, Doc: "what the name stands for: FID, object, quota id or configuration log", Get: func(l *locks.Lock, v *Value) bool {
			v.Text = l.Desc.AppendResource(v.Text[:0:0])
			return len(v.Text) > 0
		}},
	}},
	{Name: "type", Type: Enum, Names: lockTypes, Doc: "kind of lock", Get: func(l *locks.Lock, v *Value) bool {
		v.U = l.Desc.Kind
		return l.HasResource()
	}},
	{Name: "mode", Type: Enum, Names: opcodes.LdlmMode, Doc: "granted mode, before that the requested one", Get: func(l *locks.Lock, v *Value) (ok bool) {
		v.U, ok = l.Mode()
		return ok
	}},
	{Name: "bits", Type: Flags, Names: opcodes.LdlmInodebits, Doc: "of an inodebits lock: the parts of the inode that it covers", Get: func(l *locks.Lock, v *Value) bool {
		v.U = l.Desc.Bits
		return l.HasDesc() && l.Desc.Kind == opcodes.InodeLock
	}},
	{Name: "extent", Type: Object, Doc: "of an extent lock or a flock: the range that it covers", Get: func(l *locks.Lock, _ *Value) bool { return hasExtent(l) }, Parts: []Key[*locks.Lock]{
		{Name: "start", Unit: Bytes, Doc: "first byte", Get: func(l *locks.Lock, v *Value) bool {
			v.U = l.Desc.Start
			return hasExtent(l)
		}},
		{Name: "end", Type: Enum, Unit: Bytes, Names: extentEnd, Doc: "last byte, or EOF", Get: func(l *locks.Lock, v *Value) bool {
			if v.U = l.Desc.End; l.Desc.Kind == opcodes.FlockLock && v.U >= math.MaxInt64 {
				v.U = math.MaxUint64
			}
			return hasExtent(l)
		}},
	}},
	{Name: "group", JSON: Omit, Doc: "id of a group lock", Get: func(l *locks.Lock, v *Value) bool {
		v.U = l.Desc.Group
		return l.HasDesc() && l.Desc.IsGroup()
	}},
	{Name: "pid", JSON: Omit, Doc: "process that requested a flock", Get: func(l *locks.Lock, v *Value) bool {
		v.U = uint64(l.Desc.PID)
		return l.HasDesc() && l.Desc.Kind == opcodes.FlockLock
	}},
	{Name: "fid", Type: FID, JSON: Omit, Doc: "FID of the file or object", Get: func(l *locks.Lock, v *Value) (ok bool) {
		v.U, v.OID, v.Ver, ok = l.Desc.FID()
		return ok
	}},
	{Name: "client", Type: NID, Doc: "node that has the lock, also when it is a server", Get: func(l *locks.Lock, v *Value) bool {
		v.NID = l.Client
		return true
	}},
	{Name: "server", Type: NID, Doc: "node that grants it", Get: func(l *locks.Lock, v *Value) bool {
		v.NID = l.Server
		return true
	}},
	{Name: "target", Type: Text, Doc: "target, when a message names it or several together prove it", Get: func(l *locks.Lock, v *Value) bool {
		v.SetString(l.Target())
		return len(v.Text) > 0
	}},
	{Name: "job", Type: Text, Doc: "job id of the request", Get: func(l *locks.Lock, v *Value) bool {
		v.SetString(l.Job)
		return l.HasJob
	}},
	{Name: "handle", Type: Hex, Doc: "the server's handle of the lock", Get: func(l *locks.Lock, v *Value) bool {
		v.U = l.Handle
		return l.Handle != 0
	}},
	{Name: "client_handle", Type: Hex, Doc: "the client's handle of the lock", Get: func(l *locks.Lock, v *Value) bool {
		v.U = l.ClientHandle
		return l.ClientHandle != 0
	}},
	lockPoint("asked", "the request; unknown when it was before the capture", func(l *locks.Lock) track.Point { return l.Asked }),
	lockPoint("granted", "the reply or the completion callback that granted it", func(l *locks.Lock) track.Point { return l.Granted }),
	{Name: "waited", Type: Duration, Doc: "time from the request to the grant, or to the end of the wait or of the capture; unknown where the reply was not captured", Get: func(l *locks.Lock, v *Value) bool {
		return v.setDuration(l.Waited())
	}},
	{Name: "held", Type: Duration, Doc: "time from the grant to the end of the lock or of the capture", Get: func(l *locks.Lock, v *Value) bool {
		return v.setDuration(l.Held())
	}},
	{Name: "blocked", Type: Bool, JSON: Omit, Doc: "the reply says that the lock has to wait for others", Get: func(l *locks.Lock, _ *Value) bool { return l.Blocked }},
	{Name: "error", Type: Text, JSON: Omit, Doc: "error with which the server refused it", Get: func(l *locks.Lock, v *Value) bool {
		v.SetErrno(l.Error)
		return l.Error < 0
	}},
	{Name: "replays", JSON: Omit, Doc: "how often the client replayed it to a restarted server", Get: func(l *locks.Lock, v *Value) bool {
		v.U = uint64(l.Replays)
		return l.Replays > 0
	}},
	{Name: "stuck", Type: Bool, JSON: Omit, Doc: "it was never granted, or a callback about it was not answered or not obeyed", Get: func(l *locks.Lock, _ *Value) bool { return l.IsStuck() }},
	{Name: "blocked_by", Type: Object, Doc: "locks that kept it waiting: the server sent them a blocking callback, or they are flocks on the same range, or group locks, which get none",
		Len: func(l *locks.Lock) int { return len(l.BlockedBy) }, Parts: blockers},
	{Name: "callbacks", Type: Object, Doc: "callbacks from the server about the lock", Len: func(l *locks.Lock) int { return len(l.Callbacks) }, Parts: lockCallbacks},
	{Name: "converts", Type: Object, JSON: Omit, Doc: "converts, with which the client kept some bits only", Len: func(l *locks.Lock) int { return len(l.Converts) },
		Parts: append(pointAt(func(l *locks.Lock, i int) track.Point { return l.Converts[i].Point }),
			Key[*locks.Lock]{Name: "bits", Type: Flags, Names: opcodes.LdlmInodebits, Doc: "the parts of the inode that it keeps", At: func(l *locks.Lock, i int, v *Value) bool {
				v.U = l.Converts[i].Bits
				return true
			}})},
	{Name: "dropped", JSON: Omit, Doc: "number of entries of blocked_by, callbacks and converts that were too many to keep", Get: func(l *locks.Lock, v *Value) bool {
		v.U = uint64(l.Dropped)
		return l.Dropped > 0
	}},
	{Name: "ended", Type: Object, Doc: "how the lock ended", Parts: append([]Key[*locks.Lock]{
		{Name: "how", Type: Text, Doc: "cancel (the client gave it back), early (along with another request), evicted (the server evicted the client), disconnect, replaced (by another flock of its owner), refused (the reply is an error), gone (the client answered a callback that it does not have the lock), failed (a deadlock of flocks), unfollowed (there were too many to follow it any longer), open (no message ended it)",
			Get: func(l *locks.Lock, v *Value) bool {
				v.SetString(l.End.How.String())
				return true
			}},
	}, point(func(l *locks.Lock) track.Point { return l.End.Point })...)},
}}

func hasExtent(l *locks.Lock) bool {
	return l.HasDesc() && (l.Desc.Kind == opcodes.ExtentLock || l.Desc.Kind == opcodes.FlockLock)
}

// lockPoint makes the key of a message, null when it was not seen.
func lockPoint(name, doc string, at func(l *locks.Lock) track.Point) Key[*locks.Lock] {
	return Key[*locks.Lock]{Name: name, Type: Object, Doc: doc, Parts: point(at), Get: func(l *locks.Lock, _ *Value) bool { return at(l).Frame != 0 }}
}

var blockers = []Key[*locks.Lock]{
	{Name: "client", Type: NID, Doc: "node that had the lock", At: func(l *locks.Lock, i int, v *Value) bool {
		v.NID = l.BlockedBy[i].Client
		return true
	}},
	{Name: "handle", Type: Hex, Doc: "the server's handle of the lock", At: func(l *locks.Lock, i int, v *Value) bool {
		v.U = l.BlockedBy[i].Handle
		return v.U != 0
	}},
	{Name: "job", Type: Text, Doc: "job id of its request", At: func(l *locks.Lock, i int, v *Value) bool {
		v.SetString(l.BlockedBy[i].Job)
		return l.BlockedBy[i].HasJob
	}},
	{Name: "waited", Type: Duration, Doc: "how long it kept the other waiting", At: func(l *locks.Lock, i int, v *Value) bool {
		return v.setDuration(l.BlockedBy[i].Time(l), true)
	}},
}

var lockCallbacks = append(append([]Key[*locks.Lock]{
	{Name: "kind", Type: Text, Doc: "blocking, completion or glimpse", At: func(l *locks.Lock, i int, v *Value) bool {
		v.SetString(l.Callbacks[i].Kind.String())
		return true
	}},
}, pointAt(func(l *locks.Lock, i int) track.Point { return l.Callbacks[i].Sent })...),
	callbackTime("answered", "time of the reply", func(c *locks.Callback) track.Point { return c.Answered }),
	Key[*locks.Lock]{Name: "missing", Type: Text, JSON: Omit, Doc: "why there is no reply, as in reply_missing of RPCs", At: func(l *locks.Lock, i int, v *Value) bool {
		v.SetString(l.Callbacks[i].Missing.String())
		return l.Callbacks[i].Missing != track.NotMissing
	}},
	Key[*locks.Lock]{Name: "error", Type: Text, JSON: Omit, Doc: "error in the reply", At: func(l *locks.Lock, i int, v *Value) bool {
		v.SetErrno(l.Callbacks[i].Status)
		return l.Callbacks[i].Status < 0
	}},
	callbackTime("obeyed", "time of the cancel or convert that followed, where the callback asks for one", func(c *locks.Callback) track.Point { return c.Obeyed }),
)

func callbackTime(name, doc string, at func(c *locks.Callback) track.Point) Key[*locks.Lock] {
	return Key[*locks.Lock]{Name: name, Type: Time, Doc: doc, At: func(l *locks.Lock, i int, v *Value) bool {
		return v.setTime(at(&l.Callbacks[i]))
	}}
}

// Holders are the keys of who kept others waiting for a resource.
var Holders = Table[*locks.Holder]{Record: "blocker", Keys: []Key[*locks.Holder]{
	{Name: "client", Type: NID, Doc: "node that had the locks", Get: func(h *locks.Holder, v *Value) bool {
		v.NID = h.Client
		return true
	}},
	{Name: "job", Type: Text, Doc: "job id of their requests, when it is known", Get: func(h *locks.Holder, v *Value) bool {
		v.SetString(h.Job)
		return h.Job != ""
	}},
	{Name: "server", Type: NID, Doc: "node that granted them", Get: func(h *locks.Holder, v *Value) bool {
		v.NID = h.Server
		return true
	}},
	{Name: "target", Type: Text, Doc: "target of the locks, when it is known", Get: func(h *locks.Holder, v *Value) bool {
		v.SetString(h.Target)
		return h.Target != ""
	}},
	{Name: "resource", Type: Text, Doc: "what was locked: FID, object, quota id or configuration log", Get: func(h *locks.Holder, v *Value) bool {
		v.Text = h.Resource.AppendResource(v.Text[:0:0])
		return len(v.Text) > 0
	}},
	{Name: "type", Type: Enum, Names: lockTypes, Doc: "kind of the locks", Get: func(h *locks.Holder, v *Value) bool {
		v.U = h.Resource.Kind
		return v.U != 0
	}},
	{Name: "waits", Doc: "number of locks that had to wait for them", Get: func(h *locks.Holder, v *Value) bool {
		v.U = uint64(h.Waits)
		return true
	}},
	{Name: "waited", Type: Duration, Doc: "how long these waited for them, in total", Get: func(h *locks.Holder, v *Value) bool {
		return v.setDuration(h.Time, true)
	}},
	{Name: "longest", Type: Duration, Doc: "the longest of these waits", Get: func(h *locks.Holder, v *Value) bool {
		return v.setDuration(h.Longest, true)
	}},
	{Name: "waiters", Type: NID, Doc: "nodes that waited", Len: func(h *locks.Holder) int { return len(h.Waiters) }, At: func(h *locks.Holder, i int, v *Value) bool {
		v.NID = h.Waiters[i]
		return true
	}},
}}

// LockType returns the kind of a lock in a word, empty when it is unknown.
func LockType(d *opcodes.LockDesc) string { return lockTypes.Name(d.Kind) }
