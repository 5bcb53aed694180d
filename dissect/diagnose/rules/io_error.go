package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

var _ = add(diagnose.Rule{
	Code:     "io.error",
	Logs:     true,
	Severity: diagnose.Error,
	Noun:     "I/O error",
	Summary:  "A target answered requests with EIO: it could not read or write its disk, or its data are damaged.",
	Meaning: "A server answers with EIO when its disk or the file system on it returns an error, with EUCLEAN or EBADMSG when it finds " +
		"damaged data. Applications get EIO. " +
		"A client repeats a read or write that failed with EIO, as the error may pass. The rule counts the replies with these errors, and " +
		"looks whether the same range succeeded later: then applications only waited, and it is a warning.",
	Limits: "Errors that a client makes itself, such as those after an eviction, are not on the network.",
	Next: "The console log of the server at the time: errors of disks, of the RAID or of the pool (zpool status -v), ldiskfs errors. If " +
		"the same files fail each time, lfs getstripe and lfsck show which objects are lost.",
	Samples: []string{"eio.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		e := &ioErrors{report: r, targets: fifo.NewMap[targetKey, *ioError](maxTargets), failed: fifo.NewMap[failedRange, int64](maxFailedRanges)}
		return diagnose.Hooks{Sent: e.sent, Answered: e.answered, Unseen: onlyLogged(nil, func(r *track.RPC) { e.answered(r, nil) })}
	},
})

// ioErrors counts the RPCs that failed with an error of a disk.
type ioErrors struct {
	report  *diagnose.Reporter
	targets *fifo.Map[targetKey, *ioError]
	failed  *fifo.Map[failedRange, int64] // how often
	starts  track.Attached[uint64]        // first byte of each read and write
}

type ioError struct {
	tally
	again int64 // writes of a range that had failed before
	blind int64 // errors of reads and writes of which the range is not in the capture
	open  int64 // errors after which the same was not repeated with success
	good  int64 // time of the last success
	files []string
}

// failedRange is a read or write that failed.
type failedRange struct {
	client lnet.NID
	target targetKey
	opcode uint32
	file   track.FID
	start  uint64
}

const (
	maxFailedRanges = 1 << 12
	maxNamedFiles   = 4
)

func (e *ioErrors) sent(r *track.RPC, m *dissect.Message) {
	if r.Opcode != opcodes.OST_WRITE && r.Opcode != opcodes.OST_READ || m.Msg == nil {
		return
	}
	if t, ok := opcodes.TransferOf(m.Msg); ok {
		*e.starts.Of(r) = t.Start
	}
}

func (e *ioErrors) answered(r *track.RPC, _ *dissect.Message) {
	errno := hasError(r, opcodes.EIO, opcodes.EREMOTEIO, opcodes.EUCLEAN, opcodes.EBADMSG)
	if errno == 0 && fifo.Len(e.targets) == 0 || !isWork(r.Opcode) {
		return
	}
	key, at := targetOf(r), r.Replied()
	k := failedRange{r.Client, key, r.Opcode, r.FID, *e.starts.Of(r)}
	times, failed := fifo.Get(e.failed, k)
	if errno == 0 && (!failed || r.Failed() || !r.Has(opcodes.PbStatus)) {
		return
	}
	x := fifo.GetOrNew(e.targets, key)
	if errno == 0 {
		fifo.Delete(e.failed, k)
		x.open -= times
		x.good = at.Time
		e.found(r, key, x, opcodes.EIO)
		return
	}
	x.open++
	x.add(r, at)
	x.prove(at, "the reply to a request of %s says %s", r.Client, schema.AppendErrno(nil, errno))
	transfer := r.Opcode == opcodes.OST_WRITE || r.Opcode == opcodes.OST_READ
	if transfer && !r.HasFID {
		x.blind++
	}
	if r.HasFID {
		x.files = withNew(x.files, fidText(r.FID), maxNamedFiles)
		if transfer {
			fifo.Put(e.failed, k, times+1)
			if failed && r.Opcode == opcodes.OST_WRITE {
				x.again++
			}
		}
	}
	e.found(r, key, x, errno)
}

func (e *ioErrors) found(r *track.RPC, key targetKey, x *ioError, errno int32) {
	f := x.finding(key.subject())
	suspect(&f, atStorage(key.Label(), r.Server))
	f.Text = key.String() + " answered " + x.operationsText() + " of " + x.senders() + " with " + string(schema.AppendErrno(nil, errno)) + "."
	f.Text += x.aboutText(x.files)
	switch {
	case x.open == 0:
		f.Severity, f.Last = diagnose.Warning, x.good
		again := " Each was repeated until it succeeded, " + duration(x.good-x.first) + " after the first error"
		if x.count == 1 {
			again = " It was repeated until it succeeded, " + duration(x.good-x.first) + " later"
		}
		again += ": applications waited, and got no error."
		f.Brief = diagnose.Sentences(f.Text, 1) + again + " Look at the disks of this target: its console log, and zpool status -v or the RAID."
		f.Text += again
	case x.open == x.blind: // they may have been repeated with success
		f.Severity = diagnose.Warning
		f.Text += " Whether " + theyWere(x.count) + " repeated with success is not known."
	case x.again > 0:
		f.Text += fmt.Sprintf(" In %d of the writes, the client tried a range that had failed before.", x.again)
	}
	e.report.Report(f)
}

// aboutText returns a sentence about the files or objects that requests were about, with a space
// before it.
func (t *tally) aboutText(names []string) string {
	switch {
	case len(names) == 0:
		return ""
	case t.count == 1:
		return " It was about " + list(names) + "."
	}
	return " They were about " + list(names) + "."
}

// fidText returns a FID as it is written everywhere.
func fidText(f track.FID) string { return string(schema.AppendFID(nil, f.Seq, f.OID, f.Ver)) }

var missingRequests = diagnose.Threshold{Name: "requests for the size of the same object", Value: 2, Unit: "requests",
	Reason: "the first may be for a file that another client has just removed; the second shows that its name is still there"}

var _ = add(diagnose.Rule{
	Code:     "io.missing_object",
	Logs:     true,
	Severity: diagnose.Error,
	Noun:     "missing object",
	Summary:  "An OST does not have objects of files that are still there.",
	Meaning: "The layout of a file on the MDT names its objects on OSTs. When an OST has lost such an object, requests about it fail with " +
		"ENOENT, and applications get \"No such file or directory\" for a file that ls shows. " +
		"The rule looks for OSTs that answer with ENOENT to requests of clients which change or lock an object, or ask for its size repeatedly.",
	Limits: "A file that another client removes at the same moment may look like this once, so a single request is a warning.",
	Next: "lfs getstripe FILE shows the objects. Find out whether the OST was formatted anew, restored from a backup or repaired " +
		"(lost+found). lctl lfsck_start -t layout on the MDS finds files without objects.",
	Thresholds: []*diagnose.Threshold{&missingRequests},
	Samples:    []string{"missing_objects.pcap.zst"},
	Start: func(reporter *diagnose.Reporter) diagnose.Hooks {
		targets := fifo.NewMap[targetKey, *missing](maxTargets)
		asked := fifo.NewMap[missingObject, *askedSize](maxResources)
		operations := []uint32{opcodes.OST_SETATTR, opcodes.OST_GETATTR, opcodes.OST_READ, opcodes.OST_WRITE, opcodes.OST_PUNCH, opcodes.OST_SYNC,
			opcodes.OST_FALLOCATE}
		answered := func(r *track.RPC, _ *dissect.Message) {
			if r.Status != opcodes.ENOENT || !r.HasRequest || r.Replay() { // recovery.replay counts those that are replayed
				return
			}
			key, at := targetOf(r), r.Replied()
			var t tally
			t.add(r, at)
			t.prove(at, "the reply to a request of %s says ENOENT", r.Client)
			repeats := int64(0)
			if r.Opcode == opcodes.LDLM_ENQUEUE {
				if !r.Does(opcodes.OfObject) {
					return
				}
				if r.Does(opcodes.Glimpses) {
					x := fifo.GetOrNew(asked, missingObject{key, r.FID})
					x.count++
					repeats = x.count
					x.waiting.join(&t)
					if float64(repeats) < missingRequests.Value {
						return
					}
					t, x.waiting = x.waiting, tally{}
				}
			}
			m := fifo.GetOrMake(targets, key, func() *missing { return &missing{more: make(map[track.FID]bool)} })
			m.join(&t)
			m.repeats = max(m.repeats, repeats)
			if r.HasFID && len(m.more) < maxResources && !m.more[r.FID] {
				m.more[r.FID] = true
				if len(m.objects) < maxNamedFiles {
					m.objects = append(m.objects, fidText(r.FID))
				}
			}
			f := m.finding(key.subject())
			of := "objects of files that are still there"
			if m.count < 2 {
				of = "the object of a file that a client uses"
			}
			f.Text = fmt.Sprintf("%s does not have %s: it answered %s of %s with ENOENT.", key, of, m.operationsText(), m.senders())
			names := m.objects
			if n := len(m.more); n > len(names) {
				names = append(slices.Clone(names[:maxNamedFiles-1]), fmt.Sprintf("%d others", n-maxNamedFiles+1))
			}
			f.Text += m.aboutText(names)
			suspect(&f, atTarget(key.Label(), r.Server), atStorage(key.Label(), r.Server))
			if m.repeats > 0 {
				f.Compare(&missingRequests, float64(m.repeats))
			}
			if m.count < 2 {
				f.Severity = diagnose.Warning
				f.Text += " Another client may have just removed the file."
			}
			reporter.Report(f)
		}
		return diagnose.Hooks{Opcodes: append(operations, opcodes.LDLM_ENQUEUE), Answered: answered,
			Unseen: onlyLogged(operations, func(r *track.RPC) { answered(r, nil) })}
	},
})

type missingObject struct {
	target targetKey
	object track.FID
}

// askedSize are the requests for the size of an object.
type askedSize struct {
	count   int64
	waiting tally // those that are too few yet to tell
}

// missing counts the requests about objects that a target does not have.
type missing struct {
	tally
	objects []string
	more    map[track.FID]bool // objects, and files
	repeats int64              // most requests for the size of an object
}

var (
	noGrantWrites = diagnose.Threshold{Name: "writes without grant", Value: 16, Unit: "writes",
		Reason: "a client that has just connected, or was idle, has little grant at first"}
	noGrantShare = diagnose.Threshold{Name: "share of the writes", Value: 30, Unit: "%",
		Reason: "else most writes are cached"}
)

var _ = add(diagnose.Rule{
	Code:     "io.no_grant",
	Noun:     "write without a grant",
	Severity: diagnose.Warning,
	Summary:  "A client writes synchronously because the OST gives it too little grant.",
	Meaning: "An OST promises space to each client (grant), so that the client may cache writes and be sure that they fit. Without enough " +
		"grant, a client cannot cache: each write of the application goes to the OST at once and waits for the disk. " +
		"The rule counts writes that are synchronous, do not use grant, and are larger than the grant that the client says it has left. " +
		"Direct I/O is not counted.",
	Limits: "Why the OST gives little does not show: it is short of space, or too many clients share it.",
	Next: "lfs df: an OST that is nearly full gives no grant. On the client lctl get_param osc.*.cur_grant_bytes, on the OSS " +
		"obdfilter.*.tot_granted and tot_dirty; with many clients, osc.*.grant_shrink=1.",
	Thresholds: []*diagnose.Threshold{&noGrantWrites, &noGrantShare},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		clients := fifo.NewMap[targetClient, *ungranted](maxTargets)
		return diagnose.Hooks{Opcodes: []uint32{opcodes.OST_WRITE}, Sent: func(rpc *track.RPC, m *dissect.Message) {
			if m.Msg == nil || rpc.Sends != 1 || rpc.Replay() {
				return
			}
			t, ok := opcodes.TransferOf(m.Msg)
			if !ok || !t.HasGrant || t.AnyFlags&opcodes.BrwLocked != 0 || t.IsAgain {
				return
			}
			key := targetClient{rpc.Client, targetOf(rpc)}
			x := fifo.GetOrMake(clients, key, func() *ungranted { return &ungranted{least: ^uint64(0)} })
			x.all++
			if t.AllFlags&opcodes.BrwSync == 0 || t.AnyFlags&opcodes.BrwFromGrant != 0 || t.Grant >= t.Bytes {
				return
			}
			x.add(rpc, rpc.Requested())
			x.prove(rpc.Requested(), "synchronous write of %s with %s of grant left", binarySize(t.Bytes), binarySize(t.Grant))
			if t.Grant < x.least {
				x.least, x.want = t.Grant, t.Wanted
			}
			if float64(x.count) < noGrantWrites.Value || 100*float64(x.count) < noGrantShare.Value*float64(x.all) {
				return
			}
			f := x.finding(key.target.subject())
			f.Client = rpc.Client
			f.Text = fmt.Sprintf("%s had too little grant of %s for %d of %d writes, which went to the disk one by one instead of through its "+
				"cache: it had %s left and asked for %s.",
				x.senders(), key.target, x.count, x.all, binarySize(x.least), binarySize(x.want))
			f.Compare(&noGrantWrites, float64(x.count))
			f.Compare(&noGrantShare, 100*float64(x.count)/float64(x.all))
			suspect(&f, atTarget(key.target.Label(), rpc.Server), atConfig(rpc.Client))
			r.Report(f)
		}}
	},
})

// ungranted counts the writes of a client to a target.
type ungranted struct {
	tally        // those without grant
	all   int64  // those that were not direct I/O
	least uint64 // grant that the client had left
	want  uint64 // what it asked for then
}

var _ = addLines(diagnose.Rule{
	Code:     "io.device",
	Severity: diagnose.Error,
	Noun:     "logged I/O error",
	Summary:  "A device fails, or the file system on it is damaged, by the log of a server, or of a client that gets EIO.",
	Meaning:  "Requests to the target on the device wait, fail with EIO, or the target turns read-only.",
	Next:     "The device, its cables and controller, smartctl, the state of the RAID or pool. Which target is on it: mount, or lctl get_param *.*.mntdev.",
}, lines{
	kinds: []debuglog.Kind{debuglog.DiskError, debuglog.DiskTimeout, debuglog.RaidFailed, debuglog.PathFailed, debuglog.FilesystemError, debuglog.StorageError,
		debuglog.RequestFailed, debuglog.Note},
	reasons: []debuglog.Reason{debuglog.NoReason, debuglog.IOFailed},
	where: func(l *track.LogLine) []diagnose.Place {
		if strings.HasPrefix(l.Device, "fd") || strings.HasPrefix(l.Device, "sr") { // drives of removable media
			return nil
		}
		switch {
		case l.Kind == debuglog.RequestFailed && l.Status == opcodes.EIO && !opcodes.IsConnect(l.Opcode): // of a client
			return []diagnose.Place{atStorage(l.Target, l.Peer), atTarget(l.Target, l.Peer)}
		case l.Kind == debuglog.RequestFailed:
			return nil
		case l.Kind != debuglog.Note:
			return []diagnose.Place{atStorage(l.Target, l.Node)}
		case l.Reason == debuglog.IOFailed: // of a client
			return []diagnose.Place{atStorage(l.Target, l.Peer)}
		}
		return nil
	},
})
