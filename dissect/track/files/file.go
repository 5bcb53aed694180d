package files

import (
	"slices"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// File is a file, a directory, or an OST object whose file is unknown.
type File struct {
	FID    track.FID
	Object bool   // it is an OST object
	Mode   uint32 // type and permissions, 0: unknown
	laidOut
	*Activity

	files   *Files
	size    uint64
	hasSize bool
	naming
	object *object // of an OST object
	used   fifo.Element[File]
}

// laidOut is what is known of the layout of a file.
type laidOut struct {
	Layout     string // in one line, empty: unknown or none
	layoutHash uint64
	objects    []*object
	omitted    int // objects that were too many to keep
}

// naming is what is known of the names of a file.
type naming struct {
	names    []name    // in the order in which they were seen
	former   string    // path before the last rename
	stripeOf track.FID // of a stripe of a directory: the directory
	children int32     // names in this directory
}

// Activity is what RPCs did with a file. A File without one is known by its names
// only.
type Activity struct {
	Actions
	Users   []User  // who did it, in the order in which they appeared
	others  User    // those that were too many to keep, together
	Errors  []Error // by errno
	First   int64   // time of the first and the last request
	Last    int64
	Removed track.Point // the reply to the request that removed its last known name

	Locks      int64 // that were requested
	LockWaited int64 // nanoseconds, in total
	LockHeld   int64

	// Rewrites is the number of writes to a range that a write before failed for.
	Rewrites int64
	failed   accessRange
}

// Actions are what one user, or all, did with a file.
type Actions struct {
	RPCs  int64
	Count [Kinds]int64 // those that did not fail; of Read and Write all
	Read  Transfer
	Write Transfer
}

// User is who did something with a file: a user in a job on a node.
type User struct {
	UserKey
	Count                 [Kinds]uint32
	RPCs                  int64
	ReadBytes, WriteBytes int64
}

// UserKey distinguishes users.
type UserKey struct {
	Client lnet.NID
	Job    string
	HasJob bool
	UID    uint32
	HasUID bool
}

// Error is how often RPCs about a file failed with an error.
type Error struct {
	Errno int32 // negative
	Count int64
}

// Kind is the kind of something that is done with a file.
type Kind uint8

// The kinds.
const (
	Open Kind = iota
	Close
	Create
	Stat     // attributes by name or FID, and lookups
	Glimpse  // size of an object
	Readdir  // a read of directory pages
	Setattr  // without truncates
	Truncate // a setattr of the size
	Punch    // of an object: the part of a truncate on an OST, or a hole
	Xattr    // extended attributes are read or set
	Link
	Rename
	Remove // of a name
	Sync
	LockRequest // a request for a lock that does nothing else
	Read
	Write
	Other
	Kinds // the number of kinds
)

var kindNames = [Kinds]string{"opens", "closes", "creates", "stats", "glimpses", "readdirs", "setattrs", "truncates", "punches", "xattrs",
	"links", "renames", "removes", "syncs", "lock_requests", "reads", "writes", "others"}

// String returns the JSON key of its count.
func (k Kind) String() string { return kindNames[k] }

// The bounds of what is kept of a file.
const (
	maxUsers   = 16
	maxErrors  = 16
	maxObjects = 64
	maxNames   = 4
)

// Size returns the last size of the file that the capture shows: from attributes,
// truncates, sizes of its objects and writes.
func (f *File) Size() (bytes uint64, ok bool) { return f.size, f.hasSize }

// setSize notes a size that was set, or that a server says.
func (f *File) setSize(size uint64) { f.size, f.hasSize = size, true }

// growTo notes that the file has a byte at size-1.
func (f *File) growTo(size uint64) {
	if !f.hasSize || size > f.size {
		f.setSize(size)
	}
}

// Kind returns the type in a word, such as file, dir or symlink, and object for an
// OST object; empty when it is unknown.
func (f *File) Kind() string {
	if f.Object {
		return "object"
	}
	return opcodes.FileKind(f.Mode)
}

// Pattern returns how the ranges that were read and written follow each other.
func (a *Actions) Pattern() Pattern {
	sum := a.Read.Accesses
	sum.Add(&a.Write.Accesses)
	return sum.Pattern()
}

// Clients returns the nodes that did something with the file.
func (a *Activity) Clients() (list []lnet.NID) {
	for i := range a.Users {
		if n := a.Users[i].Client; !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}

// Jobs returns the jobs that did something with the file.
func (a *Activity) Jobs() (list []string) {
	for i := range a.Users {
		if u := &a.Users[i]; u.HasJob && !slices.Contains(list, u.Job) {
			list = append(list, u.Job)
		}
	}
	return list
}

// Objects returns the OST objects of the file, in the order of its layout, and how
// many more there were.
func (f *File) Objects() (list []Object, more int) {
	for _, o := range f.objects {
		list = append(list, o.Object)
	}
	return list, f.omitted
}

// Others returns the number of RPCs of users that were too many to keep.
func (a *Activity) Others() int64 { return a.others.RPCs }

// user returns the entry of a user, that of all others when there are too many.
func (a *Activity) user(k *UserKey, job []byte) *User {
	for i := range a.Users {
		u := &a.Users[i]
		if u.Client == k.Client && u.HasJob == k.HasJob && u.Job == string(job) && u.HasUID == k.HasUID && u.UID == k.UID {
			return u
		}
	}
	if len(a.Users) >= maxUsers {
		return &a.others
	}
	a.Users = append(a.Users, User{UserKey: *k})
	u := &a.Users[len(a.Users)-1]
	u.Job = string(job)
	return u
}

// addErrors counts an errno, which is negative.
func (a *Activity) addErrors(errno int32, n int64) {
	for i := range a.Errors {
		if a.Errors[i].Errno == errno {
			a.Errors[i].Count += n
			return
		}
	}
	if len(a.Errors) < maxErrors {
		a.Errors = append(a.Errors, Error{errno, n})
	}
}

// merge adds what was done with an object before its file was known.
func (a *Activity) merge(b *Activity) {
	a.Actions.add(&b.Actions)
	for i := range b.Users {
		from := &b.Users[i]
		u := a.user(&from.UserKey, []byte(from.Job))
		u.RPCs += from.RPCs
		u.ReadBytes += from.ReadBytes
		u.WriteBytes += from.WriteBytes
		for k := range u.Count {
			u.Count[k] += from.Count[k]
		}
	}
	a.others.RPCs += b.others.RPCs
	for _, e := range b.Errors {
		a.addErrors(e.Errno, e.Count)
	}
	if b.First != 0 && (a.First == 0 || b.First < a.First) {
		a.First = b.First
	}
	a.Last = max(a.Last, b.Last)
	a.Locks += b.Locks
	a.LockWaited += b.LockWaited
	a.LockHeld += b.LockHeld
	a.Rewrites += b.Rewrites
}

func (a *Actions) add(b *Actions) {
	a.RPCs += b.RPCs
	for k := range a.Count {
		a.Count[k] += b.Count[k]
	}
	a.Read.add(&b.Read)
	a.Write.add(&b.Write)
}
