package nested

import (
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// operation is an RPC that a server serves.
type operation struct {
	span    track.Span // To is 0 while there is no reply
	client  lnet.NID
	opcode  uint32
	portal  uint32
	mode    uint64 // of the lock that it asks for
	reads   bool   // an intent whose lock does not keep readers away
	intent  bool
	creates bool   // a file, which needs OST objects
	renames bool   // looks at the directories around its own
	moves   bool   // a migration: the directory may have got another FID meanwhile
	unlocks bool   // the range of a flock
	first   uint64 // of the bytes of an object that it reads or writes
	behind  uint64 // them; 0 without any
	about   []byte
	fid     track.FID
	name    [maxEntryName]byte
	owner   [3]uint32 // whose quota it changes, by kind
	owned   [3]bool
	threads []*thread
	calls   []*Call
}

const (
	maxAbout     = 1 << 12 // bytes of a request that are searched
	maxCalls     = 1 << 12 // of an operation
	maxEntryName = 32      // bytes of a name that are compared
)

// isServed reports whether an RPC may have nested ones.
func isServed(r *track.RPC) bool {
	switch r.Opcode {
	case opcodes.OBD_PING, opcodes.OST_STATFS, opcodes.MDS_STATFS, opcodes.OST_SYNC, opcodes.QUOTA_DQACQ:
		return false
	}
	return !opcodes.IsCallback(r.Opcode) && !opcodes.IsConnect(r.Opcode) && !r.OneWay
}

// payload returns the bytes of a message behind the LNet header.
func payload(m *dissect.Message) []byte { return m.Data[min(m.PayloadOff, len(m.Data)):] }

func (t *Tracker) newOperation(r *track.RPC, m *dissect.Message) *operation {
	o := &operation{}
	if n := len(t.free); n > 0 {
		o, t.free = t.free[n-1], t.free[:n-1]
	}
	data := payload(m)
	*o = operation{span: track.Span{From: m.Time}, client: r.Client, opcode: r.Opcode, portal: r.Portal, fid: r.FID,
		about: append(o.about[:0], data[:min(len(data), maxAbout)]...), threads: o.threads[:0], calls: o.calls[:0]}
	if len(r.Name()) <= maxEntryName {
		copy(o.name[:], r.Name())
	}
	o.creates = r.Does(opcodes.Creates) || r.Opcode == opcodes.MDS_REINT
	o.renames, o.moves = r.Does(opcodes.Renames), r.Does(opcodes.Migrates)
	if m.Msg == nil {
		return o
	}
	if r.Opcode == opcodes.OST_READ || r.Opcode == opcodes.OST_WRITE {
		opcodes.Ranges(m.Msg, func(off uint64, size uint32) {
			if o.behind == 0 {
				o.first = off
			}
			o.behind = off + uint64(size)
		})
	}
	switch {
	case r.Opcode == opcodes.LDLM_ENQUEUE:
		if d, ok := opcodes.LockDescOf(m.Msg); ok {
			o.mode, o.unlocks = d.Requested, d.IsUnlock()
		}
		o.intent = opcodes.IsIntent(m.Msg)
		o.reads = o.intent && r.Variant != nil && !r.Does(opcodes.OtherLock)
	case r.Opcode == opcodes.MDS_QUOTACTL:
		if q, ok := opcodes.QuotaIDOf(m.Msg); ok && q.Kind < uint64(len(o.owner)) {
			o.owner[q.Kind], o.owned[q.Kind] = uint32(q.ID), true
		}
	case r.Opcode <= opcodes.OST_SYNC && r.Opcode != opcodes.OST_REPLY:
		if w, ok := opcodes.OwnerOf(m.Msg); ok {
			o.owner, o.owned = [3]uint32{w.User, w.Group, w.Project}, [3]bool{true, true, w.HasProject}
		}
	}
	return o
}

// canCause reports whether an operation may cause such a call.
func (o *operation) canCause(c *Call) bool {
	switch o.opcode {
	case opcodes.LDLM_CANCEL, opcodes.LDLM_CONVERT:
		return c.opcode == opcodes.LDLM_CP_CALLBACK
	case opcodes.MDS_READPAGE:
		return !opcodes.IsCallback(c.opcode)
	case opcodes.LDLM_ENQUEUE:
		switch c.opcode {
		case opcodes.LDLM_CP_CALLBACK:
			return o.unlocks || o.intent
		case opcodes.LDLM_BL_CALLBACK:
			return o.reads && opcodes.IsReadLock(c.mode) || o.intent && !o.reads || c.mode == o.mode
		}
	}
	return true
}

// waitedForObjects reports whether the server made OST objects for most of the time in which it
// served an operation that may need some.
func (o *operation) waitedForObjects(c *Call) bool {
	return o.creates && c.opcode == opcodes.OST_CREATE && c.span.To <= o.span.To && 2*(c.span.To-c.span.From) > o.span.To-o.span.From
}

// needs reports whether an operation reads or writes where the lock begins that a callback is about: the
// server locks these bytes for it, from a page on.
func (o *operation) needs(c *Call) bool {
	const page = 1 << 12
	return c.extent && o.first&^(page-1) <= c.begin && c.begin < o.behind
}

// mayBeOver reports whether the thread of an operation may already serve next: the reply to
// the operation was sent but not captured yet.
func (o *operation) mayBeOver(next *operation) bool {
	return len(next.threads) == 0 && next.portal == o.portal && next.span.From >= o.span.From
}

func (o *operation) add(c *Call, link Link) {
	if c.Link = link; len(o.calls) < maxCalls && !slices.Contains(o.calls, c) {
		o.calls = append(o.calls, c)
	}
}

// proven returns the calls of the operation in the order in which they were sent, without
// those that turned out to be sent for something else. A thread
// waits for the reply to what it sends, so a call that was answered later belongs to
// something else.
func (o *operation) proven() []*Call {
	list := slices.DeleteFunc(slices.Clone(o.calls), func(c *Call) bool {
		return !c.logged && (c.Link == ByThread && c.isShared() || o.span.To != 0 && c.span.To > o.span.To &&
			c.opcode != opcodes.LDLM_CP_CALLBACK)
	})
	slices.SortFunc(list, func(a, b *Call) int { return int(int64(a.Number) - int64(b.Number)) })
	return list
}

func (o *operation) sum(s *server) (n track.Nested) {
	n.All = s.isCovered
	covered := o.span.From
	for _, c := range o.proven() {
		if c.Link == ByTime {
			continue
		}
		n.Count++
		to := c.span.To
		if o.span.To != 0 && (to == 0 || to > o.span.To) {
			to = o.span.To
		}
		n.Time += max(0, to-max(covered, c.span.From))
		covered = max(covered, to)
	}
	return n
}

// dirEntry is a name in a directory, without one a stripe of it.
type dirEntry struct {
	dir  track.FID
	name [maxEntryName]byte
}

const maxNames = 1 << 14

func (t *Tracker) learnNames(o *operation, r *track.RPC, m *dissect.Message) {
	if m.Msg == nil || o.fid == (track.FID{}) || r.Status < 0 {
		return
	}
	fid := track.FID(opcodes.FileAttrsOf(m.Msg).FID)
	if fid == (track.FID{}) {
		return
	}
	if o.name[0] != 0 && fid != o.fid {
		fifo.Put(t.names, fid, dirEntry{o.fid, o.name})
	}
	if layout := opcodes.FileLayout(m.Msg); layout != nil {
		opcodes.DirectoryStripes(layout, func(stripe opcodes.FileID) {
			if track.FID(stripe) != fid {
				fifo.Put(t.names, track.FID(stripe), dirEntry{dir: fid})
			}
		})
	}
}

// directory returns the directory that a FID is a stripe of, or the FID itself.
func (t *Tracker) directory(fid track.FID) track.FID {
	if e, ok := fifo.Get(t.names, fid); ok && e.name[0] == 0 {
		return e.dir
	}
	return fid
}

// nameSame reports whether an operation and a call have the same FID, name or quota owner.
func (t *Tracker) nameSame(o *operation, c *Call) bool {
	if c.hasQuota {
		k := c.quota.Kind
		return k < uint64(len(o.owned)) && o.owned[k] && (c.quota.All && o.opcode == opcodes.MDS_QUOTACTL || uint64(o.owner[k]) == c.quota.ID)
	}
	if c.isNamedIn(o.about) {
		return true
	}
	for _, fid := range c.fids {
		if above, ok := fifo.Get(t.names, o.fid); ok && o.renames && above.dir == fid {
			return true
		}
		e, ok := fifo.Get(t.names, fid)
		if !ok {
			continue
		}
		if e.name[0] == 0 { // a stripe
			if t.directory(o.fid) == e.dir {
				return true
			}
			if e, ok = fifo.Get(t.names, e.dir); !ok {
				continue
			}
		}
		if e.name[0] != 0 && o.name == e.name && (o.moves || t.directory(o.fid) == t.directory(e.dir)) {
			return true
		}
	}
	return false
}
