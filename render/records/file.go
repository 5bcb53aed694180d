package records

import (
	"slices"
	"strings"
	"sync"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/files"
)

type file = files.File

// Files are the keys of files.
var Files = Table[*file]{Record: "file", Command: "files", Name: "files", Prefix: "file.", InFilters: true, Keys: sync.OnceValue(func() []*Key[*file] {
	hasLocks := func(f *file) bool { return f.Locks > 0 }
	done := func(k files.Kind, doc string) *Key[*file] {
		return NumberKey(k.String(), doc, func(f *file) int64 { return f.Count[k] })
	}
	keys := []*Key[*file]{
		fid("fid", "FID of the file or OST object; an object id of the old form is shown as the FID that stands for it on its OST",
			func(f *file) track.FID { return f.FID }),
		TextKey("path", "path from the root of the file system; begins with … where directories above are unknown. "+
			"Of a file with several names the first that was seen, of a removed one the last", (*file).Path),
		TextKey("kind", "file, dir, symlink, fifo, char, block, socket; or object: an OST object whose file is unknown", (*file).Kind),
		TextKey("layout", "layout of a file: pattern, number of stripes and their size, of each component; stripes of a directory",
			func(f *file) string { return f.Layout }),
		numberIf("size", "last size that the capture shows", (*file).Size).inBytes(),
		NumberKey("rpcs", "RPCs about the file and its objects, without lock callbacks and cancels; replays and resends do not count again",
			func(f *file) int64 { return f.RPCs }),
		done(files.Open, "opens that did not fail"),
		done(files.Read, "reads: RPCs"),
		done(files.Write, "writes: RPCs"),
		NumberKey("read_bytes", "bytes that were read from servers: page caches of clients serve more",
			func(f *file) int64 { return f.Read.Bytes }).inBytes(),
		NumberKey("write_bytes", "bytes that were written and did not fail, by replies", func(f *file) int64 { return f.Write.Bytes }).inBytes(),
		TextKey("pattern", patternDoc, func(f *file) string { return f.Pattern().String() }),
		numberIf("read_size", "size of most reads", func(f *file) (int64, bool) { return f.Read.TypicalSize() }).inBytes(),
		numberIf("write_size", "size of most writes", func(f *file) (int64, bool) { return f.Write.TypicalSize() }).inBytes(),
		nids("clients", "nodes that did something with it, also servers", (*file).Clients),
		texts("jobs", "jobs that did something with it", (*file).Jobs),
		counts("errors", "errors of its RPCs, by name, and how often each occurred", func(f *file) []Count { return errorList(f.Errors) }),
		TextKey("read_pattern", "pattern of the reads", func(f *file) string { return f.Read.Pattern().String() }).omit(),
		TextKey("write_pattern", "pattern of the writes", func(f *file) string { return f.Write.Pattern().String() }).omit(),
		NumberKey("unaligned", "ranges that were read or written and begin within a page of 4096 bytes",
			func(f *file) int64 { return f.Read.Unaligned + f.Write.Unaligned }).nonzero(),
		NumberKey("rewrites", "writes to a range for which a write failed before", func(f *file) int64 { return f.Rewrites }).nonzero(),
	}
	for kind, doc := range otherKinds {
		if doc != "" {
			keys = append(keys, done(files.Kind(kind), doc).nonzero())
		}
	}
	return append(keys,
		NumberKey("locks", "locks on it and its objects that were requested", func(f *file) int64 { return f.Locks }).nonzero(),
		NumberKey("lock_waited", "time that these locks waited to be granted, in total", func(f *file) int64 { return f.LockWaited }).
			as(Duration).omit().when(hasLocks),
		NumberKey("lock_held", "time that they were held, in total", func(f *file) int64 { return f.LockHeld }).as(Duration).omit().when(hasLocks),
		list("users", "who did it: users in jobs on nodes", func(f *file) []files.User { return f.Users }, userKeys()...),
		NumberKey("other_users", "RPCs of users that were too many to keep", func(f *file) int64 { return f.Others() }).nonzero(),
		list("objects", "its OST objects, by the layout", func(f *file) []files.Object {
			objects, _ := f.Objects()
			return objects
		}, objectKeys()...).omit(),
		NumberKey("other_objects", "objects that were too many to keep", func(f *file) int {
			_, more := f.Objects()
			return more
		}).nonzero(),
		textsIf("other_paths", "paths by its other names: hard links", (*file).Links),
		TextKey("former", "path before its last rename", (*file).Former).omit(),
		point("removed", "the reply to the request that removed its last name", func(f *file) track.Point { return f.Removed }).omit(),
		TimeKey("first", "time of the first request about it", func(f *file) int64 { return f.First }),
		TimeKey("last", "time of the last one", func(f *file) int64 { return f.Last }))
})}

const patternDoc = "how the ranges that were read or written follow each other, of most of them: sequential, strided or random"

// otherKinds say what the counts are that JSON leaves out where they are 0. What failed
// does not count.
var otherKinds = [files.Kinds]string{
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

func userKeys() []*Key[*files.User] {
	type user = files.User
	keys := []*Key[*user]{
		NIDKey("client", "the node", func(u *user) lnet.NID { return u.Client }),
		TextKey("job", "the job", func(u *user) string { return u.Job }),
		NumberKey("uid", "the user, where requests say it", func(u *user) uint32 { return u.UID }).when(func(u *user) bool { return u.HasUID }),
		NumberKey("rpcs", "RPCs", func(u *user) int64 { return u.RPCs }).nonzero(),
		NumberKey("read_bytes", "bytes that were read", func(u *user) int64 { return u.ReadBytes }).inBytes().nonzero(),
		NumberKey("write_bytes", "bytes that were written", func(u *user) int64 { return u.WriteBytes }).inBytes().nonzero(),
	}
	for k := range files.Kinds {
		keys = append(keys, NumberKey(k.String(), "as of the file", func(u *user) uint32 { return u.Count[k] }).nonzero())
	}
	return keys
}

func objectKeys() []*Key[*files.Object] {
	type object = files.Object
	return []*Key[*object]{
		fid("fid", "FID of the object", func(o *object) track.FID { return o.FID }),
		NumberKey("ost", "index of the OST", func(o *object) uint32 { return o.OST }).when(func(o *object) bool { return o.HasOST }),
		NumberKey("stripe", "stripe of the file or component, from 0", func(o *object) uint32 { return o.Index }),
		NumberKey("component", "id of the component; the upper half is the mirror", func(o *object) uint32 { return o.Component }).nonzero(),
	}
}

// errorList lists how often each error occurred, by name.
func errorList(errors []files.Error) (list []Count) {
	for _, e := range errors {
		list = append(list, Count{string(AppendErrno(nil, e.Errno)), e.Count})
	}
	slices.SortStableFunc(list, func(a, b Count) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Directories are the keys of what was done in a directory.
var Directories = Table[*files.Directory]{Record: "directory", Command: "files", Keys: sync.OnceValue(func() []*Key[*files.Directory] {
	type directory = files.Directory
	done := func(name, doc string, k files.Kind) *Key[*directory] {
		return NumberKey(name, doc, func(d *directory) int64 { return d.Count[k] })
	}
	return []*Key[*directory]{
		anyText("path", "path of the directory; … when it is unknown", func(d *directory) string { return d.Path }),
		NumberKey("files", "number of files in it that RPCs were about", func(d *directory) int64 { return d.Files }),
		NumberKey("rpcs", "RPCs about these files", func(d *directory) int64 { return d.RPCs }),
		done("opens", "opens that did not fail", files.Open),
		done("stats", "requests for attributes, by name or FID", files.Stat),
		done("creates", "files that were created without an open", files.Create),
		done("removes", "names that were removed", files.Remove),
		done("reads", "reads: RPCs", files.Read),
		done("writes", "writes: RPCs", files.Write),
		NumberKey("read_bytes", "bytes that were read from servers", func(d *directory) int64 { return d.Read.Bytes }).inBytes(),
		NumberKey("write_bytes", "bytes that were written and did not fail", func(d *directory) int64 { return d.Write.Bytes }).inBytes(),
		TextKey("pattern", patternDoc, func(d *directory) string { return d.Pattern().String() }),
		nids("clients", "nodes that did something with the files, at most 16", func(d *directory) []lnet.NID { return d.Clients }),
		texts("jobs", "jobs that did something with the files, at most 16", func(d *directory) []string { return d.Jobs }),
		counts("errors", "errors of these RPCs, by name, and how often each occurred", func(d *directory) []Count { return errorList(d.Errors) }),
		NumberKey("lock_waited", "time that locks on the files waited to be granted, in total",
			func(d *directory) int64 { return d.LockWaited }).as(Duration),
	}
})}
