package rules

import (
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/facts"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// followRefusals counts, for each target, the RPCs that it answered with an error, and reports
// them. suspects are the places where the cause may be, text describes what a target refused; space is nil when the target did not say anything
// about its space.
func followRefusals(r *diagnose.Reporter, errno int32, suspects func(target string, server lnet.NID) []diagnose.Place, text func(k targetKey, t *tally, space *spaceReply) string) diagnose.Hooks {
	targets, said := fifo.NewMap[targetKey, *tally](maxTargets), newSpaces()
	answered := func(rpc *track.RPC, m *dissect.Message) {
		if m != nil && slices.Contains(statfsOpcodes, rpc.Opcode) {
			said.answered(rpc, m)
		}
		if hasError(rpc, errno) == 0 || !isWork(rpc.Opcode) || isXattrTooLarge(rpc, errno) {
			return
		}
		key, at := targetOf(rpc), rpc.Replied()
		t := fifo.GetOrNew(targets, key)
		t.add(rpc, at)
		t.prove(rpc.Requested(), "%s sends the request", rpc.Client)
		t.prove(at, "the reply says %s", schema.AppendErrno(nil, errno))
		f := t.finding(key.subject())
		if space, ok := fifo.Get(said.Map, key); ok {
			f.Text = text(key, t, &space)
			f.Prove(space.at, "the last reply about the space of the target before")
		} else {
			f.Text = text(key, t, nil)
		}
		f.Suspects = suspects(key.Label(), rpc.Server)
		r.Report(f)
	}
	return diagnose.Hooks{Answered: answered, Unseen: onlyLogged(nil, func(rpc *track.RPC) { answered(rpc, nil) })}
}

// isWork reports whether an operation is none of connections, security contexts and locks that are
// called back.
func isWork(opcode uint32) bool {
	return !opcodes.IsConnect(opcode) && !opcodes.IsCallback(opcode) && opcode != opcodes.SEC_CTX_INIT
}

// onlyLogged returns a hook for RPCs of some operations that logs have without a capture, nil: of
// all. Their variants are unknown, and with them what MDS_REINT changes.
func onlyLogged(operations []uint32, done func(*track.RPC)) func(*track.RPC) {
	return func(r *track.RPC) {
		if r.Log.NotOnWire == debuglog.Nothing && r.HasReply && r.Opcode != opcodes.MDS_REINT &&
			(operations == nil || slices.Contains(operations, r.Opcode)) {
			done(r)
		}
	}
}

// isXattrTooLarge reports whether an error is that of an extended attribute for which
// the inode has no space.
func isXattrTooLarge(r *track.RPC, errno int32) bool {
	return errno == opcodes.ENOSPC && r.Opcode == opcodes.MDS_REINT && r.Does(opcodes.Xattrs)
}

// spaceOf returns what the reply to a statfs says about the space of a target.
func spaceOf(r *track.RPC, m *dissect.Message) (k targetKey, space spaceReply, ok bool) {
	if m.Msg != nil {
		space.TargetSpace, ok = opcodes.TargetSpaceOf(m.Msg)
		space.at = r.Replied()
	}
	return targetOf(r), space, ok
}

// answered takes the reply to a statfs.
func (s spaces) answered(r *track.RPC, m *dissect.Message) {
	if k, space, ok := spaceOf(r, m); ok {
		fifo.Put(s.Map, k, space)
	}
}

// freeText describes what is left on a target.
func (s *spaceReply) freeText() string {
	text := binarySize(s.Available) + " of " + binarySize(s.Size) + " available"
	if s.Free > s.Available { // the reserve of the file system, and what is promised to clients for writes that they have cached
		text += ", and " + binarySize(s.Free-s.Available) + " more that are free, but reserved or promised to clients"
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

// targetKey is a target as rules count by it.
type targetKey struct{ facts.Target }

// targetClient is a client of a target.
type targetClient struct {
	client lnet.NID
	target targetKey
}

// namedTarget returns a target of which name and index may be empty.
func namedTarget(name, index string, server lnet.NID) targetKey {
	if name != "" {
		return targetKey{facts.Target{Name: name}}
	}
	return targetKey{facts.Target{Index: index, Server: server}}
}

func lockTarget(l *locks.Lock) targetKey { return namedTarget(l.Target(), l.TargetIndex(), l.Server) }

// maxTargets are followed by a rule.
const maxTargets = 1 << 13

func targetOf(r *track.RPC) targetKey {
	k := namedTarget(r.Target(), r.TargetIndex(), r.Server)
	if !k.IsKnown() {
		k.Handle = r.Handle
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

// subject returns the target as what a finding is about.
func (k targetKey) subject() diagnose.Subject {
	if k.Name != "" {
		return diagnose.Subject{Target: k.Name}
	}
	s := diagnose.Subject{TargetIndex: k.Index, Server: k.Server}
	if k.Handle != 0 {
		s.Detail = string(schema.AppendHex(nil, k.Handle))
	}
	return s
}

// String returns the name of a target, or what is known instead.
func (k targetKey) String() string {
	switch {
	case k.Name != "":
		return k.Name
	case k.Index != "":
		return k.Index + " of " + k.Server.String()
	case k.Handle == 0:
		return nodes([]lnet.NID{k.Server})
	}
	return "a target of " + k.Server.String()
}

// spaces has what targets said last about their space.
type spaces struct {
	*fifo.Map[targetKey, spaceReply]
}

// spaceReply is a reply to a statfs.
type spaceReply struct {
	opcodes.TargetSpace
	at track.Point
}

func newSpaces() spaces { return spaces{fifo.NewMap[targetKey, spaceReply](maxTargets)} }

// statfsOpcodes are the operations with replies about the space of a target.
var statfsOpcodes = []uint32{opcodes.OST_STATFS, opcodes.MDS_STATFS}
