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
)

var _ = add(diagnose.Rule{
	Code:     "space.full",
	Noun:     "full target",
	Logs:     true,
	Severity: diagnose.Error,
	Summary:  "A target refused requests with ENOSPC.",
	Meaning: "An OST answers a write with ENOSPC when its file system has no blocks left, or none that are not promised to other clients. " +
		"An MDT answers a create or an open with ENOSPC when it has no inodes or blocks left, or when no OST has objects for the new file. " +
		"Applications get the error. " +
		"The rule counts the replies with this error, and names what the target said last about its space.",
	Limits: "What is left is only known when a statfs of the target is in the capture before. An application may get ENOSPC later than the " +
		"reply, from close or fsync, because writes are cached.",
	Next: "lfs df and lfs df -i show the space and the objects of all targets. If only some OSTs are full, keep new objects off them " +
		"(osp.*.create_count=0 or max_create_count=0 on the MDS) and move files with lfs migrate. " +
		"If an MDT refuses although it has space, look for OSTs that are down or not connected to it.",
	Samples: []string{"enospc.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		return followRefusals(r, opcodes.ENOSPC, func(target string, server lnet.NID) []diagnose.Place {
			return []diagnose.Place{atTarget(target, server)}
		}, func(k targetKey, t *tally, space *spaceReply) string {
			text := k.String() + " refused " + t.operationsText() + " of " + t.senders() + " with ENOSPC, no space left."
			if space != nil {
				text += " Its last statfs said: " + space.freeText() + "."
			}
			return text
		})
	},
})

var _ = add(diagnose.Rule{
	Code:     "space.read_only",
	Logs:     true,
	Severity: diagnose.Error,
	Noun:     "refused change of a read-only target",
	Summary:  "A target refused changes with EROFS, because it is read-only.",
	Meaning: "A target becomes read-only when its file system finds itself damaged or its disk returns errors, or when an administrator " +
		"mounts it so. Changes then fail with EROFS, reads go on. " +
		"The rule counts the replies with this error. Connects that are refused with it are not counted here.",
	Limits: "Why the target is read-only does not show on the network.",
	Next: "The console log of the server at the time, for errors of the disk or of its file system (ldiskfs remounting read-only, a " +
		"suspended ZFS pool). Check the file system before it is mounted for writing again.",
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		return followRefusals(r, opcodes.EROFS, func(target string, server lnet.NID) []diagnose.Place {
			return []diagnose.Place{atTarget(target, server), atStorage(target, server), byAdmin}
		}, func(k targetKey, t *tally, _ *spaceReply) string {
			return k.String() + " is read-only: it refused " + t.operationsText() + " of " + t.senders() + " with EROFS."
		})
	},
})

var leastFree = diagnose.Threshold{Name: "free space or objects", Value: 5, Unit: "%",
	Reason: "file systems become slow in their last few percent, and clients get less grant, so that their writes are no longer cached"}

var _ = add(diagnose.Rule{
	Code:     "space.low",
	Severity: diagnose.Note,
	Summary:  "A target is nearly out of space or of objects.",
	Meaning: "Clients and MDTs ask each target for its space with a statfs. The rule compares what is available, and how many objects " +
		"can still be made, with the total.",
	Limits: "An MDT sees less space available than clients do: what was promised to clients for writes that they have cached is not " +
		"available for new objects. A target that nobody asks is not judged. Nothing has failed yet: what is refused is space.full.",
	Next:       "lfs df and lfs df -i; remove or migrate files, or add targets, before writes fail with ENOSPC.",
	Thresholds: []*diagnose.Threshold{&leastFree},
	Samples:    []string{"full_ost.pcap.zst", "quota_space.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		targets := fifo.NewMap[targetKey, *lowTarget](maxTargets)
		return diagnose.Hooks{Opcodes: statfsOpcodes, Answered: func(rpc *track.RPC, m *dissect.Message) {
			k, space, ok := spaceOf(rpc, m)
			if !ok || 100*space.left() >= leastFree.Value {
				return
			}
			if !k.IsKnown() { // several connections lead to each target: its size tells them apart
				k.Handle = space.Size
			}
			x := fifo.GetOrMake(targets, k, func() *lowTarget { return &lowTarget{least: space} })
			x.add(rpc, space.at)
			if space.left() < x.least.left() {
				x.least = space
			}
			f := x.finding(k.subject())
			f.Text = k.String() + " is nearly full. It reported to " + nodes(x.clients) + ": " + x.least.freeText() + "."
			f.Prove(x.least.at, "the reply with the least space")
			f.Compare(&leastFree, 100*x.least.left())
			suspect(&f, atTarget(k.Label(), rpc.Server))
			r.Report(f)
		}}
	},
})

// lowTarget is a target that is nearly full.
type lowTarget struct {
	tally
	least spaceReply // with the least space or objects
}

// left returns the smaller share that is left, of the space and of the objects.
func (s *spaceReply) left() float64 {
	left := float64(s.Available) / float64(s.Size)
	if s.Objects > 0 {
		left = min(left, float64(s.FreeObjects)/float64(s.Objects))
	}
	return left
}

var unbalancedFrom = diagnose.Threshold{Name: "difference of the available space", Value: 17, Unit: "%",
	Reason: "the default of qos_threshold_rr: above it, MDTs give new objects to the OSTs with more space instead of in turn"}

var _ = add(diagnose.Rule{
	Code:     "space.unbalanced",
	Severity: diagnose.Note,
	Summary:  "OSTs of a file system differ so much in available space that new files no longer go to all of them in turn.",
	Meaning: "The rule compares the last statfs of each OST of a file system: the one with the least space available has less than the " +
		"one with the most, by more than the threshold.",
	Limits: "OSTs of different sizes, or pools for different uses, may differ on purpose. OSTs whose statfs is not in the capture are " +
		"not compared.",
	Next:       "lfs df; lfs migrate moves files off full OSTs. Look for single large files with few stripes (lfs find -size +100G).",
	Thresholds: []*diagnose.Threshold{&unbalancedFrom},
	Samples:    []string{"frozen_server.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		said := newSpaces()
		return diagnose.Hooks{Opcodes: statfsOpcodes, Answered: said.answered, End: func() { reportUnbalanced(r, said) }}
	},
})

// ostSpace is what an OST said last about its space.
type ostSpace struct {
	target string
	spaceReply
}

func reportUnbalanced(r *diagnose.Reporter, said spaces) {
	systems := make(map[string][]*ostSpace)
	for k, s := range fifo.All(said.Map) {
		if system, number, ok := strings.Cut(k.Name, "-OST"); ok && len(number) == 4 {
			systems[system] = append(systems[system], &ostSpace{k.Name, s})
		}
	}
	for system, osts := range systems {
		slices.SortFunc(osts, func(a, b *ostSpace) int { return strings.Compare(a.target, b.target) })
		byAvailable := func(a, b *ostSpace) int { return int(a.Available>>10) - int(b.Available>>10) }
		least, most := slices.MinFunc(osts, byAvailable), slices.MaxFunc(osts, byAvailable)
		if float64(least.Available) >= (1-unbalancedFrom.Value/100)*float64(most.Available) {
			continue
		}
		f := diagnose.Finding{Subject: diagnose.Subject{Detail: system}, First: min(least.at.Time, most.at.Time),
			Last: max(least.at.Time, most.at.Time), Count: 1}
		f.Text = fmt.Sprintf("Of %d OSTs of %s, %s has %s available and %s has %s: new objects go to OSTs by their free space, not in turn.",
			len(osts), system, least.target, binarySize(least.Available), most.target, binarySize(most.Available))
		f.Compare(&unbalancedFrom, 100*(1-float64(least.Available)/float64(most.Available)))
		f.Prove(least.at, "last statfs of %s", least.target)
		f.Prove(most.at, "last statfs of %s", most.target)
		r.Report(f)
	}
}

var readOnlyFor = diagnose.Threshold{Name: "time for which a target is read-only", Value: 5, Unit: "s",
	Reason: "a target that is being stopped says that it is read-only, too, for a moment"}

var _ = add(diagnose.Rule{
	Code:     "space.target_state",
	Severity: diagnose.Warning,
	Summary:  "A target says that it is degraded, read-only, full, or takes no new objects.",
	Meaning: "The reply to a statfs has flags about the state of the target: its RAID is rebuilding (DEGRADED), it is read-only, it is out " +
		"of space or of inodes, or it takes no new objects (NOCREATE), which an administrator sets. MDTs avoid such targets for new files. " +
		"NOCREATE alone is a note.",
	Limits: "A target that is being stopped is read-only for a moment, so READONLY counts when it lasts. DEGRADED is set by hand or by " +
		"a monitor of the RAID, and may be out of date. A target that nobody asks is not judged.",
	Next:       "On the server: lctl get_param obdfilter.*.degraded obdfilter.*.no_create, the state of its disks, and its console log.",
	Thresholds: []*diagnose.Threshold{&readOnlyFor},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		targets := fifo.NewMap[targetKey, *targetState](maxTargets)
		return diagnose.Hooks{Opcodes: statfsOpcodes, Answered: func(rpc *track.RPC, m *dissect.Message) {
			k, space, ok := spaceOf(rpc, m)
			if !ok {
				return
			}
			if found := unwelcomeIn(space.State); found != 0 {
				x := fifo.GetOrNew(targets, k)
				if x.enter(rpc, found, space.at) {
					r.Report(x.finding(k, rpc.Server))
				}
			}
		}}
	},
})

type targetState struct {
	tally
	states   uint64
	readOnly int64 // time of the first reply that says so
}

// unwelcome are the states that are reported, in words.
var unwelcome = []struct {
	bit  uint64
	text string
}{
	{readOnlyState, "is read-only (READONLY)"},
	{opcodes.ObdStatfsState.Bit("ENOSPC"), "is out of space (ENOSPC)"},
	{opcodes.ObdStatfsState.Bit("ENOINO"), "is out of inodes (ENOINO)"},
	{opcodes.ObdStatfsState.Bit("DEGRADED"), "has a degraded RAID (DEGRADED)"},
	{noCreate, "takes no new objects (NOCREATE)"},
}

var (
	readOnlyState = opcodes.ObdStatfsState.Bit("READONLY")
	noCreate      = opcodes.ObdStatfsState.Bit("NOCREATE")
)

func unwelcomeIn(states uint64) (found uint64) {
	for _, u := range unwelcome {
		found |= states & u.bit
	}
	return found
}

// enter takes states that a target says it is in. It reports whether any of them counts.
func (x *targetState) enter(r *track.RPC, found uint64, at track.Point) bool {
	if found&readOnlyState != 0 && x.states&readOnlyState == 0 {
		if x.readOnly == 0 {
			x.readOnly = at.Time
		}
		if at.Time-x.readOnly < readOnlyFor.Nanoseconds() {
			found &^= readOnlyState
		}
	}
	if found == 0 {
		return false
	}
	if found&^x.states != 0 {
		x.prove(at, "reply to a statfs of %s", r.Client)
	}
	x.states |= found
	x.add(r, at)
	return true
}

func (x *targetState) finding(k targetKey, server lnet.NID) diagnose.Finding {
	f := x.tally.finding(k.subject())
	suspect(&f, atTarget(k.Label(), server), atStorage(k.Label(), server), byAdmin)
	if x.states&readOnlyState != 0 {
		f.CompareTime(&readOnlyFor, x.last-x.readOnly)
	}
	if x.states == noCreate {
		f.Severity = diagnose.Note
	}
	var words []string
	for _, u := range unwelcome {
		if x.states&u.bit != 0 {
			words = append(words, u.text)
		}
	}
	f.Text = k.String() + " says that it " + strings.Join(words, ", and ") + "."
	return f
}

var _ = addLines(diagnose.Rule{
	Code:     "space.reported",
	Severity: diagnose.Error,
	Noun:     "logged lack of space",
	Summary:  "A server reports that a target has no space left, or is read-only.",
	Meaning: "An MDT lets OSTs make objects before files need them. An OST without space or inodes, or one that is read-only, makes none: new files go to " +
		"others, and applications get ENOSPC when there are none.",
	Next: "lfs df and lfs df -i show the space and the objects of all targets, lctl get_param osp.*.prealloc_status on the MDS which OSTs make none.",
}, lines{
	kinds: []debuglog.Kind{debuglog.NoSpace, debuglog.PrecreateFailed, debuglog.RequestFailed},
	where: func(l *track.LogLine) []diagnose.Place {
		server := l.Node
		switch {
		case l.Kind == debuglog.RequestFailed && opcodes.IsConnect(l.Opcode): // other rules have it
			return nil
		case l.Kind == debuglog.RequestFailed: // of a client
			server = l.Peer
		case l.Name != "": // of the MDT that asks
			server = lnet.NID{}
		}
		switch {
		case l.Kind == debuglog.NoSpace, l.Status == opcodes.ENOSPC:
			return []diagnose.Place{atTarget(l.Target, server)}
		case l.Status == opcodes.EROFS:
			return []diagnose.Place{atTarget(l.Target, server), atStorage(l.Target, server), byAdmin}
		}
		return nil // it is not connected, or slow
	},
})
