package rules

import (
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// refusals counts, for each target, the RPCs that it answered with certain errors.
type refusals struct {
	report  *diagnose.Reporter
	errors  []int32
	targets *fifo.Map[targetKey, *tally]
	spaces  spaces

	// text describes what a target refused. space is nil when the target did not
	// say anything about its space.
	text func(k targetKey, t *tally, space *spaceReply) string
}

func newRefusals(r *diagnose.Reporter, text func(targetKey, *tally, *spaceReply) string, errors ...int32) *refusals {
	return &refusals{report: r, errors: errors, targets: fifo.NewMap[targetKey, *tally](maxTargets), spaces: newSpaces(), text: text}
}

func (x *refusals) hooks() diagnose.Hooks { return diagnose.Hooks{Answered: x.answered} }

func (x *refusals) answered(r *track.RPC, m *dissect.Message) {
	if r.Opcode == opcodes.OST_STATFS || r.Opcode == opcodes.MDS_STATFS {
		x.spaces.answered(r, m)
	}
	errno := hasError(r, x.errors...)
	if errno == 0 || track.IsConnect(r.Opcode) || track.IsCallback(r.Opcode) || r.Opcode == opcodes.SEC_CTX_INIT || isXattrTooLarge(r, errno) {
		return
	}
	key := targetOf(r)
	t := fifo.GetOrNew(x.targets, key)
	at := r.Replied()
	t.add(r, at)
	t.prove(r.Requested(), "%s sends the request", r.Client)
	t.prove(at, "the reply says %s", schema.AppendErrno(nil, errno))
	f := t.finding(key.subject())
	if space, ok := x.spaces.last.Get(key); ok {
		f.Text = x.text(key, t, &space)
		f.Prove(space.at, "the last reply about the space of the target before")
	} else {
		f.Text = x.text(key, t, nil)
	}
	x.report.Report(f)
}

// isXattrTooLarge reports whether an error is that of an extended attribute for which
// the inode has no space.
func isXattrTooLarge(r *track.RPC, errno int32) bool {
	return errno == opcodes.ENOSPC && r.Opcode == opcodes.MDS_REINT && r.Variant != nil && r.Variant.Name == "SETXATTR"
}

func (s *spaces) answered(r *track.RPC, m *dissect.Message) (k targetKey, space spaceReply, ok bool) {
	if m.Msg == nil {
		return k, space, false
	}
	t, ok := opcodes.TargetSpaceOf(m.Msg)
	if !ok {
		return k, space, false
	}
	k, space = targetOf(r), spaceReply{t, r.Replied()}
	s.last.Put(k, space)
	return k, space, true
}

// freeText describes what is left on a target.
func (s *spaceReply) freeText() string {
	text := binarySize(s.Available) + " of " + binarySize(s.Size) + " available"
	if s.Granted > 0 && s.Free > s.Available {
		text += ", as " + binarySize(s.Granted) + " of the " + binarySize(s.Free) + " that are free are promised to clients for writes that " +
			"they have cached"
	}
	return text + "; " + plural(int64(min(s.FreeObjects, 1<<62)), "more object") + " can be made"
}

// hasError returns the first of some errors that the reply to an RPC has, as its
// status or inside; 0 when it has none of them.
func hasError(r *track.RPC, errors ...int32) int32 {
	if r.Status < 0 && slices.Contains(errors, r.Status) {
		return r.Status
	}
	for _, e := range r.OtherErrors {
		if slices.Contains(errors, e) {
			return e
		}
	}
	return 0
}

// targetKey is a target: by its name; where that is unknown by a server and the index,
// as in OST0001; else by a server and the handle of a connection to it.
type targetKey struct {
	name   string
	index  string
	server lnet.NID
	handle uint64
}

// targetClient is a client of a target.
type targetClient struct {
	client lnet.NID
	target targetKey
}

// namedTarget returns a target of which name and index may be empty.
func namedTarget(name, index string, server lnet.NID) targetKey {
	if name != "" {
		return targetKey{name: name}
	}
	return targetKey{index: index, server: server}
}

func lockTarget(l *locks.Lock) targetKey { return namedTarget(l.Target(), l.TargetIndex(), l.Server) }

// maxTargets are followed by a rule.
const maxTargets = 1 << 13

func targetOf(r *track.RPC) targetKey {
	k := namedTarget(r.Target(), r.TargetIndex(), r.Server)
	if !k.isKnown() {
		k.handle = r.Handle
	}
	return k
}

// clientOfLock returns client and resource of a lock, and the target, as what a finding
// is about.
func clientOfLock(l *locks.Lock) diagnose.Subject {
	s := lockTarget(l).subject()
	s.Client, s.Detail = l.Client, string(l.Desc.AppendResource(nil))
	return s
}

func (k targetKey) isKnown() bool { return k.name != "" || k.index != "" }

// subject returns the target as what a finding is about.
func (k targetKey) subject() diagnose.Subject {
	if k.name != "" {
		return diagnose.Subject{Target: k.name}
	}
	s := diagnose.Subject{TargetIndex: k.index, Server: k.server}
	if k.handle != 0 {
		s.Detail = string(schema.AppendHex(nil, k.handle))
	}
	return s
}

// String returns the name of a target, or what is known instead.
func (k targetKey) String() string {
	switch {
	case k.name != "":
		return k.name
	case k.index != "":
		return k.index + " of " + k.server.String()
	case k.handle == 0:
		return k.server.String()
	}
	return "a target of " + k.server.String()
}

// spaces has what targets said last about their space.
type spaces struct {
	last *fifo.Map[targetKey, spaceReply]
}

// spaceReply is a reply to a statfs.
type spaceReply struct {
	opcodes.TargetSpace
	at track.Point
}

func newSpaces() spaces { return spaces{fifo.NewMap[targetKey, spaceReply](maxTargets)} }

// statfsOpcodes are the operations with replies about the space of a target.
var statfsOpcodes = []uint32{opcodes.OST_STATFS, opcodes.MDS_STATFS}
