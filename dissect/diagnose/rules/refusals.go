package rules

import (
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
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
	f := diagnose.Finding{Subject: key.subject(), First: t.first, Last: t.last, Count: t.count, Evidence: slices.Clone(t.proofs)}
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
	return errno == eNoSpace && r.Opcode == opcodes.MDS_REINT && r.Variant != nil && r.Variant.Name == "SETXATTR"
}

// answered keeps the reply to a statfs.
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
		text += ", as " + binarySize(s.Granted) + " of the " + binarySize(s.Free) + " that are free are promised to clients for writes that they have cached"
	}
	return text + "; " + plural(int64(min(s.FreeObjects, 1<<62)), "more object") + " can be made"
}
