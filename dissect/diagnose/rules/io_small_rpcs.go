package rules

import (
	"fmt"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

var (
	smallRPCs = diagnose.Threshold{Name: "RPCs about an object", Value: 32, Unit: "RPCs",
		Reason: "the first reads of a file are small because read-ahead has to grow, and a few more do not cost much"}
	smallBytes = diagnose.Threshold{Name: "bytes of them", Value: 1 << 20, Unit: "B",
		Reason: "less would fit into one RPC of any release"}
	smallShare = diagnose.Threshold{Name: "mean size, of what an RPC may have", Value: 12.5, Unit: "%",
		Reason: "at an eighth of the size, most of the time goes into requests instead of data"}
	smallWarning = diagnose.Threshold{Name: "RPCs about an object, for a warning", Value: 2048, Unit: "RPCs",
		Reason: "that many take seconds"}
	sequentialShare = diagnose.Threshold{Name: "share that continues another one", Value: 60, Unit: "%",
		Reason: "clients send several at a time, in any order; with more than half adjacent, the RPCs could have been joined"}
)

// usualTransfer is the least that all releases since 1.8 transfer in an RPC.
const usualTransfer = 1 << 20

var _ = add(diagnose.Rule{
	Code:     "io.small_rpcs",
	Severity: diagnose.Warning,
	Summary:  "A client reads or writes a file sequentially in RPCs that are much smaller than they may be.",
	Meaning: "Client and OST agree on a size that an RPC may have, 1 MiB at least (ocd_brw_size). A client collects sequential reads and " +
		"writes in its cache and sends them in RPCs of that size, unless the application writes with O_SYNC, O_DIRECT or many fsync calls, or " +
		"the client's limit is lower (osc.*.max_pages_per_rpc). " +
		"The rule looks for objects that are read or written in sequence, and compares the mean size of the RPCs with the size agreed on, or " +
		"with 1 MiB where the connect is not in the capture. It is a note unless they are many.",
	Limits: "The mean is that of all RPCs of the client about the object in one direction. Stripes that are smaller than the size of an " +
		"RPC do not explain small RPCs, as the stripes of one object are adjacent in it.",
	Next: "lctl get_param osc.*.max_pages_per_rpc osc.*.rpc_stats on the client. If the writes are synchronous, see whether the " +
		"application opens the file with O_SYNC or O_DIRECT, or calls fsync after each write; larger writes help. " +
		"For reads, llite.*.max_read_ahead_mb and max_read_ahead_per_file_mb.",
	Thresholds: []*diagnose.Threshold{&smallRPCs, &smallBytes, &smallShare, &smallWarning, &sequentialShare},
	Samples:    []string{"lost_replies.pcap.zst", "tcp_reset.pcap.zst"},
	Start: func(reporter *diagnose.Reporter) diagnose.Hooks {
		agreements := fifo.NewMap[uuids, uint64](maxTargets) // bytes of an RPC
		followAccesses(reporter, func(k accessKey, a *access, r *track.RPC) {
			if float64(a.count) < smallRPCs.Value || float64(a.bytes) < smallBytes.Value || 100*a.share(a.adjacent) < sequentialShare.Value {
				return
			}
			if a.count&(a.count-1) != 0 && a.count%64 != 0 {
				return // reported often enough
			}
			agreed, known := uint64(usualTransfer), false
			if r.Connection != nil && r.Target() != "" {
				if n, ok := fifo.Get(agreements, uuids{r.Connection.ClientUUID, r.Target()}); ok {
					agreed, known = n, true
				}
			}
			if 100*float64(a.mean()) > smallShare.Value*float64(agreed) {
				return
			}
			f := accessFinding(k, a)
			f.Text = fmt.Sprintf("%s%s %s %s on %s in sequence with %d RPCs of %s on average, though ", k.client, jobsText(a.jobs), k.verb(),
				a.fileText(), a.target, a.count, binarySize(a.mean()))
			if known {
				f.Text += "both agreed on up to " + binarySize(agreed) + " in an RPC."
			} else {
				f.Text += "an RPC may have at least " + binarySize(agreed) + "."
			}
			if k.write && a.synchronous == a.count {
				f.Text += " All were synchronous, as with O_DIRECT or O_SYNC."
			}
			f.Compare(&smallRPCs, float64(a.count))
			f.Compare(&smallBytes, float64(a.bytes))
			f.Compare(&smallShare, 100*float64(a.mean())/float64(agreed))
			f.Compare(&smallWarning, float64(a.count))
			f.Compare(&sequentialShare, 100*a.share(a.adjacent))
			if float64(a.count) < smallWarning.Value {
				f.Severity = diagnose.Note
			}
			reporter.Report(f)
		})
		return diagnose.Hooks{Opcodes: []uint32{opcodes.OST_CONNECT, opcodes.MDS_CONNECT}, Answered: func(r *track.RPC, m *dissect.Message) {
			if r.Status != 0 || m.Msg == nil || r.Connection == nil {
				return
			}
			if bytes, ok := opcodes.LargestTransfer(m.Msg); ok {
				fifo.Put(agreements, uuids{r.Connection.ClientUUID, r.Target()}, bytes)
			}
		}}
	},
})

type uuids struct{ client, target string }

// accessFinding returns a finding about an object that a client reads or writes.
func accessFinding(k accessKey, a *access) diagnose.Finding {
	f := a.run.finding(a.target.subject(), "the first of them", "the last of them so far")
	f.Client = k.client
	f.Detail += fmt.Sprintf(" %x:%x %t", k.object[0], k.object[1], k.write)
	return f
}

var (
	randomRPCs = diagnose.Threshold{Name: "RPCs about an object", Value: 64, Unit: "RPCs",
		Reason: "fewer may be a look at the index of a file"}
	randomShare = diagnose.Threshold{Name: "share that continues another one, or is at the same distance, at most", Value: 20, Unit: "%",
		Reason: "above it, most of the access is sequential or strided"}
	randomSize = diagnose.Threshold{Name: "mean size, at most", Value: 64 << 10, Unit: "B",
		Reason: "larger pieces cost disks little"}
)

var _ = add(diagnose.Rule{
	Code:     "io.random",
	Severity: diagnose.Note,
	Summary:  "A client reads or writes small pieces of a file at random places.",
	Meaning: "Small random reads need a seek each on rotating disks, and read-ahead does not help; small random writes make file systems " +
		"that write whole records (ZFS) read and write much more. " +
		"The rule looks for objects whose RPCs are small, do not continue each other, and are not at equal distances.",
	Limits: "Only what goes over the network is seen: accesses that the cache of the client satisfies are not.",
	Next: "Whether the application can sort its accesses, use larger blocks, or keep such files on flash (a pool, or Data-on-MDT for " +
		"small files).",
	Thresholds: []*diagnose.Threshold{&randomRPCs, &randomShare, &randomSize},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		followAccesses(r, func(k accessKey, a *access, _ *track.RPC) {
			if float64(a.count) >= randomRPCs.Value && a.count%64 == 0 {
				randomAccess(r, k, a)
			}
		})
		return diagnose.Hooks{}
	},
})

func randomAccess(r *diagnose.Reporter, k accessKey, a *access) {
	if 100*a.share(a.adjacent+a.strided) > randomShare.Value || float64(a.mean()) > randomSize.Value {
		return
	}
	f := accessFinding(k, a)
	f.Text = fmt.Sprintf("%s%s %s %s on %s at random places: %d RPCs of %s on average, %.0f %% of which did not continue another one.",
		k.client, jobsText(a.jobs), k.verb(), a.fileText(), a.target, a.count, binarySize(a.mean()), 100*(1-a.share(a.adjacent)))
	f.Compare(&randomRPCs, float64(a.count))
	f.Compare(&randomShare, 100*a.share(a.adjacent+a.strided))
	f.Compare(&randomSize, float64(a.mean()))
	r.Report(f)
}

var (
	unalignedRPCs = diagnose.Threshold{Name: "unaligned RPCs about an object", Value: 32, Unit: "RPCs",
		Reason: "the header of a file may well be unaligned"}
	unalignedShare = diagnose.Threshold{Name: "share of the RPCs", Value: 50, Unit: "%",
		Reason: "else most of the access is aligned"}
)

var _ = add(diagnose.Rule{
	Code:     "io.unaligned",
	Severity: diagnose.Note,
	Summary:  "A client writes pieces of a file that do not begin at the start of a page.",
	Meaning: "An OST must read a page, or a whole record of its file system, before it can write a part of it, and two clients that write " +
		"to the same page take its lock from each other. " +
		"The rule counts the writes of an object that begin inside a page of 4 KiB, except where they continue what was written so far, as logs do.",
	Limits: "Writes to the cache of the client are joined before they are sent, and are seen only as they go over the network.",
	Next: "Whether the application can write blocks that are multiples of 4 KiB, or of the stripe size where several nodes write to " +
		"one file (MPI-IO: collective buffering, striping_unit).",
	Thresholds: []*diagnose.Threshold{&unalignedRPCs, &unalignedShare},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		followAccesses(r, func(k accessKey, a *access, _ *track.RPC) {
			if k.write && float64(a.unaligned) >= unalignedRPCs.Value && a.unaligned%32 == 0 && 100*a.share(a.unaligned) >= unalignedShare.Value {
				f := accessFinding(k, a)
				f.Count = a.unaligned
				f.Compare(&unalignedRPCs, float64(a.unaligned))
				f.Compare(&unalignedShare, 100*a.share(a.unaligned))
				f.Text = fmt.Sprintf("%s%s wrote %s on %s in pieces that begin inside a page: %d of %d writes, of %s on average.",
					k.client, jobsText(a.jobs), a.fileText(), a.target, a.unaligned, a.count, binarySize(a.mean()))
				r.Report(f)
			}
		})
		return diagnose.Hooks{}
	},
})

// accesses follows how clients read and write objects, for all rules about that.
type accesses struct {
	objects *fifo.Map[accessKey, *access]
	changed []func(accessKey, *access, *track.RPC) // get an object after each RPC about it
}

// followAccesses calls a func after each RPC about an object.
func followAccesses(r *diagnose.Reporter, changed func(accessKey, *access, *track.RPC)) {
	s := diagnose.Shared(r, func(*diagnose.Reporter) (*accesses, diagnose.Hooks) {
		s := &accesses{objects: fifo.NewMap[accessKey, *access](maxResources)}
		return s, diagnose.Hooks{Opcodes: []uint32{opcodes.OST_READ, opcodes.OST_WRITE}, Sent: s.sent}
	})
	s.changed = append(s.changed, changed)
}

// accessKey is an object that a client reads or writes.
type accessKey struct {
	client, server lnet.NID
	object         [2]uint64
	write          bool
}

// access is how a client reads or writes an object.
type access struct {
	run
	target      targetKey
	file        track.FID
	jobs        []string
	bytes       uint64
	adjacent    int64                 // that continue where one of the last ones ended, or end where it began
	strided     int64                 // at the same distance from the one before as that one from its own
	unaligned   int64                 // that begin inside a page, and not at the end of what was written so far
	synchronous int64                 // to disk before the reply
	starts      [maxNeighbours]uint64 // of the last ones
	ends        [maxNeighbours]uint64
	distance    uint64 // from the one before
	end         uint64 // of what was read or written so far
}

// maxNeighbours is more than the RPCs that a client has in flight to a target, which
// may be sent in any order.
const maxNeighbours = 16

const pageBytes = 4096

func (s *accesses) sent(r *track.RPC, m *dissect.Message) {
	if m.Msg == nil || r.Sends != 1 || r.Replay() {
		return
	}
	t, ok := opcodes.TransferOf(m.Msg)
	if !ok || t.IsAgain {
		return
	}
	key := accessKey{r.Client, r.Server, t.Object, r.Opcode == opcodes.OST_WRITE}
	a := fifo.GetOrMake(s.objects, key, func() *access { return &access{file: r.FID} })
	if a.target.Name == "" {
		a.target = targetOf(r)
	}
	a.add(&t, r.Requested())
	if len(a.jobs) == 0 && len(r.Job()) > 0 {
		a.jobs = []string{string(r.Job())}
	}
	for _, changed := range s.changed {
		changed(key, a, r)
	}
}

func (a *access) add(t *opcodes.Transfer, at track.Point) {
	if a.count > 0 {
		for i := range min(int(a.count), maxNeighbours) {
			if a.ends[i] == t.Start || a.starts[i] == t.End {
				a.adjacent++
				break
			}
		}
		distance := t.Start - a.starts[(a.count-1)%maxNeighbours]
		if a.count > 1 && distance == a.distance {
			a.strided++
		}
		a.distance = distance
	}
	if t.Start%pageBytes != 0 && t.Start != a.end {
		a.unaligned++
	}
	if t.AllFlags&opcodes.BrwSync != 0 {
		a.synchronous++
	}
	a.starts[a.count%maxNeighbours], a.ends[a.count%maxNeighbours] = t.Start, t.End
	a.run.add(at)
	a.bytes += t.Bytes
	a.end = max(a.end, t.End)
}

// share returns the part of the RPCs that a count is.
func (a *access) share(count int64) float64 { return float64(count) / float64(a.count) }

// mean returns how many bytes an RPC has on average.
func (a *access) mean() uint64 { return a.bytes / uint64(a.count) }

// verb returns what the client does.
func (k accessKey) verb() string {
	if k.write {
		return "wrote"
	}
	return "read"
}

// fileText names the file, or the object when the file is unknown.
func (a *access) fileText() string {
	if a.file == (track.FID{}) {
		return "an object"
	}
	return fidText(a.file)
}
