package files

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// Object is an OST object of a file.
type Object struct {
	FID    track.FID // for an object id of the old form the FID that stands for it
	OST    uint32    // index of the OST
	HasOST bool
	opcodes.Striping
}

// object is an Object with what is needed to follow it.
type object struct {
	Object
	key     objectKey
	file    track.FID // that it belongs to, zero: unknown
	own     *File     // while its file is unknown
	streams []stream
	used    fifo.Element[object]
}

// objectKey finds an object. One of the old form, whose OST is unknown, is known by
// the connection to it.
type objectKey struct {
	fid        track.FID
	connection *track.Connection
}

// object returns the object of an RPC, nil for none.
func (t *Files) object(id opcodes.ObjectID, c *track.Connection) *object {
	ost, known := ostOf(c)
	switch {
	case id == opcodes.ObjectID{}:
		return nil
	case id.Number == 0 || known:
		o := t.objectOn(track.FID(id.On(ost)), nil)
		if known && !o.HasOST {
			o.OST, o.HasOST = ost, true
		}
		return o
	}
	const low = 1<<32 - 1
	return t.objectOn(track.FID{OID: uint32(id.Number & low), Ver: uint32(id.Number >> 32)}, c)
}

func (t *Files) objectOn(fid track.FID, c *track.Connection) *object {
	k := objectKey{fid, c}
	o := t.objects[k]
	if o == nil {
		o = &object{Object: Object{FID: fid}, key: k}
		o.used.Owner = o
		t.objects[k] = o
	}
	t.usedObjects.Push(&o.used, t.now)
	if t.usedObjects.Len() > t.limits.objects {
		old := t.usedObjects.First()
		if old.own != nil {
			t.dropActivity(old.own)
		}
		old.used.Remove()
		delete(t.objects, old.key)
	}
	return o
}

// ostOf returns the index of the OST that a connection leads to: the end of its
// name, as in lustre-OST000a.
func ostOf(c *track.Connection) (index uint32, ok bool) {
	if c == nil {
		return 0, false
	}
	i := strings.LastIndex(c.Target, "-OST")
	if i < 0 {
		return 0, false
	}
	n, err := strconv.ParseUint(c.Target[i+len("-OST"):], 16, 16)
	return uint32(n), err == nil
}

// setFile notes which file an object belongs to.
func (t *Files) setFile(o *object, file track.FID) {
	if o == nil || file == (track.FID{}) || o.file == file {
		return
	}
	o.file = file
	f := t.file(file)
	if f.Mode == 0 { // only regular files have objects
		f.Mode = opcodes.RegularFile
	}
	if own := o.own; own != nil {
		if own.Activity != nil {
			t.activity(f).merge(own.Activity)
		}
		own.used.Remove()
		o.own = nil
	}
}

// owner returns the file of an object, or what stands for it while that is unknown.
func (t *Files) owner(o *object) *File {
	if o.file != (track.FID{}) {
		return t.file(o.file)
	}
	if o.own == nil {
		o.own = &File{FID: o.FID, Object: true, files: t, object: o}
		o.own.used.Owner = o.own
	}
	if o.own.Activity != nil {
		t.touch(o.own)
	}
	return o.own
}

// aboutObject takes the request or reply of an operation on an object.
func (t *Files) aboutObject(s *rpcFiles, r *track.RPC, m *dissect.Message) {
	q, ok := opcodes.ObjectRequestOf(m.Msg)
	if !ok {
		return
	}
	if opcodes.IsDataOnMDT(r.Portal) {
		s.file = track.FID(q.Object.FID)
		if q.HasSize {
			t.file(s.file).growTo(q.Size)
		}
		return
	}
	o := t.object(q.Object, r.Connection)
	if o == nil {
		return
	}
	s.object = o
	if q.HasParent {
		if q.Striping.Size != 0 {
			o.Striping = q.Striping
		}
		t.setFile(o, track.FID(q.Parent))
		s.file = o.file
	}
	if q.HasSize {
		t.objectSize(o, q.Size)
	}
}

// objectSize notes the size of an object: the file is at least as long.
func (t *Files) objectSize(o *object, size uint64) {
	if o == nil {
		return
	}
	f := t.owner(o)
	switch {
	case o.file == (track.FID{}):
		f.setSize(size)
	case size == 0:
		f.growTo(0)
	default:
		// An object of a component without data in it ends where the component begins.
		if last, ok := o.FileOffset(size - 1); ok && last >= o.Start {
			f.growTo(last + 1)
		}
	}
}

// count counts the ranges that an RPC reads or writes.
func (o *object) count(a *Accesses, s *rpcFiles, r *track.RPC) {
	at := slices.IndexFunc(o.streams, func(x stream) bool { return x.client == r.Client && x.write == (s.kind == Write) })
	if at < 0 {
		if len(o.streams) < maxStreams {
			o.streams = append(o.streams, stream{client: r.Client, write: s.kind == Write})
		}
		at = len(o.streams) - 1
	}
	for i := 0; i < len(s.ranges); {
		whole := s.ranges[i].accessRange
		for i++; i < len(s.ranges) && s.ranges[i].from == whole.to; i++ {
			whole.to = s.ranges[i].to
		}
		o.streams[at].add(a, whole)
	}
}

// layout notes the layout of a file or directory.
func (t *Files) layout(fid track.FID, b []byte) {
	if b == nil || fid == (track.FID{}) {
		return
	}
	f := t.file(fid)
	if hash := t.hash(b); hash != f.layoutHash {
		f.layoutHash = hash
		f.Layout = string(opcodes.AppendLayout(nil, b))
		t.setObjects(f, b)
		opcodes.DirectoryStripes(b, func(stripe opcodes.FileID) { t.addStripe(fid, track.FID(stripe)) })
	}
}

// setObjects notes the objects of a file.
func (t *Files) setObjects(f *File, b []byte) {
	f.objects, f.omitted = nil, 0
	opcodes.LayoutObjects(b, func(l opcodes.LayoutObject) bool {
		o := t.objectOn(track.FID(l.Object.On(l.OST)), nil)
		o.OST, o.HasOST, o.Striping = l.OST, true, l.Striping
		t.setFile(o, f.FID)
		if len(f.objects) < maxObjects {
			f.objects = append(f.objects, o)
		} else {
			f.omitted++
		}
		return f.omitted < maxOmitted
	})
}

// maxOmitted is more than the objects that a file may have.
const maxOmitted = 1 << 16

// forgetLayout notes that the layout of a file has changed in a way that the messages
// do not say.
func (t *Files) forgetLayout(fid track.FID) {
	if f := t.files[fid]; f != nil {
		f.Layout, f.layoutHash = "", 0
	}
}

// swapLayouts notes that two files have swapped their layouts.
func (t *Files) swapLayouts(first, second track.FID) {
	if first == (track.FID{}) || second == (track.FID{}) {
		return
	}
	a, b := t.file(first), t.file(second)
	a.laidOut, b.laidOut = b.laidOut, a.laidOut
	a.own()
	b.own()
}

// own notes that the objects of a file belong to it.
func (f *File) own() {
	for _, o := range f.objects {
		f.files.setFile(o, f.FID)
	}
}
