package records

import (
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/files"
)

// Files are the keys of files.
var Files = Table[*files.File]{Record: "file", Prefix: "file.", InFilters: true, Keys: slices.Concat([]Key[*files.File]{
	{Name: "fid", Type: FID, Doc: "FID of the file or OST object; an object id of the old form is shown as the FID that stands for it on its OST", Get: func(f *files.File, v *Value) bool { return v.setFID(f.FID) }},
	fileText("path", "path from the root of the file system; begins with … where directories above are unknown. Of a file with several names the first that was seen, of a removed one the last", (*files.File).Path),
	fileText("kind", "file, dir, symlink, fifo, char, block, socket; or object: an OST object whose file is unknown", (*files.File).Kind),
	fileText("layout", "layout of a file: pattern, number of stripes and their size, of each component; stripes of a directory", func(f *files.File) string { return f.Layout }),
	{Name: "size", Unit: Bytes, Doc: "last size that the capture shows", Get: func(f *files.File, v *Value) (ok bool) {
		v.U, ok = f.Size()
		return ok
	}},
	fileCount("rpcs", "RPCs about the file and its objects, without lock callbacks and cancels; replays and resends do not count again", func(f *files.File) int64 { return f.RPCs }),
	fileKind(files.Open, "opens that did not fail"),
	fileKind(files.Read, "reads: RPCs"),
	fileKind(files.Write, "writes: RPCs"),
	fileBytes("read_bytes", "bytes that were read from servers: page caches of clients serve more", func(f *files.File) int64 { return f.Read.Bytes }),
	fileBytes("write_bytes", "bytes that were written and did not fail, by replies", func(f *files.File) int64 { return f.Write.Bytes }),
	fileText("pattern", "how the ranges that were read or written follow each other, of most of them: sequential, strided or random", func(f *files.File) string { return f.Pattern().String() }),
	fileSize("read_size", "size of most reads", func(f *files.File) *files.Transfer { return &f.Read }),
	fileSize("write_size", "size of most writes", func(f *files.File) *files.Transfer { return &f.Write }),
	{Name: "clients", Type: NID, Doc: "nodes that did something with it, also servers", Len: func(f *files.File) int { return len(f.Clients()) }, At: func(f *files.File, i int, v *Value) bool {
		v.NID = f.Clients()[i]
		return true
	}},
	{Name: "jobs", Type: Strings, Doc: "jobs that did something with it", Get: func(f *files.File, v *Value) bool {
		v.Strings = f.Jobs()
		return true
	}},
	{Name: "errors", Type: Counts, Doc: "errors of its RPCs, by name, and how often each occurred", Get: func(f *files.File, v *Value) bool {
		v.setErrors(f.Errors)
		return true
	}},
	fileText("read_pattern", "pattern of the reads", func(f *files.File) string { return f.Read.Pattern().String() }).omit(),
	fileText("write_pattern", "pattern of the writes", func(f *files.File) string { return f.Write.Pattern().String() }).omit(),
	fileCount("unaligned", "ranges that were read or written and begin within a page of 4096 bytes", func(f *files.File) int64 { return f.Read.Unaligned + f.Write.Unaligned }).omit(),
	fileCount("rewrites", "writes to a range for which a write failed before", func(f *files.File) int64 { return f.Rewrites }).omit(),
}, fileKinds(), []Key[*files.File]{
	fileCount("locks", "locks on it and its objects that were requested", func(f *files.File) int64 { return f.Locks }).omit(),
	fileTime("lock_waited", "time that these locks waited to be granted, in total", func(f *files.File) int64 { return f.LockWaited }),
	fileTime("lock_held", "time that they were held, in total", func(f *files.File) int64 { return f.LockHeld }),
	{Name: "users", Type: Object, Doc: "who did it: users in jobs on nodes", Len: func(f *files.File) int { return len(f.Users) }, Parts: fileUsers()},
	fileCount("other_users", "RPCs of users that were too many to keep", func(f *files.File) int64 { return f.Others }).omit(),
	{Name: "objects", Type: Object, JSON: Omit, Doc: "its OST objects, by the layout", Len: func(f *files.File) int {
		list, _ := f.Objects()
		return len(list)
	}, Parts: fileObjects},
	fileCount("other_objects", "objects that were too many to keep", func(f *files.File) int64 {
		_, more := f.Objects()
		return int64(more)
	}).omit(),
	{Name: "other_paths", Type: Strings, JSON: Omit, Doc: "paths by its other names: hard links", Get: func(f *files.File, v *Value) bool {
		v.Strings = f.Links()
		return len(v.Strings) > 0
	}},
	fileText("former", "path before its last rename", (*files.File).Former).omit(),
	{Name: "removed", Type: Object, JSON: Omit, Doc: "the reply to the request that removed its last name", Parts: point(func(f *files.File) track.Point { return f.Removed }),
		Get: func(f *files.File, _ *Value) bool { return f.Removed.Frame != 0 }},
	fileMoment("first", "time of the first request about it", func(f *files.File) int64 { return f.First }),
	fileMoment("last", "time of the last one", func(f *files.File) int64 { return f.Last }),
})}

// omit returns the key, left out of JSON where it has no value.
func (k Key[R]) omit() Key[R] {
	k.JSON = Omit
	if get := k.Get; k.Type == Uint {
		k.Get = func(r R, v *Value) bool { return get(r, v) && v.U > 0 }
	}
	return k
}

func fileText(name, doc string, get func(f *files.File) string) Key[*files.File] {
	return Key[*files.File]{Name: name, Type: Text, Doc: doc, Get: func(f *files.File, v *Value) bool {
		v.SetString(get(f))
		return len(v.Text) > 0
	}}
}

func fileCount(name, doc string, get func(f *files.File) int64) Key[*files.File] {
	return Key[*files.File]{Name: name, Doc: doc, Get: func(f *files.File, v *Value) bool {
		v.U = uint64(get(f))
		return true
	}}
}

func fileBytes(name, doc string, get func(f *files.File) int64) Key[*files.File] {
	k := fileCount(name, doc, get)
	k.Unit = Bytes
	return k
}

func fileSize(name, doc string, get func(f *files.File) *files.Transfer) Key[*files.File] {
	return Key[*files.File]{Name: name, Unit: Bytes, Doc: doc, Get: func(f *files.File, v *Value) bool {
		n, ok := get(f).TypicalSize()
		v.U = uint64(n)
		return ok
	}}
}

func fileTime(name, doc string, get func(f *files.File) int64) Key[*files.File] {
	return Key[*files.File]{Name: name, Type: Duration, JSON: Omit, Doc: doc, Get: func(f *files.File, v *Value) bool {
		return v.setDuration(get(f), f.Locks > 0)
	}}
}

func fileMoment(name, doc string, get func(f *files.File) int64) Key[*files.File] {
	return Key[*files.File]{Name: name, Type: Time, Doc: doc, Get: func(f *files.File, v *Value) bool {
		v.U = uint64(get(f))
		return true
	}}
}

// fileKind makes the key of how often something was done.
func fileKind(k files.Kind, doc string) Key[*files.File] {
	return fileCount(k.String(), doc, func(f *files.File) int64 { return f.Count[k] })
}

// fileKindDocs say what the counts of other kinds are; those that failed do not
// count.
var fileKindDocs = [files.Kinds]string{
	files.Close:       "closes",
	files.Create:      "it was created by the request: mkdir, mknod, symlink",
	files.Stat:        "requests for attributes, by name or FID: stat, lookups, statahead",
	files.Glimpse:     "requests for the size of its objects",
	files.Readdir:     "reads of directory pages",
	files.Setattr:     "changes of attributes",
	files.Truncate:    "truncates, by requests to the MDT",
	files.Punch:       "requests to OSTs to cut objects off, or to make holes",
	files.Xattr:       "requests for extended attributes, or to set them",
	files.Link:        "hard links that were made",
	files.Rename:      "renames and migrations",
	files.Remove:      "names that were removed",
	files.Sync:        "syncs to disk",
	files.LockRequest: "requests for locks and layouts that do nothing else",
	files.Other:       "other RPCs",
}

// fileKinds makes the keys of the kinds that are not always in JSON.
func fileKinds() (list []Key[*files.File]) {
	for k, doc := range fileKindDocs {
		if doc != "" {
			list = append(list, fileKind(files.Kind(k), doc).omit())
		}
	}
	return list
}

// fileUsers makes the parts of a user.
func fileUsers() []Key[*files.File] {
	number := func(name, doc string, get func(u *files.User) int64) Key[*files.File] {
		return Key[*files.File]{Name: name, JSON: Omit, Doc: doc, At: func(f *files.File, i int, v *Value) bool {
			v.U = uint64(get(&f.Users[i]))
			return v.U > 0
		}}
	}
	list := []Key[*files.File]{
		{Name: "client", Type: NID, Doc: "the node", At: func(f *files.File, i int, v *Value) bool {
			v.NID = f.Users[i].Client
			return true
		}},
		{Name: "job", Type: Text, Doc: "the job", At: func(f *files.File, i int, v *Value) bool {
			v.SetString(f.Users[i].Job)
			return f.Users[i].HasJob
		}},
		{Name: "uid", Doc: "the user, where requests say it", At: func(f *files.File, i int, v *Value) bool {
			v.U = uint64(f.Users[i].UID)
			return f.Users[i].HasUID
		}},
		number("rpcs", "RPCs", func(u *files.User) int64 { return u.RPCs }),
		number("read_bytes", "bytes that were read", func(u *files.User) int64 { return u.ReadBytes }),
		number("write_bytes", "bytes that were written", func(u *files.User) int64 { return u.WriteBytes }),
	}
	for i := range list[4:] {
		list[4+i].Unit = Bytes
	}
	for k := range files.Kinds {
		list = append(list, number(k.String(), "as of the file", func(u *files.User) int64 { return int64(u.Count[k]) }))
	}
	return list
}

// fileObjects are the parts of an OST object.
var fileObjects = []Key[*files.File]{
	{Name: "fid", Type: FID, Doc: "FID of the object", At: func(f *files.File, i int, v *Value) bool { return v.setFID(fileObject(f, i).FID) }},
	{Name: "ost", Doc: "index of the OST", At: func(f *files.File, i int, v *Value) bool {
		o := fileObject(f, i)
		v.U = uint64(o.OST)
		return o.HasOST
	}},
	{Name: "stripe", Doc: "stripe of the file or component, from 0", At: func(f *files.File, i int, v *Value) bool {
		v.U = uint64(fileObject(f, i).Index)
		return true
	}},
	{Name: "component", JSON: Omit, Doc: "id of the component; the upper half is the mirror", At: func(f *files.File, i int, v *Value) bool {
		v.U = uint64(fileObject(f, i).Component)
		return v.U > 0
	}},
}

func fileObject(f *files.File, i int) files.Object {
	list, _ := f.Objects()
	return list[i]
}

// setErrors makes Counts how often each error occurred, by name.
func (v *Value) setErrors(list []files.Error) {
	v.Counts = v.Counts[:0]
	for _, e := range list {
		v.Counts = append(v.Counts, Count{string(AppendErrno(nil, e.Errno)), e.Count})
	}
	slices.SortFunc(v.Counts, func(a, b Count) int { return strings.Compare(a.Name, b.Name) })
}

// Directories are the keys of what was done in a directory.
var Directories = Table[*files.Directory]{Record: "directory", Keys: []Key[*files.Directory]{
	{Name: "path", Type: Text, Doc: "path of the directory; … when it is unknown", Get: func(d *files.Directory, v *Value) bool {
		v.SetString(d.Path)
		return true
	}},
	dirCount("files", "number of files in it that RPCs were about", func(d *files.Directory) int64 { return d.Files }),
	dirCount("rpcs", "RPCs about these files", func(d *files.Directory) int64 { return d.RPCs }),
	dirCount("opens", "opens that did not fail", func(d *files.Directory) int64 { return d.Count[files.Open] }),
	dirCount("stats", "requests for attributes, by name or FID", func(d *files.Directory) int64 { return d.Count[files.Stat] }),
	dirCount("creates", "files that were created without an open", func(d *files.Directory) int64 { return d.Count[files.Create] }),
	dirCount("removes", "names that were removed", func(d *files.Directory) int64 { return d.Count[files.Remove] }),
	dirCount("reads", "reads: RPCs", func(d *files.Directory) int64 { return d.Count[files.Read] }),
	dirCount("writes", "writes: RPCs", func(d *files.Directory) int64 { return d.Count[files.Write] }),
	dirBytes("read_bytes", "bytes that were read from servers", func(d *files.Directory) int64 { return d.Read.Bytes }),
	dirBytes("write_bytes", "bytes that were written and did not fail", func(d *files.Directory) int64 { return d.Write.Bytes }),
	{Name: "pattern", Type: Text, Doc: "how the ranges that were read or written follow each other, of most of them: sequential, strided or random", Get: func(d *files.Directory, v *Value) bool {
		v.SetString(d.Pattern().String())
		return len(v.Text) > 0
	}},
	{Name: "clients", Type: NID, Doc: "nodes that did something with the files, at most 16", Len: func(d *files.Directory) int { return len(d.Clients) }, At: func(d *files.Directory, i int, v *Value) bool {
		v.NID = d.Clients[i]
		return true
	}},
	{Name: "jobs", Type: Strings, Doc: "jobs that did something with the files, at most 16", Get: func(d *files.Directory, v *Value) bool {
		v.Strings = d.Jobs
		return true
	}},
	{Name: "errors", Type: Counts, Doc: "errors of these RPCs, by name, and how often each occurred", Get: func(d *files.Directory, v *Value) bool {
		v.setErrors(d.Errors)
		return true
	}},
	{Name: "lock_waited", Type: Duration, Doc: "time that locks on the files waited to be granted, in total", Get: func(d *files.Directory, v *Value) bool {
		return v.setDuration(d.LockWaited, true)
	}},
}}

func dirCount(name, doc string, get func(d *files.Directory) int64) Key[*files.Directory] {
	return Key[*files.Directory]{Name: name, Doc: doc, Get: func(d *files.Directory, v *Value) bool {
		v.U = uint64(get(d))
		return true
	}}
}

func dirBytes(name, doc string, get func(d *files.Directory) int64) Key[*files.Directory] {
	k := dirCount(name, doc, get)
	k.Unit = Bytes
	return k
}
