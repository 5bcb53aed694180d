package rules

import (
	"fmt"
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

var _ = add(diagnose.Rule{
	Code:     "io.error",
	Severity: diagnose.Error,
	Noun:     "I/O error",
	Summary:  "A target answered requests with EIO: it could not read or write its disk, or its data are damaged.",
	Meaning: "A server answers with EIO when its disk or the file system on it returns an error, with EUCLEAN or EBADMSG when it finds damaged data. Applications get EIO. " +
		"A client repeats a read or write that failed with EIO, as the error may pass. The rule counts the replies with these errors, and looks whether the same range succeeded later: then applications only waited, and it is a warning.",
	Limits:  "Errors that a client makes itself, such as those after an eviction, are not on the network.",
	Next:    "The console log of the server at the time: errors of disks, of the RAID or of the pool (zpool status -v), ldiskfs errors. If the same files fail each time, lfs getstripe and lfsck show which objects are lost.",
	Samples: []string{"eio.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		e := &ioErrors{report: r, targets: fifo.NewMap[targetKey, *ioError](maxTargets), failed: fifo.NewMap[failedRange, int64](maxFailedRanges)}
		return diagnose.Hooks{Sent: e.sent, Answered: e.answered}
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
	errno := hasError(r, eIO, eRemoteIO, eUnclean, eBadMessage)
	if errno == 0 && e.targets.Len() == 0 || track.IsConnect(r.Opcode) || track.IsCallback(r.Opcode) || r.Opcode == opcodes.SEC_CTX_INIT {
		return
	}
	key, at := targetOf(r), r.Replied()
	k := failedRange{r.Client, key, r.Opcode, r.FID, *e.starts.Of(r)}
	times, failed := e.failed.Get(k)
	if errno == 0 && (!failed || r.Failed()) {
		return
	}
	x := fifo.GetOrNew(e.targets, key)
	if errno == 0 {
		e.failed.Delete(k)
		x.open -= times
		x.good = at.Time
		e.found(key, x, eIO)
		return
	}
	x.open++
	x.add(r, at)
	x.prove(at, "the reply to a request of %s says %s", r.Client, schema.AppendErrno(nil, errno))
	if r.HasFID {
		if file := fidText(r.FID); len(x.files) < maxNamedFiles && !slices.Contains(x.files, file) {
			x.files = append(x.files, file)
		}
		if r.Opcode == opcodes.OST_WRITE || r.Opcode == opcodes.OST_READ {
			e.failed.Put(k, times+1)
			if failed && r.Opcode == opcodes.OST_WRITE {
				x.again++
			}
		}
	}
	e.found(key, x, errno)
}

// found reports the errors of a target.
func (e *ioErrors) found(key targetKey, x *ioError, errno int32) {
	f := diagnose.Finding{Subject: key.subject(), First: x.first, Last: x.last, Count: x.count, Evidence: slices.Clone(x.proofs)}
	f.Text = key.String() + " answered " + x.operationsText() + " of " + x.senders() + " with " + string(schema.AppendErrno(nil, errno)) + "."
	if len(x.files) > 0 {
		f.Text += " They were about " + list(x.files) + "."
	}
	switch {
	case x.open == 0:
		f.Severity, f.Last = diagnose.Warning, x.good
		again := " Each was repeated until it succeeded, " + duration(x.good-x.first) + " after the first error: applications waited, and got no error."
		f.Brief = diagnose.Sentences(f.Text, 1) + again + " Look at the disks of this target: its console log, and zpool status -v or the RAID."
		f.Text += again
	case x.again > 0:
		f.Text += fmt.Sprintf(" In %d of the writes, the client tried a range that had failed before.", x.again)
	}
	e.report.Report(f)
}

// fidText returns a FID as it is written everywhere.
func fidText(f track.FID) string { return string(schema.AppendFID(nil, f.Seq, f.OID, f.Ver)) }
