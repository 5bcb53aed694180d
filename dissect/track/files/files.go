// Package files follows files: their paths, layouts and sizes, and who opened, read,
// wrote, truncated and removed them.
//
// A Files receives RPCs from a track.Pairing: pass its methods Sent, Answered, Bulk
// and Done as hooks in track.Options. Locks come from package locks, to Lock. List
// returns the files.
//
// files.go takes messages, names.go puts paths together, objects.go finds the files
// of OST objects, pattern.go compares offsets, and file.go has what is known of a
// file.
//
// Names come from replies to lookups and opens, creates, links, renames, removes,
// directory pages, batches, trusted.link and fid2path. The file of an OST object comes
// from layouts, and from requests to OSTs that name it. The state is bounded: each
// bound is a constant beside the type that it limits.
package files

import (
	"cmp"
	"slices"

	"hash/maphash"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// Files follows files.
type Files struct {
	// Dropped is the number of files that were too many to keep: what was done with
	// them is forgotten.
	Dropped int64

	files       map[track.FID]*File
	named       fifo.Queue[File] // without activity, the one that was used last is last
	active      fifo.Queue[File]
	entries     map[entryKey]*File
	objects     map[objectKey]*object
	usedObjects fifo.Queue[object]
	root        track.FID
	seed        maphash.Seed
	rpcs        track.Attached[rpcFiles]
	tree        dissect.Tree // for replies that are read with their requests
	limits      limits
	now         int64
}

// limits are how much is kept.
type limits struct {
	active  int // files that something was done with
	named   int // of which only names are known
	objects int
}

var defaultLimits = limits{active: 1 << 16, named: 1 << 18, objects: 1 << 17}

// rpcFiles is what an RPC is about.
type rpcFiles struct {
	counted bool
	kind    Kind
	file    track.FID // zero: unknown
	object  *object   // nil: none
	dir     track.FID // of a name, which the RPC has
	newDir  track.FID
	newName []byte
	second  track.FID // another file
	request opcodes.Reintegration
	user    UserKey
	ranges  []requestedRange
	batch   []batchedName
	names   []byte // those of batch
	bytes   int64  // that were moved; by an open those in its reply
	failed  bool   // nothing was done
}

// requestedRange is a range that an RPC reads or writes, and whether that failed.
type requestedRange struct {
	accessRange
	errno int32
}

// batchedName is a request for the attributes of a name.
type batchedName struct {
	dir  track.FID
	size int // of the name
}

const (
	maxRanges = 1 << 12 // of an RPC
	maxBatch  = 1 << 12 // requests in a batch
)

// New makes a Files.
func New() *Files {
	return &Files{files: make(map[track.FID]*File), entries: make(map[entryKey]*File), objects: make(map[objectKey]*object),
		root: track.FID(opcodes.RootDirectory), seed: maphash.MakeSeed(), limits: defaultLimits}
}

func (t *Files) hash(b []byte) uint64 { return maphash.Bytes(t.seed, b) | 1 } // 0 is none

// file returns the record of a file. It adds one for a new file.
func (t *Files) file(fid track.FID) *File {
	f := t.files[fid]
	if f == nil {
		f = &File{FID: fid, files: t}
		f.used.Owner = f
		t.files[fid] = f
	}
	t.touch(f)
	return f
}

// touch moves a file to the end of its queue.
func (t *Files) touch(f *File) {
	if f.Activity != nil {
		t.active.Push(&f.used, t.now)
		if t.active.Len() > t.limits.active {
			t.dropActivity(t.active.First())
		}
		return
	}
	t.named.Push(&f.used, t.now)
	if t.named.Len() > t.limits.named {
		t.dropNamed()
	}
}

// dropActivity forgets what was done with a file, but not its names.
func (t *Files) dropActivity(f *File) {
	t.Dropped++
	f.Activity = nil
	f.used.Remove()
	if f.Object {
		f.object.own = nil
		return
	}
	t.touch(f)
}

// dropNamed forgets the file that was not used for the longest time, rather than one
// that is a directory of others.
func (t *Files) dropNamed() {
	const most = 64
	for range most {
		f := t.named.First()
		if f.children == 0 {
			break
		}
		t.named.Push(&f.used, t.now)
	}
	f := t.named.First()
	for i := range f.names {
		t.dropName(f, i)
	}
	f.used.Remove()
	delete(t.files, f.FID)
}

// activity returns what was done with a file.
func (t *Files) activity(f *File) *Activity {
	if f.Activity == nil {
		f.Activity = &Activity{}
		t.touch(f)
	}
	return f.Activity
}

// Sent takes a request.
func (t *Files) Sent(r *track.RPC, m *dissect.Message) {
	t.Advance(m.Time)
	if r.Sends != 1 || !r.HasOpcode || m.Msg == nil {
		return
	}
	s := t.rpcs.Of(r)
	s.user = UserKey{Client: r.Client, HasJob: len(r.Job()) > 0, UID: r.UID, HasUID: r.HasUser}
	switch r.Opcode {
	case opcodes.LDLM_ENQUEUE:
		t.enqueue(s, r, m)
	case opcodes.MDS_REINT, opcodes.MDS_CLOSE:
		t.reintegration(s, r, m)
	case opcodes.MDS_BATCH:
		s.set(Stat)
		s.batch, s.names = s.batch[:0], s.names[:0]
		opcodes.BatchedNames(m.Msg, s.addBatched)
	case opcodes.MDS_GETATTR_NAME:
		t.getattr(s, r, m)
	case opcodes.MDS_GET_ROOT:
		s.newName = append(s.newName[:0], opcodes.Fileset(m.Msg)...)
	default:
		kind, isObject, ok := kindOf(r.Opcode)
		switch {
		case !ok:
		case isObject:
			s.set(kind)
			t.aboutObject(s, r, m)
			if kind != Read && kind != Write {
				return
			}
			s.ranges = s.ranges[:0]
			opcodes.Ranges(m.Msg, func(off uint64, size uint32) {
				if len(s.ranges) < maxRanges {
					s.ranges = append(s.ranges, requestedRange{accessRange: accessRange{off, off + uint64(size)}})
				}
			})
		case r.HasFID:
			s.set(kind)
			s.file = r.FID
			if r.Opcode == opcodes.MDS_SWAP_LAYOUTS {
				s.second = track.FID(opcodes.SecondFile(m.Msg))
			}
		}
	}
}

// set notes what an RPC does.
func (s *rpcFiles) set(k Kind) { s.counted, s.kind = true, k }

// kindOf returns what an operation without variants of its own does, and whether it
// is about an OST object.
func kindOf(opc uint32) (k Kind, isObject, ok bool) {
	does := opcodes.ActionsOf(opc, nil)
	if does&(opcodes.OfObject|opcodes.OfFile) == 0 {
		return 0, false, false
	}
	i := slices.IndexFunc(kindsOf[:], func(x actionKind) bool { return does&x.action != 0 })
	return kindsOf[i].kind, does&opcodes.OfObject != 0, true
}

type actionKind struct {
	action schema.Actions
	kind   Kind
}

var kindsOf = [...]actionKind{{opcodes.Reads, Read}, {opcodes.Writes, Write}, {opcodes.Punches, Punch}, {opcodes.Syncs, Sync},
	{opcodes.SetsAttrs, Setattr}, {opcodes.Stats, Stat}, {opcodes.ReadsDir, Readdir}, {opcodes.Xattrs, Xattr}, {^schema.Actions(0), Other}}

// byEntry notes the name that a request is about.
func (t *Files) byEntry(s *rpcFiles, r *track.RPC) {
	if !r.HasFID {
		return
	}
	if len(r.Name()) == 0 {
		s.file = r.FID
		return
	}
	t.setEntry(s, r.FID, r.Name())
}

// setEntry notes a name in a directory, and the file that it stands for, if that is known.
func (t *Files) setEntry(s *rpcFiles, dir track.FID, name []byte) {
	s.dir = dir
	if f := t.entry(dir, name); f != nil {
		s.file = f.FID
	}
}

// getattr takes a request for attributes by name, or by FID when it has none.
func (t *Files) getattr(s *rpcFiles, r *track.RPC, m *dissect.Message) {
	s.set(Stat)
	t.byEntry(s, r)
	if second := track.FID(opcodes.SecondFile(m.Msg)); len(r.Name()) == 0 && second != (track.FID{}) {
		s.file = second
	}
}

// enqueue takes the request for a lock, and for what is done along with it.
func (t *Files) enqueue(s *rpcFiles, r *track.RPC, m *dissect.Message) {
	d, ok := opcodes.LockDescOf(m.Msg)
	if !opcodes.IsIntent(m.Msg) || r.Does(opcodes.Glimpses) {
		if !ok {
			return
		}
		kind := LockRequest
		if r.Does(opcodes.Glimpses) {
			kind = Glimpse
		}
		if id, extent := d.ExtentObject(); extent {
			s.set(kind)
			s.object = t.object(id, r.Connection)
		} else if seq, oid, ver, hasFID := d.FID(); hasFID {
			s.set(kind)
			s.file = track.FID{Seq: seq, OID: oid, Ver: ver}
		}
		return
	}
	switch {
	case r.Does(opcodes.Opens | opcodes.Creates):
		s.setRequest(m)
		s.set(Create)
		if s.request.Opens {
			s.set(Open)
		}
		t.byName(s, r)
	case r.Does(opcodes.Stats | opcodes.LooksUp):
		t.getattr(s, r, m)
	case r.Does(opcodes.Xattrs):
		s.set(Xattr)
		s.file = r.FID
	case r.Does(opcodes.AsksForLock):
		s.set(LockRequest)
		s.file = r.FID
	}
}

// setRequest notes the record of a request, and returns it with its names.
func (s *rpcFiles) setRequest(m *dissect.Message) (q opcodes.Reintegration, ok bool) {
	q, ok = opcodes.ReintegrationOf(m.Msg)
	s.request = q
	s.request.Name, s.request.NewName = nil, nil // in the message
	if ok && !s.user.HasUID {
		s.user.UID, s.user.HasUID = q.User, true
	}
	return q, ok
}

// byName notes the file of a request that creates or opens.
func (t *Files) byName(s *rpcFiles, r *track.RPC) {
	q := &s.request
	t.byEntry(s, r)
	if second := track.FID(q.Second); second != (track.FID{}) && !q.CrossRef && (len(r.Name()) == 0 || q.ByFID) {
		s.file = second
	}
}

// reintegration takes an MDS_REINT or MDS_CLOSE.
func (t *Files) reintegration(s *rpcFiles, r *track.RPC, m *dissect.Message) {
	q, ok := s.setRequest(m)
	if !ok || r.Variant == nil {
		return
	}
	if r.Opcode == opcodes.MDS_CLOSE {
		s.set(Close)
		s.file, s.second = track.FID(q.First), track.FID(opcodes.ClosedWith(m.Msg))
		return
	}
	s.file = track.FID(q.First)
	switch {
	case r.Does(opcodes.SetsAttrs):
		s.set(Setattr)
		if q.Truncates {
			s.set(Truncate)
		}
	case r.Does(opcodes.Creates):
		s.set(Create)
		s.file = track.FID{}
		t.byName(s, r)
	case r.Does(opcodes.Opens):
		s.set(Open)
		s.file = track.FID{}
		t.byName(s, r)
	case r.Does(opcodes.Links):
		s.set(Link)
		s.dir = track.FID(q.Second)
	case r.Does(opcodes.Removes):
		s.set(Remove)
		s.file = track.FID(q.Second)
		t.setEntry(s, track.FID(q.First), q.Name)
	case r.Does(opcodes.Renames | opcodes.Migrates):
		s.set(Rename)
		s.newDir, s.file = track.FID(q.Second), track.FID{}
		s.newName = append(s.newName[:0], q.NewName...)
		t.setEntry(s, track.FID(q.First), q.Name)
	case r.Does(opcodes.Xattrs):
		s.set(Xattr)
	default:
		s.set(Other)
	}
}

// addBatched notes a request in a batch.
func (s *rpcFiles) addBatched(n opcodes.BatchedName) {
	if len(s.batch) < maxBatch {
		s.batch = append(s.batch, batchedName{track.FID(n.Dir), len(n.Name)})
		s.names = append(s.names, n.Name...)
	}
}

// Bulk takes a message with complete bulk data, such as directory pages.
func (t *Files) Bulk(r *track.RPC, m *dissect.Message) {
	if m.Req == nil || !r.HasRequest {
		return
	}
	switch r.Opcode {
	case opcodes.MDS_READPAGE:
		opcodes.DirectoryEntries(m.Content, func(object opcodes.FileID, name []byte, mode uint32) {
			if f := t.learn(r.FID, name, track.FID(object)); f != nil && f.Mode == 0 {
				f.Mode = mode
			}
		})
	case opcodes.MDS_BATCH:
		s := t.rpcs.Of(r)
		s.batch, s.names = s.batch[:0], s.names[:0]
		opcodes.BatchedNamesInBulk(m.Content, m.Req.Big, s.addBatched)
	}
}

// Answered takes a reply.
func (t *Files) Answered(r *track.RPC, m *dissect.Message) {
	t.Advance(m.Time)
	if !r.HasOpcode || m.Msg == nil {
		return
	}
	s := t.rpcs.Of(r)
	s.failed = r.Status < 0
	switch r.Opcode {
	case opcodes.LDLM_ENQUEUE:
		t.enqueued(s, r, m)
	case opcodes.MDS_REINT:
		t.reintegrated(s, r, m)
	case opcodes.MDS_CLOSE:
		t.closed(s, r, m)
	case opcodes.MDS_BATCH:
		t.batched(s, m)
	case opcodes.MDS_GETATTR_NAME:
		if !s.failed {
			t.learned(s, r, t.attributes(s, m))
		}
	case opcodes.MDS_GET_INFO, opcodes.MDS_GETXATTR:
		t.info(s, r, m)
	default:
		t.answered(s, r, m)
	}
}

func (t *Files) answered(s *rpcFiles, r *track.RPC, m *dissect.Message) {
	_, isObject, ok := kindOf(r.Opcode)
	switch {
	case r.Opcode == opcodes.MDS_GET_ROOT:
		if !s.failed {
			t.rooted(s, r, m)
		}
	case !ok || s.failed && r.Opcode != opcodes.OST_WRITE:
	case isObject:
		if !s.counted && (r.Opcode == opcodes.OST_READ || r.Opcode == opcodes.OST_WRITE) {
			s.kind, _, s.counted = kindOf(r.Opcode) // the request was not captured
			s.user = UserKey{Client: r.Client}
		}
		t.aboutObject(s, r, m)
		t.moved(s, r, m)
	case r.Opcode == opcodes.MDS_SWAP_LAYOUTS:
		t.swapLayouts(s.file, s.second)
	case r.Opcode == opcodes.MDS_RMFID:
		opcodes.RemovedFiles(m.Msg, func(fid opcodes.FileID) {
			if f := t.files[track.FID(fid)]; f != nil {
				t.removed(f, r)
			}
		})
	case r.Opcode == opcodes.MDS_GETATTR:
		t.attributes(s, m)
	}
}

// moved notes how many bytes were read or written.
func (t *Files) moved(s *rpcFiles, r *track.RPC, m *dissect.Message) {
	switch s.kind {
	case Read:
		s.bytes = int64(r.Status)
	case Write:
		s.bytes = 0
		for i := range s.ranges {
			a := &s.ranges[i]
			if a.errno, _ = opcodes.WrittenRange(m.Msg, i); a.errno == 0 {
				a.errno = min(0, r.Status)
			}
			if a.errno == 0 {
				s.bytes += int64(a.to - a.from)
			}
		}
	}
}

// attributes takes the attributes and the layout that a reply has of a file, and
// returns its FID.
func (t *Files) attributes(s *rpcFiles, m *dissect.Message) track.FID {
	a := opcodes.FileAttrsOf(m.Msg)
	fid := track.FID(a.FID)
	if fid == (track.FID{}) && s.dir == (track.FID{}) {
		fid = s.file
	}
	if fid != (track.FID{}) {
		t.setAttributes(fid, &a)
		t.layout(fid, opcodes.FileLayout(m.Msg))
	}
	return fid
}

func (t *Files) setAttributes(fid track.FID, a *opcodes.FileAttrs) {
	f := t.file(fid)
	if a.Mode != 0 {
		f.Mode = a.Mode
	}
	if a.HasSize && (!a.Lazy || !f.hasSize) {
		f.setSize(a.Size)
	}
}

// learned notes which file the name in a request stands for.
func (t *Files) learned(s *rpcFiles, r *track.RPC, fid track.FID) {
	if fid == (track.FID{}) {
		return
	}
	s.file = fid
	if s.dir == (track.FID{}) || s.request.Volatile {
		return
	}
	if r.Replay() || s.request.ByFID {
		if f := t.files[fid]; f != nil && f.hasName() {
			return
		}
	}
	t.learn(s.dir, r.Name(), fid)
}

func (t *Files) enqueued(s *rpcFiles, r *track.RPC, m *dissect.Message) {
	if !s.counted && r.HasRequest {
		return
	}
	switch s.kind {
	case Open, Create, Stat, Xattr:
	default:
		if size, ok := opcodes.ObjectSize(m.Msg); ok && !s.failed {
			t.objectSize(s.object, size)
		}
		if s.file != (track.FID{}) {
			t.layout(s.file, opcodes.FileLayout(m.Msg))
		}
		return
	}
	opened, created := opcodes.IntentDone(m.Msg)
	s.failed = s.failed || s.kind == Open && !opened || s.kind == Create && !created
	if r.Status < 0 || r.Variant != nil && r.Variant.InnerError != nil && r.Variant.InnerError(m.Msg) != 0 {
		s.failed = true
		return
	}
	fid := t.attributes(s, m)
	if s.kind == Open {
		s.bytes = opcodes.InlineData(m.Msg)
	}
	if s.kind == Xattr {
		opcodes.ObjectLinks(m.Msg, func(dir opcodes.FileID, name []byte) { t.learn(track.FID(dir), name, s.file) })
		return
	}
	if opcodes.IsNegative(m.Msg) && !created {
		if s.dir != (track.FID{}) {
			t.forget(s.dir, r.Name())
		}
		return
	}
	t.learned(s, r, fid)
}

func (t *Files) reintegrated(s *rpcFiles, r *track.RPC, m *dissect.Message) {
	if s.failed || !s.counted {
		return
	}
	named := s.dir != (track.FID{})
	switch s.kind {
	case Open, Create:
		fid := t.attributes(s, m)
		fid = cmp.Or(fid, track.FID(s.request.Second))
		t.learned(s, r, fid)
	case Setattr, Truncate:
		t.attributes(s, m)
		if s.request.HasSize {
			t.file(s.file).setSize(s.request.Size)
		}
	case Link:
		if named && !r.Replay() {
			t.learn(s.dir, r.Name(), s.file)
		}
	case Remove:
		a := opcodes.FileAttrsOf(m.Msg)
		if fid := track.FID(a.FID); fid != (track.FID{}) {
			s.file = fid
		}
		if !named || r.Replay() {
			return
		}
		if s.file != (track.FID{}) { // its name may not have been seen before
			t.learn(s.dir, r.Name(), s.file)
		}
		t.forget(s.dir, r.Name())
		if f := t.files[s.file]; f != nil && (a.NoLinks || !a.Linked && !f.hasName()) {
			t.removed(f, r)
		}
	case Rename:
		if named && !r.Replay() {
			t.renamed(s, r, m)
		}
	}
}

// removed notes that a file has no name any longer.
func (t *Files) removed(f *File, r *track.RPC) {
	for i := range f.names {
		if n := &f.names[i]; n.gone == 0 {
			t.forget(n.dir, []byte(n.text))
		}
	}
	t.activity(f).Removed = r.Replied()
}

// renamed notes that a file was renamed. A migrated one has got another FID.
func (t *Files) renamed(s *rpcFiles, r *track.RPC, m *dissect.Message) {
	if r.Does(opcodes.Migrates) {
		if fid := track.FID(opcodes.FileAttrsOf(m.Msg).FID); fid != (track.FID{}) {
			t.learn(s.dir, r.Name(), fid)
		}
		t.forgetLayout(s.file)
		return
	}
	t.rename(s.dir, r.Name(), s.newDir, s.newName)
	if a := opcodes.FileAttrsOf(m.Msg); a.NoLinks { // the file that had the new name before
		if f := t.files[track.FID(a.FID)]; f != nil && f.FID != s.file {
			t.removed(f, r)
		}
	}
}

func (t *Files) closed(s *rpcFiles, r *track.RPC, m *dissect.Message) {
	if s.failed || !s.counted {
		return
	}
	if f := t.files[s.file]; f != nil && s.request.HasSize && f.Kind() != "dir" {
		f.growTo(s.request.Size)
	}
	if s.second != (track.FID{}) && opcodes.IsCloseDone(m.Msg) {
		switch {
		case r.Does(opcodes.SwapsLayouts):
			t.swapLayouts(s.file, s.second)
		case r.Does(opcodes.MergesLayouts):
			a, b := t.file(s.file), t.file(s.second) // the objects of b become mirrors of a
			a.objects, b.laidOut = append(a.objects, b.objects...), laidOut{}
			a.own()
			t.forgetLayout(s.file)
		default:
			t.forgetLayout(s.file)
			t.forgetLayout(s.second)
		}
	}
	t.attributes(s, m)
}

// batched takes the reply to a batch.
func (t *Files) batched(s *rpcFiles, m *dissect.Message) {
	i, names := 0, s.names
	opcodes.BatchedAnswers(m.Msg, func(a opcodes.FileAttrs, layout []byte) {
		if i >= len(s.batch) {
			return
		}
		b := &s.batch[i]
		i++
		name := names[:b.size]
		names = names[b.size:]
		if fid := track.FID(a.FID); fid != (track.FID{}) {
			t.learn(b.dir, name, fid)
			t.setAttributes(fid, &a)
			t.layout(fid, layout)
		}
	})
}

// info takes the reply to an MDS_GET_INFO or MDS_GETXATTR.
func (t *Files) info(s *rpcFiles, r *track.RPC, m *dissect.Message) {
	if s.failed || s.file == (track.FID{}) {
		return
	}
	msg, _ := t.tree.ParseRPC(m)
	if msg == nil {
		return
	}
	if r.Opcode == opcodes.MDS_GETXATTR {
		opcodes.ObjectLinks(msg, func(dir opcodes.FileID, name []byte) { t.learn(track.FID(dir), name, s.file) })
		t.layout(s.file, opcodes.XattrLayout(msg))
		return
	}
	if from, path := opcodes.PathOf(msg); r.Does(opcodes.FindsPath) && len(path) > 0 {
		t.learnPath(track.FID(from), path, s.file)
	}
}

// learnPath notes the path of a file, when its own names do not lead to the root.
func (t *Files) learnPath(from track.FID, path []byte, fid track.FID) {
	f := t.files[fid]
	if f != nil && f.hasName() && f.Path()[0] == '/' {
		return
	}
	t.learn(from, path, fid)
}

// rooted takes the root that a client mounts.
func (t *Files) rooted(s *rpcFiles, r *track.RPC, m *dissect.Message) {
	fid := track.FID(opcodes.FileAttrsOf(m.Msg).FID)
	switch {
	case fid == (track.FID{}):
	case len(s.newName) > 0:
		t.learnPath(t.root, s.newName, fid)
	case r.HasRequest:
		t.root = fid
	}
}

// Done takes an RPC that has ended, and counts it.
func (t *Files) Done(r *track.RPC) {
	s := t.rpcs.Of(r)
	if s.counted && !r.Replay() {
		t.count(s, r)
	}
	*s = rpcFiles{newName: s.newName[:0], ranges: s.ranges[:0], batch: s.batch[:0], names: s.names[:0]}
}

// Subject returns the file that an RPC is about, and the OST object; each is zero
// when it is about none, or that is unknown. It is to be called before Done.
func (t *Files) Subject(r *track.RPC) (file, object track.FID) {
	s := t.rpcs.Of(r)
	if file = t.canonical(s.file); s.object != nil {
		if object = s.object.FID; file == (track.FID{}) {
			file = s.object.file
		}
	}
	return file, object
}

// fileOf returns the record of what an RPC is about, nil when that is unknown.
func (t *Files) fileOf(s *rpcFiles) *File {
	switch {
	case s.file != (track.FID{}):
		return t.file(t.canonical(s.file))
	case s.object != nil:
		return t.owner(s.object)
	}
	return nil
}

func (t *Files) count(s *rpcFiles, r *track.RPC) {
	f := t.fileOf(s)
	if f == nil {
		return
	}
	a := t.activity(f)
	begin := r.Begin()
	if a.First == 0 || begin < a.First {
		a.First = begin
	}
	a.Last = max(a.Last, begin)
	a.RPCs++
	if r.Failed() {
		a.addErrors(r.Status, 1)
	}
	for _, e := range r.OtherErrors {
		a.addErrors(e, 1)
	}
	u := a.user(&s.user, r.Job())
	u.RPCs++
	if s.kind == Read || s.kind == Write {
		t.countTransfer(f, u, s, r)
	} else if s.failed || !r.HasReply {
		return
	}
	a.Count[s.kind]++
	u.Count[s.kind]++
	if s.kind == Open && s.bytes > 0 {
		a.Read.Bytes += s.bytes
		u.ReadBytes += s.bytes
	}
}

// countTransfer counts a read or write.
func (t *Files) countTransfer(f *File, u *User, s *rpcFiles, r *track.RPC) {
	a := f.Activity
	x, ofUser := &a.Read, &u.ReadBytes
	if s.kind == Write {
		x, ofUser = &a.Write, &u.WriteBytes
		for i := range s.ranges {
			r := &s.ranges[i]
			if a.failed.to != 0 && r.from == a.failed.from {
				a.Rewrites++
				a.failed = accessRange{}
			}
			if r.errno != 0 {
				a.failed = r.accessRange
			}
		}
	} else if !r.HasReply {
		s.bytes = r.BulkBytes()
	}
	s.bytes = max(0, s.bytes)
	x.RPCs++
	x.Bytes += s.bytes
	*ofUser += s.bytes
	if len(s.ranges) == 0 {
		return
	}
	var asked int64
	for _, r := range s.ranges {
		asked += int64(r.to - r.from)
	}
	x.addSize(asked, 1)
	o := s.object
	if o == nil { // what stands for the data of a file on its MDT
		o = t.objectOn(f.FID, nil)
		o.file = f.FID
	}
	o.count(&x.Accesses, s, r)
	if last := &s.ranges[len(s.ranges)-1]; s.kind == Write && last.errno == 0 && r.HasReply && s.object == nil {
		f.growTo(last.to)
	}
}

// lockedOn returns the OST object that a lock is about, nil for none, or the file.
func (t *Files) lockedOn(l *locks.Lock) (o *object, file track.FID) {
	if id, ok := l.Desc.ExtentObject(); ok && l.HasResource() {
		return t.object(id, l.Connection), file
	} else if seq, oid, ver, ok := l.Desc.FID(); ok && l.HasResource() {
		file = t.canonical(track.FID{Seq: seq, OID: oid, Ver: ver})
	}
	return nil, file
}

// LockSubject returns the file that a lock is about, and the OST object; each is zero
// when it is about none, or that is unknown.
func (t *Files) LockSubject(l *locks.Lock) (file, object track.FID) {
	o, file := t.lockedOn(l)
	if o != nil {
		return o.file, o.FID
	}
	return file, object
}

// Lock takes a lock that has ended.
func (t *Files) Lock(l *locks.Lock) {
	o, file := t.lockedOn(l)
	f := t.fileOf(&rpcFiles{file: file, object: o})
	if f == nil || f.Activity == nil { // no RPC was about it
		return
	}
	f.Locks++
	if ns, ok := l.Waited(); ok {
		f.LockWaited += ns
	}
	if ns, ok := l.Held(); ok {
		f.LockHeld += ns
	}
}

// Advance sets the time.
func (t *Files) Advance(now int64) { t.now = max(t.now, now) }

// File returns what is known of a file or object, nil for nothing.
func (t *Files) File(fid track.FID) *File { return t.files[fid] }

// Path returns the path of a file, empty when it is unknown.
func (t *Files) Path(fid track.FID) string {
	f := t.files[fid]
	if f == nil {
		return ""
	}
	return f.Path()
}

// List returns the files that RPCs were about, those that were used last behind the
// others.
func (t *Files) List() []*File {
	list := make([]*File, 0, t.active.Len())
	t.active.All(func(f *File) { list = append(list, f) })
	return list
}
